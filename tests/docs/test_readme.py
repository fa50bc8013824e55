"""What the README and the pages tell is complete, and the comparison of sessions notices."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from flow import hook
from flow.cli.main import COMMANDS
from flow.cli.parser import Parser
from flow.cli.parsing import command_of
from tests.docs.console import Command, normal
from tests.support import ROOT

README = Path(ROOT, "README.md").read_text(encoding="utf-8")
COMMAND_LINE = Path(ROOT, "docs/reference/cli.md").read_text(encoding="utf-8")


DOCS = [str(page.relative_to(Path(ROOT, "docs"))) for page in Path(ROOT, "docs").rglob("*.md")]
PAGES = ["README.md", *(f"docs/{page}" for page in sorted(DOCS))]
USER_PAGES = sorted(
    page for page in DOCS if re.fullmatch(r"(start/)?[\w-]+\.md", page) and page != "README.md"
)
MOST_USER_PAGES = 18
"""Every page of ``docs/`` and ``docs/start/`` but the index; see CONTRIBUTING.md, *Docs*."""


@pytest.mark.parametrize("page", PAGES)
def test_no_list_of_runs_depends_on_the_second_they_began_in(page: str) -> None:
    # Runs are listed by their ids: a second, then the goal. Two begun in one second go by the goal.
    lines = Path(ROOT, page).read_text(encoding="utf-8").splitlines()
    goals = [
        re.search(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z-([a-z0-9-]+)", line) for line in lines
    ]
    for number, (one, two) in enumerate(pairwise(goals), 1):
        assert one is None or two is None or one[1] <= two[1], f"{page}, line {number}"


def test_the_package_is_installed_from_one_page() -> None:
    """Nothing is published under that name: a release changes the lines of one page."""
    from_git = re.compile(r"git\+\S+|\bflow-goal\[")
    told = [page for page in PAGES if from_git.search(Path(ROOT, page).read_text("utf-8"))]
    assert told == ["docs/start/install.md"]
    for page in PAGES:
        text = Path(ROOT, page).read_text("utf-8")
        assert not re.search(r"install '?flow-goal(\[[a-z,]+\])?'?(?! @)", text), page


def test_every_exit_code_is_told() -> None:
    for code in (0, 1, 2, 3, 4, 5, 130):
        assert f"| {code} |" in COMMAND_LINE


@pytest.mark.parametrize(
    ("expected", "actual", "agrees"),
    [
        ("one\n...\nfour", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\nfour", "one\ntwo\nthree\n", False),
        ("one", "two", False),
        ("", "", True),
        ("", "something", False),
        ("took 0.2 s, run 2026-01-01T000000Z-x", "took 1.5 s, run 2027-03-04T111213Z-x", True),
        ("exit 0 (0.0 s)", "exit 0 (2 min 5 s)", True),
        ("exit 0", "exit 1", False),
    ],
)
def test_the_comparison_notices(expected: str, actual: str, agrees: bool) -> None:
    assert (Command(1, "command", expected, actual).difference == "") is agrees


def test_only_volatile_parts_are_left_out() -> None:
    assert normal("AC1 pass, 3 of 4\n") == "AC1 pass, 3 of 4"


def test_every_command_is_run_or_told() -> None:
    for name in COMMANDS:
        module = import_module(f"flow.cli.{name}")
        for word in getattr(module, "COMMANDS", [""]):
            command = f"flow {name} {word}".strip()
            told = re.search(rf"^#+ {command}$", COMMAND_LINE, re.M)
            assert told, f"{command} is not in docs/reference/cli.md"


TOLD = re.split(r"^#+ (flow .*)$", COMMAND_LINE, flags=re.M)[1:]
SECTIONS = dict(zip(TOLD[::2], TOLD[1::2], strict=True))
"""What the list of commands tells of each; a test holds that it is current."""


@pytest.mark.parametrize("page", [*(f"docs/{page}" for page in USER_PAGES), "README.md"])
def test_every_command_that_a_page_names_is_there_with_its_options(page: str) -> None:
    text = Path(ROOT, page).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
             for line in block.splitlines()]  # fmt: skip
    named = re.findall(
        r"`((?:bin/)?flow\s[^`]*)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    )
    for command in [*named, *(line for line in lines if re.match(r"(bin/)?flow ", line))]:
        words = command.partition("#")[0].split()
        in_group = any(name.startswith(f"flow {words[1]} ") for name in SECTIONS)
        length = 3 if in_group and re.match("[a-z]", " ".join(words[2:])) else 2
        section = SECTIONS.get(" ".join(["flow", *words[1:length]]))
        assert section or words[1].startswith("-"), f"{page}: {command}"
        for option in re.findall(r"(?<=\s)--[a-z-]+", re.sub(r"'[^']*'", "", " ".join(words))):
            told = re.search(rf"`{option}\b|\[{option}\b", section or "")
            assert told or option in ("--help", "--json", "--version"), f"{page}: {command}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_told(name: str) -> None:
    module = import_module(f"flow.cli.{name}")
    own = [Parser(f"flow {name}", module.COMMAND)] if hasattr(module, "COMMAND") else []
    words = [f"{name} {word}" for word in getattr(module, "COMMANDS", ())]
    below = [Parser(f"flow {word}", command_of(module, word.split()[1])) for word in words]
    for parser in (*own, *below):
        options = {action.option_strings[0] for action in parser._actions if action.option_strings}
        told = set(re.findall(r"`(--?[a-z-]+)", SECTIONS[parser.prog]))
        assert options - told <= {"-h", "--json"}, parser.prog


def test_every_word_of_the_hook_is_told() -> None:
    words = re.findall(r"^(?:usage:)? +flow hook ([a-z-]+)", hook.USAGE, re.M)
    assert len(words) > 3
    assert [word for word in words if f"| `flow hook {word}" not in COMMAND_LINE] == []


@pytest.mark.parametrize("helper", sorted(path.name for path in Path(ROOT, "bin").glob("*.sh")))
def test_every_helper_is_told(helper: str) -> None:
    page = Path(ROOT, "docs", "reference", "cli.md").read_text(encoding="utf-8")
    assert f"| `{helper} " in page


@pytest.mark.parametrize("page", sorted(page for page in DOCS if "adr/" not in page))
def test_every_page_is_in_the_list_of_pages(page: str) -> None:
    index = Path(ROOT, "docs", "README.md").read_text(encoding="utf-8")
    assert page == "README.md" or f"]({page})" in index


def test_the_first_screen_says_what_it_is_and_how_to_start() -> None:
    first = README.splitlines()[:40]
    assert "flow demo" in " ".join(first)
    assert "bin/check" in README
    assert len(README.splitlines()) <= 150


def test_there_are_few_pages_for_users() -> None:
    assert len(USER_PAGES) <= MOST_USER_PAGES


@pytest.mark.parametrize("page", USER_PAGES)
def test_a_page_is_titled_by_its_readers_question_and_listed_by_it(page: str) -> None:
    title = Path(ROOT, "docs", page).read_text(encoding="utf-8").split("\n", 1)[0]
    assert title.startswith("# ")
    assert title.endswith("?")
    index = Path(ROOT, "docs", "README.md").read_text(encoding="utf-8")
    assert f"[{title[2:]}]({page})" in index


@pytest.mark.parametrize("page", [*(f"docs/{page}" for page in USER_PAGES), "README.md"])
def test_no_line_of_a_users_page_is_too_long_for_an_editor(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", Path(ROOT, page).read_text("utf-8"), flags=re.S | re.M)
    assert [line for line in text.split("\n") if len(line) > 120 and line[0] not in "|<"] == []
