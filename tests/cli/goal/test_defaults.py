"""``.flow/defaults.goal.yaml``: what every new goal gets, and whose word lets it run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support import run_helper
from tests.support.scene import at_terminal, edit, ended, flow, goal_file, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

DEFAULTS = ".flow/defaults.goal.yaml"
TEXT = """\
criteria:
  - id: AC2
    text: the tests pass
    verification_command: touch ../ran && true
  - id: DOC1
    text: it reads well
denied_paths: ["*.pem"]
protected_paths: ["tests/**"]
"""
AGENT = {"CLAUDECODE": "1"}
GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")
OWN = ("--criterion", "says please :: test -f src/greet.txt")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    start(repo).write(DEFAULTS, TEXT)
    return repo


def document(repo: GitRepo) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(goal_file(repo))
    return loaded


def ids(repo: GitRepo) -> list[str]:
    return [row["id"] for row in document(repo)["objective"]["acceptance_criteria"]]


def trust_defaults(repo: GitRepo) -> None:
    done = flow(repo, "trust", "record", "--defaults", "--yes")
    assert done.status == 0, done


def ran(repo: GitRepo) -> bool:
    return (repo.path.parent / "ran").exists()


def is_trusted(repo: GitRepo) -> bool:
    return flow(repo, "trust", "check", "greet").status == 0


# --- what a goal gets -----------------------------------------------------------------------------


def test_ids_stay_and_own_criteria_are_numbered_from_the_first_free_one(work: GitRepo) -> None:
    trust_defaults(work)
    more = ("--criterion", "and :: true", "--deny", "*.key", "--deny", "*.pem", "--protect", "x")
    done = flow(work, *GOAL, *OWN, *more)
    assert done.status == 0, done
    assert ids(work) == ["AC1", "AC3", "AC2", "DOC1"]
    written = document(work)
    assert written["constraints"]["denied_paths"] == ["*.key", "*.pem"]
    assert written["constraints"]["protected_paths"] == ["x", "tests/**"]
    assert written["evaluator"]["type"] == "hybrid"
    assert {row["status"] for row in written["objective"]["acceptance_criteria"]} == {"pending"}


FILE = """\
metadata: {id: greet}
objective:
  outcome: o
  acceptance_criteria:
    - text: mine
