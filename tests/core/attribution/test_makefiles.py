"""What a makefile's own lines show of its targets."""

from __future__ import annotations

import time

import pytest

from flow.core.attribution.makefiles import first_target, prerequisites, recipe_lines
from tests.support.pace import exceeds

MAKEFILE = """\
PYTHON ?= python3
RUN = $(PYTHON) -m pytest
.PHONY: test unit lint
all: build
\t@cc -o app main.c
test: unit
\t@$(RUN) -q \\
\t  tests
unit: unit
\t-go test ./...
\t@cargo test $$X

lint:
\truff check .
X := pytest
"""


def test_the_recipe_of_a_target() -> None:
    assert recipe_lines("test", MAKEFILE) == ["cargo test $X", "python3 -m pytest -q  \t  tests"]
    assert recipe_lines("lint", MAKEFILE) == ["ruff check ."]
    assert recipe_lines("gone", MAKEFILE) == []


@pytest.mark.parametrize(
    ("makefile", "target"),
    [
        (MAKEFILE, "all"),
        ("V := 1\n.PHONY: test\nb: X=1\ntest: b\n\tpytest\n", "test"),
        ("bin/app: main.go\n\tgo build\ntest:\n\tgo test ./...\n", "bin/app"),
        ("app.js: a.ts\n\ttsc\ntest:\n\tjest\n", "app.js"),
        ("all:: app\ntest:\n\tpytest\n", "all"),
        (".DEFAULT_GOAL := build\ntest:\n\tpytest\nbuild:\n\tcc\n", "build"),
        (".DEFAULT_GOAL = $(X)\ntest:\n\tpytest\n", ""),
        ("$(BIN): main.go\n\tgo build\ntest:\n\tgo test ./...\n", ""),
        ("%.o: %.c\n\tcc\ntest:\n\tpytest\n", "test"),
        ("-include common.mk\ntest:\n\tpytest\n", ""),
        ("\ttest: a\n", ""),
    ],
)
def test_the_target_without_a_name(makefile: str, target: str) -> None:
    assert first_target(makefile) == target


@pytest.mark.parametrize(
    ("makefile", "needed"),
    [
        ("test: a.c b.c\n\tcc\n", ("a.c", "b.c")),
        ("test: a.c\n\tcc\nother: b.c\n\tcc\n", ("a.c",)),
        ("all:\n\ttrue\n", ()),
        ("test: a\n \tinclude x\n", None),
        ("\n" * (1 << 20), ()),
    ],
)
def test_what_a_target_is_made_of(makefile: str, needed: tuple[str, ...] | None) -> None:
    began = time.process_time()
    assert prerequisites("test", makefile) == needed
    assert not exceeds(time.process_time() - began, 5)


def test_what_make_may_not_run_is_no_recipe() -> None:
    either = "ifdef CI\ntest:\n\tpytest\nelse\ntest:\n\t./run.sh\nendif\nlint:\n\truff check\n"
    assert recipe_lines("test", either) == []
    assert recipe_lines("lint", either) == ["ruff check"]
    within = "test:\n\t./a\nifeq ($(X),a:b)\n\tpytest\nendif\n\t./b\n"
    assert recipe_lines("test", within) == ["./a", "./b"]
    twice = "ifdef CI\nRUN = ./run.sh\nelse\nRUN = pytest\nendif\ntest:\n\t$(RUN) -q\n"
    assert recipe_lines("test", twice) == ["$(RUN) -q"]
    whole = ".ONESHELL:\ntest:\n\t@if [ -n '$$CI' ]; then\n\tpytest\n\tfi\n"
    assert recipe_lines("test", whole) == ["if [ -n '$CI' ]; then\npytest\nfi"]


def test_targets_in_a_circle_and_long_values_end() -> None:
    circle = "".join(f"t{n}: t{(n + 1) % 9} t{(n + 2) % 9}\n\t@echo {n}\n" for n in range(9))
    assert len(recipe_lines("t0", circle)) < 100
    names = " ".join(f"t{n}" for n in range(20_000))
    assert recipe_lines("t0", f"{names}: {names}\n" * 4) == []
    targets = "".join(f"t{n}: {names}\n\t@echo {n}\n" for n in range(40))
    assert len(recipe_lines("t0", targets)) == 40
    values = "A = " + "x" * 100_000 + "\nt:\n\t@" + "$(A)" * 1000 + "\n"
    assert len(recipe_lines("t", values)[0]) <= 4000
