"""FIRAL: active learning for multinomial logistic regression by the Fisher information ratio."""

from firal.fisher import excess_risk, fir, information, rho, sigma
from firal.logistic import Fit, fit, gradient, hessian, loss, probabilities

__version__ = "0.1.0"

__all__ = [
    "Fit",
    "excess_risk",
    "fir",
    "fit",
    "gradient",
    "hessian",
    "information",
    "loss",
    "probabilities",
    "rho",
    "sigma",
]
