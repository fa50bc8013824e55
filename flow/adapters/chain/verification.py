"""Check runs against their hash chains, for ``flow evidence verify`` (SPEC 10)."""

from __future__ import annotations

import os

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import ledger_file, witnesses
from flow.adapters.chain.witnesses import WitnessedHeads
from flow.adapters.fs import files
from flow.adapters.git import repository
from flow.core import layout
from flow.core.chain.walk import ChainFinding
from flow.core.goal import ids
from flow.core.report import RecordChain
from flow.core.text.display import visible
from flow.core.text.near import did_you_mean
from flow.errors import FlowError, InputError, at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.adapters.chain.check import CheckedRun
    from flow.adapters.chain.pinned_heads import PinnedHeads, PinnedRun
    from flow.adapters.git.find import Repo
    from flow.core.chain.entries import Head
    from flow.core.chain.walk import WitnessedHead


class RunVerification:
    """Checks of a checkout's runs against their hash chains.

    ``heads`` returns the user's pinned heads, and raises :class:`FlowError` if there is no state
    folder that can be used; ``folders`` are those of decision journals.
    """

    def __init__(
        self, top: str, repo: Repo, heads: Callable[[], PinnedHeads], folders: Sequence[str]
    ) -> None:
        self._top = top
        self._repo = repo
        self._heads = heads
        self._folders = [*folders]

    def verify(
        self, run_id: str | None, against: str | None, goal_ids: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Check a run, or every run there is and was; returns the document that ``--json`` prints.

        ``goal_ids`` are names to suggest for an unknown run. Raises :class:`InputError` for such a
        run, and for an invalid ref.
        """
        here = witnesses.heads_in_working_tree(self._top, self._folders)
        other = WitnessedHeads({}, (), ())
        if against is not None:
            other = witnesses.heads_at_commit(self._repo, against, self._folders)
        warnings = [*here.warnings, *other.warnings]
        if against is not None:
            warnings += self._missing_witnesses(other, against)
        present = chain_check.run_ids(self._top)
        absent = [name for name in present if self._is_absent(name, here)]
        warnings += [
            f"run {name} has its evidence elsewhere; {here.runs[name][0].where} tells of it"
            for name in absent
            if run_id in (None, name)
        ]
        pinned = self._all_pinned(warnings)
        known = {*present, *pinned, *other.runs}
        if run_id is not None:
            if ids.run_id(run_id) not in known | set(here.runs):
                raise at_key("RUN", run_id).not_found(
                    f"there is no run {run_id}, and no record names one"
                    f"{did_you_mean(run_id, (*goal_ids, *sorted(known | set(here.runs))))}",
                    "see the runs there are: ls .flow/runs",
                )
            known = {run_id}
        sought = frozenset(witnessed.head for witnessed in other.commits)
        rows: list[CheckedRun] = []
        for name in sorted(known):
            heads = list(here.runs.get(name, ())) if name not in absent else []
            heads += [head for head in other.runs.get(name, ()) if head not in heads]
            rows.append(self._check(name, name in present, pinned.get(name), heads, sought))
        findings = self._unknown_trailers(other.commits, rows, present)
        if run_id is None:
            warnings += [
                f"run {name} is not here; {heads[0].where} tells of it "
                "(runs are not tracked by git)"
                for name, heads in sorted(here.runs.items())
                if name not in known
            ]
        return _document(rows, findings, warnings, against)

    def record_chain(self, run_id: str) -> RecordChain:
        """The state of a run's chain, for a report; an empty one of a run that is nowhere."""
        try:
            row = self.verify(run_id, None)["runs"][0]
        except InputError:
            return RecordChain()
        faults = tuple(f"{finding['file']}: {finding['message']}" for finding in row["findings"])
        return RecordChain(row["head"] or "", row["entries"], faults)

    def _is_absent(self, run_id: str, journals: WitnessedHeads) -> bool:
        """As :meth:`elsewhere`; a run that cannot be looked at is left to the check."""
        try:
            return self.elsewhere(run_id, journals)
        except FlowError:
            return False

    def _all_pinned(self, warnings: list[str]) -> dict[str, PinnedRun | None]:
        """The pinned heads of every run; a state folder that cannot be used becomes a warning."""
        try:
            heads = self._heads()
            return {name: heads.read(name) for name in heads.runs()}
        except FlowError as error:  # no home, or a state folder that others may write
            warnings += [f"your own heads are not compared: {fault}" for fault in error.faults]
            return {}

    def _missing_witnesses(self, other: WitnessedHeads, ref: str) -> list[str]:
        """Warnings why a comparison with a ref may show less than it seems to."""
        warnings = []
        if not other.runs and not other.commits:
            warnings.append(
                f"no journal and no commit at {visible(ref)} names a head: "
                "nothing was compared with it"
            )
        if repository.is_shallow(self._repo):
            warnings.append(
                "the history here is cut (a shallow clone): older commits were not asked"
            )
        return warnings

    def _check(
        self,
        run_id: str,
        present: bool,
        pinned: PinnedRun | None,
        heads: list[WitnessedHead],
        sought: frozenset[Head],
    ) -> CheckedRun:
        if present:
            return chain_check.check(self._top, run_id, pinned, heads, sought)
        where = chain_check.OWN if pinned is not None else heads[0].where
        head = pinned.ledger if pinned is not None else heads[0].head
        text = f"has vanished; known to {where}" + (f" ({head})" if head is not None else "")
        rel = layout.run_dir(run_id)
        vanished = ChainFinding("vanished", run_id, rel, text)
        return chain_check.CheckedRun(run_id, None, 0, (vanished,))

    def _unknown_trailers(
        self, commits: tuple[WitnessedHead, ...], rows: list[CheckedRun], present: list[str]
    ) -> list[ChainFinding]:
        """Findings for the heads that commits name and no run here has."""
        seen = frozenset[Any]().union(*(row.seen for row in rows))
        checked = {row.run_id for row in rows}
        others = [name for name in present if name not in checked]
        findings = []
        for head, where in commits:
            if head in seen:
                continue
            if any(self._has_entry(name, head) for name in others):
                continue
            text = f"no run here has entry {head.number} as {where} knows it ({head})"
            findings.append(ChainFinding("missing", "", layout.RUNS, text, head.number))
        return findings

    def _has_entry(self, run_id: str, head: Head) -> bool:
        try:
            entry = ledger_file.at(self._top, run_id, head.number)
        except FlowError:
            return False
        return entry is not None and entry.head == head

    def broken(self, run_id: str) -> list[ChainFinding]:
        """The findings that break the record of a run; none if it is not here."""
        if not os.path.isdir(os.path.join(self._top, layout.run_dir(run_id))):
            return []
        journalled = self._journalled(run_id)
        pinned = self._pinned(run_id)
        checked = chain_check.check(self._top, run_id, pinned, journalled, notes=False)
        return [finding for finding in checked.findings if not finding.aside]

    def elsewhere(self, run_id: str, journals: WitnessedHeads | None = None) -> bool:
        """Whether journals name entries of a run that never had one in this checkout.

        The state folder decides: if it has a head of the run's, an empty ledger is a loss; it may
        also be a loss if the run is here and the state folder has no record of it.
        """
        if files.exists(self._top, layout.ledger_file(run_id)):
            return False
        pinned = self._pinned(run_id)
        here = os.path.lexists(os.path.join(self._top, layout.run_dir(run_id)))
        unknown = pinned is None and here
        if unknown or (pinned is not None and (pinned.broken or pinned.ledger is not None)):
            return False
        return bool(journals.runs.get(run_id) if journals else self._journalled(run_id))

    def _pinned(self, run_id: str) -> PinnedRun | None:
        try:
            return self._heads().read(run_id)
        except FlowError:
            return None  # no state folder: nothing is pinned

    def _journalled(self, run_id: str) -> list[WitnessedHead]:
        return witnesses.heads_in_working_tree(self._top, self._folders).runs.get(run_id, [])


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
