"""Runners that a builder's own output shows to have been started, and that report nothing."""

from __future__ import annotations

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import lines_of, read_command, vacuous
from flow.core.attribution.echoed import echoed_runner, script_lines
from flow.core.masked_exit.runner_words import package_script

NPM = "\n> app@1.0.0 test\n> jest --ci\n\n"
TOX = "py312: commands[0]> pytest -q tests\n"
QUIET = "..\n2 passed in 0.01s\n"

RUNS = (
    # (command, what it prints, the runner that is missed; empty: none)
    ("make test", "python -B -m pytest -q tests\n", "pytest"),
    ("make test", "cd lib && FOO=1 pytest -q \\\n  tests\n", "pytest"),
    ("make -C lib check", "make: Entering directory '/x'\ngo test ./...\n", "go test"),
    ("just test", "uv run pytest\n", "pytest"),
    ("npm test", NPM, "jest"),
    ("yarn test", "yarn run v1.22.0\n$ jest --ci\nDone in 0.50s.\n", "jest"),
    ("pnpm -r test", "packages/a test$ vitest run\npackages/a test: Done\n", "vitest"),
    ("npx turbo run test", "web:test: > jest --ci\n", "jest"),
    ("npm test", "\n> app@1.0.0 test\n> make unit\n\npytest -q\n", "pytest"),
    ("tox -e py312", f"{TOX}  py312: OK (1.00 seconds)\n  congratulations :)\n", "pytest"),
    ("nox -s tests", "nox > Running session tests\nnox > pytest\n", "pytest"),
    ("task test", "task: [test] cargo test\n", "cargo test"),
    ("hatch run test", "cmd [1] | pytest\n", "pytest"),
    ("sh ci/all", "+ cd lib\n+ pytest -q\n", "pytest"),
    ("./all", "++ pytest -q\n", "pytest"),
    ("make test", f"pytest -q\n{QUIET}", ""),
    ("npm test", f"{NPM}Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n", ""),
    ("tox", TOX + QUIET, ""),
    ("make test", "./all\nall good\n", ""),
    ("make docs", "grep -rn pytest docs\ndocs/a.md: pytest -q\n", ""),
    ("make test", "if [ -d tests ]; then pytest; fi\n", ""),
    ("make lint", "pip list\npackaging    24.1\npytest       8.3.2\nruff 0.6\n", ""),
    ("make lint", "pip freeze\npackaging==24.1\npytest==8.3.2\n", ""),
    ("make lint", "pytest --version\npytest 8.3.2\n", ""),
    ("cat README.md", "pytest -q\n$ pytest -q\n+ pytest -q\n", ""),
    ("npm test", "\n> app@1.0.0 test\n> ./check.sh\n\npytest -q\n", ""),
)


@pytest.mark.parametrize(("command", "output", "missed"), RUNS)
def test_a_runner_that_was_started_and_reports_nothing(
    command: str, output: str, missed: str
) -> None:
    def read(text: str) -> object:
        return read_command(text, parse_shell)

    lines = lines_of(output.encode())
    told = vacuous(read_command(command, parse_shell), lines, whole=True, read=read)  # type: ignore[arg-type]
    assert (told.runner if told is not None else "") == missed
    assert told is None or told.why.startswith(f"no report of {missed} shows a test that ran")
    cut = vacuous(read_command(command, parse_shell), lines, whole=False, read=read)  # type: ignore[arg-type]
    assert cut is None, "its report may be out of sight"


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("npm test", "test"), ("npm t --silent", "test"), ("npm run -s unit", "unit"),
        ("pnpm run-script a", "a"), ("yarn lint", "lint"), ("npm", ""), ("make test", ""),
        ("npm ci", ""), ("npm install", ""), ("npm run", ""), ("npm run ci", "ci"),
        ("npm run a/b", "a/b"), ("yarn ci", "ci"),
        ("npm --silent run ci", "ci"), ("/usr/bin/npm start", "start"), ("npmx test", ""),
        ("npm --prefix web test", "web/test"), ("npm test --prefix=web", "web/test"),
        ("npm test -- --prefix web", "test"), ("npm -w web test", "test"),
        ("pnpm -w test", "test"), ("pnpm -C web run unit", "web/unit"),
        ("yarn --cwd web t", "web/test"), ("npm --prefix web", ""), ("npm test --prefix", "test"),
    ],
)  # fmt: skip
def test_the_script_that_a_command_names(words: str, script: str) -> None:
    """Written as FOLDER/NAME, or NAME alone where no folder is named; empty for no script."""
    called = package_script(tuple(words.split()))
    named = "" if called is None else f"{called.folder}/{called.name}".removeprefix("/")
    assert named == script


def test_the_scripts_that_a_script_calls() -> None:
    scripts = {"test": "npm run -s build && npm t", "build": "tsc", "unit": "jest", "n": 1}
    assert script_lines("test", scripts) == ["npm run -s build && npm t", "tsc"]
    assert script_lines("all", {"all": "yarn unit && npm run n", **scripts})[1:] == ["jest"]
    assert script_lines("gone", scripts) == []
    assert script_lines("a", {"a": "npm ci && tsc", "ci": "jest"}) == ["npm ci && tsc"]
    assert script_lines("a", {"a": "npm -s run ci", "ci": "jest"})[1:] == ["jest"]


def test_what_a_file_holds_may_start_more_than_the_runner() -> None:
    def missed(*started: str) -> str:
        return echoed_runner(
            [("npm", "test")], [], lambda text: read_command(text, parse_shell), started
        )

    assert missed("tsc -b && jest --ci") == "jest"
    assert missed("tsc -b", "pytest a && pytest b") == "pytest"
    assert missed("command -v jest && jest || echo none") == ""
    assert missed("tsc -b") == ""
    assert missed(*["tsc -b"] * 50, "jest --ci") == "jest", "only what may be a runner is counted"
    assert missed("$(shell which python3) -m pip install pytest", "ruff check .") == ""


def test_a_long_output_is_read_a_little() -> None:
    asked: list[str] = []

    def read(text: str) -> object:
        asked.append(text)
        return read_command(text, parse_shell)

    lines = ["cc -c test.c"] * 500 + ["cc -o app main.c"] * 100_000
    assert vacuous(read_command("make", parse_shell), lines, whole=True, read=read) is None  # type: ignore[arg-type]
    assert len(asked) <= 20
