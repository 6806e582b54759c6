"""What is not an array of real numbers is refused with what to pass instead."""

import numpy as np
import pytest
from scipy import sparse

import firal
from firal.common.arrays import real_array
from firal.engine import inputs


class Tensor:
    """As a tensor of torch behaves: numpy() fails while a gradient is wanted."""

    def __init__(self, values, grad=False, known=True):
        self.values, self.grad, self.known = np.asarray(values, dtype=float), grad, known
        self.dtype = "torch.bfloat16"

    def detach(self):
        return Tensor(self.values, known=self.known)

    def cpu(self):
        return self

    def numpy(self):
        if self.grad or not self.known:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self.values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (sparse.eye_array(3).tocsr(), r"got a sparse matrix of shape \(3, 3\): pass X.toarray\(\)"),
        ([[1, "red"]], r"got the text 'red' at \(0, 1\): encode it as numbers"),
        ([[1.0, None]], r"got a missing value, None, at \(0, 1\): fill it in"),
        (np.array([[1, 2]], dtype=object), r"of type object: pass X.astype\(float\)"),
        ([[1j, 2]], "got complex numbers: pass X.real"),
        (np.array([["2024-01-01"]], dtype="M8[D]"), "got dates or durations"),
        ([[1, 2], [3]], "whose rows have different lengths"),
        ([[object(), 2]], "got an object of type object at"),
        (Tensor([[1]], known=False), r"got torch.bfloat16: pass X.float\(\)"),
        (np.ma.masked_equal([[1, 2]], 2), "must have no masked entries, got 1: fill them first"),
    ],
)
def test_what_is_refused(values, message, monkeypatch):
    with pytest.raises(ValueError, match=message):
        real_array(values, "X")
    if hasattr(values, "nnz"):
        monkeypatch.setattr(inputs, "LARGEST_DENSE", 71)  # it would take 72 bytes
    with pytest.raises(ValueError, match=message.replace("X.", "features.")):
        firal.next_batch(values, None, 1)


def test_a_sparse_table_is_made_dense():
    X = np.where(np.random.default_rng(0).random((60, 5)) < 0.3, 1.0, 0.0)
    dense, thin = firal.next_batch(X, None, 4), firal.next_batch(sparse.csr_array(X), None, 4)
    assert np.array_equal(dense.rows, thin.rows)


def test_tensors_with_a_gradient_pass():
    assert real_array(Tensor([[1, 2]], grad=True), "X").tolist() == [[1, 2]]


def test_nan_has_a_place():
    X = np.zeros((5, 3))
    X[2, 1] = np.nan
    X[4, 0] = np.inf
    message = "pool must be finite, got 2 NaN or infinite entries, the first, nan, in row 2, col"
    with pytest.raises(ValueError, match=message):
        firal.select(X, None, np.ones((1, 3)), 1)


def test_nothing_is_copied():
    X = np.zeros((2, 2), dtype=np.float32)
    assert real_array(X, "X") is X
