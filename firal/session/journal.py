"""The history of a session: one event per line, only ever added to.

Each line is JSON, so that a person can read it. An event is on the disk before ``append`` returns.
If the process is killed in the middle of a line, that line was never complete: it is left out when
the file is read and removed when the next one is written. Everything before it is kept. A line that
is damaged elsewhere is an error, because what follows may depend on it.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firal.data.writing import named

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # Windows has no such module, Jupyter in a browser an empty one
    flock = None  # two processes are not kept apart

log = logging.getLogger("firal")


class Journal:
    """Events in a file.

    Parameters
    ----------
    path : Path
        The file; it is made by the first event.

    Examples
    --------
    >>> import tempfile
    >>> journal = Journal(Path(tempfile.mkdtemp()) / "journal.jsonl")
    >>> _ = journal.append({"event": "skip", "row": 3})
    >>> [(event["event"], event["row"]) for event in journal.read()]
    [('skip', 3)]
    """

    def __init__(self, path: Path) -> None:
        self.path, self._known = path, 0  # bytes of whole lines that this process knows

    def read(self) -> list[dict[str, Any]]:
        """Read all events.

        Returns
        -------
        list of dict
            In their order. A last line that is not complete is left out.

        Raises
        ------
        ValueError
            If a line is damaged.
        """
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        if lines[-1]:
            log.warning(
                f"warning: the last line of {self.path} is not complete and is left out: what "
                "wrote it was perhaps killed"
            )
        self._known, events = sum(len(line) + 1 for line in lines[:-1]), []
        for number, line in enumerate(lines[:-1], 1):  # what follows the last newline is torn
            try:
                event = json.loads(line)
                if not isinstance(event, dict) or "event" not in event:
                    raise ValueError("it has no event")
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"line {number} of {self.path} must be an event in JSON, got {line[:60]!r}: "
                    f"{error}; was the file edited? Remove or mend the line"
                ) from None
            events.append(event)
        return events

    def append(self, event: dict[str, Any]) -> dict[str, Any]:
        """Add an event; it is on the disk when this returns.

        Parameters
        ----------
        event : dict
            Plain values.

        Returns
        -------
        dict
            The event as it was written, with the time.

        Raises
        ------
        ValueError
            If it is a round, and another process has added one that this one has not read.
        """
        event = {**event, "time": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        line = json.dumps(event) + "\n"
        with named(self.path), self._open() as file:
            _remove_torn_line(file)
            end = file.seek(0, os.SEEK_END)
            if event["event"] == "round" and self._has_new_round(file):
                raise ValueError(
                    f"another process has picked points since {self.path} was read: try again"
                )
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
            if end == self._known:
                self._known = file.tell()
        return event

    def _has_new_round(self, file):
        """Whether another process has added a round; its labels do no harm."""
        file.seek(self._known)
        events = map(json.loads, file.read().splitlines())
        return any(event["event"] == "round" for event in events)

    @contextmanager
    def _open(self) -> Iterator:
        """The file, opened for reading and appending, for one process at a time."""
        with open(self.path, "a+b") as file:
            if flock is not None:
                flock(file, LOCK_EX)
            yield file


def _remove_torn_line(file):
    end = file.seek(0, os.SEEK_END)
    back = b""
    while end > 0:  # from the end back to the last newline
        step = min(end, 4096)
        file.seek(end - step)
        back = file.read(step) + back
        cut = back.rfind(b"\n")
        if cut >= 0:
            file.truncate(end - step + cut + 1)
            return
        end -= step
    file.truncate(0)
