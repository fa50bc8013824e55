"""Checking runs against their hash chains, and letting old outputs go (SPEC 5 and 10)."""

from __future__ import annotations

import os

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import ledger_file, witnesses
from flow.adapters.fs import files
from flow.adapters.git import repository
from flow.core import layout
from flow.core.chain.walk import ChainFinding
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.adapters.chain.check import CheckedRun
    from flow.adapters.chain.pinned_heads import PinnedHeads, PinnedRun
    from flow.adapters.chain.witnesses import WitnessedHeads
    from flow.adapters.git.find import Repo
    from flow.core.chain.entries import Head
    from flow.core.chain.walk import WitnessedHead


class RunVerification:
    """Checking the runs of a checkout against their hash chains.

    ``heads`` gives what the user's state folder keeps, and raises :class:`FlowError` where there is
    none that can be used; ``folders`` are those of decision journals.
    """

    def __init__(
        self, top: str, repo: Repo, heads: Callable[[], PinnedHeads], folders: Sequence[str]
    ) -> None:
        self._top = top
        self._repo = repo
        self._heads = heads
        self._folders = [*folders]

    def verify(self, run_id: str | None, against: str | None) -> dict[str, Any]:
        """Check a run, or every run there is and was: what ``flow evidence verify`` prints.

        Raises :class:`InputError` for a run that nobody knows, and for a ref that is none.
        """
        said = witnesses.here(self._top, self._folders)
        asked = witnesses.at(self._repo, against, self._folders) if against is not None else None
        warnings = [*said.warnings, *(asked.warnings if asked is not None else ())]
        if asked is not None:
            warnings += self._silent(asked, str(against))
        there = chain_check.run_ids(self._top)
        others = [name for name in there if self.elsewhere(name, said)]
        warnings += [
            f"run {name} has its evidence elsewhere; {said.runs[name][0].who} tells of it"
            for name in others
            if run_id in (None, name)
        ]
        kept: dict[str, PinnedRun | None] = {}
        try:
            pinned = self._heads()
            kept = {name: pinned.read(name) for name in pinned.runs()}
        except FlowError as error:  # no home, or a state folder that others may write
            warnings += [f"your own heads are not compared: {fault}" for fault in error.faults]
        known = {*there, *kept, *(asked.runs if asked is not None else ())}
        if run_id is not None:
            if ids.run_id(run_id) not in known | set(said.runs):
                raise at_key("RUN", run_id).not_found(
                    f"there is no run {run_id}, and nobody knows of one",
                    "see the runs there are: ls .flow/runs",
                )
            known = {run_id}
        sought = frozenset(one.head for one in asked.commits) if asked is not None else frozenset()
        rows: list[CheckedRun] = []
        for name in sorted(known):
            heads = list(said.runs.get(name, ())) if name not in others else []
            heads += [
                one for one in (asked.runs.get(name, ()) if asked else ()) if one not in heads
            ]
            rows.append(self._check(name, name in there, kept.get(name), heads, sought))
        findings = self._unknown_trailers(asked.commits, rows, there) if asked is not None else []
        if run_id is None:
            warnings += [
                f"run {name} is not here; {heads[0].who} tells of it (runs are not tracked by git)"
                for name, heads in sorted(said.runs.items())
                if name not in known
            ]
        return _document(rows, findings, warnings, against)

    def _silent(self, asked: WitnessedHeads, ref: str) -> list[str]:
        """Why a comparison with what a ref says may not show what it seems to."""
        found = []
        if not asked.runs and not asked.commits:
            found.append(
                f"no journal and no commit at {visible(ref)} names a head: "
                "nothing was compared with it"
            )
        if repository.is_shallow(self._repo):
            found.append("the history here is cut (a shallow clone): older commits were not asked")
        return found

    def _check(
        self,
        run_id: str,
        there: bool,
        kept: PinnedRun | None,
        heads: list[WitnessedHead],
        sought: frozenset[Head],
    ) -> CheckedRun:
        if there:
            return chain_check.check(self._top, run_id, kept, heads, sought)
        who = chain_check.OWN if kept is not None else heads[0].who
        head = kept.ledger if kept is not None else heads[0].head
        text = f"has vanished; known to {who}" + (f" ({head})" if head is not None else "")
        rel = layout.run_dir(run_id)
        return chain_check.CheckedRun(
            run_id, None, 0, (ChainFinding("vanished", run_id, rel, text),)
        )

    def _unknown_trailers(
        self, commits: tuple[WitnessedHead, ...], rows: list[CheckedRun], there: list[str]
    ) -> list[ChainFinding]:
        """Heads that commits name and no run here has."""
        seen = frozenset[Any]().union(*(row.seen for row in rows))
        checked = {row.run_id for row in rows}
        others = [name for name in there if name not in checked]
        found = []
        for one in commits:
            if one.head in seen:
                continue
            entries = (ledger_file.at(self._top, name, one.head.number) for name in others)
            if any(entry is not None and entry.head == one.head for entry in entries):
                continue
            text = f"no run here has entry {one.head.number} as {one.who} knows it ({one.head})"
            found.append(ChainFinding("missing", "", layout.RUNS, text, one.head.number))
        return found

    def broken(self, run_id: str) -> list[ChainFinding]:
        """What breaks the record of a run; nothing where it is not here."""
        if not os.path.isdir(os.path.join(self._top, layout.run_dir(run_id))):
            return []
        found = chain_check.check(self._top, run_id, self._kept(run_id), self._journalled(run_id))
        return [finding for finding in found.findings if not finding.aside]

    def elsewhere(self, run_id: str, said: WitnessedHeads | None = None) -> bool:
        """Whether journals tell of entries of a run that never had one in this checkout.

        The state folder says so: where it kept a head of the run's, an empty ledger is a loss; and
        where it knows nothing of a run that is here, so it may be.
        """
        if files.exists(self._top, layout.ledger_file(run_id)):
            return False
        kept = self._kept(run_id)
        here = os.path.lexists(os.path.join(self._top, layout.run_dir(run_id)))
        unknown = kept is None and here
        if unknown or (kept is not None and (kept.broken or kept.ledger is not None)):
            return False
        return bool(said.runs.get(run_id) if said is not None else self._journalled(run_id))

    def _kept(self, run_id: str) -> PinnedRun | None:
        try:
            return self._heads().read(run_id)
        except FlowError:
            return None  # no state folder: nothing is kept

    def _journalled(self, run_id: str) -> list[WitnessedHead]:
        return witnesses.here(self._top, self._folders).runs.get(run_id, [])


def _document(
    rows: list[CheckedRun], findings: list[ChainFinding], warnings: list[str], against: str | None
) -> dict[str, Any]:
    return {
        "runs": [
            {
                "run_id": row.run_id,
                "head": str(row.head) if row.head is not None else None,
                "entries": row.entries,
                "findings": [finding._asdict() for finding in row.findings],
                "more": row.more,
                "notes": list(row.notes),
            }
            for row in rows
        ],
        "against": against,
        "findings": [finding._asdict() for finding in findings],
        "warnings": warnings,
        "broken": bool(findings) or any(row.findings for row in rows),
    }
