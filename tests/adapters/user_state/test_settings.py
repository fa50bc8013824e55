"""Reading the settings files: real files in a checkout and a home folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.fs import files
from flow.adapters.user_state.settings import LOCAL, OWN, PROJECT, load, load_lenient
from flow.core.settings import DEFAULT, LoadedSettings, Settings
from flow.errors import ContractError, StorageError

JOBS = "flow.goals.jobs"
OPEN = "flow.goals.executeVerificationCommands"


class Place:
    """A checkout and a home, apart from each other."""

    def __init__(self, base: Path) -> None:
        self.top = base / "repo"
        self.home = base / "home"
        self.top.mkdir()
        self.home.mkdir()

    def put(self, name: str, content: Any) -> Path:
        """Write one of the three files; anything but bytes is written as JSON."""
        path = self.home / PROJECT if name == OWN else self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def load(self) -> LoadedSettings:
        return load(str(self.top), str(self.home))

    def faults(self) -> list[tuple[str | None, str | None, str]]:
        with pytest.raises(ContractError) as caught:
            self.load()
        assert caught.value.exit_code == 2
        return [(fault.file, fault.key, fault.message) for fault in caught.value.faults]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def goals(**values: Any) -> dict[str, Any]:
    return {"flow": {"goals": values}}


@pytest.mark.parametrize("home", ["home", "absent", None, "", "relative"])
def test_no_file_is_fine(place: Place, home: str | None) -> None:
    path = str(place.top.parent / home) if home in ("home", "absent") else home
    loaded = load(str(place.top), path)
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert set(loaded.origins.values()) == {DEFAULT}


@pytest.mark.parametrize("present", range(1, 8))
def test_the_order_of_the_files(place: Place, present: int) -> None:
    names = [LOCAL, PROJECT, OWN]
    in_use = [name for bit, name in enumerate(names) if present & (1 << bit)]
    for name in in_use:
        place.put(name, goals(jobs=names.index(name) + 2, denied_paths=[name.replace("~/", "")]))
    loaded = place.load()
    assert loaded.settings.jobs == names.index(in_use[0]) + 2
    assert loaded.origins[JOBS] == in_use[0]
    assert len(loaded.settings.denied_paths) == len({n.replace("~/", "") for n in in_use})


def test_only_the_users_own_file_opens_trust(place: Place) -> None:
    place.put(LOCAL, goals(executeVerificationCommands=True))
    place.put(PROJECT, goals(executeVerificationCommands=True))
    loaded = place.load()
    assert not loaded.settings.execute_verification_commands
    assert [warning.split(":")[0] for warning in loaded.warnings] == [LOCAL, PROJECT]
    place.put(OWN, goals(executeVerificationCommands=True))
    loaded = place.load()
    assert loaded.settings.execute_verification_commands
    assert loaded.origins[OPEN] == OWN


@pytest.mark.parametrize("name", [LOCAL, PROJECT, OWN])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"{",
        b"{} {}",
        b'{"flow": }',
        b"// comment\n{}",
        b'{"flow": {"goals": {"jobs": NaN}}}',
        b'{"flow": {}, "flow": {}}',
        b'{"flow": {"goals": {"jobs": 2, "jobs": 3}}}',
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe{\x00}\x00",
        b'{"flow": {"goals": {"judge": {"model": "\xff"}}}}',
        b'{"flow": {"goals": {"judge": {"model": "\\ud800"}}}}',
        b'{"flow": {"goals": {"jobs": ' + b"9" * 6000 + b"}}}",
        b"[" * 2000,
        b'{"a":' * 2000,
        b"flow: {}\n",
    ],
    ids=range(19),
)
def test_a_broken_file_is_named(place: Place, name: str, content: bytes) -> None:
    place.put(name, content)
    faults = place.faults()
    assert all(file == name for file, _, _ in faults)
    assert all(message.isprintable() for _, _, message in faults)


def test_all_faults_of_all_files_at_once(place: Place) -> None:
    place.put(LOCAL, b"{")
    place.put(PROJECT, goals(jobs=0, commandTimeoutSeconds="5"))
    place.put(OWN, {"journal": {"dir": "../x"}})
    faults = {(file, key) for file, key, _ in place.faults() if file != LOCAL}
    assert faults == {
        (PROJECT, JOBS),
        (PROJECT, "flow.goals.commandTimeoutSeconds"),
        (OWN, "journal.dir"),
    }
    assert any(file == LOCAL for file, _, _ in place.faults())


@pytest.mark.parametrize("name", [LOCAL, PROJECT])
@pytest.mark.parametrize("kind", ["file", "dangling", "folder", "fifo", "parent"])
def test_what_is_no_regular_file_in_the_checkout_is_refused(
    place: Place, name: str, kind: str
) -> None:
    target = place.top.parent / "elsewhere"
    path = place.top / name
    if kind == "parent":
        target.mkdir()
        (target / path.name).write_text("{}")
        path.parent.symlink_to(target)
    else:
        path.parent.mkdir()
        if kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            if kind == "file":
                target.write_text("{}")
            path.symlink_to(target)
    faults = place.faults()
    assert [file for file, _, _ in faults] == [name]


@pytest.mark.parametrize("name", [LOCAL, PROJECT, OWN])
def test_a_huge_file_is_refused(place: Place, name: str) -> None:
    place.put(name, b'{"x": "' + b"y" * (1 << 20) + b'"}')
    ((file, _, message),) = place.faults()
    assert file == name
    assert "1048576" in message


def test_a_file_that_cannot_be_read_is_a_storage_error(place: Place) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    place.put(PROJECT, {}).chmod(0)
    with pytest.raises(StorageError) as caught:
        place.load()
    assert PROJECT in str(caught.value)


def test_the_users_own_file_may_be_a_link_to_their_dotfiles(place: Place) -> None:
    dotfiles = place.top.parent / "dotfiles.json"
    dotfiles.write_text(json.dumps(goals(executeVerificationCommands=True, jobs=7)))
    (place.home / ".claude").mkdir()
    (place.home / PROJECT).symlink_to(dotfiles)
    loaded = place.load()
    assert loaded.settings.execute_verification_commands
    assert loaded.origins[JOBS] == OWN
    assert loaded.warnings == ()


def test_the_users_own_dangling_link_is_absent(place: Place) -> None:
    (place.home / ".claude").mkdir()
    (place.home / PROJECT).symlink_to(place.home / "nothing")
    assert place.load().settings == Settings()


def home_is_top(place: Place) -> str:
    return str(place.top)


def home_links_to_top(place: Place) -> str:
    link = place.top.parent / "link"
    link.symlink_to(place.top)
    return str(link)


def home_inside_top(place: Place) -> str:
    home = place.top / "home"
    (home / ".claude").mkdir(parents=True)
    (home / PROJECT).write_bytes((place.top / PROJECT).read_bytes())
    return str(home)


def own_file_links_into_top(place: Place) -> str:
    (place.home / ".claude").mkdir()
    (place.top / "shared.json").write_bytes((place.top / PROJECT).read_bytes())
    (place.home / PROJECT).symlink_to(place.top / "shared.json")
    return str(place.home)


@pytest.mark.parametrize(
    "where",
    [home_is_top, home_links_to_top, home_inside_top, own_file_links_into_top],
    ids=lambda f: f.__name__,
)
def test_an_own_file_inside_the_checkout_counts_as_the_checkouts(place: Place, where: Any) -> None:
    place.put(PROJECT, goals(executeVerificationCommands=True, jobs=5))
    loaded = load(str(place.top), where(place))
    assert not loaded.settings.execute_verification_commands
    assert loaded.settings.jobs == 5
    assert loaded.origins[JOBS] == PROJECT
    assert any(OWN in warning and "checkout" in warning for warning in loaded.warnings)


def test_a_home_that_is_the_checkout_is_read_once(place: Place) -> None:
    place.put(PROJECT, goals(jbos=5, executeVerificationCommands=True))
    warnings = load(str(place.top), str(place.top)).warnings
    assert len(warnings) == len(set(warnings)) == 3
    assert sum("jbos" in warning for warning in warnings) == 1


def test_an_own_file_that_everyone_may_write_counts_as_the_checkouts(place: Place) -> None:
    path = place.put(OWN, goals(executeVerificationCommands=True, jobs=5))
    path.chmod(0o666)
    loaded = place.load()
    assert not loaded.settings.execute_verification_commands
    assert loaded.settings.jobs == 5
    assert "chmod" in loaded.warnings[0]
    path.chmod(0o664)
    assert place.load().settings.execute_verification_commands


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_own_file_of_another_user_counts_as_the_checkouts(place: Place) -> None:
    path = place.put(OWN, goals(executeVerificationCommands=True))
    os.chown(path, 12345, 12345)
    assert not place.load().settings.execute_verification_commands


def test_a_file_that_cannot_be_read_hides_no_other(place: Place, monkeypatch: Any) -> None:
    """The hook goes on with what the readable files say (SPEC 8)."""
    place.put(PROJECT, goals(stopHookEnforcement="block", denied_paths=["secret/**"]))
    place.put(OWN, goals(stopHookEnforcement="evaluator-loop"))
    real = files.read_optional

    def failing(root: str, rel: str, **more: Any) -> bytes | None:
        if root != str(place.top):
            raise StorageError("cannot read it: Too many open files", file=rel)
        return real(root, rel, **more)

    monkeypatch.setattr(files, "read_optional", failing)
    loaded, wrong = load_lenient(str(place.top), str(place.home))
    assert loaded.settings.stop_hook_enforcement == "block"
    assert loaded.settings.denied_paths == ("secret/**",)
    assert ["Too many open files" in line for line in wrong] == [True]
    with pytest.raises(StorageError):
        place.load()
