"""Tasks for Label Studio, and its answers.

Tasks are a JSON list of ``{"data": {...}}``, the basic form that Label Studio imports. Every task
carries the row of its point as ``firal_row``. Answers are its exports "JSON", with ``annotations``
whose result holds ``choices``, and "JSON-MIN", with one entry ``choice`` per task. A labeling
configuration for texts::

    <View>
      <Text name="text" value="$text"/>
      <Choices name="choice" toName="text">
        <Choice value="cat"/><Choice value="dog"/>
      </Choices>
    </View>

For pictures the first control is ``<Image name="image" value="$image"/>``, with
``toName="image"``. Label Studio must be able to load them: a path of this machine will not do
there, an address or a path of its own storage will.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from firal.common.text import as_text
from firal.session.session import Session

ROW = "firal_row"
# what Label Studio adds to every task of JSON-MIN
_OF_JSON_MIN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg")


def is_picture(shown: str | None) -> bool:
    """Tell whether what an annotator sees is a picture.

    Parameters
    ----------
    shown : str or None
        A text, a path or an address.

    Returns
    -------
    bool
        By its ending.
    """
    return shown is not None and shown.lower().endswith(PICTURES)


def tasks(session: Session, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Make tasks of points.

    Parameters
    ----------
    session : Session
        The session.
    rows : iterable of int
        Its points, such as ``session.pending``.

    Returns
    -------
    list of dict
        To be written as JSON. A point that shows nothing has its features in the text.
    """
    points, found = session.points, []
    for row in rows:
        data = {ROW: int(row)}
        if points.ids is not None:
            data["id"] = points.ids[row]
        shown = points.shown[row] if points.shown is not None else None
        if shown is None:
            numbers = zip(points.names, points.features[row].tolist(), strict=True)
            shown = ", ".join(f"{name} {value:g}" for name, value in numbers)
        data["image" if is_picture(shown) else "text"] = shown
        found.append({"data": data})
    return found


def read_answers_of_tasks(path: Path, n: int) -> dict[int, str]:
    """Read labels from an export of Label Studio.

    Parameters
    ----------
    path : Path
        JSON or JSON-MIN.
    n : int
        Number of points.

    Returns
    -------
    dict
        From row to label. Tasks without an answer, and answers that were canceled, are left out.

    Raises
    ------
    ValueError
        If it is not such a file, a task has no row, or a task has two different answers.
    """
    try:
        found = json.loads(path.read_text(encoding="utf8"))
        if not isinstance(found, list) or not all(isinstance(task, dict) for task in found):
            raise ValueError("it is no list of tasks")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path.name} must be an export of Label Studio, JSON or JSON-MIN, got: {error}"
        ) from None
    labels = {}
    for number, task in enumerate(found):
        data = task.get("data") or task
        row = data.get(ROW) if isinstance(data, dict) else None
        if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < n:
            raise ValueError(
                f"task {number} of {path.name} must have {ROW} in 0..{n - 1}, got {row!r}: were "
                "the tasks written by firal export --tasks?"
            )
        try:
            answers = {as_text(answer) for answer in _choices(task)} - {None}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(
                f"task {number} of {path.name} (row {row}) must have annotations whose results "
                f"hold choices, as Label Studio exports them, got {type(error).__name__}: {error}"
            ) from None
        if len(answers) > 1:
            raise ValueError(
                f"task {number} of {path.name} (row {row}) must have one label, got "
                f"{', '.join(sorted(answers))}: decide in Label Studio"
            )
        if answers:
            answer = answers.pop()
            if labels.setdefault(row, answer) != answer:
                raise ValueError(
                    f"the tasks of {path.name} must agree, got {labels[row]!r} and {answer!r} for "
                    f"row {row}: decide in Label Studio"
                )
    if found and not labels:
        raise ValueError(
            f"{path.name} must hold an answer to a task, got {len(found)} tasks without one"
            f"{_why(found)}"
        )
    return labels


def _why(found):
    """The end of a message: what stands in the tasks in place of choices."""
    results = [
        result
        for task in found
        for answer in task.get("annotations") or ()
        for result in answer.get("result") or ()
    ]
    kinds = {str(result.get("type")) for result in results} - {"choices"}
    if kinds:
        return f": their results are of the kind {', '.join(sorted(kinds))}, and choices are read"
    if any("completions" in task for task in found):
        return ": they have completions, the form of version 0.x; export them by a newer one"
    if any(task.get("predictions") for task in found):
        return ": they have predictions only; submit them as annotations"
    others = {key for task in found if "data" not in task for key in task}
    others -= {ROW, "choice", "text", "image", "id", *_OF_JSON_MIN}
    if others:
        return f": name the control choice in the labeling configuration, not {sorted(others)[0]}"
    return ""


def _choices(task):
    """All answers to one task."""
    if "annotations" not in task and "data" not in task:  # JSON-MIN
        answer = task.get("choice")
        return answer["choices"] if isinstance(answer, dict) else [answer]
    return [
        choice
        for annotation in task.get("annotations") or ()
        if not annotation.get("was_cancelled")
        for result in annotation.get("result") or ()
        if result.get("type") == "choices"
        for choice in result["value"]["choices"]
    ]
