"""``flow.startup.typing`` behaves as ``typing`` does, as far as Flow uses it (ADR 16)."""

from __future__ import annotations

import ast
import copy
import pickle
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from flow.startup import typing as fast_typing
from flow.startup.typing import Literal, NamedTuple, Protocol, cast, get_args
from tests.support import ROOT


class Mine(NamedTuple):
    a: int
    b: str = "x"
    c: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return self.a * 2

    @classmethod
    def of(cls, a: int) -> Mine:
        return cls(a)


class Theirs(typing.NamedTuple):
    a: int
    b: str = "x"
    c: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return self.a * 2

    @classmethod
    def of(cls, a: int) -> Theirs:
        return cls(a)


class Below(Mine):
    """A class below a tuple's is an ordinary one, and keeps the fields."""

    other = 5


CALLS = [
    ((1,), {}),
    ((1, "y"), {}),
    ((1, "y", (2,)), {}),
    ((), {"a": 1, "b": "y", "c": (2,)}),
    ((1,), {"b": "y", "c": (2,)}),
    ((), {"a": 1}),
    ((1,), {"c": (3,)}),
    ((1,), {"c": (3,), "b": "z"}),
    ((), {}),
    ((1, "y", (), 4), {}),
    ((1,), {"d": 4}),
    ((1,), {"a": 4}),
    ((), {"b": "y"}),
]


@pytest.mark.parametrize(("values", "named"), CALLS)
def test_a_tuple_is_made_as_typing_makes_it(values: tuple, named: dict) -> None:
    try:
        expected = tuple(Theirs(*values, **named))
    except TypeError:
        with pytest.raises(TypeError):
            Mine(*values, **named)
        return
    assert tuple(Mine(*values, **named)) == expected


def test_it_has_what_typing_gives_a_tuple() -> None:
    mine, theirs = Mine(1, c=(2,)), Theirs(1, c=(2,))
    assert mine == tuple(theirs)
    assert (mine.a, mine.b, mine.c, mine.twice) == (1, "x", (2,), 2)
    assert mine._fields == theirs._fields
    assert mine._field_defaults == theirs._field_defaults
    assert mine._asdict() == theirs._asdict()
    assert mine._replace(b="q") == tuple(theirs._replace(b="q"))
    assert type(mine._replace(b="q")) is Mine
    assert Mine._make([1, "y", ()]) == Mine(1, "y")
    assert repr(mine) == repr(theirs).replace("Theirs", "Mine")
    assert hash(mine) == hash(theirs)
    assert Mine.of(3) == Mine(3)
    assert not hasattr(mine, "__dict__")
    assert pickle.loads(pickle.dumps(mine)) == mine
    assert copy.deepcopy(mine) == mine
    match mine:
        case Mine(a, b):
            assert (a, b) == (1, "x")
    with pytest.raises(AttributeError):
        mine.a = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="unexpected"):
        mine._replace(nope=1)
    with pytest.raises(TypeError):
        Mine._make([1, 2, 3, 4])
    below = Below(4)
    assert (below.a, below.b, below.other, below._replace(b="n").b) == (4, "x", 5, "n")


def test_literals_are_the_tuple_of_their_values() -> None:
    assert get_args(Literal["a", "b"]) == typing.get_args(typing.Literal["a", "b"])
    assert get_args(Literal["a"]) == ("a",)
    assert cast("int", "x") == "x"  # type: ignore[comparison-overlap]


class Speaks(Protocol):
    """An interface."""

    def word(self) -> str:
        """A word."""


class SpeaksTwice(Speaks, Protocol):
    """One with more."""

    def again(self) -> str:
        """Another word."""


class Parrot(SpeaksTwice):
    """A class that names its interface."""

    def __init__(self) -> None:
        self.kept = "hello"

    def word(self) -> str:
        return self.kept

    def again(self) -> str:
        return self.word()


def test_a_class_may_name_the_interface_it_has() -> None:
    assert Parrot().again() == "hello"
    assert Parrot.__name__ == "Parrot"
    assert Parrot.__doc__ == "A class that names its interface."


def _says_nothing(part: ast.stmt) -> bool:
    """Whether it is a docstring, ``...``, or an attribute without a value."""
    return (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)) or (
        isinstance(part, ast.AnnAssign) and part.value is None
    )


def test_no_interface_of_flow_holds_what_a_class_could_miss() -> None:
    """They are one object at run time, so a method with a body in one would be lost."""
    lost, count = [], 0
    for path in sorted(Path(ROOT, "flow").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ClassDef):
                continue
            if not any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases):
                continue
            count += 1
            for part in node.body:
                words = part.body if isinstance(part, ast.FunctionDef) else [part]
                if not all(_says_nothing(word) for word in words):
                    lost.append(f"{path.name}: {node.name}")
    assert (lost, count > 40) == ([], True)


def test_it_offers_nothing_that_typing_does_not() -> None:
    for name in fast_typing.__all__:
        assert hasattr(typing, name), name
        assert hasattr(fast_typing, name), name


def test_no_module_of_the_hook_imports_typing() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import flow.hook, flow.app.stop.handle;"
        "import flow.wiring.stopping, flow.wiring.evaluating;"
        "import flow.adapters.ledger.reader, flow.adapters.worktree.change_set;"
        "print('typing' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, ROOT], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("flow.wiring.stopping", ("evaluating", "activating", "closing")),
        ("flow.wiring.evaluating", ("goals", "activating", "closing", "base_runs")),
        ("flow.wiring.goals", ("evaluating", "recording", "trusting")),
        ("flow.wiring.recording", ("goals", "creating", "activating")),
        ("flow.wiring.tool_calls", ("context", "goals", "closing")),
    ],
)
def test_a_service_that_starts_often_loads_no_other(module: str, without: tuple[str, ...]) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2]);"
        "print(*(name for name in sys.modules if name.startswith('flow.wiring.')))"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, ROOT, module]
    found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert module in found
    assert not {f"flow.wiring.{name}" for name in without}.intersection(found)
