"""A notebook that was downloaded alone: the files that it reads come with the package.

Inside a checkout the notebooks read the registry ``book/claims.yml``, records of long runs, and the
tables that other notebooks published. The wheel carries copies of them (the build backend puts
them into ``files/``), and ``prepare`` lays them out as the checkout has them. The first cell of a
downloaded notebook calls it; inside a checkout it does nothing.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from firal.companion import checkout

FILES = Path(__file__).parent / "files"
FOLDER = "firal-notebook-files"


def prepare(files=None) -> Path | None:
    """Make the working folder one in which a notebook finds what it reads.

    Parameters
    ----------
    files : path_like, optional
        The folder with the copies; by default the one in the installed package.

    Returns
    -------
    Path or None
        The folder that was made beside the notebook, or None inside a checkout. A file that is
        already there is kept: it may be the record of a long run of yours.

    Raises
    ------
    ValueError
        If the package carries no copies, as an editable installation.

    Examples
    --------
    >>> from firal.companion import alone
    >>> alone.prepare()  # doctest: +SKIP
    """
    try:
        checkout.root()
    except ValueError:
        pass
    else:
        return None
    files = FILES if files is None else Path(files)
    if not (files / "book" / "claims.yml").is_file():
        raise ValueError(
            "this installation of firal carries no files for single notebooks: install the wheel, "
            "or open the notebook inside the repository"
        )
    folder = Path.cwd() / FOLDER
    for source in sorted(path for path in files.rglob("*") if path.is_file()):
        target = folder / source.relative_to(files)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    os.chdir(folder / "notebooks")
    return folder
