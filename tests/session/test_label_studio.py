"""Tasks and answers of Label Studio, in the forms that its documentation shows."""

import json

import pytest

from firal.session.label_studio import is_picture, read_answers_of_tasks, tasks
from firal.session.session import Session


@pytest.fixture
def session(tmp_path):
    lines = ["name,a,b,text", 'u,1,2,"first, with a comma"', "v,3,1,cats/b.PNG", "w,0,5,"]
    (tmp_path / "points.csv").write_text("\n".join(lines))
    options = {"id_column": "name", "show": "text"}
    return Session.create(tmp_path / "s", tmp_path / "points.csv", **options)


def test_tasks(session):
    session.next(3)
    found = {task["data"]["firal_row"]: task["data"] for task in tasks(session, session.pending)}
    assert found[0] == {"firal_row": 0, "id": "u", "text": "first, with a comma"}
    assert found[1] == {"firal_row": 1, "id": "v", "image": "cats/b.PNG"}
    assert found[2] == {"firal_row": 2, "id": "w", "text": "a 0, b 5"}
    assert json.loads(json.dumps(list(found.values())))
    assert is_picture("x.jpeg") and not is_picture("x.jpeg is a file") and not is_picture(None)


def annotated(row, *choices, cancelled=False):
    """A task as the export "JSON" of Label Studio has it."""
    result = [
        {
            "value": {"choices": [choice]},
            "id": "xyz",
            "from_name": "choice",
            "to_name": "text",
            "type": "choices",
            "origin": "manual",
        }
        for choice in choices
    ]
    return {
        "id": 100 + row,
        "data": {"firal_row": row, "text": "some text"},
        "annotations": [{"id": 1, "completed_by": 1, "result": result, "was_cancelled": cancelled}],
        "predictions": [],
    }


def test_answers(tmp_path):
    path = tmp_path / "export.json"
    full = [annotated(0, "cat"), annotated(2), annotated(1, "dog", cancelled=True)]
    path.write_text(json.dumps(full))
    assert read_answers_of_tasks(path, 3) == {0: "cat"}
    least = [
        {"text": "some text", "id": 1, "firal_row": 2, "choice": "dog", "annotator": 1},
        {"text": "other", "id": 2, "firal_row": 0, "choice": {"choices": ["cat"]}},
        {"text": "none", "id": 3, "firal_row": 1},
    ]
    path.write_text(json.dumps(least))  # JSON-MIN
    assert read_answers_of_tasks(path, 3) == {2: "dog", 0: "cat"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "must be an export of Label Studio"),
        ('{"a": 1}', "it is no list of tasks"),
        (json.dumps([{"data": {"text": "x"}}]), "task 0 .* must have firal_row in 0..2, got None"),
        (json.dumps([annotated(3, "cat")]), "must have firal_row in 0..2, got 3"),
        (json.dumps([annotated(1, "cat", "dog")]), "one label, got cat, dog: decide in Label S"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    (tmp_path / "export.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_answers_of_tasks(tmp_path / "export.json", 3)


def test_an_answer_given_twice_is_one(tmp_path):
    task = annotated(1, "cat")
    task["annotations"] *= 2
    (tmp_path / "export.json").write_text(json.dumps([task]))
    assert read_answers_of_tasks(tmp_path / "export.json", 3) == {1: "cat"}
