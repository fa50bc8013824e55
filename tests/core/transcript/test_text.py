"""Transcripts that somebody saved as plain text or Markdown."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flow.core.transcript.text import read_text

Found = list[tuple[str, str, str | None]]


def read(text: str, *, markdown: bool = False) -> Found:
    """Kind, text and result of each entry; what holds ``rm`` is destructive."""
    found = read_text(text, markdown=markdown, destroys=_destroys)
    return [(row.kind, row.text, row.result) for row in found.all()]


def _destroys(_tool: str, given: Mapping[str, str]) -> bool:
    return "rm " in given["command"]


@pytest.mark.parametrize(
    "head",
    [
        "User:",
        "user:",
        "Human:",
        "Prompt:",
        "**User:**",
        "**User**:",
        "__Human__:",
        "**User**",
        "# User",
        "## Human",
        "### Task",
        "[User]:",
        "User (12:30):",
        "🧑 User:",
    ],
)
def test_who_speaks(head: str) -> None:
    text = f"{head}\nmake it\n\nAssistant: made\nand more\n"
    assert read(text) == [("prompt", "make it", None), ("text", "made\nand more", None)]


@pytest.mark.parametrize(
    "line",
    ["Users: many", "the user: x", "user", "Agents:", "My assistant: x", "> user", "AI winter"],
)
def test_what_is_no_speaker(line: str) -> None:
    assert read(f"User: a\n{line}") == [("prompt", f"a\n{line}", None)]


def test_a_text_without_any_mark_is_one_entry() -> None:
    assert read("It was done.\n\nAll of it.") == [("text", "It was done.\n\nAll of it.", None)]
    assert read("\n \n") == []


def test_commands_and_what_they_printed() -> None:
    text = (
        "User: clean\nAssistant: I will\n$ rm -rf x\n$ ls\nerror: no such file\n\n"
        "$ true\nAssistant: done"
    )
    found = read_text(text, markdown=False, destroys=_destroys).all()
    assert [(row.kind, row.tool, row.text, row.result) for row in found] == [
        ("prompt", None, "clean", None),
        ("text", None, "I will", None),
        ("tool", "shell", "rm -rf x", ""),
        ("tool", "shell", "ls", "error: no such file"),
        ("tool", "shell", "true", ""),
        ("text", None, "done", None),
    ]
    assert [row.destructive for row in found] == [False, False, True, False, False, False]
    assert [row.failed for row in found] == [False, False, False, True, False, False]


def test_in_markdown_commands_stand_in_blocks() -> None:
    text = (
        "## User\n\nclean it\n\n## Assistant\n\nIt costs $ 5.\n$ ls is a command\n\n"
        "```console\n$ ls\na\n# User\n```\n\nUser: thanks\n"
    )
    assert read(text, markdown=True) == [
        ("prompt", "clean it", None),
        ("text", "It costs $ 5.\n$ ls is a command", None),
        ("tool", "ls", "a\n# User"),
        ("prompt", "thanks", None),
    ]


def test_what_follows_a_command_is_the_agents_text() -> None:
    text = "## User\n\ngo\n\n```console\n$ ls\na\n```\n\nIt is there.\n"
    assert read(text, markdown=True) == [
        ("prompt", "go", None),
        ("tool", "ls", "a"),
        ("text", "It is there.", None),
    ]


def test_a_fence_is_ended_by_one_of_its_length() -> None:
    text = "Assistant:\n````md\n```\nUser: x\n```\n````\nUser: y\n"
    assert read(text, markdown=True) == [("text", "```\nUser: x\n```", None), ("prompt", "y", None)]


def test_claude_codes_export() -> None:
    text = (
        "> make it\n\n⏺ I will look.\n\n⏺ Bash(ls -l)\n  ⎿  a\n     b\n\n"
        "⏺ Read(a.txt)\n  ⎿  Error: none\n\n"
        "⏺ Done.\n\n> thanks\n"
    )
    assert read(text) == [
        ("prompt", "make it", None),
        ("text", "I will look.", None),
        ("tool", "ls -l", "a\n     b"),
        ("tool", "a.txt", "Error: none"),
        ("text", "Done.", None),
        ("prompt", "thanks", None),
    ]


def test_a_quotation_is_no_prompt_where_it_is_no_export() -> None:
    assert read("Assistant: see\n> quoted\n") == [("text", "see\n> quoted", None)]


@pytest.mark.parametrize("markdown", [False, True])
def test_hostile_lines_take_no_time(markdown: bool) -> None:
    for line in ("#" * 100_000, "user " * 50_000, "(" * 100_000, "$ " * 50_000, "⏺ " * 50_000):
        assert read(f"User: a\n{line}", markdown=markdown)
