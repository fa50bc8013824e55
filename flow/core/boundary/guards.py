"""Guards: git's hooks, settings and exceptions, which no change set holds (SPEC 4).

They decide what git, and a check that asks it, later answers or runs. Values and pure decisions
only; ``worktree_guards`` reads them.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = "kinds of guards"
"""The name under which it stands which kinds were looked at; absent in what 0.1.0 recorded."""
ALL_KINDS = "2"
SHALLOW = "shallow"
"""Where history was cut off. What is fetched later (``--unshallow``) takes it away in honesty."""

_FIRST_KINDS = ("hooks/", "core.hooksPath", "info/", "worktree info/", "refs/replace")
"""How the names begin that are recorded where :data:`KINDS` is not."""


def pinned_kinds(now: Mapping[str, str], baseline: Mapping[str, str]) -> dict[str, str]:
    """Those of ``now`` whose kind was looked at when ``baseline`` was recorded."""
    if KINDS in baseline:
        return dict(now)
    return {name: digest for name, digest in now.items() if name.startswith(_FIRST_KINDS)}


def guards_changed(baseline: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the guards that are not as ``baseline`` recorded them."""
    there = pinned_kinds(now, baseline)
    names = {name for name in {*baseline, *there} if baseline.get(name) != there.get(name)}
    if SHALLOW not in there:
        names.discard(SHALLOW)
    return tuple(sorted(names))


def unapproved(
    moments: Iterable[Mapping[str, str]],
    baseline: Mapping[str, str],
    approved: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """The names of guards that at one of ``moments`` were neither as recorded nor as approved.

    An approval (None: there is none) is for all guards exactly as they were then.
    """
    names: set[str] = set()
    for now in moments:
        if not as_approved(now, baseline, approved):
            names.update(guards_changed(baseline, now))
    return tuple(sorted(names))


def as_approved(
    now: Mapping[str, str], baseline: Mapping[str, str], approved: Mapping[str, str] | None
) -> bool:
    """Whether a person approved exactly these guards, as far as ``baseline`` looked at them."""
    return approved is not None and pinned_kinds(now, baseline) == pinned_kinds(approved, baseline)


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the guards that two moments do not share."""
    return tuple(sorted(n for n in {*one, *other} if one.get(n) != other.get(n)))
