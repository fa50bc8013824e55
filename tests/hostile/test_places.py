"""Links, pipes, devices, other owners and odd modes at every path Flow reads or writes.

Whatever stands there: no command follows it, waits for it, or writes through it, and what a
command refuses it refuses by name; ``doctor`` names all of it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

from flow.adapters.setup import doctor, doctor_git, doctor_paths, doctor_sandbox
from tests.hostile import places
from tests.hostile.scene import GOAL, RUN, Done, check, statuses
from tests.support.effort import sizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hostile.scene import Scene

COMMANDS: dict[str, Callable[[Scene], Done]] = {
    "status": lambda s: s.flow("goal", "status", GOAL),
    "history": lambda s: s.flow("goal", "history", GOAL),
    "evaluate": lambda s: s.flow("goal", "evaluate", GOAL, "--no-input"),
    "confirm": lambda s: s.flow("goal", "confirm", GOAL, "--proposal", s.proposal_id),
    "pause": lambda s: s.flow("goal", "pause", GOAL),
    "create": lambda s: s.flow(
        "goal", "create", "other", "--outcome", "x", "--criterion", "AC1: x :: true"
    ),
    "lifecycle": lambda s: s.helper(
        "flow-goal-record",
        *("--update-lifecycle", "--goal-id", GOAL, "--lifecycle-file", "lifecycle.yaml"),
    ),
    "active": lambda s: s.helper("flow-active-goal"),
    "evidence record": lambda s: s.flow(
        *("evidence", "record", "--run-id", RUN),
        *("--evidence-file", "evidence.yaml", "--raw-output", "raw.txt"),
    ),
    "evidence list": lambda s: s.flow("evidence", "list", GOAL),
    "evidence show": lambda s: s.flow("evidence", "show", "evidence-ac1-eval-1", "--goal", GOAL),
    "verdict record": lambda s: s.flow(
        "verdict", "record", "--run-id", RUN, "--verdict-file", "verdict.json"
    ),
    "verdict show": lambda s: s.flow("verdict", "show", GOAL),
    "journal record": lambda s: s.flow("journal", "record", "--issue", "7", "--type", "note"),
    "journal show": lambda s: s.flow("journal", "show", "--issue", "7"),
    "trust revoke": lambda s: s.flow("trust", "revoke", GOAL),
    "trust check": lambda s: s.flow("trust", "check", GOAL),
    "trust list": lambda s: s.flow("trust", "list"),
    "config": lambda s: s.flow("config", "list"),
    "init": lambda s: s.flow("init"),
}
REFUSES: dict[str, dict[str, int]] = {
    "goal": {"status": 2, "evaluate": 2, "lifecycle": 2, "active": 1},
    "rubric": {"status": 2, "evaluate": 2},
    "sidecar": {"evidence show": 2, "confirm": 2},
    "output": {"evidence show": 2, "confirm": 2},
    "new sidecar": {"evidence record": 2},
    "new output": {"evidence record": 2},
    "events": {"history": 2, "evaluate": 2, "evidence record": 2},
    "baseline": {"evaluate": 2, "confirm": 2},
    "proposal": {"status": 2, "confirm": 2},
    "verdict": {"verdict show": 2, "verdict record": 2},
    "measuring": {"evaluate": 2},
    "pending": {"status": 2, "pause": 2},
    "goal lock": {"pause": 2, "evidence record": 2, "lifecycle": 2},
    "evaluation lock": {"evaluate": 2},
    "run lock": {"pause": 2, "evidence record": 2},
    "journal lock": {"pause": 2, "journal record": 2},
    "journal": {"confirm": 2, "journal record": 2, "journal show": 2},
    "settings": {"config": 2, "evaluate": 2, "journal record": 2},
    "local settings": {"config": 2, "evaluate": 2},
    "own settings": {},
    "host settings": {"init": 2},
    "trust": {"trust revoke": 2, "trust list": 2, "trust check": 4, "evaluate": 4},
    "trust lock": {"trust revoke": 2, "create": 2},
    "error log": {},
    "ignore file": {"init": 2},
    "attributes file": {"init": 2},
    "schema copy": {"init": 2},
    ".flow": {"status": 2, "evaluate": 2, "create": 2, "init": 2},
    "goals": {"status": 2, "create": 2, "active": 2},
    "rubrics": {"status": 2, "evaluate": 2},
    "runs": {"status": 2, "evaluate": 2, "evidence list": 2},
    "run": {"status": 2, "evaluate": 2, "verdict show": 2},
    "evidence": {"evidence list": 2, "evaluate": 2},
    "locks": {"evaluate": 2, "pause": 2},
    "pending folder": {"status": 2, "pause": 2, "create": 2},
    "work": {"evaluate": 2},
    "journal folder": {"journal record": 2, "journal show": 2, "pause": 2},
    "host folder": {"init": 2},
    "state": {"trust revoke": 2, "trust check": 4},
    "cache": {},
    "goal cache": {},
    "worktree cache": {},
}
"""Place → the commands that must not go on where no regular file (no real folder) stands, and
their exit status. Every place but the last ones is covered by a reader and a writer."""

UNAFFECTED: dict[str, dict[str, int]] = {
    "own settings": {"config": 2},
    "error log": {"status": 0},
    "cache": {"status": 0, "evaluate": 0},
    "goal cache": {"status": 0, "evaluate": 0},
    "worktree cache": {"status": 0, "evaluate": 0},
}
"""Places that a command can do without (exit 0), or that the user may have put a link at."""

MAY_BE_A_LINK = {
    ("own settings", "link to a copy"),
    ("own settings", "dangling link"),
    ("state", "link to a folder"),
    ("state", "link to a copy"),
    ("state", "dangling link"),
}
"""The user's own files: their real place counts, and is checked."""

