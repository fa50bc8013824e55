"""What a command did to Flow's files, told from what another Flow process writes meanwhile."""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import threading
from typing import TYPE_CHECKING

import pytest

from flow.adapters.chain import event_files, event_log
from flow.adapters.fs import files, locks
from flow.adapters.git import find as git_find
from flow.adapters.ledger import file_watch
from flow.adapters.ledger.file_watch import FileWatch
from flow.core import layout
from tests.support import GitRepo
from tests.support.pace import assert_linear, count
from tests.support.patience import LONG

if TYPE_CHECKING:
    from pathlib import Path

RUN = "run-1"


@pytest.fixture
def watched(repo: GitRepo) -> FileWatch:
    repo.commit("start", a="a")
    top = str(repo.path)
    os.makedirs(os.path.join(top, layout.evidence_dir(RUN)))
    event_log.append(top, RUN, "greet", "started", {}, at="2026-01-01T00:00:00Z")
    found = git_find.find_repo(top)
    assert found is not None
    # Many systems count in steps of milliseconds: what follows must not lie in the same one.
    os.utime(os.path.join(top, layout.evidence_dir(RUN)), (1, 1))
    made = FileWatch(found, "greet", RUN)
    made.settle()
    return made


def tell(top: str, lock: str, begun: threading.Event, go: threading.Event, told: bool) -> None:
    """Another Flow process: a sidecar first, and its event last, both within one lock."""
    with locks.exclusive(top, lock, quick=True):
        files.publish_new(top, layout.evidence_file(RUN, "theirs"), b"a sidecar")
        begun.set()
        go.wait(LONG)
        if told:
            fields = {"evidence_id": "theirs"}
            event_log.append(top, RUN, "greet", "evidence", fields, at="2026-01-01T00:00:00Z")


@pytest.mark.parametrize("told", [True, False])
def test_a_record_under_way_is_waited_for(
    repo: GitRepo, watched: FileWatch, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "WAIT", LONG)
    top, begun, go = str(repo.path), threading.Event(), threading.Event()
    other = threading.Thread(
        target=tell, args=(top, layout.goal_lock("greet"), begun, go, told), daemon=True
    )
    other.start()
    assert begun.wait(LONG)
    threading.Timer(0.2, go.set).start()
    blamed = watched.changed()
    other.join(LONG)
    assert blamed == (() if told else (layout.evidence_dir(RUN),))


def test_who_never_lets_go_is_not_waited_for_long(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "WAIT", 0.1)
    top, begun, go = str(repo.path), threading.Event(), threading.Event()
    lock = layout.goal_lock("greet")
    other = threading.Thread(target=tell, args=(top, lock, begun, go, True), daemon=True)
    other.start()
    assert begun.wait(LONG)
    assert watched.changed() == (layout.evidence_dir(RUN),)
    go.set()
    other.join(LONG)
    assert watched.changed() == ()


def record(top: str, name: str) -> None:
    """What another Flow process does under its locks, all of it."""
    files.publish_new(top, layout.evidence_file(RUN, name), b"a sidecar")
    fields = {"evidence_id": name}
    event_log.append(top, RUN, "greet", "evidence", fields, at="2026-01-01T00:00:00Z")


