"""The standing of a goal, and whose turn it is: one table for every screen. Pure.

A goal waits for a person if and only if the command of its row changes something when a person runs
it. So a row of *Waits for you* names that command. The only other rows with such a command are a
blocked goal's: a person may open its paths or have the files put back, and may remove or settle an
earlier goal that can never be achieved.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.text.display import counted, names, visible
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Text = Callable[["GoalFacts"], str] | str
    """A text of a row; in a plain one ``{id}`` is replaced by the goal's id."""

Section = Literal["waits", "blocked", "working", "closed", "broken"]
Doubt = Literal["", "never", "revoked", "changed", "unusable"]
"""Reason that a contract may not run here: never trusted, trust revoked, contract changed since it
was trusted, or an unusable trust ledger. Empty: it may run.
"""


class GoalFacts(NamedTuple):
    """The known facts of a goal. None: a fact could not be determined."""

    goal_id: str
    status: str
    branch: str = ""
    here: bool = True
    """Whether it was read in a checkout of its branch, with its file present."""
    missing: bool = False
    """Whether its branch is checked out and its file is missing."""
    unfinished: bool = False
    """Whether a change was decided and not carried out."""
    by_hand: bool = False
    """Whether it has a final status that no command set."""
    open_again: bool = False
    """Whether Flow closed it, and git or a hand brought back an open status."""
    pause: str = ""
    """The person or agent that paused it, with the reason; empty if it is not paused."""
    doubt: Doubt = ""
    proposal: str = ""
    """The proposed status; empty without a recorded proposal."""
    moved: tuple[str, ...] | None = ()
    """The changes since the proposal, in words; None if unknown."""
    record_fault: str = ""
    """The fault in the record that the proposal depends on; empty if there is none."""
    elsewhere: bool = False
    """Whether its run was recorded in another checkout."""
    files_known: bool = True
    """Whether git can list the changed files."""
    protected: bool = False
    """Whether protected files changed without an approval of their present content."""
    guards: bool = False
    """Whether git's hooks or settings changed without an approval of their present content."""
    unproved: tuple[str, ...] = ()
    """The required criteria that only lack a person's word."""
    judged: tuple[str, ...] = ()
    """The required criteria that a judge passed, where none is open and that was not enough."""
    held: str = ""
    """The earlier goal that can no longer be achieved, as a sentence; empty if there is none."""
    by_paths: bool = False
    """Whether files outside its paths blocked it."""
    outside: int | None = 0
    """Number of files outside its paths now; None if unknown."""
    new_outside: int = 0
    """Number of those files that did not exist when it began."""
    amend: str = ""
    """The command that would allow them; empty if none would."""
    limit: str = ""
    """The limit at which the Stop hook let the agent go; empty if it reached none."""
    turns: int = 0
    proved: int = 0
    required: int = 0
    reason: str = ""
    """The reason of the last evaluation."""


class Standing(NamedTuple):
    """The standing of a goal. ``meaning`` is its mark's, ``words`` its state in two or three words.

    ``command`` begins with ``flow `` and is complete; empty if there is nothing to do.
    """

    row: str
    section: Section
    meaning: str
    words: str
    why: str
    command: str = ""

    @property
    def waits(self) -> bool:
        """Whether a person must act next."""
        return self.section == "waits"


class RowState(NamedTuple):
    """The section of a row, the meaning of its mark, and the goal's state in words."""

    section: Section
    meaning: Text
    words: Text


class Row(NamedTuple):
    """A row of the table; a goal gets the first row whose ``applies`` is true."""

    name: str
    applies: Callable[[GoalFacts], bool]
    state: RowState
    why: Text
    command: Text = ""

    def standing(self, facts: GoalFacts) -> Standing:
        """The row's texts for a goal."""
        meaning, words, why, command = (
            text.replace("{id}", facts.goal_id) if isinstance(text, str) else text(facts)
            for text in (self.state.meaning, self.state.words, self.why, self.command)
        )
        return Standing(self.name, self.state.section, meaning, words, why, command)


_FINAL: Mapping[str, str] = {"achieved": "proved", "failed": "failed", "cancelled": "unasked"}
_DOUBTS: Mapping[str, str] = {
    "never": "not trusted here",
    "revoked": "its trust was taken back",
    "changed": "changed since it was trusted",
}
_YOU = "waits for you"
_WAITS = RowState("waits", "undecided", _YOU)
_BLOCKED = RowState("blocked", "outside", "blocked")
_WORKING = RowState("working", "running", "working")
_EVALUATE = "flow goal evaluate {id}"


def _outside(facts: GoalFacts) -> str:
    if facts.outside is None:
        return "files outside its paths"
    kind = "new file" if facts.new_outside == facts.outside else "file"
    return f"{counted(facts.outside, kind)} outside its paths"


def _progress(facts: GoalFacts) -> str:
    turns = f"turn {facts.turns}" if facts.turns else "not evaluated yet"
    return f"{facts.proved} of {facts.required} proved, {turns}" if facts.required else turns


def _proposed(facts: GoalFacts) -> str:
    return f"{facts.proposal} is proposed"


def _no_command(facts: GoalFacts) -> str:
    them = "it" if len(facts.unproved) == 1 else "them"
    return f"{names(facts.unproved, 3)}: no command can prove {them}"


def _decides(facts: GoalFacts) -> str:
    """The last evaluation's reason on one line, or a general remark without one."""
    return visible(facts.reason) or "an evaluation decides what comes next"


def _away(facts: GoalFacts) -> str:
    state = (
        _proposed(facts)
        if facts.proposal and facts.moved == ()
        else "blocked"
        if facts.status == "blocked"
        else "a person is asked"
        if facts.status == "waiting_for_user"
        else _progress(facts)
    )
    if facts.missing:
        return f"{state}; the checkout of its branch no longer has it"
    return f"{state}; its branch is not checked out"


