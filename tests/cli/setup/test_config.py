"""``flow config get``, ``set`` and ``unset``: one key of one settings file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.setting_keys import KEYS
from tests.support import ROOT, run_flow, scene, start_flow
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import GitRepo

OWN, PROJECT, LOCAL = (
    "~/.claude/settings.flow.json",
    "settings.flow.json",
    "settings.flow.local.json",
)
HOOK = "flow.goals.stopHookEnforcement"
JOBS = "flow.goals.jobs"
AGENT = {"CLAUDECODE": "1"}
OWN_KEYS = [name for name, key in KEYS.items() if key.rule == "own"]


def own_file(home: Path) -> Path:
    return home / ".claude/settings.flow.json"


def files(repo: GitRepo, home: Path) -> dict[str, Path]:
    return {
        "--user": own_file(home),
        "--project": repo.path / ".claude" / PROJECT,
        "--local": repo.path / ".claude" / LOCAL,
    }


def in_force(repo: GitRepo, key: str) -> Any:
    return flow(repo, "config", "get", key, "--json").json


@pytest.mark.parametrize("scope", ["--user", "--project", "--local"])
def test_a_key_is_set_read_and_unset_in_the_file_of_its_scope(
    repo: GitRepo, home: Path, scope: str
) -> None:
    done = flow(repo, "config", "set", "jobs", "4", scope, "--json")
    assert done.status == 0, done
    assert (done.json["value"], done.json["in_force"], done.json["before"]) == (4, 4, None)
    there = files(repo, home)
    assert json.loads(there[scope].read_text()) == {"flow": {"goals": {"jobs": 4}}}
    assert [name for name, file in there.items() if file.exists()] == [scope]
    assert flow(repo, "config", "get", JOBS, scope).stdout == "4\n"
    assert flow(repo, "config", "get", JOBS).stdout == "4\n"
    assert flow(repo, "config", "unset", JOBS, scope).status == 0
    assert json.loads(there[scope].read_text()) == {}
    assert in_force(repo, JOBS) == {"key": JOBS, "value": 1, "origin": "default"}
    assert flow(repo, "config", "get", JOBS, scope).status == 2


def test_without_a_scope_it_is_your_own_file(repo: GitRepo, home: Path) -> None:
    assert flow(repo, "config", "set", HOOK, "block").status == 0
    assert json.loads(own_file(home).read_text()) == {
        "flow": {"goals": {"stopHookEnforcement": "block"}}
    }


def test_the_rest_of_the_file_stays_byte_for_byte(repo: GitRepo) -> None:
    file = repo.path / ".claude" / PROJECT
    before = (
        '{"other": [1, 2 , 3],\r\n\t"flow": {"goals": {"jobs": 2 , "denied_paths": []},'
        '\r\n\t\t"x": "\\u00fc"}, "n": 1.50}'
    )
    repo.write(f".claude/{PROJECT}", before.encode())
    assert flow(repo, "config", "set", "jobs", "12", "--project").status == 0
    assert file.read_bytes().decode() == before.replace('"jobs": 2 ', '"jobs": 12 ')
    assert flow(repo, "config", "unset", "jobs", "--project").status == 0
    assert file.read_bytes().decode() == before.replace('"jobs": 2 , ', "")
    assert flow(repo, "config", "unset", "denied_paths", "--project").status == 0
    assert file.read_bytes().decode() == before.replace(
        '"goals": {"jobs": 2 , "denied_paths": []},\r\n\t\t', ""
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("stopHookEnforcment", HOOK),
        ("flow.goals.Jobs", JOBS),
        ("goals.judge.modle", "flow.goals.judge.model"),
        ("enforcement", HOOK),
    ],
)
@pytest.mark.parametrize("verb", ["get", "set", "unset"])
def test_a_near_miss_of_a_key_is_answered_with_the_key(
    repo: GitRepo, home: Path, typed: str, meant: str, verb: str
) -> None:
    value = ("1",) if verb == "set" else ()
    done = flow(repo, "config", verb, typed, *value, "--json")
    assert (done.status, done.json["error"]["value"]) == (2, typed)
    assert meant in done.json["error"]["message"]
    assert not own_file(home).exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (JOBS, "0"),
        (JOBS, "many"),
        (JOBS, "true"),
        (HOOK, "sometimes"),
        ("flow.goals.denied_paths", "secrets"),
        ("flow.goals.denied_paths", '["../up"]'),
        ("flow.goals.judge.baseUrl", "ftp://x"),
        ("journal.dir", "../up"),
        ("flow.goals.enabled", "yes"),
    ],
)
def test_a_wrong_value_names_file_key_value_and_remedy(
    repo: GitRepo, home: Path, key: str, value: str
) -> None:
    done = flow(repo, "config", "set", key, value, "--user", "--json")
    error = done.json["error"]
    assert (done.status, error["file"]) == (2, OWN)
    assert error["key"].startswith(key)
    assert error["value"]
    assert error["remedy"]
    assert not own_file(home).exists()


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        (HOOK, "off", "off"),
        (HOOK, '"off"', "off"),
        ("flow.goals.judge.model", "7", "7"),
        ("flow.goals.judge.command", '["ask", "-x"]', ["ask", "-x"]),
        ("flow.goals.denied_paths", '["a/**"]', ["a/**"]),
        ("flow.goals.commandTimeoutSeconds", "1.5", 1.5),
        ("journal.dir", "notes/", "notes"),
    ],
)
def test_values_are_json_and_words_need_no_quotes(
    repo: GitRepo, key: str, typed: str, value: object
) -> None:
    assert flow(repo, "config", "set", key, typed, "--user").status == 0
    assert in_force(repo, key)["value"] == value


@pytest.mark.parametrize("key", OWN_KEYS)
@pytest.mark.parametrize("scope", ["--project", "--local"])
def test_what_only_the_user_may_set_is_not_written_into_a_checkout(
    repo: GitRepo, key: str, scope: str
) -> None:
    done = flow(repo, "config", "set", key, "true", scope, "--json")
    assert done.status == 2
    assert "--user" in done.json["error"]["remedy"]
    assert not (repo.path / ".claude").exists()


@pytest.mark.parametrize("key", OWN_KEYS)
@pytest.mark.parametrize("more", [(), ("--here",)])
@pytest.mark.parametrize("verb", ["set", "unset"])
def test_an_agents_shell_does_not_write_what_is_the_users_word(
    repo: GitRepo, home: Path, key: str, verb: str, more: tuple[str, ...]
) -> None:
    value = ("true",) if verb == "set" else ()
    done = flow(repo, "config", verb, key, *value, "--user", *more, "--json", env=AGENT)
    if done.status == 2:  # `true` is no value of this key
        assert done.json["error"]["code"] == "invalid_file"
        return
    assert (done.status, done.json["error"]["code"]) == (4, "agent_sets_own")
    assert f"flow config {verb} {key}" in done.json["error"]["remedy"]
    assert not own_file(home).exists()


@pytest.mark.parametrize(
    ("key", "before", "after", "status"),
    [
        (HOOK, "block", "warn", 4),
        (HOOK, "warn", "block", 0),
        (HOOK, "block", None, 4),
        ("flow.goals.enabled", "true", "false", 4),
        ("flow.goals.denied_paths", '["a", "b"]', '["a"]', 4),
        ("flow.goals.denied_paths", '["a"]', '["b", "a"]', 0),
        ("flow.goals.judge.maxCostUsd", "1", "2", 4),
        ("flow.goals.judge.maxCostUsd", "1", None, 4),
        ("flow.goals.judge.minKappa", "0.5", "0.6", 0),
        (JOBS, "1", "4", 0),
    ],
)
def test_an_agents_shell_may_tighten_and_not_loosen(
    repo: GitRepo, key: str, before: str, after: str | None, status: int
) -> None:
    assert flow(repo, "config", "set", key, before, "--user").status == 0
    words = ("set", key, after) if after is not None else ("unset", key)
    assert flow(repo, "config", *words, "--user", env=AGENT).status == status


def test_for_this_checkout_alone(repo: GitRepo, home: Path, tmp_path: Path) -> None:
    assert flow(repo, "config", "set", HOOK, "block", "--user").status == 0
    below = repo.path / "deep"
    below.mkdir()
    assert flow(repo, "config", "set", HOOK, "off", "--user", "--here", cwd=below).status == 0
    entry = json.loads(own_file(home).read_text())["flow"]
    assert entry == {
        "goals": {"stopHookEnforcement": "block"},
        "checkouts": {str(repo.path): {"goals": {"stopHookEnforcement": "off"}}},
    }
    assert in_force(repo, HOOK)["value"] == "off"
    assert flow(repo, "config", "get", HOOK, "--user", "--here").stdout == "off\n"
    assert flow(repo, "config", "get", HOOK, "--user").stdout == "block\n"
    assert flow(repo, "config", "unset", HOOK, "--here").status == 0
    assert "checkouts" not in json.loads(own_file(home).read_text())["flow"]
    assert in_force(repo, HOOK)["value"] == "block"


def test_an_entry_under_another_spelling_of_the_checkout_is_the_one(
    repo: GitRepo, home: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(repo.path)
    own_file(home).parent.mkdir(exist_ok=True)
    own_file(home).write_text(json.dumps({"flow": {"checkouts": {str(link): {}}}}))
    assert flow(repo, "config", "set", "jobs", "3", "--here").status == 0
    assert list(json.loads(own_file(home).read_text())["flow"]["checkouts"]) == [str(link)]
    assert in_force(repo, JOBS)["value"] == 3


@pytest.mark.parametrize("words", [("--project", "--here"), ("--user", "--local")])
def test_scopes_that_contradict_each_other(repo: GitRepo, words: tuple[str, ...]) -> None:
    assert flow(repo, "config", "set", "jobs", "3", *words).status == 2


def test_a_key_without_an_entry_for_one_checkout(repo: GitRepo) -> None:
    done = flow(repo, "config", "set", "journal.dir", "notes", "--here", "--json")
    assert done.status == 2
    assert "--local" in done.json["error"]["remedy"]


@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_nothing_is_written_through_a_symlink(
    repo: GitRepo, home: Path, tmp_path: Path, scope: str
) -> None:
    target = tmp_path / "elsewhere.json"
    target.write_text("{}")
    file = files(repo, home)[scope]
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(target)
    done = flow(repo, "config", "set", "jobs", "4", scope, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "unsafe_path")
    assert done.json["error"]["file"] == (OWN if scope == "--user" else f".claude/{PROJECT}")
    assert target.read_text() == "{}"


@pytest.mark.parametrize("text", ["{", "[]", '{"flow": 3}', '{"flow": {"goals": []}}'])
def test_a_file_that_is_broken_stays_as_it_is(repo: GitRepo, text: str) -> None:
    repo.write(f".claude/{PROJECT}", text)
    done = flow(repo, "config", "set", "jobs", "4", "--project", "--json")
    assert (done.status, done.json["error"]["file"]) == (2, f".claude/{PROJECT}")
    assert repo.read(f".claude/{PROJECT}") == text


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_file_of_your_own_has_the_name_that_you_know_in_json_too(
    repo: GitRepo, home: Path, text: str
) -> None:
    file = files(repo, home)["--user"]
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    done = flow(repo, "config", "set", "jobs", "4", "--user", "--json")
    assert (done.status, done.json["error"]["file"]) == (2, OWN)


def test_a_file_of_your_own_that_counts_as_the_checkouts_is_refused(repo: GitRepo) -> None:
    done = flow(repo, "config", "set", "jobs", "4", "--user", env={"HOME": str(repo.path)})
    assert done.status == 2
    assert not (repo.path / ".claude").exists()


def test_outside_a_repository_your_own_file_is_written_and_listed(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    assert run_flow("config", "set", "jobs", "4", cwd=folder).status == 0
    assert run_flow("config", "get", "jobs", cwd=folder).stdout == "4\n"
    listed = run_flow("config", "list", "--json", cwd=folder)
    assert listed.status == 0, listed
    assert {"key": JOBS, "value": 4} in listed.json["settings"]
    for more in ("--project", "--local", "--here"):
        assert run_flow("config", "set", "jobs", "4", more, cwd=folder).status == 2


def test_a_value_that_another_file_overrules_is_said(repo: GitRepo) -> None:
    assert flow(repo, "config", "set", "jobs", "2", "--local").status == 0
    done = flow(repo, "config", "set", "jobs", "4", "--project")
    assert "in force here: 2 (.claude/settings.flow.local.json)" in done.stdout


def test_writers_wait_for_each_other(repo: GitRepo, home: Path) -> None:
    keys = {JOBS: "2", "failAfterStuckTurns": "5", "hookTimeoutSeconds": "9", HOOK: "block"}
    done = []
    threads = [
        threading.Thread(
            target=lambda key=key, value=value: done.append(
                start_flow("config", "set", key, value, cwd=repo.path).status
            )
        )
        for key, value in keys.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [0] * len(keys)
    assert len(json.loads(own_file(home).read_text())["flow"]["goals"]) == len(keys)


@pytest.mark.parametrize("key", ["flow.goals.executeVerificationCommands", "flow.goals.enabled"])
def test_what_looks_like_a_switch_and_is_none_says_so(repo: GitRepo, key: str) -> None:
    assert flow(repo, "config", "set", key, "false", "--user").status == 0
    lines = flow(repo, "config", "list").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(key))
    assert "run all the same" in lines[at + 1] or "work all the same" in lines[at + 1]
    assert KEYS[key].not_a_switch in flow(repo, "config", "get", key).stderr


def test_commands_run_where_that_key_is_false(repo: GitRepo) -> None:
    assert flow(repo, "config", "set", "executeVerificationCommands", "false").status == 0
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "greet").status == 0


def test_no_file_is_named_for_a_value_that_it_lacks(repo: GitRepo) -> None:
    assert flow(repo, "config", "set", HOOK, "block", "--user").status == 0
    rows = flow(repo, "config", "list", "--show-origin", "--json").json["settings"]
    assert [row["key"] for row in rows if row["origin"] != "default"] == [HOOK]
    repo.write(f".claude/{PROJECT}", '{"flow": {"goals": {"enabled": false}}}')
    rows = flow(repo, "config", "list", "--show-origin", "--json").json["settings"]
    (row,) = (row for row in rows if row["key"] == "flow.goals.enabled")
    assert (row["value"], HOOK in row["origin"], OWN in row["origin"]) == (True, True, False)


def test_every_key_has_a_line_in_the_docs() -> None:
    page = Path(ROOT, "docs/settings.md").read_text(encoding="utf-8")
    for name, key in KEYS.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert key.about.replace("|", "\\|") in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(repo: GitRepo) -> None:
    (repo.path / ".claude").mkdir(mode=0o555)
    assert flow(repo, "config", "set", "jobs", "4", "--project").status == 5
