"""``flow init --host NAME``: the Stop hook in a host's own file, and nothing else touched."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.setup import init as setup_init
from flow.core.stop.hosts import HOSTS
from tests.support import run_flow, scene
from tests.support.made_once.replay import replay_flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo, Ran

FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}
EVENTS = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent", "cursor": "stop"}
LIMITS = {"claude": 330, "codex": 330, "gemini": 330_000, "cursor": 330}


MINE = {"type": "command", "command": "mine"}
"""A status line of the user's own."""


def command(host: str) -> str:
    return f"flow hook stop --host {host}"


def entry(host: str, **changes: Any) -> dict[str, Any]:
    """The entry that ``flow init`` writes for the host, keys of the value None left out."""
    whole = {"type": "command", "command": command(host), "timeout": LIMITS[host]}
    if host == "cursor":
        del whole["type"]
    if host == "gemini":
        whole["name"] = "flow-goal-stop"
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def items(host: str, *entries: Any) -> list[Any]:
    """Entries as the host's list under its event holds them."""
    return [each if host == "cursor" else {"hooks": [each]} for each in entries]


def document(host: str, *entries: Any, **more: Any) -> dict[str, Any]:
    return {"hooks": {EVENTS[host]: items(host, *entries)}, **more}


def init(repo: GitRepo, host: str, *, status: int = 0, **more: Any) -> Ran:
    done = run_flow("init", "--host", host, "--json", cwd=more.pop("cwd", repo.path), **more)
    assert done.status == status, done
    return done


def did(done: Ran, host: str) -> str:
    return next(step["did"] for step in done.json["steps"] if step["file"] == FILES[host])


def read(repo: GitRepo, host: str) -> Any:
    return json.loads(repo.read(FILES[host]))


def hooks(repo: GitRepo, host: str) -> Any:
    return read(repo, host)["hooks"][EVENTS[host]]


def tree(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and ".git/" not in str(file)
    }


@pytest.fixture
def ready(repo: GitRepo) -> GitRepo:
    """A repository after ``flow init`` without a host."""
    assert replay_flow("init", cwd=repo.path).status == 0
    return repo


@pytest.mark.parametrize("host", HOSTS)
def test_the_hook_is_written(repo: GitRepo, host: str) -> None:
    done = init(repo, host)
    assert hooks(repo, host) == items(host, entry(host))
    assert f"{EVENTS[host]} runs {command(host)}" in did(done, host)
    hook = done.json["hook"]
    assert {key: hook[key] for key in ("host", "file", "event", "command")} == {
        "host": host,
        "file": FILES[host],
        "event": EVENTS[host],
        "command": command(host),
    }
    assert list(read(repo, host)) == {
        "claude": ["permissions", "hooks", "statusLine"],
        "cursor": ["version", "hooks"],
    }.get(host, ["hooks"])
    assert read(repo, "claude")["permissions"]["ask"] == list(setup_init.ASK_RULES)
    assert (repo.path / FILES[host]).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("host", HOSTS)
def test_no_other_host_gets_one(repo: GitRepo, host: str) -> None:
    init(repo, host)
    others = {FILES[other] for other in HOSTS if other not in (host, "claude")}
    assert not others & set(tree(repo.path))
    assert ("hooks" in read(repo, "claude")) is (host == "claude")


def test_without_a_host_there_is_no_hook(ready: GitRepo) -> None:
    assert "hooks" not in read(ready, "claude")
    assert scene.flow(ready, "init", "--json").json["hook"] is None


@pytest.mark.parametrize("host", HOSTS)
def test_twice_changes_nothing(repo: GitRepo, host: str) -> None:
    init(repo, host)
    before = tree(repo.path)
    assert did(init(repo, host), host) == "is as it should be"
    assert tree(repo.path) == before


def test_of_two_hosts_at_once_none_is_left_out_in_silence(repo: GitRepo) -> None:
    both = run_flow("init", "--host", "codex", "--host", "gemini", cwd=repo.path)
    assert (both.status, "run flow init once for each" in both.stderr) == (2, True)
    assert not (repo.path / ".gemini").exists()
    assert run_flow("init", "--host", "codex", "--host=codex", cwd=repo.path).status == 0


def test_all_hosts_one_after_the_other(repo: GitRepo) -> None:
    for host in HOSTS:
        init(repo, host)
    for host in HOSTS:
        assert hooks(repo, host) == items(host, entry(host))


