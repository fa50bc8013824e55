"""What this process wrote to a run, until the user's own chain heads know of it.

``proposal.json``, ``last-verdict.json`` and ``loop.json`` are replaced too often, and matter too
little, for an entry each. Their digests are kept with the heads in the user's state folder
(:mod:`flow.adapters.chain.pinned_heads`), and only what Flow itself wrote gets there. So are the
entries of the ledger: only those that a process of Flow's remembers to have appended are vouched
for.
"""

from __future__ import annotations

from flow.core import layout
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.chain.entries import Entry


class _Run:
    """What is remembered of one run. ``held`` are the hashes of what is being measured."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.waiting: dict[str, str | None] = {}
        self.files: dict[str, str | None] = {}
        self.appended: list[Entry] = []
        self.entries: dict[str, Entry] = {}
        self.taken_out: dict[str, Entry] = {}


class Waiting(NamedTuple):
    """What the heads do not know yet."""

    files: Mapping[str, str | None]
    """File name → SHA-256 of what was written; None for a removed one, or :data:`UNKNOWN`."""
    appended: Sequence[Entry]
    """Oldest first."""
    taken_out: Sequence[Entry]
    """Own entries, however old, that are not to be vouched for."""


_runs: dict[tuple[str, str], _Run] = {}
_measuring: set[tuple[str, str]] = set()
"""(Checkout, goal id): evaluations that are under way."""


UNKNOWN = ""
"""In the place of a digest: nobody vouches for what the file holds now."""


def wrote(root: str, rel: str, data: bytes | None) -> None:
    """Remember that the file ``rel`` of a run now holds ``data``; None: that it is gone."""
    _set(root, rel, sha256(data).hexdigest() if data is not None else None)


def passed_on(root: str, rel: str) -> None:
    """Remember that what the file ``rel`` of a run now holds was said by a file of the checkout."""
    _set(root, rel, UNKNOWN)


def _set(root: str, rel: str, digest: str | None) -> None:
    run_id, _, name = rel.removeprefix(f"{layout.RUNS}/").partition("/")
    run = _run(root, run_id)
    run.waiting[name] = run.files[name] = digest


def holds(root: str, run_id: str, name: str, digest: str) -> bool:
    """Whether this process left the run's small file with this digest."""
    return (root, run_id) in _runs and _runs[root, run_id].files.get(name) == digest


def appended(root: str, run_id: str, entries: Sequence[Entry]) -> None:
    """Remember entries that are now in the run's ledger."""
    run = _run(root, run_id)
    run.appended += entries
    run.entries.update((entry.hash, entry) for entry in entries)
    run.held.update(entry.hash for entry in entries if (root, entry.goal_id) in _measuring)


def hold(root: str, goal_id: str) -> None:
    """Until :func:`settle`, keep nothing that is appended for this goal.

    Nobody knows yet whether the files stay as they are while it is measured. A killed process must
    not leave something that counts and that it would have discounted.
    """
    _measuring.add((root, goal_id))


def settle(root: str, goal_id: str) -> None:
    """What was measured for this goal may be kept: what does not count was taken out."""
    _measuring.discard((root, goal_id))
    for run in _runs_of(root):
        run.held.difference_update(_held(run, goal_id))


def give_up(root: str, goal_id: str) -> None:
    """What was measured for this goal and was not settled is never vouched for."""
    _measuring.discard((root, goal_id))
    for run in _runs_of(root):
        gone = _held(run, goal_id)
        run.held -= gone
        run.appended = [entry for entry in run.appended if entry.hash not in gone]
        for digest in gone:
            run.entries.pop(digest, None)


def _runs_of(root: str) -> list[_Run]:
    return [run for (top, _), run in _runs.items() if top == root]


def _held(run: _Run, goal_id: str) -> set[str]:
    found = (run.entries.get(digest) for digest in run.held)
    return {entry.hash for entry in found if entry is not None and entry.goal_id == goal_id}


def take_out(root: str, run_id: str, evidence_id: str) -> None:
    """Vouch for nothing that this process recorded under this id."""
    run = _run(root, run_id)
    run.taken_out.update(
        (digest, entry) for digest, entry in run.entries.items() if entry.evidence_id == evidence_id
    )


def undone(root: str, run_id: str, entry: Entry) -> None:
    """Forget an entry that was taken back."""
    run = _run(root, run_id)
    run.appended = [each for each in run.appended if each.hash != entry.hash]
    run.entries.pop(entry.hash, None)
    run.held.discard(entry.hash)


def own(root: str, run_id: str, kind: str, evidence_id: str) -> Entry | None:
    """The newest entry of this kind of a sidecar that this process appended and stands by."""
    run = _runs.get((root, run_id))
    for entry in reversed(run.entries.values()) if run is not None else ():
        if (entry.kind, entry.evidence_id) == (kind, evidence_id):
            return None if run is not None and entry.hash in run.taken_out else entry
    return None


def own_ids(root: str, run_id: str, prefix: str) -> list[str]:
    """The sidecars with such ids that this process recorded and stands by, the newest first."""
    run = _runs.get((root, run_id))
    if run is None:
        return []
    entries = [entry for entry in run.entries.values() if entry.hash not in run.taken_out]
    return [e.evidence_id for e in reversed(entries) if e.evidence_id.startswith(prefix)]


def waiting(root: str, run_id: str) -> Waiting:
    """What is to be kept; :func:`kept` says that it was."""
    run = _run(root, run_id)
    appended = tuple(entry for entry in run.appended if entry.hash not in run.held)
    return Waiting(dict(run.waiting), appended, tuple(run.taken_out.values()))


def kept(root: str, run_id: str, done: Waiting) -> None:
    """The heads know this now."""
    run = _run(root, run_id)
    for name, digest in done.files.items():
        if name in run.waiting and run.waiting[name] == digest:
            del run.waiting[name]
    known = {entry.hash for entry in done.appended}
    run.appended = [entry for entry in run.appended if entry.hash not in known]


def _run(root: str, run_id: str) -> _Run:
    return _runs.setdefault((root, run_id), _Run())
