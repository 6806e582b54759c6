"""Figures of the real-data notebooks: what is drawn is what the records say."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from firal.companion import plotting, real_figures
from firal.data.datasets import Pool
from firal.loop import Round, paired_differences

TRIALS, ROUNDS, BATCH = 4, 2, 3


@pytest.fixture
def records():
    """Two strategies with random accuracies; FIRAL has weights on 30 points."""
    rng = np.random.default_rng(0)
    out = []
    for name in ("random", "firal"):
        for trial in range(TRIALS):
            for round_ in range(ROUNDS + 1):
                picked = rng.choice(30, BATCH if round_ else 0, replace=False)
                z = None
                if name == "firal" and round_:
                    z = rng.dirichlet(np.ones(30)) * BATCH
                n = 5 + round_ * BATCH
                values = rng.random(), np.inf, 5, len(picked), 0.1
                out.append(Round(name, trial, round_, n, *values, picked, None, z))
    return out


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def accuracies(records, name, n_labels):
    return [r.accuracy for r in records if r.strategy == name and r.n_labels == n_labels]


def curves(ax):
    """Label -> (x, y, half lengths of the bars) of the error bars on these axes."""
    out = {}
    for box in ax.containers:
        line, _, (bars,) = box.lines
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        out[box.get_label()] = (*line.get_data(orig=False), (ends[:, 1] - ends[:, 0]) / 2)
    return out


def test_curves_are_means_with_standard_errors(ax, records):
    assert real_figures.accuracy_curves(ax, records, 0.9) is ax
    drawn = curves(ax)
    assert list(drawn) == ["Random", "FIRAL"]
    for name, (x, y, bar) in zip(("random", "firal"), drawn.values(), strict=True):
        assert list(x) == [5, 8, 11]
        for n, mean, half in zip(x, y, bar, strict=True):
            values = accuracies(records, name, n)
            assert mean == pytest.approx(np.mean(values))
            assert half == pytest.approx(np.std(values, ddof=1) / np.sqrt(TRIALS))
    dashed = [line for line in ax.lines if line.get_label() == "all labels"]
    assert set(dashed[0].get_ydata()) == {0.9}
    assert f"{TRIALS} trials" in ax.get_legend().get_title().get_text()


def test_curves_of_one_trial_have_no_bars(ax, records):
    real_figures.accuracy_curves(ax, [r for r in records if r.trial == 0], 0.9)
    assert all(np.all(bar == 0) for _, _, bar in curves(ax).values())


def test_paired_panel_draws_the_intervals_in_points(ax, records):
    differences = paired_differences(records)
    real_figures.paired_panel(ax, differences)
    _, y, bar = curves(ax)["Random"]
    wanted = [d for d in differences if d.round > 0]
    np.testing.assert_allclose(y, [100 * d.mean for d in wanted])
    np.testing.assert_allclose(y - bar, [100 * d.low for d in wanted])
    np.testing.assert_allclose(y + bar, [100 * d.high for d in wanted])


@pytest.mark.parametrize("color", [False, True], ids=["gray", "color"])
@pytest.mark.parametrize("columns", [None, 2])
def test_picked_images_are_in_their_places(records, color, columns):
    """Image i is flat with brightness 8 i, so a thumbnail tells which image it shows."""
    shape = (30, 6, 5, 3) if color else (30, 6, 5)
    images = np.empty(shape, dtype=np.uint8)
    images[:] = (8 * np.arange(30)).reshape(-1, *[1] * (len(shape) - 1))
    names = tuple("abcdefghij")
    labels = np.arange(30) % 10
    pool = Pool(np.zeros((30, 2)), labels, images, "flat", names, "")
    ax = real_figures.picked_images(pool, records, trial=1, rounds=(1, 2), columns=columns)
    sheet = ax.images[0].get_array()
    rows = {(r.strategy, r.round): r.picked for r in records if r.trial == 1}
    order = [rows[name, k] for name in ("random", "firal") for k in (1, 2)]
    width = columns or BATCH
    lines = [part[i : i + width] for part in order for i in range(0, BATCH, width)]
    height = sheet.shape[0] // len(lines)
    wide = sheet.shape[1] // width
    for i, line in enumerate(lines):
        for j, row in enumerate(line):
            value = sheet[i * height + real_figures.GAP + 3, j * wide + wide // 2, 0]
            if color:
                assert value // 16 == 8 * row // 16
            else:
                assert value == 255 - round(8 * row * 255 / 232)
    texts = [text.get_text() for text in ax.texts]
    below = [text for text in texts if text in names]
    assert below == [names[labels[row]] for part in order for row in part]
    assert [t for t in texts if "round 2" in t] == ["Random\nround 2", "FIRAL\nround 2"]
    plt.close(ax.figure)


def test_long_names_of_classes_are_shortened(records):
    pool = Pool(
        np.zeros((30, 2)),
        np.arange(30),
        np.zeros((30, 4, 4, 3), dtype=np.uint8),
        "many",
        tuple(f"steel arch bridge {k}, viaduct" for k in range(30)),
        "",
    )
    ax = real_figures.picked_images(pool, records, strategies=("firal",))
    first = next(r.picked for r in records if r.strategy == "firal" and r.round == 1)
    names = [f"steel arch\nbridge {k}" for k in first]
    assert [t.get_text() for t in ax.texts] == ["FIRAL", *names]
    plt.close(ax.figure)


def test_weights_are_normalized_and_sorted(ax, records):
    real_figures.weights_by_round(ax, records, trial=2)
    rounds = [line for line in ax.lines if line.get_label().startswith("round")]
    wanted = [r.z for r in records if r.trial == 2 and r.z is not None]
    assert len(rounds) == len(wanted) == ROUNDS
    for line, z in zip(rounds, wanted, strict=True):
        share = line.get_ydata()
        assert share.sum() == pytest.approx(1)
        assert np.all(np.diff(share) <= 0)
        assert share[0] == pytest.approx(z.max() / BATCH)


def test_the_kept_eta_is_marked(ax):
    tried = ((4.0, 0.3), (1.0, 0.1), (2.0, 0.5))
    real_figures.eta_curve(ax, tried, 2.0, "round 1")
    line, star = ax.lines
    assert list(line.get_xdata()) == [1, 2, 4] and list(line.get_ydata()) == [0.1, 0.5, 0.3]
    assert star.get_xydata().tolist() == [[2.0, 0.5]]
    assert ax.get_xscale() == "log"


def test_table_of_means(records):
    table = real_figures.strategy_table(records, digits=2)
    assert list(table.index) == ["Random", "FIRAL"] and list(table.columns) == [5, 8, 11]
    values = accuracies(records, "firal", 8)
    error = np.std(values, ddof=1) / 2
    assert table.loc["FIRAL", 8] == f"{np.mean(values):.2f} ± {error:.2f}"
    assert real_figures.strategy_table(records, "classes", 1).loc["Random", 11] == "5.0 ± 0.0"


def test_table_of_differences(records):
    differences = paired_differences(records)
    table = real_figures.difference_table(differences)
    d = differences[1]
    text = f"{100 * d.mean:+.1f} ({100 * d.low:+.1f} .. {100 * d.high:+.1f})"
    assert list(table.index) == ["Random"] and table.loc["Random", 8] == text


def test_every_strategy_has_its_look():
    from firal.strategies import STRATEGIES

    assert set(STRATEGIES) == set(plotting.METHODS)
    for column in zip(*plotting.METHODS.values(), strict=True):
        assert len(set(column)) == len(STRATEGIES)


# What red-, green- and blue-blind eyes see, in linear RGB: Machado, Oliveira and Fernandes (2009).
EYES = {
    "normal": np.eye(3),
    "red-blind": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "green-blind": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "blue-blind": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(linear):
    """CIE Lab of linear RGB."""
    XYZ = np.clip(linear, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(XYZ > 0.008856, np.cbrt(XYZ), 7.787 * XYZ + 16 / 116)
    x, y, z = f.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES)
def test_colors_differ_for_all_eyes_and_stand_out_on_white(eyes):
    rgb = np.array([matplotlib.colors.to_rgb(color) for _, color, _ in plotting.METHODS.values()])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert np.all(1.05 / (linear @ TO_XYZ[1] + 0.05) >= 3)
    seen = lab(linear @ np.transpose(EYES[eyes]))
    apart = np.linalg.norm(seen[:, None] - seen, axis=2) + 1e3 * np.eye(len(seen))
    assert apart.min() >= 26
