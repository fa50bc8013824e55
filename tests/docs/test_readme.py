"""Everything the README shows is run again, and says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import recorded
from tests.docs.console import Command, environment, normal, replay
from tests.support import ROOT

README = Path(ROOT, "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
def test_the_readme_says_what_happens(tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    recorded.install(tmp_path, home, "README")
    commands = list(replay(README, work, environment(home)))
    assert len(commands) > 15
    differences = [command.difference for command in commands if command.difference]
    assert not differences, "\n\n".join(differences)


def test_every_exit_code_is_told() -> None:
    for code in (0, 1, 2, 3, 4, 5, 130):
        assert f"| {code} |" in README


@pytest.mark.parametrize(
    ("expected", "actual", "agrees"),
    [
        ("one\n...\nfour", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\nfour", "one\ntwo\nthree\n", False),
        ("one", "two", False),
        ("", "", True),
        ("", "something", False),
        ("took 0.2 s, run 2026-01-01T000000Z-x", "took 1.5 s, run 2027-03-04T111213Z-x", True),
        ("exit 0", "exit 1", False),
    ],
)
def test_the_comparison_notices(expected: str, actual: str, agrees: bool) -> None:
    assert (Command(1, "command", expected, actual).difference == "") is agrees


def test_only_volatile_parts_are_left_out() -> None:
    assert normal("AC1 pass, 3 of 4\n") == "AC1 pass, 3 of 4"


def test_every_command_is_run_or_told() -> None:
    from importlib import import_module

    from flow.cli.main import COMMANDS

    for name in COMMANDS:
        module = import_module(f"flow.cli.{name}")
        for word in getattr(module, "COMMANDS", [""]):
            command = f"flow {name} {word}".strip()
            told = re.search(rf"(?:\$ |`|\(){command}\b", README)
            assert told, f"{command} is not in the README"


@pytest.mark.parametrize("helper", sorted(path.name for path in Path(ROOT, "bin").glob("*.sh")))
def test_every_helper_is_told(helper: str) -> None:
    assert f"| `{helper} " in README
