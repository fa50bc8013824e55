"""The index of goals saves reading, and what it says never differs from the files."""

from __future__ import annotations

import json
import mmap
import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.contracts import schemas
from flow.adapters.fs import stamps
from flow.adapters.ledger import goal_index
from flow.adapters.ledger import reader as ledger_reader
from flow.errors import RefusedError, StorageError
from flow.startup.sha import checksum
from tests.support import ledger_scene as scene
from tests.support.effort import sizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.core.goal.model import GoalSummary

MANY = goal_index.LEAST + 8


class Goals:
    """A checkout with goals, and the two folders of the state folder that a reader is given."""

    def __init__(self, folder: Path, count: int = MANY) -> None:
        self.root = str(folder / "checkout")
        self.parsed, self.indexes = str(folder / "parsed"), str(folder / "goals")
        os.mkdir(self.root)
        scene.start(self.root)
        os.mkdir(self.indexes, 0o700)
        self.folder = f"{self.root}/.flow/goals"
        with open(f"{self.root}/{scene.GOAL_FILE}", encoding="utf-8") as file:
            self.text = file.read()
        for number in range(count):
            self.write(f"g{number}")

    def path(self, goal_id: str = "g1") -> str:
        return f"{self.folder}/{goal_id}.goal.yaml"

    def goal_text(self, goal_id: str, status: str = "active") -> str:
        text = self.text.replace(f"{{id: {scene.GOAL},", f"{{id: {goal_id},", 1)
        assert text != self.text
        return text.replace("status: active", f"status: {status}")

    def write(self, goal_id: str = "g1", status: str = "active") -> None:
        with open(self.path(goal_id), "w", encoding="utf-8") as file:
            file.write(self.goal_text(goal_id, status))

    def look(self, indexes: str | None = "") -> tuple[dict[str, GoalSummary], dict[str, str]]:
        """The goals, and the faults of the others in words."""
        folder = self.indexes if indexes == "" else indexes
        reader = ledger_reader.FileRecords(scene.session(self.root), self.parsed, folder)
        summaries, broken = reader.summaries()
        return summaries, {goal_id: str(error) for goal_id, error in sorted(broken.items())}

    def look_without(self) -> tuple[dict[str, GoalSummary], dict[str, str]]:
        return self.look(None)

    @property
    def index(self) -> str:
        (name,) = os.listdir(self.indexes)
        return os.path.join(self.indexes, name)


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as written long ago."""
    monkeypatch.setattr(stamps, "RACY_NS", -3_600_000_000_000)


@pytest.fixture
def goals(tmp_path: Path) -> Goals:
    return Goals(tmp_path)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The goal files that are read."""
    read: list[str] = []
    parse = ledger_reader.parse_goal

    def counted(data: bytes, file: str, **more: Any) -> Any:
        read.append(file)
        return parse(data, file, **more)

    monkeypatch.setattr(ledger_reader, "parse_goal", counted)
    return read


