"""Full matrices or one block per class: what each takes, which one it is, and why.

Full information has order d~ = d (c-1): a few matrices of that order must fit in memory, and a
selection takes some multiple of d~^3. Block-diagonal information has c blocks of order d
(:mod:`firal.selection.block_diagonal`). ``structure="auto"`` is full wherever that is feasible:
blocks are another problem, close to the full one (the chapter *Many classes* says how close). The
choice depends on the sizes and on the memory of the machine, not on how busy it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.sizes import size_text, time_text, total_memory
from firal.selection.block_diagonal import BlockProblem, blocks_of
from firal.selection.inputs import checked_inputs
from firal.selection.problem import Problem, is_flat, problem_of

STRUCTURES = ("full", "block-diagonal", "auto")
MOST_WORK = 2e14  # multiply-adds of full matrices from which on "auto" takes blocks
RATE = 2e10  # multiply-adds per second of one core, to say how long that is

# Multiply-adds per unit of work, in units of those of a matrix product: fitted to measured runs.
PER_POOL, PER_CUBE = 3.5, 330.0  # of greedy steps with full matrices
PER_FTRL_POOL, PER_FTRL_CUBE, ETAS = 3.0, 20.0, 7
GRADIENTS = 50  # of a relaxed problem
MATRICES, LEAST = 12, 4  # of order d~ that are held at once, and without which nothing goes
SHARE = 0.8  # of the memory of the machine that "auto" would use


class StructureChosen(UserWarning):
    """``structure="auto"`` has taken blocks in place of full matrices."""


class Choice(NamedTuple):
    """The structure of a selection.

    Attributes
    ----------
    structure : str
        "full" or "block-diagonal".
    why : str
        The reason, in one sentence.
    """

    structure: str
    why: str


def full_cost(task: str, m: int, d: int, c: int, budget: int) -> tuple[float, int, int]:
    """Work and memory with full matrices.

    Parameters
    ----------
    task : {"relax", "sparsify", "select", "bait"}
        What is to be done; "select" tries several learning rates.
    m, d, c : int
        Number of points, features and classes.
    budget : int
        Points to pick.

    Returns
    -------
    tuple of float, int and int
        Multiply-adds, bytes that will be held, and bytes below which it is impossible.

    Examples
    --------
    >>> work, memory, least = full_cost("select", 5000, 40, 50, 50)
    >>> f"{work:.0e}", f"{least:.1e}"
    ('7e+13', '1.3e+08')
    """
    s, points = d * (c - 1), 8 * m * d * 3
    runs = ETAS if task == "select" else 1
    per_pool, per_cube = {
        "relax": (GRADIENTS / 2 / budget, 2.0 * GRADIENTS),
        "bait": (PER_POOL, 10.0),
    }.get(task, (runs * PER_FTRL_POOL, runs * budget * PER_FTRL_CUBE))
    work = float(per_pool * budget * m * s**2 + per_cube * s**3)
    return work, points + 8 * MATRICES * s**2, points + 8 * LEAST * s**2


def block_cost(task: str, m: int, d: int, c: int, budget: int) -> tuple[float, int, int]:
    """Work and memory with one block per class.

    Parameters
    ----------
    task, m, d, c, budget
        As in :func:`full_cost`.

    Returns
    -------
    tuple of float, int and int
        As from ``full_cost``.

    Examples
    --------
    >>> f"{block_cost('select', 5000, 40, 50, 50)[0]:.0e}"
    '9e+11'
    """
    blocks, points = 8 * c * d * d, 8 * m * d * 3
    runs, steps = (ETAS, budget) if task == "select" else (1, budget)
    per_step = PER_FTRL_POOL * 2 * m * c * d**2 + PER_FTRL_CUBE * c * d**3
    if task == "bait":
        per_step = PER_POOL * 4 * m * c * d
    gradients = GRADIENTS * c * (m * d**2 + 3 * d**3)
    work = float(gradients if task == "relax" else gradients + runs * steps * per_step)
    return work, points + 32 * m * c + 4 * blocks, points + 4 * blocks


def choose(
    structure: str, task: str, m: int, d: int, c: int, budget: int, memory: int | None = None
) -> Choice:
    """Decide between full matrices and blocks.

    Parameters
    ----------
    structure : {"full", "block-diagonal", "auto"}
        What the caller wants.
    task, m, d, c, budget
        As in :func:`full_cost`.
    memory : int, optional
        Bytes of the machine; by default those of this one.

    Returns
    -------
    Choice
        The structure, and why.

    Raises
    ------
    ValueError
        If the structure is unknown, or full matrices are wanted and cannot fit.

    Examples
    --------
    >>> choose("auto", "select", 5000, 40, 50, 50).structure
    'full'
    >>> choose("auto", "select", 50_000, 383, 1000, 200).structure
    'block-diagonal'
    """
    if structure not in STRUCTURES:
        raise ValueError(f"structure must be one of {STRUCTURES}, got {structure!r}")
    memory = total_memory() if memory is None else memory
    work, held, least = full_cost(task, m, d, c, budget)
    order, blocks = d * (c - 1), f"{c} blocks of order {d} take {size_text(8 * c * d * d)} each"
    known = memory is not None
    if structure == "full" and known and least > memory:
        raise ValueError(
            f'structure="full" needs matrices of order {order}, at least {size_text(least)} in '
            f'all, and this machine has {size_text(memory)}: set structure="block-diagonal" '
            f"({blocks} time they are stored), or reduce the features"
        )
    if structure != "auto":
        return Choice(structure, "as asked for")
    if known and held > SHARE * memory:
        need = f"take {size_text(held)}, and this machine has {size_text(memory)}"
        return Choice("block-diagonal", f"full matrices of order {order} would {need}")
    if work > MOST_WORK:
        need = f"take {time_text(work / RATE)} on one core"
        return Choice("block-diagonal", f"full matrices of order {order} would {need}")
    return Choice("full", f"matrices of order {order} take {size_text(held)}")


def prepare(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    structure: str,
    task: str,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    if_too_large: str | None = None,
    factorize: bool = True,
    report: Callable[[str, int, int], None] | None = None,
) -> tuple[Problem | BlockProblem, Choice]:
    """Check the data of a selection, choose the structure, and prepare the problem.

    Parameters
    ----------
    pool, labeled, theta, budget, ridge, probabilities, if_too_large, factorize
        As in :func:`firal.selection.problem.prepare_problem`.
    structure : {"full", "block-diagonal", "auto"}
        What the caller wants.
    task : str
        As in ``full_cost``.
    report : callable, optional
        Called as ``report(stage, done, total)`` while blocks are computed.

    Returns
    -------
    tuple of Problem or BlockProblem, and Choice
        The prepared data; warns with ``StructureChosen`` if "auto" takes blocks.

    Raises
    ------
    ValueError
        As in ``prepare_problem`` and ``choose``.
    """
    if structure not in STRUCTURES:
        raise ValueError(f"structure must be one of {STRUCTURES}, got {structure!r}")
    data = checked_inputs(
        pool,
        labeled,
        theta,
        budget,
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=if_too_large,
    )
    (m, d), c = data.pool.shape, data.p.shape[1]
    if factorize and structure != "block-diagonal" and is_flat(data):
        c = 2  # before the first label the full problem is that of two classes
    choice = choose(structure, task, m, d, c, data.budget)
    only = [data]
    del data  # the last reference is handed over, so that the probabilities are freed in time
    if choice.structure == "full":
        return problem_of(only.pop(), factorize), choice
    if structure == "auto":
        warnings.warn(
            f"block-diagonal information is used: {choice.why}. Set structure to "
            '"block-diagonal" or "full" to choose',
            StructureChosen,
            stacklevel=3,
        )
    return blocks_of(only.pop(), report), choice


def prepare_with_weights(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    z: ArrayLike,
    budget: int,
    replace: bool,
    *,
    structure: str = "full",
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    factorize: bool = False,
) -> tuple[Problem | BlockProblem, np.ndarray, Choice]:
    """Check and prepare the data of a rounding.

    Parameters
    ----------
    pool, labeled, theta, budget, structure, ridge, probabilities, factorize
        As in :func:`prepare`.
    z : array_like of shape (m,)
        Nonnegative weights with sum ``budget``.
    replace : bool
        Whether a point may be picked again.

    Returns
    -------
    tuple of Problem or BlockProblem, np.ndarray, and Choice
        The prepared data, z and the structure.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the sum of z is not ``budget``, or there are
        fewer than ``budget`` distinct points.
    """
    replace = checks.boolean(replace, "replace")
    advice = None if replace else "set replace=True to allow repeated picks"
    problem, choice = prepare(
        pool,
        labeled,
        theta,
        budget,
        structure=structure,
        task="sparsify",
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=advice,
        factorize=factorize,
    )
    z = checks.weights(z, problem.n_points, "z")
    if not np.isclose(z.sum(), budget, rtol=1e-6, atol=0):
        raise ValueError(f"z must have sum {budget}, the budget, got sum {z.sum():g}")
    return problem, z, choice
