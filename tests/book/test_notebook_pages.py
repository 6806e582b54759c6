"""How notebooks are shown: what is folded, lines that fit, captions, checks and knobs as tables."""

from types import SimpleNamespace

import notebook_cells as page
import notebook_knobs as knobs
import notebook_verdicts as verdicts
import pytest
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


def test_every_notebook_with_parameters_has_something_to_try():
    """Without an entry of its own: another seed, or the small size where results are a record."""
    app = SimpleNamespace(srcdir=ROOT, env=SimpleNamespace(note_dependency=lambda path: None))
    for name, sizes in profiles.SIZES.items():
        items = knobs.changes(app, name)
        assert bool(items) == bool(sizes), name
        for item in items:
            assert item["change"].partition(" = ")[0].lower() in {"profile", *sizes}, name
    assert knobs.changes(app, "e14") == [knobs.RECORDED]
    assert knobs.box("e14", [knobs.RECORDED]).astext().endswith("_build/mine --profile smoke")
    assert knobs.box("t04", [knobs.ANY]).astext().endswith("_build/mine -p SEED 7")


def test_every_change_names_a_knob_and_says_what_to_expect():
    import yaml

    notes = yaml.safe_load((ROOT / knobs.NOTES).read_text(encoding="utf8"))
    for name, items in notes.items():
        for item in items:
            knob = item["change"].partition(" = ")[0]
            assert knob.lower() in profiles.SIZES[name], f"{name}: {knob}"
            assert len(item["expect"]) > 20
            # the value has the type of the one it replaces
            given = yaml.safe_load(item["change"].partition(" = ")[2])
            profiles.load(name, {"PROFILE": "book", knob: given})
