"""What a selection has to compute: counts of its steps and points, and what each of them costs.

A count is a number that a run could be asked for: how many points are scored, how many gradients
the relaxed problem takes, how many points are compared with each other. A test counts them in runs.
Costs are multiply-adds, in units of those of a large matrix product. Where a step is no matrix
product (memory is moved, numbers are taken one by one) its cost has a factor that was fitted to
measured runs on one core.

Symbols: d columns with those of the clusters, k = c-1 free classes, s = d k, and pairs = d^2 / 2,
the products x_a x_b of a point.
"""

from __future__ import annotations

from typing import NamedTuple

from firal.selection.end_to_end import eta_grid
from firal.selection.relaxation import LARGE
from firal.selection.solver import NEAR
from firal.selection.typical_first import spread_rows, usual_options
from firal.selection.working_set import FROM, MOST_TAKEN, SHARE, TAKEN

GRADIENTS = {  # of a relaxed problem, by its gap: on the whole pool, and on working sets
    0.1: (6, 14),
    0.01: (25, 50),
}
PASSES = 4  # over the pool, with working sets
GROWN = 2.5  # points of a working set, in those that one pass adds
STEP = 1e7  # of a step, whatever its sizes
PAIR = 28.0  # of a product x_a x_b that is made for one pass
ELIMINATION = 10.0  # per point and k^3
UPDATE, REMOVAL = 150.0, 300.0  # per entry of a matrix that is changed
EIGENVALUES = 5.0  # per s^3
CLUSTER, CLUSTER_POINT = 90.0, 2500.0  # of one start of K-means, per point, cluster and feature
NEIGHBOR, DISTANCE = 55.0, 1.2  # of nearest neighbors, per pair of points, and feature
READ = 300.0  # of one number of a file, each time it is read
BLOCK_POINT, BLOCK_UPDATE = 200.0, 40.0  # of a greedy step, per point and class, and entry
BLOCK_CUBES = {"prepare": 2.0, "gradient": 6.0, "greedy": 12.0, "certificate": 22.0}
CUBES = {"prepare": 2.0, "gradient": 1.0, "greedy": 5.4, "certificate": 9.0}


class Counts(NamedTuple):
    """What a selection does.

    Attributes
    ----------
    gradients : int
        Of the relaxed problem.
    points : int
        Points in each of them.
    passes : int
        Passes over the pool besides these.
    candidates : int
        Points that a step scores.
    forward, backward : int
        Steps that add and that remove a point.
    """

    gradients: int
    points: int
    passes: int
    candidates: int
    forward: int
    backward: int


def penalized_counts(m: int, order: int, n_labels: int, n_classes: int, budget: int) -> Counts:
    """Counts of the default strategy.

    Parameters
    ----------
    m : int
        Points of the pool.
    order : int
        Order of its matrices.
    n_labels, n_classes : int
        Labeled points, and classes of the model; fewer than 2 if there is none.
    budget : int
        Points to pick.

    Returns
    -------
    Counts
        Steps and points.

    Examples
    --------
    >>> penalized_counts(5000, 100, 10, 2, 10)
    Counts(gradients=14, points=1250, passes=4, candidates=2500, forward=20, backward=10)
    """
    some = len(spread_rows(m, budget))
    share = usual_options(n_labels, n_classes if n_classes > 1 else None)["typical"]
    candidates = int(share * some) if share < 1 else _support(m, budget)
    if share < 1 and candidates < 2 * budget:
        candidates = _support(m, budget)
    steps = min(2 * budget, candidates)
    relaxed = _relaxed(m, order, budget, 0.1, m <= _whole_up_to(m, order, budget))
    return Counts(*relaxed, candidates, steps, max(steps - budget, 0))


def paper_counts(m: int, order: int, budget: int, strategy: str) -> Counts:
    """Counts of the algorithm of the paper, or of BAIT.

    Parameters
    ----------
    m, order, budget : int
        As in :func:`penalized_counts`.
    strategy : {"firal", "bait"}
        Which of the two.

    Returns
    -------
    Counts
        Steps and points; all runs of the rounding together.

    Examples
    --------
    >>> paper_counts(1000, 90, 10, "firal")
    Counts(gradients=25, points=1000, passes=0, candidates=1000, forward=70, backward=0)
    """
    if strategy == "bait":
        steps = min(2 * budget, m)
        return Counts(0, 0, 0, m, steps, steps - min(budget, steps))
    relaxed = _relaxed(m, order, budget, 0.01, m < LARGE)
    return Counts(*relaxed, _support(m, budget), len(eta_grid(order, budget)) * budget, 0)


