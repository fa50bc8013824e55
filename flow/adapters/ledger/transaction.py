"""A change of a goal as one transaction: goal file, journal, event and proposal, or none of them.

A change is first written down whole as an *intent*, ``.flow/runs/.pending/<goal-id>.json``. Its
publication is the moment the change is decided; the following steps only carry it out, and each
part can be carried out twice without harm: the goal file by the digests before and after, journal
and event by a key of the intent's own. So a crash anywhere leaves either no intent and nothing
changed, or an intent that :func:`finish` completes once (HAZARD A15). Each writer of a goal calls
it first, under the goal's lock, which the callers of this module hold.

The goal's lock is taken first; then the journal's or the run's, never both at once.
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_log
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.journal import store as journal
from flow.adapters.ledger import evidence_store
from flow.adapters.ledger.reader import parse_goal
from flow.app.ports import Artifact
from flow.core import layout
from flow.core.goal import ids
from flow.errors import FlowError, StateError, in_file
from flow.startup import json
from flow.startup.contexts import ExitStack
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.journal.store import Announce

VERSION = 1
ABSENT = ""
"""Digest of a goal file that is not there."""

LIMIT = 16 << 20
"""Most bytes of an intent that is read."""

EDITED = "the goal file was edited meanwhile; the edit was kept and the status not written"


class Intent(NamedTuple):
    """A decided change. ``at`` is its time, ``key`` makes its parts happen once."""

    key: str
    goal_id: str
    run_id: str
    at: str
    journal: str
    issue: int | None
    branch: str | None
    artifact: Artifact
    event_type: str
    event: Mapping[str, Any]
    text: str | None = None
    """The goal file's new text; None leaves the file alone."""
    before: str = ABSENT
    """SHA-256 of the goal file that ``text`` was made from."""
    proposal: Mapping[str, Any] | None = None
    proposal_change: Literal["keep", "put", "drop"] = "keep"
    sidecar: str | None = None
    """The change counts only if this file has the digest ``sidecar_sha256``."""
    sidecar_sha256: str | None = None

    @property
    def after(self) -> str | None:
        """SHA-256 of the goal file's new text."""
        return None if self.text is None else digest(self.text.encode("utf-8"))


def new_key() -> str:
    """A key that no other intent has."""
    return os.urandom(12).hex()


def commit(record: RunRecord, intent: Intent, announce: Announce | None = None) -> None:
    """Carry out a change.

    Raises with nothing changed, or, once decided, with the rest pending. :class:`StateError`
    (``moved``) if the goal file was edited meanwhile; that text stays.
    """
    root = record.root
    journal.check(root, intent.journal, intent.artifact, now=intent.at)
    with ExitStack() as stack:
        put = None
        if intent.text is not None:
            # Everything that may fail for want of space or permission fails here, undecided.
            put = stack.enter_context(
                files.staged(root, layout.goal_file(intent.goal_id), intent.text.encode("utf-8"))
            )
            if _goal_digest(root, intent.goal_id) != intent.before:
                raise _moved(intent.goal_id)
        publish(root, intent)
        try:
            _journal(root, intent, announce)
        except FlowError:
            if not _journalled(root, intent):
                withdraw(root, intent.goal_id)
            raise
        edited = put is not None and _goal_digest(root, intent.goal_id) != intent.before
        if put is not None and not edited:
            put()
    _complete(record, _noted(intent) if edited else intent, resumed=False)
    if edited:
        raise _moved(intent.goal_id)


def publish(root: str, intent: Intent) -> None:
    """Publish the intent: from then on the change is decided."""
    document = {"version": VERSION, **intent._asdict(), "artifact": intent.artifact._asdict()}
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    files.replace(root, layout.pending_file(intent.goal_id), text.encode("ascii"))


def withdraw(root: str, goal_id: str) -> None:
    """Drop an intent of which nothing was carried out, or everything."""
    files.remove(root, layout.pending_file(goal_id), sync=False)


def pending(root: str, goal_id: str) -> Intent | None:
    """The change that an earlier process decided for this goal; None if there is none.

    Raises :class:`RefusedError` (``broken_pending``) for a file that no Flow wrote.
    """
    rel = layout.pending_file(goal_id)
    data = files.read_optional(root, rel, limit=LIMIT)
    return _read(data, goal_id, rel) if data is not None else None


def finish(record: RunRecord, goal_id: str, announce: Announce | None = None) -> bool:
    """Complete a change that an earlier process decided for this goal; True if there was one.

    An edit of the goal file since then is kept; journal and event are completed with a note.
    """
    root, intent = record.root, pending(record.root, goal_id)
    if intent is None:
        return False
    if intent.sidecar is not None and _published(record, intent) != intent.sidecar_sha256:
        withdraw(root, goal_id)  # the sidecar was never published, so the change did not happen
        return False
    now = _goal_digest(root, goal_id) if intent.text is not None else None
    write = intent.text is not None and now == intent.before != intent.after
    if intent.text is not None and now not in (intent.before, intent.after):
        intent = _noted(intent)
    _journal(root, intent, announce)
    if write and intent.text is not None:
        files.replace(root, layout.goal_file(goal_id), intent.text.encode("utf-8"))
    _complete(record, intent, resumed=True)
    return True


