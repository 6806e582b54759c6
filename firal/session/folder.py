"""The folder of a session: its two files, and what must be in them.

``settings.json`` says what the session began with, ``journal.jsonl`` what has happened since. A
person may edit both, and another program may have written them. So both are checked when they are
read: what is missing or of another kind is named, with its place.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firal.common.text import as_text
from firal.data.files import sha256
from firal.data.writing import replace_file
from firal.session.journal import Journal
from firal.session.state import State

SETTINGS, JOURNAL = "settings.json", "journal.jsonl"
READING = (
    *("id_column", "label_column", "ignore", "confirmed", "header"),
    *("unlabeled", "renamed", "one_hot", "impute"),
)
MODEL = ("strategy", "ridge", "standardize", "robust", "pca", "intercept", "eta")
KINDS = {
    "features": (str, "a path"),
    "sha256": (str, "a checksum"),
    "points": (int, "a number of points"),
    "feature names": (list, "a list"),
    "reading": (dict, "options"),
    "model": (dict, "options"),
    "seed": (int, "an integer"),
    "classes": (list, "a list"),
}
LARGEST = 10**9  # bytes of a settings file or journal
WRITTEN = (SETTINGS, JOURNAL, "held-out.csv", "round-*.csv", "report.html")


def new_settings(
    folder: Path, features: Path, points: Any, reading: dict, model: dict, seed: int, classes: list
) -> dict[str, Any]:
    """Make the settings of a session that begins.

    Parameters
    ----------
    folder, features : Path
        Where the session and the table of features are.
    points : Points
        What was read from the table.
    reading, model : dict
        Options of reading and of picking.
    seed : int
        Of all that is random.
    classes : list of str
        Classes that are right although they look like marks or slips.

    Returns
    -------
    dict
        Plain values.
    """
    return {
        "firal session": 1,
        "features": _way(folder, features),
        "sha256": sha256(features),
        "points": len(points.features),
        "feature names": points.names,
        "reading": reading,
        "model": model,
        "seed": seed,
        "classes": classes,
    }


def _way(folder, features):
    """From the folder to the table, with slashes: all systems read them."""
    try:
        return Path(os.path.relpath(features, folder)).as_posix()
    except ValueError:  # on different drives of Windows
        return Path(features).resolve().as_posix()


def write_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings, all or nothing.

    Parameters
    ----------
    folder : Path
        Of the session.
    settings : dict
        Plain values.
    """
    replace_file(folder / SETTINGS, (json.dumps(settings, indent=1) + "\n").encode())


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Begin a session, all or nothing.

    Parameters
    ----------
    folder : Path
        Of the session.

    Yields
    ------
    Path
        A folder inside, to write settings and history to. Both become those of the session in the
        end, the settings last: without them there is none.
    """
    refuse_file(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".new-*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    scratch = folder / f".new-{os.getpid()}"
    scratch.mkdir()
    try:
        yield scratch
        (scratch / JOURNAL).touch()  # so that a lost one is noticed
        settings = (scratch / SETTINGS).read_bytes()
        old = folder / JOURNAL
        if old.exists() and not (old.is_file() and _events(folder) == _events(scratch)):
            # another one without settings: kept, for whoever lost them
            os.replace(folder / JOURNAL, folder / f"{JOURNAL}.old")
        os.replace(scratch / JOURNAL, folder / JOURNAL)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    replace_file(folder / SETTINGS, settings)


def _events(folder):
    """The history in a folder without times; its bytes where it is damaged."""
    content = (folder / JOURNAL).read_bytes()
    try:
        return [{**json.loads(line), "time": None} for line in content.splitlines()]
    except (TypeError, ValueError, RecursionError):
        return content


def refuse_file(folder: Path) -> None:
    """Raise ValueError if what should be the folder of a session is a file.

    Parameters
    ----------
    folder : Path
        Of the session.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} must be a folder, got a file: choose another one")


