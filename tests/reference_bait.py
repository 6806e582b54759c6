"""BAIT by the letter: every matrix formed, every candidate set's value computed from scratch."""

import numpy as np
from reference_select import hessian


def setting(pool, labeled, theta, prior):
    """H(x_i) of every point, H_p, and the matrix before any pick."""
    H = np.array([hessian(x, theta) for x in pool])
    H_p = H.mean(axis=0)
    return H, H_p, sum((hessian(x, theta) for x in labeled), prior * H_p)


def value(H, H_p, start, rows):
    """trace(M^{-1} H_p)."""
    return np.trace(np.linalg.inv(start + H[list(rows)].sum(axis=0)) @ H_p)


def forward(H, H_p, start, steps):
    """Add the point that leaves the smallest value, ``steps`` times."""
    picked = []
    for _ in range(steps):
        rest = [i for i in range(len(H)) if i not in picked]
        picked.append(min(rest, key=lambda i: value(H, H_p, start, [*picked, i])))
    return picked


def backward(H, H_p, start, picked, keep):
    """Remove the point that leaves the smallest value, until ``keep`` are left."""
    picked = list(picked)
    while len(picked) > keep:
        removals = {i: value(H, H_p, start, [j for j in picked if j != i]) for i in picked}
        picked.remove(min(removals, key=removals.get))
    return picked
