"""A change of these extensions makes all pages be read and written again.

Sphinx looks at the sources of a page only. Without this, an extension that has changed leaves what
its last version made.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any


def version_of(folder: Path) -> int:
    """A number that changes with every file of code in a folder.

    Parameters
    ----------
    folder : Path
        Where the extensions are.

    Returns
    -------
    int
        Positive.
    """
    number = 0
    for path in sorted(folder.glob("*.py")):
        number = zlib.crc32(path.name.encode() + path.read_bytes(), number)
    return number + 1


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx compares with the version of the last build."""
    return {
        "env_version": version_of(Path(__file__).parent),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
