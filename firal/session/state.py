"""What the events of a session amount to: labels, skipped points, rounds.

The state is nothing but the history replayed, so it can never disagree with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SKIPPED = None  # in a decision: the point cannot be labeled


@dataclass(frozen=True)
class Round:
    """One batch.

    Attributes
    ----------
    number : int
        From 1; 0 is the held-out set.
    rows : tuple of int
        Its points, in the order of the strategy.
    strategy : str
        What picked them.
    known : int
        Number of labels when it was picked.
    details : dict
        What else is known: objective, ratio, seconds.
    """

    number: int
    rows: tuple[int, ...]
    strategy: str
    known: int
    details: dict[str, Any]


@dataclass
class State:
    """Where a session stands.

    Attributes
    ----------
    labels : dict
        From row to label, of all points, held out or not.
    skipped : set of int
        Points that cannot be labeled.
    rounds : list of Round
        The batches, the held-out set first if there is one.
    classes : list of str
        All classes that ever had a label, in the order in which they were seen.
    decisions : list of dict
        What the user decided, step by step: from row to what was there before.
    """

    labels: dict[int, str] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)
    rounds: list[Round] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    decisions: list[dict[int, str | None | bool]] = field(default_factory=list)

    @property
    def held_out(self) -> set[int]:
        """Rows that measure accuracy and never train."""
        return {row for batch in self.rounds if batch.number == 0 for row in batch.rows}

    @property
    def training(self) -> dict[int, str]:
        """Labels of the points that are not held out."""
        held_out = self.held_out
        return {row: label for row, label in self.labels.items() if row not in held_out}

    @property
    def pending(self) -> list[int]:
        """Rows that were picked and are neither labeled nor skipped, oldest first."""
        rows = [row for batch in self.rounds for row in batch.rows]
        return [row for row in rows if row not in self.labels and row not in self.skipped]

    def apply(self, event: dict[str, Any]) -> None:
        """Take one event into account.

        Parameters
        ----------
        event : dict
            Of the journal. Events of a later version are refused.
        """
        kind = event["event"]
        if kind == "round":
            rest = {k: v for k, v in event.items() if k not in ("event", *Round.__annotations__)}
            self.rounds.append(
                Round(
                    event["number"], tuple(event["rows"]), event["strategy"], event["known"], rest
                )
            )
        elif kind == "decide":
            self._decide({int(row): label for row, label in event["labels"].items()})
        elif kind == "undo":
            self._undo()
        else:
            raise ValueError(
                f"the session must hold events that this version knows, got {kind!r}: it was "
                "written by a later one"
            )

    def _decide(self, answers):
        before = {}
        for row, label in answers.items():
            before[row] = self.labels.get(row, SKIPPED if row in self.skipped else False)
            self._set(row, label)
        self.decisions.append(before)

    def _undo(self):
        if self.decisions:
            for row, label in self.decisions.pop().items():
                self._set(row, label)

    def _set(self, row, label):
        """A label, SKIPPED, or False for neither."""
        self.labels.pop(row, None)
        self.skipped.discard(row)
        if label is SKIPPED:
            self.skipped.add(row)
        elif label is not False:
            self.labels[row] = label
            if label not in self.classes:
                self.classes.append(label)


def replay(events: Iterable[dict[str, Any]]) -> State:
    """Compute the state from the history.

    Parameters
    ----------
    events : iterable of dict
        Of the journal.

    Returns
    -------
    State
        Where the session stands.

    Examples
    --------
    >>> state = replay([
    ...     {"event": "round", "number": 1, "rows": [4, 7], "strategy": "random", "known": 0},
    ...     {"event": "decide", "labels": {"4": "cat"}},
    ...     {"event": "decide", "labels": {"7": None}},
    ...     {"event": "undo"},
    ... ])
    >>> state.labels, state.pending, state.skipped
    ({4: 'cat'}, [7], set())
    """
    state = State()
    for event in events:
        state.apply(event)
    return state
