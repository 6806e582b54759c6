"""`make data` without a network: a stand-in for OpenML, folders of small images, plug-ins."""

import hashlib
import inspect
import pickle
import re
import subprocess
import sys
from http.client import IncompleteRead
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from firal.companion.prepare import features, images, pool_file
from firal.companion.prepare.images import OPENML, list_folder, unordered_sha256
from firal.data import datasets
from firal.data.datasets import load_pool
from firal.data.embedding import spectral_embedding

fetch_openml = sklearn.datasets.fetch_openml


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder; 20 neighbors; features stored for 100 images at a time."""
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(pool_file, "NEIGHBORS", 20)
    monkeypatch.setattr(pool_file, "CHUNK", 100)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def openml(monkeypatch):
    """OpenML with 300 rows per data set, of which 250 are kept; counts the downloads."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 10
    tables = {}
    for name, shape in (("mnist60k", (28, 28)), ("cifar10", (3, 32, 32))):
        table = rng.integers(256, size=(300, int(np.prod(shape))))
        tables[OPENML[name].data_id] = table
        pixels = table.astype(np.uint8).reshape(300, *shape)
        pixels = pixels if len(shape) == 2 else np.moveaxis(pixels, 1, 3)
        checksum = unordered_sha256(pixels, labels)
        small = images.OpenML(OPENML[name].data_id, shape, 300, 250, checksum)
        monkeypatch.setitem(OPENML, name, small)
    world = SimpleNamespace(tables=tables, labels=labels, downloads=0)

    def fetch(*args, **options):
        inspect.signature(fetch_openml).bind(*args, **options)  # scikit-learn takes these options
        world.downloads += 1
        # as scikit-learn returns them: float64 numbers, labels as text
        data = world.tables[options["data_id"]].astype(float)
        return SimpleNamespace(data=data, target=world.labels.astype(str).astype(object))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return world


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A plug-in "net:features": 5 numbers per image; remembers how many images came."""
    (tmp_path / "net.py").write_text(
        "import numpy as np\n"
        "seen = []\n"
        "broken_after = 10**9\n"
        "weights = np.random.default_rng(1).normal(size=(3072, 5))\n"
        "def features(images):\n"
        "    assert images.dtype == np.uint8 and images.shape[1:] == (32, 32, 3)\n"
        "    if len(seen) >= broken_after:\n"
        "        raise KeyboardInterrupt\n"
        "    seen.append(len(images))\n"
        "    return images.reshape(len(images), -1) / 255 @ weights\n"
        "features.source = 'random weights'\n"
        "def too_few(images): return np.zeros((len(images) - 1, 2))\n"
        "def not_a_number(images): return np.full((len(images), 2), np.nan)\n"
        "def words(images): return [['a', 'b']] * len(images)\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import net

    yield net
    del sys.modules["net"]


CIFAR = ("cifar10", "--features", "net:features", "--kind", "selfsup")


def run(*arguments):
    return pool_file.main(list(arguments))


def error(capsys, *arguments):
    """The one line that a failing command prints."""
    assert run(*arguments) == 1
    text = capsys.readouterr().err
    lines = [line for line in text.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and "Traceback" not in text
    return lines[0]


# ---------------------------------------------------------------- from OpenML


def test_mnist_from_download_to_pool(folder, openml, capsys):
    assert run("mnist60k") == 0
    pixels = openml.tables[554][:250].astype(np.float32)
    whole = load_pool("mnist60k", images_only=False)
    assert np.allclose(whole.features, spectral_embedding(pixels, 20, 20), atol=1e-5)
    assert np.array_equal(whole.labels, openml.labels[:250])
    pool = load_pool("mnist60k")
    assert np.bincount(pool.labels).tolist() == [25] * 10
    assert np.array_equal(pool.images.reshape(250, -1), pixels)
    checksum = hashlib.sha256((folder / "mnist60k.npz").read_bytes()).hexdigest()
    assert (folder / "SHA256SUMS").read_text() == f"{checksum}  mnist60k.npz\n"
    assert sorted(p.name for p in folder.iterdir()) == ["SHA256SUMS", "mnist60k.npz"]
    shown = capsys.readouterr().out
    assert "data set 554 of OpenML, first 250 of 300 rows" in shown and checksum in shown


def test_images_are_equally_many_per_class(folder, openml, monkeypatch):
    recipe = pool_file.RECIPES["mnist60k"]._replace(shown=7)
    monkeypatch.setitem(pool_file.RECIPES, "mnist60k", recipe)
    assert run("mnist60k", "--seed", "3") == 0
    pool = load_pool("mnist60k")
    assert np.bincount(pool.labels).tolist() == [7] * 10
    with np.load(folder / "mnist60k.npz") as file:
        rows = file["image_index"]
    assert np.array_equal(pool.images.reshape(70, -1), openml.tables[554][rows])


def test_what_is_there_is_not_made_again(folder, openml, capsys):
    assert run("mnist60k") == 0
    before = (folder / "mnist60k.npz").stat()
    assert run("mnist60k") == 0 and "nothing to do" in capsys.readouterr().out
    assert openml.downloads == 1 and (folder / "mnist60k.npz").stat() == before


def test_other_data_than_expected_are_refused(folder, openml, capsys):
    openml.tables[554][5, 5] += 1
    assert "must have SHA-256" in error(capsys, "mnist60k")
    openml.tables[554] = openml.tables[554][:299]
    assert "must have 300 rows of 784 numbers, got shape (299, 784)" in error(capsys, "mnist60k")
    assert not (folder / "mnist60k.npz").exists()


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (URLError("no route"), r"cannot reach openml.org \(<urlopen error no route>\): try again"),
        (IncompleteRead(b""), "cannot reach openml.org"),
        (TimeoutError("slow"), "cannot reach openml.org"),
        (EOFError("cut short"), r"a damaged download \(cut short\): remove .*openml and try again"),
        (ValueError("The md5 checksum"), "The md5 checksum"),
    ],
)
def test_troubles_with_the_network(folder, monkeypatch, capsys, trouble, message):
    def fetch(**options):
        raise trouble

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    assert re.search(message, error(capsys, "mnist60k"))


def test_cifar_label_free_then_supervised(folder, openml, network, capsys):
    assert run(*CIFAR) == 0
    pool = load_pool("cifar10", images_only=False)
    planes = openml.tables[40927][:250].reshape(250, 3, 32, 32).astype(np.uint8)
    X = features.checked(network.features(np.moveaxis(planes, 1, 3)), 250, "")
    assert np.allclose(pool.features, spectral_embedding(X, 20, 20), atol=1e-5)
    assert np.array_equal(load_pool("cifar10").images, np.moveaxis(planes, 1, 3))
    with pytest.raises(ValueError, match="must hold embedding for supervised features"):
        load_pool("cifar10", features="supervised")
    own = folder.parent / "own.npy"
    np.save(own, X[:, :3])
    assert run("cifar10", "--features", str(own), "--kind", "supervised") == 0
    other = load_pool("cifar10", features="supervised", images_only=False)
    assert np.allclose(other.features, spectral_embedding(X[:, :3], 20, 20), atol=1e-5)
    assert np.array_equal(load_pool("cifar10", images_only=False).features, pool.features)
    with np.load(folder / "cifar10.npz") as file:
        lines = file["source"].tolist()
    assert [line.split(":")[0] for line in lines] == [
        "images",
        "features (selfsup)",
        "embedding_selfsup",
        "features (supervised)",
        "embedding",
    ]
    assert lines[1] == "features (selfsup): random weights"
    assert hashlib.sha256(own.read_bytes()).hexdigest() in lines[3]
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 1


# ---------------------------------------------------------------- interrupted, damaged


def test_interrupted_and_resumed(folder, openml, network, capsys):
    network.broken_after = 2
    assert run(*CIFAR) == 130
    assert "run the same command again to resume" in capsys.readouterr().err
    assert not (folder / "cifar10.npz").exists() and network.seen == [100, 100]
    network.broken_after = 10**9
    assert run(*CIFAR) == 0
    assert network.seen == [100, 100, 50] and openml.downloads == 1
    resumed = load_pool("cifar10").features
    (folder / "cifar10.npz").unlink()
    assert run(*CIFAR) == 0
    assert np.array_equal(load_pool("cifar10").features, resumed)


def test_a_damaged_step_is_repeated(folder, openml, network):
    network.broken_after = 2
    assert run(*CIFAR) == 130
    chunk = folder / "cifar10.work/features-0000100.npz"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(bytes(data))
    download = folder / "cifar10.work/images.npz"
    download.write_bytes(download.read_bytes()[:1000])
    network.broken_after = 10**9
    assert run(*CIFAR) == 0
    assert network.seen == [100, 100, 100, 50] and openml.downloads == 2
    resumed = load_pool("cifar10").features
    (folder / "cifar10.npz").unlink()
    assert run(*CIFAR) == 0 and np.array_equal(load_pool("cifar10").features, resumed)


def test_features_of_two_networks_are_not_mixed(folder, openml, network, capsys):
    network.broken_after = 1
    assert run(*CIFAR) == 130
    message = error(capsys, "cifar10", "--features", "net:features", "--kind", "supervised")
    assert "begun with other settings" in message and "selfsup" in message


def test_wrong_arguments_leave_nothing_to_trip_over(folder, openml, network, capsys):
    error(capsys, "cifar10", "--features", "net:absent", "--kind", "selfsup")
    assert run(*CIFAR) == 0


def test_killed_when_the_file_is_complete_the_next_run_lists_it(
    folder, openml, network, monkeypatch
):
    listed = pool_file._list

    def killed(path, checksum):
        if checksum is not None:
            raise KeyboardInterrupt
        listed(path, checksum)

    with monkeypatch.context() as patch:
        patch.setattr(pool_file, "_list", killed)
        assert run(*CIFAR) == 130
    assert (folder / "cifar10.npz").exists() and not (folder / "SHA256SUMS").exists()
    assert run(*CIFAR) == 0
    assert sorted(p.name for p in folder.iterdir()) == ["SHA256SUMS", "cifar10.npz"]
    assert len(load_pool("cifar10").labels) == 250


def test_settings_of_unfinished_work_are_written_as_a_whole(folder, openml, network, monkeypatch):
    """Killed while they were written again, they were half, and no command could go on."""
    network.broken_after = 1
    assert run(*CIFAR) == 130
    network.broken_after = 10**9
    written = pool_file._write

    def killed(path, fill):
        if path.name == "settings.json":
            raise KeyboardInterrupt
        written(path, fill)

    with monkeypatch.context() as patch:
        patch.setattr(pool_file, "_write", killed)
        assert run(*CIFAR) == 130
    assert run(*CIFAR) == 0


def test_a_full_disk_leaves_no_half_file(folder, openml, network, monkeypatch, capsys):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    folder.mkdir()
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  cifar10.npz\n")  # of an older file
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full)
        assert "No space left" in error(capsys, *CIFAR)
    assert not (folder / "cifar10.npz").exists()
    assert (folder / "SHA256SUMS").read_text() == ""  # no line, rather than a wrong one
    seen = len(network.seen)
    assert run(*CIFAR) == 0 and len(network.seen) == seen
    assert len(load_pool("cifar10").labels) == 250


def test_a_damaged_file_is_reported_not_replaced(folder, openml, network, capsys):
    assert run(*CIFAR) == 0
    path = folder / "cifar10.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    message = error(capsys, *CIFAR)
    assert "as in SHA256SUMS" in message and f"Remove {path}" in message
    (folder / "SHA256SUMS").unlink()
    assert "must be an intact .npz" in error(capsys, *CIFAR)
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(data).digest()


def test_other_lines_of_the_manifest_stay(folder, openml):
    folder.mkdir()
    (folder / "SHA256SUMS").write_text(f"{'0' * 64} *mnist60k.npz\n{'1' * 64}  other.npz\n")
    assert run("mnist60k") == 0
    checksum = load_pool("mnist60k").checksum
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert lines == [f"{'1' * 64}  other.npz", f"{checksum}  mnist60k.npz"]


# ---------------------------------------------------------------- from a folder of images


@pytest.fixture
def image_folder(tmp_path, monkeypatch):
    """52 classes of 9 images of different shapes; each class has its own color."""
    Image = pytest.importorskip("PIL.Image")
    recipe = pool_file.RECIPES["imagenet50"]._replace(read_size=32)
    monkeypatch.setitem(pool_file.RECIPES, "imagenet50", recipe)
    rng = np.random.default_rng(2)
    for k in range(52):
        place = tmp_path / "train" / f"n{k:02d}" / "images"  # as in Tiny-ImageNet
        place.mkdir(parents=True)
        (place.parent / "boxes.txt").write_text("not a image")
        for i in range(9):
            shape = (20 + i, 30 - i, 3)
            pixels = np.clip(color_of(k) + rng.integers(-15, 16, size=shape), 0, 255)
            Image.fromarray(pixels.astype(np.uint8)).save(place / f"{i}.PNG")
    return tmp_path / "train"


def color_of(k):
    return np.array([40 + 50 * (k % 4), 40 + 50 * (k // 4 % 4), 40 + 50 * (k // 16)])


def imagenet(image_folder, *more):
    options = ("--images", str(image_folder), "--features", "net:features", "--kind", "selfsup")
    return ("imagenet50", *options, *more)


def test_imagenet_from_a_folder(folder, image_folder, network):
    assert run(*imagenet(image_folder, "--per-class", "8", "--seed", "5")) == 0
    pool = load_pool("imagenet50")
    assert pool.features.shape == (400, 40) and pool.images.shape == (400, 32, 32, 3)
    assert np.bincount(pool.labels).tolist() == [8] * 50
    # row, label, name and image belong together
    expected = np.array([color_of(int(pool.classes[k][1:])) for k in pool.labels])
    assert np.abs(pool.images.mean(axis=(1, 2)) - expected).max() < 10
    # and so do features: the classes next in color are next in the graph
    centers = np.array([pool.features[pool.labels == k].mean(axis=0) for k in range(50)])
    nearest = ((pool.features[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == pool.labels) > 0.5
    with np.load(folder / "imagenet50.npz") as file:
        assert "400 of 50 classes, drawn by seed 5" in file["source"][0]


def test_classes_and_images_are_drawn_by_seed(image_folder):
    names, paths = list_folder(image_folder, 50, None, 0)
    assert len(set(names)) == 50 and names == sorted(names)
    assert all(len(set(p)) == 9 for p in paths)
    assert (names, paths) == list_folder(image_folder, 50, None, 0)
    assert any(list_folder(image_folder, 50, None, seed)[0] != names for seed in (1, 2))
    assert list_folder(image_folder, 50, 3, 0)[0] == names  # however many images are drawn
    assert all(len(set(p)) == 3 for p in list_folder(image_folder, 50, 3, 0)[1])


def test_own_features_follow_the_list_of_files(folder, image_folder, network, tmp_path, capsys):
    own = tmp_path / "own.npy"
    np.save(own, np.zeros((3, 2)))
    options = imagenet(image_folder)
    options = [str(own) if o == "net:features" else o for o in options]
    assert "one row of numbers for each of 450 images, got shape (3, 2)" in error(capsys, *options)
    files = (folder / "imagenet50.work/files.txt").read_text().splitlines()
    assert len(files) == 450 and all((image_folder / f).is_file() for f in files)
    colors = np.array([color_of(int(f[1:3])) for f in files], dtype=np.float32)
    np.save(own, colors + np.random.default_rng(0).normal(scale=20, size=(450, 3)))
    assert run(*options) == 0
    pool = load_pool("imagenet50", images_only=False)
    assert [pool.classes[k] for k in pool.labels] == [f[:3] for f in files]


def test_principal_components_of_a_folder(folder, image_folder, network, monkeypatch, capsys):
    recipe = pool_file.RECIPES["cifar100"]._replace(classes=50, shown=8)
    monkeypatch.setitem(pool_file.RECIPES, "cifar100", recipe)
    options = ("cifar100", "--images", str(image_folder), "--features", "net:features", "--kind")
    assert "give FEATURES and KIND=supervised" in error(capsys, *options, "selfsup")
    assert run(*options, "supervised") == 0
    pool = load_pool("cifar100", images_only=False)
    assert len(pool.features) == 450 and len(pool.classes) == 50
    assert np.mean(pool.features**2) == pytest.approx(1, rel=1e-6)
    variances = pool.features.var(axis=0)
    assert np.all(np.diff(variances) <= 1e-3 * variances[0])
    covariance = pool.features.T @ pool.features / 450
    off = covariance - np.diag(np.diag(covariance))
    assert np.abs(off).max() < 2e-3 * covariance.max()  # to float16
    assert load_pool("cifar100").images.shape == (400, 32, 32, 3)
    with np.load(folder / "cifar100.npz") as file:
        assert file["features"].dtype == np.float16
        assert "principal components, not whitened" in file["source"][-1]


def test_gray_images_from_a_folder(folder, image_folder):
    for extra in list(image_folder.iterdir())[10:]:
        extra.rename(image_folder.parent / extra.name)
    assert run("mnist60k", "--images", str(image_folder)) == 0
    assert load_pool("mnist60k").images.shape == (90, 28, 28)


def test_folders_that_do_not_fit(folder, image_folder, network, tmp_path, capsys):
    assert "give IMAGES=folder" in error(capsys, "imagenet50")
    assert "must be a folder" in error(capsys, *imagenet(tmp_path / "absent"))
    assert "at least 50 sub-folders, one per class, got 1" in error(
        capsys, *imagenet(image_folder / "n00")
    )
    message = error(capsys, *imagenet(image_folder, "--per-class", "10"))
    assert "at least 10 images" in message and "got 9 in" in message
    bad = image_folder / "n03/images/4.PNG"
    bad.write_bytes(bad.read_bytes()[:60])
    worse = image_folder / "n04/images/4.PNG"
    worse.write_text("no image at all")
    message = error(capsys, *imagenet(image_folder))
    assert "must be an intact image" in message and "/4.PNG" in message


def test_a_folder_that_changed_is_noticed(folder, image_folder, network, capsys):
    network.broken_after = 1
    assert run(*imagenet(image_folder)) == 130
    for k in range(52):
        (image_folder / f"n{k:02d}/images/0.PNG").unlink()
    network.broken_after = 10**9
    assert "begun with other settings" in error(capsys, *imagenet(image_folder))


def test_added_features_must_be_of_the_same_images(folder, image_folder, network, capsys):
    assert run(*imagenet(image_folder)) == 0
    options = [
        o.replace("selfsup", "supervised") for o in imagenet(image_folder, "--per-class", "5")
    ]
    assert "was made of other images" in error(capsys, *options)


# ---------------------------------------------------------------- networks and arguments


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("absent_module:f", "must be module:function or a .npy file, got 'absent_module:f'"),
        ("net:absent", "must be module:function"),
        ("net", "must be module:function"),
        (":", "must be module:function"),
        ("net:number", "must name a function"),
        ("net:too_few", r"one row of numbers for each of 100 images, got shape \(99, 2\)"),
        ("net:words", "one row of numbers"),
        ("net:not_a_number", "must give finite numbers"),
        ("absent.npy", "no file absent.npy"),
    ],
)
def test_bad_features(folder, openml, network, capsys, spec, message):
    assert re.search(message, error(capsys, "cifar10", "--features", spec, "--kind", "selfsup"))


def test_the_kind_of_features_must_be_said(folder, openml, network, capsys):
    assert "say what they are: KIND=selfsup" in error(capsys, *CIFAR[:3])
    assert "the default network is selfsup" in error(capsys, "cifar10", "--kind", "supervised")
    assert "are its pixels" in error(capsys, "mnist60k", "--kind", "selfsup")
    assert "PER_CLASS needs IMAGES" in error(capsys, *CIFAR, "--per-class", "3")


def test_the_default_network(tmp_path):
    """With random weights in the place of the download."""
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("torchvision.models")
    torch.manual_seed(0)
    network = models.resnet50(weights=None)
    weights = {k: v for k, v in network.state_dict().items() if not k.startswith("fc.")}
    path = tmp_path / "dino_resnet50_pretrain.pth"
    torch.save(weights, path)
    function, origin = features.dino_resnet50(tmp_path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in origin
    pixels = np.random.default_rng(0).integers(256, size=(3, 130, 130, 3), dtype=np.uint8)
    network.fc = torch.nn.Identity()
    x = (
        torch.tensor(pixels).permute(0, 3, 1, 2) / 255 - torch.tensor(features.MEAN).view(3, 1, 1)
    ) / torch.tensor(features.SPREAD).view(3, 1, 1)
    with torch.no_grad():
        expected = network.eval()(x).numpy()
    assert np.allclose(function(pixels), expected, rtol=1e-3, atol=1e-5)
    small = function(pixels[:, :32, :32])
    assert small.shape == (3, 2048) and np.isfinite(small).all()
    torch.save({k: v for k, v in weights.items() if k != "conv1.weight"}, path)
    with pytest.raises(ValueError, match="got no conv1.weight"):
        features.dino_resnet50(tmp_path)
    path.write_bytes(path.read_bytes()[:10_000])
    with pytest.raises(ValueError, match="must hold the weights of a ResNet-50: remove it"):
        features.dino_resnet50(tmp_path)
    path.write_bytes(pickle.dumps(Exploding()))
    with pytest.raises(ValueError, match="must hold the weights"):
        features.dino_resnet50(tmp_path)
    assert not Exploding.exploded


class Exploding:
    exploded = False

    def __reduce__(self):
        return (setattr, (Exploding, "exploded", True))


def test_without_torch(folder, openml, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    message = error(capsys, "cifar10")
    assert "pip install torch torchvision" in message and "FEATURES=module:function" in message


def test_without_pillow(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    message = error(capsys, "imagenet50", "--images", str(tmp_path))
    assert "pip install pillow" in message


@pytest.mark.parametrize("arguments", [[], ["mnist"], ["cifar10", "--kind", "pixels"]])
def test_wrong_usage_has_its_own_exit_code(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        pool_file.main(arguments)
    assert stopped.value.code == 2 and "usage:" in capsys.readouterr().err


def test_every_prepared_pool_has_a_recipe():
    assert pool_file.RECIPES.keys() == datasets.PREPARED.keys()
    assert [recipe.dim for recipe in pool_file.RECIPES.values()] == [20, 20, 40, 256]


@pytest.mark.skipif(sys.platform == "win32", reason="the Makefile is for POSIX shells")
def test_make_passes_the_options_on():
    command = ["make", "-n", "data", "NAME=cifar10", "FEATURES=a:b", "KIND=selfsup", "IMAGES=x y"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    line = next(line for line in shown.splitlines() if "firal.companion.prepare" in line)
    assert line.endswith(
        "firal.companion.prepare cifar10 --images 'x y' --features 'a:b' --kind selfsup"
    )
    bare = subprocess.run(["make", "data"], capture_output=True, text=True, cwd=ROOT)
    assert bare.returncode == 2 and "make data NAME=mnist60k" in bare.stderr


@given(st.integers(0, 2**32 - 1))
def test_the_unordered_checksum(seed):
    rng = np.random.default_rng(seed)
    pixels = rng.integers(4, size=(6, 2, 2), dtype=np.uint8)
    labels = rng.integers(3, size=6)
    right = unordered_sha256(pixels, labels)
    order = rng.permutation(6)
    assert unordered_sha256(pixels[order], labels[order]) == right
    other = labels.copy()
    other[seed % 6] += 1
    assert unordered_sha256(pixels, other) != right
    pixels[seed % 6, 0, 1] += 1
    assert unordered_sha256(pixels, labels) != right
