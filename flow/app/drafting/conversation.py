"""The questions of ``flow goal create`` at a terminal, one after the other (SPEC 12).

The person stands behind :class:`Person`, the checkout behind :class:`ProjectPort`. A question that
the command line has answered is left out; nothing is written here.
"""

from __future__ import annotations

from flow.core.drafting.criteria import free_ids, parse_criterion
from flow.core.drafting.questions import (
    AskCriterion,
    AskEditAgain,
    AskName,
    AskOutcome,
    AskPaths,
    AskRubric,
    AskWrite,
    ChangedAlready,
    Noted,
    Refused,
    TrialBegan,
    Tried,
    WholeFile,
)
from flow.core.drafting.suggestions import split_patterns, suggested_name, typed_criterion
from flow.errors import FlowError, InputError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.drafting.draft import CreateRequest
    from flow.core.drafting.offers import Offer
    from flow.core.drafting.questions import DraftQuestion, Notice, Trial

YES, EDIT, DRAFT, VIEW = ("y", "yes"), ("e", "edit"), ("d", "draft"), ("v", "view")
LEAVE = ("", "n", "no", "q", "quit")
"""Answers that end the conversation; what is none of a question's answers is asked for again, so
that a slip of the finger loses nothing that was typed before."""
NO_ANSWER = "that is no answer here"


class Person(Protocol):
    """The person who answers the questions."""

    def ask(self, question: DraftQuestion) -> str:
        """The answer, without blanks around it; raises where there is none to come."""

    def tell(self, notice: Notice) -> None:
        """Show something."""


class ProjectPort(Protocol):
    """The checkout that a goal is drafted in."""

    def offered_commands(self) -> Sequence[Offer]:
        """Commands of the project's own."""

    def goal_ids(self) -> Sequence[str]:
        """The goals that are there."""

    def check_name(self, name: str) -> None:
        """Raise :class:`InputError` for what is no free goal's id."""

    def default_ids(self) -> Sequence[str]:
        """Ids of criteria that every new goal gets."""

    def check_command(self, criterion: dict[str, Any]) -> None:
        """Raise :class:`InputError` for a command that bash cannot read."""

    def remarks(self, criterion: dict[str, Any]) -> Sequence[str]:
        """Remarks on a command that cannot show a failure, runs no test, or cannot pass."""

    def attempt(self, criterion: dict[str, Any]) -> Trial:
        """Run a command once."""

    def check_rubric(self, name: str) -> None:
        """Raise :class:`InputError` for a name that leads to no rubric."""

    def suggested_paths(self) -> Sequence[str]:
        """Patterns for where the change may be."""

    def check_patterns(self, patterns: Sequence[str]) -> None:
        """Raise :class:`InputError` for a pattern that cannot be one."""

    def changed_within(self, patterns: Sequence[str]) -> Sequence[str]:
        """The uncommitted paths that the patterns name."""

    def denied(self) -> Sequence[str]:
        """Path patterns that the settings deny."""

    def text(self, goal_id: str, words: CreateRequest) -> tuple[str, str]:
        """(the goal's path, its text as it would be written)."""

    def edited(self, text: str) -> str:
        """The text as the user's editor leaves it."""

    def faults(self, text: str) -> Sequence[str]:
        """The faults of a goal's text."""


class Drafted(NamedTuple):
    """A goal that a person wants written."""

    text: str
    as_draft: bool
    edited: bool
    """It went through the editor, so that not all of it was looked at here."""


def converse(
    person: Person, project: ProjectPort, words: CreateRequest, goal_id: str | None
) -> Drafted | None:
    """Ask for what ``words`` and ``goal_id`` leave open; None if nothing is to be written."""
    if goal_id is not None:
        project.check_name(goal_id)
    outcome = words.outcome or _outcome(person)
    goal_id = goal_id or _name(person, project, outcome)
    criteria = words.more
    if not (words.criteria or words.fuzzy or words.more):
        criteria = _Criteria(person, project).asked()
    allow = words.allow or _paths(person, project)
    whole = words._replace(outcome=outcome, more=criteria, allow=allow)
    return _asked_to_write(person, project, *project.text(goal_id, whole))


def _outcome(person: Person) -> str:
    while not (answer := person.ask(AskOutcome())):
        person.tell(Refused("a goal needs an outcome", "one sentence"))
    return answer


