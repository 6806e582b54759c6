"""Whitened instances for the tests of the rounding bounds, and the rules, dense and literal.

An instance is a stack F (m, D, D) of positive semidefinite matrices and weights z (m,) with
sum(z) = b and sum_i z_i F_i = I. That is all the proofs use, so nothing here knows of logistic
regression.
"""

import numpy as np
from hypothesis import strategies as st

ROUND = 1e-7  # slack for rounding, relative to quantities of order one


def draw(seed, size, m, rank, budget, spread, share, capped):
    """F, z and the part of every F_i that all points share (the labeled points' part)."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(m, size, min(rank, size)))
    own = factors @ factors.transpose(0, 2, 1) * np.exp(spread * rng.normal(size=(m, 1, 1)))
    common = np.cov(rng.normal(size=(size, size + 2))).reshape(size, size) * share
    w = rng.exponential(size=m) ** 2 + 1e-3
    z = capped_weights(w, budget) if capped else w * budget / w.sum()
    values, vectors = np.linalg.eigh(np.tensordot(z, own + common, axes=1))
    if values[0] < 1e-7 * values[-1]:  # too few points, or too thin: no whitening without a ridge
        own = own + 1e-3 * np.eye(size) * np.trace(own.mean(axis=0))
        values, vectors = np.linalg.eigh(np.tensordot(z, own + common, axes=1))
    white = vectors / np.sqrt(values) @ vectors.T
    return white @ (own + common) @ white, z, white @ common @ white


def capped_weights(w, budget):
    """min(1, s w) with sum ``budget``, by bisection on log s."""
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        too_much = np.minimum(1, np.exp(middle) * w).sum() > budget
        low, high = (low, middle) if too_much else (middle, high)
    return np.minimum(1, np.exp(low) * w)


def instances(capped=False, most=12):
    """Strategy for (F, z, share, budget); capped ones have more points than the budget."""

    @st.composite
    def build(draw_from):
        size = draw_from(st.integers(1, 4))
        budget = draw_from(st.integers(1, most))
        m = draw_from(st.integers(budget + 1, budget + 8) if capped else st.integers(1, 8))
        F, z, share = draw(
            seed=draw_from(st.integers(0, 2**32 - 1)),
            size=size,
            m=m,
            rank=draw_from(st.integers(1, 4)),
            budget=budget,
            spread=draw_from(st.sampled_from([0.0, 1.0, 3.0])),
            share=draw_from(st.sampled_from([0.0, 0.1, 10.0])),
            capped=capped,
        )
        return F, z, share, budget

    return build()


etas = st.floats(-1.5, 2.5).map(lambda exponent: 10.0**exponent)


def traces_after(M, F):
    """tr (M + F_i)^{-1} for every i."""
    return np.trace(np.linalg.inv(M + F), axis1=1, axis2=2)


def shift(gaps, power, target):
    """u with sum_j (u + gaps_j)^{-power} = target^power; the smallest gap is zero.

    Newton's method on the concave increasing (sum_j (u + gaps_j)^{-power})^{-1/power}.
    """
    u = 1 / target
    for _ in range(60):
        total = np.sum((u + gaps) ** -power)
        slope = np.sum((u + gaps) ** (-power - 1)) / total ** (1 + 1 / power)
        step = (1 / target - total ** (-1 / power)) / slope
        u += step
        if step <= 1e-15 * u:
            break
    return u


def normalizer(S, eta):
    """nu with tr (nu I + eta S)^{-2} = 1."""
    values = eta * np.linalg.eigvalsh(S)
    return shift(values - values[0], 2.0, 1.0) - values[0]


def barrier(S, level):
    """l below the spectrum with tr (S - l I)^{-1} = level."""
    values = np.linalg.eigvalsh(S)
    return values[0] - shift(values - values[0], 1.0, level)


def smallest(S):
    return np.linalg.eigvalsh(S)[0]


def ftrl(F, budget, eta, replace=True):
    """Picks, their gains, tr A_t^{1/2} before every step, and the final sum."""
    S, picks, gains, roots = np.zeros(F.shape[1:]), [], [], []
    for _ in range(budget):
        M = normalizer(S, eta) * np.eye(len(S)) + eta * S
        roots.append(np.trace(np.linalg.inv(M)))
        gain = (roots[-1] - traces_after(M, eta * F)) / eta
        if not replace:
            gain[picks] = -np.inf
        picks.append(int(np.argmax(gain)))
        gains.append(gain[picks[-1]])
        S = S + F[picks[-1]]
    return picks, np.array(gains), np.array(roots), S
