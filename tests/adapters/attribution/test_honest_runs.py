"""Commands of real projects with what they print: none is called masked or vacuous."""

from __future__ import annotations

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import (
    all_reports,
    lines_of,
    read_command,
    reported_failure,
    vacuous,
)
from tests.core.attribution.honest_runs import HONEST_RUNS


@pytest.mark.parametrize(
    ("command", "output"), [row[:2] for row in HONEST_RUNS], ids=[row[0] for row in HONEST_RUNS]
)
def test_an_honest_run_is_a_pass(command: str, output: str) -> None:
    reading = read_command(command, parse_shell)
    lines = lines_of(output.encode())
    assert reading.masked_exit == ""
    assert reported_failure(reading, all_reports(reading, lines, [])) is None
    assert vacuous(reading, lines, whole=True) is None


def test_there_are_more_than_a_hundred() -> None:
    assert len({row[:2] for row in HONEST_RUNS}) == len(HONEST_RUNS) > 150
