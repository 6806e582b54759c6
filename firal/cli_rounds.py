"""Tables of a session for other programs: all labels, and the points of one round."""

from __future__ import annotations

import json
import os
from pathlib import Path

from firal.data.output import table_bytes
from firal.data.writing import replace_file
from firal.session.session import Session
from firal.session.state import Round


def labels_table(session: Session, suffix: str) -> bytes:
    """All labels with their rounds.

    Parameters
    ----------
    session : Session
        The session.
    suffix : str
        Of the output, which is its format.

    Returns
    -------
    bytes
        The file.
    """
    place = {row: batch.number for batch in session.rounds for row in batch.rows}
    rows = sorted(session.labels)
    names, columns = ["row", "label", "round", "held_out"], [rows]
    columns.append([session.labels[row] for row in rows])
    columns.append([place.get(row) for row in rows])
    columns.append([row in session.state.held_out for row in rows])
    if session.points.ids is not None:
        names.insert(1, session.settings["reading"]["id_column"])
        columns.insert(1, [session.points.ids[row] for row in rows])
    if suffix == ".json":
        lines = [dict(zip(names, line, strict=True)) for line in zip(*columns, strict=True)]
        return (json.dumps(lines, indent=1) + "\n").encode()
    return table_bytes(names, columns, suffix)


def batch_path(folder: Path, number: int) -> Path:
    """Where the file of a round is.

    Parameters
    ----------
    folder : Path
        Of the session.
    number : int
        Of the round; 0 is the held-out set.

    Returns
    -------
    Path
        The file.
    """
    return folder / (f"round-{number:02}.csv" if number else "held-out.csv")


def set_aside(path: Path) -> None:
    """Keep a file that another session left where a round is to be written, as .csv.old.

    Parameters
    ----------
    path : Path
        Of a round that has not begun.
    """
    if path.exists():
        os.replace(path, path.with_name(f"{path.name}.old"))


def write_batch(session: Session, batch: Round) -> Path:
    """Write the file of a round, for a spreadsheet; one that exists is left alone.

    Parameters
    ----------
    session : Session
        The session.
    batch : Round
        One of its rounds.

    Returns
    -------
    Path
        The file.
    """
    path = batch_path(session.folder, batch.number)
    if path.exists():
        return path
    points = session.points
    names, columns = ["rank", "row"], [list(range(1, len(batch.rows) + 1)), list(batch.rows)]
    if points.ids is not None:
        names.append(session.settings["reading"]["id_column"])
        columns.append([points.ids[row] for row in batch.rows])
    if points.shown is not None:
        names.append(session.settings["reading"]["show"])
        columns.append([points.shown[row] for row in batch.rows])
    names.append("label")
    columns.append([session.labels.get(row, "") for row in batch.rows])
    replace_file(path, table_bytes(names, columns))
    return path
