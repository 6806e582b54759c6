"""A session: a pool, what has been decided about it, and what to label next.

The folder holds ``settings.json``, which is written once, and ``journal.jsonl``, to which every
round and every label is added (:mod:`firal.session.journal`). Both are plain text. The features
stay where they are; their checksum is kept, so that another table is noticed.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from firal.common import checks
from firal.common.text import as_text
from firal.data.classes import doubts, refuse_doubts
from firal.data.files import sha256
from firal.data.points import Points, read_points
from firal.pipeline import Batch, next_batch
from firal.session.folder import (
    JOURNAL,
    MODEL,
    READING,
    SETTINGS,
    new_folder,
    new_settings,
    read_history,
    read_settings,
    write_settings,
)
from firal.session.journal import Journal
from firal.session.state import Round, State


class Session:
    """A labeling session in a folder.

    Parameters
    ----------
    folder : str or path
        A folder that :meth:`create` has made.

    Raises
    ------
    ValueError
        If there is no session, or its files are damaged.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "wine.npy", X)
    >>> session = Session.create(folder / "labels", folder / "wine.npy")
    >>> for row in session.next(6).rows:
    ...     session.label(row, f"kind {y[row]}")
    >>> session.skip(session.next(1).rows[0])
    >>> again = Session(folder / "labels")  # after a crash, say
    >>> len(again.labels), len(again.rounds), again.pending
    (6, 2, [])
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        self.settings = read_settings(self.folder)
        self.journal = Journal(self.folder / JOURNAL)
        self.state: State = read_history(self.folder, self.settings["points"])

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike,
        features: str | os.PathLike,
        *,
        seed: int = 0,
        held_out: int = 0,
        show: str | None = None,
        labeled: Sequence[str | os.PathLike] = (),
        classes: Sequence[str] = (),
        **options: Any,
    ) -> Session:
        """Begin a session.

        Parameters
        ----------
        folder : str or path
            Where to keep it; must not hold a session yet.
        features : str or path
            Table of the points, see :func:`firal.data.points.read_points`.
        seed : int, default 0
            Of all that is random.
        held_out : int, default 0
            Number of points to draw at random for measuring accuracy. They are to be labeled first,
            and never train.
        show : str, optional
            Column with what an annotator sees: a text, or the path of a picture. It is no feature.
        labeled : sequence of paths
            Files with labels that exist already.
        classes : sequence of str
            Classes that are right although they look like marks or slips.
        **options
            Arguments of ``read_points`` (such as ``id_column``) and of ``firal.next_batch`` (such
            as ``strategy`` and ``pca``).

        Returns
        -------
        Session
            With the labels that the files hold.

        Raises
        ------
        ValueError
            If there is a session already, a file is not as it should be, or an option is unknown.
        """
        folder, features = Path(folder), Path(features)
        unknown = sorted(set(options) - {*READING, *MODEL})
        if unknown:
            raise ValueError(
                f"options must be among {', '.join((*READING, *MODEL))}, got {unknown}"
            )
        if (folder / SETTINGS).exists():
            raise ValueError(f"{folder} holds a session already: choose another folder")
        checks.integer(seed, "seed", 0)
        checks.integer(held_out, "held_out", 0)
        reading = {name: options[name] for name in READING if name in options}
        if show is not None:
            reading["show"] = show
        points = read_points(features, **reading, labeled=labeled)
        refuse_doubts(points.labels, classes)
        _check_held_out(held_out, len(points.features) - len(points.labels))
        model = {name: options[name] for name in MODEL if name in options}
        settings = new_settings(folder, features, points, reading, model, seed, list(classes))
        # In a folder of its own: a session that is killed here has not begun.
        with new_folder(folder) as scratch:
            write_settings(scratch, settings)
            session = cls(scratch)
            session.__dict__["points"] = points
            if points.labels:
                session.decide(points.labels)
            if held_out:
                session._draw_held_out(held_out)
        session = cls(folder)
        session.__dict__["points"] = points
        return session

    @cached_property
    def points(self) -> Points:
        """The pool, read again and compared with what it was at the beginning."""
        path = (self.folder / self.settings["features"]).resolve()
        if not path.is_file():
            raise ValueError(
                f"no file {path}, the features of this session: put it back, or mend the path in "
                f"{self.folder / SETTINGS}"
            )
        if sha256(path) != self.settings["sha256"]:
            raise ValueError(
                f"{path.name} must be the table that this session began with, got another content: "
                "put the old one back, or begin a new session"
            )
        return read_points(path, **self.settings["reading"])

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

    def next(self, budget: int, *, progress: Any = None, **changes: Any) -> Batch:
        """Pick the next points, and remember them as pending.

        Parameters
        ----------
        budget : int
            How many.
        progress : True or function, optional
            As in :func:`firal.next_batch`.
        **changes
            Options of ``firal.next_batch`` that differ from the settings for this round.

        Returns
        -------
        Batch
            The picks. Labeled, pending, skipped and held-out points are not among them.

        Raises
        ------
        ValueError
            If too few points are left, or an option is unknown.
        """
        held_out = self.state.held_out
        pending = [row for row in self.pending if row not in held_out]
        start = time.perf_counter()
        batch = next_batch(
            self.points.features,
            self.state.training,
            budget,
            **{**self.settings["model"], **changes},
            exclude=sorted(self.skipped | held_out),
            pending=pending,
            rng=self.settings["seed"],
            progress=progress,
        )
        number = 1 + sum(r.number > 0 for r in self.rounds)
        known = len(self.state.training)
        details = _details(batch, start)
        if changes.get("probabilities") is not None:
            details["note"] = "class probabilities were given"
        self._add_round(number, batch.rows, batch.strategy, known, **details)
        return batch

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

    def _draw_held_out(self, count):
        free = np.setdiff1d(np.arange(self.settings["points"]), list(self.labels))
        rng = np.random.default_rng([self.settings["seed"], 2**31])  # not that of any round
        rows = rng.choice(free, size=count, replace=False)
        self._add_round(0, rows, "held out", len(self.labels))

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


def _check_held_out(count, most):
    if count > most:
        raise ValueError(
            f"held_out must be at most {most}, the number of points without a label, got {count}"
        )


def _details(batch, start):
    """What the journal keeps about a batch."""
    found = {"seconds": round(time.perf_counter() - start, 2)}
    if batch.selection is not None:
        numbers = {"objective": batch.selection.objective, "ratio": batch.selection.ratio}
        found |= {k: v for k, v in numbers.items() if v is not None and np.isfinite(v)}
    if batch.note:
        found["note"] = batch.note
    return found
