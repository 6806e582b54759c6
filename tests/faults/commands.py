"""Commands of ``firal`` that are disturbed; see scenarios.py for what the methods mean."""

import hashlib
import io
import os
import sys

import numpy as np
from sklearn.datasets import load_wine

from firal import cli
from firal.cli_rounds import write_batch
from firal.session.session import Session

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "white", "rose"])[Y]


def digests(folder, pattern="*"):
    """SHA-256 of the files that match, by name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    }


def events(folder):
    """The history without what differs from run to run."""
    session = Session(folder)
    rounds = [[r.number, list(map(int, r.rows)), r.strategy, r.known] for r in session.rounds]
    return rounds, {str(row): text for row, text in sorted(session.labels.items())}


class Command:
    """What all have."""

    more = ""


class Next(Command):
    """``firal next`` in a session with labels."""

    more = "s/round-0[0-9].csv"

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        session = Session.create(folder / "s", folder / "wine.npy")
        for _ in range(2):
            session.decide({int(row): NAMES[row] for row in session.next(6).rows})

    def run(self, folder):
        os.chdir(folder)
        return cli.main(["next", "5", "--session", "s", "--quiet"])

    def check(self, folder):
        rounds, labels = events(folder / "s")
        assert len(labels) == 12 and len(rounds) in (2, 3)
        whole = self.expected[1]
        for name, digest in digests(folder / "s", "round-*.csv").items():
            assert digest == whole[name], f"half a file {name}"

    def result(self, folder):
        rounds, labels = events(folder / "s")
        # a round that was recorded is kept, and the command picks one more
        files = digests(folder / "s", "round-*.csv")
        return [[rounds[:3], labels], {k: v for k, v in files.items() if k <= "round-03.csv"}]


class Label(Command):
    """``firal label``, answers from stdin."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        Session.create(folder / "s", folder / "wine.npy", strategy="random").next(150)

    def run(self, folder):
        os.chdir(folder)
        pending = Session("s").pending
        if not pending:
            return 0  # all was labeled before the fault
        sys.stdin = io.StringIO("".join(f"{NAMES[row]}\n" for row in pending))
        return cli.main(["label", "--session", "s", "--quiet"]) or len(Session("s").pending)

    def check(self, folder):
        session = Session(folder / "s")
        rows = session.rounds[0].rows
        assert list(session.labels) == list(rows[: len(session.labels)])
        assert all(text == NAMES[row] for row, text in session.labels.items())

    def result(self, folder):
        return events(folder / "s")


class Answers(Command):
    """``firal label FILE FILE`` with a class to confirm: all labels of the files, or none."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        session = Session.create(folder / "s", folder / "wine.npy", strategy="random")
        rows = list(map(int, session.next(60).rows))
        for name, part in (("a", rows[:30]), ("b", rows[30:])):
            lines = [f"{row},{'Red' if row == rows[40] else NAMES[row]}" for row in part]
            (folder / f"{name}.csv").write_text("\n".join(["row,label", *lines]))

    def run(self, folder):
        os.chdir(folder)
        confirmed = ["--class", "Red", "--class", "red"]
        return cli.main(["label", "a.csv", "b.csv", *confirmed, "--session", "s", "--quiet"])

    def check(self, folder):
        session = Session(folder / "s")
        assert len(session.labels) in (0, 60) and len(session.rounds[0].rows) == 60

    def result(self, folder):
        return events(folder / "s")


class Init(Command):
    """``firal init`` with labels that exist and held-out points."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        lines = ["row,label", *(f"{row},{NAMES[row]}" for row in range(0, 178, 9))]
        (folder / "y.csv").write_text("\n".join(lines))

    def run(self, folder):
        os.chdir(folder)
        if (folder / "s" / "settings.json").exists():  # begun before the fault
            for batch in Session("s").rounds:  # as ``firal next`` does
                write_batch(Session("s"), batch)
            return 0
        return cli.main(
            [
                "init",
                "wine.npy",
                "--labeled",
                "y.csv",
                "--hold-out",
                "8",
                "--session",
                "s",
                "--quiet",
            ]
        )

    def check(self, folder):
        if (folder / "s" / "settings.json").exists():
            assert self.result(folder) == self.expected, "half a session"

    def result(self, folder):
        return list(events(folder / "s"))


class Select(Command):
    """``firal select -o`` over an older result."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        lines = ["row,label", *(f"{row},{NAMES[row]}" for row in range(0, 178, 9))]
        (folder / "y.csv").write_text("\n".join(lines))
        (folder / "out.csv").write_text("an older result\n" * 40)

    def run(self, folder):
        os.chdir(folder)
        return cli.main(
            ["select", "wine.npy", "--labeled", "y.csv", "--budget", "20"]
            + ["--output", "out.csv", "--overwrite", "--quiet"]
        )

    def check(self, folder):
        old = b"an older result\n" * 40
        if (folder / "out.csv").read_bytes() != old:
            assert digests(folder, "out.csv") == self.expected, "half a result"

    def result(self, folder):
        return digests(folder, "out.csv")


class Report(Command):
    """``firal report`` and ``firal export``, over an older report."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        session = Session.create(folder / "s", folder / "wine.npy", strategy="random")
        for _ in range(2):
            session.decide({int(row): NAMES[row] for row in session.next(6).rows})
        (folder / "s" / "report.html").write_text("an older report\n" * 40)

    def run(self, folder):
        os.chdir(folder)
        code = cli.main(["report", "--session", "s", "--quiet"])
        for name in ("y.csv", "y.parquet"):
            code = code or cli.main(["export", name, "--session", "s", "--overwrite", "--quiet"])
        return code

    def check(self, folder):
        assert len(Session(folder / "s").labels) == 12
        old = (folder / "s" / "report.html").read_bytes() == b"an older report\n" * 40
        found, whole = self.result(folder), self.expected
        assert old or found["report.html"] == whole["report.html"], "half a report"
        for name in ("y.csv", "y.parquet"):
            assert found.get(name, whole[name]) == whole[name], f"half a file {name}"

    def result(self, folder):
        files = {**digests(folder, "y.csv"), **digests(folder, "y.parquet")}
        return files | digests(folder / "s", "report.html")
