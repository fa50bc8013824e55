"""Findings of ``flow doctor`` and their subjects: the values that its checks share."""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.adapters.chain.pinned_heads import PinnedHeads
    from flow.adapters.git.find import Repo
    from flow.adapters.ledger.writer import FileLedger
    from flow.adapters.user_state.trust import TrustLedger
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings


Mark = Literal["failed", "undecided"]
"""A finding's mark: it does not work; it works in an unexpected way."""


class ExaminedCheckout(Protocol):
    """The checked parts of :class:`flow.wiring.context.Context`."""

    top: str
    repo: Repo

    @property
    def home(self) -> str | None:
        """The user's home folder."""

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""

    @property
    def ledger(self) -> FileLedger:
        """The writing side of the ledger."""

    @property
    def state_dir(self) -> str:
        """The user's state folder."""

    @property
    def heads(self) -> PinnedHeads:
        """The heads of this repository's chains, as the state folder keeps them."""

    @property
    def trust_ledger(self) -> TrustLedger:
        """The contracts whose commands may run here."""

    def goals(self) -> tuple[list[Goal], list[FlowError]]:
        """Every readable goal, and the errors of the others."""

    def lost_goals(self) -> list[tuple[str, str]]:
        """Goals that Flow left open and that changed since then: (event, remedy)."""


def journal_dir(checkout: ExaminedCheckout) -> str:
    """The folder of the journals; the usual one if the settings cannot be read."""
    try:
        return checkout.settings.settings.journal_dir
    except FlowError:  # the settings' own findings name it
        return layout.JOURNAL_DIR


def folder_names(path: str) -> list[str]:
    """The names in a folder, sorted; none if it cannot be listed."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


class Fact(NamedTuple):
    """A fact about the set-up."""

    what: str
    value: str


class SetupFinding(NamedTuple):
    """A fault of the set-up, why it matters, and its remedy."""

    what: str
    why: str
    do: str
    mark: Mark = "failed"
    fixable: bool = False
    """Whether ``flow doctor --fix`` mends it."""


class DoctorReport:
    """Results of the checks so far."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.findings: list[SetupFinding] = []
        self.fixed: list[str] = []
        self.fine: list[str] = []
        """Names of checks that found no fault."""

    def fact(self, what: str, value: str) -> None:
        """Note a fact."""
        self.facts.append(Fact(what, value))

    def found(
        self, what: str, why: str, do: str, *, mark: Mark = "failed", fixable: bool = False
    ) -> None:
        """Note a fault."""
        self.findings.append(SetupFinding(what, why, do, mark, fixable))

    @contextmanager
    def looking_at(self, name: Callable[[], str]) -> Iterator[None]:
        """Note ``name`` as fine if the block finds nothing; empty: nothing was checked."""
        before = len(self.findings)
        yield
        if len(self.findings) == before and (named := name()):
            self.fine.append(named)

    def value(self, what: str) -> str:
        """The value of a fact; empty if it is not known."""
        return next((fact.value for fact in self.facts if fact.what == what), "")

    def failed(self, error: FlowError, why: str) -> None:
        """Note every fault of an error."""
        for fault in error.faults:
            place = ": ".join(part for part in (fault.file, fault.key) if part)
            text = f"{place}: {fault.message}" if place else fault.message
            self.found(text, why, fault.remedy or "correct it, then run flow doctor again")

    @contextmanager
    def noting(self, why: str) -> Iterator[None]:
        """Note the error that ends the block, if one does."""
        try:
            yield
        except FlowError as error:
            self.failed(error, why)

    def to_document(self) -> dict[str, Any]:
        """The report as ``--json`` prints it."""
        return {
            "facts": [fact._asdict() for fact in self.facts],
            "findings": [finding._asdict() for finding in self.findings],
            "fixed": list(self.fixed),
            "fine": list(self.fine),
        }
