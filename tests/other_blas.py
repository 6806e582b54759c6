"""Another BLAS and LAPACK below the wheels of numpy and scipy, for comparison of picks.

    python tests/other_blas.py FOLDER LIBRARIES   prints the file for LD_PRELOAD

The wheels bring OpenBLAS with names such as ``scipy_dgemm_64_``. This makes, with gcc, a library
that has these names and jumps to ``dgemm_`` of other libraries: those of the distribution, such as
Debian's ``libblas3``, ``liblapack3`` (32-bit integers, scipy) and ``libblas64-3``,
``liblapack64-3`` (64-bit integers, numpy). LIBRARIES are folders in which they are searched.
"""

import re
import subprocess
import sys
from pathlib import Path

WIDE = ("libblas64.so.3", "liblapack64.so.3")
NARROW = ("libblas.so.3", "liblapack.so.3")

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void *jump_to[{count}];
static const char *names[] = {{{names}}};
static const int library[] = {{{numbers}}};
static void *open_or_end(const char *path) {{
    void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!found) {{ fprintf(stderr, "%s\\n", dlerror()); exit(77); }}
    return found;
}}
__attribute__((constructor)) static void load(void) {{
    void *opened[{opened}];
    const char *paths[] = {{{paths}}};
    for (int k = 0; k < {opened}; k++) opened[k] = open_or_end(paths[k]);
    for (int k = 0; k < {count}; k++) {{
        jump_to[k] = dlsym(opened[library[k]], names[k]);
        if (!jump_to[k]) {{ fprintf(stderr, "no %s\\n", names[k]); exit(77); }}
    }}
}}
{stubs}
"""
STUB = (
    '__asm__(".globl {name}\\n{name}: mov jump_to@GOTPCREL(%rip), %r11\\n jmp *{offset}(%r11)\\n");'
)


def symbols(file, kind):
    """Names that a shared library has ("defined") or wants ("undefined")."""
    command = ["nm", "-D", f"--{kind}-only", str(file)]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return {line.split()[-1].partition("@")[0] for line in text.splitlines() if line.split()}


def plain(name):
    """``dgemm_`` of ``scipy_dgemm_64_``, and whether its integers have 64 bits."""
    found = re.fullmatch(r"scipy_(.*?)(64_)?", name)
    return found.group(1), found.group(2) is not None


def find(name, folders):
    """The file of this name in one of the folders, or None."""
    return next((Path(f) / name for f in folders if (Path(f) / name).is_file()), None)


def make(folder, folders):
    """Write the library into ``folder``; its path, or None if something that it needs is absent."""
    import numpy
    import scipy

    libraries = [find(name, folders) for name in (*WIDE, *NARROW)]
    if None in libraries:
        return None
    wanted = set()
    for package in (numpy, scipy):
        for file in Path(package.__file__).parent.rglob("*.so"):
            wanted |= {n for n in symbols(file, "undefined") if n.startswith("scipy_")}
    has, table = [symbols(file, "defined") for file in libraries], []
    for name in sorted(wanted):
        target, wide = plain(name)
        for k in (0, 1) if wide else (2, 3):
            if target in has[k]:
                table.append((name, target, k))
                break
    source = SOURCE.format(
        count=len(table),
        opened=len(libraries),
        names=", ".join(f'"{target}"' for _, target, _ in table),
        numbers=", ".join(str(k) for *_, k in table),
        paths=", ".join(f'"{path}"' for path in libraries),
        stubs="\n".join(STUB.format(name=name, offset=8 * k) for k, (name, *_) in enumerate(table)),
    )
    (Path(folder) / "other_blas.c").write_text(source)
    made = Path(folder) / "libother_blas.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", made, Path(folder) / "other_blas.c", "-ldl"]
    try:
        done = subprocess.run(command, capture_output=True)
    except FileNotFoundError:
        return None
    return made if done.returncode == 0 else None


if __name__ == "__main__":
    print(make(sys.argv[1], sys.argv[2:]))
