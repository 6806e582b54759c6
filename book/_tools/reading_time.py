"""How long a page of the book takes to read: words, formulas, pictures and questions are counted.

    python book/_tools/reading_time.py book/tour.md

The rates are for mathematical prose, on the slow side: silent reading of plain non-fiction runs at
about 240 words a minute.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

WORDS = 150  # per minute
INLINE = 3  # seconds for a formula in the text
DISPLAY = 45  # seconds for a formula of its own
PICTURE = 60  # seconds
PLAY = 120  # seconds for a figure with controls
LINE_OF_CODE = 4  # seconds

FENCE = re.compile(r"^(`{3,})(\{[^}\n]+\}|\w*)[^\n]*\n(.*?)^\1\s*$", re.M | re.S)
QUESTION = re.compile(r"Stop and think, (\d+) minutes?")


class Count(NamedTuple):
    """What is on a page; ``questions`` in minutes."""

    words: int
    inline: int
    display: int
    pictures: int
    play: int
    code: int
    questions: int

    def minutes(self):
        seconds = self.inline * INLINE + self.display * DISPLAY
        seconds += self.pictures * PICTURE + self.play * PLAY + self.code * LINE_OF_CODE
        return self.words / WORDS + seconds / 60 + self.questions


def count(text):
    """The counts of a page in MyST Markdown."""
    pictures = play = code = 0
    captions = []
    for _, name, body in FENCE.findall(text):
        if name == "{play-figure}":
            play += 1
        elif "figure" in name:
            pictures += 1
            captions += [line for line in body.splitlines() if not line.startswith(":")]
        elif not name.startswith("{"):
            code += len(body.splitlines())
    text = FENCE.sub("", text) + "\n" + "\n".join(captions)
    questions = sum(int(minutes) for minutes in QUESTION.findall(text))
    display = re.findall(r"\$\$.*?\$\$", text, re.S)
    text = re.sub(r"\$\$.*?\$\$", " ", text, flags=re.S)
    inline = re.findall(r"\$[^$\n]+\$", text)
    text = re.sub(r"\$[^$\n]+\$", " ", text)
    text = re.sub(r"\]\([^)]*\)|\{[\w:-]+\}`[^`]*`", " ", text)
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text)
    return Count(len(words), len(inline), len(display), pictures, play, code, questions)


def main():
    for name in sys.argv[1:]:
        found = count(Path(name).read_text(encoding="utf8"))
        print(f"{name}: {found.minutes():.0f} minutes; {found}")


if __name__ == "__main__":
    main()