def _live(facts: GoalFacts) -> bool:
    return bool(facts.proposal) and facts.moved == ()


def _stopped(facts: GoalFacts) -> bool:
    return facts.status in ("waiting_for_user", "blocked")


def _asks(facts: GoalFacts) -> bool:
    return facts.status == "waiting_for_user"


TABLE: tuple[Row, ...] = (
    Row(
        "closed by hand",
        lambda f: f.status in TERMINAL and f.by_hand,
        RowState("closed", lambda f: _FINAL[f.status], lambda f: f"{f.status}, closed by hand"),
        lambda f: f"{f.status}, by hand: Flow did not close it",
    ),
    *(
        Row(status, lambda f, s=status: f.status == s, RowState("closed", meaning, status), status)  # type: ignore[misc]
        for status, meaning in _FINAL.items()
    ),
    Row(
        "another status",
        lambda f: f.status != "draft" and f.status not in UNDER_WAY,
        RowState("broken", "unasked", lambda f: visible(f.status)),
        lambda f: f"{visible(f.status)} is no status",
    ),
    Row(
        "unfinished",
        lambda f: f.unfinished and f.here,
        _WAITS,
        "a change was decided and not carried out",
        _EVALUATE,
    ),
    Row("draft", lambda f: f.status == "draft", RowState("working", "unasked", "draft"), "a draft"),
    Row(
        "away, and stopped",
        lambda f: not f.here and (_stopped(f) or _live(f)),
        RowState("blocked", "outside", lambda f: "not here" if _live(f) or _asks(f) else "blocked"),
        _away,
    ),
    Row("away", lambda f: not f.here, _WORKING, _away),
    Row(
        "paused",
        lambda f: bool(f.pause),
        RowState("waits", "undecided", "paused"),
        lambda f: f.pause,
        "flow goal resume {id}",
    ),
    Row(
        "trust unknown",
        lambda f: f.doubt == "unusable",
        RowState("broken", "undecided", "not trusted here"),
        "the ledger of trust cannot be used",
    ),
    Row(
        "not trusted",
        lambda f: bool(f.doubt),
        _WAITS,
        lambda f: _DOUBTS[f.doubt],
        "flow trust record {id}",
    ),
    Row(
        "record broken",
        lambda f: bool(f.proposal and f.record_fault),
        RowState("broken", "undecided", "its record is broken"),
        lambda f: f.record_fault,
    ),
    Row(
        "proposed",
        _live,
        RowState("waits", lambda f: _FINAL.get(f.proposal, "undecided"), _YOU),
        _proposed,
        "flow goal confirm {id}",
    ),
    Row(
        "files unknown",
        lambda f: not f.files_known and (_stopped(f) or bool(f.proposal)),
        RowState("broken", "undecided", "its files are unknown"),
        "git cannot say what its files are now",
    ),
    Row(
        "outside its paths",
        lambda f: f.status == "blocked" and f.by_paths and f.outside != 0,
        _BLOCKED,
        _outside,
        lambda f: f.amend,
    ),
    Row(
        "no longer outside",
        lambda f: f.status == "blocked" and f.by_paths,
        RowState("waits", "outside", _YOU),
        "blocked, and nothing is outside its paths any more",
        _EVALUATE,
    ),
    Row(
        "blocked",
        lambda f: f.status == "blocked",
        _BLOCKED,
        lambda f: visible(f.reason) or "blocked",
    ),
    Row(
        "measured elsewhere",
        lambda f: _asks(f) and f.elsewhere,
        _WAITS,
        "its run is of another checkout",
        _EVALUATE,
    ),
    Row(
        "protected files",
        lambda f: _asks(f) and f.protected,
        _WAITS,
        "a protected file changed",
        "flow goal approve {id} protected",
    ),
    Row(
        "guards",
        lambda f: _asks(f) and f.guards,
        _WAITS,
        "git's hooks or settings changed",
        "flow goal approve {id} guards",
    ),
    Row(
        "a person's word",
        lambda f: _asks(f) and bool(f.unproved),
        _WAITS,
        _no_command,
        lambda f: f"flow goal approve {f.goal_id} {f.unproved[0]}",
    ),
    Row(
        "held",
        lambda f: _asks(f) and bool(f.held),
        _BLOCKED,
        lambda f: visible(f.held),
        "flow goal amend {id} --edit",
    ),
    Row(
        "a judge's word",
        lambda f: _asks(f) and bool(f.judged),
        _WAITS,
        _decides,
        lambda f: f"flow goal approve {f.goal_id} {f.judged[0]}",
    ),
    Row("asks", _asks, _WAITS, _decides, _EVALUATE),
    Row(
        "waits for a command",
        lambda f: f.status == "waiting_for_ci",
        RowState("working", "undecided", "waits for a command"),
        "waits for a command",
    ),
    Row(
        "let go",
        lambda f: bool(f.limit),
        RowState("blocked", "outside", "let go"),
        lambda f: f"the agent was let go: {f.limit}",
    ),
    Row(
        "open again",
        lambda f: f.open_again,
        RowState("working", "undecided", "open again"),
        lambda f: f"was closed, and its file says {visible(f.status)} again; {_progress(f)}",
    ),
    Row(
        "moved",
        lambda f: bool(f.proposal),
        _WORKING,
        lambda f: f"{f.proposal} was proposed; {'; '.join(f.moved or ())}",
    ),
    Row("working", lambda _: True, _WORKING, _progress),
)
"""All rows, in the order in which they are tried."""


def standing_of(facts: GoalFacts) -> Standing:
    """The standing by the first row that applies."""
    return next(row for row in TABLE if row.applies(facts)).standing(facts)
