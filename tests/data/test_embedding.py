"""Algorithm 3 against scikit-learn and a dense literal version; graphs that must be refused."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.manifold import spectral_embedding as sklearn_embedding

from firal.data import embedding
from firal.data.embedding import neighbor_graph, spectral_embedding


def literal_graph(X, k):
    """i ~ j if either is among the k nearest of the other; sorted distances, point by point."""
    n = len(X)
    A = np.zeros((n, n))
    for i in range(n):
        distance = np.sum((X - X[i]) ** 2, axis=1)
        distance[i] = np.inf
        for j in np.argsort(distance, kind="stable")[:k]:
            A[i, j] = A[j, i] = 1
    return A


def cloud(n=150, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 7, 149])
def test_graph_against_sorted_distances(k, dtype):
    X = (cloud() + 50).astype(dtype)  # far from the origin: cancellation must not change it
    assert np.array_equal(neighbor_graph(X, k).toarray(), literal_graph(X.astype(float), k))


def test_graph_is_the_same_in_small_blocks(monkeypatch):
    X = cloud()
    whole = neighbor_graph(X, 9).toarray()
    monkeypatch.setattr(embedding, "DISTANCE_BYTES", 20_000)
    assert np.array_equal(neighbor_graph(X, 9).toarray(), whole)


def test_graph_is_the_same_by_samples_of_the_rows(monkeypatch):
    X = cloud(n=1500)
    whole = neighbor_graph(X, 40)
    monkeypatch.setattr(embedding, "SAMPLE_FROM", 10)
    assert np.array_equal(neighbor_graph(X, 40).toarray(), whole.toarray())
    ordered = X[np.argsort(X[:, 0])]  # neighbors next to each other, so the sample is no fair one
    sampled = neighbor_graph(ordered, 40).toarray()
    monkeypatch.setattr(embedding, "SAMPLE_FROM", 10_000)
    assert np.array_equal(sampled, neighbor_graph(ordered, 40).toarray())


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_smallest_entries_whatever_the_sample(k, seed):
    rng = np.random.default_rng(seed)
    distance = rng.permuted(np.tile(np.arange(2000.0), (5, 1)), axis=1)
    distance[0, ::16] -= 5000  # the sample holds all of the smallest: its limit is far too low
    distance[1, ::16] += 5000  # and none of them: far too high
    distance[2] = np.sort(distance[2])
    distance[3] //= 500  # ties
    distance[4], distance[4, ::16] = 1.001, 1  # ties that rounding has split, all of the sample low
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "SAMPLE_FROM", 10)
        found = embedding._smallest(distance, k, 0.25)
    expected = np.sort(np.argsort(np.round(distance), axis=1, kind="stable")[:, :k], axis=1)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("sample_from", [10, 10_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_equal_neighbors_the_lowest_rows_are_taken(monkeypatch, dtype, sample_from):
    monkeypatch.setattr(embedding, "SAMPLE_FROM", sample_from)
    pixels = np.random.default_rng(0).integers(0, 4, size=(1500, 12))  # few different distances
    distance = np.sum((pixels[:, None, :] - pixels) ** 2, axis=2)
    np.fill_diagonal(distance, distance.max() + 1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :25]
    kth = np.take_along_axis(distance, nearest[:, -1:], axis=1)
    assert np.mean(np.sum(distance <= kth, axis=1) > 25) > 0.8  # ties in most rows
    expected = np.zeros_like(distance)
    np.put_along_axis(expected, nearest, 1, axis=1)
    for scale in (1, 1 / 3, 1 / 255):  # pixels that are and that are not exact in binary
        found = neighbor_graph((pixels * scale).astype(dtype), 25).toarray()
        assert np.array_equal(found, expected | expected.T)


@pytest.mark.parametrize("dense", [0, 10_000])
def test_eigenvectors_of_the_literal_laplacian(monkeypatch, dense):
    monkeypatch.setattr(embedding, "DENSE", dense)  # Lanczos, then the full spectrum
    monkeypatch.setattr(embedding, "ROWS", 64)  # several blocks of them
    X = cloud(n=200)
    V = spectral_embedding(X, 8, 10)
    A = literal_graph(X, 10)
    root = np.diag(1 / np.sqrt(A.sum(axis=1)))
    L = np.eye(200) - root @ A @ root
    values = np.linalg.eigvalsh(L)
    assert np.allclose(L @ V, V * values[:8], atol=1e-9)
    assert np.all(np.diff(np.diag(V.T @ L @ V)) > 0)
    assert np.allclose(V.T @ V / 200, np.eye(8), atol=1e-9)  # the scale that we chose
    degrees = np.sqrt(A.sum(axis=1))
    assert np.allclose(V[:, 0] / V[0, 0], degrees / degrees[0])


def test_agrees_with_scikit_learn_up_to_sign_and_scale():
    X = load_digits().data[:500]
    V = spectral_embedding(X, 6, 20)
    graph = neighbor_graph(X, 20)
    theirs = sklearn_embedding(
        graph, n_components=6, drop_first=False, eigen_solver="arpack", random_state=0
    )
    # they return D^{-1/2} v, Algorithm 3 asks for v
    theirs = theirs * np.sqrt(graph.sum(axis=1))[:, None]
    theirs /= np.linalg.norm(theirs, axis=0)
    cosines = np.abs(np.sum(theirs * V, axis=0)) / np.sqrt(500)
    assert np.allclose(cosines, 1, atol=1e-6)


def test_repeats_and_signs():
    X = cloud(n=500)
    V = spectral_embedding(X, 5, 12)
    assert np.array_equal(V, spectral_embedding(X, 5, 12))
    assert np.all(V.max(axis=0) >= -V.min(axis=0))


def test_eigenvectors_take_little_more_memory_than_the_matrix(monkeypatch):
    monkeypatch.setattr(embedding, "ROWS", 256)
    graph = neighbor_graph(cloud(n=3000), 256)
    tracemalloc.start()
    embedding._smoothest(graph, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 14 * graph.nnz  # 8 bytes an edge; the transpose would take 12 more


def test_disconnected_graph_is_refused():
    X = np.concatenate([cloud(30), cloud(20) + 1000])
    with pytest.raises(ValueError, match="connected, got 2 pieces of 30, 20 points: raise n_neigh"):
        spectral_embedding(X, 3, 5)
    assert spectral_embedding(X, 3, 30).shape == (50, 3)


def test_copies_are_points_like_any_others():
    X = np.repeat(cloud(30), 4, axis=0)
    A = neighbor_graph(X, 6).toarray()
    assert np.all(A.diagonal() == 0) and np.all(A.sum(axis=1) >= 6)
    V = spectral_embedding(X, 3, 12)
    assert np.isfinite(V).all()
    with pytest.raises(ValueError, match="connected, got 30 pieces"):
        spectral_embedding(X, 3, 3)  # each point only knows its own copies


@pytest.mark.parametrize(
    ("dim", "k", "message"),
    [
        (3, 50, r"n_neighbors must be an integer in 1\.\.49, got 50"),
        (3, 0, "n_neighbors must be"),
        (50, 5, r"dim must be an integer in 1\.\.49, got 50"),
        (0, 5, "dim must be"),
        (2.0, 5, "dim must be"),
    ],
)
def test_sizes_are_checked(dim, k, message):
    with pytest.raises(ValueError, match=message):
        spectral_embedding(cloud(50), dim, k)


def test_points_are_checked():
    with pytest.raises(ValueError, match="X must be at most 1e[+]15 in size for float32"):
        spectral_embedding((1e20 * cloud()).astype(np.float32), 3, 10)
    with pytest.raises(ValueError, match="at least 2 points"):
        spectral_embedding([[1.0]], 1, 1)
    X = cloud(20)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        spectral_embedding(X, 2, 5)


def test_complete_graph_and_two_points():
    V = spectral_embedding(cloud(12), 1, 11)
    assert np.allclose(V, 1)
    assert np.allclose(spectral_embedding([[0.0], [1.0]], 1, 1), 1)


def test_progress_is_reported():
    seen = []
    spectral_embedding(cloud(), 3, 10, progress=lambda *step: seen.append(step))
    assert ("neighbors", 150, 150) in seen and seen[-1] == ("eigenvectors", 1, 1)