def _published(record: RunRecord, intent: Intent) -> str | None:
    """The digest of the sidecar that the change is about, after its pending steps are done."""
    with locks.exclusive(record.root, layout.run_lock(intent.run_id), quick=True):
        evidence_store.finish_record(record.run(intent.run_id))
    return files.digest(record.root, str(intent.sidecar), limit=layout.SIDECAR_LIMIT)


def _complete(record: RunRecord, intent: Intent, *, resumed: bool) -> None:
    """Carry out the steps after the goal file: event, proposal, and the end of the intent."""
    root, run, after = record.root, record.run(intent.run_id), intent.after
    event_log.append(
        root,
        intent.run_id,
        intent.goal_id,
        intent.event_type,
        {**intent.event, **({"goal_sha256": after} if after is not None else {})},
        at=intent.at,
        key=intent.key,
        once=resumed,
    )
    rel = layout.proposal_file(intent.run_id)
    if intent.proposal_change == "put":
        text = json.dumps(intent.proposal, indent=2, ensure_ascii=True) + "\n"
        # Not synced: if a power cut takes it, the next evaluation proposes again.
        run.replace(rel, text.encode("ascii"), sync=False)
        if resumed:  # anyone may have written the intent: the next evaluation proposes anew
            run.unverified(rel)
    elif intent.proposal_change == "drop":
        files.remove(root, rel)
        run.wrote(rel, None)
    # If it is back after a power cut it does no harm: all of it is carried out.
    withdraw(root, intent.goal_id)


def _journal(root: str, intent: Intent, announce: Announce | None) -> None:
    journal.append(
        root,
        intent.journal,
        intent.artifact,
        issue=intent.issue,
        now=intent.at,
        branch=intent.branch,
        key=intent.key,
        announce=announce,
    )


def _journalled(root: str, intent: Intent) -> bool:
    """Whether the journal has the entry although writing it raised (a sync that failed)."""
    try:
        data = files.read_optional(root, intent.journal, limit=journal.LIMIT)
    except FlowError:
        return False
    return data is not None and intent.key.encode("ascii") in data


def _noted(intent: Intent) -> Intent:
    fields = {**intent.artifact.fields, "note": EDITED}
    return intent._replace(
        text=None,
        artifact=intent.artifact._replace(fields=fields),
        event={**intent.event, "note": EDITED},
    )


def _moved(goal_id: str) -> StateError:
    return in_file(layout.goal_file(goal_id)).wrong_state(
        "the goal file was edited while Flow was writing to it; the edit was kept",
        "read it, then run the command again",
        code="moved",
    )


def _goal_digest(root: str, goal_id: str) -> str:
    rel = layout.goal_file(goal_id)
    return files.digest(root, rel, limit=layout.GOAL_LIMIT) or ABSENT


def digest(data: bytes) -> str:
    """SHA-256 (hex), as in :attr:`Intent.before`."""
    return sha256(data).hexdigest()


def _read(data: bytes, goal_id: str, rel: str) -> Intent:
    """An intent, checked: it may write only the parts that a change of this goal writes."""
    try:
        intent = _from_document(lenient_json.loads(data))
        ids.run_id(intent.run_id)
        journal.check_artifact(intent.artifact, now=intent.at)
        if intent.text is not None:
            parse_goal(intent.text.encode("utf-8"), rel, expect_id=goal_id)
        wrong = None if intent.goal_id == goal_id else f"it is about goal {intent.goal_id!r:.80}"
        if not intent.journal.endswith(".md"):
            wrong = f"{intent.journal!r:.80} is no journal"
    except (ValueError, TypeError, KeyError, FlowError) as error:
        wrong = f"{error!s:.200}"
    if wrong is not None:
        raise in_file(rel).refused(
            f"a change that was decided earlier cannot be read: {wrong}",
            "compare the goal with its journal, then remove this file",
            code="broken_pending",
        )
    return intent


def _from_document(document: Any) -> Intent:
    """The intent that :func:`publish` wrote; ValueError, TypeError, KeyError for all else."""
    artifact = document["artifact"]
    rest = {k: v for k, v in document.items() if k not in ("artifact", "version")}
    intent = Intent(artifact=Artifact(str(artifact["type"]), dict(artifact["fields"])), **rest)
    texts = (intent.key, intent.at, intent.journal, intent.event_type, intent.before)
    optional = (intent.text, intent.sidecar, intent.sidecar_sha256, intent.branch)
    if (
        document.get("version") != VERSION
        or not all(isinstance(value, str) for value in texts)
        or not all(value is None or isinstance(value, str) for value in optional)
        or not isinstance(intent.event, dict)
        or not isinstance(intent.proposal, dict | None)
        or not isinstance(intent.issue, int | None)
    ):
        raise TypeError("it is not one that this version of Flow wrote")
    return intent
