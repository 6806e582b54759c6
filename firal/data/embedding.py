"""Features without labels: eigenvectors of a graph Laplacian (Algorithm 3 of the paper).

Join every point to its k nearest neighbors, in either direction, with weight 1. With the adjacency
matrix A and the degrees D = diag(A 1), the normalized Laplacian is L = I - D^{-1/2} A D^{-1/2}. The
features are the eigenvectors of its ``dim`` smallest eigenvalues, as columns: functions that vary
little along the graph.

**Scale.** The paper does not say. Unit eigenvectors have entries near 1/sqrt(N), which
makes any ridge of the fit mean something else for every N. Here columns have mean square 1, so
the second moment of the features is exactly the identity. The first column is sqrt(degree),
nearly constant: it plays the part of an intercept.

**Signs** are arbitrary; the largest entry of each column is made positive.

**Ties.** Pixels are integers, so many distances are equal. Distances that rounding cannot tell
apart count as equal, and the lowest rows come first among them. Otherwise the graph would depend
on the processor.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.common.progress import reporter

DENSE = 400  # up to this many points the whole spectrum is computed
DISTANCE_BYTES = 64 * 2**20  # distances held at a time, per thread
ROWS = 4096  # points at a time where the work on each is small
SAMPLE_FROM = 20_000  # from this many points on, a sample of each row saves time
SAMPLE_STEP = 16  # every 16th distance is in the sample
ROUNDING = 32  # distances closer than ROUNDING * eps * max |x|^2 count as equal


def spectral_embedding(
    X: ArrayLike,
    dim: int,
    n_neighbors: int = 256,
    *,
    progress: bool | Callable[[str, int, int], None] | None = None,
) -> np.ndarray:
    """Compute features from distances alone: the smoothest functions on the neighbor graph.

    Parameters
    ----------
    X : array_like of shape (N, D)
        Points, N >= 2. float32 points are searched in float32, all others in float64.
    dim : int
        Number of features, 1 <= dim < N.
    n_neighbors : int
        Neighbors of each point, 1 <= n_neighbors < N. The paper takes 256 of 60,000 points.
    progress : bool or callable, optional
        True shows a tqdm bar. A function is called as ``progress(stage, done, total)`` with the
        stages "neighbors" and "eigenvectors".

    Returns
    -------
    np.ndarray of shape (N, dim)
        float64, smoothest column first. Columns are orthogonal and have mean square 1.

    Raises
    ------
    ValueError
        If an argument is out of range, a number is not finite, or the graph is not connected.
        In a graph of several pieces the eigenvalue 0 is repeated, and its eigenvectors only say
        which piece a point is in.

    Notes
    -----
    This is Algorithm 3 of the paper. The result is deterministic. Copies of a point are neighbors
    like any others. The cost is ``N**2 * D`` multiply-adds for the neighbors, and about
    ``N * n_neighbors`` per step of Lanczos' method for the eigenvectors. The chapter *Real data*
    has the choices that the paper leaves open.

    Examples
    --------
    >>> import numpy as np, firal
    >>> circle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> X = np.column_stack([np.cos(circle), np.sin(circle)])
    >>> features = firal.spectral_embedding(X, dim=3, n_neighbors=2)
    >>> np.allclose(features[:, 0], 1)  # every point has the same degree
    True
    >>> np.allclose(features.T @ features / 100, np.eye(3))
    True
    """
    X = checks.points(X)
    n = len(X)
    if n < 2:
        raise ValueError("X must hold at least 2 points, got 1")
    dim = checks.integer(dim, "dim", 1, n - 1)
    k = checks.integer(n_neighbors, "n_neighbors", 1, n - 1)
    report, bar = reporter(progress)
    try:
        # 1. The graph of nearest neighbors.
        adjacency = neighbor_graph(X, k, report)
        # 2. The smallest eigenvalues of its normalized Laplacian.
        report("eigenvectors", 0, 1)
        vectors = _smoothest(adjacency, dim)
        report("eigenvectors", 1, 1)
    finally:
        if bar is not None:
            bar.close()
    # 3. Signs and scale.
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(dim)]) * np.sqrt(n)
    return vectors


def neighbor_graph(
    X: np.ndarray, k: int, report: Callable[[str, int, int], None] | None = None
) -> sparse.csr_array:
    """Join every point to its ``k`` nearest other points, in either direction.

    Parameters
    ----------
    X : np.ndarray of shape (N, D)
        Points, float32 or float64, already checked.
    k : int
        Neighbors of each point, 1 <= k < N.
    report : callable, optional
        Called as ``report("neighbors", done, N)``.

    Returns
    -------
    scipy.sparse.csr_array of shape (N, N)
        Symmetric, 1 where i is among the k nearest of j or j among the k nearest of i, 0 elsewhere.

    Notes
    -----
    Equal distances are ordered by row, see the module's text on ties. A block of
    64 MiB of distances per thread is held at a time, whatever N is.
    """
    n = len(X)
    found = _neighbors(X, k, report or reporter(None)[0])
    starts = np.arange(0, n * k + 1, k, dtype=sparse.get_index_dtype(maxval=n * k))
    entries = (np.ones(n * k, dtype=np.int8), found.ravel(), starts)  # 5 bytes per edge
    directed = sparse.csr_array(entries, shape=(n, n))
    return directed.maximum(directed.T).tocsr()


def _neighbors(X, k, report):
    """(N, k) rows of the nearest other points, ascending."""
    n = len(X)
    # distances do not change, but |x|^2 + |y|^2 - 2 x.y cancels less for centered points
    X = np.ascontiguousarray(X - X.mean(axis=0, dtype=np.float64).astype(X.dtype))
    squares = np.einsum("nd,nd->n", X, X)
    tie = ROUNDING * np.finfo(X.dtype).eps * squares.max()
    found = np.empty((n, k), dtype=np.int32)

    def search(block):
        rows = np.arange(block.start, block.stop)
        distance = X[block] @ X.T
        distance *= -2
        distance += squares  # |x|^2 is the same along a row
        distance[rows - block.start, rows] = np.inf
        found[block] = _smallest(distance, k, tie)
        return block.stop

    blocks = list(pool_blocks(n, n * X.itemsize, DISTANCE_BYTES))
    # both the product and the partition leave Python free, so threads share out the blocks
    with threadpool_limits(1), ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as threads:
        for done in threads.map(search, blocks):
            report("neighbors", done, n)
    return found


def _smallest(distance, k, tie):
    """Columns of the k smallest entries of each row, ascending; see ``_lowest`` for ties.

    Partitioning whole rows would take two thirds as long as the distances themselves. In long rows
    a sample gives a limit below which slightly more than k entries lie. Only those are partitioned.
    The answer is exact: a row with too few entries below its limit is partitioned as a whole.
    """
    n = distance.shape[1]
    found = np.empty((len(distance), k), dtype=np.int32)
    expected = k / SAMPLE_STEP  # of the k smallest in the sample, +- sqrt(expected)
    rank = int(expected + 4 * np.sqrt(expected)) + 4
    if n < SAMPLE_FROM or 4 * rank > n // SAMPLE_STEP:
        for row, values in enumerate(distance):
            found[row] = _lowest(values, k, tie)[0]
        return found
    limit = np.partition(distance[:, ::SAMPLE_STEP], rank, axis=1)[:, rank]
    below = np.flatnonzero(distance <= limit[:, None])
    starts = np.searchsorted(below, n * np.arange(len(distance) + 1))
    for row, values in enumerate(distance):
        columns = below[starts[row] : starts[row + 1]] - n * row
        enough = False
        if len(columns) >= k:
            chosen, largest = _lowest(values[columns], k, tie)
            enough = largest + tie <= limit[row]  # no equal one was left out
        found[row] = columns[chosen] if enough else _lowest(values, k, tie)[0]
    return found


def _lowest(values, k, tie):
    """Ascending positions of the k smallest values, and the largest of these.

    Values within ``tie`` of the largest are equal to it; the first of them are taken.
    """
    largest = np.partition(values, k - 1)[k - 1]
    positions = np.flatnonzero(values <= largest + tie)
    if len(positions) > k:
        equal = values[positions] >= largest - tie
        missing = k - np.count_nonzero(~equal)
        positions = positions[~equal | (np.cumsum(equal) <= missing)]
    return positions, largest


def _smoothest(adjacency, dim):
    """Unit eigenvectors of D^{-1/2} A D^{-1/2} for its largest eigenvalues, largest first."""
    n = adjacency.shape[0]
    root = 1 / np.sqrt(adjacency.sum(axis=1))
    starts, columns = adjacency.indptr, adjacency.indices
    values = np.empty(len(columns))
    for rows in pool_blocks(n, 1, ROWS):  # few at a time: here the most memory is in use
        degrees = np.diff(starts[rows.start : rows.stop + 1])
        edges = slice(starts[rows.start], starts[rows.stop])
        values[edges] = np.repeat(root[rows], degrees) * root[columns[edges]]
    matrix = sparse.csr_array((values, columns, starts), shape=(n, n))
    # of a symmetric matrix; asked for undirected pieces, SciPy would hold its transpose as well
    pieces, member = connected_components(matrix, connection="strong")
    if pieces > 1:
        sizes = np.sort(np.bincount(member))[::-1]
        shown = ", ".join(map(str, sizes[:5])) + (", .." if pieces > 5 else "")
        raise ValueError(
            f"the graph of nearest neighbors must be connected, got {pieces} pieces "
            f"of {shown} points: raise n_neighbors, or embed each piece by itself"
        )
    if n <= DENSE or dim > n // 4:
        return linalg.eigh(matrix.toarray(), subset_by_index=(n - dim, n - 1))[1][:, ::-1]
    # any start not orthogonal to the answer will do; a fixed one makes runs repeat
    start = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(matrix, dim, which="LA", v0=start, ncv=max(2 * dim + 1, 40), tol=0)
    return vectors[:, np.argsort(values)[::-1]]
