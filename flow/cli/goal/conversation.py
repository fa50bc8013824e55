"""``flow goal create`` at a terminal: the conversation, with its terminal and its checkout."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from flow.adapters.attribution.attributor import Attributor
from flow.adapters.attribution.command_checks import command_warnings, syntax_faults
from flow.adapters.attribution.failures import RecordedOutputs
from flow.adapters.contracts import formats
from flow.adapters.process.editor import edited_by_hand
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.adapters.setup import project
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.defaults_file import read_defaults, with_defaults
from flow.adapters.transitions.creating import draft_document, surroundings
from flow.adapters.verification.trial import run_alone
from flow.app.checks import Check
from flow.app.drafting.conversation import EDIT, LEAVE, NO_ANSWER, Drafted, converse
from flow.core import layout
from flow.core.boundary.globs import Globs
from flow.core.boundary.rules import check_patterns
from flow.core.drafting.completing import with_schema_line
from flow.core.drafting.draft import NO_DEFAULTS, CreateRequest
from flow.core.drafting.questions import AskWrite, DraftQuestion, Notice, Trial, TrialBegan
from flow.core.drafting.suggestions import named_paths, suggested_paths
from flow.core.goal import ids
from flow.core.goal.model import Goal, goal_from_document
from flow.errors import FlowError, InputError, PersonNeeded, at_key
from flow.render.creating import notice_lines, question_lines, running_line
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.cli.output import Output
    from flow.core.drafting.offers import Offer
    from flow.wiring.context import Context

NAME = "the new goal"


def drafted(context: Context, out: Output, words: CreateRequest, goal_id: str | None) -> Drafted:
    """The draft that a person at the terminal wants; raises :class:`PersonNeeded` for a no."""
    folders = (layout.WORK, layout.RUNS, ".flow")
    made_here = [
        p for p in (os.path.join(context.top, f) for f in folders) if not os.path.lexists(p)
    ]
    try:
        answer = converse(_TerminalPerson(out), _CheckoutProject(context), words, goal_id)
    finally:
        for path in made_here:  # where the tried commands' outputs grew
            with suppress(OSError):
                os.rmdir(path)
    if answer is None:
        raise _nothing_written()
    return answer


def mended(
    context: Context, out: Output, error: FlowError, text: str, base: str | None
) -> tuple[str, str | None]:
    """(the text, the base) as a person wants them after what was wrong; else raises ``error``."""
    outside = error.code == "outside_base"
    here = "   h count changes from here on (--base HEAD)" if outside else ""
    out.error(error)
    out.forget_typed()
    out.tell([out.asking.paint("person", f"Nothing is written yet.  e edit it{here}   Enter no")])
    while (answer := out.ask(">")) not in EDIT:
        if answer in ("h", "here") and outside:
            return text, "HEAD"
        if answer in LEAVE:
            raise _nothing_written()
        out.say(f"  {NO_ANSWER}: {'e, h,' if outside else 'e,'} or Enter")
    try:
        left = edited_by_hand(text, "goal.yaml", context.environ)
    except FlowError as fault:
        out.error(fault)
        return text, base
    if not left.strip():
        raise _nothing_written()
    return left, base


def _nothing_written() -> PersonNeeded:
    return PersonNeeded("nothing was written", code="declined")


class _TerminalPerson:
    """A :class:`~flow.app.drafting.conversation.Person` at standard input and standard error."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._screen = out.asking

    def ask(self, question: DraftQuestion) -> str:
        """A line; its end without one (Ctrl-D) writes nothing."""
        lines, prompt = question_lines(question, self._screen)
        if isinstance(question, AskWrite):
            self._out.forget_typed()
        self._out.tell(lines)
        self._out.prompt(prompt)
        line = sys.stdin.readline()
        if not line:
            self._out.tell([""])
            raise _nothing_written()
        return line.strip()

    def tell(self, notice: Notice) -> None:
        """Show something; the result of a command is written over the line that it runs."""
        if isinstance(notice, TrialBegan):
            self._out.prompt(running_line(notice.criterion_id, self._screen) + "\r")
            return
        self._out.tell(notice_lines(notice, self._screen))


