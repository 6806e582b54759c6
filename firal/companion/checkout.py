"""Where the repository is, and what an executed notebook of it holds.

The notebooks, the book and the tools read the same few files again and again. Each version of a
file is parsed once per process: the cache goes by the content, so an edited file is read again.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path


def root() -> Path:
    """The repository that the working folder is in: the folder that has ``book/claims.yml``."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "book" / "claims.yml").is_file():
            return folder
    raise ValueError(
        "book/claims.yml was not found in the working folder or above it: "
        "run the notebook from inside the firal repository"
    )


def notebook_path(short, folder=None) -> Path:
    """The notebook with this short name: ``e12`` gives ``notebooks/e12_mnist60k.ipynb``."""
    folder = root() if folder is None else Path(folder)
    found = sorted((folder / "notebooks").glob(f"{short}_*.ipynb"))
    if len(found) != 1:
        raise ValueError(f"expected one notebook {short}_*.ipynb in notebooks/, got {len(found)}")
    return found[0]


def cells(path) -> list[dict]:
    """The cells of a stored notebook. They are shared: do not change them."""
    return _parsed(Path(path).read_text(encoding="utf8"))["cells"]


def displayed(path, mime) -> list:
    """What the outputs of a stored notebook hold under one MIME type, in order."""
    outputs = (output for cell in cells(path) for output in cell.get("outputs", ()))
    return [output["data"][mime] for output in outputs if mime in output.get("data", {})]


@lru_cache(maxsize=64)
def _parsed(text):
    return json.loads(text)
