"""The claims recorder: right outcomes pass, wrong ones raise, both are recorded."""

import json

import pytest

from firal.companion import claims

REGISTRY = """
- {id: prop-1, expected: holds}
- {id: prop-2, expected: differs}
- {id: prop-3, expected: holds-corrected}
- {id: prop-4, expected: null}
- {id: prop-5, expected: cannot-test}
"""


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A small registry in the working folder, and the list of records that were displayed."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "claims.yml").write_text(REGISTRY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRAL_CLAIMS", raising=False)
    records = []
    monkeypatch.setattr(claims, "_show", records.append)
    return records


def test_a_claim_that_holds_must_pass(shown):
    claims.check("prop-1", 0.5, "<=", 1, what="small", digits=2)
    with pytest.raises(claims.ClaimError, match="prop-1 is expected to be 'holds'.*failed"):
        claims.check("prop-1", 1.5, "<=", 1, what="small")
    assert [record.as_expected for record in shown] == [True, False]


def test_a_claim_that_differs_must_fail(shown):
    claims.check("prop-2", 1.5, "<=", 1, what="too large")
    with pytest.raises(claims.ClaimError, match="prop-2 is expected to be 'differs'.*passed"):
        claims.check("prop-2", 0.5, "<=", 1, what="too large")


def test_a_corrected_claim_passes_and_fails_as_printed(shown):
    claims.check("prop-3", 0.5, "<=", 1, what="ours")
    claims.check("prop-3", 1.5, "<=", 1, what="theirs", printed=True)
    assert claims.verdict(shown) == "holds-corrected"
    with pytest.raises(claims.ClaimError):
        claims.check("prop-3", 0.5, "<=", 1, what="theirs", printed=True)


def test_record_mode_records_without_raising(shown, monkeypatch):
    monkeypatch.setenv("FIRAL_CLAIMS", "record")
    claims.check("prop-1", 1.5, "<=", 1, what="small")
    assert shown[0].as_expected is False
    assert claims.verdict(shown) == "unexpected"


def test_the_comparison_is_made_before_rounding(shown):
    with pytest.raises(claims.ClaimError):
        claims.check("prop-1", 1.0004, "<=", 1, what="just above", digits=3)
    assert shown[0].measured == 1.0


def test_nan_never_passes(shown):
    for relation in claims.RELATIONS:
        with pytest.raises(claims.ClaimError):
            claims.check("prop-1", float("nan"), relation, 1, what="nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("prop-9", 1, "<", 2), "unknown claim 'prop-9'"),
        (("prop-1", 1, "~", 2), "unknown relation '~'"),
        (("prop-4", 1, "<", 2), "expected status None"),
        (("prop-5", 1, "<", 2), "'cannot-test'.*this call is for holds, holds-corrected, differs"),
    ],
)
def test_bad_calls_are_refused(shown, arguments, message):
    with pytest.raises(ValueError, match=message):
        claims.check(*arguments, what="x")
    assert shown == []


def test_the_line_and_the_json_tell_the_same():
    record = claims.Check("prop-1", "slope", 1.02, "<=", 1.1, False, True, True)
    bundle = record.bundle()
    assert bundle["text/plain"] == "prop-1 | slope | 1.02 ≤ 1.1 | holds"
    assert claims.Check(**bundle[claims.MIME]) == record


def test_round_off_is_not_recorded(shown):
    claims.check("prop-1", 3.1e-9, "<", 1e-7, what="error")
    assert shown[0].measured is None
    assert "3.1" not in shown[0].line()


def test_recorded_reads_what_a_notebook_stored(tmp_path):
    record = claims.Check("prop-1", "slope", 1.02, "<=", 1.1, False, True, True)
    output = {"output_type": "display_data", "data": record.bundle()}
    cells = [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": [output]}]
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert claims.recorded(path) == [record]


def test_why_a_claim_cannot_be_tested_is_recorded(shown):
    claims.cannot_test("prop-5", "the constant is not given")
    assert shown[0].line() == "prop-5 | cannot be tested: the constant is not given"
    assert claims.verdict(shown) == "cannot-test"
    stored = json.loads(json.dumps(shown[0].bundle()[claims.MIME]))
    assert claims.Check(**stored) == shown[0]
    for claim, message in (("prop-1", "this call is for cannot-test"), ("prop-9", "unknown claim")):
        with pytest.raises(ValueError, match=message):
            claims.cannot_test(claim, "no reason")
    assert len(shown) == 1


def test_verdicts():
    def record(passed, printed=False):
        return claims.Check("x", "", None, "<", 1.0, printed, passed, True)

    assert claims.verdict([]) == "not reached"
    assert claims.verdict([record(True)]) == "holds"
    assert claims.verdict([record(False, True)]) == "differs"


def test_without_a_registry_the_error_says_where_to_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="inside the firal repository"):
        claims.check("prop-1", 1, "<", 2, what="x")


