"""The conversation of ``flow goal create``, and its result, as a person reads it."""

from __future__ import annotations

from flow.core.drafting import questions
from flow.core.text.display import names, visible
from flow.render.columns import wrap
from flow.render.screen import Screen, measure, took
from flow.render.text import step_line
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.drafting.offers import Offer
    from flow.core.drafting.questions import DraftQuestion, Notice

MOST_FAULTS = 10
MOST_NAMES = 8
MOST_LINES = 10
"""Lines of one message."""
HEAD_LINES = 2
"""Lines of the file that are shown before the question; ``v`` shows all."""
PROMPT = "> "
_IN = "  "


def question_lines(question: DraftQuestion, screen: Screen) -> tuple[list[str], str]:
    """The lines above the answer, and the prompt before it."""
    match question:
        case questions.AskOutcome():
            return [screen.paint("person", "What will be true?  One sentence.")], PROMPT
        case questions.AskName(suggested):
            return [screen.paint("person", f"Name [{suggested}]")], PROMPT
        case questions.AskCriterion(first, offers):
            return (_criteria_head(offers, screen) if first else []), PROMPT
        case questions.AskRubric(criterion_id):
            who = "no command. c it is one, r rubric, Enter: a person or a judge says so"
            return [f"{_IN}{screen.mark('unasked')} {criterion_id}  {who}"], _IN + PROMPT
        case questions.AskPaths(suggested):
            default = ", ".join(map(visible, suggested)) or "everywhere"
            ask = "Where may the change be?  Globs, Enter ends."
            return ["", f"{screen.paint('person', ask)}  [{default}]"], PROMPT
        case questions.AskWrite(file, text):
            return _file_head(file, text, screen), PROMPT
        case questions.AskEditAgain(faults):
            lines = [line for f in faults[:MOST_FAULTS] for line in _wrapped(f, "failed", screen)]
            return [*lines, screen.paint("person", "Enter edits it again, n leaves it")], PROMPT


def _criteria_head(offers: Sequence[Offer], screen: Screen) -> list[str]:
    ask = 'Which commands prove it?  One per line, "text :: command". Enter ends.'
    lines = ["", screen.paint("person", ask)]
    if offers:
        letters = zip("abcdefghijklmnopqrstuvwxyz", offers, strict=False)
        shown = [f"{letter}  {visible(offer.command)}" for letter, offer in letters]
        sources = ", ".join(dict.fromkeys(offer.file for offer in offers))
        offered = _filled("Found here:  ", [*shown, f"({sources})"], screen)
        lines += [screen.paint("dim", line) for line in offered]
    return lines


def _filled(label: str, items: Sequence[str], screen: Screen) -> list[str]:
    """The items in as few lines as possible, four blanks between them, in columns."""
    lines = [label]
    for item in items:
        begun = lines[-1].strip() not in ("", label.strip())
        joined = f"{lines[-1]}{'    ' if begun else ''}{item}"
        if begun and measure(joined) > (screen.width or 79):
            joined = " " * len(label) + item
            lines.append("")
        lines[-1] = joined
    return lines


def _wrapped(text: str, style: str, screen: Screen, *, indent: str = _IN) -> list[str]:
    lines = wrap(visible(text), (screen.width or 79) - len(indent), MOST_LINES, screen.plain("…"))
    return [screen.paint(style, indent + line) for line in lines]


def _file_head(file: str, text: str, screen: Screen) -> list[str]:
    lines = text.splitlines()
    count = f"({len(lines)} lines, v views all)"
    width = screen.width or 79
    note = f"{file}, new"
    rule = screen.plain("─" * max(width - measure(note) - 1, 2))
    ask = "Write it and start?  y yes   e edit first   d as a draft   Enter no"
    return [
        "",
        f"{screen.paint('dim', rule)} {note}",
        *map(visible, lines[:HEAD_LINES]),
        "..." + screen.paint("dim", count.rjust(max(width - 3, len(count) + 1))),
        "",
        screen.paint("person", ask),
    ]


def notice_lines(notice: Notice, screen: Screen) -> list[str]:
    """The lines of a notice between the questions; empty for a passing one."""
    match notice:
        case questions.Tried(criterion_id, trial):
            return [_trial_line(criterion_id, trial, screen)]
        case questions.Refused(why, remedy):
            lines = _wrapped(why, "failed", screen)
            return [*lines, *_wrapped(remedy, "dim", screen)] if remedy else lines
        case questions.Noted(text):
            return _wrapped(text, "undecided", screen)
        case questions.ChangedAlready(changed, denied):
            there = names(changed, MOST_NAMES) if changed else "nothing"
            line = f"Changed there already: {there}."
            if denied:
                line += f"   Denied by your settings: {names(denied, MOST_NAMES)}"
            return _wrapped(line, "dim", screen, indent="")
        case questions.WholeFile(text):
            return [visible(line) for line in text.splitlines()]
        case _:
            return []


def running_line(criterion_id: str, screen: Screen) -> str:
    """The line shown while a command runs as a trial; the result replaces it."""
    return f"{_IN}{screen.mark('running')} {criterion_id}  runs, Ctrl-C leaves"


def _trial_line(criterion_id: str, trial: questions.Trial, screen: Screen) -> str:
    mark, text = _trial_words(trial)
    left = f"{_IN}{screen.mark(mark)} {criterion_id}  "
    plain = len(_IN) + 2 + len(criterion_id) + 2
    time = took(trial.seconds)
    shown = screen.cut(visible(text), max((screen.width or 79) - plain - len(time) - 2, 20))
    space = " " * max((screen.width or 79) - plain - measure(shown) - len(time), 2)
    return f"{left}{shown}{space}{screen.paint('dim', time)}"


def _trial_words(trial: questions.Trial) -> tuple[str, str]:
    if trial.outcome == "passed":
        return "proved", f"{trial.result}, is green already: it shows that nothing breaks"
    if trial.missing:
        return "unasked", f"nothing to run yet: {trial.missing} is not there"
    if trial.outcome == "failed":
        return "failed", f"{trial.result}, is red: the work can turn it green"
    return "undecided", f"{trial.result}: {trial.reason}" if trial.reason else trial.result


def created(document: Mapping[str, Any], screen: Screen) -> list[str]:
    """``flow goal create``."""
    draft = document["status"] == "draft"
    name = screen.paint("bold", document["goal_id"])
    mark = screen.mark("unasked" if draft else "proved")
    where = f" on branch {visible(document['branch'])}" if document["branch"] else ""
    base = " ".join(map(visible, filter(None, (document["base"], _commit(document)))))
    state = "a draft" if draft else document["status"]
    tail = f", base {base}" if base and not draft else ""
    return [
        f"{mark} {name} is {state}{where}{tail}.",
        step_line(screen, "next", document["next"], 6),
    ]


def _commit(document: Mapping[str, Any]) -> str:
    return (document["base_commit"] or "")[:12]