@pytest.mark.parametrize("host", HOSTS)
def test_it_is_written_at_the_top(repo: GitRepo, host: str) -> None:
    (repo.path / "deep/down").mkdir(parents=True)
    init(repo, host, cwd=repo.path / "deep/down")
    assert hooks(repo, host) == items(host, entry(host))
    assert not (repo.path / "deep/down" / FILES[host]).exists()


OTHERS = {
    "zebra": 1.50,
    "ünï": ["✓", "\x7f"],
    "hooks": {"Before": [{"hooks": [{"type": "command", "command": "lint"}]}]},
    "alpha": None,
}


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("host", HOSTS)
def test_everything_else_stays(
    ready: GitRepo, host: str, indent: int | str | None, ending: str
) -> None:
    there = dict(OTHERS)
    if host == "claude":
        there["permissions"] = {"ask": list(setup_init.ASK_RULES), "allow": ["Bash(ls)"]}
        there["statusLine"] = MINE
    before = json.dumps(there, indent=indent) + ending
    ready.write(FILES[host], before)
    init(ready, host)
    now = read(ready, host)
    assert now["hooks"].pop(EVENTS[host]) == items(host, entry(host))
    assert json.dumps(now) == json.dumps(there)
    # What stands before and after the one place that grew is byte by byte what it was.
    text, mark = ready.read(FILES[host]), '"command": "lint"'
    assert text.startswith(before.partition(mark)[0] + mark)
    assert text.endswith(before[before.index('"alpha"') :])


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_of_the_same_event_stay(ready: GitRepo, host: str) -> None:
    own = items(host, {"type": "command", "command": "notify done"})
    rules = {"permissions": {"ask": list(setup_init.ASK_RULES)}} if host == "claude" else {}
    there = {**rules, "hooks": {EVENTS[host]: own}}
    ready.write(FILES[host], json.dumps(there, indent=2))
    init(ready, host)
    assert hooks(ready, host) == [*own, *items(host, entry(host))]


RUN_ALREADY = [
    "/opt/flow/bin/flow hook stop --host {host}",
    '"/opt/a b/flow" hook stop',
    "'/opt/a b/flow' hook stop",
    "FLOW_STATE_DIR=/x flow hook stop --host {host}",
    "flow hook stop --host {host} 2>>log",
    "python3 -m flow hook stop",
    "bash hooks/scripts/flow-goal-evaluator.sh",
    '"$CLAUDE_PROJECT_DIR"/flow-goal-stop.sh',
]


@pytest.mark.parametrize("text", RUN_ALREADY)
@pytest.mark.parametrize("host", HOSTS)
def test_an_entry_of_the_users_own_stays_and_none_is_added(
    ready: GitRepo, host: str, text: str
) -> None:
    own = document(host, {"command": text.format(host=host), "timeout": 5})
    if host == "claude":
        own |= {"permissions": {"ask": list(setup_init.ASK_RULES)}, "statusLine": MINE}
    before = json.dumps(own)
    ready.write(FILES[host], before)
    assert "an entry of your own runs it" in did(init(ready, host), host)
    assert ready.read(FILES[host]) == before


@pytest.mark.parametrize("text", ["workflow hook stop", "flow status", "overflow-goal-stop", ""])
def test_other_commands_are_none_of_it(ready: GitRepo, text: str) -> None:
    ready.write(FILES["codex"], json.dumps(document("codex", {"command": text})))
    init(ready, "codex")
    assert hooks(ready, "codex") == items("codex", {"command": text}, entry("codex"))


@pytest.mark.parametrize("old", ["flow hook stop", "flow hook stop --host claude"])
@pytest.mark.parametrize("host", ["codex", "gemini", "cursor"])
def test_an_entry_of_flow_for_another_host_is_corrected(
    ready: GitRepo, host: str, old: str
) -> None:
    own = entry(host, command=old, name=None, comment="keep me")
    ready.write(FILES[host], json.dumps(document(host, own), indent=2))
    assert f"its command is {command(host)} now" in did(init(ready, host), host)
    assert hooks(ready, host) == items(host, {**own, "command": command(host)})


def test_claude_code_needs_no_host_in_the_command(ready: GitRepo) -> None:
    own = document("claude", entry("claude", command="flow hook stop"))
    own |= {"permissions": {"ask": list(setup_init.ASK_RULES)}, "statusLine": MINE}
    ready.write(FILES["claude"], json.dumps(own))
    assert did(init(ready, "claude"), "claude") == "is as it should be"


