"""Faults as comments in a text, and taken out again."""

from __future__ import annotations

import pytest

from flow.adapters.contracts.marking import with_faults, without_faults
from flow.errors import Fault

TEXT = "a:\n  b: [1, 2]\n  c:\n    - id: X\n      v: |\n        #! no mark\n    - id: Y\nd: 1"
HEAD = "#! put right what is named here; an empty file changes nothing\n"


def above(key: str | None) -> str:
    """The line below the note of a fault at ``key``."""
    lines = with_faults(TEXT, [Fault("is wrong", key=key, remedy="mend it")]).splitlines()
    place = next(n for n, line in enumerate(lines) if "is wrong (mend it)" in line)
    return lines[place + 1] if place + 1 < len(lines) else ""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("a.b", "  b: [1, 2]"),
        ("a.b[1]", "  b: [1, 2]"),
        ("a.c[1].id", "    - id: Y"),
        ("a.c[1].missing.deep[3]", "    - id: Y"),
        ("a.c[0].v", "      v: |"),
        ("d", "d: 1"),
        ("line 4, column 3", "    - id: X"),
        ("line 99", ""),
        ("nowhere", "a:"),
        (None, "a:"),
    ],
)
def test_a_fault_stands_above_its_line(key: str | None, line: str) -> None:
    assert above(key) == line


def test_nothing_is_left_of_it_when_it_is_taken_out() -> None:
    faults = [Fault("x", key="a.c[0].v"), Fault("\x1b[2J\nlifecycle: forged", key="d"), Fault("y")]
    marked = with_faults(TEXT, faults)
    assert marked.startswith(HEAD)
    assert "\x1b" not in marked
    assert without_faults(marked) == TEXT + "\n"
    assert without_faults(TEXT) == TEXT
    assert with_faults(TEXT, []) == TEXT + "\n"
    assert with_faults("", [Fault("empty")]) == HEAD + "#! empty\n"


@pytest.mark.parametrize("text", ["a: [", "\t- b\n", "a: &x 1\nb: *x\n", "- 1\n", "\x00"])
def test_a_text_that_is_no_yaml_keeps_its_notes_on_top_or_at_their_line(text: str) -> None:
    marked = with_faults(text, [Fault("x", key="a"), Fault("y", key="line 1")])
    assert "#! y\n" in marked
    assert without_faults(marked).rstrip("\n") == text.rstrip("\n")
