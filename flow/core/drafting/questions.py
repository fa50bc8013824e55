"""What is asked and told in the conversation that drafts a goal, as values."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.drafting.presets import Offer


class Trial(NamedTuple):
    """How a command ended that was run once, and kept nothing of."""

    outcome: str
    """``passed``, ``failed`` or ``inconclusive``."""
    result: str
    """``exit 1``, ``timeout``; as in evidence."""
    seconds: float
    reason: str = ""
    missing: str = ""
    """A path that the command names and that is not there."""


class AskOutcome(NamedTuple):
    """What will be true."""


class AskName(NamedTuple):
    """The goal's id."""

    suggested: str


class AskCriterion(NamedTuple):
    """The next criterion; the offers are shown before the ``first``."""

    first: bool
    offers: Sequence[Offer]


class AskRubric(NamedTuple):
    """Who says that a criterion without a command holds."""

    criterion_id: str
    text: str


class AskPaths(NamedTuple):
    """Where the change may be."""

    suggested: Sequence[str]


class AskWrite(NamedTuple):
    """Whether the file is written."""

    file: str
    text: str


class AskEditAgain(NamedTuple):
    """Whether the editor is opened again, after what is wrong was shown."""

    faults: Sequence[str]


class TrialBegan(NamedTuple):
    """A command is being tried."""

    criterion_id: str


class Tried(NamedTuple):
    """A command was tried."""

    criterion_id: str
    trial: Trial


class Refused(NamedTuple):
    """The answer cannot be taken, and the question comes again."""

    why: str
    remedy: str = ""


class Noted(NamedTuple):
    """A warning about what was taken."""

    text: str


class ChangedAlready(NamedTuple):
    """What is changed where the change may be, and what the settings deny."""

    changed: Sequence[str]
    denied: Sequence[str]


class WholeFile(NamedTuple):
    """The file, all of it."""

    text: str


Question = AskOutcome | AskName | AskCriterion | AskRubric | AskPaths | AskWrite | AskEditAgain
Notice = TrialBegan | Tried | Refused | Noted | ChangedAlready | WholeFile
