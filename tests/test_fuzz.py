"""Made-up files, tables and histories: an answer that is right, or one ValueError with a reason.

Anything else that is raised is a fault. ``FIRAL_FUZZ`` is the number of cases of each kind, by
default 500; ``make nightly`` runs ten thousand. Faults that were found are named examples.
"""

import functools
import gzip
import io
import json
import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import firal
from firal.data.labels import read_answers
from firal.data.output import table_bytes
from firal.data.points import read_points
from firal.session.label_studio import read_answers_of_tasks
from firal.session.session import Session

CASES = int(os.environ.get("FIRAL_FUZZ", "500"))
NIGHTLY = dict(derandomize=False) if "FIRAL_FUZZ" in os.environ else {}


def fuzz():
    return settings(
        max_examples=CASES,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        **NIGHTLY,
    )


def answer_or_reason(function, *arguments, **options):
    """The answer, or None after an error that says something."""
    try:
        return function(*arguments, **options)
    except ValueError as error:
        assert str(error) and "Traceback" not in str(error)
        return None


CELLS = st.one_of(
    st.sampled_from(
        ["1", "-2.5", "1e3", "", "nan", "NA", "1,5", "1.234,5", "cat", "?", "inf", "٣"]
    ),
    st.sampled_from(['"', '"a', 'a"b', '"a\nb"', "=1+1", "\x00", "é", "e\u0301", " 7 ", "True"]),
    st.floats(-9, 9).map(repr),
    st.text(max_size=4),
)
NAMES = st.sampled_from(["a", "b", "row", "index", "label", "id", "name", "target", "", "0", "400"])


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    mark = draw(st.sampled_from([",", ";", "\t"]))
    lines = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width + 1), max_size=7))
    if draw(st.booleans()):
        lines.insert(0, draw(st.lists(NAMES, min_size=width, max_size=width)))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(mark.join(line) for line in lines)
    start = draw(st.sampled_from(["", "\ufeff", end]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"]))
    return (start + text).encode(encoding, errors="replace")


FILES = st.one_of(tables(), tables(), st.binary(max_size=60))


@fuzz()
@given(
    content=FILES,
    options=st.fixed_dictionaries(
        {},
        optional={
            "id_column": NAMES,
            "label_column": NAMES,
            "header": st.booleans(),
            "impute": st.booleans(),
            "one_hot": st.lists(NAMES, max_size=1),
        },
    ),
)
@example(content=b"id,a\n,1\n,2\n", options={"id_column": "id"})
@example(content=b"a,b\n1|2,3\n", options={})
def test_tables(content, options, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    points = answer_or_reason(read_points, path, **options)
    if points is not None:
        assert points.features.ndim == 2 and len(points.features) >= 1
        assert points.features.dtype == np.float64
        assert len(points.names) == points.features.shape[1]
        assert set(points.labels) <= set(range(len(points.features)))
        assert points.ids is None or len(set(points.ids)) == len(points.features)


@fuzz()
@given(content=FILES, suffix=st.sampled_from([".npy", ".npz", ".parquet", ".xlsx", ".csv.gz"]))
def test_other_formats(content, suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    answer_or_reason(read_points, path)


@functools.cache
def intact(suffix):
    """A small file as it should be."""
    X, out = np.random.default_rng(0).normal(size=(12, 2)), io.BytesIO()
    if suffix == ".npz":
        np.savez_compressed(out, features=X)
    elif suffix == ".npy":
        np.save(out, X)
    elif suffix == ".csv.gz":
        return gzip.compress("\n".join(f"{a},{b}" for a, b in X.tolist()).encode())
    else:
        words = ["u", "v"] * 6
        return table_bytes(["a", "b", "t"], [*X.T.tolist(), words], suffix)
    return out.getvalue()


@fuzz()
@given(
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=3),
    suffix=st.sampled_from([".npy", ".npz", ".parquet", ".xlsx", ".csv.gz"]),
    cut=st.floats(0.9, 1) | st.just(1.0),
)
def test_damaged_files(changes, suffix, cut, tmp_path):
    """A few bytes are others, or the end is lost."""
    content = bytearray(intact(suffix))
    for place, byte in changes:
        content[int(place * (len(content) - 1))] = byte
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content[: int(cut * len(content))])
    answer_or_reason(read_points, path, ignore=["t"] if suffix in (".parquet", ".xlsx") else ())


@fuzz()
@given(content=FILES, ids=st.sampled_from([None, ["a", "b", "cat", "1", "="]]), n=st.just(5))
def test_labels(content, ids, n, tmp_path):
    path = tmp_path / "y.csv"
    path.write_bytes(content)
    answers = answer_or_reason(read_answers, path, n, ids, "name")
    if answers is not None:
        assert set(answers.labels) | set(answers.pending) <= set(range(n))
        assert all(isinstance(label, str) and label for label in answers.labels.values())


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.5, 1e-12, 1e9, -1e9, 1e30, np.nan, np.inf])
LABELS = st.sampled_from([None, "a", "b", 0, 1, 3.0, "3", float("nan"), "", "c d"])


