r"""Who is ahead?

*Week 4. In Python, 20 minutes. Read [real data](../../real_data.md), the protocol, first.*

Two strategies started from the same labels, trial by trial. Write `paired_interval(a, b, level)`:
the Student interval of the mean difference, `a` minus `b`, at the given level, as a pair of
numbers.
"""

import numpy as np
from scipy import stats


def paired_interval(a, b, level=0.95):
    """(low, high) of the mean of ``a - b``, both (n,), by Student's t."""
    difference = a - b
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    half = stats.t.ppf((1 + level) / 2, len(difference) - 1) * error
    return difference.mean() - half, difference.mean() + half


def test_by_hand(paired_interval):
    """Differences 1, 2, 6: mean 3, standard error sqrt(7/3), quantile 4.303."""
    low, high = paired_interval(np.array([2.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    assert np.isclose(low, 3 - 4.30265 * np.sqrt(7 / 3), atol=1e-4)
    assert np.isclose(high, 3 + 4.30265 * np.sqrt(7 / 3), atol=1e-4)


def test_trials_share_their_start(paired_interval):
    """Starts differ widely, the strategies by little: the pairs see it."""
    start = np.array([10.0, 50.0, 90.0, 30.0, 70.0])
    low, high = paired_interval(start + np.array([1.0, 1.1, 0.9, 1.0, 1.05]), start)
    assert 0.8 < low < high < 1.2


def test_other_level(paired_interval):
    """Differences 0, 1, 2, 3, 9 at the level 50 %: standard error sqrt(2.5), quantile 0.741."""
    a, b = np.array([5.0, 3.0, 2.0, 7.0, 9.0]), np.array([5.0, 2.0, 0.0, 4.0, 0.0])
    low, high = paired_interval(a, b, 0.5)
    assert np.isclose(low, 3 - 0.740697 * np.sqrt(2.5), atol=1e-4)
    assert np.isclose(high, 3 + 0.740697 * np.sqrt(2.5), atol=1e-4)


def test_sign(paired_interval):
    """The first minus the second."""
    low, high = paired_interval(np.array([0.0, 0.1, 0.2]), np.array([5.0, 5.2, 5.1]))
    assert high < 0
