"""Everything Flow has written in a scene, read back, and what must hold of it at any time."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from flow.adapters.chain import event_log as events
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.fs import files
from flow.adapters.journal import parts
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger.reader import FileRecords
from flow.core import layout
from flow.core.goal.lifecycle import allowed
from flow.errors import FlowError
from tests.faults.scenes import GOAL, JOURNAL, RUN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.faults.scenes import Scene

JSON_FILES = ("baseline.json", "proposal.json", "measuring.json", "last-verdict.json")


class View(NamedTuple):
    """What a reader finds. ``broken`` names what cannot be read."""

    status: str | None
    turns: int
    events: tuple[Mapping[str, Any], ...]
    artifacts: tuple[Mapping[str, Any], ...]
    evidence: tuple[str, ...]
    verdict: Mapping[str, Any] | None
    trust: tuple[Mapping[str, Any], ...]
    pending: bool
    broken: tuple[str, ...]
    files: frozenset[str]
    """Every path below the scene."""
    dropped: int
    """Entries of the ledger that say that an output was dropped."""


def look(scene: Scene) -> View:
    """Read the goal, its run, its journal and the trust ledger, with Flow's readers and without."""
    records, broken = FileRecords(RunRecord(scene.repo)), _raw_faults(scene)
    status, turns = None, 0
    if os.path.lexists(scene.path(layout.goal_file(GOAL))):
        try:
            goal = records.goal(GOAL).goal
            status, turns = goal.status, goal.turns_evaluated
        except FlowError as error:
            broken.append(str(error))
    found, warnings = events.read(scene.repo, RUN)
    broken += warnings
    sidecars, warnings = records.evidence(RUN)
    broken += warnings
    artifacts: tuple[Mapping[str, Any], ...] = ()
    for name in parts.parts(scene.repo, JOURNAL):
        try:
            read = journal_store.read(scene.repo, name)
            artifacts += read.artifacts
            broken += read.warnings
        except FlowError as error:
            broken.append(str(error))
    return View(
        status,
        turns,
        found,
        artifacts,
        tuple(e.id for e in sidecars),
        records.previous_verdict(RUN),
        tuple(_trust(scene, broken)),
        files.exists(scene.repo, layout.pending_file(GOAL)),
        tuple(broken),
        frozenset(everything(scene.folder)),
        _read(scene.path(layout.ledger_file(RUN))).count(b'"kind":"dropped"'),
    )


def _raw_faults(scene: Scene) -> list[str]:
    """What no reader of Flow's is needed to see: torn files and lines, modes, empty sidecars."""
    run = scene.path(layout.run_dir(RUN))
    faults = [
        fault
        for path in (*(f"{run}/{name}" for name in JSON_FILES), _pending(scene))
        for fault in _json_faults([_read(path, b"null")])
    ]
    for path in (f"{run}/events.jsonl", f"{scene.state}/goal-trust.jsonl"):
        *lines, tail = _read(path).split(b"\n")
        faults += [f"{path} ends in half a line"] if tail else []
        faults += _json_faults(lines)
    evidence = scene.path(layout.evidence_dir(RUN))
    names = os.listdir(evidence) if os.path.isdir(evidence) else []
    sidecars = [name for name in names if name.endswith(layout.EVIDENCE_SUFFIX)]
    faults += [f"{name} is empty" for name in sidecars if not _read(f"{evidence}/{name}")]
    cards, reports = scene.path(layout.SCORES), scene.path(layout.REPORTS_DIR)
    faults += _json_faults([_read(f"{cards}/{name}") for name in _ending(cards, ".json")])
    for name in _ending(reports, ".md"):
        text = _read(f"{reports}/{name}")
        if not text.startswith(b"Done by Judge ") or not text.endswith(b"\n"):
            faults.append(f"{name} is no whole report")
    for path, mode in ((scene.state, 0o700), (f"{scene.state}/goal-trust.jsonl", 0o600)):
        if os.path.lexists(path) and stat.S_IMODE(os.lstat(path).st_mode) != mode:
            faults.append(f"{os.path.relpath(path, scene.folder)} has not mode {mode:o}")
    return faults


def _ending(folder: str, suffix: str) -> list[str]:
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [name for name in names if name.endswith(suffix)]


def _pending(scene: Scene) -> str:
    return scene.path(layout.pending_file(GOAL))


def _read(path: str, absent: bytes = b"") -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return absent


def _json_faults(texts: list[bytes]) -> list[str]:
    faults = []
    for text in texts:
        try:
            json.loads(text)
        except ValueError as error:
            faults.append(f"{error}: {text[:200]!r}")
    return faults


def _trust(scene: Scene, broken: list[str]) -> list[Mapping[str, Any]]:
    path = os.path.join(scene.state, "goal-trust.jsonl")
    if not os.path.lexists(path):
        return []
    with open(path, "rb") as file:
        try:
            return [json.loads(line) for line in file.read().splitlines()]
        except ValueError:
            broken.append("the trust ledger has a line that is not whole")
            return []


def disagreements(view: View) -> list[str]:
    """Where goal, journal and events tell different stories. For a view with nothing pending.

    The events, in order, are a walk through the lifecycle table that ends at the goal's status;
    each of Flow's own artifacts belongs to exactly one event and the other way round.
    """
    wrong = []
    seqs = [event.get("seq") for event in view.events]
    if seqs != list(range(1, len(seqs) + 1)):
        wrong.append(f"seq is {seqs}")
    keys = [e["key"] for e in view.events if "key" in e]
    journalled = [a["key"] for a in view.artifacts if "key" in a]
    if len(set(keys)) != len(keys):
        wrong.append("an event was appended twice")
    if len(set(journalled)) != len(journalled):
        wrong.append("an artifact was journalled twice")
    for key in set(keys) ^ set(journalled):
        where = "journal" if key in keys else "events"
        wrong.append(f"{_named(view, key)} is not in the {where}")
    return wrong + _walk(view)


def _walk(view: View) -> list[str]:
    wrong = []
    status: str | None = None
    artifacts = {a.get("key"): a for a in view.artifacts}
    for event in view.events:
        to = event.get("to")
        if event.get("goal_id") != GOAL or to is None or event["type"] == "rebased":
            continue
        what = f"event {event['seq']} ({event['type']} {event.get('from')} -> {to})"
        if event["type"] == "created":
            status = str(to)
            continue
        if event.get("from") != status:
            wrong.append(f"{what} does not start at {status}")
        if not allowed(str(event.get("from")), str(to)):
            wrong.append(f"{what} is not in the table")
        artifact = artifacts.get(event.get("key"), {})
        if (artifact.get("from"), artifact.get("to")) != (event.get("from"), to):
            wrong.append(f"{what}: its artifact says otherwise: {dict(artifact)}")
        if "note" not in event:
            status = str(to)
    if status != view.status:
        wrong.append(f"the events end at {status}, the goal is {view.status}")
    return wrong


def _named(view: View, key: object) -> str:
    for entry in (*view.events, *view.artifacts):
        if entry.get("key") == key:
            return f"{entry.get('type')} {entry.get('from')} -> {entry.get('to')}"
    return "nothing"


def everything(folder: str) -> set[str]:
    """Every path below a folder, git's own files left out."""
    found: set[str] = set()
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        found.update(os.path.relpath(os.path.join(top, name), folder) for name in names)
    return found
