"""Labeling in the terminal: one point after the other, one key per class.

Every answer is on the disk before the next point is shown. Quit at any time, and go on later.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import TextIO

from firal.common.text import printable
from firal.data.cells import TableError
from firal.session.label_studio import is_picture
from firal.session.session import Session

RESERVED = {"s": "skip", "u": "undo", "n": "new class", "q": "quit"}
KEYS = [key for key in "123456789abcdefghijklmnopqrstuvwxyz" if key not in RESERVED]
LONGEST = 2000  # letters of a text that are shown
MOST_FEATURES = 8
REST = 0.03  # seconds within which the rest of an escape sequence comes


def label_points(session: Session, ask: Callable[[str], str], out: TextIO) -> int:
    """Ask for the labels of all pending points.

    Parameters
    ----------
    session : Session
        The session; every answer is recorded at once.
    ask : callable
        Shows a prompt and returns what the user typed: a key, or a whole line. ``ask(prompt)``
        with a prompt that ends in ": " wants a line.
    out : text file
        Where points are shown.

    Returns
    -------
    int
        Number of points that were labeled or skipped, less those taken back.
    """
    decided = 0
    while pending := session.pending:
        row = pending[0]
        out.write(printable(_shown(session, row, len(pending))))
        classes = session.state.classes  # a class keeps its key
        keys = dict(zip(KEYS, classes, strict=False))
        known = "   ".join(f"{key} {name}" for key, name in keys.items())
        out.write(f"  {printable(known)}\n")
        if len(classes) > len(keys):
            out.write(f"  and {len(classes) - len(keys)} more classes: n, then the name\n")
        out.write("  " + "   ".join(f"{key} {name}" for key, name in RESERVED.items()) + "\n")
        try:
            answer = ask("> ").strip()
            if answer == "q" or not answer:
                break
            if answer == "u":
                session.undo()
                decided -= 1
            elif answer == "s":
                session.skip(row)
                decided += 1
            else:
                decided += _label(session, row, answer, keys, classes, ask)
        except EOFError:
            break
        except TableError as error:
            out.write(f"  {printable(str(error))}\n")
        except ValueError as error:
            out.write(f"  {printable(str(error))}\n")
    return decided


def _label(session, row, answer, keys, classes, ask):
    """Record an answer; 0 if it was none after all."""
    name = keys.get(answer) or (answer if answer in classes else None)
    if answer == "n" or (name is None and len(answer) > 1):
        name = ask("name of the class: ").strip() if answer == "n" else answer
        if not name:
            return 0
    if name is None:
        raise ValueError(f"{answer!r} is none of the keys; n is for a new class")
    try:
        session.label(row, name)
    except TableError as error:
        if ask(f"{error}. Is {name!r} right? y or n: ").strip().lower() not in ("y", "yes"):
            return 0
        for doubted in (name, *classes):
            session.confirm(doubted)
        session.label(row, name)
    return 1


def _shown(session, row, left):
    """One point as text."""
    points = session.points
    place = f"row {row}" if points.ids is None else f"{points.ids[row]} (row {row})"
    kind = ", held out" if row in session.state.held_out else ""
    lines = [f"\n{place}{kind}; {left} to go"]
    shown = points.shown[row] if points.shown is not None else None
    if shown is None:
        numbers = list(zip(points.names, points.features[row].tolist(), strict=True))
        text = ", ".join(f"{name} {value:g}" for name, value in numbers[:MOST_FEATURES])
        shown = text + (", ..." if len(numbers) > MOST_FEATURES else "")
    elif is_picture(shown):
        shown = f"picture: {shown}"
    lines += [f"  {line}" for line in shown[:LONGEST].splitlines()]
    return "\n".join(lines) + "\n"


def keyboard(source: TextIO, out: TextIO) -> Callable[[str], str]:
    """Make the function that asks: single keys on a terminal, else lines.

    Parameters
    ----------
    source : text file
        Where answers come from.
    out : text file
        Where prompts go.

    Returns
    -------
    callable
        From prompt to answer; EOFError at the end.
    """

    def line(prompt):
        out.write(prompt)
        out.flush()
        answer = source.readline()
        if not answer:
            raise EOFError
        return answer

    def key(prompt):
        if prompt.endswith(": "):
            return line(prompt)
        out.write(prompt)
        out.flush()
        answer = _one_key(source)
        out.write(f"{answer}\n")
        return answer

    try:
        import termios  # noqa: F401

        single = source.isatty()
    except ImportError:  # Windows: answers end with Enter
        single = False
    return key if single else line


def _one_key(source):
    import termios
    import tty

    number = source.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)  # Ctrl-C still works
        while (key := os.read(number, 1)) == b"\x1b":  # an arrow, say: the rest follows at once
            while select.select([number], [], [], REST)[0]:
                os.read(number, 1)
        for _ in range(_more_bytes(key)):
            key += os.read(number, 1)
    finally:
        termios.tcsetattr(number, termios.TCSAFLUSH, before)  # a word that was pasted is no key
    key = key.decode(errors="replace")
    if key in ("", "\x04"):
        raise EOFError
    return key if key not in ("\n", "\r") else ""


def _more_bytes(key):
    """How many bytes of a letter in UTF-8 follow its first one."""
    first = key[0] if key else 0
    return (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)


def label_in_terminal(session: Session) -> int:
    """Ask for labels on the terminal that the command runs in.

    Parameters
    ----------
    session : Session
        The session.

    Returns
    -------
    int
        Number of points decided.
    """
    return label_points(session, keyboard(sys.stdin, sys.stderr), sys.stderr)