ODD = [kind for kind in places.REPLACED if kind != "hard link"]


def apply(scene: Scene, place: str, kind: str) -> None:
    if not places.apply(scene, place, kind):
        pytest.skip(f"{kind} cannot be made here")


def call(scene: Scene, name: str, place: str, kind: str) -> Done:
    """One command with what holds in any case; the scene is as it was before afterwards."""
    before, closed = scene.outside(), statuses(scene)
    with places.as_a_user():
        done = COMMANDS[name](scene)
    check(done, (place, kind, name))
    if (place, kind) not in MAY_BE_A_LINK:
        assert scene.outside() == before, (place, kind, name)
    if name != "confirm":
        now = statuses(scene)
        assert not {g for g, s in now.items() if s == "achieved" != closed.get(g)}
    return done


@pytest.fixture(scope="module")
def usual(_built: Scene) -> Callable[[str], int]:
    """The exit status of a command where nothing was changed. The scene is as before afterwards."""

    @cache
    def status(name: str) -> int:
        _built.restore()
        found = COMMANDS[name](_built).status
        _built.restore()
        return found

    return status


def named(place: str, text: str) -> bool:
    """Whether a message names the path, a folder above it, or (for evidence) its id."""
    path = places.PLACES[place]
    rel = path.removeprefix("repo/").removeprefix("home/")
    above = [rel.rsplit("/", n)[0] for n in range(rel.count("/") + 1)]
    ids = [os.path.basename(path).removesuffix(".txt").removesuffix(".evidence.yaml")]
    return any(f"{one}" in text for one in [*above[:-1], rel, os.path.basename(path), *ids])


@pytest.mark.parametrize(("place", "kind"), places.pairs(ODD))
def test_what_is_no_file_of_ours_is_refused_by_name(scene: Scene, place: str, kind: str) -> None:
    apply(scene, place, kind)
    linked = (place, kind) in MAY_BE_A_LINK
    for name, status in {**REFUSES[place], **UNAFFECTED.get(place, {})}.items():
        scene.restore()
        apply(scene, place, kind)
        done = call(scene, name, place, kind)
        if not linked:
            assert done.status == status, (name, done)
        if not linked and name in REFUSES[place] and (place, name) != ("trust", "evaluate"):
            assert named(place, done.text), (name, done)


@pytest.mark.parametrize(("place", "kind"), places.pairs(["hard link", *places.CHANGED]))
def test_other_owners_modes_and_names(
    scene: Scene, usual: Callable[[str], int], place: str, kind: str
) -> None:
    """They go on, or end with 2 or 5 and the name; never through to the other name."""
    apply(scene, place, kind)
    for name in {**REFUSES[place], **UNAFFECTED.get(place, {})}:
        expected = usual(name)
        scene.restore()
        apply(scene, place, kind)
        done = call(scene, name, place, kind)
        said = kind != "hard link" and "stale" not in done.text  # else it is merely other content
        if done.status != expected and done.status in (2, 5) and said:
            assert named(place, done.text), (name, done)


