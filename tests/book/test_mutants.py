"""Mutation testing: what is changed, which mutants are tried, which survivors are explained."""

import mutants
import pytest
import survivors
from conftest import ROOT

ENTRY = """\
selection/bait.py bait
- if gain <= 0:
+ if gain < 0:
why: a gain of zero does not occur
"""
DIFF = """\
--- firal/selection/bait.py
+++ firal/selection/bait.py
@@ -3,3 +3,3 @@
     a = 1
-    if gain <= 0:
+    if gain < 0:
         b = 2"""


def test_an_entry_explains_its_mutant_and_no_other():
    entries = survivors.read(f"# remark\n\n{ENTRY}\n# another\n")
    mutant = survivors.from_diff("selection/bait.py", "bait", DIFF)
    assert entries == {mutant: "a gain of zero does not occur"}
    assert survivors.from_diff("selection/bait.py", "other", DIFF) not in entries
    assert (
        survivors.from_diff("selection/bait.py", "bait", DIFF.replace("< 0", "< 1")) not in entries
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY.replace("why: ", ""), "expected file and function"),
        (ENTRY.replace("bait.py bait", "bait.py"), "expected file and function"),
        (f"{ENTRY}\n{ENTRY}", "twice"),
    ],
)
def test_a_broken_file_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        survivors.read(text)


def test_the_committed_file_can_be_read_and_its_lines_are_in_the_code():
    for mutant in survivors.read((ROOT / survivors.FILE).read_text(encoding="utf8")):
        code = (ROOT / "firal" / mutant.file).read_text(encoding="utf8")
        lines = {line.strip() for line in code.splitlines()}
        gone = [line for line in mutant.lines if line[0] == "-" and line[2:] not in lines]
        assert not gone, f"no longer in {mutant.file}, so the entry can go:\n{mutant}"
        assert mutant.function.split(".")[-1] in code


def test_the_committed_file_leaves_no_survivor():
    text = (ROOT / survivors.FILE).read_text(encoding="utf8")
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("# ")]
    begin = next(k for k, words in enumerate(lines) if words[:1] == ["folder"])
    rows = [words for words in lines[begin + 1 :] if len(words) == 7 and words[1].isdigit()]
    assert len(rows) >= 3 and lines[begin][1:] == [
        *"seed tried before caught explained left".split()
    ]
    for _, _, tried, before, caught, explained, left in rows:
        assert int(before) <= int(caught) and int(left) == 0
        assert int(tried) == int(caught) + int(explained)


def test_the_table_counts_what_was_caught():
    results = {
        1: ("a.py", "killed", False),
        2: ("a.py", "timeout", False),
        3: ("a.py", "survived", True),
        4: ("b.py", "no tests", False),
    }
    rows = [line.split()[1:] for line in survivors.table(results)[1:]]
    assert rows == [
        ["a.py", "3", "2", "1", "0", "66.7%"],
        ["b.py", "1", "0", "0", "1", "0.0%"],
        ["all", "4", "2", "1", "1", "50.0%"],
    ]


def test_modules_and_samples_are_chosen():
    names = [
        f"firal.selection.{m}.x_f__mutmut_{k}" for m in ("bait", "bait_more") for k in range(9)
    ]
    assert len(mutants.chosen(names, ["selection"])) == 18
    assert mutants.chosen(names, ["selection/bait.py"]) == names[:9]
    sample = mutants.chosen(names, ["selection"], sample=5, seed=1)
    assert len(sample) == 5 and sample == mutants.chosen(names, ["selection"], sample=5, seed=1)
    assert sample != mutants.chosen(names, ["selection"], sample=5, seed=2)
    with pytest.raises(SystemExit, match="no mutants in firal.model"):
        mutants.chosen(names, ["model"])


def test_every_folder_has_its_tests():
    for folder, tests in mutants.TESTS.items():
        assert (ROOT / "firal" / folder).is_dir() or (ROOT / "firal" / f"{folder}.py").is_file()
        assert all((ROOT / test).exists() for test in tests)


def test_own_tests_and_quick_tests_come_first_within_the_time(monkeypatch):
    durations = {"a/test_bait.py::slow": 2.0, "b/test_x.py::quick": 0.1, "b/test_x.py::slow": 3.0}
    order = ["b/test_x.py::quick", "a/test_bait.py::slow", "b/test_x.py::slow"]
    name = "firal.selection.bait.x_f__mutmut_1"
    assert mutants.in_order(set(durations), name, durations) == order
    monkeypatch.setattr(mutants, "SECONDS", 4.0)
    assert mutants.in_order(set(durations), name, durations) == order[:2]
    monkeypatch.setattr(mutants, "SECONDS", 1.0)  # what is slow does not keep others from it
    assert mutants.in_order(set(durations), name, durations) == order[:1]
    monkeypatch.setattr(mutants, "SECONDS", 0.01)
    assert mutants.in_order(set(durations), name, durations) == order  # not none


CODE = '''
def f(a, b, share=2.5):
    """Say something."""
    with np.errstate(over="ignore"):
        a = a.astype(float, copy=False)
        b = b.astype(float, copy=True)
    if a > 1e-7:
        raise ValueError("a is too large: " + str(a - 1))
    c = g(a, strict=True, method="fast")
    checks.number(c, "c", 0)
    for block in pool_blocks(g(a, size=2.5), 7.5, "bytes"):
        pass
    return a * b
'''


def test_what_is_changed_and_what_not():
    cst = pytest.importorskip("libcst")
    import mutant_rules

    module = cst.parse_module(CODE)
    made, names = [], []

    class Visitor(cst.CSTVisitor):
        def on_visit(self, node):
            names.extend(mutant_rules.names_in(node))
            if mutant_rules.is_message(node) or node in names:
                return False
            rules = {
                cst.Call: mutant_rules.dropped,
                cst.Return: mutant_rules.slightly_off,
                cst.Float: mutant_rules.one_percent,
                cst.SimpleString: mutant_rules.other_string,
            }
            rule = rules.get(type(node), lambda node: ())
            made.extend(module.code_for_node(changed).strip() for changed in rule(node))
            return True

    module.visit(Visitor())
    assert made == [
        "b.astype(float, )",
        "1.01e-07",
        "g(a, strict=True, )",
        '"XX"',
        "g(a, )",
        "2.525",
        "return (a * b) * 1.0005",
    ]
