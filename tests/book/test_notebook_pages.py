"""How notebooks are shown: what is folded, lines that fit, captions, checks and knobs as tables."""

import re

import notebook_cells as page
import notebook_knobs as knobs
import notebook_verdicts as verdicts
import pytest
import yaml
from conftest import ROOT
from docutils import nodes

from firal.companion import checkout, claims, profiles

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PICTURE = {"output_type": "display_data", "data": {"image/png": ""}}


def cell(source, *outputs, tags=(), alt=""):
    metadata = {"tags": list(tags), "mystnb": {"image": {"alt": alt}}}
    return {"source": [source], "outputs": list(outputs), "metadata": metadata}


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (cell("SEED = None", tags=["parameters"]), "parameters"),
        (cell('s = profiles.load("t01", globals())'), "setup"),
        (cell('claims.check("lem-2", 1, "<", 2)', PICTURE), "record"),
        (cell("plt.show()", PICTURE), "figure"),
        (cell("x = profiles.SIZES"), "step"),
    ],
)
def test_what_a_cell_is_for(made, kind):
    assert page.kind(made) == kind


def test_only_long_code_is_folded_and_the_line_says_what_it_is():
    long = "\n".join(["x = 1"] * 9)
    assert page.folded(cell(long, PICTURE)) == "Code of the figure below (9 lines)"
    assert page.folded(cell("plt.show()", PICTURE)) is None
    assert page.folded(cell(long)) is None
    setup = cell('s = profiles.load("t01", globals())\ndef f():\n    pass\n')
    assert page.folded(setup) == "Set-up: imports, sizes, random numbers, 1 helper (3 lines)"


def test_a_caption_comes_from_the_chapter_or_is_the_alternative_text():
    known = {"fig-a": "The finding."}
    glued = {"data": {}, "metadata": {"scrapbook": {"name": "fig-a"}}}
    assert page.caption_of(cell("", glued, alt="A curve."), known) == ("The finding.", "A curve.")
    assert page.caption_of(cell("", alt="A curve."), known) == ("A curve.", "A curve.")
    assert page.plain("Curves for $a$. More in [Real data](x.md).") == "Curves for $a$."
    assert page.plain("The best, {prf:ref}`our-x`. Dots, {ref}`so <y>` it is.") == "Dots, so it is."


def test_every_figure_of_a_notebook_has_a_caption():
    known = page.captions(ROOT)
    without = [
        path.stem
        for path in NOTEBOOKS
        for one in checkout.cells(path)
        if one["cell_type"] == "code" and page.kind(one) == "figure"
        if not page.caption_of(one, known)[0] and not page.has_play(one)
    ]
    assert without == []


def check(**changes):
    plain = dict(id="lem-2", what="w", measured=1.0, relation="<=", reference=2.0)
    return claims.Check(**plain | dict(printed=False, passed=True, as_expected=True) | changes)


@pytest.mark.parametrize(
    ("made", "expected", "sign"),
    [
        (check(), "holds", "✓"),
        (check(), "holds-corrected", "±"),
        (check(passed=False, printed=True), "holds-corrected", "✗"),
        (check(passed=False, printed=True), "differs", "✗"),
        (check(passed=False, as_expected=False), "holds", "!"),
        (check(relation=None, passed=False), "cannot-test", "?"),
    ],
)
def test_the_mark_of_a_check(made, expected, sign):
    assert verdicts.mark(made, expected) == sign


def test_a_table_has_a_row_for_every_recorded_check():
    registry = claims.registry(ROOT / "book" / "claims.yml")
    found = 0
    for path in NOTEBOOKS:
        for one in checkout.cells(path):
            checks = list(verdicts.recorded(one).values())
            if not checks:
                continue
            table = verdicts.table(checks, registry, "notebooks/x")
            rows = list(table.findall(nodes.row))[1:]
            assert len(rows) == len(checks)
            for row, made in zip(rows, checks, strict=True):
                assert made.what in row[2].astext()
                assert row[0].astext() != "!", f"{path.stem}: {made.line()}"
                assert made.measured is None or f"{made.measured:g}" == row[3].astext()
            found += len(rows)
    assert found >= 300


