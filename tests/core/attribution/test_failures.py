"""What a failure is called, in the words of the runner that is all a command starts."""

from __future__ import annotations

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import read_command
from flow.core.attribution.failures import (
    FAULT_COUNTS,
    NAMED_EXITS,
    failure_words,
    without_mask,
)

PYTEST = "FAILED a.py::b - assert\n4 failed, 10 passed in 0.74s\n"


def words(command: str, output: str, code: int | None = 1, *, whole: bool = True) -> str:
    return failure_words(read_command(command, parse_shell), output.encode(), code, whole=whole)


@pytest.mark.parametrize(
    ("command", "output", "told"),
    [
        ("pytest -q", PYTEST, "4 of 14 failed"),
        ("cd app && pytest -q", PYTEST, "4 of 14 failed"),
        ("python -m pytest", PYTEST, "4 of 14 failed"),
        ("uv run pytest -q", PYTEST, "4 of 14 failed"),
        ("pytest -q | tail -n 3", PYTEST, "4 of 14 failed"),
        ("pytest -q", f"1 failed, 1 passed in 0.10s\n{PYTEST}", "4 of 14 failed"),
        ("python -m unittest", "-" * 70 + "\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n", None),
        (
            "mypy --strict src",
            "a.py:1: error: x\nFound 3 errors in 2 files (checked 9)\n",
            "3 errors",
        ),
        ("ruff check .", "Found 1 error.\n", "1 error"),
        ("npx eslint .", "✖ 3 problems (2 errors, 1 warning)\n\n", "3 problems"),
        ("npx tsc --noEmit", "Found 2 errors in the same file, starting at: a.ts:1\n", "2 errors"),
        ("pyright", "2 errors, 0 warnings, 0 informations\n", "2 errors"),
        # whose figures or exit it is is not sure
        ("make test", PYTEST, ""),
        ("bash test.sh", PYTEST, ""),
        ("pytest -q; mypy src", PYTEST, ""),
        ("pytest a && pytest b", PYTEST, ""),
        ("pytest -q || pytest --lf", PYTEST, ""),
        ("! pytest -q", PYTEST, ""),
        ("pytest | mypy", PYTEST, ""),
        ("pytest -q", "no summary here\n", ""),
        ("mypy src", "Success: no issues found\n", ""),
        ("mypy src", "Found 3 errors in 2 files (checked 9)\n" + "more\n" * 9, ""),
        ("grep -q x", "4 failed, 10 passed in 0.74s\n", "grep found nothing"),
        ("cd app && grep -q x y", "", ""),  # `cd` ends with 1, too
    ],
)
def test_what_is_told(command: str, output: str, told: str | None) -> None:
    assert words(command, output) == ("1 of 3 failed" if told is None else told)


@pytest.mark.parametrize("row", NAMED_EXITS, ids=lambda row: f"{row.program}-{row.code}")
def test_every_named_exit(row: object) -> None:
    program, code, text, source = row  # type: ignore[misc]
    command = "python -m unittest" if program == "unittest" else program
    assert words(command, PYTEST, code) == text
    assert words(command, PYTEST, 77) != text
    assert words(f"{command}; true", PYTEST, code) == ""
    assert source
    assert len(text) < 40


@pytest.mark.parametrize("row", FAULT_COUNTS, ids=lambda row: row.program)
def test_every_count_has_a_source(row: object) -> None:
    assert row.source  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [None, 0])
def test_a_command_that_did_not_fail_is_not_called_anything(code: int | None) -> None:
    assert words("pytest", PYTEST, code) == ""


def test_a_runner_that_reports_several_times_is_counted_only_where_all_is_seen() -> None:
    output = "-" * 70 + "\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n"
    assert words("python -m unittest", output, whole=False) == ""
    assert words("pytest", PYTEST, whole=False) == "4 of 14 failed"  # it reports once, at the end


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("mypy src || true", "mypy src"),
        ("mypy src ||true ;", "mypy src"),
        ("mypy src || :", "mypy src"),
        ("mypy src; exit 0", "mypy src"),
        ("mypy src || echo 'it failed'", "mypy src"),
        ("mypy src || echo $(rm x)", ""),
        ("mypy src || echo a > log", ""),
        ("mypy src || rm x", ""),
        ("mypy src", ""),
        ("|| true", ""),
        ("bash -c 'mypy || true'", ""),
    ],
)
def test_the_end_that_masks_a_command(command: str, form: str) -> None:
    assert without_mask(command) == form
