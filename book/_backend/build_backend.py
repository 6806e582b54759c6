"""The build backend: setuptools, after it put into the package what single notebooks read.

``pyproject.toml`` names it. In a checkout the files are collected again for every wheel and every
source archive; in an unpacked source archive, which has no ``book/``, they are there already.
Only the standard library and setuptools are imported, because nothing else is installed then.
"""

import ast
import json
import shutil
from pathlib import Path

from setuptools import build_meta as _setuptools
from setuptools.build_meta import (  # noqa: F401
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "firal" / "companion" / "alone" / "files"
TABLE = "application/vnd.firal.table+json"  # ``firal.companion.stored.MIME``


def declared_inputs(root):
    """What ``profiles.INPUTS`` declares, read without importing firal."""
    code = (root / "firal" / "companion" / "profiles.py").read_text(encoding="utf8")
    names = {"INPUTS", "RECORDS"}
    found = [
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and node.targets[0].id in names
    ]
    space = {}
    exec(compile(ast.Module(found, type_ignores=[]), "profiles.py", "exec"), space)
    return sorted({item for items in space["INPUTS"].values() for item in items})


def with_tables_only(notebook):
    """A stored notebook without anything but the tables that others read."""
    cells = []
    for cell in notebook["cells"]:
        tables = [o for o in cell.get("outputs", ()) if TABLE in o.get("data", {})]
        for output in tables:
            output["data"] = {TABLE: output["data"][TABLE]}
        if tables:
            cells.append({**cell, "outputs": tables, "source": []})
    return {**notebook, "cells": cells, "metadata": {}}


def collect(root=ROOT, files=FILES):
    """Copy what the notebooks read into ``files``; nothing to do outside a checkout."""
    if not (root / "book" / "claims.yml").is_file():
        return
    shutil.rmtree(files, ignore_errors=True)
    names = [name for name in declared_inputs(root) if "/" in name]
    for name in ["book/claims.yml", *names]:
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, files / name)
    (files / "notebooks").mkdir(exist_ok=True)
    for short in declared_inputs(root):
        for path in (root / "notebooks").glob(f"{short}_*.ipynb"):
            tables = with_tables_only(json.loads(path.read_text(encoding="utf8")))
            (files / "notebooks" / path.name).write_text(json.dumps(tables), encoding="utf8")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    collect()
    return _setuptools.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """What setuptools would leave out or put in by itself: there is a manifest for a moment.

    It leaves out this file. It puts in ``tests/test_*.py``, which cannot run without the rest.
    """
    collect()
    manifest = ROOT / "MANIFEST.in"
    own = Path(__file__).resolve().relative_to(ROOT).as_posix()
    manifest.write_text(f"include {own}\nprune tests\n", encoding="utf8")
    try:
        return _setuptools.build_sdist(sdist_directory, config_settings)
    finally:
        manifest.unlink()