@pytest.mark.parametrize(
    ("before", "longer"),
    [(None, True), (60, True), ("330", True), (True, True), (1, True), (10**6, False)],
)
@pytest.mark.parametrize("host", HOSTS)
def test_an_entry_of_flow_gets_time_enough(
    ready: GitRepo, host: str, before: object, longer: bool
) -> None:
    ready.write(FILES[host], json.dumps(document(host, entry(host, timeout=before))))
    said = did(init(ready, host), host)
    (group,) = hooks(ready, host)
    found = group if host == "cursor" else group["hooks"][0]
    assert found["timeout"] == (LIMITS[host] if longer else before)
    assert ("its timeout is" in said) is longer


@pytest.mark.parametrize(
    ("host", "before"), [("claude", 329), ("codex", 329), ("cursor", 329), ("gemini", 329_999)]
)
def test_time_enough_is_in_the_unit_of_the_host(ready: GitRepo, host: str, before: int) -> None:
    ready.write(FILES[host], json.dumps(document(host, entry(host, timeout=before))))
    init(ready, host)
    assert hooks(ready, host) == items(host, entry(host))


@pytest.mark.parametrize("host", HOSTS)
def test_two_entries_are_named(ready: GitRepo, host: str) -> None:
    both = document(host, entry(host), {"command": "/opt/flow hook stop"})
    ready.write(FILES[host], json.dumps(both))
    done = init(ready, host)
    assert any("2 entries" in note for note in done.json["hook"]["notes"])
    assert hooks(ready, host) == both["hooks"][EVENTS[host]]


