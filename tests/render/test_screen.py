"""The toolkit of every screen: marks, colours, widths, rows, times."""

from __future__ import annotations

import pytest

from flow.core import instant
from flow.render.screen import (
    COLOURS,
    MARKS,
    MEANING,
    Column,
    Screen,
    Styled,
    ago,
    lines_of,
    mark_of,
    measure,
    took,
)

NOW = instant.seconds("2026-11-20T14:16:31Z")
ROWS = [
    (mark_of("proved"), "AC1", "Strict mode refuses impossible dates", "exit 0, 3 of 3", "3.6 s"),
    (mark_of("failed"), "AC12", "The types hold", Styled("exit 1", "failed"), "1 min 4 s"),
]
COLUMNS = (Column(), Column(), Column(cut=True), Column(), Column(right=True))


@pytest.mark.parametrize("columns", [44, 57, 80, 120, 200])
def test_no_line_is_longer_than_the_screen_less_one(columns: int) -> None:
    screen = Screen(columns)
    lines = [
        *screen.table(COLUMNS, ROWS),
        screen.rule("AC1  pytest -q tests/test_strict.py " * 5, "last 5 of 63"),
        *screen.wrapped("because", "word " * 100),
    ]
    assert max(map(measure, lines)) <= columns - 1


def test_a_table_has_its_times_at_the_edge_and_cuts_only_what_may_be_cut() -> None:
    wide = Screen(80).table(COLUMNS, ROWS)
    assert wide == [
        "✓ AC1   Strict mode refuses impossible dates  exit 0, 3 of 3" + " " * 14 + "3.6 s",
        "✗ AC12  The types hold                        exit 1" + " " * 18 + "1 min 4 s",
    ]
    narrow = Screen(50).table(COLUMNS, ROWS)
    assert narrow[0] == "✓ AC1   Strict mode r…  exit 0, 3 of 3      3.6 s"
    assert [measure(line) for line in narrow] == [49, 49]
    away = Screen().table(COLUMNS, ROWS)
    assert away[0].endswith("exit 0, 3 of 3      3.6 s"), "off a terminal nothing is cut or spread"


def test_a_column_to_spare_is_left_out_whole() -> None:
    columns = (Column(), Column(cut=True), Column(spare=True), Column(right=True))
    row = [("✓", "a text of some length here", "pytest -q tests", "1 s")]
    assert "pytest" in Screen(80).table(columns, row)[0]
    assert Screen(50).table(columns, row) == ["✓ a text of some length here                  1 s"]


def test_heads_are_dim_and_empty_columns_take_no_place() -> None:
    columns = (Column(), Column("goal"), Column("branch"), Column("turns", right=True))
    rows = [("✓", "a", "main", "12"), ("✗", "bb", "main", "1")]
    lines = Screen(colour=True).table(columns, rows, heads=True)
    assert lines[0].count("\x1b[2m") == 3
    plain = Screen().table((Column(), Column(), Column()), [("a", "", "b")])
    assert plain == ["a b"]


def test_colour_is_by_meaning_and_never_alone() -> None:
    dark = Screen(80, colour=True)
    assert dark.mark("failed") == "\x1b[31m✗\x1b[0m"
    assert dark.mark("unasked") == "\x1b[2m○\x1b[0m"
    assert dark.paint("person", "flow") == "\x1b[36mflow\x1b[0m"
    assert dark.paint("", "flow") == "flow"
    assert Screen(80).mark("failed") == "✗"
    assert set(MEANING.values()) <= set(MARKS)
    assert {mark_of(name).style for name in MARKS} - {""} <= set(COLOURS)


def test_ascii_where_marks_cannot_be_shown() -> None:
    poor = Screen(80, unicode=False)
    shown = [
        *poor.table(COLUMNS, ROWS),
        poor.rule("AC1", "last 5 of 63"),
        poor.quote("no"),
        poor.head("undecided", "strict-dates", "needs you", "turn 1"),
        *(poor.mark(name) for name in MARKS),
        *Screen(44, unicode=False).table(COLUMNS, ROWS),
    ]
    assert all(line.isascii() for line in shown)
    assert shown[0].startswith("+ AC1 ")
    assert shown[2].startswith("-- AC1 ---")
    assert shown[3] == '"no"'


def test_the_head_holds_what_explains_at_the_edge() -> None:
    line = Screen(80).head("failed", "strict-dates", "not achieved", "turn 3, 09:55")
    assert line.startswith("✗ strict-dates  not achieved  ")
    assert line.endswith("turn 3, 09:55")
    assert measure(line) == 79
    assert Screen().head("failed", "a\x1b[31m", "no", "x") == "✗ a\\x1b[31m  no  x"


def test_wide_characters_take_two_columns() -> None:
    assert measure("✓…─“") == 4
    assert measure("日本") == 4
    assert Screen().cut("日本語テキスト", 7) == "日本語…"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "0.0 s"),
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (204, "3 min 24 s"),
        (3599.7, "1 h 0 m"),
        (4680, "1 h 18 m"),
    ],
)
def test_how_long_something_took(value: float, text: str) -> None:
    assert took(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-5, "now"), (59, "now"), (60, "1 min"), (4680, "1 h 18 m"), (86400, "1 d"), (999999, "11 d")],
)
def test_how_old_something_is(value: float, text: str) -> None:
    assert ago(value) == text


def test_times_are_local_and_short_at_a_terminal_and_whole_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    try:
        here, away = Screen(80, now=NOW), Screen(now=NOW)
        assert here.at("2026-11-20T13:05:09Z") == "14:05"
        assert here.at("2026-11-19T23:05:09Z") == "00:05", "today, by the clock of the reader"
        assert here.at("2026-11-19T22:05:09Z") == "19 Nov"
        assert here.at("2025-11-19T22:05:09Z") == "19 Nov 2025"
        assert away.at("2026-11-20T14:05:09+01:00") == "2026-11-20 13:05:09 UTC"
        assert here.at("nonsense\x1b") == "nonsense\\x1b"
        assert here.age("2026-11-20T12:58:31Z") == "1 h 18 m"
        assert here.age("nonsense") == "nonsense"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_blocks_have_one_empty_line_between_them() -> None:
    assert lines_of([], ["a"], [], ["b", "c"]) == ["a", "", "b", "c"]
    assert lines_of() == []