class _CheckoutProject:
    """A checkout as :class:`~flow.app.drafting.conversation.ProjectPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._attributor = Attributor(context.top)
        self._outputs = RecordedOutputs(context.top, self._attributor)
        self._defaults = read_defaults(context.top) or NO_DEFAULTS

    def offered_commands(self) -> Sequence[Offer]:
        return project.project_offers(self._context.top)

    def goal_ids(self) -> Sequence[str]:
        return tuple(self._context.records.goal_ids())

    def check_name(self, name: str) -> None:
        if ids.goal_id(name) in self.goal_ids():
            raise at_key("ID", name).invalid(f"goal {name} exists already", "use another name")

    def default_ids(self) -> Sequence[str]:
        return self._defaults.ids

    def check_command(self, criterion: dict[str, Any]) -> None:
        context = self._context
        faults = syntax_faults(_goal_with(criterion), NAME, context.environ, context.top)
        if faults:
            raise InputError(faults[0].message, remedy="type it again")

    def remarks(self, criterion: dict[str, Any]) -> Sequence[str]:
        warnings = command_warnings(_goal_with(criterion), self._attributor)
        works = self._outputs.works(criterion["verification_command"])
        return [f"{warning}; this can: {works}" if works else warning for warning in warnings]

    def attempt(self, criterion: dict[str, Any]) -> Trial:
        command = criterion["verification_command"]
        seconds = self._context.settings.settings.command_timeout_seconds
        check = Check(criterion["id"], command, "", seconds)
        result = run_alone(self._context.top, self._context.environ, [check])[0][1]
        trial = Trial(result.outcome, result.result, result.duration_seconds, result.reason or "")
        reading = self._attributor.reading(command)
        if trial.outcome == "passed" and (reading.masked_exit or reading.idle_option):
            return trial._replace(outcome="inconclusive", reason="it can show no failure")
        if trial.outcome != "passed":
            paths = named_paths(reading.commands)
            return trial._replace(missing=project.first_missing(self._context.top, paths))
        return trial

    def check_rubric(self, name: str) -> None:
        try:
            RubricFolder(self._context.top).find(name)
        except FlowError as error:
            raise InputError(error.fault.message, remedy=error.fault.remedy) from error

    def suggested_paths(self) -> Sequence[str]:
        return suggested_paths(*self._files)

    def check_patterns(self, patterns: Sequence[str]) -> None:
        faults = check_patterns(patterns, "--allow")
        if faults:
            raise InputError(faults[0].message, remedy=faults[0].remedy)

    def changed_within(self, patterns: Sequence[str]) -> Sequence[str]:
        within = Globs(patterns, anchored=True)
        changed = self._files[1]
        if not patterns:
            return changed
        return [p for p in changed if within.first(p.encode("utf-8", "surrogateescape"))]

    def denied(self) -> Sequence[str]:
        return self._context.settings.settings.denied_paths

    def text(self, goal_id: str, words: CreateRequest) -> tuple[str, str]:
        document = draft_document(self._context, goal_id, words)
        document["lifecycle"]["status"] = "active"
        text = with_defaults(formats.dump_yaml(document), self._defaults, NAME)
        return layout.goal_file(goal_id), with_schema_line(text)

    def edited(self, text: str) -> str:
        return edited_by_hand(text, "goal.yaml", self._context.environ)

    def faults(self, text: str) -> Sequence[str]:
        context = self._context
        try:
            goal = read_handed_in(text, NAME, lambda: surroundings(context), self._defaults).goal
        except FlowError as error:
            return [str(fault) for fault in error.faults]
        try:
            self.check_name(goal.id)
        except InputError as error:
            return [str(error)]
        return [str(fault) for fault in syntax_faults(goal, NAME, context.environ, context.top)]

    @once
    def _files(self) -> tuple[list[str], list[str]]:
        return project.tracked_and_changed(self._context.repo)


def _goal_with(criterion: dict[str, Any]) -> Goal:
    """A goal that is nothing but the criterion, for the checks that read goals."""
    return goal_from_document(
        {
            "metadata": {"id": "draft", "created_at": ""},
            "scope": {"repo": "", "branch": ""},
            "objective": {"outcome": "", "acceptance_criteria": [criterion]},
            "evaluator": {"type": "hybrid"},
            "lifecycle": {"status": "draft"},
        }
    )
