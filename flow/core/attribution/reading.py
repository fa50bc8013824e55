"""A command's text, a runner's report and an attribution, as values (SPEC 10, *attributable*).

The tables for reading them are in other modules: an answer from the cache needs none of them.
"""

from __future__ import annotations

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE_FILE = ".flow/runners.yaml"
"""A project's own rules for the output of its runners."""
WINDOW = 1 << 18
"""Bytes at the end of an output that are examined."""
LONGEST_WHY = 400
"""Characters of a reason; it quotes the output."""


class CommandReading(NamedTuple):
    """A command as its text shows it, without running it."""

    masked_exit: str = ""
    """Reason that its exit status can show no failure; empty if it can show one."""
    only_runner: str = ""
    """The runner that it starts and nothing else; empty otherwise."""
    commands: tuple[tuple[str, ...], ...] = ()
    """The words of every program in it, up to the first word that the shell computes."""
    files: tuple[str, ...] = ()
    """Files that may be a report: they end in ``.xml`` or ``.json``, or get a program's output."""
    runners: tuple[str, ...] = ()
    """Runners whose report a pass must show, by the names of their report forms."""
    certain_runners: tuple[str, ...] = ()
    """Those of the runners that every exit 0 has started, as often as it has."""
    idle_option: str = ""
    """A runner or checker with the option by which it checks nothing; empty if there is none."""
    second_try: bool = False
    """It starts a runner again after a failure."""
    inverted: bool = False
    """It exits 0 only if its tests fail (``! pytest tests/known_broken``)."""
    piped_programs: tuple[str, ...] = ()
    """The programs inside pipes."""
    guarded_runner: str = ""
    """A runner that an exit 0 need not have started; empty if there is none."""
    only_checkers: bool = False
    """It starts nothing but linters and type checkers, and the shell computes none of its words."""
    unheard: tuple[str, ...] = ()
    """Programs in substitutions that can fail while it exits 0: ``test -z "$(find src)"``."""
    must_fail: tuple[str, ...] = ()
    """Programs that have to fail for it to exit 0: ``! rg word src``."""
    first_only: tuple[tuple[str, ...], ...] = ()
    """Programs that read the first of their files alone, each with patterns of these files."""
    without_asserts: bool = False
    """Python takes the asserts out of what it runs (``python -O``)."""

    def to_document(self) -> dict[str, Any]:
        """The reading as a cache stores it."""
        return self._asdict()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> CommandReading:
        """The reading that :meth:`to_document` stored."""
        return cls(
            masked_exit=str(document["masked_exit"]),
            only_runner=str(document["only_runner"]),
            commands=tuple(tuple(map(str, words)) for words in document["commands"]),
            files=tuple(map(str, document["files"])),
            runners=tuple(map(str, document["runners"])),
            certain_runners=tuple(map(str, document["certain_runners"])),
            idle_option=str(document["idle_option"]),
            second_try=bool(document["second_try"]),
            inverted=bool(document["inverted"]),
            piped_programs=tuple(map(str, document["piped_programs"])),
            guarded_runner=str(document["guarded_runner"]),
            only_checkers=bool(document["only_checkers"]),
            unheard=tuple(map(str, document["unheard"])),
            must_fail=tuple(map(str, document["must_fail"])),
            first_only=tuple(tuple(map(str, words)) for words in document["first_only"]),
            without_asserts=bool(document["without_asserts"]),
        )


class Attribution(NamedTuple):
    """Reason that an exit 0 is no pass; the ``attribution`` of a sidecar."""

    kind: Literal["vacuous", "masked"]
    why: str
    runner: str = ""
    tests: int | None = None
    """Number of tests that ran; None if unknown."""
    skipped: int | None = None
    source: str = ""
    """Source of the count: ``output``, a report's path, or the project's rule."""

    @property
    def reason(self) -> str:
        """The reason for a sidecar and a verdict, as one line without control characters."""
        return f"{self.kind}: {visible(self.why[:LONGEST_WHY])}"

    def to_document(self) -> dict[str, Any]:
        """The attribution as a sidecar stores it, without the reason."""
        known = {key: value for key, value in self._asdict().items() if value not in (None, "")}
        known.pop("why")
        return known


class Summary(NamedTuple):
    """A runner's report: the number of tests that ran and that were skipped."""

    runner: str
    ran: int
    """Tests that passed or failed; expected failures do not count."""
    skipped: int
    quote: str
    """The words that it was read from."""
    failed: int = 0
    """Failures and errors among ``ran``."""
