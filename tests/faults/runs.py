"""Long runs that are disturbed; see scenarios.py for what the methods mean."""

import os
import sys
import time
from pathlib import Path

import numpy as np
from commands import Command, X, Y, digests

from firal.companion import records, table_records
from firal.companion.prepare import pool_file
from firal.companion.table_runs import Runs
from firal.loop import compare
from firal.trial import Round

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book" / "_tools"), str(ROOT / "tests" / "book")]


class Prepare(Command):
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


class Records(Command):
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


class Compare(Command):
    """``firal.loop.compare`` with a store, in which joblib leaves parts that it never reads."""

    more = "store/*"

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


class Notebooks(Command):
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