@fuzz()
@given(data=st.data(), kind=st.sampled_from([np.float64, np.float32, np.int64, np.float16]))
def test_next_batch(data, kind):
    n, d = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.normal(size=(n, d))
    for _ in range(data.draw(st.integers(0, 3))):  # few special numbers, copies, constant columns
        X[rng.integers(n), rng.integers(d)] = data.draw(NUMBERS)
    if data.draw(st.booleans()):
        X[:, 0] = X[0, 0]
    if data.draw(st.booleans()):
        X[: n // 2] = X[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = X.astype(kind)
        y = data.draw(st.lists(LABELS, min_size=n, max_size=n))
        budget = data.draw(st.integers(1, 3))
        strategy = data.draw(st.sampled_from(sorted(firal.STRATEGIES)))
        batch = answer_or_reason(firal.next_batch, X, y, budget, strategy=strategy)
    if batch is not None:
        rows = batch.rows.tolist()
        assert len(set(rows)) == budget and set(rows) <= set(range(n))
        known = [k for k, label in enumerate(y) if label not in (None, "") and label == label]
        assert not set(rows) & set(known)


EVENT = st.fixed_dictionaries(
    {"event": st.sampled_from(["round", "decide", "undo", "decide", "round", "other", 3])},
    optional={
        "number": st.sampled_from([0, 1, 2, -1, "1", None]),
        "rows": st.lists(st.sampled_from([0, 1, 2, 7, -1, "3", None, 1.5]), max_size=3),
        "strategy": st.sampled_from(["random", 5]),
        "known": st.sampled_from([0, 3, None]),
        "labels": st.dictionaries(
            st.sampled_from(["0", "1", "9", "x", "-1", "1.5"]),
            st.sampled_from(["cat", "dog", None, 3, "", ["a"]]),
            max_size=2,
        ),
    },
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(8, 2)))
    Session.create(folder / "s", folder / "x.npy")
    return folder / "s"


@fuzz()
@given(events=st.lists(EVENT, max_size=4), torn=st.integers(0, 9))
@example(events=[{"event": "round"}], torn=0)
@example(events=[{"event": "decide", "labels": {"9": "cat"}}], torn=0)
def test_histories(session, events, torn):
    content = "".join(json.dumps(event) + "\n" for event in events)
    (session / "journal.jsonl").write_text(content[: len(content) - torn])
    found = answer_or_reason(Session, session)
    if found is not None:
        rows = set(range(8))
        assert set(found.labels) <= rows and set(found.pending) <= rows and found.skipped <= rows
        assert not set(found.pending) & set(found.labels)
        assert all(isinstance(label, str) for label in found.labels.values())


@fuzz()
@given(
    key=st.sampled_from(["features", "points", "seed", "model", "classes", "reading", "extra"]),
    value=st.sampled_from([None, "x", -1, 0, [], {}, {"pca": 1}, {"nobody": 1}, True]),
)
def test_settings(session, key, value):
    path = session / "settings.json"
    before = path.read_text()
    (session / "journal.jsonl").unlink(missing_ok=True)
    try:
        path.write_text(json.dumps({**json.loads(before), key: value}))
        found = answer_or_reason(Session, session)
        if found is not None:
            answer_or_reason(lambda: found.points)
    finally:
        path.write_text(before)


JSON = st.recursive(
    st.sampled_from([None, 0, 1, "cat", True, "choices"]),
    lambda part: (
        st.lists(part, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["data", "firal_row", "annotations", "result", "value", "choices", "choice", "type"]
            ),
            part,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@fuzz()
@given(content=JSON | st.lists(JSON, max_size=2))
@example(content=[{"data": 3, "annotations": 5}])
@example(content=[{"firal_row": 1, "choice": {}}])
def test_exports_of_label_studio(content, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(content))
    labels = answer_or_reason(read_answers_of_tasks, path, 5)
    assert labels is None or set(labels) <= set(range(5))
