"""Classes that are perhaps none: marks for "no label", and one class under two names.

Every different label is a class, so a `?` or a slip of the keyboard becomes one without a word.
Such labels are refused until the caller maps them, says that they mean no label, or confirms them.
Nine kinds are found:

- **marks** such as `?`, `N/A`, `skip`, and -1 among labels that are counted from 0;
- **twins by case**: names that differ in case, spaces, hyphens, underscores or marks around them
  (`red.`, `'red'`) only, in how a letter with an accent is stored, in a character that cannot be
  seen, or in a letter of another alphabet that looks the same;
- **twins by spelling**: two words of five letters or more, one letter apart, one of them rare, or
  with a single label while the other has more. A difference in a digit or in a word of one or two
  letters is a numbering, not a slip;
- **yes twice**: yes and y, true and 1, no and false;
- **one number twice**: 7 and 07;
- **several labels in one**: `cat|dog` where cat and dog are classes, and lists such as `['cat']`;
- **measurements**: ten or more different numbers with fractions, or numbers only, of which three or
  more with fractions occur once each;
- **dates**: ten or more labels, each of which occurs once;
- **texts**: ten or more labels, each of which occurs once and has three words or more.

Classes with a single label are shown, not refused: at the beginning most classes have one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from firal.common.text import as_text, whole_number
from firal.data.cells import TableError, is_number

MARKS = (
    *("?", "??", "-", "--", "---", ".", "n/a", "#n/a", "na", "none", "null", "nil", "missing"),
    *("skip", "skipped", "unknown", "unk", "undefined", "unlabeled", "unlabelled", "no label"),
    *("tbd", "todo", "to do", "unsure", "not sure", "don't know"),
)
RARE = 5  # a slip has at most one label in this many of the other name
SLIP = 5  # letters of a word from which on one letter is a slip
LONGEST = 200  # letters of a name that is compared with others letter by letter
MOST = 5  # doubts that a message shows
AROUND = "'\"`.,;: "  # marks around a name that do not belong to it
FRACTIONS = 10  # so many different ones are measurements
SINGLES = 10  # so many labels of several words, each once, are texts
SAME = ({"1", "true", "yes", "y", "t"}, {"0", "false", "no", "n", "f"})
DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d\d?[./]\d\d?[./](\d\d)?\d\d")
LIST = re.compile(r"\[.*\]|\(.*,.*\)|\{.*\}")
JOINED = re.compile(r"\s*[|;,/+&]\s*")  # what stands between several labels of one point
# letters of the Cyrillic and Greek alphabets that look like Latin ones
LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u03bf\u03bd\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcyxiABEKMHOPCTX" + "ovABEHIKMNOPTX",
)


def rename(labels: Mapping[int, str], names: Mapping[str, str | None]) -> dict[int, str]:
    """Give classes other names, or none.

    Parameters
    ----------
    labels : mapping
        From row to label.
    names : mapping
        From a label to the one to use in its place; None or "" for no label.

    Returns
    -------
    dict
        From row to label; rows whose label became none are not in it.

    Examples
    --------
    >>> rename({0: "adelie", 1: "?", 2: "Gentoo"}, {"adelie": "Adelie", "?": None})
    {0: 'Adelie', 2: 'Gentoo'}
    """
    plain = {as_text(old): as_text(new) for old, new in names.items()}
    new = {row: plain.get(label, label) for row, label in labels.items()}
    return {row: label for row, label in new.items() if label is not None}


def doubts(counts: Mapping[str, int], confirmed: Iterable[str] = ()) -> list[str]:
    """Find labels that are perhaps no class of their own.

    Parameters
    ----------
    counts : mapping
        From label to the number of points that have it.
    confirmed : iterable of str
        Classes that are right as they stand.

    Returns
    -------
    list of str
        One sentence each, such as "'?' (3 labels) looks like no label".

    Examples
    --------
    >>> doubts({"Adelie": 20, "adelie": 1, "?": 2, "Gentoo": 9})
    ["'?' (2 labels) looks like no label", "'Adelie' (20) and 'adelie' (1) differ by case only"]
    >>> doubts({"0": 4, "1": 3})
    []
    """
    confirmed = {as_text(name) for name in confirmed}
    names = sorted(counts)
    found = []
    counted = {name for name in names if whole_number(name) is not None}
    for name in names:
        minus = name == "-1" and len(counted) == len(names) - 1 and counted
        if name not in confirmed and (name.lower() in MARKS or minus):
            plural = "label" if counts[name] == 1 else "labels"
            found.append(f"{name!r} ({counts[name]} {plural}) looks like no label")
    fractions = [n for n in names if n not in confirmed and is_number(n) and not _is_whole(n)]
    once = len(fractions) > 2 and all(is_number(name) for name in names)
    once = once and all(counts[name] == 1 for name in fractions)
    if len(fractions) >= FRACTIONS or once:
        found.append(
            f"{len(fractions)} labels such as {fractions[1]!r} are numbers with fractions, "
            "measurements and no classes"
        )
    for name in names:
        parts = set(JOINED.split(name))
        several = LIST.fullmatch(name) or (len(parts) > 1 and parts <= counts.keys())
        if name not in confirmed and several:
            found.append(f"{name!r} ({counts[name]}) is perhaps several labels in one")
    if len(names) >= SINGLES and sum(counts.values()) == len(names):
        if not set(names) & confirmed and all(len(name.split()) > 2 for name in names):
            found.append(
                f"{len(names)} labels such as {names[0]!r:.60} occur once each, as texts do"
            )
        elif not set(names) & confirmed and all(map(DATE.fullmatch, names)):
            found.append(f"{len(names)} labels such as {names[0]!r} are dates, once each")
    if all(any(name.lower() in same for same in SAME) for name in names):
        for same in SAME:
            several = [name for name in names if name.lower() in same]
            if len({name.lower() for name in several}) > 1 and not set(several) <= confirmed:
                found.append(f"{' and '.join(map(repr, several))} are perhaps the same answer")
    for a, b in _alike(names):
        if {a, b} <= confirmed:
            continue
        often, rare = sorted((a, b), key=lambda name: -counts[name])
        both = f"{often!r} ({counts[often]}) and {rare!r} ({counts[rare]})"
        if is_number(a) or is_number(b):
            if {a, b} <= counted and whole_number(a) == whole_number(b):
                found.append(f"{both} are the same number")
            continue
        if _plain(a) == _plain(b):
            found.append(f"{both} {_difference(a, b)}")
        elif rare not in confirmed and _is_rare(counts[rare], counts[often]) and _one_slip(a, b):
            found.append(f"{both} differ by one letter")
    return found


def refuse_doubts(labels: Mapping[int, str], confirmed: Iterable[str] = ()) -> None:
    """Raise TableError if a label is perhaps no class of its own.

    Parameters
    ----------
    labels : mapping
        From row to label.
    confirmed : iterable of str
        Classes that are right as they stand.
    """
    found = doubts(Counter(labels.values()), confirmed)
    if found:
        more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
        raise TableError(
            f"some labels are perhaps no classes: {'; '.join(found[:MOST])}{more}. Map a label to "
            "another, say that it means no label, or confirm the class",
            ("map", "unlabeled", "class"),
        )


def table_of_classes(labels: Mapping[int, str], most: int = 12) -> str:
    """Say which classes there are, with their numbers of labels.

    Parameters
    ----------
    labels : mapping
        From row to label.
    most : int
        How many classes to show.

    Returns
    -------
    str
        The most frequent classes first, such as "cat 12, dog 3"; then how many have one label.

    Examples
    --------
    >>> table_of_classes({0: "cat", 1: "dog", 2: "cat", 3: "cow"})
    'cat 2, cow 1, dog 1 (2 classes with a single label)'
    """
    counts = sorted(Counter(labels.values()).items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{name} {count}" for name, count in counts[:most])
    if len(counts) > most:
        shown += f", ... ({len(counts)} classes)"
    single = sum(count == 1 for _, count in counts)
    if single and single < len(counts):
        shown += f" ({single} class{'es' if single > 1 else ''} with a single label)"
    return shown


def _alike(names):
    """Pairs of names that may be one class, in order; a comparison of all would take hours."""
    groups = defaultdict(list)
    for name in names:
        for key in _keys(name):
            groups[key].append(name)
    return sorted({pair for group in groups.values() for pair in combinations(group, 2)})


def _keys(name):
    """What a name shares with every name that differs by nothing that matters, or by one slip."""
    if is_number(name):
        return {whole_number(name)} - {None}
    keys, folded = {("plain", _plain(name))}, " ".join(name.casefold().split())
    if len(folded) <= LONGEST and max(map(len, folded.split()), default=0) >= SLIP:
        # one letter replaced, too many, or swapped with the next: without one letter they are equal
        keys |= {folded} | {
            folded[:k] + folded[k + 1 :] for k, letter in enumerate(folded) if letter.isalpha()
        }
    return keys


def _is_rare(few, many):
    """Whether a name with few labels may be a slip of one with many."""
    return RARE * few <= many or few == 1 < many


def _plain(name):
    bare = _visible(name).strip(AROUND) or name
    return re.sub(r"[\s_-]+", "", bare).casefold()


def _visible(name):
    """A name as the eye sees it."""
    letters = unicodedata.normalize("NFKC", name).translate(LOOKALIKES)
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def _difference(a, b):
    """How two names differ that are the same in plain letters."""
    if _visible(a) == _visible(b):
        return "look alike, but are stored as different characters"
    if a.lower() == b.lower():
        return "differ by case only"
    if re.sub(r"[\s_-]+", "", a).casefold() == re.sub(r"[\s_-]+", "", b).casefold():
        return "differ by spaces or hyphens only"
    return "differ by marks around them only"


def _is_whole(name):
    return float(name).is_integer()


def _one_slip(a, b):
    """Whether two names differ by one letter: replaced, too many, or two swapped."""
    a, b = a.casefold().split(), b.casefold().split()
    if len(a) != len(b):
        return False
    different = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if len(different) != 1:
        return False
    x, y = sorted(different[0], key=len)
    if len(x) < SLIP or len(y) - len(x) > 1:
        return False
    start = next((k for k, (u, v) in enumerate(zip(x, y, strict=False)) if u != v), len(x))
    changed = x[start : start + 1] + y[start : start + 1]
    if any(not letter.isalpha() for letter in changed):
        return False
    if len(x) < len(y):
        return x[start:] == y[start + 1 :]
    swapped = x[start : start + 2] == y[start : start + 2][::-1]
    return x[start + 1 :] == y[start + 1 :] or (swapped and x[start + 2 :] == y[start + 2 :])
