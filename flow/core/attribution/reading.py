"""A command's text, a runner's report and an attribution, as values (SPEC 10, *attributable*).

The tables that they are read by stand elsewhere: an answer from the cache needs none of them.
"""

from __future__ import annotations

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE_FILE = ".flow/runners.yaml"
"""A project's own rules for what its runners print."""
WINDOW = 1 << 18
"""Bytes of the end of an output that are looked at."""
LONGEST_WHY = 400
"""Characters of a reason; it quotes the output."""


class CommandReading(NamedTuple):
    """A command as its text shows it, without running it."""

    masked_exit: str = ""
    """Why its exit status can show no failure; empty where it can show one."""
    single: str = ""
    """The runner it starts, where that is all it does; empty otherwise."""
    commands: tuple[tuple[str, ...], ...] = ()
    """The words of every program in it, up to the first that the shell computes."""
    files: tuple[str, ...] = ()
    """Words that may name a report: they end in ``.xml`` or ``.json``."""
    runners: tuple[str, ...] = ()
    """Runners whose report a pass has to show, by the names of their forms."""
    certain: tuple[str, ...] = ()
    """Those of them that every exit 0 has started."""
    lists: str = ""
    """The option with which a runner lists tests and runs none; empty where there is none."""
    second_try: bool = False
    """It starts a runner again where that failed."""
    inverted: bool = False
    """It exits 0 only where its tests fail (``! pytest tests/known_broken``)."""
    piped: tuple[str, ...] = ()
    """The programs that stand in pipes."""
    guarded: str = ""
    """A runner in it, where it can end with 0 without any."""
    only_checkers: bool = False
    """It starts nothing but linters and type checkers, whose words all stand in it."""

    def to_document(self) -> dict[str, Any]:
        """As a cache holds it."""
        return self._asdict()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> CommandReading:
        """What :meth:`to_document` gave."""
        return cls(
            str(document["masked_exit"]),
            str(document["single"]),
            tuple(tuple(map(str, words)) for words in document["commands"]),
            tuple(map(str, document["files"])),
            tuple(map(str, document["runners"])),
            tuple(map(str, document["certain"])),
            str(document["lists"]),
            bool(document["second_try"]),
            bool(document["inverted"]),
            tuple(map(str, document["piped"])),
            str(document["guarded"]),
            bool(document["only_checkers"]),
        )


class Attribution(NamedTuple):
    """Why an exit 0 is no pass; the ``attribution`` of a sidecar."""

    kind: Literal["vacuous", "masked"]
    why: str
    runner: str = ""
    tests: int | None = None
    """How many ran."""
    skipped: int | None = None
    source: str = ""
    """Where that was read: ``output``, a report's path, or the rule of the project."""

    @property
    def reason(self) -> str:
        """As a sidecar and a verdict give it: on one line, whatever the output held."""
        return f"{self.kind}: {visible(self.why[:LONGEST_WHY])}"

    def to_document(self) -> dict[str, Any]:
        """As a sidecar holds it."""
        known = {key: value for key, value in self._asdict().items() if value not in (None, "")}
        known.pop("why")
        return known


class Summary(NamedTuple):
    """A runner's report: how many tests ran and how many were left out."""

    runner: str
    ran: int
    """Tests that passed or failed; one that fails as it is expected to is left out."""
    skipped: int
    quote: str
    """The words it was read from."""
    failed: int = 0
    """Of those that ran, failures and errors."""
