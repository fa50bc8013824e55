"""The box on the first screen of a goal's page: whose turn it is, and the command. Pure."""

from __future__ import annotations

from flow.core.chain.closing_record import PLACES
from flow.core.decision.details import VerdictDetails
from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.pause import Pause
from flow.core.text.display import clip, some_names
from flow.core.text.shell_quote import shell_argument
from flow.render.goal.standing import criterion_meaning
from flow.render.page.frame import TEXT, command, mark, moment
from flow.render.page.html import Markup, join, tag
from flow.render.screen import Screen
from flow.render.text import begin_of_command
from flow.render.verdict.next_step import next_steps
from flow.render.verdict.sheet import VerdictSheet
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.report import GoalReport

_SCREEN = Screen()


def is_outside(report: GoalReport) -> bool:
    """Whether files outside its paths hold an open goal back."""
    files = report.status.get("files")
    if report.status["status"] in TERMINAL:
        return False
    return bool(files["outside"]) if files else report.status["status"] == "blocked"


def sheet_of(report: GoalReport) -> VerdictSheet:
    """The newest verdict as a sheet, to use the words of its own screen."""
    return VerdictSheet(report.verdict or {}, _SCREEN, VerdictDetails(), "", named=True)


def check_line(report: GoalReport) -> str:
    """The line that checks the record."""
    if report.bundle:
        return f"flow evidence verify --bundle {shell_argument(report.bundle)}"
    return f"flow evidence verify {report.goal_id}"


def to_do(report: GoalReport) -> Markup | None:
    """The box next to the title: whose turn it is, and the command."""
    status, proposal = report.status, report.status.get("proposal")
    if report.chain.faults:
        text = "Then evaluate anew; new evidence does not rest on the old."
        text = "" if report.bundle else text
        return _box("work", "See what was changed", check_line(report), text)
    if status["status"] in TERMINAL:
        return _closing(report)
    if report.bundle:
        text = "This page was read from a file that was exported elsewhere; this checks that file."
        return _box("work", "The record of another machine", check_line(report), text)
    if status.get("paused"):
        pause = Pause(**status["paused"])
        quote = tag("blockquote", pause.words) if pause.words else None
        when = tag("p", f"Paused by {pause.who}, ", moment(pause.at))
        return _box("you", "Waits for you", f"flow goal resume {report.goal_id}", when, quote)
    if proposal and proposal["live"]:
        asks = join(
            "Shows what changed, then asks. Proposal ",
            tag("code", str(proposal["proposal_id"])[:12]),
            ". Until a person confirms, the goal stays as it is.",
        )
        return _box("you", "Waits for you", f"flow goal confirm {report.goal_id}", asks)
    if is_outside(report) and status["trusted"]:
        return _mending(report)
    step = str(status["next"])
    before, line = _split(step)
    words = before.strip().rstrip(":").removesuffix(", then")
    if status["status"] == "draft":
        return _box("work", "Complete the draft, then", line)
    if status.get("held_back"):
        return _box("outside", f"Blocked: {status['held_back']}", line, f"{words}.")
    if line.startswith("flow goal evaluate"):
        return _box("work", _work_words(report), line, _last_stop(report))
    return _box("you", "Waits for you", line, f"{words[:1].upper()}{words[1:]}." if words else "")


def _box(kind: str, title: str, line: str, *below: object) -> Markup:
    icon = mark("person") if kind == "you" else None
    paragraphs = [
        part if isinstance(part, Markup) and part.text.startswith("<") else tag("p", part)
        for part in below
        if part
    ]
    name = {"you": "do", "work": "do work", "outside": "do mendit"}[kind]
    return tag(
        "section",
        tag("h2", icon, title, id="to-do"),
        command(line) if line else None,
        *paragraphs,
        class_=name,
        aria_labelledby="to-do",
    )


def _work_words(report: GoalReport) -> str:
    """The criteria to work on: those that failed, else the undecided ones, else all open ones."""
    needed = [(c.id, criterion_meaning(c.now)) for c in report.criteria if c.required]
    groups = (("failed",), ("undecided",), ("failed", "undecided", "unasked"))
    by_group = ([name for name, meaning in needed if meaning in group] for group in groups)
    open_ids = next(filter(None, by_group), [])
    if not report.turns:
        return "Nothing was run yet"
    return f"Work on {some_names(open_ids, 5)}, then" if open_ids else "Next"


def _last_stop(report: GoalReport) -> Markup | None:
    stops = [turn for turn in report.turns if turn.answer]
    if not stops:
        return None
    words = {"continue": "The agent goes on", "let_go": "The agent may stop"}
    answer = words.get(stops[-1].answer, "An agent stopped")
    return join(f"{answer}. Its last stop: ", moment(stops[-1].at), ".")


def _mending(report: GoalReport) -> Markup:
    """The remedies for files outside: put back first, widen second."""
    steps = [*next_steps(sheet_of(report))] if report.verdict else []
    split = [(label, *_split(text)) for label, text in steps if label in ("next", "or")]
    if not split or not split[0][2].startswith("flow goal evaluate"):
        words = "Take out or put back what is outside, then"
        return _box("outside", words, f"flow goal evaluate {report.goal_id}")
    _, words, line = split[0]
    others = [
        join(
            tag("p", f"or {words.rstrip(': ') or 'widen its paths, on the record'}:", class_="or"),
            command(line),
        )
        for _, words, line in split[1:]
    ]
    return _box("outside", f"{words[:1].upper()}{words[1:]}".rstrip(": "), line, *others)


def _split(text: str) -> tuple[str, str]:
    begin = begin_of_command(text)
    return text[:begin], text[begin:]


def _closing(report: GoalReport) -> Markup:
    """The goal's closing: person, time, origin and words."""
    status, act = report.status, report.status.get("closed")
    again = tag("code", f"flow goal create NEW --from {report.goal_id}")
    stays = join("A closed goal stays closed: ", again)
    if status.get("closed_by_hand"):
        text = "Flow’s own record does not know who closed it."
        return tag(
            "section", tag("h2", "Closed by hand"), tag("p", text), tag("p", stays), class_="said"
        )
    if not act:
        return tag("section", tag("h2", "Closed"), tag("p", stays), class_="said")
    origin = f" ({act['by_from']})" if act["by_from"] else ""
    by = f"{act['by'] or 'somebody'}{origin}"
    verb = "Confirmed" if act["about"] == "achieved" else "Closed"
    place = PLACES.get(str(act["said_from"]), act["said_from"] or "")
    where = f", said from {place}" if place else ""
    return tag(
        "section",
        tag("h2", mark("person"), f"{verb} by {by}"),
        tag("blockquote", clip(str(act["note"]), 4 * TEXT)) if act["note"] else None,
        tag("p", moment(str(act["at"])), f"{where}. ", stays),
        class_="said",
    )
