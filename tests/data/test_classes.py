"""Labels that are perhaps no classes: marks, and one class under two names."""

import pytest

from firal.data.cells import TableError
from firal.data.classes import doubts, refuse_doubts, rename, table_of_classes


@pytest.mark.parametrize("mark", ["?", "N/A", "skip", "None", "NULL", "-", "unknown", "TBD"])
def test_marks_are_found(mark):
    assert doubts({"cat": 3, mark: 2}) == [f"{mark!r} (2 labels) looks like no label"]
    assert doubts({"cat": 3, mark: 2}, [mark]) == []


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"Adelie": 20, "adelie": 1}, "'Adelie' (20) and 'adelie' (1) differ by case only"),
        ({"top up": 3, "top-up": 3}, "'top up' (3) and 'top-up' (3) differ by spaces or hyphens"),
        ({"Gentoo": 30, "Gento": 1}, "'Gentoo' (30) and 'Gento' (1) differ by one letter"),
        ({"Gentoo": 30, "Gentpo": 1}, "differ by one letter"),
        ({"Gentoo": 30, "Genoto": 1}, "differ by one letter"),
        ({"red wine": 9, "red winw": 1}, None),  # four letters: wine and wind are words
        ({"white wines": 9, "white winew": 1}, "differ by one letter"),
        ({"0": 5, "1": 3, "-1": 90}, "'-1' (90 labels) looks like no label"),
        ({"0": 5, "1": 3}, None),
        ({"-1": 5, "1": 3, "x": 2}, None),
        ({"class_1": 9, "class_2": 1}, None),  # a numbering
        ({"type A": 9, "type B": 1}, None),
        ({"cancer": 9, "dancer": 8}, None),  # both are frequent
        ({"male": 9, "female": 1}, None),
        ({"cat": 1, "dog": 1, "cow": 1}, None),  # a first batch
    ],
)
def test_twins_are_found_and_classes_are_not(counts, said):
    found = doubts(counts)
    assert (len(found) == 1 and said in found[0]) if said else found == []


def test_the_error_says_what_to_do():
    labels = {0: "cat", 1: "?", 2: "Cat"}
    with pytest.raises(
        TableError, match="'\\?' .1 label. looks like no label; 'Cat' .1."
    ) as caught:
        refuse_doubts(labels)
    assert caught.value.remedies == ("map", "unlabeled", "class")
    refuse_doubts(rename(labels, {"?": None, "Cat": "cat"}))
    refuse_doubts(labels, ["?", "cat", "Cat"])


def test_counts_are_shown():
    labels = dict(enumerate(["a"] * 3 + ["b"]))
    assert table_of_classes(labels) == "a 3, b 1 (1 class with a single label)"
    many = dict(enumerate([f"c{k}" for k in range(30)] * 2))
    assert table_of_classes(many, 2) == "c0 2, c1 2, ... (30 classes)"
