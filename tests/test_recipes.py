"""The recipes of the chapter on use: from torch and Hugging Face models to features.

They are run as they stand there. Nothing is loaded from the network: the network of torch and the
language model are small and random. Where torch is not installed, only their syntax is checked.
"""

import re

import numpy as np
import pytest
from conftest import ROOT

import firal
from firal import cli

RECIPES = dict(
    re.findall(
        r"```text\n# recipe: (.+?)\n(.*?)```", (ROOT / "book/use_choices.md").read_text(), re.S
    )
)


@pytest.mark.parametrize("name", ["torch", "hugging face"])
def test_recipes_are_python(name):
    compile(RECIPES[name], name, "exec")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_features_of_a_network(folder, capsys):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Flatten()
    )
    network.append(torch.nn.Linear(4 * 36, 3))
    images = torch.rand(60, 1, 8, 8)
    names = {"network": network, "loader": images.split(16)}
    exec(RECIPES["torch"], names)
    X = np.load("features.npy")
    with torch.inference_mode():
        want = network[:-1](images).numpy()  # in the mode that the recipe leaves: no dropout
        p = network(images).softmax(1).numpy()
    np.testing.assert_allclose(X, want, atol=1e-6)
    np.save("p.npy", p)
    options = ("--pca", "5", "--budget", "4", "--quiet", "--probabilities", "p.npy")
    assert cli.main(["select", "features.npy", *options]) == 0
    assert capsys.readouterr().out.count("\n") == 5
    # tensors as they are
    rows = firal.next_batch(torch.from_numpy(X), {0: "a", 1: "b"}, 4, pca=5).rows
    assert rows.tolist() == firal.next_batch(X, {0: "a", 1: "b"}, 4, pca=5).rows.tolist()


def test_features_of_texts(folder):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    model = transformers.BertModel(config)
    texts = ["a short one", "one that is much longer than the others", "b"] * 15

    def tokenizer(part, padding, truncation, return_tensors):
        words = [[1 + len(word) for word in text.split()] for text in part]
        width = max(map(len, words))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in words])
        return {"input_ids": ids, "attention_mask": (ids > 0).long()}

    exec(RECIPES["hugging face"], {"texts": texts, "tokenizer": tokenizer, "model": model})
    X = np.load("features.npy")
    assert X.shape == (45, 16)
    # padding does not count: a text alone has the same features
    with torch.inference_mode():
        alone = model(**tokenizer(texts[:1], True, True, "pt")).last_hidden_state.mean(1).numpy()
    np.testing.assert_allclose(X[0], alone[0], atol=1e-5)
    assert len(set(firal.next_batch(X + np.arange(45)[:, None] / 100, None, 3).rows)) == 3


def test_sparse_text_features():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"word{k % 7} other{k % 5} thing{k % 3}" for k in range(50)]
    counts = TfidfVectorizer().fit_transform(texts)
    rows = firal.next_batch(counts, {0: "a", 1: "b"}, 5).rows
    assert rows.tolist() == firal.next_batch(counts.toarray(), {0: "a", 1: "b"}, 5).rows.tolist()


def test_texts_beside_their_features(folder, capsys):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    texts = [f"text {k}" for k in range(30)]
    table = pandas.DataFrame(rng.normal(size=(30, 6))).assign(text=texts)
    table.to_parquet("points.parquet")
    options = ("--show", "text", "--pca", "3", "--hold-out", "0", "--quiet")
    assert cli.main(["init", "points.parquet", *options]) == 0
    assert cli.main(["next", "4", "--quiet"]) == 0
    assert capsys.readouterr().out.count("text ") == 4
