"""Everything Flow has written in a scene, read back, and what must hold of it at any time."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from flow.adapters import events, files, journal
from flow.adapters.records import FileRecords
from flow.core import layout
from flow.core.lifecycle import allowed
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


def look(scene: Scene) -> View:
    """Read the goal, its run, its journal and the trust ledger, with Flow's readers and without."""
    records, broken = FileRecords(scene.repo), _raw_faults(scene)
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
    if os.path.lexists(scene.path(JOURNAL)):
        try:
            read = journal.read(scene.repo, JOURNAL)
            artifacts = read.artifacts
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
    )


def _raw_faults(scene: Scene) -> list[str]:
    """What no reader of Flow's is needed to see: files that are no JSON, lines that are not whole."""
    faults = []
    run = scene.path(layout.run_dir(RUN))
    paths = [os.path.join(run, name) for name in JSON_FILES]
    paths.append(scene.path(layout.pending_file(GOAL)))
    for path in paths:
        if os.path.lexists(path):
            with open(path, "rb") as file:
                try:
                    json.load(file)
                except ValueError as error:
                    faults.append(f"{os.path.relpath(path, scene.folder)}: {error}")
    for path in (os.path.join(run, "events.jsonl"), os.path.join(scene.state, "goal-trust.jsonl")):
        if os.path.lexists(path):
            with open(path, "rb") as file:
                *lines, tail = file.read().split(b"\n")
            if tail:
                faults.append(f"{os.path.relpath(path, scene.folder)}: ends in half a line")
            for number, line in enumerate(lines, 1):
                try:
                    json.loads(line)
                except ValueError:
                    faults.append(f"{os.path.relpath(path, scene.folder)}: line {number}: {line!r}")
    evidence = scene.path(layout.evidence_dir(RUN))
    names = set(os.listdir(evidence)) if os.path.isdir(evidence) else set()
    for name in names:
        if os.path.getsize(os.path.join(evidence, name)) == 0 and name.endswith(".yaml"):
            faults.append(f"{name} is empty")
    for folder, mode in ((scene.state, 0o700), (scene.state + "/goal-trust.jsonl", 0o600)):
        if os.path.lexists(folder) and stat.S_IMODE(os.lstat(folder).st_mode) != mode:
            faults.append(f"{os.path.relpath(folder, scene.folder)} has not mode {mode:o}")
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
    """Where goal, journal and events do not tell the same story. For a view without a pending write.

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
    found = set()
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        found.update(os.path.relpath(os.path.join(top, name), folder) for name in names)
    return found
