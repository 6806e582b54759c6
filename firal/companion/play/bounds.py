"""Figure to play with: the prefactors of Theorem 3, and its bounds against the sample size.

Two classes, d features, x ~ N(0, I), q = p and ``|theta_*| = t``. All constants of the theorem are
known then (``gaussian_design.binary_gaussian``), apart from the absolute ones, which are set to 1.
The measured risks are those of maximum likelihood fits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.companion.play.axis import number
from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.companion.synthetic import Risk, fit_from
from firal.theory import bounds, designs, gaussian_design

SIGNALS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 6.0, 10.0)
SIZES = tuple(int(round(n, -2)) for n in np.geomspace(100, 1e7, 31))  # the slider over n
MEASURED = (200, 400, 800, 1600, 3200)
DELTA = 0.05
CURVE = np.geomspace(50, 3e7, 120)


class Signal(NamedTuple):
    """What belongs to one signal t."""

    fir: float
    alpha: tuple  # alpha * sqrt(n), with C3 = 1 and with C3 = K0 K1 K2
    risk: np.ndarray  # mean measured risk at the sizes MEASURED; NaN: not every fit exists


def compute(seed, n_runs, d=8, n_test=20_000):
    """{t: Signal}: n_runs fits for every t and n in MEASURED."""
    out = {}
    for t in SIGNALS:
        constants = gaussian_design.binary_gaussian(t)
        C3 = constants.K0 * constants.K1 * constants.K2
        alpha = tuple(bounds.alpha(1, d, 1.0, constants.rho, DELTA, C) for C in (1.0, C3))
        rng = np.random.default_rng([seed, int(10 * t)])
        theta = np.zeros((1, d))
        theta[0, 0] = t
        measure = Risk(theta, rng.standard_normal((n_test, d)))
        risk = np.full((n_runs, len(MEASURED)), np.nan)
        for run in risk:
            X = rng.standard_normal((max(MEASURED), d))
            y = designs.draw_labels(X, theta, rng)
            for k, n in enumerate(MEASURED):
                fitted = fit_from(X[:n], y[:n], theta)
                run[k] = np.nan if fitted is None else measure(fitted)
        out[t] = Signal(float(d), alpha, risk.mean(axis=0))
    return out


def figure(signals):
    """The figure of what ``compute`` returned."""
    ts = list(signals)
    alphas = np.geomspace(1e-2, 40, 150)

    def draw(i, which, j):
        fir, alpha, risk = signals[ts[i]]
        n = SIZES[j]
        here = alpha[which] / np.sqrt(n)
        left = Panel(
            "Prefactors",
            (1e-2, 40),
            (1e-2, 1e3),
            xlabel="α",
            ylabel="prefactor",
            xlog=True,
            ylog=True,
        )
        upper, lower = bounds.prefactor(alphas), bounds.prefactor(-alphas)
        _between(left, alphas, upper, lower)
        left.line([1e-2, 40], [0.5, 0.5], color="ink", width=1, dash="dotted")
        ends = bounds.prefactor(np.array([here, -here]))
        left.line([here, here], ends, color="ink", width=1.5)
        left.dots([here, here], np.minimum(ends, 1e300), color="ink", label="the n of the slider")
        right = Panel(
            "Bounds on the excess risk",
            (50, 3e7),
            (1e-8, 10),
            xlabel="n",
            ylabel="excess risk on p",
            xlog=True,
            ylog=True,
        )
        along = alpha[which] / np.sqrt(CURVE)
        _between(
            right,
            CURVE,
            bounds.prefactor(along) * fir / CURVE,
            bounds.prefactor(-along) * fir / CURVE,
        )
        limit = "the limit: ½, that is FIR/(2n)"
        right.line(CURVE, fir / (2 * CURVE), color="ink", width=1, dash="dotted", label=limit)
        right.dots(MEASURED, risk, color="red", marker="D", size=3, label="measured")
        right.line([alpha[which] ** 2] * 2, [1e-9, 100], color="gold", dash="dashed", label="α = 1")
        right.line([n, n], ends * fir / n, color="ink", width=1.5)
        right.dots([n, n], np.minimum(ends, 1e300) * fir / n, color="ink")
        return [left, right], _sentence(n, here, ends, fir)

    return PlayFigure(
        "play-bounds",
        [
            Control("Signal |θ*|", [f"{t:g}" for t in ts], start=min(2, len(ts) - 1)),
            Control("Constant in α", ["C₃ = 1", "C₃ = K₀K₁K₂"], choice=True, start=1),
            Control("Sample size n", [f"{n:,}" for n in SIZES], start=12),
        ],
        draw,
        caption="The theorem says something where α is below 1 or so, right of the gold line. The "
        "measured risk is near FIR/(2n) long before.",
    )


def _between(panel, x, upper, lower):
    panel.area(
        np.concatenate([x, x[::-1]]),
        np.concatenate([np.minimum(upper, 1e300), lower[::-1]]),
        color="blue",
        opacity=0.15,
    )
    panel.line(x, np.minimum(upper, 1e300), color="blue", label="upper: (exp(α) − α − 1)/α²")
    panel.line(x, lower, color="blue", dash="dashed", label="lower: (exp(−α) + α − 1)/α²")


def _sentence(n, here, ends, fir):
    up = "beyond 10³⁰⁰" if ends[0] > 1e300 else number(ends[0], 3)
    width = min(ends[0], 1e300) / ends[1]
    verdict = (
        "The bounds are close to each other."
        if width < 2
        else f"The bounds are a factor {number(width, 3)} apart."
        if width < 1e4
        else "The upper bound says nothing."
    )
    return (
        f"n = {n:,}: α = {number(here, 3)}, prefactors {number(ends[1], 3)} and {up}, "
        f"FIR/(2n) = {number(fir / (2 * n))}. {verdict}"
    )
