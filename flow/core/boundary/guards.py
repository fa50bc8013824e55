"""Guards: git's hooks, settings and exceptions, which are in no change set (SPEC 4).

They influence later answers of git, and the programs that it runs. Values and pure decisions only;
``adapters/worktree/guards`` reads them.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = "kinds of guards"
"""The key of the recorded kinds; absent in a record of 0.1.0."""
ALL_KINDS = "2"
SHALLOW = "shallow"
"""The guard of a shallow history, which a later fetch (``--unshallow``) removes legitimately."""

_FIRST_KINDS = ("hooks/", "core.hooksPath", "info/", "worktree info/", "refs/replace")
"""Prefixes of the recorded names in a record without :data:`KINDS`."""


def pinned_kinds(now: Mapping[str, str], baseline: Mapping[str, str]) -> dict[str, str]:
    """The guards of ``now`` whose kind ``baseline`` recorded."""
    if KINDS in baseline:
        return dict(now)
    return {name: digest for name, digest in now.items() if name.startswith(_FIRST_KINDS)}


def guards_changed(baseline: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the guards that differ from the record in ``baseline``."""
    present = pinned_kinds(now, baseline)
    names = differences(baseline, present)
    return tuple(name for name in names if name != SHALLOW or name in present)


def any_changed(moments: Iterable[Mapping[str, str]], baseline: Mapping[str, str]) -> bool:
    """Whether a guard was not as ``baseline`` recorded it at one of ``moments``.

    If not, no approval is needed, so none has to be read.
    """
    return any(guards_changed(baseline, now) for now in moments)


def unapproved(
    moments: Iterable[Mapping[str, str]],
    baseline: Mapping[str, str],
    approved: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """The names of guards that at one of ``moments`` were neither as recorded nor as approved.

    An approval (None: there is none) covers all guards exactly as they were then.
    """
    names: set[str] = set()
    for now in moments:
        if not as_approved(now, baseline, approved):
            names.update(guards_changed(baseline, now))
    return tuple(sorted(names))


def as_approved(
    now: Mapping[str, str], baseline: Mapping[str, str], approved: Mapping[str, str] | None
) -> bool:
    """Whether a person approved exactly these guards, in the kinds that ``baseline`` recorded."""
    return approved is not None and pinned_kinds(now, baseline) == pinned_kinds(approved, baseline)


def differences(first: Mapping[str, object], second: Mapping[str, object]) -> tuple[str, ...]:
    """The names of the guards, or of other states, that differ between two moments."""
    return tuple(sorted(n for n in {*first, *second} if first.get(n) != second.get(n)))
