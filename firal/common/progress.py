"""How far a long computation is: a tqdm bar, the caller's own function, or nothing."""

from __future__ import annotations

from collections.abc import Callable


def reporter(progress: bool | Callable | None) -> tuple[Callable, _Bar | None]:
    """Turn the user's ``progress`` argument into a function to call.

    Parameters
    ----------
    progress : bool, callable or None
        True for a tqdm bar, a function of (stage, done, total), or None or False for silence.

    Returns
    -------
    tuple of callable and bar or None
        The function to call as (stage, done, total), and the bar to close at the end, if any.

    Raises
    ------
    ValueError
        If ``progress`` is something else.
    """
    if progress is None or progress is False:
        return lambda stage, done, total: None, None
    if progress is True:
        bar = _Bar()
        return bar, bar
    if not callable(progress):
        raise ValueError(
            f"progress must be None, True or a function of (stage, done, total), got {progress!r}"
        )
    return progress, None


class _Bar:
    """A tqdm bar; every stage starts a new one."""

    def __init__(self):
        from tqdm.auto import tqdm  # only needed when a bar is asked for

        self.tqdm, self.stage, self.bar = tqdm, None, None

    def __call__(self, stage, done, total):
        if stage != self.stage:
            self.close()
            known = None if stage == "relax" else total  # gradients end when the gap is reached
            self.stage, self.bar = stage, self.tqdm(total=known, desc=stage)
        self.bar.update(done - self.bar.n)

    def close(self):
        if self.bar is not None:
            self.bar.close()
