"""Labeling on a real terminal: one key per answer, whatever the keyboard sends."""

import io
import os
import threading
import time

import pytest

from firal import cli_labeling

termios = pytest.importorskip("termios")


@pytest.fixture
def terminal():
    """The end of the user, and the function that asks at the other end."""
    user, program = os.openpty()
    with open(program) as source:
        yield user, cli_labeling.keyboard(source, io.StringIO())
    os.close(user)


def press(user, *keys):
    """Send the keys, each when a single key is waited for."""

    def send():
        for key in keys:
            deadline = time.monotonic() + 20
            while termios.tcgetattr(user)[3] & termios.ICANON and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(0.1)  # longer than the rest of a sequence takes
            os.write(user, key)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"1", "1"),
        (b"valve", "v"),  # a word that is pasted is no class
        ("\u00f6".encode(), "\u00f6"),
        ("\u00f6l".encode(), "\u00f6"),
        (b"\n", ""),
        (b"\r", ""),
    ],
)
def test_one_key(terminal, sent, answer):
    user, ask = terminal
    thread = press(user, sent)
    assert ask("> ") == answer
    thread.join()


@pytest.mark.parametrize("sent", [b"\x1b[A", b"\x1bOP", b"\x1b[15~", b"\x1b"])
def test_arrows_and_function_keys_are_no_answer(terminal, sent):
    user, ask = terminal
    thread = press(user, sent, b"2")
    assert ask("> ") == "2"
    thread.join()


def test_the_end_of_input(terminal):
    user, ask = terminal
    thread = press(user, b"\x04")
    with pytest.raises(EOFError):
        ask("> ")
    thread.join()
    assert termios.tcgetattr(user)[3] & termios.ICANON  # and the terminal is as before