@pytest.mark.parametrize("name", ["events", "trust", "goal lock", "run lock", "trust lock"])
def test_nothing_is_appended_or_locked_through_a_second_name(scene: Scene, name: str) -> None:
    writer = {"events": "evidence record", "trust": "trust revoke", "trust lock": "trust revoke"}
    path = f"{scene.parent}/{places.PLACES[name]}"
    copy = f"{scene.parent}/outside/second"
    if not os.path.exists(path):
        places._touch(path)
    os.link(path, copy)
    with open(path, "rb") as file:
        before = file.read()
    done = call(scene, writer.get(name, "pause"), name, "hard link")
    assert done.status == 2
    assert "second name" in done.text
    assert os.path.basename(path) in done.text
    with open(copy, "rb") as file:
        assert file.read() == before


NOT_NAMED = {
    ("own settings", "link to a copy"),
    ("own settings", "dangling link"),
    ("own settings", "setuid"),
    *(("state", kind) for kind in ("link to a folder", "link to a copy", "dangling link")),
}
"""Where nothing is wrong."""


def wrong(place: str, kind: str) -> bool:
    """Whether there is anything to name: what Flow replaces may have a second name, and a folder
    with such a bit only gives its group to new files, which is common.
    """
    if kind == "hard link":
        return places.PLACES[place].endswith((".jsonl", ".lock", ".log"))
    return (place, kind) not in NOT_NAMED and not (kind == "setuid" and place in places.FOLDERS)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a doctor does that looks at no place takes most of its time."""
    monkeypatch.setattr(doctor, "_packages", lambda _report: None)
    monkeypatch.setattr(doctor_git, "program", lambda _report, _repo: None)
    monkeypatch.setattr(doctor_sandbox, "examine", lambda _report, _checkout, _environ: None)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", [kind for kind in places.KINDS if kind != "file"])
def test_doctor_names_each_of_many(
    scene: Scene, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files at once, each by its own name."""
    monkeypatch.setattr(doctor_paths, "MOST_NAMED", len(places.FILES))
    found = [
        place
        for place in places.FILES
        if places.sensible(place, kind) and wrong(place, kind) and places.apply(scene, place, kind)
    ]
    findings = examined(scene, kind)
    missing = [p for p in found if os.path.basename(places.PLACES[p]) not in findings]
    assert not missing, findings


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (place, kind)
        for place, kind in places.pairs(places.KINDS)
        if wrong(place, kind) and place in sizes(short=places.FOLDERS, long=places.PLACES)
    ],
)
def test_doctor_names_it(scene: Scene, place: str, kind: str) -> None:
    apply(scene, place, kind)
    findings = examined(scene, kind)
    assert named(place, findings), findings


def examined(scene: Scene, kind: str) -> str:
    """What a doctor finds, and that it goes through nothing, to look or to mend."""
    before = scene.outside()
    with places.as_a_user():
        done = scene.flow("doctor", "--json")
    check(done, kind, as_json=True)
    assert done.status == 1, done
    assert scene.outside() == before
    if kind in ("link to a copy", "fifo", "mode 000"):
        with places.as_a_user():
            check(scene.flow("doctor", "--fix"), kind)
        assert scene.outside() == before
    return "\n".join(f["what"] for f in json.loads(done.stdout)["findings"])


def test_the_error_log_is_not_written_through_a_link(scene: Scene) -> None:
    from flow.adapters.fs import crash

    for kind in ("link to a file", "fifo", "hard link", "folder", "device"):
        scene.restore()
        if not places.apply(scene, "error log", kind):
            continue
        before = scene.outside()
        error = crash.report(ValueError("x"), {**scene.environ, "TMPDIR": scene.parent})
        assert error.fault.file != f"{scene.state}/error.log"
        assert scene.outside() == before
        if error.fault.file:
            os.unlink(error.fault.file)


def test_every_place_has_its_commands() -> None:
    assert set(REFUSES) == set(places.PLACES)
    assert all({**REFUSES[place], **UNAFFECTED.get(place, {})} for place in places.PLACES)
