"""Linters and type checkers that had no file to check, by their words and by what they print."""

from __future__ import annotations

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import lines_of, read_command, vacuous
from flow.core.attribution.idle_checkers import IDLE_LINES, checkers

NONE = "warning: No Python files found under the given path(s)\n"
ALL = "All checks passed!\n"
BOTH = "ruff check docs; ruff check src"

PRINTED = (
    # (command, what it prints, the program that had nothing to check; empty: one had)
    ("ruff check src", NONE + ALL, "ruff"),
    ("ruff format --check src", NONE, "ruff"),
    ("make lint", "ruff check src\n" + NONE + ALL, "ruff"),
    ("ruff check src", ALL, ""),
    (BOTH, NONE + ALL + ALL, ""),
    (BOTH, NONE + NONE + ALL + ALL, "ruff"),
    ("ruff check src && pytest -q", NONE + ALL + "1 passed in 0.01s\n", ""),
    ("black --check .", "No Python files are present to be formatted. Nothing to do 😴\n", "black"),
    ("black --check .", "All done! ✨ 🍰 ✨\n2 files would be left unchanged.\n", ""),
    ("pyright", "No source files found.\n0 errors, 0 warnings, 0 informations \n", "pyright"),
    ("pyright", "0 errors, 0 warnings, 0 informations \n", ""),
    ("rubocop", "Inspecting 0 files\n\n\n0 files inspected, no offenses detected\n", "rubocop"),
    ("rubocop", "Inspecting 1 file\n.\n\n1 file inspected, no offenses detected\n", ""),
    ("staticcheck ./...", 'warning: "./..." matched no packages\n', "go"),
    ("npx @biomejs/biome check", "Checked 0 files in 2ms. No fixes applied.\n", "biome"),
    ("npx @biomejs/biome check", "Checked 12 files in 2ms. No fixes applied.\n", ""),
    ("pre-commit run -a", "ruff.....................(no files to check)Skipped\n", "pre-commit"),
    (
        "pre-commit run -a",
        "ruff.....................(no files to check)Skipped\nspelling.................Passed\n",
        "",
    ),
    ("nox -s a", "nox > Running session a\nnox > Session a skipped: not here.\n", "nox"),
    (
        "nox -s a b",
        "nox > Session a skipped: x.\nnox > Session b was successful in 1 second.\n",
        "",
    ),
    ("nox -k nothing", "nox > No sessions selected after filtering by keyword.\n", "nox"),
    ("npx lint-staged", "→ No staged files found.\n", "lint-staged"),
    ("git commit -m x --dry-run", "ℹ No staged files match any configured task.\n", "lint-staged"),
    (
        "lefthook run pre-commit",
        "│  fmt (skip) no matching staged files\n│  lint (skip) no files for inspection\n",
        "lefthook",
    ),
    (
        "lefthook run pre-commit",
        "│  fmt (skip) no matching staged files\n┃  typos ❯ \n\nsummary: (done in 0.1 seconds)\n",
        "",
    ),
    ("lychee docs", "🔍 0 Total (in 0s) ✅ 0 OK 🚫 0 Errors\n", "lychee"),
    ("lychee docs", "🔍 14 Total (in 1s) ✅ 14 OK 🚫 0 Errors\n", ""),
    (
        "kubeconform -summary k8s",
        "Summary: 0 resources found in 0 files - Valid: 0, Invalid: 0, Errors: 0, Skipped: 0\n",
        "kubeconform",
    ),
    ("python -m compileall -q src", "Can't list 'src'\n", "compileall"),
    ("python -m compileall src", "Listing 'src'...\nCompiling 'src/a.py'...\n", ""),
    ("echo No Python files found", "No Python files found under the given path(s)\n", ""),
)


@pytest.mark.parametrize(("command", "output", "program"), PRINTED)
def test_what_a_checker_prints(command: str, output: str, program: str) -> None:
    reading = read_command(command, parse_shell)
    attribution = vacuous(reading, lines_of(output.encode()), whole=True)
    assert (attribution.runner if attribution is not None else "") == program
    if attribution is not None:
        assert attribution.reason.startswith(f"vacuous: {program} had nothing to check (")
        assert attribution.tests is None, "no test is counted where none was asked for"


def test_what_is_out_of_sight_may_have_checked_something() -> None:
    reading = read_command("ruff check src", parse_shell)
    assert vacuous(reading, lines_of(NONE.encode()), whole=False) is None