def test_a_record_while_the_state_is_taken_is_not_blamed_later(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between the look at the files and the one at the events."""
    look, names = FileWatch._observe, ["theirs"]

    def interrupted(self: FileWatch) -> dict[str, object]:
        found = look(self)
        if names:
            record(str(repo.path), names.pop())
        return found

    monkeypatch.setattr(FileWatch, "_observe", interrupted)
    watched.settle()
    assert watched.changed() == ()


def test_nobody_is_half_way_when_it_looks_again(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several that record at once the next one begins as soon as the first is done."""
    top, look, held = str(repo.path), FileWatch._observe, []

    def watching(self: FileWatch) -> dict[str, object]:
        held.append([is_held(top, layout.goal_lock("greet")), is_held(top, layout.run_lock(RUN))])
        return look(self)

    monkeypatch.setattr(FileWatch, "_observe", watching)
    record(top, "theirs")
    event_log.append(top, RUN, "greet", "other", {}, at="2026-01-01T00:00:00Z")
    files.publish_new(top, f"{layout.run_dir(RUN)}/more", b"what nobody tells of")
    assert watched.changed() == (f"{layout.run_dir(RUN)}/more",)
    assert held == [[False, False], [True, True]]


def is_held(top: str, lock: str) -> bool:
    """Whether any process or thread holds a lock."""
    with open(os.path.join(top, *lock.split("/")), "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_roll_over_by_another_process_is_not_blamed(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_files, "FULL", 300)
    record(str(repo.path), "theirs")
    folder = repo.path / layout.run_dir(RUN)
    assert (folder / "events.1.jsonl").exists()
    assert watched.changed() == ()
    watched.settle()
    (folder / "events.1.jsonl").write_bytes(b"")
    record(str(repo.path), "theirs-2")
    assert watched.changed() == (f"{layout.run_dir(RUN)}/events.1.jsonl",)


def test_a_file_of_events_that_a_command_makes_is_blamed(repo: GitRepo, watched: FileWatch) -> None:
    name = f"{layout.run_dir(RUN)}/events.7.jsonl"
    (repo.path / name).write_bytes(b"{}\n")
    assert watched.changed() == (name,)


def own_record(top: str, name: str) -> None:
    """What an evaluation itself writes between two looks."""
    record(top, name)
    with open(os.path.join(top, layout.ledger_file(RUN)), "ab") as file:
        file.write(b"an entry\n")


@pytest.mark.parametrize("what", ["nothing", "HEAD", "baseline.json.bak", "theirs"])
def test_of_what_happens_during_a_record_only_the_record_is_one_s_own(
    repo: GitRepo, watched: FileWatch, what: str
) -> None:
    """Other commands run meanwhile."""
    top, proposal = str(repo.path), f"{layout.run_dir(RUN)}/proposal.json"
    assert watched.changed() == ()
    own_record(top, "mine")
    if what == "HEAD":
        repo.commit("another", a="b")
    elif what == "theirs":
        files.publish_new(top, proposal, b"{}")
        event_log.append(top, RUN, "greet", "proposed", {}, at="2026-01-01T00:00:00Z")
    elif what == "baseline.json.bak":
        files.publish_new(top, f"{layout.run_dir(RUN)}/{what}", b"{}")
    told = {"HEAD": ("HEAD",), "baseline.json.bak": (f"{layout.run_dir(RUN)}/{what}",)}
    assert watched.settle() == told.get(what, ())
    assert watched.changed() == ()


def test_each_look_goes_on_from_the_last_one(repo: GitRepo, watched: FileWatch) -> None:
    """What was told is not told again, of a command that began later."""
    repo.commit("another", a="b")
    assert watched.changed() == ("HEAD",)
    own_record(str(repo.path), "mine")
    assert watched.settle() == ()
    assert watched.changed() == ()


# --- files that are too many for a look after every command ---------------------------------------


def elsewhere(repo: GitRepo, many: int, journal: str = "") -> tuple[FileWatch, list[str]]:
    """A watch over ``many`` sidecars that the goal refers to and as many other goals."""
    repo.commit("start", a="a")
    top = str(repo.path)
    paths = [layout.evidence_file(RUN, f"evidence-ac{n}-eval-1") for n in range(many)]
    goals = [layout.goal_file(f"other-{n}") for n in range(many)]
    for rel in (*paths, *goals):
        files.publish_new(top, rel, b"as recorded")
    event_log.append(top, RUN, "greet", "started", {}, at="2026-01-01T00:00:00Z")
    checkout = git_find.find_repo(top)
    assert checkout is not None
    watch = FileWatch(checkout, "greet", RUN, paths, journal=journal)
    watch.settle()
    return watch, [*paths, *goals]


def overwrite(top: str, rel: str) -> None:
    """Other bytes of the same length, and the old time of modification put back."""
    path = os.path.join(top, rel)
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"altered it!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def after_a_command(watch: FileWatch) -> tuple[tuple[str, ...], dict[str, int]]:
    seen = watch.changed(), dict(watch.changed_elsewhere())
    watch.settle()
    return seen


@pytest.mark.parametrize("place", [0, 1, 3])
def test_few_files_are_looked_at_after_every_command(repo: GitRepo, place: int) -> None:
    watch, paths = elsewhere(repo, 2)
    assert after_a_command(watch) == ((), {})
    overwrite(str(repo.path), paths[place])
    assert after_a_command(watch) == ((), {paths[place]: 1})
    assert after_a_command(watch) == ((), {})


JOURNAL = ".decisions/goal-greet.md"
LASTING = {JOURNAL: True, ".decisions/goal-greet.2.md": True, f"{layout.RUNS}/theirs/run": True}
LASTING |= {".decisions/goal-other.md": False, ".decisions/note.md": False}


@pytest.mark.parametrize("rel", LASTING)
def test_what_flow_never_takes_away_is_missed(repo: GitRepo, rel: str) -> None:
    """Others write to it, and add to it, at any time."""
    watch, _ = elsewhere(repo, 2, JOURNAL)
    for there in LASTING:
        files.publish_new(str(repo.path), there, b"as recorded")
    assert after_a_command(watch) == ((), {}), "new"
    overwrite(str(repo.path), rel)
    assert after_a_command(watch) == ((), {}), "written to"
    gone = rel.removesuffix("/run")
    (repo.path / rel).unlink()
    if gone != rel:
        (repo.path / gone).rmdir()
    assert after_a_command(watch) == ((), {gone: 1} if LASTING[rel] else {})
    assert after_a_command(watch) == ((), {})


@pytest.mark.parametrize("how", ["overwritten", "removed", "replaced"])
@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("when", range(4))
def test_of_many_files_nothing_is_missed_that_settles_between(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, how: str, place: int, when: int
) -> None:
    """Six files and two for each command: a look after every third. Settling settles none."""
    monkeypatch.setattr(file_watch, "_LOOKS_PER_COMMAND", 2)
    watch, paths = elsewhere(repo, 3)
    top, rel, seen = str(repo.path), paths[place], list[tuple[str, int, int]]()
    for turn in range(4):
        if turn == when:
            if how == "overwritten":
                overwrite(top, rel)
            else:
                os.unlink(os.path.join(top, rel))
            if how == "replaced":
                files.publish_new(top, rel, b"as recorded")
        seen += [(name, turn, n) for name, n in after_a_command(watch)[1].items()]
    seen += [(name, 3, n) for name, n in watch.changed_elsewhere(last=True).items()]
    ((name, turn, commands),) = seen
    assert name == rel
    assert turn - commands < when <= turn


def test_a_name_that_comes_or_goes_among_the_goals_is_seen_at_once(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "_LOOKS_PER_COMMAND", 0)
    watch, _ = elsewhere(repo, 3)
    os.utime(os.path.join(repo.path, layout.GOALS), (1, 1))  # as above: not in the same step
    assert after_a_command(watch)[1] == {}  # a look: the folder has another stamp
    assert after_a_command(watch)[1] == {}
    files.publish_new(str(repo.path), layout.goal_file("new"), b"a goal")
    assert after_a_command(watch)[1] == {layout.goal_file("new"): 2}
    assert watch.changed_elsewhere(last=True) == {}


def test_the_looks_of_an_evaluation_grow_with_its_commands_and_not_with_their_square(
    tmp_path: Path,
) -> None:
    work = {}
    for size in (60, 120, 240):
        watch, _ = elsewhere(GitRepo.init(tmp_path / f"of-{size}"), size)

        def evaluation(watch: FileWatch = watch, size: int = size) -> None:
            for _ in range(size):
                after_a_command(watch)
            assert watch.changed_elsewhere(last=True) == {}

        _, work[size] = count(evaluation)
    assert_linear(work)


# --- the goal's own file --------------------------------------------------------------------------

GOAL = layout.goal_file("greet")
SIZE = 4096
CHANGED = "goal greet"


@pytest.fixture
def of_goal(repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch) -> FileWatch:
    """A goal's file that three commands pay for."""
    monkeypatch.setattr(file_watch, "_BYTES_PER_COMMAND", SIZE // 3 + 1)
    files.publish_new(str(repo.path), GOAL, b"a" * SIZE)
    watch = FileWatch(watched._repo, "greet", RUN)
    watch.settle()
    return watch


def dirty_page(repo: GitRepo) -> mmap.mmap:
    """The goal's file, mapped and written to: its next write moves no stamp."""
    with (repo.path / GOAL).open("r+b") as file:
        page = mmap.mmap(file.fileno(), SIZE)
    page[:1] = b"a"
    return page


@pytest.mark.parametrize("when", range(4))
def test_a_write_to_the_goal_that_moves_no_stamp_is_blamed_on_all_since_the_hash(
    repo: GitRepo, of_goal: FileWatch, when: int
) -> None:
    page, seen = dirty_page(repo), list[tuple[str, int]]()
    of_goal.changed_elsewhere(last=True)
    assert after_a_command(of_goal)[1] == {}  # the page's first write moved the stamp: hashed
    for turn in range(4):
        if turn == when:
            stamp = os.stat(repo.path / GOAL)
            page[7:8] = b"b"
            assert os.stat(repo.path / GOAL).st_ctime_ns == stamp.st_ctime_ns
        seen += after_a_command(of_goal)[1].items()
    seen += of_goal.changed_elsewhere(last=True).items()
    assert seen == [(CHANGED, 3 if when < 3 else 1)]


@pytest.mark.parametrize("how", ["written", "removed", "linked", "restamped"])
def test_a_goal_with_another_stamp_is_hashed_at_once(
    repo: GitRepo, of_goal: FileWatch, how: str
) -> None:
    path = repo.path / GOAL
    if how == "written":
        path.write_bytes(b"b" * SIZE)
    elif how == "restamped":
        os.utime(path, (1, 1))
    else:
        path.unlink()
    if how == "linked":
        path.symlink_to("elsewhere")
    assert after_a_command(of_goal) == ((), {} if how == "restamped" else {CHANGED: 1})
    assert after_a_command(of_goal) == ((), {})


@pytest.mark.parametrize("told", ["before", "settled", "another", "earlier"])
def test_only_an_event_of_the_goal_as_it_is_now_accounts_for_it(
    repo: GitRepo, of_goal: FileWatch, told: str
) -> None:
    """``settled``: it came between the look and the state that is taken after it."""
    top = str(repo.path)

    def tell_of(text: bytes) -> None:
        fields = {"goal_sha256": hashlib.sha256(text).hexdigest()}
        event_log.append(top, RUN, "greet", "changed", fields, at="2026-01-01T00:00:00Z")

    new = b"b" * SIZE
    if told == "earlier":  # an account of what was there once is none for putting it back
        tell_of(new)
        files.replace(top, GOAL, new)
        assert after_a_command(of_goal)[1] == {}
        tell_of(b"c")
        files.replace(top, GOAL, b"c")
        assert after_a_command(of_goal)[1] == {}
    files.replace(top, GOAL, new)
    if told != "earlier":
        tell_of(b"c" if told == "another" else new)
    if told == "settled":
        of_goal.settle()
    assert after_a_command(of_goal)[1] == ({} if told in ("before", "settled") else {CHANGED: 1})


def test_what_is_hashed_of_a_goal_grows_with_its_commands_and_not_with_their_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = file_watch._content
    for size in (60, 120, 240):
        repo = GitRepo.init(tmp_path / f"of-{size}")
        watch, _ = elsewhere(repo, 0)
        files.publish_new(str(repo.path), GOAL, b"a" * (300 * size))
        hashed: list[int] = []

        def counting(top: str, rel: str, hashed: list[int] = hashed, size: int = size) -> str:
            hashed.append(300 * size)
            return read(top, rel)

        monkeypatch.setattr(file_watch, "_content", counting)
        for _ in range(size):
            after_a_command(watch)
        assert 0 < sum(hashed) <= 2 * 300 * size + size * file_watch._BYTES_PER_COMMAND