@pytest.fixture(autouse=True)
def _stamps_tell(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory no stamp tells of a write through a mapping; few tests here write that way."""
    about_it = any(words in request.node.name for words in ("mapping", "no_stamp_tells"))
    if not about_it and stamps.flush(str(tmp_path)) is None:
        monkeypatch.setattr(stamps, "_stamps_show_writes", lambda _file: True)


def remembers(goals: Goals) -> None:
    """Skip where no stamp tells of a later change, so that no index is kept."""
    if stamps.flush(goals.root) is None:
        pytest.skip("no stamp tells here")


# --- how much is read -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [MANY, 500])
def test_what_did_not_change_is_not_read_again_and_one_change_is_one_read(
    tmp_path: Path, reads: list[str], count: int
) -> None:
    goals = Goals(tmp_path, count)
    remembers(goals)
    reads.clear()
    first = goals.look()
    assert len(reads) == count + 1
    reads.clear()
    assert goals.look() == first
    assert reads == []
    moved(goals.path(), lambda: goals.write(status="blocked"))
    assert goals.look()[0]["g1"].status == "blocked"
    assert len(reads) == 1


def test_few_goals_are_read_each_time_and_parsed_once(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    goals = Goals(tmp_path, 10)
    ledger_reader._parsed.clear()
    first = goals.look()
    ledger_reader._parsed.clear()  # another process

    def refuse(*_: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr("flow.adapters.contracts.validate.read_document", refuse)
    reads.clear()
    assert goals.look() == first
    assert len(reads) == 11
    assert os.listdir(goals.indexes) == []  # a flush is not worth that


def test_changes_are_remembered_once_there_are_enough_of_them(
    goals: Goals, reads: list[str]
) -> None:
    remembers(goals)
    goals.look()
    for count in (goal_index.LEAST - 1, goal_index.LEAST):
        for number in range(count):
            moved(goals.path(f"g{number}"), lambda n=number: goals.write(f"g{n}", "blocked"))
        reads.clear()
        goals.look()
        assert len(reads) == count
    reads.clear()
    goals.look()
    assert reads == []


def test_goals_that_cannot_be_read_are_named_each_time_and_flush_once(
    goals: Goals, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembers(goals)
    for number in range(MANY):
        Path(goals.path(f"g{number}")).write_text("broken: [\n", encoding="utf-8")
    flushes: list[object] = []
    flush = stamps.flush
    monkeypatch.setattr(stamps, "flush", lambda top: flushes.append(top) or flush(top))
    first = goals.look()
    assert len(first[1]) == MANY
    assert goals.look() == first == goals.look_without()
    assert len(flushes) == 1


# --- nothing is missed ----------------------------------------------------------------------------


def moved(path: str, change: Callable[[], object]) -> None:
    """Make the change until the clock of the file system has ticked; it does every few ms."""
    before = os.lstat(path).st_ctime_ns if os.path.lexists(path) else None
    while True:
        change()
        if not os.path.lexists(path) or os.lstat(path).st_ctime_ns != before:
            return


def _same_size_and_times(goals: Goals) -> None:
    before = os.stat(goals.path())
    text = Path(goals.path()).read_text(encoding="utf-8")
    assert "status: active" in text
    with open(goals.path(), "r+", encoding="utf-8") as file:
        file.write(text.replace("status: active", "status: failed"))
    os.utime(goals.path(), ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(goals.path()).st_size == before.st_size


def _replaced(goals: Goals) -> None:
    before = os.stat(goals.path())
    new = f"{goals.root}/new"
    Path(new).write_text(goals.goal_text("g1", "failed"), encoding="utf-8")
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.rename(new, goals.path())


def _mapped(goals: Goals) -> None:
    with open(goals.path(), "r+b") as file, mmap.mmap(file.fileno(), 0) as page:
        at = page.find(b"status: active")
        page[at : at + 14] = b"status: failed"


def _exchanged(goals: Goals) -> None:
    one, other = goals.path("g1"), goals.path("g2")
    os.rename(one, f"{one}~")
    os.rename(other, one)
    os.rename(f"{one}~", other)


def _folder_exchanged(goals: Goals) -> None:
    os.rename(goals.folder, f"{goals.root}/old")
    os.mkdir(goals.folder)
    for name in os.listdir(f"{goals.root}/old")[3:]:
        text = Path(f"{goals.root}/old/{name}").read_text(encoding="utf-8")
        changed = text.replace("status: active", "status: failed")
        Path(f"{goals.folder}/{name}").write_text(changed, encoding="utf-8")


def _gone(goals: Goals, make: Callable[[str], object]) -> None:
    os.unlink(goals.path())
    make(goals.path())


def _link(goals: Goals) -> None:
    os.rename(goals.path(), f"{goals.root}/elsewhere")
    os.symlink(f"{goals.root}/elsewhere", goals.path())


def _folder_link(goals: Goals) -> None:
    os.rename(goals.folder, f"{goals.root}/elsewhere")
    os.symlink(f"{goals.root}/elsewhere", goals.folder)


CHANGES: dict[str, Callable[[Goals], object]] = {
    "edited": lambda goals: goals.write(status="blocked"),
    "same size and times": _same_size_and_times,
    "replaced, same size and times": _replaced,
    "through a mapping": _mapped,
    "not a goal any more": lambda goals: Path(goals.path()).write_text("x", encoding="utf-8"),
    "emptied": lambda goals: os.truncate(goals.path(), 0),
    "removed": lambda goals: os.unlink(goals.path()),
    "added": lambda goals: goals.write("new"),
    "renamed": lambda goals: os.rename(goals.path(), goals.path("other")),
    "exchanged": _exchanged,
    "a folder": lambda goals: _gone(goals, os.mkdir),
    "a FIFO": lambda goals: _gone(goals, os.mkfifo),
    "a link": _link,
    "a link to nothing": lambda goals: _gone(goals, lambda path: os.symlink("nowhere", path)),
    "unreadable": lambda goals: os.chmod(goals.path(), 0),
    "the folder exchanged": _folder_exchanged,
    "the folder a link": _folder_link,
    "the folder gone": lambda goals: os.rename(goals.folder, f"{goals.root}/elsewhere"),
}


def outcome(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except (RefusedError, StorageError) as error:
        return str(error)


@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_is_seen_at_the_next_look(goals: Goals, kind: str) -> None:
    before = goals.look()
    assert goals.look() == before
    if kind == "edited":
        moved(goals.path(), lambda: CHANGES[kind](goals))
    else:
        ticked(goals)
        CHANGES[kind](goals)
    now = outcome(goals.look)
    assert now == outcome(goals.look_without)
    assert now != before or (kind == "unreadable" and os.geteuid() == 0)
    assert outcome(goals.look) == now


def ticked(goals: Goals) -> None:
    """Return once a file that changes now gets another ctime than the goals have."""
    path = f"{goals.root}/clock"
    newest = max(entry.stat().st_ctime_ns for entry in os.scandir(goals.folder))
    while True:
        Path(path).write_text("x", encoding="utf-8")
        if os.stat(path).st_ctime_ns > newest:
            return


def test_it_is_found_out_where_a_row_is_believed_wrongly(goals: Goals) -> None:
    """The rows themselves are changed: with the files' stamps they would be believed."""
    remembers(goals)
    goals.look()
    change_rows(goals, lambda rows: rows["g1"].__setitem__(6, "failed"))
    assert goals.look()[0]["g1"].status == "failed"  # so the tests above show something
    moved(goals.path(), goals.write)
    assert goals.look() == goals.look_without()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_after_any_changes_it_says_what_the_files_say(goals: Goals, seed: int) -> None:
    order = random.Random(seed)
    for _ in range(sizes(short=12, long=50)):
        ticked(goals)
        for _ in range(order.choice((1, 2, 40))):
            goal_id = f"g{order.randrange(MANY + 10)}"
            act = order.choice(("write", "write", "remove", "break", "touch"))
            if act == "write":
                goals.write(goal_id, order.choice(("active", "failed", "draft ", "blocked")))
            elif act == "break":
                Path(goals.path(goal_id)).write_text("a: 1\n", encoding="utf-8")
            elif os.path.lexists(goals.path(goal_id)):
                {"remove": os.unlink, "touch": os.utime}[act](goals.path(goal_id))
        assert goals.look() == goals.look_without()


def test_a_file_that_was_written_just_now_is_not_remembered(
    goals: Goals, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could change again within the same tick of the clock, to as many bytes."""
    monkeypatch.setattr(stamps, "RACY_NS", 3_600_000_000_000)
    goals.look()
    reads.clear()
    goals.look()
    assert len(reads) == MANY + 1
    assert os.listdir(goals.indexes) == []


def test_a_file_that_changes_behind_its_reading_is_read_again(
    goals: Goals, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    remembers(goals)
    parse = ledger_reader.parse_goal

    def meanwhile(data: bytes, file: str, **more: Any) -> Any:
        if file.endswith("/g1.goal.yaml"):
            moved(goals.path(), lambda: goals.write(status="blocked"))
        return parse(data, file, **more)

    with monkeypatch.context() as patched:
        patched.setattr(ledger_reader, "parse_goal", meanwhile)
        goals.look()
    assert goals.look()[0]["g1"].status == "blocked"
    assert reads[-1].endswith("/g1.goal.yaml")


def test_where_no_stamp_tells_every_goal_is_read(
    goals: Goals, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_syncfs", lambda _: False)
    first = goals.look()
    reads.clear()
    assert goals.look() == first
    assert len(reads) == MANY + 1


# --- an index that is not as expected -------------------------------------------------------------


def change_rows(goals: Goals, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what the index says, with the right checksum."""
    with open(goals.index, "rb") as file:
        head, _, body = file.read().partition(b"\n")
    rows = json.loads(body)
    body = json.dumps(change(rows) or rows).encode()
    first = head.rsplit(b" ", 2)[0]
    with open(goals.index, "wb") as file:
        file.write(first + b" %d %016x\n" % (len(body), checksum(body)) + body)


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "a list": lambda _: [],
    "rows that are none": lambda rows: dict.fromkeys(rows, 1),
    "rows too short": lambda rows: {key: row[:7] for key, row in rows.items()},
    "rows too long": lambda rows: {key: [*row, 1] for key, row in rows.items()},
    "a status of its own": lambda rows: rows["g1"].__setitem__(6, "done"),
    "a branch that is no text": lambda rows: rows["g1"].__setitem__(7, None),
    "a date that is a list": lambda rows: rows["g1"].__setitem__(8, []),
    "stamps that are texts": lambda rows: {k: [*map(str, r[:6]), *r[6:]] for k, r in rows.items()},
    "another file's stamps": lambda rows: rows["g1"].__setitem__(slice(6), rows["g2"][:6]),
    "goals that are not there": lambda rows: {f"../{key}": row for key, row in rows.items()},
    "nothing": lambda _: {},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_index_is_made_anew_without_a_word(
    goals: Goals, reads: list[str], kind: str
) -> None:
    remembers(goals)
    first = goals.look()
    change_rows(goals, HOSTILE[kind])
    assert goals.look() == first
    reads.clear()
    assert goals.look() == first
    assert len(reads) <= 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"\n",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data + b" ",
        lambda data: data.replace(b"active", b"failed", 1),
        lambda data: data[:200] + bytes(len(data) - 200),
        lambda data: b"[" * 100_000,
        lambda data: data.replace(b"flow-goals-", b"flow-goals-9", 1),
    ],
)
def test_a_damaged_index_is_made_anew_without_a_word(
    goals: Goals, damage: Callable[[bytes], bytes], reads: list[str]
) -> None:
    remembers(goals)
    first = goals.look()
    Path(goals.index).write_bytes(damage(Path(goals.index).read_bytes()))
    assert goals.look() == first
    reads.clear()
    assert goals.look() == first
    assert reads == []


