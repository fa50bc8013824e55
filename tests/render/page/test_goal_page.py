"""A goal's page: complete, safe, small, and the same from the same record."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from flow.core.decision.details import RowDetails
from flow.core.report import RecordChain
from flow.core.stop.pause import Pause
from flow.render.page.goal import goal_page
from flow.render.page.style import STYLE
from tests.render.page.scenes import report, stamp

EVIL = '<script>alert(1)</script>"><img src=x onerror=y>&\x1b[31m\u202e</style></pre>'
MIB = 1 << 20
ID = "strict-dates"


class Tags(HTMLParser):
    """What a browser would make of a page: its elements, attributes, places and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(str(value))
            elif name == "href":
                self.links.append(str(value))


def words_of(text: str) -> str:
    """The page's text without its markup."""
    body = text.partition("</style>")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def test_every_part_of_the_record_is_on_the_page() -> None:
    text = goal_page(report(text="words of mine"))
    for name in ("failed", "results", "time-line", "files", "durations", "record", "limitations"):
        assert f'id="{name}"' in text
    assert text.count("words of mine") >= 18
    assert "What is not proved" in text
    assert "is a rendering of the record at head" in words_of(text)
    assert "54:7c1fa90b34d2" in text
    assert "“" in STYLE  # around what people said


def test_undecided_criteria_are_called_so_and_what_failed_is_worked_on_first() -> None:
    told = report(5, 2, "plain")
    one = told.criteria[0]
    masked = {"outcome": "inconclusive", "status": "evidence_collected", "exit_code": 0}
    row = {**one.results[-1].row, **masked, "reason": "masked: `make` may fail unseen"}
    now = {**one.now, "status": "evidence_collected"}
    newest = one.results[-1]._replace(row=row, details=RowDetails())
    undecided = one._replace(now=now, results=(*one.results[:-1], newest))
    words = words_of(goal_page(told._replace(criteria=(undecided, *told.criteria[1:]))))
    assert "undecided: masked: `make` may fail unseen ." in words
    assert "Failed and undecided 2 criteria" in words
    assert "Work on AC3, then" in words
    alone = told._replace(criteria=(undecided, told.criteria[1]))
    assert "Undecided 1 criterion" in words_of(goal_page(alone))
    assert "Work on AC1, then" in words_of(goal_page(alone))


def test_no_text_becomes_markup_and_no_control_character_gets_through() -> None:
    plain = Tags(goal_page(report()))
    text = goal_page(report(text=EVIL))
    evil = Tags(text)
    assert evil.names == plain.names
    assert evil.attributes == plain.attributes
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_nothing_is_fetched_or_run() -> None:
    text = goal_page(report())
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert "unsafe-inline" not in text
    assert not {"script", "img", "link", "iframe", "form", "base"} & Tags(text).names
    assert not [name for name in Tags(text).attributes if name.startswith("on") or name == "style"]
    for word in ("<script", "http:", "https:", "url(", "@import", "javascript:"):
        assert word not in text


@pytest.mark.slow
@pytest.mark.parametrize(("criteria", "turns"), [(1, 0), (1, 1), (12, 30), (2, 300), (100, 2)])
def test_every_link_leads_somewhere_and_every_place_is_there_once(
    criteria: int, turns: int
) -> None:
    tags = Tags(goal_page(report(criteria, turns)))
    assert len(tags.ids) == len(set(tags.ids))
    assert {link.removeprefix("#") for link in tags.links} <= set(tags.ids)


@pytest.mark.slow
def test_a_hundred_criteria_and_two_hundred_turns_take_at_most_two_mebibytes() -> None:
    long = "x" * 100_000
    assert len(goal_page(report(100, 200)).encode()) < 2 * MIB
    assert len(goal_page(report(20, 20, long)).encode()) < 2 * MIB


def test_the_same_record_gives_the_same_bytes() -> None:
    assert goal_page(report(10, 20)) == goal_page(report(10, 20))


def state(**status: Any) -> str:
    """The words of a page whose goal stands so."""
    return words_of(goal_page(report(5, 12, "plain", status=status)))


PROPOSAL = {"proposal_id": "9f2c41d07be3aa", "to": "achieved", "reason": "", "live": True}
ACT = {
    "about": "achieved",
    "at": stamp(13),
    "by": "repo owner",
    "by_from": None,
    "said_from": "terminal",
    "note": "The slower week dates are known.",
    "paths": [],
}


