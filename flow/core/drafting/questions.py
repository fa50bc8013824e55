"""Questions and notices of the conversation that drafts a goal, as values."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.drafting.offers import Offer


class Trial(NamedTuple):
    """A trial run of a command, once; no record of it is kept."""

    outcome: str
    """``passed``, ``failed`` or ``inconclusive``."""
    result: str
    """``exit 1``, ``timeout``; in the form that evidence uses."""
    seconds: float
    reason: str = ""
    missing: str = ""
    """A missing path that the command names; empty if there is none."""


class AskOutcome(NamedTuple):
    """Ask for the outcome: the statement that will be true."""


class AskName(NamedTuple):
    """Ask for the goal's id."""

    suggested: str


class AskCriterion(NamedTuple):
    """Ask for the next criterion; the offers are shown before the ``first``."""

    first: bool
    offers: Sequence[Offer]


class AskRubric(NamedTuple):
    """Ask for the judge of a criterion without a command: a rubric, or a person."""

    criterion_id: str
    text: str


class AskPaths(NamedTuple):
    """Ask for the paths that the change may touch."""

    suggested: Sequence[str]


class AskWrite(NamedTuple):
    """Ask whether to write the file."""

    file: str
    text: str


class AskEditAgain(NamedTuple):
    """Ask whether to open the editor again; the faults were shown."""

    faults: Sequence[str]


class TrialBegan(NamedTuple):
    """A trial run of a command has started."""

    criterion_id: str


class Tried(NamedTuple):
    """A trial run of a command has ended."""

    criterion_id: str
    trial: Trial


class Refused(NamedTuple):
    """The answer is refused, and the question comes again."""

    why: str
    remedy: str = ""


class Noted(NamedTuple):
    """A warning about an accepted answer."""

    text: str


class ChangedAlready(NamedTuple):
    """Changed files inside the allowed paths, and the paths that the settings deny."""

    changed: Sequence[str]
    denied: Sequence[str]


class WholeFile(NamedTuple):
    """The full text of the file."""

    text: str


DraftQuestion = AskOutcome | AskName | AskCriterion | AskRubric | AskPaths | AskWrite | AskEditAgain
Notice = TrialBegan | Tried | Refused | Noted | ChangedAlready | WholeFile