BROKEN = [
    "",
    " \n",
    "{",
    "[]",
    "null",
    '"text"',
    '{"hooks": {}} x',
    '{"hooks": {}, "hooks": {}}',
    '{"a": NaN}',
    "{'a': 1}",
    '{"a": 1,}',
    '{\n  // a comment\n  "a": 1\n}',
    '{"a": 1} /* a comment */',
    '\ufeff{"a": 1}',
    '{"hooks": []}',
    '{"hooks": null}',
    '{"hooks": "all"}',
    '{"hooks": {"EVENT": {}}}',
    '{"hooks": {"EVENT": "flow hook stop"}}',
    '{"hooks": {"EVENT": null}}',
    '{"a": ' + "[" * 40 + "]" * 40 + "}",
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("host", HOSTS)
def test_a_broken_file_is_refused_and_nothing_is_written(
    repo: GitRepo, host: str, broken: str
) -> None:
    repo.write(FILES[host], broken.replace("EVENT", EVENTS[host]))
    before = tree(repo.path)
    error = init(repo, host, status=2).json["error"]
    assert error["file"] == FILES[host]
    assert error["remedy"]
    assert ("comments" in error["remedy"]) is ("comment" in broken)
    assert tree(repo.path) == before


@pytest.mark.parametrize(
    "data", [b'{"a": "\xff"}', b"\xff\xfe{\0}\0", b"{" + b" " * (1 << 20) + b"}"]
)
@pytest.mark.parametrize("host", HOSTS)
def test_bytes_that_are_no_text_are_refused(repo: GitRepo, host: str, data: bytes) -> None:
    repo.write(FILES[host], data)
    before = tree(repo.path)
    assert init(repo, host, status=2).json["error"]["file"] == FILES[host]
    assert tree(repo.path) == before


@pytest.mark.parametrize(
    "odd",
    [
        [7, "text", None, []],
        [{}, {"hooks": None}, {"hooks": {}}, {"hooks": [3, {"command": 5}]}],
        [{"command": ["flow hook stop"]}],
    ],
)
@pytest.mark.parametrize("host", HOSTS)
def test_odd_entries_stay(ready: GitRepo, host: str, odd: list[Any]) -> None:
    ready.write(FILES[host], json.dumps({"hooks": {EVENTS[host]: odd}}))
    init(ready, host)
    assert hooks(ready, host) == [*odd, *items(host, entry(host))]


def _link(path: Path, elsewhere: Path) -> None:
    elsewhere.write_text("{}")
    path.symlink_to(elsewhere)


def _dangling(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def _folder_link(path: Path, elsewhere: Path) -> None:
    path.parent.rmdir()
    elsewhere.mkdir()
    path.parent.symlink_to(elsewhere)


def _folder(path: Path, _elsewhere: Path) -> None:
    path.mkdir()


def _pipe(path: Path, _elsewhere: Path) -> None:
    os.mkfifo(path)


def _file_above(path: Path, _elsewhere: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("{}")


@pytest.mark.parametrize("make", [_link, _dangling, _folder_link, _folder, _pipe, _file_above])
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_no_file_is_refused_and_nothing_is_written(
    repo: GitRepo, tmp_path: Path, host: str, make: Any
) -> None:
    path = repo.path / FILES[host]
    path.parent.mkdir()
    elsewhere = tmp_path / "elsewhere"
    make(path, elsewhere)
    before = tree(repo.path)
    done = scene.flow(repo, "init", "--host", host, "--json")
    assert done.status in (2, 5), done
    assert FILES[host].startswith(done.json["error"]["file"])
    assert tree(repo.path) == before
    assert not elsewhere.is_file() or elsewhere.read_text() == "{}"
    assert not elsewhere.is_dir() or not os.listdir(elsewhere)


def test_a_host_that_is_none_is_a_wrong_call(repo: GitRepo) -> None:
    for words in (("--host", "emacs"), ("--host",), ("--host", ""), ("--host", "Claude")):
        done = scene.flow(repo, "init", *words)
        assert done.status == 2
        assert "--host" in done.stderr
    assert tree(repo.path) == {}


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_to_be_known_is_said(repo: GitRepo, host: str, tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "flow").write_text("#!/bin/sh\n")
    (bin_folder / "flow").chmod(0o755)
    path = f"{bin_folder}:{os.environ['PATH']}"
    done = scene.flow(repo, "init", "--host", host, env={"PATH": path})
    assert "no flow on the PATH" not in done.stderr
    assert ("trusted" in done.stderr) is (host in ("codex", "gemini"))
    assert ("started at" in done.stderr) is (host in ("claude", "gemini"))
    (bin_folder / "flow").chmod(0o644)
    done = scene.flow(repo, "init", "--host", host, env={"PATH": "/usr/bin:/bin"})
    assert f"no flow on the PATH, so {host} cannot start the hook" in done.stderr


@pytest.mark.parametrize(
    ("host", "more", "key"),
    [
        ("claude", {"disableAllHooks": True}, "disableAllHooks"),
        ("gemini", {"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
    ],
)
def test_hooks_that_are_off_are_named(
    ready: GitRepo, host: str, more: dict[str, Any], key: str
) -> None:
    ready.write(FILES[host], json.dumps(more))
    assert any(key in note for note in init(ready, host).json["hook"]["notes"])
    assert read(ready, host)[key.partition(".")[0]] == more[key.partition(".")[0]]


@pytest.mark.parametrize(
    ("said", "by"),
    [
        ({"home": True}, "your own settings.json"),
        ({".claude/settings.local.json": True}, ".claude/settings.local.json"),
        ({"home": True, ".claude/settings.json": False}, ""),
        ({".claude/settings.json": True, ".claude/settings.local.json": False}, ""),
        ({"home": "yes"}, ""),
    ],
)
def test_hooks_that_another_settings_file_turns_off_are_named(
    ready: GitRepo, home: Path, said: dict[str, Any], by: str
) -> None:
    for where, switch in said.items():
        file = home / ".claude/settings.json" if where == "home" else ready.path / where
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"disableAllHooks": switch}))
    notes = init(ready, "claude").json["hook"]["notes"]
    named = [note for note in notes if "disableAllHooks" in note]
    assert named == ([f"{by} has disableAllHooks true: no hook runs"] if by else [])


@pytest.mark.parametrize("host", HOSTS)
def test_the_command_starts_what_is_on_the_path(repo: GitRepo, host: str, tmp_path: Path) -> None:
    """A shell in any folder starts it, as the hosts do, with the payload on its stdin."""
    init(repo, host)
    bin_folder = tmp_path / "a folder"
    bin_folder.mkdir()
    (bin_folder / "flow").write_text('#!/bin/sh\nprintf "%s|" "$@"\ncat\n')
    (bin_folder / "flow").chmod(0o755)
    (item,) = hooks(repo, host)
    text = (item if host == "cursor" else item["hooks"][0])["command"]
    (tmp_path / "any where").mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", text],
        cwd=tmp_path / "any where",
        env={"PATH": f"{bin_folder}:/usr/bin:/bin"},
        input="{}",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"hook|stop|--host|{host}|{{}}"


USER, PROJECT, LOCAL = "user", ".claude/settings.json", ".claude/settings.local.json"


def enable(repo: GitRepo, home: Path, where: str, plugins: object) -> None:
    text = json.dumps({"enabledPlugins": plugins})
    if where == USER:
        (home / ".claude").mkdir(exist_ok=True)
        (home / ".claude/settings.json").write_text(text)
    else:
        repo.write(where, text)


@pytest.mark.parametrize(
    ("said", "enabled"),
    [
        ({USER: {"flow@flow-goal": True}}, True),
        ({PROJECT: {"flow@flow-goal": True}}, True),
        ({LOCAL: {"flow@flow-goal": True}}, True),
        ({USER: {"flow@a-fork": ["^1"]}}, True),
        ({USER: {"flow@flow-goal": False}}, False),
        ({USER: {"flow@flow-goal": True}, PROJECT: {"flow@flow-goal": False}}, False),
        ({PROJECT: {"flow@flow-goal": True}, LOCAL: {"flow@flow-goal": False}}, False),
        ({USER: {"flow@flow-goal": False}, LOCAL: {"flow@flow-goal": True}}, True),
        ({USER: {"flow@a": False, "flow@b": True}}, True),
        ({USER: {"workflow@a": True, "flow": True, "flowers@b": True}}, False),
        ({USER: ["flow@flow-goal"]}, False),
        ({USER: {"flow@flow-goal": "yes"}}, False),
    ],
)
def test_claude_code_gets_no_second_hook_beside_the_plugin(
    repo: GitRepo, home: Path, said: dict[str, Any], enabled: bool
) -> None:
    for where, plugins in said.items():
        enable(repo, home, where, plugins)
    done = init(repo, "claude")
    now = read(repo, "claude")
    assert ("hooks" not in now) is enabled
    assert ("the plugin enabled in" in did(done, "claude")) is enabled
    assert now["permissions"]["ask"] == list(setup_init.ASK_RULES)


@pytest.mark.parametrize("broken", ["{", "[]", '{"enabledPlugins": 3}', '{"enabledPlugins": null}'])
def test_settings_of_the_user_that_cannot_be_read_say_nothing(
    repo: GitRepo, home: Path, broken: str
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(broken)
    repo.write(LOCAL, broken)
    init(repo, "claude")
    assert hooks(repo, "claude") == items("claude", entry("claude"))


def test_the_users_settings_may_be_a_link_or_elsewhere(
    repo: GitRepo, home: Path, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "claude.json").write_text('{"enabledPlugins": {"flow@x": true}}')
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(dotfiles / "claude.json")
    assert "the plugin enabled in your own" in did(init(repo, "claude"), "claude")
    (home / ".claude/settings.json").unlink()
    (dotfiles / "settings.json").write_text('{"enabledPlugins": {"flow@x": true}}')
    done = init(repo, "claude", env={"CLAUDE_CONFIG_DIR": str(dotfiles)})
    assert "the plugin enabled in your own" in did(done, "claude")


def test_a_hook_beside_the_plugin_is_named(repo: GitRepo, home: Path) -> None:
    init(repo, "claude")
    before = tree(repo.path)
    enable(repo, home, USER, {"flow@flow-goal": True})
    done = init(repo, "claude")
    assert any("run twice" in note for note in done.json["hook"]["notes"])
    assert tree(repo.path) == before


@pytest.mark.parametrize("text", ["flow hook stop", "/opt/flow hook stop", command("claude")])
@pytest.mark.parametrize("where", ["home", ".claude/settings.local.json"])
def test_an_entry_of_another_settings_file_is_named(
    repo: GitRepo, home: Path, where: str, text: str
) -> None:
    """Claude Code runs a command that several files name once, and another one beside it."""
    file = home / ".claude/settings.json" if where == "home" else repo.path / where
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document("claude", {"type": "command", "command": text})))
    before = file.read_bytes()
    notes = init(repo, "claude").json["hook"]["notes"]
    named = [note for note in notes if "run twice" in note]
    assert len(named) == (text != command("claude"))
    shown = "your own settings.json" if where == "home" else where
    assert all(note.startswith(f"{shown} runs the Stop hook, too ({text})") for note in named)
    assert hooks(repo, "claude") == items("claude", entry("claude"))
    assert file.read_bytes() == before
    repo.write(FILES["claude"], json.dumps({"enabledPlugins": {"flow@flow-goal": True}}))
    notes = init(repo, "claude").json["hook"]["notes"]
    assert any("the plugin enabled in" in note and "run twice" in note for note in notes)


@pytest.mark.parametrize("host", ["codex", "gemini", "cursor"])
def test_the_plugin_is_nothing_to_other_hosts(repo: GitRepo, home: Path, host: str) -> None:
    enable(repo, home, USER, {"flow@flow-goal": True})
    init(repo, host)
    assert hooks(repo, host) == items(host, entry(host))
