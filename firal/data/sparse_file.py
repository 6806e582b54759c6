"""Sparse matrices that ``scipy.sparse.save_npz`` wrote, made dense where they fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}
LARGEST = 2 * 10**9  # bytes of the dense matrix


def dense_matrix(arrays: Mapping[str, np.ndarray], path: Path) -> np.ndarray | None:
    """Make a dense matrix of the arrays of a sparse one.

    Parameters
    ----------
    arrays : mapping
        All arrays of a .npz file.
    path : Path
        The file, for the message.

    Returns
    -------
    np.ndarray of shape (n, d), or None
        None if they are not those of a sparse matrix.

    Raises
    ------
    ValueError
        If the matrix is damaged, of another kind, or too large to be dense.

    Examples
    --------
    >>> matrix = sparse.csr_array([[0.0, 2.0], [1.0, 0.0]])
    >>> parts = {"format": np.array(b"csr"), "shape": np.array(matrix.shape), "data": matrix.data}
    >>> parts |= {"indices": matrix.indices, "indptr": matrix.indptr}
    >>> dense_matrix(parts, Path("counts.npz")).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    if not {"format", "shape", "data"} <= arrays.keys():
        return None
    kind = arrays["format"].ravel()[0] if arrays["format"].size == 1 else ""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in PARTS or not set(PARTS[kind]) <= arrays.keys():
        raise ValueError(
            f"a sparse matrix in {path.name} must be of the kind {', '.join(PARTS)}, got {kind!r}: "
            "convert it, by tocsr() of scipy.sparse"
        )
    for name in ("shape", *PARTS[kind][1:]):
        if arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1:
            raise ValueError(
                f"{path.name} must hold an intact sparse matrix: {name} must be a list of whole "
                f"numbers, got shape {arrays[name].shape} and type {arrays[name].dtype}"
            )
    shape = tuple(map(int, arrays["shape"]))
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(
            f"{path.name} must hold a sparse matrix with rows and columns, got the shape {shape}"
        )
    if max(arrays["data"].dtype.itemsize, 8) * shape[0] * shape[1] > LARGEST:
        raise ValueError(
            f"{path.name} must take at most {LARGEST / 1e9:g} GB once it is dense, got a sparse "
            f"matrix of shape {shape}: reduce it first, by TruncatedSVD of scikit-learn"
        )
    data, a, b = (arrays[name] for name in PARTS[kind])
    parts = (data, (a, b)) if kind == "coo" else (data, a, b)
    try:
        matrix = getattr(sparse, f"{kind}_array")(parts, shape=shape)
        if kind != "coo":
            matrix.check_format(full_check=True)
        return matrix.toarray()
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{path.name} must hold an intact sparse matrix: {error}") from None
