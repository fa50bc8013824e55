"""Measure the shape of the code: ``python tools/house.py``.

Prints one row for each figure, with the aim beside it. Reads the source, imports nothing of Flow.
``--names`` adds the class names that several classes have, the modules of each circle, and the
docstrings in private words.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FOLDER_LIMIT = 22
SHORT_NAME = 6
LONG_FUNCTION = 50
Function = ast.FunctionDef | ast.AsyncFunctionDef
PRIVATE_OPENING = re.compile(r"(?:What|How|Where|That|Who|Whose|Which|When|And|The same)\b")
PRIVATE_WORDS = re.compile(
    r"\b(?:whoever|whatever|whichever|nobody|somebody|(?:is|are|be|was|were)\s+told)\b", re.I
)
Modules = dict[str, ast.Module]


def modules(package: str) -> Modules:
    """The parsed modules below the folder ``package``, by dotted name."""
    parsed = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        parsed[name] = ast.parse(path.read_text("utf-8"), str(path))
    return parsed


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The module and every statement in it, however deep; no expression holds one."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(node, part, ()))


def folder_sizes(package: str) -> dict[str, int]:
    """Modules for each folder below ``package``, largest first; ``__init__.py`` does not count."""
    paths = (ROOT / package).rglob("*.py")
    names = (path.relative_to(ROOT) for path in paths if path.name != "__init__.py")
    return dict(Counter(str(name.parent) for name in names).most_common())


def imports(tree: ast.Module, known: Modules) -> set[str]:
    """The modules of ``known`` that ``tree`` imports anywhere, for types and in functions too."""
    targets = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                targets.add(submodule if submodule in known else node.module)
    return targets & known.keys()


def import_graph(trees: Modules) -> dict[str, set[str]]:
    """The modules that each module imports; the package itself offers the API's names lazily."""
    graph = {name: imports(tree, trees) - {name} for name, tree in trees.items()}
    return graph | {"flow": set()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other by imports, largest first (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            cut = stack.index(name)
            groups.append(sorted(stack[cut:]))
            del stack[cut:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return sorted((group for group in groups if len(group) > 1), key=len, reverse=True)


def functions(trees: Modules) -> Iterator[tuple[str, Function]]:
    """Every function and method, with the module it stands in."""
    for module, tree in trees.items():
        for node in statements(tree):
            if isinstance(node, Function):
                yield module, node


def shared_class_names(trees: Modules) -> dict[str, int]:
    """Class names that more than one class has, with their number."""
    classes = (node for tree in trees.values() for node in statements(tree))
    names = Counter(node.name for node in classes if isinstance(node, ast.ClassDef))
    return {name: count for name, count in names.most_common() if count > 1}


def imports_in_functions(trees: Modules) -> int:
    """Import statements inside functions, each counted once."""
    places = {
        (module, node.lineno)
        for module, function in functions(trees)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(places)


def assignments(trees: Modules, name: str) -> int:
    """How often the variable ``name`` is bound."""
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    stores = (node for node in nodes if isinstance(node, ast.Name) and node.id == name)
    return sum(isinstance(node.ctx, ast.Store) for node in stores)


def docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    """The docstrings of a module, its classes, functions, variables and fields."""
    for node in statements(tree):
        for statement in getattr(node, "body", ()):
            if isinstance(statement, ast.Expr) and is_text(statement.value):
                yield statement


def is_text(node: ast.expr) -> bool:
    """Whether the expression is a string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def private_docstrings(trees: Modules) -> list[str]:
    """Docstrings in words that have to be read twice, each by its module and line."""
    return [
        f"{module}:{statement.lineno}"
        for module, tree in trees.items()
        for statement in docstrings(tree)
        for text in [ast.literal_eval(statement.value)]
        if PRIVATE_OPENING.match(text) or PRIVATE_WORDS.search(text)
    ]


def code_lines(package: str) -> int:
    """Lines with code below ``package``: without blank lines, comments and docstrings."""
    return sum(_code_lines(path) for path in (ROOT / package).rglob("*.py"))


def _code_lines(path: Path) -> int:
    text = path.read_text("utf-8")
    lines: set[int] = set()
    layout = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in layout:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for docstring in docstrings(ast.parse(text)):
        lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def table() -> list[tuple[str, str, str]]:
    """The rows: figure, value, aim."""
    flow = modules("flow")
    groups = circles(import_graph(flow))
    sizes = folder_sizes("flow") | folder_sizes("tests")
    large = {folder: size for folder, size in sizes.items() if size > FOLDER_LIMIT}
    shared = shared_class_names(flow)
    names = [node.name for _, node in functions(flow)]
    short = sum(len(name.strip("_")) <= SHORT_NAME for name in names)
    long = sum((node.end_lineno or 0) - node.lineno >= LONG_FUNCTION for _, node in functions(flow))
    largest = f", the largest of {len(groups[0])} modules" if groups else ""
    folders = ", ".join(f"{folder} {size}" for folder, size in large.items()) or "none"
    return [
        ("circles of imports, types included", f"{len(groups)}{largest}", "0"),
        (f"folders with more than {FOLDER_LIMIT} modules", folders, "none"),
        (
            "class names of two or more classes",
            f"{len(shared)} ({sum(shared.values())} classes)",
            "15 or fewer",
        ),
        (
            f"function names of at most {SHORT_NAME} letters",
            f"{short / len(names):.0%} ({short} of {len(names)})",
            "38 % or less",
        ),
        ("imports inside functions", f"{imports_in_functions(flow)}", "below 350"),
        ("assignments to `found`", f"{assignments(flow, 'found')}", "below 150"),
        ("docstrings in private words", f"{len(private_docstrings(flow))}", "0"),
        (f"functions over {LONG_FUNCTION} lines", f"{long}", "15 or fewer"),
        ("lines of code in flow/", f"{code_lines('flow')}", "15 to 20 % fewer"),
        ("lines of flow/wiring", f"{_lines('flow/wiring')}", "below 2200"),
    ]


def _lines(package: str) -> int:
    paths = (ROOT / package).rglob("*.py")
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def main() -> int:
    """Print the table."""
    for figure, value, aim in table():
        sys.stdout.write(f"{figure:42} {value:34} aim: {aim}\n")
    if "--names" in sys.argv[1:]:
        flow = modules("flow")
        for name, count in shared_class_names(flow).items():
            sys.stdout.write(f"class {name}: {count}\n")
        for group in circles(import_graph(flow)):
            sys.stdout.write(f"circle: {' '.join(group)}\n")
        for place in private_docstrings(flow):
            sys.stdout.write(f"docstring: {place}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
