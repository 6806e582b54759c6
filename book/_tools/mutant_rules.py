"""Which changes mutmut makes: not in what is only read, and two kinds that it does not know.

Left alone: messages (``raise``, ``warn``, f-strings, strings with a blank, the names that checks of
the input print, ``__repr__``), which of NumPy's own warnings are silenced, and arguments that say
how fast or how carefully something is done, ``copy=False`` and how many bytes are worked on at once
(``pool_blocks``) among them. Default arguments, too: mutmut shows a test the old ones, and
``tests/test_defaults.py`` holds all of them. Left out: other cases of a string, values that become
None, which stop the first test that comes along and only make the share look better. Added: results
that are off by a twentieth of a percent, because a tolerance that is too wide lets exactly these
pass, and numbers that are off by one percent, because ``+ 1`` makes of 1e-7 something that every
test sees.
"""

import libcst as cst

OFF = "1.0005"
# Keyword arguments without influence on a result that is right.
CARELESS = {
    "strict",
    "check_finite",
    "overwrite_a",
    "overwrite_b",
    "overwrite_c",
    "stacklevel",
    "threads",
}
ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.MatrixMultiply, cst.Power)


def is_message(node):
    """Whether a node and all below it is only read by people."""
    if isinstance(node, cst.Call):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        return isinstance(name, cst.Name) and name.value in {"warn", "zip", "errstate"}
    if isinstance(node, cst.SimpleString):
        return " " in node.value
    if isinstance(node, cst.Arg):
        name = node.keyword.value if node.keyword is not None else None
        # a copy where none was needed changes no number; the one that copy=True asks for may
        return name in CARELESS or (name == "copy" and _is_false(node.value))
    if isinstance(node, cst.FunctionDef):
        return node.name.value == "__repr__"
    kinds = cst.Raise | cst.FormattedString | cst.ConcatenatedString | cst.Assert | cst.Param
    return isinstance(node, kinds)


def _is_false(node):
    return isinstance(node, cst.Name) and node.value == "False"


def names_in(node):
    """The names in ``checks.number(x, "x", 0)``, which only errors need; and sizes of blocks."""
    if not isinstance(node, cst.Call):
        return []
    if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name):
        if node.func.value.value == "checks":
            return [a.value for a in node.args if isinstance(a.value, cst.SimpleString)]
    if isinstance(node.func, cst.Name) and node.func.value == "pool_blocks":
        return [a.value for a in node.args[1:]]  # bytes per row, and bytes in all
    return []


def other_string(node):
    """Another string; one is enough to see whether it matters."""
    if isinstance(node, cst.SimpleString) and not node.value.startswith('"""'):
        yield node.with_changes(value='"XX"')


def dropped(call):
    """``f(a, b=c)`` becomes ``f(a)``; arguments without a name are needed, mostly."""
    for place, argument in enumerate(call.args):
        if argument.keyword is not None and not is_message(argument):
            yield call.with_changes(args=[*call.args[:place], *call.args[place + 1 :]])


def slightly_off(node):
    """``a = b + c`` becomes ``a = (b + c) * 1.0005``."""
    value = node.value
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, ARITHMETIC):
        inner = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        factor = cst.Float(OFF)
        changed = cst.BinaryOperation(left=inner, operator=cst.Multiply(), right=factor)
        yield node.with_changes(value=changed)


def one_percent(node):
    """A number that is not an integer, one percent larger."""
    value = float(node.value.replace("_", ""))
    if value and value != float("inf"):
        yield node.with_changes(value=repr(float(f"{1.01 * value:.9g}")))


def install():
    """Teach mutmut these rules; to be called before any file is mutated."""
    from mutmut.mutation import file_mutation, mutators

    replaced = {mutators.operator_assignment: None, mutators.operator_arg_removal: dropped}
    replaced[mutators.operator_string] = other_string
    operators = mutators.mutation_operators
    operators[:] = [(kind, replaced.get(rule, rule)) for kind, rule in operators]
    operators[:] = [(kind, rule) for kind, rule in operators if rule is not None]
    operators.append((cst.Assign | cst.AugAssign | cst.Return, slightly_off))
    operators.append((cst.Float, one_percent))
    skip = file_mutation.MutationVisitor._skip_node_and_children
    names = set()

    def skip_messages(self, node):
        names.update(map(id, names_in(node)))
        return id(node) in names or is_message(node) or skip(self, node)

    file_mutation.MutationVisitor._skip_node_and_children = skip_messages