def full(m: int, d: int, k: int, counts: Counts, budget: int, spectra: bool) -> float:
    """Work with full matrices.

    Parameters
    ----------
    m, d, k : int
        Points, columns, and free classes.
    counts : Counts
        What is done.
    budget : int
        Points to pick.
    spectra : bool
        Whether every step needs eigenvalues, as in the rounding of the paper.

    Returns
    -------
    float
        Multiply-adds.
    """
    s, pairs = d * k, d**2 / 2
    score = s**2 / 2 + PAIR * pairs + ELIMINATION * k**3
    work = m * s**2 / 2 + CUBES["prepare"] * s**3
    work += counts.gradients * (
        counts.points * (0.75 * s**2 + PAIR * pairs) + CUBES["gradient"] * s**3
    )
    work += counts.passes * m * (s**2 / 4 + PAIR * pairs)
    cubes = EIGENVALUES * s**3 if spectra else 0.0
    work += counts.forward * (counts.candidates * score + UPDATE * s**2 + cubes + STEP)
    left = 1.5 * budget * (s**2 / 2 + PAIR / 3 * pairs)
    work += counts.backward * (REMOVAL * s**2 + left + STEP / 3)
    if not spectra:
        work += CUBES["greedy"] * s**3
    if counts.gradients and not spectra:
        work += CUBES["certificate"] * s**3
    return float(work)


def blocks(m: int, d: int, order: int, c: int, counts: Counts, budget: int) -> float:
    """Work with one block per class, by greedy steps.

    Parameters
    ----------
    m, d : int
        Points and features.
    order : int
        Columns, with those of the clusters: the order of a block.
    c : int
        Classes.
    counts, budget
        As in :func:`full`.

    Returns
    -------
    float
        Multiply-adds.
    """
    square, cube = c * order**2, c * order**3
    work = m * c * d**2 / 2 + BLOCK_CUBES["prepare"] * cube
    work += counts.gradients * (
        1.5 * counts.points * c * d**2 + BLOCK_CUBES["gradient"] * cube + STEP
    )
    work += counts.passes * m * c * d**2
    work += BLOCK_CUBES["greedy"] * cube + 2 * counts.candidates * c * d**2
    step = BLOCK_UPDATE * square + STEP
    work += counts.forward * (counts.candidates * c * (2 * d + BLOCK_POINT) + step)
    work += counts.backward * (2 * budget * c * (2 * order + BLOCK_POINT) + step)
    if counts.gradients:
        work += BLOCK_CUBES["certificate"] * cube
    return float(work)


def clusters(m: int, d: int, count: int, starts: int = 1) -> float:
    """Work of K-means.

    Parameters
    ----------
    m, d, count, starts : int
        Points, features, clusters and starts.

    Returns
    -------
    float
        Multiply-adds.
    """
    return float(starts * m * count * (CLUSTER * d + CLUSTER_POINT))


def neighbors(m: int, d: int) -> float:
    """Work of nearest neighbors of all points.

    Parameters
    ----------
    m, d : int
        Points and features.

    Returns
    -------
    float
        Multiply-adds.
    """
    return float(m**2 * (NEIGHBOR + DISTANCE * d))


def readings(m: int, features: int, d: int, k: int, structure: str) -> float:
    """Work of the passes over a pool that is read block by block.

    Parameters
    ----------
    m, features : int
        Points, and features of the table.
    d, k : int
        Columns of the design, and free classes.
    structure : str
        "full", "block-diagonal", or another word if no information of all points is needed.

    Returns
    -------
    float
        Multiply-adds: one sum over all points, ``PASSES`` certificates, and the reading itself,
        three times more for the scale of the columns.
    """
    point = READ * features * (PASSES + 4)
    if structure == "full":
        s, pairs = d * k, d**2 / 2
        point += s**2 / 2 + PASSES * s**2 / 4 + (PASSES + 1) * PAIR * pairs
    elif structure == "block-diagonal":
        point += (PASSES + 0.5) * (k + 1) * d**2
    return float(m * point)


def _relaxed(m, order, budget, gap, whole):
    """Gradients, points in each, and passes."""
    gradients = GRADIENTS[gap]
    if whole:
        return gradients[0], m, 0
    return gradients[1], min(int(GROWN * _taken(m, order, budget)), m), PASSES


def _taken(m, order, budget):
    return max(TAKEN, min(m // SHARE, MOST_TAKEN), 2 * budget, 2 * order)


def _whole_up_to(m, order, budget):
    return max(FROM, 4 * _taken(m, order, budget))


def _support(m, budget):
    """Points that steps score if no rows are given."""
    return m if m < LARGE else min(m, int(1.3 * max(NEAR, 4 * budget)))
