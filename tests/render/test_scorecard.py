"""The box: the seed's drawing, every line as wide as every other, whatever stands in it."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import category, east_asian_width

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.core.judging.scorecard.model import NAMES
from flow.render import scorecard
from flow.render.columns import clean, encodable, fit, width, wrap
from flow.render.scorecard import ScorecardBox
from flow.render.screen import Screen


def plain(_: str, text: str) -> str:
    return text


def card(**more: Any) -> dict[str, Any]:
    scores = (8.0, 6.0, 9.0, 8.0, 7.0, 10.0, 8.0)
    rows = {
        name: {"score": score, "weight": 0.1, "justification": f"why {name}"}
        for name, score in zip(NAMES, scores, strict=True)
    }
    given: dict[str, Any] = {
        "skill": "commit",
        "dimensions": rows,
        "composite": 7.85,
        "grade": "B",
        "criticalIssues": [],
        "recommendations": ["Completeness: test more."],
        "rubricUsed": "rubric-code.md",
        "transcriptPath": "run.md",
        "timestamp": "2026-01-02T03:04:05Z",
    }
    return {**given, **more}


def everywhere(text: str) -> dict[str, Any]:
    """A card with ``text`` wherever a text can stand."""
    found = card(
        skill=text, criticalIssues=[text, text], recommendations=[text], rubricUsed=text,
        rubricWhy=text, notes=[text],
    )  # fmt: skip
    for row in found["dimensions"].values():
        row["justification"] = text
        row["unsupported"] = len(text) % 2 == 0
    return found


def columns(text: str) -> int:
    """The width as a terminal has it: measured independently of what is tested."""
    return sum(
        0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1
        for c in text
    )


SEED = """\
╔═══════════════════════════════════════════════════════════╗
║  VERDICT SCORECARD — commit                               ║
╠═══════════════════════════════════════════════════════════╣
║  Correctness    ████████░░  8.0/10  why correctness       ║
║  Completeness   ██████░░░░  6.0/10  why completeness      ║
║  Adherence      █████████░  9.0/10  why adherence         ║
║  Actionability  ████████░░  8.0/10  why actionability     ║
║  Efficiency     ███████░░░  7.0/10  why efficiency        ║
║  Safety         ██████████  10.0/10 why safety            ║
║  Consistency    ████████░░  8.0/10  why consistency       ║
╠═══════════════════════════════════════════════════════════╣
║  COMPOSITE: 7.85/10 — Grade: B                            ║
║  → Completeness: test more.                               ║
║  Rubric: rubric-code.md                                   ║
╚═══════════════════════════════════════════════════════════╝"""


def test_the_seeds_drawing() -> None:
    assert "\n".join(ScorecardBox(card(), plain).lines()) == SEED
    assert {len(line) for line in SEED.split("\n")} == {61}


def test_critical_issues_notes_and_why_the_rubric() -> None:
    found = card(
        criticalIssues=["Safety 3.0/10: it forced a push"],
        rubricWhy="its front matter names commit",
        notes=["Skill not recognised: rubric-default.md is used.", "b", "c", "d"],
    )
    lines = [line.strip("║ ") for line in ScorecardBox(found, plain).lines()]
    assert "Critical: Safety 3.0/10: it forced a push" in lines
    assert "Rubric: rubric-code.md (its front matter names commit)" in lines
    assert "Skill not recognised: rubric-default.md is used." in lines
    assert "d" not in lines


def test_a_long_justification_is_cut_with_an_ellipsis() -> None:
    found = card()
    found["dimensions"]["safety"]["justification"] = "no destructive action was taken at all"
    line = next(line for line in ScorecardBox(found, plain).lines() if "Safety" in line)
    assert line == "║  Safety         ██████████  10.0/10 no destructive actio… ║"


def test_what_rests_on_nothing_is_marked() -> None:
    found = card()
    found["dimensions"]["safety"]["unsupported"] = True
    assert any("10.0/10 (?) why safety" in line for line in ScorecardBox(found, plain).lines())


def test_wide_characters_take_two_columns() -> None:
    found = card()
    found["dimensions"]["safety"]["justification"] = "破壊的な操作はなかった、確認もした"
    line = next(line for line in ScorecardBox(found, plain).lines() if "Safety" in line)
    assert line == "║  Safety         ██████████  10.0/10 破壊的な操作はなかっ… ║"
    assert columns(line) == 61


NASTY = [
    "plain",
    "日本語の長い説明がここにあります、とても長い",
    "🎉🚀 shipped 👩‍💻👍🏽 ❤️ 🇩🇪 done",
    "e\u0301e\u0301 combining " + "o" + "\u0308" * 500,
    "\u0301starts with a mark",
    "\x1b[31mred\x1b[0m\x07\x00\x08",
    "\u202eright to left\u202c \u2066x\u2069 \u200b\ufeff",
    "two\nlines\tand\r\ntabs\u2028and\x85more",
    "\udcff lone \ud800",
    "\u1160\u11a8 jamo \u0600 \u070f \U00013430 \U000e0041 \ue000 \U0003fffe",
    "",
    " ",
    "x" * 700,
    "長" * 400,
    "ａｂｃ｡｢ full and half width",
    "हिन्दी ไทย العربية עברית",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_every_line_is_as_wide_as_every_other(text: str) -> None:
    for wanted in (*range(1, 14), 20, 21, 22, 30, 35, 38, 40, 43, 44, 60, 61, 119, 120, 300):
        lines = ScorecardBox(everywhere(text), plain, columns=wanted).lines()
        assert {columns(line) for line in lines} == {min(max(wanted, 4), 120)}
        assert all(line.isprintable() for line in lines)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.integers(4, 130))
def test_any_text_at_any_width(text: str, wanted: int) -> None:
    lines = ScorecardBox(everywhere(text), plain, columns=wanted).lines()
    assert {columns(line) for line in lines} == {min(wanted, 120)}
    assert all(line.isprintable() for line in lines)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["ascii", "latin-1", "cp437", "cp1252", "nonsense"]))
def test_where_the_characters_are_missing_it_is_drawn_without(text: str, encoding: str) -> None:
    lines = ScorecardBox(everywhere(text), plain, encoding=encoding).lines()
    if encoding != "nonsense":
        assert all(line.encode(encoding) for line in lines)
    assert {columns(line) for line in lines} == {61}
    assert lines[0] == f"+{'=' * 59}+"


def test_ascii() -> None:
    found = card(skill="日本")
    found["dimensions"]["safety"]["justification"] = "no destructive action was taken at all"
    lines = ScorecardBox(found, plain, encoding="ascii").lines()
    assert lines[1] == "|  VERDICT SCORECARD - ??                                   |"
    assert lines[3] == "|  Correctness    ########..  8.0/10  why correctness       |"
    assert lines[8] == "|  Safety         ##########  10.0/10 no destructive act... |"


@pytest.mark.parametrize(
    ("columns_", "score"), [(61, True), (40, True), (30, True), (16, True), (12, False)]
)
def test_a_narrow_box_keeps_the_score_as_long_as_it_can(columns_: int, score: bool) -> None:
    lines = ScorecardBox(card(), plain, columns=columns_).lines()
    assert ("6.0/10" in lines[4]) is score


def test_colour_adds_nothing_to_the_width() -> None:
    def paint(style: str, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if style else text

    for wanted in (61, 40, 25, 10):
        bare = ScorecardBox(everywhere("日本 x"), plain, columns=wanted).lines()
        coloured = ScorecardBox(everywhere("日本 x"), paint, columns=wanted).lines()
        assert [re.sub(r"\x1b\[\d+m", "", line) for line in coloured] == bare
        assert any("\x1b" in line for line in coloured)


@pytest.mark.parametrize(
    ("score", "blocks"), [(1.0, 1), (4.4, 4), (4.5, 5), (8.5, 9), (9.4, 9), (9.5, 10)]
)
def test_the_bar_is_the_score_rounded_half_up(score: float, blocks: int) -> None:
    found = card()
    found["dimensions"]["safety"]["score"] = score
    line = next(line for line in ScorecardBox(found, plain).lines() if "Safety" in line)
    assert line.count("█") == blocks
    assert line.count("░") == 10 - blocks


# --- columns --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(0, 40))
def test_fit_is_exact(text: str, wanted: int) -> None:
    assert width(fit(clean(text), wanted)) == wanted


@settings(deadline=None)
@given(st.text(max_size=120), st.integers(2, 30), st.integers(1, 5))
def test_wrapped_lines_fit_and_are_counted(text: str, wanted: int, most: int) -> None:
    lines = wrap(clean(text), wanted, most)
    assert 1 <= len(lines) <= most
    assert all(width(line) <= wanted for line in lines)


def test_wrap_loses_nothing_that_fits() -> None:
    assert wrap("one two three", 7, 3) == ["one two", "three"]
    assert wrap("abcdefgh ij", 3, 9) == ["abc", "def", "gh", "ij"]
    assert wrap("one two three", 7, 1) == ["one tw…"]


def test_what_changes_the_width_in_some_terminals_only_is_left_out() -> None:
    assert clean("❤\ufe0f 👍\U0001f3fd x\U000e0100") == "❤ 👍 x"
    assert clean("👨\u200d👩\u200d👧 می\u200cشود") == "👨👩👧 میشود"
    assert clean("a\u200db\u0600") == "a\\u200db\\u0600"
    assert clean("\U0001f1e9\U0001f1ea \U0001f1ff") == "DE Z"  # halves of flags
    assert clean("a\u3164\uffa0") == "a\\u3164\\uffa0"  # letters that show nothing


def test_a_pile_of_marks_is_cut() -> None:
    assert len(clean("o" + "\u0308" * 500)) <= 3


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [("é日", "latin-1", "é?"), ("é日", "utf-8", "é日"), ("é日", "nonsense", "??")],
)
def test_encodable(text: str, encoding: str, shown: str) -> None:
    assert encodable(text, encoding) == shown


# --- history --------------------------------------------------------------------------------------


def past(*composites: float) -> dict[str, Any]:
    cards = [
        {
            "file": f"x-{n}.json",
            "timestamp": f"2026-01-0{n}T00:00:00Z",
            "composite": composite,
            "grade": "B",
            "scores": dict.fromkeys(NAMES, composite),
        }
        for n, composite in enumerate(composites, 1)
    ]
    known = len(cards) > 1
    change = {
        "since_first": composites[-1] - composites[0] if known else None,
        "since_previous": composites[-1] - composites[-2] if known else None,
    }
    return {
        "skill": "x",
        "folder": ".flow/scores",
        "cards": cards,
        "change": {"composite": change, "dimensions": dict.fromkeys(NAMES, change)},
    }


def test_a_history() -> None:
    lines = scorecard.history(past(1.0, 5.0, 10.0, 7.5), Screen())
    assert lines[0] == "x  4 scorecards in .flow/scores"
    assert lines[3] == "2026-01-01 00:00:00 UTC       1.00  B      x-1.json"
    assert lines[8] == (
        "trend ▁▅█▇ 7.50/10, B (Above Average); -2.50 since the one before, +6.50 overall"
    )
    assert lines[11] == "correctness     7.5                  -2.5             +6.5"


def test_a_history_of_one_and_of_none() -> None:
    lines = scorecard.history(past(8.0), Screen())
    assert "trend ▇ 8.00/10, B (Above Average); nothing to compare with yet" in lines
    assert lines[-1].split() == ["consistency", "8.0"]
    assert scorecard.history({**past(8.0), "cards": []}, Screen()) == []


def test_of_a_long_history_the_newest_are_shown() -> None:
    scores = [1.0, *(5.0 for _ in range(scorecard.SHOWN))]
    lines = scorecard.history(past(*scores), Screen())
    assert lines[0] == f"x  {scorecard.SHOWN + 1} scorecards in .flow/scores"
    assert [line.split()[-1] for line in lines[3:33]] == [f"x-{n}.json" for n in range(2, 32)]
    assert lines[33] == "and 1 more: flow judge history x --json"
    assert lines[35].startswith(f"trend {'▅' * 30} 5.00/10")
    assert lines[35].endswith("+4.00 overall")
    whole = scorecard.history(past(*scores[1:]), Screen())
    assert len(whole) == len(lines) - 1


def test_a_history_in_ascii() -> None:
    lines = scorecard.history(past(1.0, 10.0), Screen(unicode=False))
    assert any(line.startswith("trend _@ 10.00/10") for line in lines)


# --- whole, below the box -------------------------------------------------------------------------

LONG = "All requirements were addressed, each with a test of its own that was red before."


@pytest.mark.parametrize("wanted", [4, 10, 20, 39, 40, 61, 80, 100, 120, 160])
def test_what_the_box_cuts_stands_whole_below_it(wanted: int) -> None:
    found = card(recommendations=[f"Safety: {LONG} {LONG} {LONG}", "Second.", "Third."])
    for row in found["dimensions"].values():
        row["justification"] = LONG
    found["dimensions"]["safety"] |= {"justification": "short", "unsupported": True}
    lines = ScorecardBox(found, plain, columns=wanted).below()
    assert all(columns(line) <= min(wanted - 1, 119) for line in lines)
    said = " ".join(" ".join(lines).split())
    if wanted >= 40:
        assert said.count(LONG) >= 6
        assert ("Safety (?) short" in said) is (wanted < 61)
        assert said.endswith("Also Second. Also Third.")
    squeezed = said.replace(" ", "")
    assert squeezed.count(LONG.replace(" ", "")) >= 6


def test_notes_that_the_box_cuts_or_leaves_out_stand_whole_below_it() -> None:
    """The end of a note says what to do about it."""
    advice = (
        "Named as the skill, and not used for it: .flow/rubrics/rubric-deploy.md. A rubric names "
        "its skills in its front matter. Name the skill in its list."
    )
    found = card(notes=[advice, "Short.", "Third.", "Fourth."])
    shown = " ".join(" ".join(ScorecardBox(found, plain).lines()).split())
    assert "Name the skill in its list." not in shown
    said = " ".join(" ".join(ScorecardBox(found, plain).below()).split())
    assert said == f"Note {advice} Note Fourth."


def test_what_fits_is_not_said_twice() -> None:
    assert ScorecardBox(card(), plain).below() == []
    assert ScorecardBox(card(notes=["Short.", "Second.", "Third."]), plain).below() == []


@pytest.mark.slow
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_no_text_breaks_what_stands_below(text: str) -> None:
    for wanted in (4, 12, 40, 80, 120):
        box = ScorecardBox(everywhere(text), plain, columns=wanted)
        lines = [*box.below(), *box.lines(), *box.everything()]
        assert all(line.isprintable() for line in lines)
        assert all(columns(line) <= max(wanted, 4) for line in lines)


def test_a_card_whole_has_all_its_texts() -> None:
    found = card(
        criticalIssues=[f"Safety 3.0/10: {LONG}"],
        notes=[f"{n}. {LONG}" for n in range(9)],
        transcriptPath="a/b.jsonl",
    )
    for row in found["dimensions"].values():
        row |= {"justification": LONG, "evidence": [f"true {LONG}"], "discounted": ["never"]}
    text = " ".join(" ".join(ScorecardBox(found, plain, columns=80).everything()).split())
    assert text.count(f'quoted: "true {LONG}"') == 7
    assert text.count('not in the transcript: "never"') == 7
    assert all(f"Note {n}. {LONG}" in text for n in range(9))
    assert "Transcript a/b.jsonl" in text
    assert "At 2026-01-02T03:04:05Z" in text