@pytest.mark.parametrize("row", IDLE_LINES, ids=lambda row: f"{row.program} {row.literal}")
def test_a_row_has_its_source(row: object) -> None:
    assert all(getattr(row, name) for name in ("program", "literal", "pattern", "source"))


SEARCHED = (
    ("flake8", [("flake8", (".",))]),
    ("flake8 src tests/", [("flake8", ("src", "tests"))]),
    ("cd web && npx eslint 'src/**/*.ts' --quiet", [("eslint", ("web/src",))]),
    ("uv run ruff check -q src && ruff format --check src", [("ruff", ("src",))] * 2),
    ("python3 -m pylint pkg; echo done", [("pylint", ("pkg",))]),
    ("staticcheck ./... ./cmd/...", [("staticcheck", (".", "cmd"))]),
    ("ruff clean", []),
    ("uv sync", []),
    ("flake8 $DIR", []),
    ("flake8 src && ./check", []),
    ("git ls-files '*.py' | xargs flake8", []),
    ("flake8 $(git ls-files)", []),
    ("echo flake8", []),
    ("! grep -rn print src lib", [("grep", ("src", "lib"))]),
    ("cd web && ! grep -q -e x --include='*.ts' -m 1 src/*.ts", [("grep", ("web/src",))]),
    ("! grep -f patterns src; ! egrep x a", [("grep", ("src",)), ("grep", ("a",))]),
    ("! grep --file=patterns src; ! grep --regexp=x a", [("grep", ("src",)), ("grep", ("a",))]),
    ("! grep -rn print", []),
    ("find src -name '*.sh' -exec shellcheck {} +", [("shellcheck", ("src",))]),
    ("find '' -name '*.sh' -exec shellcheck {} +", [("shellcheck", (".",))]),
    ("cd web && find . -type f -name '*.json' -exec jq . {} +", [("jq", ("web",))]),
    ("find a b '(' -name x -o -name y ')' -exec own {} +", [("own", ("a", "b"))]),
    ("find src -newer x -exec own {} +", []),
    ("find src ! -name x -exec own {} +", []),
    ("find . -name '*.orig' -exec false {} +", []),
    ("find . -name '*.pyc' -exec rm {} +", []),
    ("find src -name '*.sh' -exec sh -c 'exit 1' {} +", []),
    ("find src -name '*.sh'", []),
    ("! grep -q x -", []),
    ("cat a | grep x", []),
    ("! grep -q x $FILES", []),
    ("test -f a && ! grep -q x b", [("grep", ("b",))]),
    ('test -z "$(grep -rs x src)"', [("grep", ("src",))]),
    ("if grep -rqs x src; then exit 1; fi", [("grep", ("src",))]),
    ("grep -rqs x src && exit 1 || exit 0", [("grep", ("src",))]),
    ("grep -rqs x src || exit 1", []),
    ("test -f a && ruff check src", []),
    ("! git grep -q x -- src ':!src/old'", [("grep", ("src",))]),
    ("! git grep -q x HEAD~1", [("grep", (".",))]),
    ("! git grep -q x -- :/src", []),
    ("! (cd web && git grep -q x)", [("grep", ("web",))]),
)


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("mypy --version", "mypy --version"),
        ("python3 -m flake8 --help && echo ok", "flake8 --help"),
        ("npx eslint -v && npx tsc --version", "eslint -v"),
        ("uv run ruff check --show-files", "ruff --show-files"),
        ("ruff rule E501", "ruff rule"),
        ("tsc -v", "tsc -v"),
        ("mypy -v src", ""),
        ("ruff --version && ruff check src", ""),
        ("eslint --version; pytest", ""),
        ("./cli --version", ""),
        ("ruff check src", ""),
    ],
)
def test_a_checker_that_only_tells_of_itself(command: str, asked: str) -> None:
    reading = read_command(command, parse_shell)
    assert reading.idle_option == asked
    if asked:
        found = vacuous(reading, ["1.2.3"], whole=True)
        assert found is not None
        assert found.why == f"{asked} checks nothing"


@pytest.mark.parametrize(("command", "searched"), SEARCHED)
def test_where_a_checker_searches(command: str, searched: list[tuple[str, object]]) -> None:
    reading = read_command(command, parse_shell)
    assert reading.only_checkers == bool(searched)
    if searched:
        assert [(each.program, each.paths) for each in checkers(reading.commands)] == searched
