"""Claims of the paper and of this book, checked in notebooks and recorded there.

``book/claims.yml`` lists every claim with the status we expect: ``holds``, ``holds-corrected``,
``differs`` or ``cannot-test``. A notebook calls ``check``, which prints one rounded line, stores
the same facts as JSON beside it, and raises ``ClaimError`` when the outcome is not the expected
one. So a ``differs`` claim that suddenly passes stops the run, like a strict xfail. Where nothing
that can be computed would contradict a claim, ``cannot_test`` records the reason instead. The
scoreboard of the book is built from the stored records alone.

A check that cannot fail is worthless. So a check that is expected to pass comes with a *control*:
the same statistic of a corrupted version (a wrong constant, another estimator, a dropped
assumption), which must fail. It is recorded and shown beside the check.

A bound with slack stays true when one of its terms is dropped. So the formula in the notebook is
itself compared with a number from elsewhere, by ``transcribed``. This is no evidence for the claim
and leaves no record; it stops the run when the formula was changed.

With the environment variable ``FIRAL_CLAIMS=record`` an unexpected outcome is recorded but does
not raise: this is how ``make reproduce`` can list every verdict that changed.
"""

from __future__ import annotations

import operator
import os
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import NamedTuple

from firal.companion import checkout

MIME = "application/vnd.firal.claim+json"
STATUSES = ("holds", "holds-corrected", "differs", "cannot-test")
RELATIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
_SYMBOLS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "="}


class ClaimError(AssertionError):
    """A check came out other than the registry expects."""


class Check(NamedTuple):
    """One executed check: what was measured, against what, and how it came out.

    Without a relation it is the reason why a claim cannot be tested.
    """

    id: str
    what: str
    measured: float | None
    relation: str | None
    reference: float | None
    printed: bool
    passed: bool
    as_expected: bool
    control: str | None = None  # what was corrupted
    control_measured: float | None = None

    def line(self) -> str:
        """The check as the single line a notebook shows."""
        if self.relation is None:
            return f"{self.id} | cannot be tested: {self.what}"
        number = "measured" if self.measured is None else f"{self.measured:g}"
        subject = " (as printed in the paper)" if self.printed else ""
        verdict = "holds" if self.passed else "fails"
        if not self.as_expected:
            verdict += ", UNEXPECTED"
        comparison = f"{number} {_SYMBOLS[self.relation]} {self.reference:g}"
        line = f"{self.id}{subject} | {self.what} | {comparison} | {verdict}"
        if self.control is None:
            return line
        number = "" if self.control_measured is None else f" {self.control_measured:g}"
        return f"{line} | control, {self.control}:{number} fails"

    def bundle(self) -> dict:
        """The check as a notebook stores it."""
        return {"text/plain": self.line(), MIME: self._asdict()}


def registry(path=None) -> dict[str, dict]:
    """All claims of ``book/claims.yml`` by id, in the order of the file.

    Without a path it is the file of the repository that the working folder is in, so that it is
    found from the repository root and from ``notebooks/`` alike. The entries are shared between
    calls: do not change them.
    """
    path = checkout.root() / "book" / "claims.yml" if path is None else Path(path)
    return _entries(path.read_text(encoding="utf8"))


@lru_cache(maxsize=4)
def _entries(text):
    """Parsed once per version of the file: a notebook asks at every check."""
    import yaml  # a dependency of the book, not of the module

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times faster
    return {entry["id"]: entry for entry in yaml.load(text, Loader=loader)}


def check(
    claim_id, measured, relation, reference, *, what, digits=None, printed=False, control=None
):
    """Record ``measured relation reference`` as evidence for a claim, and show it.

    claim_id   an id of the registry whose expected status is set
    measured   a number, compared in full precision
    relation   one of ``<``, ``<=``, ``>``, ``>=``, ``==``
    reference  the number it is compared with (the bound, the tolerance, the paper's value)
    what       a few words that tell this check from the others of the same claim
    digits     significant digits of ``measured`` to record; None records the verdict only, for
               numbers that are round-off and differ from machine to machine
    printed    True when the statement is tested exactly as the paper prints it
    control    (value, what was corrupted) or (value, what was corrupted, its reference): the same
               statistic of a corrupted version. It must not satisfy the relation. Required where
               the check is expected to pass

    Expected outcome: a claim that ``holds`` passes; one that ``differs`` fails as printed; one
    that ``holds-corrected`` passes, and fails where ``printed=True``.
    """
    if relation not in RELATIONS:
        raise ValueError(f"unknown relation {relation!r}: expected one of {sorted(RELATIONS)}")
    expected = _expected(claim_id, STATUSES[:-1])
    value = float(measured)
    passed = bool(RELATIONS[relation](value, float(reference)))
    printed = bool(printed or expected == "differs")
    should_pass = expected == "holds" or (expected == "holds-corrected" and not printed)
    corrupted, number, control_fails = _control(control, relation, reference, digits)
    record = Check(
        id=claim_id,
        what=str(what),
        measured=None if digits is None else float(f"{value:.{digits}g}"),
        relation=relation,
        reference=float(f"{float(reference):.6g}"),
        printed=printed,
        passed=passed,
        as_expected=passed == should_pass and control_fails,
        control=corrupted,
        control_measured=number,
    )
    _show(record)
    if not record.as_expected and os.environ.get("FIRAL_CLAIMS") != "record":
        if not control_fails:
            raise ClaimError(f"this check of {claim_id} cannot fail: it passes with {corrupted}")
        outcome = "passed" if passed else "failed"
        raise ClaimError(
            f"{claim_id} is expected to be {expected!r}, but this check {outcome}: "
            f"{what}: {value:.6g} {relation} {float(reference):.6g}"
        )