def test_the_registry_is_parsed_once_per_version(shown, tmp_path, monkeypatch):
    import yaml

    parsed = []
    load = yaml.load
    monkeypatch.setattr(yaml, "load", lambda *a, **k: parsed.append(1) or load(*a, **k))
    file = tmp_path / "book" / "claims.yml"
    file.write_text("- {id: once-1, expected: holds}\n")
    for _ in range(3):
        claims.check("once-1", 0, "<", 1, what="x")
    assert len(parsed) == 1
    file.write_text("- {id: once-2, expected: holds}\n")
    assert list(claims.registry()) == ["once-2"] and len(parsed) == 2


def test_a_notebook_is_parsed_once_per_version(tmp_path, monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text: parsed.append(1) or loads(text))
    path = tmp_path / "n.ipynb"
    path.write_text('{"cells": [], "once": 1}')
    assert [claims.recorded(path) for _ in range(3)] == [[], [], []] and len(parsed) == 1
    path.write_text('{"cells": [], "once": 2}')
    assert claims.recorded(path) == [] and len(parsed) == 2


def test_a_control_must_fail_and_is_shown(shown):
    claims.check("prop-1", 0.5, "<=", 1, what="small", digits=2, control=(2.345, "factor 4"))
    assert shown[0].line().endswith("| holds | control, factor 4: 2.3 fails")
    claims.check("prop-1", 0.5, "<=", 1, what="small", control=(2.345, "factor 4"))
    assert shown[1].line().endswith("| holds | control, factor 4: fails")
    with pytest.raises(claims.ClaimError, match="prop-1 cannot fail: it passes with factor 4"):
        claims.check("prop-1", 0.5, "<=", 1, what="small", control=(0.9, "factor 4"))
    assert shown[-1].as_expected is False


def test_a_control_may_have_its_own_reference_but_is_a_number(shown):
    claims.check("prop-1", 0.5, "<=", 1, what="small", control=(0.5, "half the bound", 0.4))
    for control in [(0.5, "half the bound", 0.6), (float("nan"), "nothing")]:
        with pytest.raises(claims.ClaimError, match="cannot fail"):
            claims.check("prop-1", 0.5, "<=", 1, what="small", control=control)


def test_a_formula_must_give_the_number_known_from_elsewhere(shown, capsys):
    def bound(d, n):
        return 2 * d / n + 1 / n**2

    claims.transcribed("prop-2", bound(3, 4), 6 / 4 + 1 / 16, what="bound at d = 3, n = 4")
    assert capsys.readouterr().out == "prop-2 | formula: bound at d = 3, n = 4 | 1.5625\n"
    assert shown == []  # no evidence: the scoreboard counts checks only
    with pytest.raises(claims.ClaimError, match=r"prop-2 is not the stated one.*1\.5 instead of"):
        claims.transcribed("prop-2", 6 / 4, 6 / 4 + 1 / 16, what="lower-order term dropped")


def test_formulas_are_compared_one_by_one(shown, capsys):
    claims.transcribed("prop-5", [1, [2.0, 3]], (1, 2, 3), what="all")
    assert capsys.readouterr().out.endswith("| 1, 2, 3\n")
    for value in ([1, 2], [1, 2, 3.1], [1, 2, float("nan")]):
        with pytest.raises((claims.ClaimError, ValueError)):
            claims.transcribed("prop-5", value, [1, 2, 3], what="one is wrong")
    with pytest.raises(claims.ClaimError, match="nothing to compare"):
        claims.transcribed("prop-5", [], [], what="empty")
    with pytest.raises(ValueError, match="unknown claim"):
        claims.transcribed("prop-9", 1, 1, what="x")


def test_record_mode_does_not_let_a_wrong_formula_pass(shown, monkeypatch):
    monkeypatch.setenv("FIRAL_CLAIMS", "record")
    with pytest.raises(claims.ClaimError):
        claims.transcribed("prop-1", 1, 2, what="x")
