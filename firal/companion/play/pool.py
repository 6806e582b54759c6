"""Figure to play with: q moves over a two-dimensional p, and FIR, risk and ellipses follow.

p = N(0, 4 I), two classes with theta_* = (1, 0), so d~ = 2. q is p dilated by nu and then shifted
by tau along (1, 1)/sqrt(2). For n points of q the fit is nearly N(theta_*, H_q^{-1} / n), while the
excess risk on p is nearly half the squared distance to theta_* in the norm of H_p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.companion.play.axis import number
from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.companion.synthetic import Risk, fit_from
from firal.information.fisher import information
from firal.model.logistic import softmax
from firal.theory import designs, transforms
from firal.theory.second_order import SecondOrder, second_order

NUS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
TAUS = tuple(0.5 * k for k in range(13))
DIRECTION = np.array([1.0, 1.0]) / np.sqrt(2)
THETA = designs.simplex_theta(2, 2)
SCALE = 2.0
N = 300  # labels per fit
RADIUS2 = 2 * np.log(10)  # 90 % of a two-dimensional standard normal are within sqrt(RADIUS2)
SHOWN = 70  # points of p and q that are drawn
FITS_SHOWN = 40


class Place(NamedTuple):
    """One q."""

    points: np.ndarray  # (SHOWN, 2), some points of q
    H: np.ndarray  # (2, 2), mean information
    terms: SecondOrder
    fits: np.ndarray  # (R, 2), NaN where there is no fit
    risk: np.ndarray  # (R,), likewise


def move(X, nu, tau):
    """A sample of p turned into one of q."""
    return transforms.translate(transforms.dilate(X, nu), tau, DIRECTION)


def compute(seed, n_runs, n_test=10_000):
    """(points of p, H_p, {(nu, tau): Place}); the same random numbers serve every q."""
    rng = np.random.default_rng([seed, 2])
    X = SCALE * rng.standard_normal((n_test, 2))
    base = SCALE * rng.standard_normal((n_runs, N, 2))
    uniform = rng.random((n_runs, N))
    measure = Risk(THETA, X)
    places = {}
    for nu in NUS:
        for tau in TAUS:
            moved = move(X, nu, tau)
            fits, risk = np.full((n_runs, 2), np.nan), np.full(n_runs, np.nan)
            for r in range(n_runs):
                Z = move(base[r], nu, tau)
                y = (softmax(Z, THETA)[:, 0] < uniform[r]).astype(int)
                fitted = fit_from(Z, y, THETA)
                if fitted is not None:
                    fits[r], risk[r] = fitted[0], measure(fitted)
            places[nu, tau] = Place(
                moved[:SHOWN],
                information(moved, THETA),
                second_order(moved, X, THETA),
                fits,
                risk,
            )
    return X[:SHOWN], information(X, THETA), places


def figure(points, Hp, places):
    """The figure of what ``compute`` returned."""

    def draw(i, j):
        nu, tau = NUS[i], TAUS[j]
        here = places[nu, tau]
        plane = Panel("The points", (-7, 11), (-7, 9), xlabel="x₁", ylabel="x₂", equal=True)
        plane.line([0, 0], [-20, 20], color="ink", width=1, dash="dotted", label="class boundary")
        plane.dots(*points.T, color="gray", marker="^", size=3, hollow=True, label="p")
        plane.dots(*here.points.T, color="blue", size=2.8, label="q")
        parameters = Panel(
            f"The fits, n = {N}", (0.2, 1.8), (-0.65, 0.65), xlabel="θ₁", ylabel="θ₂", equal=True
        )
        parameters.dots(*here.fits[:FITS_SHOWN].T, color="purple", size=2.2, label="fits")
        parameters.line(
            *ellipse(here.H), color="blue", label="90 % of the fits, by q's information"
        )
        parameters.line(
            *ellipse(Hp), color="gray", dash="dashed", label="equal risk on p, by p's information"
        )
        parameters.dots(*THETA.T, color="ink", marker="D", size=4, label="θ*")
        risks = Panel(
            "Excess risk on p at this dilation",
            (-0.15, TAUS[-1] + 0.15),
            (1.5e-3, 0.15),
            xlabel="translation τ",
            ylabel="excess risk on p",
            ylog=True,
        )
        row = [places[nu, t] for t in TAUS]
        mean = np.array([np.nanmean(p.risk) for p in row])
        risks.line(TAUS, [p.terms.fir / (2 * N) for p in row], dash="dotted", label="FIR/(2n)")
        risks.line(TAUS, [p.terms.predict(N) for p in row], color="gold", label="second order")
        bars = 2 * np.array([_error(p.risk) for p in row])
        gaps = np.full(len(TAUS), np.nan)
        risks.line(
            np.stack([TAUS, TAUS, gaps], axis=1).ravel(),
            np.stack([mean - bars, mean + bars, gaps], axis=1).ravel(),
            color="red",
            width=1.5,
        )
        risks.dots(TAUS, mean, color="red", marker="D", size=3.5, label="mean of the runs, 2 s.e.")
        risks.dots(tau, mean[j], color="ink", size=8, hollow=True)
        return [plane, parameters, risks], _sentence(here)

    return PlayFigure(
        "play-pool",
        [
            Control("Dilation ν", [f"{nu:g}" for nu in NUS], start=NUS.index(1.0)),
            Control("Translation τ", [f"{tau:g}" for tau in TAUS], start=TAUS.index(4.0)),
        ],
        draw,
        caption="FIR is small when the blue ellipse fits into the dashed one: then the fits "
        "scatter where p does not mind.",
    )


def ellipse(H, n=N, steps=48):
    """Points theta with ``n (theta - theta_*)^T H (theta - theta_*) = RADIUS2``."""
    angles = np.linspace(0, 2 * np.pi, steps + 1)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    shift = np.linalg.solve(np.linalg.cholesky(H).T, circle) * np.sqrt(RADIUS2 / n)
    return THETA[0][:, None] + shift


def _sentence(place):
    have = ~np.isnan(place.risk)
    runs, missing = have.sum(), (~have).sum()
    error = _error(place.risk)
    inside = np.nanmean(_inside(place))
    without = f" {missing} runs have no fit." if missing else ""
    return (
        f"FIR = {place.terms.fir:.3g}; q = p has 2. Excess risk on p: FIR/(2n) = "
        f"{number(place.terms.fir / (2 * N))}, second order {number(place.terms.predict(N))}, "
        f"mean of {runs} runs {number(np.nanmean(place.risk))} ± {number(error, 1)}.{without} "
        f"{100 * inside:.0f}\N{NO-BREAK SPACE}% of the fits are in the blue ellipse."
    )


def _error(risk):
    """Standard error of the mean over the runs with a fit."""
    return np.nanstd(risk, ddof=1) / np.sqrt(np.sum(~np.isnan(risk)))


def _inside(place):
    shift = place.fits - THETA[0]
    square = N * np.einsum("ri,ij,rj->r", shift, place.H, shift)
    return np.where(np.isnan(square), np.nan, square <= RADIUS2)