def cannot_test(claim_id, reason):
    """Record why nothing that can be computed would contradict a claim, and show it.

    claim_id   an id of the registry whose expected status is ``cannot-test``
    reason     one line: the constant that is not given, the quantity that is not defined
    """
    _expected(claim_id, STATUSES[-1:])
    _show(Check(claim_id, str(reason), None, None, None, False, False, True))


def transcribed(claim_id, value, expected, *, what, rtol=1e-9):
    """Stop the run unless a formula gives the number that it should, and print that number.

    claim_id   an id of the registry, of any status
    value      the formula of the notebook at simple arguments, at which every term counts; a
               number or a list of them
    expected   the same from elsewhere: arithmetic written out from the statement, a closed form,
               another form of the formula, an instance that attains the bound, a limit
    what       a few words: which formula, at which arguments
    rtol       largest relative difference

    It guards the formula, not the claim: see the top of this module.
    """
    _entry(claim_id)
    pairs = list(zip(_numbers(value), _numbers(expected), strict=True))
    wrong = [(v, e) for v, e in pairs if not abs(v - e) <= rtol * abs(e)]
    if wrong or not pairs:
        found = ", ".join(f"{v:.10g} instead of {e:.10g}" for v, e in wrong) or "nothing to compare"
        raise ClaimError(f"a formula of {claim_id} is not the stated one: {what}: {found}")
    print(f"{claim_id} | formula: {what} | {', '.join(f'{e:.6g}' for _, e in pairs)}")


def _numbers(value):
    """A number, or all numbers of a list or array, as floats."""
    try:
        items = iter(value)
    except TypeError:
        return [float(value)]
    return [number for item in items for number in _numbers(item)]


def _entry(claim_id):
    known = registry()
    if claim_id not in known:
        raise ValueError(f"unknown claim {claim_id!r}: book/claims.yml has no such id")
    return known[claim_id]


def _expected(claim_id, allowed):
    """The status of a claim in the registry; it must be one of those that the call is for."""
    expected = _entry(claim_id).get("expected")
    if expected not in allowed:
        raise ValueError(
            f"claim {claim_id!r} has expected status {expected!r} in book/claims.yml: "
            f"this call is for {', '.join(allowed)}"
        )
    return expected


def _control(control, relation, reference, digits):
    """(what was corrupted, its rounded value, whether it fails as it should) of a control."""
    if control is None:
        return None, None, True
    value, corrupted, *other = control
    value, reference = float(value), float(other[0] if other else reference)
    fails = not (isnan(value) or RELATIONS[relation](value, reference))
    return str(corrupted), None if digits is None else float(f"{value:.{digits}g}"), fails


def _show(record):
    try:
        from IPython.display import display
    except ImportError:
        print(record.line())
    else:  # raw: IPython would print a named tuple in its own way
        display(record.bundle(), raw=True)


def recorded(notebook_path) -> list[Check]:
    """The checks stored in an executed notebook, in the order of its cells."""
    return [Check(**found) for found in checkout.displayed(notebook_path, MIME)]


def verdict(records) -> str:
    """Scoreboard word for the records of one claim: its status, as far as it was checked."""
    if not records:
        return "not reached"
    if not all(record.as_expected for record in records):
        return "unexpected"
    if all(record.relation is None for record in records):
        return "cannot-test"
    printed_failed = any(record.printed and not record.passed for record in records)
    passed = any(record.passed for record in records)
    if not printed_failed:
        return "holds"
    return "holds-corrected" if passed else "differs"
