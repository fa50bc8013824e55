"""What keeps each kind of fault from coming back, as edits that take it out again.

An edit names a function and a piece of its source; where the piece is not there any more, the edit
has to be written anew, and says so. It changes the function's code in place, whoever imported it.
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
from contextlib import ExitStack, contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Edit(NamedTuple):
    """``place`` is ``module:function`` or ``module:Class.method``."""

    place: str
    old: str
    new: str


class Stale(AssertionError):
    """An edit does not fit the code any more."""


MENDS: Mapping[str, Sequence[Edit]] = {
    "I98 stamps are believed where nothing is written back": (
        Edit(
            "flow.adapters.worktree.contents:Contents._tells_later",
            "self._unflushed += status.st_size + _FILE_COST",
            "return True",
        ),
        Edit(
            "flow.adapters.worktree.scan:ScanRequest.chosen", "if self.deciding is None", "if True"
        ),
    ),
    "I99 guards are looked at before the commands only": (
        Edit("flow.app.evaluation.observing:_with_guards", "*drift.guards)", ")"),
    ),
    "I99 a proposal does not hold the guards": (
        Edit(
            "flow.app.transitions.closing:what_moved",
            'differences(proposal["guards"], now.guards)',
            "()",
        ),
    ),
    "I100 what was cut is not read": (
        Edit(
            "flow.adapters.attribution.attributor:Attributor._output_end",
            "result.output_end or",
            "None or",
        ),
    ),
    "I106 confirm asks nobody for trust": (
        Edit("flow.app.transitions.closing:what_moved", "if not trusted:", "if False:"),
    ),
    "I106 confirm knows what was denied": (
        Edit(
            "flow.app.transitions.closing:what_moved",
            "moved += _outside",
            "moved += [] and _outside",
        ),
    ),
    "I101 what the settings denied at the start is forgotten": (
        Edit(
            "flow.core.boundary.changes:Baseline.settings_denied", "if not self.settings", "if True"
        ),
        Edit("flow.wiring.context:Context.take_settings_of", "if pins == self._pins:", "if True:"),
    ),
    "I102 a reported failure is not read": (
        Edit("flow.core.attribution.attribute:reported_failure", "if reading.inverted", "if True"),
    ),
    "I103 a tag before the branch": (
        Edit(
            "flow.adapters.git.names:resolve",
            "suffix = _SUFFIX.search(name)",
            "return repository.commit_of(repo, name)",
        ),
    ),
    "I103 origin/HEAD leads anywhere": (
        Edit("flow.adapters.git.names:remote_default", "and not _leads_out(repo, ORIGIN_HEAD)", ""),
    ),
    "I104 blanks at the end": (
        Edit(
            "flow.core.boundary.globs:without_end_blanks",
            'cut = pattern.rstrip(" ")',
            "return pattern",
        ),
        Edit("flow.core.boundary.globs:why_not", "if pattern[-1].isspace()", "if False"),
    ),
    "I104 src/**/ is src/**": (
        Edit("flow.core.boundary.globs:_literal_part", "return None  # ``src/**/``", "pass #"),
    ),
    "I105 a journal may be a program": (
        Edit(
            "flow.core.boundary.rules:OwnFiles.__call__",
            "and all(entry is None or entry.mode == REGULAR for entry in entries)",
            "",
        ),
        Edit(
            "flow.adapters.ledger.own_marks:_OwnNamedChange.foreign",
            'entry.mode in (REGULAR, "100755")',
            "entry.mode == REGULAR",
        ),
    ),
    "I105 a name makes a file Flow's": (
        Edit(
            "flow.adapters.ledger.own_marks:_OwnNamedChange.foreign",
            "marks = [",
            "marks = [] and [",
        ),
    ),
    "I107 amendments are not told": (
        Edit("flow.app.transitions.confirming:contract_steps", "since.reverse()", "return (), ()"),
    ),
    "I107 changes of the proof are not told": (
        Edit(
            "flow.app.transitions.confirming:_proof_change",
            "if context.proof is None:\n",
            'if True:\n        return ProofChange("", (), ())\n',
        ),
    ),
    "I107 by-products are not told": (
        Edit(
            "flow.app.transitions.confirming:question",
            "left_behind=report.by_products",
            "left_behind=()",
        ),
    ),
    "I108 a named contract is proposed like a trusted one": (
        Edit(
            "flow.app.transitions.named_contract:take_named",
            'if known["digest"] == loaded.contract:',
            "if True:",
        ),
    ),
    "I109 a goal that vanished is not missed": (
        Edit("flow.core.stop.lost_goals:lost_goals", "lost = []", "return []"),
    ),
    "I109 a made-up session's claim is silent": (
        Edit(
            "flow.app.stop.handle:_owner_session", "unheard = owner is not None", "unheard = False"
        ),
    ),
    "I110 two goals of a session are none": (
        Edit("flow.app.stop.handle:_choose_goals", "    if mine:", "    if len(mine) == 1:"),
    ),
    "I111 all that commands leave behind is harmless": (
        Edit("flow.core.boundary.harmless_names:is_harmless", "path = path.lower()", "return True"),
    ),
    "I112 a command writes its own report": (
        Edit(
            "flow.adapters.process.loop:Loop.channel",
            "read, write = socketpair(AF_UNIX, SOCK_STREAM)",
            "return self.pipe()",
        ),
    ),
}
"""Named by the finding that the mend belongs to, and what Flow does without it."""


@contextmanager
def without(name: str) -> Iterator[None]:
    """Flow without one of the mends, in this process and all that it forks."""
    with ExitStack() as stack:
        for edit in MENDS[name]:
            stack.enter_context(_edited(edit))
        yield


@contextmanager
def _edited(edit: Edit) -> Iterator[None]:
    module_name, _, path = edit.place.partition(":")
    module = importlib.import_module(module_name)
    try:
        function = _plain(reduce(getattr, path.split("."), module))
        source = textwrap.dedent(inspect.getsource(function))
    except AttributeError:
        raise Stale(f"{edit.place}: there is no such function") from None
    if edit.old not in source:
        raise Stale(f"{edit.place}: its source does not hold {edit.old!r}")
    changed: dict[str, Any] = {}
    flags = "from __future__ import annotations\n"
    exec(flags + source.replace(edit.old, edit.new), dict(vars(module)), changed)
    before = function.__code__
    function.__code__ = _plain(changed[function.__name__]).__code__
    try:
        yield
    finally:
        function.__code__ = before


def _plain(found: Any) -> Any:
    """The function behind a property, or behind a cache."""
    return inspect.unwrap(found.fget if isinstance(found, property) else found)
