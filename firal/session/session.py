"""A session: a pool, what has been decided about it, and what to label next.

The decisions are in a folder (:mod:`firal.session.record`). The features stay where they are; their
checksum is kept, so that another table is noticed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from firal.common import checks
from firal.data.classes import refuse_doubts
from firal.data.files import sha256
from firal.data.points import Points, read_points
from firal.pipeline import Batch, next_batch
from firal.session.folder import MODEL, READING, SETTINGS, new_folder, new_settings, write_settings
from firal.session.record import Record


class Session(Record):
    """A labeling session in a folder.

    Labels and other decisions are those of :class:`firal.session.record.Record`.

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
        try:
            path = (self.folder / self.settings["features"]).resolve()
            there = path.is_file()
        except (OSError, ValueError):  # no system has such a name
            path, there = repr(self.settings["features"])[:80], False
        if not there:
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

    def _draw_held_out(self, count):
        free = np.setdiff1d(np.arange(self.settings["points"]), list(self.labels))
        rng = np.random.default_rng([self.settings["seed"], 2**31])  # not that of any round
        rows = rng.choice(free, size=count, replace=False)
        self._add_round(0, rows, "held out", len(self.labels))


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
