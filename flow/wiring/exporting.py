"""Evidence for others: exported with signatures, and checked away from its repository."""

from __future__ import annotations

import os
from functools import partial

from flow.adapters.chain import event_log
from flow.adapters.contracts import formats
from flow.adapters.exchange import dsse, key_files, ssh_keys
from flow.adapters.exchange.key_files import checker
from flow.adapters.fs import files, inputs
from flow.adapters.ledger.reader import rubric_digests
from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.trees import commit_tree
from flow.app.evaluation.goal_rules import deciding, own_files
from flow.app.evaluation.observing import subject_of
from flow.app.exchange import bundle, bundle_ledger
from flow.app.exchange import export as exchange_export
from flow.app.exchange.envelopes import Envelope, SignatureCheck
from flow.core import layout
from flow.core.boundary.by_products import with_guards, with_submodules
from flow.core.evidence import attestation
from flow.core.goal import ids
from flow.core.layout import OUTPUT_LIMIT
from flow.errors import StateError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple
from flow.wiring.parts import version
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.exchange.bundle import BundleReport
    from flow.app.exchange.envelopes import Signature
    from flow.app.ports import LoadedGoal
    from flow.core.evidence.attestation import Record
    from flow.core.goal.model import Goal


class Exported(NamedTuple):
    """An export: what it was made from, and its envelopes."""

    record: Record
    envelopes: tuple[Envelope, ...]


class Exporting(Reading):
    """A checkout whose evidence goes out. Apart from ``Checkout``: a hook has no use for it."""

    def export(
        self,
        goal_id: str,
        run_id: str | None,
        *,
        with_outputs: bool,
        resource_uri: str | None,
        signers: Sequence[Callable[[bytes], Signature]],
    ) -> Exported:
        """A goal's evidence as in-toto Statements in envelopes, each signed by all ``signers``.

        Raises :class:`~flow.errors.StateError` where there is nothing to vouch for.
        """
        self.ledger.finish(ids.goal_id(goal_id))
        loaded = self.load(goal_id)
        sources = exchange_export.ExportSources(
            records=self.records,
            tree_now=self.tree_now,
            tree_of=self.tree_of,
            events=lambda run, goal: event_log.read(self.top, run, goal)[0],
            closed=lambda goal, run, at: self.run_record.closed(run, goal.goal, goal.contract, at),
            read=partial(files.read_optional, self.top, limit=OUTPUT_LIMIT),
            rubrics=lambda goal: rubric_digests(self.top, goal),
            version=version(),
        )
        run = self.run_of(goal_id) if run_id is None else ids.run_id(run_id)
        try:
            record = exchange_export.gather_record(
                sources, loaded, run, with_outputs=with_outputs, resource_uri=resource_uri
            )
        except StateError:
            self._all_read()
            raise
        self._all_read()
        self._refuse_broken(record)
        kind = attestation.PAYLOAD_TYPE
        made: list[Envelope] = []
        for statement in attestation.statements(record):
            body = attestation.payload(statement)
            signed = tuple(sign(attestation.pae(kind, body)) for sign in signers)
            made.append(Envelope(f"line {len(made) + 1}", kind, body, signed))
        return Exported(record, tuple(made))

    def _refuse_broken(self, record: Record) -> None:
        """Raise :class:`StateError` where whoever checks the bundle would find a broken chain."""
        wrong = bundle_ledger.ledger_faults(record, dsse.strict_json)
        if wrong:
            raise in_file(layout.ledger_file(record.run_id)).wrong_state(
                f"the ledger of run {record.run_id} does not hold: {'; '.join(wrong[:3])}",
                f"see: flow evidence verify {record.run_id}",
                code="inconsistent",
            )

    def _all_read(self) -> None:
        """Refuse where the disk gave no answer: what did not count may count.

        Then neither an export without it is the record, nor is it true that there is none.
        """
        if self.run_record.read_error is not None:
            raise self.run_record.read_error

    def tree_now(self, loaded: LoadedGoal, run_id: str) -> str | None:
        """The digest of the files as they are; None where git cannot say."""
        goal = loaded.goal
        baseline = self._baseline(goal, run_id).baseline
        now = self._snapshot(baseline, self._denied(goal), deciding(goal, baseline))
        return subject_of(loaded, now, baseline, version(), as_recorded=True).tree

    def tree_of(self, goal: Goal, run_id: str, commit: str) -> str | None:
        """The digest of a commit's files; None where it is not in this repository.

        The submodules that are checked out now belong to it, and git's hooks and settings.
        """
        baseline = self._baseline(goal, run_id).baseline
        tree = commit_tree(self.repo, baseline, commit, own_files(goal, baseline), self._marked)
        if tree is None:
            return None
        if os.path.lexists(os.path.join(self.repo.top, ".gitmodules")):
            now = self._snapshot(baseline, self._denied(goal), None)
            tree = with_submodules(tree, now.submodules, baseline)
        return with_guards(tree, guards(self.repo), baseline)


def signer(option: str, environ: Mapping[str, str]) -> Callable[[bytes], Signature]:
    """What ``--sign`` names: ``ssh:KEYFILE``."""
    kind, _, path = option.partition(":")
    if kind != "ssh" or not path:
        raise at_key("--sign", option).invalid(
            f"{option!r:.80} is no way to sign",
            "use --sign ssh:KEYFILE, or --key FILE for a key in PEM",
        )
    inputs.check_file(path, "--sign")
    return lambda message: ssh_keys.sign(path, message, environ)


def key_signer(path: str) -> Callable[[bytes], Signature]:
    """What ``--key`` names: a private key in PEM."""
    return key_files.signer(path)


def check_bundle(path: str, allowed: str | None, keys: Sequence[str]) -> BundleReport:
    """Check a bundle, by the keys that the caller trusts where any are given. Needs no repository.

    Raises :class:`InputError` for a file that is no bundle at all.
    """
    data = inputs.read(path, "--bundle", limit=dsse.LIMIT)
    if allowed is not None:
        inputs.check_file(allowed, "--allowed-signers")
    by_key = None
    if keys:
        by_key = checker(keys)
    name = "standard input" if path == "-" else os.path.basename(path)

    def signature(message: bytes, one: Signature) -> SignatureCheck:
        if ssh_keys.is_signature(one.sig):
            return ssh_keys.check(message, one, allowed, os.environ)
        if by_key is not None:
            return by_key(message, one)
        return SignatureCheck(None, one.keyid, why="not checked: signed by a key file; give --key")

    readers = bundle.Readers(
        json=dsse.strict_json,
        base64=dsse.decode_base64,
        goal=lambda found, file: formats.read_goal(found, file=file)[0],
        evidence=lambda found, file: formats.read_evidence(found, file=file)[0],
    )
    strict = allowed is not None or bool(keys)
    return bundle.check_bundle(dsse.read_bundle(data, name), readers, signature, strict=strict)
