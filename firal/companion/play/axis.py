"""An axis of a panel: where a value is in pixels, which ticks it has, how numbers are written."""

from __future__ import annotations

import numpy as np

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Axis:
    """From data to pixels: 0 at the left or, when ``reverse``, at the top."""

    def __init__(self, limits, log, length, reverse, ticks):
        low, high = map(float, limits)
        if not (np.isfinite([low, high]).all() and low < high and (low > 0 or not log)):
            kind = "positive " if log else ""
            raise ValueError(f"limits must be two {kind}numbers, the lower first, got {limits}")
        self.limits, self.log, self.length, self.reverse = (low, high), log, length, reverse
        self.given = ticks

    def __call__(self, values):
        values = np.asarray(values, dtype=float)
        low, high = self.limits
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.where(values > 0, np.log(values), np.nan)
            low, high = np.log(low), np.log(high)
        share = (values - low) / (high - low)
        return self.length * (1 - share if self.reverse else share)

    def ticks(self):
        """Pairs of a value and its label."""
        if self.given is not None:
            return list(self.given)
        low, high = self.limits
        if not self.log:
            step = _nice_step((high - low) / 5)
            values = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
            return [(v, f"{v:g}".replace("-", "−")) for v in np.round(values, 12) + 0.0]
        decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        every = max(1, int(np.ceil((decades[-1] - decades[0]) / 6)))
        factors = (1, 2, 5) if np.log10(high / low) < 1.6 else (1,)
        values = [m * 10.0**k for k in decades[::every] for m in factors]
        return [(v, _power(v)) for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def _nice_step(rough):
    scale = 10.0 ** np.floor(np.log10(rough))
    return scale * min(m for m in (1, 2, 5, 10) if m * scale >= rough * (1 - 1e-9))


def number(v, digits=2):
    """v with so many significant digits, as one writes it: 0.012, 3.5·10⁻⁶."""
    text = f"{v:.{digits}g}"
    if "e" not in text:
        return text
    lead, exponent = text.split("e")
    return f"{lead}·10{str(int(exponent)).translate(SUPERSCRIPT)}"


def _power(v):
    """100 as it is, 100000 as 10⁵."""
    exponent = round(np.log10(v))
    if 9e-4 < v < 9e3 or not np.isclose(v, 10.0**exponent):
        return f"{v:g}"
    return "10" + str(exponent).translate(SUPERSCRIPT)