def test_an_index_of_another_checkout_is_not_used(goals: Goals, tmp_path: Path) -> None:
    remembers(goals)
    (tmp_path / "second").mkdir()
    other = Goals(tmp_path / "second")
    other.write(status="failed")
    other.look()
    goals.look()
    os.replace(other.index, goals.index)
    change_rows(goals, lambda rows: {k: [*stamped(goals, k), *r[6:]] for k, r in rows.items()})
    assert goals.look()[0]["g1"].status == "active"


def stamped(goals: Goals, goal_id: str) -> list[int]:
    status = os.lstat(goals.path(goal_id))
    return [status.st_dev, *stamps.signature_of(status)]


@pytest.mark.parametrize("what", ["version", "schema"])
def test_another_version_or_schema_reads_every_goal(
    goals: Goals, reads: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    goals.look()
    if what == "version":
        monkeypatch.setattr(contracts_cache, "__version__", "999")
    else:
        monkeypatch.setattr(contracts_cache, "_reader_ids", {})
        text = schemas.text
        monkeypatch.setattr(schemas, "text", lambda name: text(name) + " ")
    reads.clear()
    goals.look()
    assert len(reads) == MANY + 1


@pytest.mark.parametrize("what", ["link", "FIFO", "folder"])
def test_what_is_no_file_in_the_place_of_an_index_is_not_used(goals: Goals, what: str) -> None:
    remembers(goals)
    first, index = goals.look(), goals.index
    os.rename(index, f"{goals.root}/index")
    if what == "link":
        os.symlink(f"{goals.root}/index", index)
    else:
        {"FIFO": os.mkfifo, "folder": os.mkdir}[what](index)
    assert goals.look() == first == goals.look()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702])
