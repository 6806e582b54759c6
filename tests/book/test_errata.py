"""The page of errata can be used as it stands: a table of all items, and four fields for each."""

import re

import pytest
from conftest import ROOT

PAGES = ["errata", *(f"errata_{part}" for part in ("method", "experiments", "tools", "proofs"))]
TEXT = "\n".join((ROOT / "book" / f"{page}.md").read_text(encoding="utf8") for page in PAGES)
KINDS = {
    "typo",
    "gap",
    "wrong constant",
    "false step",
    "does not follow",
    "false",
    "not reproduced",
}
ITEM = re.compile(r"^\((err-[\w-]+)\)=\n## .+?$(.*?)(?=^\(err-|\Z)", re.M | re.S)
ROW = re.compile(r"^\| \[.+\]\((err-[\w-]+)\) \| (.+?) \| (.+) \|$", re.M)
ITEMS = dict(ITEM.findall(TEXT))
TESTS = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}


def test_the_table_lists_every_item_in_order():
    assert [label for label, _, _ in ROW.findall(TEXT)] == list(ITEMS)


@pytest.mark.parametrize(("label", "kinds", "effect"), ROW.findall(TEXT))
def test_row(label, kinds, effect):
    kinds = set(kinds.split(", "))
    assert kinds <= KINDS
    assert effect.endswith(".")
    said = re.search(r"\bdo(es)? not follow", ITEMS[label])
    assert ("does not follow" in kinds) == bool(said), "the item and the table say the same"
    if kinds <= {"typo", "gap", "wrong constant"} and effect.startswith("None."):
        assert "changes a result" not in ITEMS[label]


def test_the_kinds_are_explained():
    explained = re.findall(r"^- \*([a-z ]+)\*: ", TEXT, re.M)
    assert set(explained) == KINDS and len(explained) == len(KINDS)


@pytest.mark.parametrize("label", ITEMS)
def test_item(label):
    fields = re.findall(r"^\*\*(\w+)\*\*\n: ", ITEMS[label], re.M)
    assert fields == ["Where", "Printed", "Right", "Evidence"]
    evidence = ITEMS[label].split("**Evidence**")[1]
    notebooks = re.findall(r"\]\(\.\./notebooks/(\w+\.ipynb)(?:#[\w-]+)?\)", evidence)
    tests = re.findall(r"`(test_\w+)`", evidence)
    assert notebooks or tests, "nothing to run"
    assert all((ROOT / "notebooks" / name).exists() for name in notebooks)
    assert set(tests) <= TESTS
