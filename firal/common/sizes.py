"""Memory of the machine; bytes and durations in words."""

from __future__ import annotations

import os


def total_memory() -> int | None:
    """Memory of this machine.

    Returns
    -------
    int or None
        Bytes; None if the system does not say.
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def size_text(size: float) -> str:
    """Write a number of bytes.

    Parameters
    ----------
    size : float
        Bytes.

    Returns
    -------
    str
        In MB or GB.

    Examples
    --------
    >>> size_text(3.2e8), size_text(3.29e11)
    ('320 MB', '329 GB')
    """
    if size < 1e9:
        return f"{max(size / 1e6, 1):.0f} MB"
    return f"{size / 1e9:.1f} GB" if size < 1e10 else f"{size / 1e9:.0f} GB"


def time_text(seconds: float) -> str:
    """Write a rough duration.

    Parameters
    ----------
    seconds : float
        The duration.

    Returns
    -------
    str
        In the unit that fits, such as "about 20 s".

    Examples
    --------
    >>> [time_text(seconds) for seconds in (0.2, 23, 400, 9000)]
    ['about 1 s', 'about 20 s', 'about 7 min', 'about 2 h']
    """
    if seconds < 1.5:
        return "about 1 s"
    if seconds < 90:
        digits = seconds if seconds < 10 else 10 * round(seconds / 10)
        return f"about {digits:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"
