"""What has been decided in a session: labels, skipped points, rounds, and how to take one back.

The folder holds ``settings.json``, which is written once, and ``journal.jsonl``, to which every
round and every label is added (:mod:`firal.session.journal`). Both are plain text. No features are
read here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firal.common import checks
from firal.common.text import as_text
from firal.data.classes import doubts, refuse_doubts
from firal.session.folder import JOURNAL, SETTINGS, read_history, read_settings, write_settings
from firal.session.journal import Journal
from firal.session.state import Round, State


class Record:
    """The decisions of a session.

    Parameters
    ----------
    folder : str or path
        A folder that :meth:`firal.session.session.Session.create` has made.

    Raises
    ------
    ValueError
        If there is no session, or its files are damaged.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        self.settings = read_settings(self.folder)
        self.journal = Journal(self.folder / JOURNAL)
        self.state: State = read_history(self.journal, self.settings["points"])

    @property
    def files(self) -> list[Path]:
        """What the session reads: its settings, its history and the table of features."""
        names = (SETTINGS, JOURNAL, self.settings["features"])
        return [path for name in names if (path := self.folder / name).exists()]

    @property
    def labels(self) -> dict[int, str]:
        """Labels by row, of all points."""
        return self.state.labels

    @property
    def pending(self) -> list[int]:
        """Rows that wait for a label, oldest first."""
        return self.state.pending

    @property
    def skipped(self) -> set[int]:
        """Rows that cannot be labeled."""
        return self.state.skipped

    @property
    def rounds(self) -> list[Round]:
        """The batches so far."""
        return self.state.rounds

    @property
    def counts(self) -> dict[str, int]:
        """Number of labels of every class, held-out points included; the most frequent first."""
        counted = Counter(self.labels.values())
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def label(self, row: int, label: Any) -> None:
        """Give a point its label.

        Parameters
        ----------
        row : int
            The point.
        label : object
            A word or a whole number.
        """
        self.decide({row: label})

    def skip(self, row: int) -> None:
        """Note that a point cannot be labeled; it will not be picked again.

        Parameters
        ----------
        row : int
            The point.
        """
        self._record({row: None})

    def decide(self, labels: Mapping[int, Any]) -> None:
        """Give several points their labels, all or none of them.

        Parameters
        ----------
        labels : mapping
            From row to label.

        Raises
        ------
        ValueError
            If a row does not exist, a label is blank, or a label looks like a mark or a slip of one
            that exists and is not among the confirmed ``classes`` of the settings.
        """
        texts = {row: as_text(label) for row, label in labels.items()}
        for row, text in texts.items():
            if text is None:
                raise ValueError(f"a label must be a word or a number, got a blank for row {row}")
        refuse_doubts({**self.labels, **texts}, [*self.settings["classes"], *self._accepted()])
        self._record(texts)

    def confirm(self, name: str) -> None:
        """Say that a class is right although it looks like a mark or a slip.

        Parameters
        ----------
        name : str
            The class.
        """
        if name not in self.settings["classes"]:
            self.settings["classes"] = [*self.settings["classes"], name]
            write_settings(self.folder, self.settings)

    def undo(self) -> dict[int, str | None | bool]:
        """Take the last decision back.

        Returns
        -------
        dict
            The rows concerned, with what they are again: a label, None for skipped, False for none.

        Raises
        ------
        ValueError
            If nothing was decided yet.
        """
        if not self.state.decisions:
            raise ValueError("there is nothing to undo: no point has been labeled or skipped")
        restored = dict(self.state.decisions[-1])
        self._append({"event": "undo"})
        return restored

    def _accepted(self):
        """Classes whose doubts were accepted before: those among the labels as they stand."""
        return self.labels.values() if doubts(Counter(self.labels.values())) else ()

    def _add_round(self, number, rows, strategy, known, **details):
        rows = [int(row) for row in rows]
        self._append(
            {
                "event": "round",
                "number": number,
                "rows": rows,
                "strategy": strategy,
                "known": known,
                **details,
            }
        )

    def _record(self, answers):
        n = self.settings["points"]
        for row in answers:
            checks.integer(row, "row", 0, n - 1)
        self._append(
            {"event": "decide", "labels": {str(int(row)): text for row, text in answers.items()}}
        )

    def _append(self, event):
        self.state.apply(self.journal.append(event))