@pytest.mark.parametrize(
    ("status", "title", "box"),
    [
        ({}, "not achieved", "Work on AC3, then flow goal evaluate strict-dates"),
        (
            {"proposal": PROPOSAL},
            "achieved , as proposed",
            "Waits for you flow goal confirm strict-dates Shows what changed",
        ),
        (
            {"paused": Pause("tests/ is protected", "sam", "agent", stamp(13)).to_document()},
            "paused",
            "Waits for you flow goal resume strict-dates Paused by the agent",
        ),
        (
            {"trusted": False, "next": f"read the contract, then: flow trust record {ID}"},
            "not achieved",
            "Waits for you flow trust record strict-dates Read the contract.",
        ),
        (
            {"status": "draft", "next": f"flow goal activate {ID}"},
            "draft",
            "Complete the draft, then flow goal activate strict-dates",
        ),
        (
            {"status": "waiting_for_user", "next": f"AC5: flow goal approve {ID} AC5"},
            "waits for you",
            "Waits for you flow goal approve strict-dates AC5",
        ),
        (
            {"status": "achieved", "closed": ACT, "files": None},
            "achieved",
            "Confirmed by repo owner The slower week dates are known.",
        ),
        (
            {"status": "cancelled", "closed": {**ACT, "about": "cancelled"}, "files": None},
            "cancelled",
            "Closed by repo owner",
        ),
        (
            {"status": "achieved", "closed_by_hand": True, "files": None},
            "achieved, closed by hand",
            "Closed by hand Flow’s own record does not know who closed it.",
        ),
    ],
)
def test_the_title_and_the_one_thing_to_do(status: dict[str, Any], title: str, box: str) -> None:
    text = state(**status)
    assert f" {ID} {title} " in text
    assert box in text


def test_what_is_outside_is_mended_first_and_allowed_second() -> None:
    file = {"path": "tools/regen.py", "change": "new", "do": "remove", "command": "rm -- x"}
    amend = f"flow goal amend {ID} --allow tools/regen.py"
    verdict = {
        "goal_id": ID,
        "verdict": "blocked",
        "path_violations": ["tools/regen.py"],
        "criterion_results": [],
        "outside": {"count": 1, "files": [file], "amend": amend, "folders": [], "not_opened": []},
    }
    files = {"changed": [], "outside": ["tools/regen.py"], "moved": False, "problems": []}
    given = report(status={"status": "blocked", "files": files}, verdict=verdict)
    text = words_of(goal_page(given))
    assert f"{ID} blocked" in text
    remedy = f"Remove it, then flow goal evaluate {ID} or widen its paths, on the record: {amend}"
    assert remedy in text
    assert "tools/regen.py new, remove: rm -- x" in re.sub(" +", " ", text)


def test_a_damaged_record_is_said_before_all_else() -> None:
    chain = RecordChain("54:7c", 54, ("events.jsonl: entry 31 does not fit its hash",))
    text = words_of(goal_page(report(status={"proposal": PROPOSAL}, chain=chain)))
    assert f"{ID} record damaged" in text
    assert "See what was changed flow evidence verify strict-dates" in text
    assert "flow goal confirm" not in text
    assert "entry 31 does not fit its hash" in text
    assert "What is not proved The record is damaged : no result of it is a proof" in text


def test_what_was_never_run_is_not_called_measured() -> None:
    fresh = report(2, 0, status={"status": "active"})._replace(evidence=(), turns=())
    text = words_of(goal_page(fresh))
    assert "no criterion is proved. Files:" in text
    assert "nothing was measured yet: see limitations" in text
    assert "was measured on one machine" in words_of(goal_page(report(2, 3)))


def test_what_passed_on_other_files_is_named_as_stale_and_stays_closed() -> None:
    given = report(1, 5)
    stale = {**given.criteria[0].now, "fresh": False, "why_stale": ["tree"]}
    row = given.criteria[0]._replace(now=stale)
    text = goal_page(given._replace(criteria=(row,)))
    assert "stale, was exit 0" in text
    assert 'id="failed"' not in text


def test_what_judges_said_has_bars_a_line_and_a_column_for_each_judge() -> None:
    text = goal_page(report())
    told = words_of(text)
    assert "a judge’s opinion is no measurement" in told
    assert told.count("in the judge’s words") == 4
    for way in ("ballots", "a rubric", "a scorecard", "a debate"):
        assert f"by {way}" in told
    assert 'aria-label="Figures so far, of 10: turn 1 3, turn 2 5, turn 3 6.2"' in text
    assert "Judge 1 model a" in told
    assert "Judge 2 model b failed 0.7" in told
    assert "What judges said" not in words_of(goal_page(report(opinions=())))


def test_an_amendment_shows_the_lines_that_changed() -> None:
    text = goal_page(report())
    assert "<del>  - mypy || true</del><ins>  + mypy</ins>" in text


def test_people_are_told_with_who_where_and_their_words() -> None:
    text = words_of(goal_page(report(text="all of it")))
    assert "all of it amended the contract mypy could not fail: all of it" in text
    assert "Said at a terminal." in text
    assert "The agent stopped; Flow asked it to go on." in text
    assert "asks for less" in text
    assert "The approval of protected is not known" in text
