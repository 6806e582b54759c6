"""Editions for a class, and the slides: what students must not see, and what lecturers get."""

import json
import re
import zipfile

import assignments
import edition
import pytest
import slides
import week_times
import yaml
from conftest import ROOT

CHAPTER = """# A chapter

:::{exercise} Title
:label: ex-1

Why?
:::

::::{solution} ex-1
Because.

:::{note}
More.
:::
::::

The end.
"""


def test_solutions_go_and_the_rest_stays():
    left = edition.without_solutions(CHAPTER)
    assert "Because" not in left and "More" not in left
    assert "Why?" in left and left.rstrip().endswith("The end.")
    folded = "Do it.\n\n<details>\n<summary>Solution</summary>\n\nSo.\n\n</details>\n\nNext."
    assert edition.without_solutions(folded).split() == ["Do", "it.", "Next."]


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    target = tmp_path_factory.mktemp("student")
    edition.stage("student", target)
    return target


def test_students_get_no_solution_anywhere(students):
    texts = {p: p.read_text("utf8") for p in students.rglob("*") if p.suffix in (".md", ".ipynb")}
    for path, text in texts.items():
        assert "{solution}" not in text and "<summary>Solution" not in text, path.name
        assert not re.search(r"(?i)solutions[*]* stand|exercises and solutions", text), path.name
    assert sum(text.count("{exercise}") for text in texts.values()) > 40
    assert not list(students.rglob("*exam*"))
    handed_out = students / "_build/html/assignments"
    assert len(list(handed_out.glob("*.ipynb"))) == 8
    with zipfile.ZipFile(handed_out / assignments.ARCHIVE) as archive:
        assert len(archive.namelist()) == 16
        for name in archive.namelist():
            assert archive.read(name) == (handed_out.parent / name).read_bytes()
    count = sum(p.read_text("utf8").count("{solution}") for p in ROOT.glob("book/*.md"))
    assert count > 40  # there was something to leave out
    for path in (students / "notebooks").glob("*.ipynb"):
        stored = json.loads((ROOT / "notebooks" / path.name).read_text("utf8"))
        code = [c for c in stored["cells"] if c["cell_type"] == "code"]
        left = [c for c in json.loads(texts[path])["cells"] if c["cell_type"] == "code"]
        assert left == code


def test_only_instructors_get_the_exam(students):
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))
    plain, more = json.dumps(contents), json.dumps(edition.with_exam(contents))
    for file in edition.EXAM:
        assert file not in plain and file in more
    assert more.count('"file"') == plain.count('"file"') + 2  # no page is lost
    exam, answers = ((ROOT / f"{file}.md").read_text(encoding="utf8") for file in edition.EXAM)
    asked = re.findall(r"^## (.+)$", exam, re.M)
    assert asked == re.findall(r"^## (.+)$", answers, re.M) and len(asked) == 5
    minutes = sum(map(int, re.findall(r"^\*(\d+) minutes\.\*$", exam, re.M)))
    assert minutes == 80 and "Eighty minutes" in exam
    lines = {line for line in (exam + answers).splitlines() if len(line) > 40}
    numbers = {f"{a}/{b}" for a, b in re.findall(r"frac\{(\d+)\}\{(\d+)\}", exam + answers)}
    assert len(lines) > 20 and {"144/169", "91/60"} <= numbers
    given = [p for p in students.rglob("*") if p.suffix in (".md", ".ipynb", ".py")]
    texts = {path: path.read_text("utf8") for path in given}
    assert not [line for line in lines if line in "".join(texts.values())]
    tests = "".join(texts[path] for path in given if "assignments" in path.parts)
    assert len(tests) > 10_000 and not [n for n in numbers if n in tests.replace(" ", "")]


def test_students_do_not_read_what_the_lecturer_says_next(students):
    course = (ROOT / "book" / "course.md").read_text("utf8")
    left = (students / "book" / "course.md").read_text("utf8")
    for question, note in (
        ("How often does the fit not exist?", "is a tempting answer"),
        ("How should the labels be split between them?", "gives ten to one"),
    ):
        assert question in course and note in course
        assert question in left and note not in left


def page(body):
    return f"<html><body><article>{body}</article></body></html>"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A built book of one lecture per week."""
    weeks = "".join(
        f'<section id="week-{k}-x"><h3>Week {k}<a class="headerlink" href="#w">#</a></h3>'
        f"<p><strong>Lecture {k}. Title.</strong> Pages: "
        '<a class="r" href="chapter.html">x</a>.</p>'
        '<ul class="simple"><li><p><em>Ask first.</em> “Why?” Because.</p></li>'
        '<li><p><em>Show.</em> <a class="r" href="../notebooks/t01_x.html#pic">it</a>.</p></li>'
        '<li><p><em>In class.</em> <a class="r" href="chapter.html#ex-1">1</a>. '
        '<em>At home.</em> <a class="r" href="chapter.html#ex-2">2</a>.</p></li></ul></section>'
        for k in range(1, 5)
    )
    files = {
        "book/course.html": page(weeks),
        "book/chapter.html": page(
            '<div class="proof theorem admonition" id="thm-3"><p>Bound <div>in</div> '
            '<a href="#eq">(1)</a></p></div><div class="exercise admonition" id="ex-1">Do</div>'
            '<div class="exercise admonition" id="ex-2">Later</div>'
        ),
        "notebooks/t01_x.html": page(
            '<section id="pic"><p>a</p><img alt="A" src="../_images/a.svg" loading="lazy">'
            '<img alt="A" src="../_images/a.dark.svg" loading="lazy"></section>'
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    monkeypatch.setattr(slides, "STATEMENTS", {"Lecture 1": ["thm-3"]})
    return tmp_path


def test_slides_are_cut_from_the_pages(built):
    assert slides.write_slides(built) == [6, 5, 5, 5]
    html = (built / "slides" / "week1.html").read_text("utf8")
    kinds = re.findall(r'<section class="(\w+)">', html)
    assert kinds == ["title", "title", "ask", "statement", "figure", "exercise"]
    assert "Because" not in html and "Later" not in html
    assert '<a href="../book/chapter.html#eq">' in html and 'src="../_images/a.svg"' in html
    assert "<div>in</div>" in html and "http" not in html
    assert 'dark)" srcset="../_images/a.dark.svg">' in html and "lazy" not in html
    slides.write_slides(built, "instructor")
    assert "Because" in (built / "slides" / "week1.html").read_text("utf8")


def test_a_statement_that_is_gone_is_named(built, monkeypatch):
    monkeypatch.setattr(slides, "STATEMENTS", {"Lecture 2": ["thm-99"]})
    with pytest.raises(ValueError, match="thm-99"):
        slides.write_slides(built)


def test_the_weeks_take_what_their_pages_say():
    rows = list(week_times.week_rows(ROOT))
    assert len(rows) == 4 and all(minutes > 60 for _, _, minutes in rows)
    assert "t01_fisher_information" in rows[0][1]
    assert sum(week_times.assignment_minutes().values()) == 250
