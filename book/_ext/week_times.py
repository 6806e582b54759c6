"""``{week-times}``: what each week of the course takes, added up from the pages themselves."""

import re
import sys
from pathlib import Path

from exercise_list import contents, exercises, sources
from generated import Generated
from notebook_facts import TIMES, times

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tools"))

NOTEBOOK = re.compile(r"\.\./notebooks/(\w+)\.ipynb")
CHAPTER_EXERCISE = re.compile(r"<(ex-[\w-]+)>`")
NOTEBOOK_EXERCISE = re.compile(r"\[([a-z]\d\d), ([\d and]+)\]")


def minutes(exercise):
    """Stated minutes; "hours" counts as two of them."""
    return 120 if exercise.time == "hours" else int(exercise.time.split()[0])


def known_exercises(root):
    """{label or (notebook, number): minutes} of all exercises of the book."""
    found = {}
    for pages in contents(root):
        for page in pages:
            for exercise in exercises(page):
                if label := CHAPTER_EXERCISE.search(exercise.link):
                    found[label[1]] = minutes(exercise)
                elif number := re.match(r"\[([a-z]\d\d), (\d+)", exercise.link):
                    found[number[1], number[2]] = minutes(exercise)
    return found


def week_rows(root):
    """(title, notebooks, minutes of exercises) of each week of the course page."""
    text = (root / "book" / "course.md").read_text(encoding="utf8")
    known = known_exercises(root)
    weeks = text.partition("\n## Four weeks\n")[2].partition("\n## ")[0].split("\n### ")[1:]
    for week in weeks:
        title = week.splitlines()[0]
        asked = set(CHAPTER_EXERCISE.findall(week))
        for short, numbers in NOTEBOOK_EXERCISE.findall(week):
            asked |= {(short, number) for number in re.findall(r"\d+", numbers)}
        yield title, sorted(set(NOTEBOOK.findall(week))), sum(known[one] for one in asked)


def assignment_minutes():
    """{week: minutes} as the assignments state them."""
    from assignments import all_assignments

    found = {}
    for assignment in all_assignments():
        week, time = re.search(r"\*Week (\d)\..*?(\d+) minutes", assignment.text).groups()
        found[week] = found.get(week, 0) + int(time)
    return found


def table(root):
    """Markdown: one row per week."""
    measured, extra = times(root), assignment_minutes()
    lines = ["| week | lectures and lab | exercises | assignments | notebooks: smoke | book |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for title, notebooks, exercise in week_rows(root):
        week = re.match(r"Week (\d)", title)[1]
        cells = []
        for k in (0, 1):
            seconds = [measured.get(name, ("–", "–"))[k] for name in notebooks]
            whole = all(s != "–" for s in seconds) and seconds
            cells.append(f"{sum(map(float, seconds)):.0f} s" if whole else "–")
        lines.append(
            f"| {title} | 3 × 90 min | {exercise} min | {extra[week]} min | {' | '.join(cells)} |"
        )
    return lines


class WeekTimes(Generated):
    markdown = staticmethod(table)

    @staticmethod
    def sources(root):
        return [root / TIMES, *sources(root)]


def setup(app):
    app.add_directive("week-times", WeekTimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