def read_settings(folder: Path) -> dict[str, Any]:
    """Read the settings of a session.

    Parameters
    ----------
    folder : Path
        Of the session.

    Returns
    -------
    dict
        As :func:`new_settings` made it.

    Raises
    ------
    ValueError
        If there is no session, one of its files is a link, or an entry of the settings is missing
        or of another kind.
    """
    path = folder / SETTINGS
    refuse_file(folder)
    if not path.is_file():
        raise ValueError(f"no session in {folder}: begin one by Session.create")
    for file in folder.iterdir():
        if file.is_symlink() and any(
            map(file.match, WRITTEN)
        ):  # in a session that somebody sent it may lead to any file of yours
            raise ValueError(
                f"{file} must be a file of the session, got a link: put the file in its place"
            )
    _refuse_large(path)
    try:
        settings = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be JSON: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path} must hold the settings of a session, got {settings!r:.40}")
    for name, (kind, called) in KINDS.items():
        value = settings.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(
                f"{path} must have {called} as {name!r}, got {value!r:.40}: was it edited? Put it "
                "back, or begin a new session"
            )
    if settings["seed"] < 0 or settings["points"] < 1:
        raise ValueError(f"{path} must have a seed >= 0 and points >= 1, got other numbers")
    for part, known in (("reading", (*READING, "show")), ("model", MODEL)):
        unknown = sorted(set(settings[part]) - set(known))
        if unknown:
            raise ValueError(
                f"{path} must have {part!r} options among {', '.join(known)}, got {unknown[0]!r}"
            )
    return settings


def read_history(journal: Journal, n: int) -> State:
    """Replay the journal of a session.

    Parameters
    ----------
    journal : Journal
        Of the session.
    n : int
        Number of points.

    Returns
    -------
    State
        Where the session stands.

    Raises
    ------
    ValueError
        If a line is damaged, is no event, or names a row that does not exist.
    """
    path, folder = journal.path, journal.path.parent
    if path.is_file():
        _refuse_large(path)
    elif path.exists():
        raise ValueError(f"{path} must be a file, got a folder")
    elif left := sorted(folder.glob("round-*.csv")):
        raise ValueError(
            f"no {JOURNAL} in {folder}, but {left[0].name}: put it back, or begin a new session in "
            "another folder"
        )
    state = State()
    for number, event in enumerate(journal.read(), 1):
        try:
            _check_event(event, n)
            _check_count(event, state)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"line {number} of {path} must be an event of this session, got {event!r:.60}: "
                f"{type(error).__name__}, {error}; was the file edited? Remove or mend the line"
            ) from None
        state.apply(event)
    return state


def _check_event(event, n):
    """Raise what is wrong with an event; ``State.apply`` trusts it then."""
    if event["event"] == "round":
        rows, numbers = event["rows"], (event["number"], event["known"])
        if not isinstance(event["strategy"], str):
            raise TypeError("strategy must be a text")
        if not all(type(value) is int and value >= 0 for value in numbers):
            raise TypeError("number and known must be integers >= 0")
    elif event["event"] == "decide":
        rows = [int(row) for row in event["labels"]]
        if not all(label is None or isinstance(label, str) for label in event["labels"].values()):
            raise TypeError("labels must be texts or null")
        for label in event["labels"].values():
            as_text(label)  # raises where a character is halved
    else:
        return
    for row in rows:
        if type(row) is not int or not 0 <= row < n:
            raise ValueError(f"rows must be in 0..{n - 1}, got {row!r}")


def _check_count(event, state):
    """Rounds are counted from 1; the held-out set is 0 and comes first."""
    if event["event"] == "round":
        last = state.rounds[-1].number if state.rounds else 0
        number = event["number"]
        if number != last + 1 and not (number == 0 and not state.rounds):
            raise ValueError(f"rounds must be counted 1, 2, .., got {number} after {last}")


def _refuse_large(path):
    size = path.stat().st_size
    if size > LARGEST:
        raise ValueError(f"{path} must have at most {LARGEST} bytes, got {size}: is it a session?")