def test_a_folder_that_others_can_enter_is_not_used(
    goals: Goals, reads: list[str], mode: int
) -> None:
    first = goals.look()
    os.chmod(goals.indexes, mode)
    reads.clear()
    assert goals.look() == first
    assert len(reads) == MANY + 1


def test_without_a_folder_that_can_be_written_everything_is_read(
    goals: Goals, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(goal_index, "replace_own", refuse)
    first = goals.look()
    assert goals.look() == goals.look_without() == goals.look(f"{goals.root}/none") == first
    assert len(reads) == 4 * (MANY + 1)


def test_the_number_of_indexes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goal_index, "MOST", 2)
    folders: list[Goals] = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        folders.append(Goals(tmp_path / str(number)))
        folders[-1].indexes = folders[0].indexes
        folders[-1].look()
        assert len(os.listdir(folders[0].indexes)) <= 2
    assert folders[0].look() == folders[0].look_without()


def changes_and_looks(goals: Goals, number: int) -> None:
    stamps.RACY_NS = -3_600_000_000_000
    for turn in range(15):
        mine = f"p{number}-{turn % 3}"
        goals.write(mine, ("active", "failed")[turn % 2] + " " * turn)
        said = goals.look()
        assert said[0][mine] == goals.look_without()[0][mine], (mine, said)


def test_many_processes_at_once_see_their_own_changes(goals: Goals) -> None:
    children = []
    for number in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            status = 1
            try:
                changes_and_looks(goals, number)
                status = 0
            except BaseException as error:
                sys.__stderr__.write(f"{type(error).__name__}: {error}\n")
            finally:
                os._exit(status)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0, 0]
    assert goals.look() == goals.look_without()
    assert [name for name in os.listdir(goals.indexes) if not name.endswith(".json")] == []
