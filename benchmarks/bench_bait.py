"""BAIT by small matrices against two direct transcriptions, in one run. Prints ratios.

*Dense*: every candidate's d~ x d~ matrix is formed and inverted; some points of one step are timed
and scaled up. *Batched Woodbury*: a (c-1) x d~ factor of every point, batched products
with M^{-1} and batched solves; all 3b steps are timed, the factors are not.
"""

from __future__ import annotations

import numpy as np
from common import best_time, one_thread, show

from firal.model.logistic import probabilities
from firal.selection.bait import bait

M, D, C, B = 3000, 20, 10, 10


def data(seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(C - 1, D)) / np.sqrt(D)
    return rng.normal(size=(M, D)), rng.normal(size=(C, D)), theta


def factors(X, theta):
    """V_i (c-1, d~) with V_i^T V_i = H(x_i), by an eigendecomposition per point; not timed."""
    h = probabilities(X, theta)[:, :-1]
    out = np.empty((len(X), C - 1, theta.size))
    for i, x in enumerate(X):
        values, vectors = np.linalg.eigh(np.diag(h[i]) - np.outer(h[i], h[i]))
        root = vectors * np.sqrt(np.maximum(values, 0))
        out[i] = np.kron(root, x[:, None]).T
    return out


def dense_scores(V, M_now, H_p, rows):
    """trace((M + H_i)^{-1} H_p) with everything formed."""
    return np.array([np.trace(np.linalg.inv(M_now + V[i].T @ V[i]) @ H_p) for i in rows])


def woodbury_scores(V, Minv, H_p):
    """The decrease of the trace, for all points at once."""
    A = V @ Minv
    inner = np.eye(V.shape[1]) + A @ np.swapaxes(V, 1, 2)
    middle = A @ H_p @ np.swapaxes(A, 1, 2)
    return np.trace(np.linalg.solve(inner, middle), axis1=1, axis2=2)


def woodbury_bait(V, start, H_p, budget):
    """Forward 2b, backward b, with the batched scores."""
    M_now, picked = start.copy(), []
    for _ in range(2 * budget):
        scores = woodbury_scores(V, np.linalg.inv(M_now), H_p)
        scores[picked] = -np.inf
        picked.append(int(scores.argmax()))
        M_now += V[picked[-1]].T @ V[picked[-1]]
    while len(picked) > budget:
        A = V[picked] @ np.linalg.inv(M_now)
        inner = np.eye(V.shape[1]) - A @ np.swapaxes(V[picked], 1, 2)
        middle = A @ H_p @ np.swapaxes(A, 1, 2)
        loss = np.trace(np.linalg.solve(inner, middle), axis1=1, axis2=2)
        worst = picked.pop(int(loss.argmin()))
        M_now -= V[worst].T @ V[worst]
    return picked


def main():
    pool, labeled, theta = data()
    V, V0 = factors(pool, theta), factors(labeled, theta)
    H_p = np.einsum("nka,nkb->ab", V, V, optimize=True) / M
    start = np.einsum("nka,nkb->ab", V0, V0, optimize=True) + H_p
    Minv = np.linalg.inv(start)

    ours = best_time(lambda: bait(pool, labeled, theta, B))
    batched = best_time(lambda: woodbury_bait(V, start, H_p, B), at_least=1)
    rows = range(60)
    step = best_time(lambda: dense_scores(V, start, H_p, rows), at_least=1)
    dense = 2 * B * step * M / len(rows)
    same = woodbury_bait(V, start, H_p, B) == bait(pool, labeled, theta, B).tolist()
    gains = np.trace(Minv @ H_p) - dense_scores(V, start, H_p, rows)
    agree = np.abs(gains - woodbury_scores(V[:60], Minv, H_p)).max()
    show(
        f"BAIT, m={M}, d={D}, c={C}, b={B}, one thread",
        [
            ("firal.selection.bait", f"{ours:.2f} s", None, None),
            (
                "batched Woodbury / firal.selection.bait",
                f"{batched / ours:.1f}x",
                None,
                None,
            ),
            (
                "dense, forward steps only / firal.selection.bait",
                f"{dense / ours:.0f}x",
                "at least 20x",
                dense >= 20 * ours,
            ),
            ("same picks as the batched version", str(same), "True", same),
            ("largest difference of the two transcriptions", f"{agree:.0e}", None, None),
        ],
    )


if __name__ == "__main__":
    with one_thread():
        main()
