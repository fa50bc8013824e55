"""``flow report``: complete, and nothing in it is markup that was not meant."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from flow.render.page import page

EVIL = '<script>alert(1)</script>"><img src=x onerror=y>&\x1b[31m\u202e'


def act(text: str, **more: Any) -> dict[str, Any]:
    keys = ("about", "at", "by", "by_from", "said_from", "note")
    return {**dict.fromkeys(keys, text), **more}


def report(text: str = "plain") -> dict[str, Any]:
    return {
        "status": {
            "goal_id": "issue-4",
            "status": "blocked",
            "outcome": text,
            "branch": text,
            "base_commit": text,
            "run_id": text,
            "contract": text,
            "trust": text,
            "turns_evaluated": 3,
            "next": text,
            "approvals": [act(text, paths=[text], vouched=False)],
            "closed": act(text),
            "criteria": [
                {
                    "id": "AC1",
                    "status": "pass",
                    "text": text,
                    "must_pass": False,
                    "last_result": text,
                    "last_evaluated_at": text,
                }
            ],
        },
        "verdict": {"verdict": "blocked", "reason": text, "path_violations": [text]},
        "evidence": [
            {
                "id": text,
                "type": text,
                "created_at": text,
                "command": f"{text}\nsecond line",
                "outcome": text,
                "proves": [text],
                "limitations": [text],
                "output_end": f"{text}\nlast line",
            }
        ],
        "events": [{"at": text, "type": text, "from": text, "to": "achieved", "reason": text}],
        "warnings": [text],
    }


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_every_part_of_the_record_is_on_the_page() -> None:
    text = page(report("words of mine"))
    assert text.count("words of mine") >= 18
    assert "second line" in text
    assert "last line" in text
    assert "(not required)" in text


def test_no_text_becomes_markup_and_no_control_character_gets_through() -> None:
    plain, evil = Tags(), Tags()
    plain.feed(page(report()))
    text = page(report(EVIL))
    evil.feed(text)
    assert evil.names == plain.names
    assert evil.attributes == plain.attributes
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_nothing_is_fetched_or_run() -> None:
    text = page(report())
    assert "default-src 'none'" in text
    assert "script" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_a_goal_without_a_verdict_has_a_page_too() -> None:
    assert "No verdict is recorded" in page({**report(), "verdict": None})


def test_what_people_said_stands_with_who_when_and_from_where() -> None:
    given = report()
    assert "What people said" not in page(
        {**given, "status": {**given["status"], "approvals": [], "closed": None}}
    )
    told = {"by": "R. Viewer", "by_from": None, "said_from": "agent", "note": "I read\nall of it"}
    approval = act("x", about="protected", **told, paths=["tests/a.py"], vouched=True)
    closed = act("x", about="achieved", by_from="git user.name", said_from=None, note=None)
    status = {**given["status"], "approvals": [approval], "closed": closed}
    text = page({**given, "status": status})
    assert "<td>protected approved: tests/a.py</td><td>R. Viewer</td><td>x</td>" in text
    assert "<td>an agent&#x27;s shell</td><td>“I read\nall of it”</td>" in text
    assert "<td>x (git user.name)</td><td>x</td><td>not on record</td><td></td>" in text
    assert "closed as" in text
    assert "does not know" not in text
    doubted = {**approval, "vouched": False}
    assert "does not know" in page({**given, "status": {**status, "approvals": [doubted]}})
