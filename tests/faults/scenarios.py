"""What is disturbed: how it is prepared, run, checked right after the fault, and what it gives.

``run`` is the command; run again it must finish the work. ``check`` raises if something is lost or
half-written. ``result`` is what an undisturbed run gives, in plain values.
"""

import hashlib
import io
import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

from firal import cli
from firal.companion import records, table_records
from firal.companion.prepare import pool_file
from firal.companion.table_runs import Runs
from firal.loop import compare
from firal.session.session import Session
from firal.trial import Round

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book" / "_tools"), str(ROOT / "tests" / "book")]

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


class Next:
    """``firal next`` in a session with labels."""

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


class Label:
    """``firal label``, answers from stdin."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        Session.create(folder / "s", folder / "wine.npy", strategy="random").next(20)

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


class Init:
    """``firal init`` with labels that exist and held-out points."""

    def prepare(self, folder):
        np.save(folder / "wine.npy", X)
        lines = ["row,label", *(f"{row},{NAMES[row]}" for row in range(0, 178, 9))]
        (folder / "y.csv").write_text("\n".join(lines))

    def run(self, folder):
        os.chdir(folder)
        if (folder / "s" / "settings.json").exists():  # all was done before the fault
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


class Select:
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


class Prepare:
    """``make data``: a pool of small pictures, features of a plug-in."""

    def prepare(self, folder):
        from PIL import Image

        rng = np.random.default_rng(0)
        for k in range(10):
            (folder / "images" / f"class{k}").mkdir(parents=True)
            for i in range(30):
                pixels = rng.integers(256, size=(8, 8, 3)).astype(np.uint8)
                Image.fromarray(pixels).save(folder / "images" / f"class{k}" / f"{i}.png")
        (folder / "net.py").write_text(
            "import numpy as np\n"
            "weights = np.random.default_rng(1).normal(size=(3072, 5))\n"
            "def features(images):\n"
            "    return images.reshape(len(images), -1) / 255 @ weights\n"
        )

    def run(self, folder):
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        os.environ["FIRAL_DATA"] = str(folder / "data")
        pool_file.NEIGHBORS, pool_file.CHUNK = 20, 40
        options = ["--images", "images", "--features", "net:features", "--kind", "supervised"]
        return pool_file.main(["cifar10", *options])

    def check(self, folder):
        for name, digest in digests(folder / "data", "*.npz").items():
            assert digest == self.expected[0][name], f"half a file {name}"

    def result(self, folder):
        data = folder / "data"
        assert not (data / "cifar10.work").exists(), "unfinished work is left"
        return [digests(data, "*.npz"), (data / "SHA256SUMS").read_text()]


class Records:
    """A comparison of hours in miniature, kept after every trial."""

    path = "runs.npz"

    def prepare(self, folder):
        pass

    def compute(self, trial, strategies):
        time.sleep(0.01)
        numbers = dict(n_labels=5, fir=1.0, classes=2, new_classes=0, seconds=1.0)
        return [
            Round(
                strategy=s,
                trial=trial,
                round=k,
                accuracy=trial + k / 8,
                picked=np.arange(300) + k,
                eta=None,
                z=None,
                **numbers,
            )
            for s in strategies
            for k in range(3)
        ]

    def run(self, folder):
        records.complete_runs(
            folder / self.path,
            "all",
            {"seed": 0},
            self.compute,
            strategies=["random", "firal"],
            trials=6,
            rounds=2,
        )
        return 0

    def check(self, folder):
        """What is there can be read, and holds whole trials."""
        if (folder / self.path).exists():
            rounds = records._rounds(records._recorded(folder / self.path, {"seed": 0}), "all")
            assert len(rounds) % 6 == 0 and [r.trial for r in rounds] == sorted(
                r.trial for r in rounds
            )

    def result(self, folder):
        found = records.load_runs(
            folder / self.path,
            "all",
            {"seed": 0},
            strategies=["random", "firal"],
            trials=6,
            rounds=2,
        )
        return [[r.strategy, r.trial, r.round, r.accuracy, r.picked.tolist()] for r in found]


class Tables(Records):
    """The same for the runs on tables."""

    names = ("a", "b", "c", "d", "e")

    def one(self, X, y):
        time.sleep(0.01)
        numbers = np.full((2, 1, 3), float(y))
        picks = np.arange(2 * 200).reshape(2, 1, 200)
        return Runs(("x", "z"), numbers, numbers, picks, np.ones(2), np.zeros(2), np.arange(4))

    def run(self, folder):
        table_records.complete(
            folder / self.path,
            self.names,
            lambda name: (None, self.names.index(name)),
            {"seed": 0},
            self.one,
        )
        return 0

    def check(self, folder):
        if (folder / self.path).exists():
            found = table_records.read(folder / self.path, {"seed": 0})
            assert list(found) == list(self.names[: len(found)])

    def result(self, folder):
        found = table_records.read(folder / self.path, {"seed": 0})
        return {name: [runs.accuracy.tolist(), runs.picks.tolist()] for name, runs in found.items()}


class Compare:
    """``firal.loop.compare`` with a store."""

    def prepare(self, folder):
        pass

    def run(self, folder):
        self.rounds(folder)
        return 0

    def rounds(self, folder):
        return compare(
            X[:, :4] - X[:, :4].mean(axis=0),
            Y,
            trials=3,
            rounds=2,
            batch=5,
            seed=0,
            strategies=("random", "entropy", "kmeans"),
            store=folder / "store",
        )

    def check(self, folder):
        pass

    def result(self, folder):
        return [[r.strategy, r.trial, r.accuracy, r.picked.tolist()] for r in self.rounds(folder)]


class Notebooks:
    """``make book``: two notebooks, of which those that are finished are not run again."""

    def prepare(self, folder):
        from small_tree import write_notebook

        for name in ("t01_x", "t02_y"):
            code = "import numpy; numpy.random.default_rng(0).normal()"
            write_notebook(folder / f"{name}.ipynb", code)

    def run(self, folder):
        from run_notebooks import run_all

        todo = [n for n in sorted(folder.glob("*.ipynb")) if not (folder / "out" / n.name).exists()]
        return len(run_all(todo, profile="smoke", out=folder / "out", jobs=1)) if todo else 0

    def check(self, folder):
        for name, digest in digests(folder / "out", "*.ipynb").items():
            assert digest == self.expected[name], f"half a notebook {name}"

    def result(self, folder):
        return digests(folder / "out", "*.ipynb")


SCENARIOS = {
    kind.__name__.lower(): kind
    for kind in (Next, Label, Init, Select, Prepare, Records, Tables, Compare, Notebooks)
}
