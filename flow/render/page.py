"""A goal's record as one HTML page that needs nothing else: ``flow report``.

Pure: values in, text out. Every value comes from files, commands or people, so every one is
escaped, control and bidirectional characters are made visible, and a Content-Security-Policy
forbids scripts.
"""

from __future__ import annotations

from html import escape

from flow.core.chain.closing_record import PLACES
from flow.core.text.display import visible
from flow.errors import PATHS, cut_list
from flow.render.text import paused
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Document = Mapping[str, Any]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem;
vertical-align: top; border-bottom: 1px solid #8884 } pre { overflow: auto; background: #8881;
padding: .6rem; max-height: 24rem } code, pre { font-size: 13px } .good { color: #1a7f37 }
.bad { color: #cf222e } .warn { color: #9a6700 } dt { font-weight: 600 } dd { margin: 0 0 .5rem }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } }
"""
_CLASSES: Mapping[str, str] = {
    "achieved": "good",
    "pass": "good",
    "passed": "good",
    "fail": "bad",
    "failed": "bad",
    "blocked": "bad",
    "cancelled": "warn",
    "inconclusive": "warn",
    "needs_human_review": "warn",
    "waiting_for_user": "warn",
}


def page(report: Document) -> str:
    """The whole page for the document that ``flow report --json`` prints."""
    status, verdict = report["status"], report["verdict"]
    by_hand = " (closed by hand)" if status.get("closed_by_hand") else ""
    title = f"{status['goal_id']}: {status['status']}{by_hand}"
    parts = [
        f"<h1>{_html_text(status['goal_id'])} {_status_word(status['status'])}{by_hand}</h1>",
        f"<p>{_html_text(status['outcome'])}</p>",
        _fact_list(status),
        *(_verdict(verdict, status["goal_id"]) if verdict else ["<p>No verdict is recorded.</p>"]),
        "<h2>Criteria</h2>",
        _criteria(status["criteria"]),
        *_people(status),
        "<h2>Evidence</h2>",
        *(_evidence(row) for row in report["evidence"]),
        "<h2>History</h2>",
        _history(report["events"]),
        *_html_list("Warnings", report["warnings"]),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_html_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _html_text(value: object) -> str:
    return escape(visible(str(value)))


def _html_block(text: str) -> str:
    return escape("\n".join(visible(line) for line in text.split("\n")))


def _status_word(value: object) -> str:
    kind = _CLASSES.get(str(value))
    return f'<span class="{kind}">{_html_text(value)}</span>' if kind else _html_text(value)


def _html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_html_text(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>"


def _fact_list(status: Document) -> str:
    facts = {
        "branch": status["branch"],
        "base": status["base_commit"],
        "run": status["run_id"],
        "contract": status["contract"],
        "trust": status["trust"],
        "turns": status["turns_evaluated"],
        **({"paused": paused(status["paused"])} if status.get("paused") else {}),
        "next": status["next"],
    }
    rows = (
        f"<dt>{name}</dt><dd>{_html_text(value)}</dd>" for name, value in facts.items() if value
    )
    return f"<dl>{''.join(rows)}</dl>"


def _verdict(verdict: Document, goal_id: str) -> list[str]:
    every = f"flow verdict show {goal_id} --json"
    return [
        f"<h2>Newest verdict: {_status_word(verdict['verdict'])}</h2>",
        f"<p>{_html_text(verdict['reason'])}</p>",
        *_html_list(
            "Outside the goal's paths",
            cut_list([str(path) for path in verdict.get("path_violations") or ()], every, PATHS),
        ),
    ]


def _html_list(title: str, items: Sequence[object]) -> list[str]:
    if not items:
        return []
    rows = "".join(f"<li>{_html_text(item)}</li>" for item in items)
    return [f"<h2>{_html_text(title)}</h2>", f"<ul>{rows}</ul>"]


def _criteria(criteria: Iterable[Document]) -> str:
    return _html_table(
        ("id", "status", "text", "last result", "at"),
        (
            (
                _html_text(c["id"]),
                _status_word(c["status"]),
                _html_text(c["text"]) + ("" if c["must_pass"] else " (not required)"),
                _html_text(c["last_result"] or "-"),
                _html_text(c["last_evaluated_at"] or "-"),
            )
            for c in criteria
        ),
    )


def _people(status: Document) -> list[str]:
    """What people approved and how the goal was closed, with who, when, from where, their words."""
    closed = status.get("closed")
    acts = [*(status.get("approvals") or ()), *([closed] if closed else [])]
    if not acts:
        return []
    rows = [
        (
            _act_about(act),
            _html_text(act["by"] or "-")
            + (f" ({_html_text(act['by_from'])})" * bool(act["by_from"])),
            _html_text(act["at"] or "-"),
            _html_text(PLACES.get(str(act["said_from"]), act["said_from"] or "not on record")),
            f"“{_html_block(act['note'])}”" if act["note"] else "",
        )
        for act in acts
    ]
    return [
        "<h2>What people said</h2>",
        _html_table(("about", "who", "when", "from", "words"), rows),
    ]


def _act_about(act: Document) -> str:
    """What an approval or a closing was about."""
    if "vouched" not in act:
        return f"closed as {_status_word(act['about'])}"
    paths = ", ".join(map(_html_text, cut_list(list(act["paths"]), "flow report --json", PATHS)))
    doubt = "" if act["vouched"] else ", which your own state folder does not know"
    return f"{_html_text(act['about'])} approved{f': {paths}' if paths else ''}{doubt}"


def _evidence(row: Document) -> str:
    about = ", ".join(row["proves"]) or "no criterion"
    facts = [row["type"], row["created_at"], f"about {about}"]
    if row["outcome"]:
        facts.append(str(row["outcome"]))
    limits = "".join(f"<li>{_html_text(limit)}</li>" for limit in row["limitations"])
    command = f"<pre>$ {_html_block(row['command'])}</pre>" if row["command"] else ""
    output = f"<pre>{_html_block(row['output_end'])}</pre>" if row["output_end"] else ""
    return (
        f"<details><summary>{_html_text(row['id'])} ({_html_text(', '.join(facts))})</summary>\n"
        f"{command}{output}<ul>{limits}</ul></details>"
    )


def _why(event: Document) -> str:
    """Why, or what, with who said so and their words."""
    by, note = event.get("by"), event.get("note")
    what = event.get("reason") or event.get("criterion_id") or event.get("evidence_id") or ""
    who = f"{by}: “{note}”" if note else str(by or "")
    return "; ".join(str(part) for part in (what, who) if part)


def _history(events: Iterable[Document]) -> str:
    return _html_table(
        ("at", "event", "from", "to", "why"),
        (
            (
                _html_text(event.get("at", "-")),
                _html_text(event.get("type", "-")),
                _status_word(event.get("from", "")),
                _status_word(event.get("to", "")),
                _html_text(_why(event)),
            )
            for event in events
        ),
    )