evaluator: {type: hybrid}
"""


@pytest.mark.parametrize("how", ["a file", "a helper"])
def test_a_file_gets_them_too(work: GitRepo, how: str) -> None:
    work.write("goal.yaml", FILE)
    if how == "a file":
        done = flow(work, "goal", "create", "--file", "goal.yaml")
    else:
        done = run_helper(
            "flow-goal-record.sh", "--create", "--goal-file", "goal.yaml", cwd=work.path
        )
    assert done.status == 0, done
    assert ids(work) == ["AC1", "AC2", "DOC1"]
    assert document(work)["constraints"] == {
        "denied_paths": ["*.pem"], "protected_paths": ["tests/**"],
    }  # fmt: skip
    assert not is_trusted(work)
    assert "flow trust record --defaults" in done.stderr


def test_a_goal_from_an_older_one_has_them_once(work: GitRepo) -> None:
    trust_defaults(work)
    assert flow(work, *GOAL, *OWN).status == 0
    before = ids(work)
    assert flow(work, "goal", "clear", "greet", "--yes").status == 0
    done = flow(work, "goal", "create", "again", "--from", "greet")
    assert done.status == 0, done
    rows = yaml.safe_load(goal_file(work, "again"))["objective"]["acceptance_criteria"]
    assert [row["id"] for row in rows] == before


@pytest.mark.parametrize("how", ["the command line", "goal.yaml"])
def test_the_same_id_twice_names_both_places(work: GitRepo, how: str) -> None:
    if how == "goal.yaml":
        work.write("goal.yaml", FILE.replace("- text", "- id: AC2\n      text"))
        done = flow(work, "goal", "create", "--file", "goal.yaml")
    else:
        done = flow(work, *GOAL, "--criterion", "AC2: mine :: true")
    assert done.status == 2
    place = (
        f"{how}: objective.acceptance_criteria[0].id: AC2 is the id of criteria[0] in {DEFAULTS}"
    )
    assert place in done.stderr
    assert not (work.path / ".flow/goals").exists()


# --- whose word lets it run -----------------------------------------------------------------------


def test_off_a_terminal_a_goal_is_trusted_only_where_the_user_knows_the_file(work: GitRepo) -> None:
    done = flow(work, *GOAL, *OWN, "--json")
    assert (done.status, done.json["status"]) == (0, "active")
    assert any("flow trust record --defaults" in text for text in done.json["warnings"])
    assert not any("already green" in text for text in done.json["warnings"])
    assert not is_trusted(work)
    refused = flow(work, "goal", "evaluate", "greet")
    assert refused.status == 4, refused
    assert not ran(work)
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    assert flow(work, "goal", "evaluate", "greet", "--no-judge").status == 4
    assert ran(work)


def test_that_every_goal_may_run_is_no_word_for_the_file(work: GitRepo, home: Path) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    settings = home / ".claude/settings.flow.json"
    settings.write_text('{"flow": {"goals": {"executeVerificationCommands": true}}}')
    done = flow(work, *GOAL, *OWN)
    assert (done.status, "is not trusted" in done.stderr) == (0, False)
    settings.unlink()
    assert not is_trusted(work)


def test_once_the_user_knows_the_file_goals_are_trusted_as_ever(work: GitRepo) -> None:
    trust_defaults(work)
    assert flow(work, "trust", "check", "--defaults").status == 0
    done = flow(work, *GOAL, *OWN)
    assert (done.status, is_trusted(work)) == (0, True)
    assert "AC1: already green" in done.stderr
    assert not ran(work), "it may not be harmless"


@pytest.mark.parametrize("change", ["edited", "revoked"])
def test_trust_in_the_file_ends(work: GitRepo, change: str) -> None:
    trust_defaults(work)
    if change == "edited":
        work.write(DEFAULTS, TEXT.replace("&& true", "&& false"))
    else:
        assert flow(work, "trust", "revoke", "--defaults").status == 0
    assert flow(work, "trust", "check", "--defaults").status == 4
    assert flow(work, *GOAL, *OWN).status == 0
    assert not is_trusted(work)


def test_a_comment_is_no_change_of_the_file(work: GitRepo) -> None:
    trust_defaults(work)
    work.write(DEFAULTS, "# ours\n" + TEXT)
    assert flow(work, "trust", "check", "--defaults").status == 0


def test_what_changed_is_shown_before_it_is_trusted_again(work: GitRepo) -> None:
    trust_defaults(work)
    work.write(DEFAULTS, TEXT.replace("&& true", "&& false"))
    done = flow(work, "trust", "record", "--defaults", "--yes")
    assert "differs from what you trusted last" in done.stderr
    assert "touch ../ran && false" in done.stderr
    assert "*.pem" not in done.stderr


@pytest.mark.parametrize("first", [True, False])
def test_a_draft_is_no_way_around_it(work: GitRepo, first: bool) -> None:
    assert flow(work, *GOAL, *OWN, "--draft").status == 0
    if first:
        trust_defaults(work)
    done = flow(work, "goal", "activate", "greet")
    assert done.status == 0, done
    assert is_trusted(work) is first
    assert ("flow trust record --defaults" in done.stderr) is not first


def test_a_draft_that_holds_none_of_it_is_trusted_as_ever(repo: GitRepo) -> None:
    start(repo)
    assert flow(repo, *GOAL, *OWN, "--draft").status == 0
    repo.write(DEFAULTS, TEXT)
    assert flow(repo, "goal", "activate", "greet").status == 0
    assert is_trusted(repo)


def test_no_agents_shell_trusts_the_file(work: GitRepo) -> None:
    done = flow(work, "trust", "record", "--defaults", "--yes", "--json", env=AGENT)
    assert (done.status, done.json["error"]["code"]) == (4, "agent_names_trust")
    assert "flow trust record --defaults" in done.json["error"]["remedy"]
    assert flow(work, "trust", "check", "--defaults").status == 4
    assert flow(work, *GOAL, *OWN, env=AGENT).status == 0
    assert not is_trusted(work)


def test_nobody_can_be_asked_off_a_terminal(work: GitRepo) -> None:
    done = flow(work, "trust", "record", "--defaults")
    assert done.status == 4
    assert "flow trust record --defaults --yes" in done.stderr


@pytest.mark.parametrize("answer", ["y", "", "n"])
def test_at_a_terminal_it_is_shown_and_asked_for(work: GitRepo, answer: str) -> None:
    child = at_terminal(work, (*GOAL, *OWN), NO_COLOR="1")
    child.expect(r"\[y/N\](\x1b\[0m)? ")
    shown = child.before or ""
    assert "touch ../ran && true" in shown
    assert "*.pem" in shown
    child.sendline(answer)
    status, end = ended(child)
    assert status == (0 if answer == "y" else 4), end
    assert (work.path / ".flow/goals/greet.goal.yaml").exists() == (answer == "y")
    assert flow(work, "trust", "check", "--defaults").status == status
    if answer == "y":
        assert is_trusted(work)
        again = at_terminal(work, (*GOAL[:2], "other", *GOAL[3:], *OWN), NO_COLOR="1")
        assert "y/N" not in ended(again)[1]


def test_an_agent_at_a_terminal_is_not_asked(work: GitRepo) -> None:
    child = at_terminal(work, (*GOAL, *OWN), NO_COLOR="1", **AGENT)
    status, end = ended(child)
    assert (status, "y/N" in end) == (0, False), end
    assert not is_trusted(work)


# --- the file itself ------------------------------------------------------------------------------

BROKEN = {
    "an unknown key": ("criterias: []\n", "criterias: is not a known key (the keys are criteria"),
    "no list": ("criteria: {}\n", "criteria: "),
    "no criterion": ("criteria: [x]\n", "criteria[0]: "),
    "no id": ("criteria: [{text: t}]\n", "criteria[0].id: "),
    "no text": ("criteria: [{id: AC1}]\n", "criteria[0].text: "),
    "twice": (
        "criteria: [{id: AC1, text: t}, {id: AC1, text: u}]\n", "'AC1' is criteria[0]'s id too",
    ),
    "a blank command": (
        "criteria: [{id: AC1, text: t, verification_command: ' '}]\n",
        "criteria[0].verification_command: ",
    ),
    "a result": (
        "criteria: [{id: AC1, text: t, status: pass}]\n",
        "criteria[0].status: is a result, which only an evaluation writes (take it out)",
    ),
    "a pattern": ("denied_paths: ['[']\n", "denied_paths[0]: "),
    "a path of another type": ("protected_paths: x\n", "protected_paths: "),
    "a list": ("- a\n", DEFAULTS),
    "two keys": ("criteria: []\ncriteria: []\n", "criteria"),
    "an alias": ("criteria: &a []\ndenied_paths: *a\n", DEFAULTS),
    "nothing": ("", DEFAULTS),
    "large": ("# " + "x" * (1 << 20) + "\n", DEFAULTS),
}  # fmt: skip


@pytest.mark.parametrize("words", [(*GOAL, *OWN), ("trust", "record", "--defaults", "--yes")])
def test_a_broken_file_is_named_with_its_faults(work: GitRepo, words: tuple[str, ...]) -> None:
    for text, told in BROKEN.values():
        work.write(DEFAULTS, text)
        done = flow(work, *words)
        assert done.status == 2, done
        assert DEFAULTS in done.stderr
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert not (work.path / ".flow/goals").exists()


@pytest.mark.parametrize("words", [(*GOAL, *OWN), ("trust", "record", "--defaults", "--yes")])
def test_a_command_that_bash_refuses_is_named_where_it_stands(
    work: GitRepo, words: tuple[str, ...]
) -> None:
    work.write(DEFAULTS, "criteria: [{id: X1, text: t, verification_command: if then}]\n")
    done = flow(work, *words, "--json")
    error = done.json["error"]
    assert (done.status, error["file"]) == (2, DEFAULTS)
    assert error["key"] == "criteria[0].verification_command"


@pytest.mark.parametrize("kind", ["symlink", "folder", "FIFO"])
def test_only_a_regular_file_is_read(work: GitRepo, kind: str) -> None:
    path = work.path / DEFAULTS
    path.unlink()
    if kind == "symlink":
        work.write("there.yaml", TEXT)
        path.symlink_to(work.path / "there.yaml")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    done = flow(work, *GOAL, *OWN, "--json")
    assert done.status == 2
    assert done.json["error"]["file"] == DEFAULTS
    assert not (work.path / ".flow/goals").exists()


def test_without_the_file_there_is_nothing_to_trust(repo: GitRepo) -> None:
    start(repo)
    done = flow(repo, "trust", "record", "--defaults", "--yes", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "not_found")


@pytest.mark.parametrize("verb", ["record", "check", "revoke"])
def test_a_goal_or_the_defaults(work: GitRepo, verb: str) -> None:
    done = flow(work, "trust", verb, "greet", "--defaults")
    assert done.status == 2
    assert "not both" in done.stderr


def test_the_list_names_it(work: GitRepo) -> None:
    trust_defaults(work)
    entries = json.loads(flow(work, "trust", "list", "--json").stdout)["trusted"]
    assert [entry["goal_id"] for entry in entries] == [DEFAULTS]
    assert flow(work, "doctor").status in (0, 1)


def test_a_goal_that_has_begun_does_not_follow_the_file(work: GitRepo) -> None:
    trust_defaults(work)
    assert flow(work, *GOAL, *OWN).status == 0
    work.write(DEFAULTS, "criteria: []\n")
    assert is_trusted(work)
    edit(work, ("outcome: o", "outcome: p"))
    assert ids(work) == ["AC1", "AC2", "DOC1"]
