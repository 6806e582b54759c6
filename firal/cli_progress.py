"""What the command shows while it works, and how it ends at once when it is interrupted.

**Progress.** Nothing for two seconds. Then a line that is rewritten on a terminal, or else a plain
line after 2, 5, 10, 20 and 40 seconds and every minute. A thread of its own shows it, so also one
long matrix operation is seen to run.

**Ctrl-C.** Python hears of it between two of its own steps only, and one factorization of a large
matrix is a single step of a minute, during which no thread of Python may run either. So a small
process waits for the signal. If the computation has not stopped by itself within a second, a thread
ends it with exit code 130; and if no thread can run, the small process kills it, and the exit code
is 137. Files are written all or nothing, so nothing is lost by it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

FIRST = 2.0  # seconds before anything is shown
LATER = (5.0, 10.0, 20.0, 40.0)  # of plain lines; then every minute
REFRESH = 0.5  # of a line on a terminal
GRACE = 0.8  # seconds between Ctrl-C and the end, and again as long if no thread can run
WATCHDOG = """
import os, select, sys
signals, bark, parent, grace, wanted = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
def ended():
    ready = select.select([signals], [], [], float(grace))[0]
    return bool(ready) and not os.read(signals, 1)
while byte := os.read(signals, 1):
    if byte[0] == int(wanted):
        if ended():
            break
        os.write(bark, b"!")
        if ended():
            break
        sys.stderr.write("\\nfiral: error: interrupted\\n")
        sys.stderr.flush()
        os.kill(int(parent), 9)
"""
STAGES = {"relax": "weighing the points", "sparsify": "picking", "greedy": "picking"}
STAGES |= {"cluster": "finding clusters", "forms": "comparing the points"}


class Ticker:
    """Says what is going on. Call it as ``progress(stage, done, total)``.

    Parameters
    ----------
    stream : text file
        Where to write.
    shown : bool
        False is silence.
    terminal : bool, optional
        Whether the line may be rewritten; by default whether the stream is a terminal.
    """

    def __init__(self, stream: TextIO, shown: bool = True, terminal: bool | None = None) -> None:
        self.stream, self.shown = stream, shown and stream is not None
        self.terminal = self.shown and stream.isatty() if terminal is None else terminal
        self.began = self.stage_began = time.monotonic()
        self.stage, self.done, self.total, self.width = "starting", 0, 0, 0
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Ticker:
        if self.shown:
            try:
                self.thread.start()
            except RuntimeError:  # a browser's Python has no threads, and shows no progress
                self.shown = False
        return self

    def __exit__(self, *_: object) -> None:
        self.end.set()
        if self.shown:
            self.thread.join()
            self._clear()

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Take note of a stage, and of how far it is.

        Parameters
        ----------
        stage : str
            What is being done.
        done, total : int
            Steps done, and in all; 0 if that is not known.
        """
        if stage != self.stage:
            self.stage, self.stage_began = stage, time.monotonic()
        self.done, self.total = done, 0 if stage == "relax" else total  # relax ends when it is good

    def text(self) -> str:
        """Say what is going on.

        Returns
        -------
        str
            The stage, how far it is, the seconds so far, and the seconds left if they are known.
        """
        now = time.monotonic()
        parts = [STAGES.get(self.stage, self.stage)]
        if self.total:
            parts[0] += f", {self.done} of {self.total}"
        elif self.done:
            parts[0] += f", step {self.done}"
        parts.append(f"{now - self.began:.0f} s so far")
        if self.total and self.done:
            left = (now - self.stage_began) * (self.total - self.done) / self.done
            parts.append(f"about {left:.0f} s left")
        return "firal: " + ", ".join(parts)

    def _run(self):
        pauses = iter((FIRST, *(b - a for a, b in zip((FIRST, *LATER), LATER, strict=False))))
        pause = next(pauses)
        while not self.end.wait(pause):
            if self.terminal:
                pause = REFRESH
                text = self.text()
                self.stream.write("\r" + text.ljust(self.width))
                self.width = len(text)
            else:
                pause = next(pauses, 60.0)
                self.stream.write(self.text() + "\n")
            self.stream.flush()

    def _clear(self):
        if self.terminal and self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Context in which Ctrl-C ends the process within two seconds, whatever it is doing.

    Yields
    ------
    None
        Outside the main thread, where no signal arrives, without POSIX signals, and where neither a
        process nor a thread can be started, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        yield
        return
    try:
        end = _watch()
    except (OSError, RuntimeError):  # a browser's Python has neither processes nor threads
        yield
        return
    try:
        yield
    finally:
        end()


def _watch():
    """Start the process and the thread that wait for the signal; returns what ends them."""
    (from_signal, signaled), (from_watchdog, barked) = os.pipe(), os.pipe()
    pipes = {from_signal, signaled, from_watchdog, barked}
    arguments = map(str, (from_signal, barked, os.getpid(), GRACE, int(signal.SIGINT)))

    def wait():
        if os.read(from_watchdog, 1):
            sys.stderr.write("\nfiral: error: interrupted\n")
            sys.stderr.flush()
            os._exit(130)
        os.close(from_watchdog)

    watchdog = None
    try:
        watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCHDOG, *arguments],
            pass_fds=(from_signal, barked),
            start_new_session=True,  # the Ctrl-C of a terminal is not for it
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        threading.Thread(target=wait, daemon=True).start()
    except (OSError, RuntimeError):
        for pipe in pipes:  # the watchdog ends by this
            os.close(pipe)
        if watchdog is not None:
            watchdog.wait()
        raise
    os.close(from_signal)
    os.close(barked)
    os.set_blocking(signaled, False)
    before = signal.set_wakeup_fd(signaled, warn_on_full_buffer=False)

    def end():
        signal.set_wakeup_fd(before)
        os.close(signaled)  # the watchdog ends by this
        watchdog.wait()

    return end
