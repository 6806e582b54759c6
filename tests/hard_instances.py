"""Pools on which rounding is hard: near ties, extreme probabilities, bad scales, and all three."""

import numpy as np

KINDS = ("near ties", "extreme probabilities", "bad scales", "all")


def softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def instance(kind, m=240, d=3, c=3, seed=0):
    """Points (m, d) and class probabilities (m, c) of one of ``KINDS``."""
    rng = np.random.default_rng(seed)
    X, theta, scale = rng.normal(size=(m, d)), rng.normal(size=(d, c)), np.ones(d)
    if kind in ("near ties", "all"):  # groups of six that differ by up to 5e-7
        X = np.repeat(X[: m // 6], 6, axis=0) * (1 + 1e-7 * np.tile(np.arange(6), m // 6))[:, None]
    p = softmax(X @ theta)
    if kind in ("extreme probabilities", "all"):
        p = softmax(X @ theta * 10.0 ** rng.uniform(-2, 2.5, size=(m, 1)))
        p[: 2 * c] = np.tile(np.eye(c), (2, 1))
        p[2 * c : 3 * c] = np.maximum(np.eye(c), 1e-300)
        p[3 * c : 4 * c] = (1 - 2.0**-53) * np.eye(c) + 2.0**-54 * (1 - np.eye(c))
    if kind in ("bad scales", "all"):
        scale = 10.0 ** np.linspace(-12, 12, d)
    return X * scale, p
