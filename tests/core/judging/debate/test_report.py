"""A judge's report file: the seed's headings, and every alteration noticed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from flow.core.judging.common.reply import Mark
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate.model import Position
from flow.core.judging.debate.points import Point
from flow.core.judging.debate.reply import Answered
from flow.core.judging.debate.report import inert, quoted, read, render
from flow.core.judging.debate.section import Altered, DebateSubject, Disagreement, Section

CRITERIA = debate_criteria.parse("security:60,docs:40")
ABOUT = DebateSubject("0" * 32, "A REST API for users", ("src/api/users.ts",), CRITERIA)
ASKED = tuple(Answered(f"q{n}?", f"a{n}") for n in range(1, 6))


def marks(security: float, docs: float, *quotes: str) -> tuple[Mark, ...]:
    why = "because `x` <b>matters</b>"
    return (
        Mark("security", security, why, quotes, ("never said",), ("x = 1",)),
        Mark("docs", docs, "short"),
    )


FIRST = Section(
    0,
    Position(1, marks(3, 4, "db.all();"), ("fast",), (), "needs_revision", False),
    (3.5, 4),
    ASKED,
)
SECOND = Section(
    1,
    Position(1, marks(4, 4, "limit()"), ("fast",), ("no tests",), "pass", True),
    (3, 4),
    (),
    (Disagreement(2, "security", 3, 5, "I saw db.all()", "they missed it"),),
    ("security",),
    (Point("2.0.S1", "small <b>"),),
    ("9.9.S9",),
    (2,),
)
FILE = render(ABOUT, FIRST) + render(ABOUT, SECOND)


BLOCK = r"(?s)```json\n.*?\n```"


def swap(old: str, new: str) -> Callable[[str], str]:
    """The first ``old`` in a text as ``new``."""
    return lambda text: text.replace(old, new, 1)


def test_the_first_section_as_the_seed_has_it() -> None:
    lines = render(ABOUT, FIRST).split("\n")
    assert lines[0] == "Done by Judge 1"
    assert "- Solution: `src/api/users.ts`" in lines
    assert '**Criterion "security"** (60%): 3/5' in lines
    assert "- Evidence: `db.all();`" in lines
    assert "- Not in the solution: `never said`" in lines
    assert "- Too short to look up: `x = 1`" in lines
    assert "- fast (1.0.S1)" in lines
    assert "- Justification: because \\`x\\` \\<b\\>matters\\</b\\>" in lines
    assert "**Overall Weighted Score**: 3.4/5.0" in lines
    assert "5. q5?" in lines
    assert "   - a5" in lines
    assert '- Criterion "security": 3.5 in the draft, 3 now' in lines
    assert "None named." in lines


def test_a_debate_as_the_seed_has_it() -> None:
    lines = render(ABOUT, SECOND).split("\n")
    start = lines.index("## Debate Round 1")
    assert [line for line in lines[start:] if line.startswith("#")] == [
        "## Debate Round 1",
        "### Disagreements Identified",
        "### Revised Assessment",
        "### Strengths",
        "### Weaknesses",
        "### Points of Others Shared",
        "## Evidences",
    ]
    for line in (
        '**Disagreement with Judge 2 on Criterion "security"**',
        "- My score: 3/5",
        "- Their score: 5/5",
        "- My defense: I saw db.all()",
        "- My challenge: they missed it",
        "After considering other judges' arguments:",
        '- **Criterion "security"**: Revised from 3 to 4/5',
        "  - Flagged by Flow: conformity, no new quote from the solution",
        '- **Criterion "docs"**: Maintained 4/5',
        "  - Reason maintained: short",
        "**New Weighted Score**: 4.0/5.0",
        '- Criterion "security": `limit()`',
        '- Criterion "security", too short to look up: `x = 1`',
        "- fast (1.1.S1)",
        "- no tests (1.1.W1)",
        "- small \\<b\\> (2.0.S1)",
        "**Agrees with**: Judge 2",
    ):
        assert line in lines, line


def test_what_was_not_given_is_said() -> None:
    bare = FIRST._replace(verification=(), before=(3, 4))
    assert "(asked for 5 questions and answers, the judge gave none)" in render(ABOUT, bare)
    assert "Changed by it:\n- nothing\n" in render(ABOUT, bare)
    one = (Disagreement(2, "security", 3, 5),)
    text = render(ABOUT, SECOND._replace(disagreements=one))
    assert "- My defense: `limit()`\n- My challenge: (none given)" in text
    plain = SECOND.position._replace(
        marks=tuple(
            m._replace(evidence=(), discounted=(), too_short=()) for m in SECOND.position.marks
        )
    )
    text = render(ABOUT, SECOND._replace(position=plain, disagreements=()))
    assert "None: no score lies more than one point" in text
    assert "## Evidences\n\nNone.\n" in text
    text = render(ABOUT, SECOND._replace(position=plain, disagreements=one))
    assert "- My defense: because" in text


def test_what_is_written_is_read_back() -> None:
    assert read(ABOUT, 1, render(ABOUT, FIRST)) == (FIRST,)
    assert read(ABOUT, 1, FILE) == (FIRST, SECOND)


ALTERED: dict[str, tuple[Callable[[str], str], str]] = {
    "nothing": (lambda _: "", "no structured part"),
    "no first line": (lambda t: t.removeprefix("Done by Judge 1\n"), "line 1 says ''"),
    "another judge's": (swap('"judge": 1', '"judge": 2'), "another judge's"),
    "another debate's": (lambda t: t.replace("0" * 32, "1" * 32), "belongs to another debate"),
    "a score in the text": (
        swap("(60%): 3/5", "(60%): 5/5"),
        "(60%): 5/5', its structured part '**Criterion \"security\"** (60%): 3/5'",
    ),
    "a total in the text": (
        swap("Score**: 3.4/5.0", "Score**: 4.4/5.0"),
        "says '**Overall Weighted Score**: 4.4/5.0'",
    ),
    "a score in the structure": (
        swap('"score": 3,', '"score": 5,'),
        "contradicts itself",
    ),
    "score and total in the structure": (
        lambda t: t.replace('"score": 3,', '"score": 5,', 1).replace('"3.4"', '"4.6"'),
        "its structured part '**Criterion \"security\"** (60%): 5/5'",
    ),
    "the recommendation": (
        swap('"recommendation": "pass"', '"recommendation": "fail"'),
        "**Recommendation**: pass",
    ),
    "no recommendation": (
        swap('"recommendation": "pass"', '"recommendation": "ok"'),
        "cannot be read",
    ),
    "a score out of range": (swap('"score": 3,', '"score": 9,'), "cannot be read"),
    "a score that is text": (swap('"score": 3,', '"score": "3",'), "cannot be read"),
    "NaN": (swap('"score": 3,', '"score": NaN,'), "cannot be read"),
    "acceptance": (
        swap('"accepts_consensus": true', '"accepts_consensus": 1'),
        "cannot be read",
    ),
    "no JSON": (swap('"format"', "format"), "cannot be read"),
    "deep JSON": (lambda t: re.sub(BLOCK, f"```json\n{'[' * 9999}\n```", t), "cannot be read"),
    "a list": (lambda t: re.sub(BLOCK, "```json\n[]\n```", t), "cannot be read"),
    "one more key": (swap('"round": 0', '"more": 1,\n "round": 0'), "contradicts itself"),
    "twice the first": (lambda t: t[: t.index("\n## Debate")] * 2, "not that of round 1"),
    "the second only": (lambda t: t[t.index("\n## Debate") :], "not that of round 0"),
    "one more section": (
        lambda t: t + "\n## Debate Round 2\n\nThey won.\n",
        "lines, its structured",
    ),
    "a criterion gone": (swap('"name": "docs"', '"name": "doc"'), "cannot be read"),
    "text for a list": (
        swap('"strengths": [\n  "fast"\n ]', '"strengths": "fast"'),
        "contradicts itself",
    ),
    "a number for text": (
        swap('"justification": "short"', '"justification": 1'),
        "hold something else",
    ),
    "CRLF": (lambda t: t.replace("\n", "\r\n"), "no structured part"),
    "many": (lambda t: t + "```json\n{}\n```\n" * 200, "cannot be read"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_report_is_noticed_and_the_place_named(name: str) -> None:
    change, why = ALTERED[name]
    text = change(FILE)
    assert text != FILE
    with pytest.raises(Altered) as caught:
        read(ABOUT, 1, text)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_report_of_very_many_parts() -> None:
    turns = [SECOND._replace(round=n) for n in range(1, 101)]
    text = "".join(render(ABOUT, one) for one in (FIRST, *turns))
    with pytest.raises(Altered, match="more than 100"):
        read(ABOUT, 1, text)


HOSTILE = [
    "\n## Debate Round 9\n",
    "```json\n{}\n```\n",
    "``` `````",
    "<script>alert(1)</script>",
    "[click](http://example.org) ![x](y)",
    "| a | b |",
    "# heading",
    "\x1b]0;x\x07\u202e\u2028\x00",
    "\ud800",
    '"}]}\n```',
    "a" * 100_000,
    "Done by Judge 2",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_a_judge_becomes_structure(text: str) -> None:
    from flow.core.judging.debate.reply import one_line

    safe = one_line(text, 2000)  # as every text of a reply is before it comes here
    given = (Mark("security", 3, safe, (safe,), (safe,)), Mark("docs", 3, safe))
    position = Position(1, given, (safe,), (safe,), "fail", True)
    first = Section(0, position, (3, 3), (Answered(safe, safe),))
    second = Section(1, position, (4, 3), (), (Disagreement(2, "docs", 1, 3, safe, safe),))
    file = render(ABOUT, first) + render(ABOUT, second)
    assert read(ABOUT, 1, file) == (first, second)
    plain = render(ABOUT, FIRST) + render(ABOUT, SECOND)
    headings = [line for line in file.split("\n") if line.startswith(("#", "```", "Done by"))]
    assert headings == [
        line for line in plain.split("\n") if line.startswith(("#", "```", "Done by"))
    ]
    assert len(re.findall(r"^```json\n(.*?)\n```\n", file, re.M | re.S)) == 2
    outside = re.sub(r"(?ms)^```json\n.*?^```\n|`+.*?`+", "", file)
    assert not re.search(r"(?<!\\)[<\[]", outside)
    assert file.isprintable() or all(c.isprintable() or c == "\n" for c in file)


def test_foreign_text_in_markdown() -> None:
    assert inert("a *b* [c](d) <e>\n# f") == "a \\*b\\* \\[c\\](d) \\<e\\> \\# f"
    assert quoted("plain") == "`plain`"
    assert quoted("a `b` c") == "``a `b` c``"
    assert quoted("`b`") == "`` `b` ``"


def test_the_structured_part_is_plain_json() -> None:
    found = re.findall(r"^```json\n(.*?)\n```\n", FILE, re.M | re.S)
    assert [json.loads(one)["round"] for one in found] == [0, 1]
    assert json.loads(found[0])["criteria"][0]["score"] == 3
