"""Where a module can be changed on purpose: the operators of ``tools/mutate.py``.

Left out, because no test of behaviour could or should notice: docstrings, annotations, imports,
``if TYPE_CHECKING``, ``__all__``, and texts for people. A text is a string that holds a blank,
with everything inside it where it is an f-string, and every ``remedy``.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
}
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "lower": "upper",
    "startswith": "endswith",
    "endswith": "startswith",
    "partition": "rpartition",
    "rpartition": "partition",
    "removesuffix": "removeprefix",
    "removeprefix": "removesuffix",
    "rfind": "find",
    "find": "rfind",
    "fullmatch": "match",
}
UNWRAPPED = ("sorted", "bool", "round", "strip", "lower", "rstrip")
"""Calls that are also replaced by what they are called on."""


class Site(NamedTuple):
    """One change: ``new`` takes the place of ``old`` in ``parent``."""

    operator: str
    function: str
    """Qualified name of the outermost function, with its first line; empty at module level."""
    lines: tuple[int, int]
    """First and last line of the statement, or of its head where it is a compound one."""
    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST | None

    def apply(self) -> None:
        """Change the tree; it is not put back."""
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        elif self.new is None:
            del getattr(self.parent, self.field)[self.index]
        else:
            getattr(self.parent, self.field)[self.index] = self.new

    @property
    def texts(self) -> tuple[str, str]:
        """The old code and the new, each on one line; where they are long, around the change."""
        old = _line(self.old)
        new = "(removed)" if self.new is None else _line(self.new)
        pairs = enumerate(zip(old, new, strict=False))
        same = next((at for at, (one, other) in pairs if one != other), 0)
        start = max(0, same - 60) if len(old) > 140 else 0
        return _cut(old, start), _cut(new, start)


def _line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _cut(text: str, start: int) -> str:
    head = "…" if start else ""
    return head + (text[start:] if len(text) - start <= 140 else text[start : start + 139] + "…")


class _Place(NamedTuple):
    parent: ast.AST
    field: str
    index: int | None


class Finder:
    """Walks a module's tree and lists its sites; ``texts`` counts the texts left out."""

    def __init__(self, tree: ast.Module) -> None:
        self.texts = 0
        self.sites: list[Site] = []
        self._function = ""
        self._names: list[str] = []
        self._lines = (0, 0)
        self._used_types = {
            node.args[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "get_args"
            and isinstance(node.args[0], ast.Name)
        }
        self._block(tree, "body")

    # --- the walk ------------------------------------------------------------------------------

    def _block(self, parent: ast.AST, field: str) -> None:
        for index, node in enumerate(getattr(parent, field)):
            self._statement(node, _Place(parent, field, index))

    def _statement(self, node: ast.stmt, place: _Place) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if self._only_a_type(node):
            return
        outer = self._lines
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else (node.end_lineno or node.lineno)
        self._lines = (node.lineno, max(node.lineno, last))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._definition(node)
        else:
            self._removal(node, place)
            for name, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    self._block(node, name)
                elif name == "handlers":
                    for handler in value:
                        self._block(handler, "body")
                elif name not in ("targets", "target", "annotation", "returns"):
                    self._values(node, name, value)
        self._lines = outer

    def _only_a_type(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return False
        name, value = node.targets[0].id, node.value
        union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
        literal = isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Literal"
        return name == "__all__" or ((literal or union) and name not in self._used_types)

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        if isinstance(node, ast.FunctionDef):
            for name in ("defaults", "kw_defaults"):
                self._values(node.args, name, getattr(node.args, name))
        names, function = self._names, self._function
        self._names = [*names, node.name]
        if isinstance(node, ast.FunctionDef) and not function:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            self._function = f"{'.'.join(self._names)}:{first}"
        self._block(node, "body")
        self._names, self._function = names, function

    def _values(self, parent: ast.AST, field: str, value: Any) -> None:
        if isinstance(value, list):
            for index, node in enumerate(value):
                if isinstance(node, ast.AST):
                    self._expression(node, _Place(parent, field, index))
        elif isinstance(value, ast.AST):
            self._expression(value, _Place(parent, field, None))

    def _expression(self, node: ast.AST, place: _Place) -> None:
        if isinstance(node, ast.JoinedStr | ast.Constant) and _is_text(node):
            self.texts += 1
            return
        if isinstance(node, ast.expr_context | ast.cmpop | ast.operator | ast.boolop | ast.unaryop):
            return
        if isinstance(node, ast.keyword) and node.arg == "remedy":
            self.texts += 1
            return
        for operator, new in _variants(node):
            self._add(operator, place, node, new)
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    self._values(part, "value", part.value)
            return
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.comprehension) and name == "target":
                continue
            self._values(node, name, value)
        if isinstance(node, ast.comprehension):
            for index, test in enumerate(node.ifs):
                self._add("condition", _Place(node, "ifs", index), test, None)

    def _removal(self, node: ast.stmt, place: _Place) -> None:
        none = ast.Constant(None)
        if isinstance(node, ast.Expr | ast.Raise | ast.Delete):
            self._add("removed", place, node, ast.Pass())
        elif isinstance(node, ast.Continue):
            self._add("loop", place, node, ast.Break())
        elif isinstance(node, ast.Break):
            self._add("loop", place, node, ast.Continue())
        elif isinstance(node, ast.Return) and node.value is not None:
            if not isinstance(node.value, ast.Constant):
                self._add("return", place, node, ast.Return(none))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            if not isinstance(node.value, ast.Constant) and self._function:
                self._add("assignment", _Place(node, "value", None), node.value, none)
        elif isinstance(node, ast.AugAssign):
            self._add("removed", place, node, ast.Pass())
            swapped = ARITHMETIC.get(type(node.op))
            if swapped is not None and not isinstance(node.value, ast.List | ast.Tuple):
                new = copy.deepcopy(node)
                new.op = swapped()
                self._add("arithmetic", place, node, new)
        elif isinstance(node, ast.If | ast.While) and _negatable(node.test):
            self._add("condition", _Place(node, "test", None), node.test, _not(node.test))

    def _add(self, operator: str, place: _Place, old: ast.AST, new: ast.AST | None) -> None:
        if new is not None:
            if ast.dump(new) == ast.dump(old):
                return  # two equal arguments swapped
            ast.copy_location(new, old)
            ast.fix_missing_locations(new)
        self.sites.append(Site(operator, self._function, self._lines, *place, old, new))


def _is_text(node: ast.JoinedStr | ast.Constant) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and " " in node.value
    return any(isinstance(v, ast.Constant) and " " in str(v.value) for v in node.values)


def _negatable(test: ast.expr) -> bool:
    """A single comparison or a ``not`` has mutants of its own that say the same."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return False
    return not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _not(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), copy.deepcopy(test))


# --- what may stand in place of an expression --------------------------------------------------

Variants = "Iterator[tuple[str, ast.AST]]"


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    kinds = {
        ast.Compare: _compare,
        ast.BoolOp: _boolean,
        ast.UnaryOp: _unary,
        ast.BinOp: _binary,
        ast.IfExp: _if,
        ast.Constant: _constant,
        ast.JoinedStr: _joined,
        ast.Call: _call,
        ast.Dict: _dict,
        ast.Tuple: _display,
        ast.List: _display,
        ast.Set: _display,
        ast.Slice: _slice,
        ast.Yield: _yield,
    }
    make: Any = kinds.get(type(node))
    if make is not None:
        yield from make(node)


def _compare(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for index, op in enumerate(node.ops):
        for other in COMPARED[type(op)]:
            new = copy.deepcopy(node)
            new.ops[index] = other()
            yield "comparison", new


def _boolean(node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    new = copy.deepcopy(node)
    new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean", new
    for index in range(len(node.values)):
        rest = [copy.deepcopy(v) for at, v in enumerate(node.values) if at != index]
        yield "boolean", rest[0] if len(rest) == 1 else ast.BoolOp(copy.deepcopy(node.op), rest)


def _unary(node: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
    yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", copy.deepcopy(node.operand)


def _binary(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    other = ARITHMETIC.get(type(node.op))
    sides = (node.left, node.right)
    stringy = any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )
    if other is not None and not stringy:
        new = copy.deepcopy(node)
        new.op = other()
        yield "arithmetic", new


def _if(node: ast.IfExp) -> Iterator[tuple[str, ast.AST]]:
    if _negatable(node.test):
        new = copy.deepcopy(node)
        new.test = _not(node.test)
        yield "condition", new


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, str):
        yield "constant", ast.Constant(f"XX{value}")
    elif isinstance(value, bytes):
        yield "constant", ast.Constant(b"XX" + value)


def _joined(node: ast.JoinedStr) -> Iterator[tuple[str, ast.AST]]:
    new = copy.deepcopy(node)
    new.values.append(ast.Constant("XX"))
    yield "constant", new


def _call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    says = name.endswith(("Error", "Fault")) or name in ("StaleProposal",)
    if name in NAMES:
        new = copy.deepcopy(node)
        if isinstance(new.func, ast.Name):
            new.func.id = NAMES[name]
        elif isinstance(new.func, ast.Attribute):
            new.func.attr = NAMES[name]
        yield "call", new
    if name in UNWRAPPED:
        subject = node.args[0] if isinstance(function, ast.Name) else function.value  # type: ignore[attr-defined]
        yield "call", copy.deepcopy(subject)
    for index, arg in enumerate(node.args):
        if says or isinstance(arg, ast.Constant | ast.Starred | ast.JoinedStr | ast.GeneratorExp):
            continue
        new = copy.deepcopy(node)
        new.args[index] = ast.Constant(None)
        yield "argument", new
    for index in range(len(node.args) - 1):
        pair = node.args[index : index + 2]
        same = says or name in ("min", "max")  # to them the order is nothing
        if not any(isinstance(arg, ast.Starred) for arg in pair) and not same:
            new = copy.deepcopy(node)
            new.args[index], new.args[index + 1] = new.args[index + 1], new.args[index]
            yield "swapped", new
    for index, keyword in enumerate(node.keywords):
        if isinstance(keyword.value, ast.Constant | ast.JoinedStr) or keyword.arg == "remedy":
            continue
        new = copy.deepcopy(node)
        new.keywords[index].value = ast.Dict([], []) if not keyword.arg else ast.Constant(None)
        yield "argument", new


def _dict(node: ast.Dict) -> Iterator[tuple[str, ast.AST]]:
    for index in range(len(node.keys)):
        new = copy.deepcopy(node)
        del new.keys[index], new.values[index]
        yield "entry", new


def _display(node: ast.Tuple | ast.List | ast.Set) -> Iterator[tuple[str, ast.AST]]:
    plain = len(node.elts) > 1 and all(isinstance(e, ast.Constant) for e in node.elts)
    for index, element in enumerate(node.elts):
        if plain or isinstance(element, ast.Starred):
            new = copy.deepcopy(node)
            del new.elts[index]
            yield "entry", new


def _slice(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    for field in ("lower", "upper"):
        if getattr(node, field) is not None:
            new = copy.deepcopy(node)
            setattr(new, field, None)
            yield "slice", new


def _yield(node: ast.Yield) -> Iterator[tuple[str, ast.AST]]:
    if node.value is not None:
        yield "return", ast.Yield(ast.Constant(None))
