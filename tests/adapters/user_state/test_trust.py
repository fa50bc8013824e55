"""Who may trust what, and where that is kept: real folders, real modes, real processes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from flow.adapters.fs import backwards, state_folder
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.directories import repo_key
from flow.adapters.user_state import trust
from flow.adapters.user_state.trust import TrustLedger, trusted
from flow.core.settings import Settings
from flow.errors import InputError, RefusedError, StorageError
from tests.support.patience import LONG

D1, D2 = "1" * 64, "2" * 64
NOW = "2026-11-21T12:00:00Z"
LATER = "2026-11-21T13:00:00Z"
ROOT = Path(__file__).parents[3]
CONTRACT = {"metadata": {"id": "g"}, "objective": {"outcome": "grüße"}}


class Place:
    """A checkout with a git folder and a home, apart from each other."""

    def __init__(self, base: Path) -> None:
        self.top = base / "repo"
        self.common = self.top / ".git"
        self.home = base / "home"
        self.state = self.home / ".claude" / "flow-state"
        self.common.mkdir(parents=True)
        self.home.mkdir()

    def ledger(self, folder: Path | None = None, common: Path | None = None) -> TrustLedger:
        key = repo_key(str(common or self.common), str(self.top))
        return TrustLedger(str(folder or self.state), key, str(self.top))

    @property
    def file(self) -> Path:
        return self.state / trust.LEDGER


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def record(ledger: TrustLedger, goal: str = "g", digest: str = D1, now: str = NOW) -> bool:
    return ledger.record(goal, digest, CONTRACT, now=now, how="flow trust record")


# --- where the state lies -----------------------------------------------------------------------


def test_the_default_lies_in_the_home_folder(place: Place) -> None:
    assert state_dir({}, str(place.home), str(place.top)) == str(place.state)
    assert not place.state.exists()


def test_the_variable_wins(place: Place, tmp_path: Path) -> None:
    chosen = tmp_path / "mine"
    environ = {"FLOW_STATE_DIR": str(chosen)}
    assert state_dir(environ, None, str(place.top)) == str(chosen)
    assert state_folder.ignored_variable(environ, str(place.top)) is None


@pytest.mark.parametrize("value", ["", None])
def test_an_empty_variable_is_no_variable(place: Place, value: str | None) -> None:
    environ = {} if value is None else {"FLOW_STATE_DIR": value}
    assert state_dir(environ, str(place.home), str(place.top)) == str(place.state)


@pytest.mark.parametrize("value", ["state", "./state", "~/state"])
def test_a_relative_variable_is_refused(place: Place, value: str) -> None:
    with pytest.raises(InputError, match="absolute"):
        state_dir({"FLOW_STATE_DIR": value}, str(place.home), str(place.top))


@pytest.mark.parametrize("home", [None, "", "home"])
def test_no_home_is_a_clear_error(place: Place, home: str | None) -> None:
    with pytest.raises(InputError) as caught:
        state_dir({}, home, str(place.top))
    assert caught.value.fault.key == "HOME"
    assert ("is not set" if not home else "is no absolute path") in str(caught.value)
    assert "FLOW_STATE_DIR" in str(caught.value)


def inside_plain(place: Place) -> Path:
    return place.top / "state"


def inside_top(place: Place) -> Path:
    return place.top


def inside_git(place: Place) -> Path:
    return place.common / "flow"


def inside_by_link(place: Place) -> Path:
    link = place.home / "link"
    link.symlink_to(place.top / "deep")
    (place.top / "deep").mkdir()
    return link / "state"


def inside_by_dangling_link(place: Place) -> Path:
    link = place.home / "link"
    link.symlink_to(place.top / "not-yet")
    return link


def inside_by_dots(place: Place) -> Path:
    return place.home / ".." / "repo" / "x"


INSIDE = [
    inside_plain,
    inside_top,
    inside_git,
    inside_by_link,
    inside_by_dangling_link,
    inside_by_dots,
]


@pytest.mark.parametrize("where", INSIDE, ids=lambda f: f.__name__)
def test_a_variable_into_the_checkout_is_ignored_and_said(place: Place, where: Any) -> None:
    environ = {"FLOW_STATE_DIR": str(where(place))}
    assert state_dir(environ, str(place.home), str(place.top)) == str(place.state)
    warning = state_folder.ignored_variable(environ, str(place.top))
    assert warning is not None
    assert "FLOW_STATE_DIR" in warning


@pytest.mark.parametrize("where", INSIDE, ids=lambda f: f.__name__)
def test_a_ledger_in_the_checkout_never_counts(place: Place, where: Any) -> None:
    """Even one that holds a perfect record (HAZARD C30)."""
    folder = where(place)
    record(place.ledger())
    os.makedirs(os.path.realpath(folder), mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    copy = Path(os.path.realpath(folder)) / trust.LEDGER
    copy.write_bytes(place.file.read_bytes())
    copy.chmod(0o600)
    ledger = place.ledger(folder)
    calls: list[Callable[[], object]] = [
        lambda: ledger.check("g", D1),
        lambda: record(ledger),
        lambda: ledger.revoke("g", now=NOW, how="x"),
        ledger.entries,
    ]
    for call in calls:
        with pytest.raises(RefusedError) as caught:
            call()
        assert caught.value.code == "unsafe_state_dir"
    allowed, why = trusted(Settings(), ledger, "g", D1)
    assert not allowed
    assert "inside the checkout" in why


def test_a_home_that_is_the_checkout_cannot_hold_trust(place: Place) -> None:
    with pytest.raises(RefusedError, match="inside the checkout") as caught:
        state_dir({}, str(place.top), str(place.top))
    assert "FLOW_STATE_DIR" in str(caught.value)


def test_the_main_checkout_of_a_linked_worktree_counts_as_the_checkout(
    place: Place, tmp_path: Path
) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    environ = {"FLOW_STATE_DIR": str(place.top / "state")}
    found = state_dir(environ, str(place.home), str(worktree), str(place.common))
    assert found == str(place.state)


def test_folders_are_made_for_the_user_alone_whatever_the_umask(place: Place) -> None:
    old = os.umask(0)
    try:
        record(place.ledger())
    finally:
        os.umask(old)
    for folder in (place.home / ".claude", place.state):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777])
@pytest.mark.parametrize("what", ["folder", "ledger"])
def test_what_others_may_write_is_refused_with_the_way_to_fix_it(
    place: Place, mode: int, what: str
) -> None:
    ledger = place.ledger()
    record(ledger)
    (place.state if what == "folder" else place.file).chmod(mode)
    with pytest.raises(RefusedError) as caught:
        ledger.check("g", D1)
    assert "chmod" in str(caught.value)
    assert not trusted(Settings(), ledger, "g", D1)[0]
    with pytest.raises(RefusedError):
        record(ledger, digest=D2)


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_a_folder_only_others_may_read_is_fine(place: Place, mode: int) -> None:
    place.state.mkdir(parents=True)
    place.state.chmod(mode)
    assert record(place.ledger())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["folder", "ledger"])
def test_what_belongs_to_another_user_is_refused(place: Place, what: str) -> None:
    ledger = place.ledger()
    record(ledger)
    os.chown(place.state if what == "folder" else place.file, 12345, 12345)
    with pytest.raises(RefusedError, match="another user"):
        ledger.check("g", D1)


def test_a_file_where_the_folder_should_be(place: Place) -> None:
    (place.home / ".claude").mkdir()
    place.state.write_text("x")
    with pytest.raises(RefusedError, match="not a folder"):
        record(place.ledger())
    with pytest.raises(RefusedError, match="not a folder"):
        place.ledger().check("g", D1)


def test_a_folder_that_cannot_be_made_is_a_storage_error(place: Place) -> None:
    (place.home / ".claude").write_text("a file in the way")
    with pytest.raises(StorageError) as caught:
        record(place.ledger())
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("kind", ["symlink", "folder", "fifo"])
def test_a_ledger_that_is_no_regular_file_is_refused(place: Place, kind: str) -> None:
    place.state.mkdir(parents=True, mode=0o700)
    if kind == "symlink":
        (place.home / "other").write_text("")
        place.file.symlink_to(place.home / "other")
    elif kind == "folder":
        place.file.mkdir()
    else:
        os.mkfifo(place.file)
    ledger = place.ledger()
    calls: list[Callable[[], object]] = [lambda: ledger.check("g", D1), lambda: record(ledger)]
    for call in calls:
        with pytest.raises(RefusedError):
            call()


# --- what the ledger says -----------------------------------------------------------------------


def test_nothing_is_trusted_at_first_and_asking_makes_nothing(place: Place) -> None:
    ledger = place.ledger()
    assert not ledger.check("g", D1)
    assert ledger.entries() == ()
    assert ledger.recorded_contract("g") is None
    assert not ledger.revoke("g", now=NOW, how="x")
    assert not (place.home / ".claude").exists()


def test_a_record_trusts_exactly_one_contract_of_one_goal_here(
    place: Place, tmp_path: Path
) -> None:
    record(place.ledger())
    ledger = place.ledger()
    assert ledger.check("g", D1)
    assert not ledger.check("g", D2)
    assert not ledger.check("g2", D1)
    assert not ledger.check("G".lower() + "-", D1)
    elsewhere = TrustLedger(str(place.state), str(tmp_path / "other" / ".git"), str(place.top))
    assert not elsewhere.check("g", D1)


def test_the_line_is_readable_json(place: Place) -> None:
    record(place.ledger())
    (line,) = place.file.read_text("ascii").splitlines()
    assert json.loads(line) == {
        "at": NOW,
        "action": "record",
        "repo": str(place.common),
        "goal_id": "g",
        "digest": D1,
        "how": "flow trust record",
        "contract": CONTRACT,
    }


SEQUENCES = [
    (["record 1"], 1),
    (["record 1", "record 2"], 2),
    (["record 1", "record 2", "record 1"], 1),
    (["record 1", "revoke"], None),
    (["record 1", "revoke", "record 1"], 1),
    (["record 1", "revoke", "record 2"], 2),
    (["record 1", "revoke", "revoke"], None),
    (["revoke"], None),
]


@pytest.mark.parametrize(("steps", "trusts"), SEQUENCES)
def test_the_newest_line_decides(place: Place, steps: list[str], trusts: int | None) -> None:
    ledger = place.ledger()
    record(ledger, goal="another")
    for step in steps:
        if step == "revoke":
            ledger.revoke("g", now=LATER, how="flow trust revoke")
        else:
            record(ledger, digest=D1 if step.endswith("1") else D2)
    fresh = place.ledger()
    assert fresh.check("g", D1) == (trusts == 1)
    assert fresh.check("g", D2) == (trusts == 2)
    assert fresh.check("another", D1)
    standing = {(entry.goal_id, entry.digest) for entry in fresh.standing()}
    expected = {("another", D1)} | ({("g", D1 if trusts == 1 else D2)} if trusts else set())
    assert standing == expected


def test_recording_twice_writes_once(place: Place) -> None:
    ledger = place.ledger()
    assert record(ledger)
    assert not record(ledger)
    assert len(ledger.entries()) == 1
    assert ledger.revoke("g", now=LATER, how="x")
    assert not ledger.revoke("g", now=LATER, how="x")
    assert [entry.action for entry in ledger.entries()] == ["record", "revoke"]


def test_the_recorded_contract_is_the_last_one_even_after_a_revoke(place: Place) -> None:
    ledger = place.ledger()
    ledger.record("g", D1, {"v": 1}, now=NOW, how="x")
    ledger.record("g", D2, {"v": 2}, now=NOW, how="x")
    ledger.revoke("g", now=LATER, how="x")
    assert place.ledger().recorded_contract("g") == {"v": 2}


def test_linked_worktrees_share_trust_and_repositories_do_not(place: Place, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    record(place.ledger())
    same = TrustLedger(str(place.state), repo_key(str(place.common), str(worktree)), str(worktree))
    assert same.check("g", D1)
    other = TrustLedger(str(place.state), repo_key(None, str(worktree)), str(worktree))
    assert not other.check("g", D1)
    record(other)
    assert other.check("g", D1)
    assert len(other.entries()) == 1
    assert len(place.file.read_bytes().splitlines()) == 2


def test_a_repository_is_known_by_its_real_path(place: Place, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place.top)
    assert repo_key(str(tmp_path / "link" / ".git"), "x") == str(place.common)
    assert repo_key(None, str(tmp_path / "link")) == str(place.top)


def test_a_repository_path_that_is_not_utf8(place: Place, tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(str(tmp_path)) + b'/r\xff\n"x')
    ledger = TrustLedger(str(place.state), repo_key(None, odd), odd)
    record(ledger)
    assert TrustLedger(str(place.state), repo_key(None, odd), odd).check("g", D1)
    assert place.file.read_bytes().count(b"\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'"g"',
        b"9" * 6000,
        b"[" * 5000,
        b'{"goal_id":"g"}',
        b'{"at":1,"action":"revoke","repo":"@","goal_id":"g","digest":"","how":""}',
        b'{"at":"","action":"delete","repo":"@","goal_id":"g","digest":"","how":""}',
        b'{"at":"","action":["revoke"],"repo":"@","goal_id":"g","digest":"","how":""}',
        b'{"at":"","action":"record","repo":"@","goal_id":"g","digest":"'
        + b"2" * 64
        + b'","how":""}',
        b'{"at":"","action":"record","repo":"@","goal_id":"g","digest":7,"how":"","contract":{}}',
        b'{"at":"","action":"revoke","repo":"@","goal_id":"g","digest":"","how":"',
    ],
)
def test_torn_and_foreign_lines_change_nothing(place: Place, line: bytes) -> None:
    record(place.ledger())
    with place.file.open("ab") as file:
        file.write(line.replace(b"@", os.fsencode(place.common)))
    ledger = place.ledger()
    assert ledger.check("g", D1)
    assert len(ledger.entries()) == 1
    record(ledger, goal="next")
    assert ledger.check("next", D1)
    assert ledger.check("g", D1)


def test_a_torn_line_is_a_warning_once(place: Place) -> None:
    record(place.ledger())
    whole = place.file.read_bytes()
    with place.file.open("ab") as file:
        file.write(whole[:-20])
    ledger = place.ledger()
    assert ledger.check("g", D1)
    assert ledger.check("g", D1)
    (warning,) = ledger.warnings
    assert warning.isprintable()


def test_a_goals_name_inside_another_contract_is_not_its_record(place: Place) -> None:
    ledger = place.ledger()
    ledger.record("other", D1, {"text": '"g"', "g": "g"}, now=NOW, how="g")
    assert not ledger.check("g", D1)
    assert ledger.recorded_contract("g") is None


def test_lines_that_cross_the_read_blocks_are_found(place: Place, monkeypatch: Any) -> None:
    ledger = place.ledger()
    for number in range(60):
        ledger.record(f"g{number}", D1, {"fill": "x" * (number * 7 % 130)}, now=NOW, how="x")
    ledger.record("g7", D2, {"fill": "y" * 400}, now=NOW, how="x")
    for block in (1, 2, 3, 50, 127, 500, 1 << 20):
        monkeypatch.setattr(backwards, "_FIRST_BLOCK", block)
        monkeypatch.setattr(backwards, "_LARGEST_BLOCK", block)
        step = 12 if block < 50 else 1  # a byte at a time, all of them take a quarter of a minute
        asked = range(7 % step, 60, step)
        assert all(ledger.check(f"g{n}", D2 if n == 7 else D1) for n in asked), block
        assert not ledger.check("g60", D1)


def test_ten_thousand_lines(place: Place) -> None:
    ledger = place.ledger()
    record(ledger, goal="first")
    line = place.file.read_bytes()
    with place.file.open("ab") as file:
        for number in range(10_000):
            file.write(line.replace(b'"first"', b'"goal-%d"' % number))
    assert ledger.check("first", D1)
    assert ledger.check("goal-9999", D1)
    assert not ledger.check("absent", D1)
    assert len(ledger.entries()) == 10_001


def test_an_oversized_ledger_is_named(place: Place, monkeypatch: Any) -> None:
    ledger = place.ledger()
    record(ledger)
    monkeypatch.setattr(trust, "_LIMIT", 10)
    with pytest.raises(StorageError, match="larger"):
        ledger.check("g", D1)
    assert not trusted(Settings(), ledger, "g", D1)[0]


class Unreadable:
    """A file of a disk that fails."""

    def __init__(self, fd: int, _: str) -> None:
        self.fd = fd

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def readline(self, *_: int) -> bytes:
        raise OSError(5, "Input/output error")


def test_a_disk_that_fails_is_named_and_no_trust(place: Place, monkeypatch: Any) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    ledger = place.ledger()
    record(ledger)
    monkeypatch.setattr(os, "pread", fail)
    monkeypatch.setattr(trust, "open", Unreadable, raising=False)
    for read in (lambda: ledger.check("g", D1), ledger.entries, ledger.standing):
        with pytest.raises(StorageError, match="Input/output error"):
            read()
    said, why = trusted(Settings(), ledger, "g", D1)
    assert not said
    assert "cannot be used" in why


def test_a_line_that_cannot_be_written_is_told_with_the_whole_path(
    place: Place, monkeypatch: Any
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(StorageError, match="No space left") as error:
        record(place.ledger())
    assert error.value.file == str(place.file)


@pytest.mark.parametrize("goal", ["../x", "", "G", 'g","goal_id":"h', "g\n", "a" * 65])
def test_a_goal_id_that_is_none_is_refused(place: Place, goal: str) -> None:
    for call in (
        lambda: record(place.ledger(), goal=goal),
        lambda: place.ledger().check(goal, D1),
        lambda: place.ledger().revoke(goal, now=NOW, how="x"),
        lambda: place.ledger().recorded_contract(goal),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("digest", ["", "1", D1 + "0", D1.upper().replace("1", "A"), "../" + D1])
def test_a_digest_that_is_none_is_refused(place: Place, digest: str) -> None:
    with pytest.raises(InputError):
        record(place.ledger(), digest=digest)


# --- the decision -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "open_to_all", "allowed", "said"),
    [
        ([], False, False, "nobody here has trusted goal g"),
        (["record 1"], False, True, "since 2"),
        (["record 2"], False, False, "has changed since it was trusted"),
        (["record 1", "revoke"], False, False, "was revoked"),
        ([], True, True, "executeVerificationCommands"),
        (["record 1", "revoke"], True, True, "executeVerificationCommands"),
    ],
)
def test_trusted_says_why(
    place: Place, steps: list[str], open_to_all: bool, allowed: bool, said: str
) -> None:
    ledger = place.ledger()
    for step in steps:
        if step == "revoke":
            ledger.revoke("g", now=LATER, how="x")
        else:
            record(ledger, digest=D1 if step.endswith("1") else D2)
    settings = Settings(execute_verification_commands=open_to_all)
    found, why = trusted(settings, ledger, "g", D1)
    assert found == allowed
    assert said in why
    assert allowed or "flow trust record g" in why


def test_an_open_setting_needs_no_ledger(place: Place) -> None:
    settings = Settings(execute_verification_commands=True)
    assert trusted(settings, place.ledger(place.top / "state"), "g", D1)[0]


def test_parallel_records_are_all_kept(place: Place) -> None:
    code = """
import sys
from flow.adapters.user_state.trust import TrustLedger
from tests.support.patience import patient_locks
patient_locks()
state, repo, name = sys.argv[1:]
ledger = TrustLedger(state, repo, "/nowhere")
for number in range(20):
    ledger.record(f"{name}-{number}", "1" * 64, {"x": "y" * 3000}, now="t", how="test")
"""
    args = [str(place.state), str(place.common)]
    started = [
        subprocess.Popen([sys.executable, "-c", code, *args, f"p{number}"], cwd=ROOT)
        for number in range(4)
    ]
    assert [process.wait(timeout=10 * LONG) for process in started] == [0] * 4
    ledger = place.ledger()
    assert len(ledger.entries()) == 80
    assert ledger.warnings == ()
