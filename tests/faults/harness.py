"""Commands that are killed, interrupted or out of disk at random moments, many times in seconds.

    python tests/faults/harness.py SCENARIO FAULTS TRIALS SEED FOLDER

FAULTS are some of "kill", "interrupt", "large file" (no file may grow beyond a size) and "full
disk" (a small one of its own, which needs the right to mount), with commas, which take turns, or
"each step". Everything is imported once. Each trial copies what the scenario prepared, runs its
command in a forked process, lets the fault happen at a moment drawn from the seed, checks what is
left, runs the command again, and compares the result and the names of all files with those of an
undisturbed run. The fault
"each step" draws nothing: trial k is killed just before the k-th change of a file or folder, until
all had their turn. Prints one line of JSON: the number of faults that hit, and what went wrong.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from scenarios import SCENARIOS

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link"}
PAGE = os.sysconf("SC_PAGE_SIZE")
CHILDREN = []  # process groups of this trial
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT}


def forked(work, limit=None, silent=True):
    """Start ``work()`` in a process of its own; returns its number."""
    number = os.fork()
    if number:
        CHILDREN.append(number)
        return number
    code = 99
    try:
        os.setpgid(0, 0)  # with its own children
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if silent:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if limit is not None:  # a file cannot grow beyond: the write fails in the middle
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        code = work() or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(number, before=float("inf")):
    """Wait for a process; its exit code, or None if it still runs at that time."""
    while True:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= before:
            return None
        time.sleep(0.0005)


def in_child(work):
    """Run ``work()`` in another process; its result, plain values, or an error as text."""
    read, write = os.pipe()

    def send():
        try:
            text = json.dumps([work(), None])
        except BaseException:
            text = json.dumps([None, traceback.format_exc(limit=-3)])
        with os.fdopen(write, "w") as out:
            out.write(text)

    number = forked(send, silent=True)
    os.close(write)
    with os.fdopen(read) as source:
        text = source.read()
    ended(number)
    return json.loads(text) if text else [None, "the process died"]


def killed_at(step, work):
    """``work()`` in a process that ends just before this change of the disk."""

    def count(event, arguments):
        nonlocal step
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
        if writes or event in CHANGES:
            step -= 1
            if step < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def run():
        sys.addaudithook(count)
        return work()

    return forked(run)


def pages(paths):
    """How many pages of memory these files take on a disk in memory."""
    return sum(-(-path.stat().st_size // PAGE) for path in paths if path.is_file())


def disk(folder, size, *options):
    """Give a disk in memory so many pages."""
    options = ",".join([*options, f"size={size * PAGE}"])
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def on_full_disk(scenario, folder, rng, made):
    """The exit code of a command on a disk that is full at some moment, and has room again."""
    used = pages(folder.rglob("*"))
    # files are written beside their names: old and new are there for a moment
    disk(folder, max(used + int(rng.integers(2 * made + 1)), 1), "remount")  # 0 is no limit
    temporary = folder / "temporary"
    temporary.mkdir()

    def run():
        tempfile.tempdir = str(temporary)
        return scenario.run(folder)

    code = ended(forked(run))
    disk(folder, used + 100 * (made + 100), "remount")
    return code


def trial(scenario, fault, folder, rng, seconds, sizes, k):
    """One fault; True if it hit, and what went wrong or None."""
    if fault == "full disk":
        code = on_full_disk(scenario, folder, rng, scenario.made)
        hit = code != 0
    elif fault == "large file":
        limit = int(rng.choice(sizes)) if rng.random() < 0.3 else int(rng.integers(max(sizes) + 1))
        code = ended(forked(lambda: scenario.run(folder), limit))
        hit = code != 0
    elif fault == "each step":
        code = ended(killed_at(k, lambda: scenario.run(folder)))
        hit = code == -signal.SIGKILL
    else:
        number = forked(lambda: scenario.run(folder))
        code = ended(number, time.monotonic() + rng.uniform(0, 1.05 * seconds))
        hit = code is None
        if hit:
            os.kill(number, SIGNALS[fault])
            code = ended(number, time.monotonic() + 60)
            if code is None:
                os.kill(number, signal.SIGKILL)
                ended(number)
                return hit, "still running after a minute"
    for step in (scenario.check, scenario.run if code != 0 else None):
        if step is not None:
            found, error = in_child(lambda step=step: step(folder))
            if error or found:
                return hit, f"after code {code}: {error or f'again code {found}'}"
    left = {n for n in names(folder) - scenario.left if not fnmatch(n, scenario.more)}
    if left:
        return hit, f"after code {code}: {sorted(left)[:5]} is left"
    result, error = in_child(lambda: scenario.result(folder))
    if error:
        return hit, error
    return hit, None if result == scenario.expected else f"another result: {str(result)[:300]}"


def names(folder):
    """Names of all files and folders, as an undisturbed run has them too."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return {name for name in found if name.split("/")[0] != "temporary"}


def is_new(path, before):
    return not before.is_file() or path.read_bytes() != before.read_bytes()


def main(name, faults, trials, seed, folder):
    faults = faults.split(",")
    scenario, folder, rng = SCENARIOS[name](), Path(folder), np.random.default_rng(int(seed))
    template = folder / "template"
    template.mkdir(parents=True)
    _, error = in_child(lambda: scenario.prepare(template))
    assert not error, error
    # what an undisturbed run gives, how long it takes, and how large its files are
    whole = shutil.copytree(template, folder / "whole")
    start = time.monotonic()
    code = ended(forked(lambda: scenario.run(whole), silent=False))
    seconds = time.monotonic() - start
    assert code == 0, code
    scenario.left = names(whole)
    scenario.expected, error = in_child(lambda: scenario.result(whole))
    assert not error, error
    made = [
        p for p in whole.rglob("*") if p.is_file() and is_new(p, template / p.relative_to(whole))
    ]
    sizes = sorted({0, 100} | {p.stat().st_size for p in made})
    scenario.made = pages(made)
    hits, wrong = 0, []
    for k in range(int(trials)):
        place, fault = folder / f"trial{k}", faults[k % len(faults)]
        place.mkdir()
        if fault == "full disk":
            disk(place, 10**6)
        shutil.copytree(template, place, dirs_exist_ok=True)
        start = time.monotonic()
        hit, problem = trial(scenario, fault, place, rng, seconds, sizes, k)
        if not hit:  # all went quicker than at first, when files were not in the cache
            seconds = min(seconds, time.monotonic() - start)
        hits += hit
        if problem:
            wrong.append(f"trial {k}, {fault}: {problem}")
        while CHILDREN:  # what a killed command has left behind
            with suppress(ProcessLookupError):
                os.killpg(CHILDREN.pop(), signal.SIGKILL)
        if fault == "full disk":
            subprocess.run(["umount", "--lazy", place], check=True)
        shutil.rmtree(place, ignore_errors=True)
        if fault == "each step" and not hit:
            break
    print(json.dumps({"hits": hits, "wrong": wrong, "seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