def _name(person: Person, project: ProjectPort, outcome: str) -> str:
    suggested = suggested_name(outcome, project.goal_ids())
    while True:
        answer = person.ask(AskName(suggested)) or suggested
        try:
            project.check_name(answer)
        except InputError as error:
            person.tell(_refusal(error))
        else:
            return answer


class _Criteria:
    """The criteria that are asked for, one a line."""

    def __init__(self, person: Person, project: ProjectPort) -> None:
        self._person, self._project = person, project
        self._offers = project.offered_commands()
        self._used_ids: list[str] = list(project.default_ids())
        self._criteria: list[dict[str, Any]] = []

    def asked(self) -> tuple[dict[str, Any], ...]:
        """Each criterion with its id, until an empty line."""
        first = True
        while True:
            line = self._person.ask(AskCriterion(first, self._offers))
            first = False
            if not line and self._criteria:
                return tuple(self._criteria)
            try:
                self._add_criterion(line)
            except InputError as error:
                self._person.tell(_refusal(error))

    def _add_criterion(self, line: str) -> None:
        if not line:
            raise InputError("a goal needs at least one criterion", remedy="text :: command")
        typed = typed_criterion(line, self._offers)
        fuzzy = " :: " not in f" {typed} "
        criterion = parse_criterion(typed, fuzzy=fuzzy)
        named = criterion.get("id") or next(free_ids(self._used_ids))
        if named in self._used_ids:
            raise InputError(f"{named} is there already", remedy="leave the id out")
        criterion = {**criterion, "id": named}
        self._try_command(criterion) if not fuzzy else self._ask_rubric(criterion)
        self._used_ids.append(named)
        self._criteria.append(criterion)

    def _try_command(self, criterion: dict[str, Any]) -> None:
        """Try a command; running what the person has just typed or chosen is what they asked."""
        self._project.check_command(criterion)
        self._person.tell(TrialBegan(criterion["id"]))
        self._person.tell(Tried(criterion["id"], self._project.attempt(criterion)))
        for note in self._project.remarks(criterion):
            self._person.tell(Noted(note))

    def _ask_rubric(self, criterion: dict[str, Any]) -> None:
        while answer := self._person.ask(AskRubric(criterion["id"], criterion["text"])):
            letter, _, name = answer.partition(" ")
            try:
                if answer == "c":
                    self._try_command({**criterion, "verification_command": criterion["text"]})
                    criterion["verification_command"] = criterion["text"]
                    return
                if letter != "r" or not name.strip():
                    raise InputError(NO_ANSWER, remedy="c, r RUBRIC, or Enter")
                self._project.check_rubric(name.strip())
            except InputError as error:
                self._person.tell(_refusal(error))
            else:
                criterion["rubric"] = name.strip()
                return


def _paths(person: Person, project: ProjectPort) -> tuple[str, ...]:
    suggested = tuple(project.suggested_paths())
    while True:
        patterns = split_patterns(person.ask(AskPaths(suggested))) or suggested
        try:
            project.check_patterns(patterns)
        except InputError as error:
            person.tell(_refusal(error))
        else:
            person.tell(ChangedAlready(project.changed_within(patterns), project.denied()))
            return patterns


def _asked_to_write(person: Person, project: ProjectPort, file: str, text: str) -> Drafted | None:
    typed = text
    while True:
        answer = person.ask(AskWrite(file, text)).lower()
        if answer in VIEW:
            person.tell(WholeFile(text))
        elif answer in EDIT:
            changed = _edited(person, project, text)
            if changed is None:
                return None
            text = changed
        elif answer in (*YES, *DRAFT):
            return Drafted(text, as_draft=answer in DRAFT, edited=text != typed)
        elif answer in LEAVE:
            return None
        else:
            person.tell(Refused(NO_ANSWER, "y, e, d, v, or Enter"))


def _edited(person: Person, project: ProjectPort, text: str) -> str | None:
    """The text after the editor, without faults; None if the person gives up.

    An editor that fails leaves the text as it was: what was said so far is not lost.
    """
    before = text
    while True:
        try:
            text = project.edited(text)
        except FlowError as error:
            person.tell(_refusal(error))
            return before
        if not text.strip():
            return None
        faults = project.faults(text)
        if not faults:
            return text
        while (answer := person.ask(AskEditAgain(faults)).lower()) not in ("", *EDIT, *YES):
            if answer in LEAVE:
                return None
            person.tell(Refused(NO_ANSWER, "Enter, or n"))


def _refusal(error: FlowError) -> Refused:
    fault = error.fault
    return Refused(fault.message, fault.remedy or "")
