"""Evidence for others: exported with signatures, and checked away from its repository."""

from __future__ import annotations

import os
from functools import partial

from flow.adapters.chain import event_log
from flow.adapters.contracts import formats
from flow.adapters.exchange import dsse, key_files, ssh_keys
from flow.adapters.fs import files, inputs
from flow.adapters.ledger.reader import rubric_digests
from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.trees import commit_tree
from flow.app.evaluation.goal_rules import own_files
from flow.app.exchange import bundle, bundle_ledger, envelopes
from flow.app.exchange import export as exporting
from flow.app.exchange.envelopes import Envelope
from flow.app.open_goals import run_of
from flow.core.boundary.by_products import with_guards, with_submodules
from flow.core.evidence import attestation
from flow.core.goal import ids
from flow.core.layout import OUTPUT_LIMIT
from flow.errors import StateError, at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.exchange.bundle import BundleReport
    from flow.app.exchange.envelopes import Signature
    from flow.core.evidence.attestation import Record
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context


class Exported(NamedTuple):
    """An export: what it was made from, and its envelopes."""

    record: Record
    envelopes: tuple[Envelope, ...]


def export(
    context: Context,
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
    context.ledger.finish(ids.goal_id(goal_id))
    loaded = context.load(goal_id)
    run = run_of(loaded.goal) if run_id is None else ids.run_id(run_id)
    try:
        record = exporting.gather_record(
            _sources(context), loaded, run, with_outputs=with_outputs, resource_uri=resource_uri
        )
    except StateError:
        _refuse_unread(context)
        raise
    _refuse_unread(context)
    refusal = exporting.ledger_refusal(
        record, bundle_ledger.ledger_faults(record, dsse.strict_json)
    )
    if refusal is not None:
        raise refusal
    kind = attestation.PAYLOAD_TYPE
    bodies = map(attestation.payload, attestation.statements(record))
    made = [
        Envelope(
            f"line {number}",
            kind,
            body,
            tuple(sign(attestation.pae(kind, body)) for sign in signers),
        )
        for number, body in enumerate(bodies, 1)
    ]
    return Exported(record, tuple(made))


def _sources(context: Context) -> exporting.ExportSources:
    record, top = context.run_record, context.top
    return exporting.ExportSources(
        records=context.records,
        tree_now=partial(exporting.tree_now, context.closing_context()),
        tree_of=partial(tree_of, context),
        events=lambda run, goal: event_log.read(top, run, goal)[0],
        closed=lambda goal, run, at: record.closed(run, goal.goal, goal.contract, at),
        read=partial(files.read_optional, top, limit=OUTPUT_LIMIT),
        rubrics=partial(rubric_digests, top),
        version=__version__,
    )


def _refuse_unread(context: Context) -> None:
    """Refuse where the disk gave no answer: what did not count may count.

    Then neither an export without it is the record, nor is it true that there is none.
    """
    if context.run_record.read_error is not None:
        raise context.run_record.read_error


def tree_of(context: Context, goal: Goal, run_id: str, commit: str) -> str | None:
    """The digest of a commit's files; None where it is not in this repository.

    The submodules that are checked out now belong to it, and git's hooks and settings.
    """
    working_tree = context.tree
    baseline = working_tree.baseline(goal, run_id).baseline
    own = own_files(goal, baseline)
    tree = commit_tree(context.repo, baseline, commit, own, working_tree.marked)
    if tree is None:
        return None
    if os.path.lexists(os.path.join(context.top, ".gitmodules")):
        now = working_tree.snapshot(baseline, working_tree.denied(goal), None)
        tree = with_submodules(tree, now.submodules, baseline)
    return with_guards(tree, guards(context.repo), baseline)


def signer(option: str, environ: Mapping[str, str]) -> Callable[[bytes], Signature]:
    """The key that ``--sign`` names: ``ssh:KEYFILE``."""
    kind, _, path = option.partition(":")
    if kind != "ssh" or not path:
        raise at_key("--sign", option).invalid(
            f"{option!r:.80} is no way to sign",
            "use --sign ssh:KEYFILE, or --key FILE for a key in PEM",
        )
    inputs.check_file(path, "--sign")
    return lambda message: ssh_keys.sign(path, message, environ)


def check_bundle(path: str, allowed: str | None, keys: Sequence[str]) -> BundleReport:
    """Check a bundle, by the keys that the caller trusts where any are given. Needs no repository.

    Raises :class:`InputError` for a file that is no bundle at all.
    """
    data = inputs.read(path, "--bundle", limit=dsse.LIMIT)
    if allowed is not None:
        inputs.check_file(allowed, "--allowed-signers")
    signature = envelopes.by_kind(
        ssh_keys.is_signature,
        lambda message, signed: ssh_keys.check(message, signed, allowed, os.environ),
        key_files.checker(keys) if keys else None,
    )
    name = "standard input" if path == "-" else os.path.basename(path)
    readers = bundle.Readers(
        json=dsse.strict_json,
        base64=dsse.decode_base64,
        goal=lambda goal, file: formats.read_goal(goal, file=file)[0],
        evidence=lambda sidecar, file: formats.read_evidence(sidecar, file=file)[0],
    )
    strict = allowed is not None or bool(keys)
    return bundle.check_bundle(dsse.read_bundle(data, name), readers, signature, strict=strict)
