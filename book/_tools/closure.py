"""Which modules of ``firal`` does a piece of code depend on?

Imports are followed through the syntax tree, also those inside functions, from module to module.
A public name such as ``firal.fit`` leads to the module that defines it, by the imports in
``firal/__init__.py``: code that uses only ``firal.fit`` does not depend on the rest of the package.
Where ``firal`` is used in a way that cannot be followed, the code depends on the whole package,
except ``companion``, which the package itself does not load.
"""

import ast
import sys
from functools import lru_cache

PACKAGE = "firal"

parse = lru_cache(maxsize=1024)(ast.parse)  # by the text: an edited file is parsed again


@lru_cache(maxsize=1024)
def nodes(tree):
    """All nodes of a tree. Every notebook asks for those of nearly every module."""
    return tuple(ast.walk(tree))


class Package:
    """The files of ``firal`` below a repository, and what its public names stand for."""

    def __init__(self, root):
        self.files = {}
        for file in sorted((root / PACKAGE).rglob("*.py")):
            *folders, name = file.relative_to(root).with_suffix("").parts
            self.files[".".join(folders if name == "__init__" else [*folders, name])] = file
        self.everything = {
            name for name in self.files if not f"{name}.".startswith(f"{PACKAGE}.companion.")
        }
        self.public = {}
        if PACKAGE in self.files:
            for node in nodes(self.tree(PACKAGE)):
                if isinstance(node, ast.ImportFrom):
                    base = self._base(node, PACKAGE)
                    for alias in node.names:
                        found = {name for name in (base, f"{base}.{alias.name}") if name in self}
                        self.public[alias.asname or alias.name] = found

    def __contains__(self, name):
        return name in self.files

    def tree(self, name):
        return parse(self.files[name].read_text(encoding="utf8"))

    def closure(self, trees):
        """All modules that these syntax trees depend on, directly or through other modules."""
        waiting = set().union(*(self._direct(tree) for tree in trees))
        found = set()
        while waiting:
            name = waiting.pop()
            found.add(name)
            if name == PACKAGE:
                continue  # its imports are the table of public names: followed where one is used
            parent = name.rpartition(".")[0]
            needed = self._direct(self.tree(name), name)
            if parent != PACKAGE:
                needed.add(parent)  # Python imports the package before the module
            waiting |= needed - found
        return found

    def _direct(self, tree, own=None):
        """Modules that one tree imports or reaches as ``firal.name``; ``own`` is its own name."""
        found, package_names = set(), set()
        for node in nodes(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] != PACKAGE:
                        continue
                    if alias.name == PACKAGE or alias.asname is None:
                        package_names.add(alias.asname or PACKAGE)
                    if alias.name != PACKAGE:
                        found |= self._module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node, own)
                for alias in node.names if base.split(".")[0] == PACKAGE else ():
                    if base == PACKAGE:
                        found |= self._member(alias.name)
                    else:
                        found |= self._module(base)
                        if f"{base}.{alias.name}" in self:
                            found.add(f"{base}.{alias.name}")
        return found | (self._attributes(tree, package_names) if package_names else set())

    def _attributes(self, tree, package_names):
        """Modules behind ``firal.a.b``, where ``firal`` is one of ``package_names``."""
        found, followed = set(), set()
        for node in nodes(tree):
            if isinstance(node, ast.Attribute):
                chain, inner = [node.attr], node.value
                while isinstance(inner, ast.Attribute):
                    chain.append(inner.attr)
                    inner = inner.value
                if isinstance(inner, ast.Name) and inner.id in package_names:
                    followed.add(inner)
                    first, *rest = reversed(chain)
                    found |= self._member(first)
                    module = f"{PACKAGE}.{first}"
                    for part in rest:
                        module = f"{module}.{part}"
                        if module in self:
                            found.add(module)
        for node in nodes(tree):
            if isinstance(node, ast.Name) and node.id in package_names and node not in followed:
                found |= self.everything  # such as getattr(firal, name)
        return found

    def _member(self, name):
        """Modules behind ``firal.name``: a module, a public name, or a name such as __version__."""
        found = self.public.get(name, set()) | ({f"{PACKAGE}.{name}"} & self.files.keys())
        if found:
            return found
        return {PACKAGE} if name.startswith("__") else self.everything

    def _module(self, name):
        return {name} if name in self else self.everything

    def _base(self, node, own):
        """The absolute name of the module that ``from ... import`` names."""
        if not node.level:
            return node.module
        parts = own.split(".")
        if self.files[own].name == "__init__.py":
            parts.append("__init__")
        return ".".join([*parts[: -node.level], *filter(None, [node.module])])


def third_party(trees):
    """Top-level names that these trees import from outside ``firal`` and the standard library.

    A package may also be named by a text: ``find_spec("mlxtend")``.
    """
    found = set().union(*map(_imported, trees))
    return found - sys.stdlib_module_names - {PACKAGE}


@lru_cache(maxsize=1024)
def _imported(tree):
    found = set()
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("find_spec", "files", "import_module"):
                found.add(str(node.args[0].value).split(".")[0])
    return found


@lru_cache(maxsize=1024)
def normalized(tree):
    """A text of the code alone: without positions, comments and docstrings.

    Docstrings stay in a module that reads ``__doc__``. Empty fields are left out, because they
    come and go between versions of Python.
    """
    keep = any("__doc__" in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in nodes(tree))

    def text(node):
        if isinstance(node, list):
            return [text(item) for item in node if keep or not _is_docstring(item)]
        if not isinstance(node, ast.AST):
            return repr(node)
        fields = [(k, text(v)) for k, v in ast.iter_fields(node) if v is not None and v != []]
        return [type(node).__name__, fields]

    return repr(text(tree))


def _is_docstring(node):
    """Also a string that stands alone elsewhere: it has no effect."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def files_beside(tree, module_file):
    """Files in the module's folder, other than Python, that a string in its code names."""
    names = {n.value for n in nodes(tree) if isinstance(n, ast.Constant)}
    beside = (file for file in sorted(module_file.parent.iterdir()) if file.is_file())
    return [file for file in beside if file.suffix != ".py" and file.name in names]