def test_knobs_are_shown_with_the_values_of_the_stored_profile():
    table = knobs.knob_table("e14")
    head, *rows = table.findall(nodes.row)
    assert [entry.astext() for entry in head] == [
        "parameter",
        "smoke",
        "book",
        "paper (shown here)",
    ]
    bold = {row[0].astext(): row.next_node(nodes.strong).astext() for row in rows}
    assert bold["N_CLASSES"] == "50" and len(bold) == len(profiles.SIZES["e14"])


def faults(name, items):
    """What is wrong with a box "Change this, expect that": items of {change, expect}."""
    stored = profiles.STORED.get(name, "book")
    found, teaches = [], False
    for item in items:
        given = {k: yaml.safe_load(v) for k, v in knobs.settings(item["change"]).items()}
        profile = given.setdefault("PROFILE", stored)
        try:  # refuses unknown names, and values of another type
            asked = vars(profiles.load(name, given))
        except ValueError as error:
            found.append(str(error))
            continue
        usual = vars(profiles.load(name, {"PROFILE": profile}))
        changed = {knob for knob in usual if asked[knob] != usual[knob]}
        if not changed and profile == stored:
            found.append(f"{item['change']} changes nothing")
        teaches |= bool(changed - {"seed"})
        if not re.search(r"\d", item["expect"]):
            found.append(f"{item['change']}: no number says what happens")
        if not 1 <= len(re.findall(r"[.?!](?=\s|$)", item["expect"])) <= 4:
            found.append(f"{item['change']}: not one to four sentences")
    if not teaches and set(profiles.SIZES[name]) - {"seed"}:
        found.append("no parameter besides the seed and the profile")
    return found


def test_every_notebook_has_a_box_that_teaches_something():
    notes = yaml.safe_load((ROOT / knobs.NOTES).read_text(encoding="utf8"))
    assert set(notes) == set(profiles.SIZES)
    for name, items in notes.items():
        assert 1 <= len(items) <= 3 and faults(name, items) == [], name


@pytest.mark.parametrize(
    ("change", "expect", "fault"),
    [
        ("N_STARTS = 1", "The largest falls from 2 to 1.", None),
        ("N_STARTS = 1; N_INSTANCES = 9", "The largest falls from 2 to 1.", None),
        ("STARTS = 1", "The largest falls from 2 to 1.", "unknown parameter STARTS"),
        ("N_STARTS = many", "The largest falls from 2 to 1.", "of type str"),
        ("N_STARTS = 12", "The largest falls from 2 to 1.", "changes nothing"),
        ("SEED = 7", "Other laws; all 9 checks come out the same.", "besides the seed"),
        ('PROFILE = "smoke"', "The largest falls from 2 to 1.", "besides the seed"),
        ("N_STARTS = 1", "The largest falls.", "no number"),
        ("N_STARTS = 1", "One. Two. 3. Four. Five.", "sentences"),
    ],
)
def test_a_box_that_teaches_nothing_is_noticed(change, expect, fault):
    found = faults("t06", [{"change": change, "expect": expect}])
    assert not found if fault is None else any(fault in one for one in found)


def test_a_box_has_its_changes_and_a_command_that_runs_the_first_one():
    item = {"change": 'PROFILE = "smoke"; POOLS = ["digits", "mnist"]', "expect": "So."}
    box = knobs.box("e17", [item, {"change": "SEED = 7", "expect": "Then."}])
    assert "SEED = 7: Then." in box.astext()
    command = """--nb e17 --out _build/mine --profile smoke -p POOLS '["digits", "mnist"]'"""
    assert box.astext().endswith(command)
    assert knobs.box("t04", [{"change": "SEED = 7", "expect": "Then."}]).astext().endswith("SEED 7")
