"""What a checkout's settings may do: tighten, and nothing after a goal began (SPEC 17.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flow.wiring.context import Context
from tests.support import scene
from tests.support import stops as hooks
from tests.support.here import forget
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

LOCAL, PROJECT = ".claude/settings.flow.local.json", ".claude/settings.flow.json"
EMPTY = "AC1: the tests pass :: echo collected 0 items; echo '== no tests ran in 0.01s =='"
CONTRACT_EDIT = "AC1: says please :: true"


def put(folder: Path, rel: str = PROJECT, **goals: Any) -> None:
    file = folder / rel
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"flow": {"goals": goals}}))


def begin(repo: GitRepo, criterion: str = scene.PASSES, *more: str) -> GitRepo:
    return scene.create(scene.start(repo), "greet", *more, criterion=criterion)


def evaluate(repo: GitRepo) -> Any:
    return flow(repo, "goal", "evaluate", "greet", "--json")


# --- denied -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["removed", "emptied", "overruled"])
def test_what_was_denied_at_activation_stays_denied(repo: GitRepo, how: str) -> None:
    scene.start(repo)
    put(repo.path, denied_paths=["src/secret/**"])
    repo.commit("settings")
    scene.create(repo)
    if how == "removed":
        (repo.path / PROJECT).unlink()
        repo.commit("without")
    elif how == "emptied":
        put(repo.path, denied_paths=[])
        repo.commit("without")
    else:
        put(repo.path, LOCAL, denied_paths=[])
    repo.write("src/secret/x", "x")
    scene.meet(repo)
    done = evaluate(repo)
    assert done.status == 3, done
    assert "src/secret/x" in done.json["reason"]
    if how != "overruled":
        assert any("stays denied" in each for each in done.json["warnings"])


@pytest.mark.parametrize("whose", ["the checkout's", "the user's"])
def test_a_misspelt_check_is_told_by_whoever_leaves_it_out(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], whose: str
) -> None:
    begin(repo, scene.PASSES, "--allow", ".claude/**")
    place = repo.path if whose == "the checkout's" else home
    put(place, denied_pathes=["src/**"])
    scene.meet(repo)
    done = evaluate(repo)
    [warning] = done.json["warnings"]
    assert f"{PROJECT}: flow.goals.denied_pathes: unknown setting, ignored" in warning
    assert (done.status, "did you mean flow.goals.denied_paths?" in warning) == (0, True)
    assert warning in hooks.stop(repo, capfd)["systemMessage"]
    put(place, judge={"backend": "claude"})
    assert evaluate(repo).json["warnings"] == [], "of no use in a checkout: config list, doctor"


def test_what_is_denied_since_counts_at_confirm_too(repo: GitRepo, home: Path) -> None:
    begin(repo)
    repo.write("src/more", "x")
    proposal = scene.propose(repo)
    put(home, denied_paths=["src/more"])
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "stale_proposal")
    assert "src/more" in done.json["error"]["message"]
    assert scene.status(repo) == "active"


# --- as it was when the goal began --------------------------------------------------------------


def test_a_file_that_a_command_leaves_behind_does_not_count(repo: GitRepo) -> None:
    leaves = (
        "mkdir -p .claude; "
        'echo \'{"flow": {"goals": {"commandTimeoutSeconds": 0.001}}}\' > ' + LOCAL
    )
    begin(repo, f"AC1: says please :: {leaves}; sleep 0.01; grep -q please src/greet.txt")
    evaluate(repo)
    scene.meet(repo)
    done = evaluate(repo)
    result = done.json["criterion_results"][0]
    assert result["outcome"] == "passed", done.json
    assert any("commandTimeoutSeconds" in each for each in done.json["warnings"])


@pytest.mark.parametrize(("where", "limit"), [("checkout", 1), ("user", 2), ("checkout", 17)])
def test_a_small_output_limit_blinds_nothing(
    repo: GitRepo, home: Path, where: str, limit: int
) -> None:
    scene.start(repo)
    put(repo.path if where == "checkout" else home, outputLimitBytes=limit)
    repo.commit("settings")
    scene.create(repo, criterion=EMPTY)
    scene.meet(repo)
    done = evaluate(repo)
    result = done.json["criterion_results"][0]
    assert (result["outcome"], done.json["verdict"] == "achieved") == ("inconclusive", False)
    work = repo.path / ".flow/runs/.work"
    assert not (work.exists() and list(work.iterdir())), "nothing is left of what was read"


def test_a_change_later_is_said_and_the_users_own_counts(repo: GitRepo, home: Path) -> None:
    begin(repo, "AC1: slow :: sleep 0.2; grep -q please src/greet.txt")
    scene.meet(repo)
    put(repo.path, LOCAL, commandTimeoutSeconds=0.01)
    done = evaluate(repo)
    assert done.json["criterion_results"][0]["outcome"] == "passed"
    assert [w for w in done.json["warnings"] if "does not count for this goal" in w]
    (repo.path / LOCAL).unlink()
    put(home, commandTimeoutSeconds=0.01)
    done = evaluate(repo)
    assert done.json["criterion_results"][0]["outcome"] == "inconclusive"


def test_a_goal_that_began_without_pins_goes_on_and_says_so_once(repo: GitRepo) -> None:
    begin(repo)
    context = Context(str(repo.path))
    run_id = scene.run_dir(repo).name
    baseline = context.pinned(run_id, context.load("greet").goal)
    assert baseline is not None
    context.ledger.write_baseline("greet", run_id, baseline._replace(settings={}))
    forget()
    put(repo.path, LOCAL, jobs=3)
    repo.git("config", "core.excludesFile", "/dev/null")
    told = [
        [w for w in evaluate(repo).json["warnings"] if "are on record here" in w] for _ in range(2)
    ]
    assert [len(each) for each in told] == [1, 0]


# --- the hook -----------------------------------------------------------------------------------


OFF: dict[str, dict[str, Any]] = {
    "off": {"stopHookEnforcement": "off"},
    "warn": {"stopHookEnforcement": "warn"},
    "not enabled": {"enabled": False},
    "both": {"enabled": False, "stopHookEnforcement": "off"},
}


@pytest.mark.parametrize(
    ("off", "rel", "mode"),
    [
        ("off", PROJECT, "block"),
        ("off", LOCAL, "evaluator-loop"),
        ("warn", LOCAL, "block"),
        ("warn", PROJECT, "evaluator-loop"),
        ("not enabled", LOCAL, "evaluator-loop"),
        ("both", PROJECT, "block"),
    ],
)
def test_a_checkout_turns_off_nothing_that_the_user_turned_on(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], off: str, rel: str, mode: str
) -> None:
    put(home, stopHookEnforcement=mode)
    begin(repo, scene.PASSES, "--allow", ".claude/**")
    put(repo.path, rel, **OFF[off])
    answer = hooks.stop(repo, capfd)
    assert answer["decision"] == "block", answer
    told = evaluate(repo).json["warnings"]
    assert any("not obeyed" in each for each in told), told


@pytest.mark.parametrize("off", OFF)
def test_what_the_checkout_turned_on_when_the_goal_began_stays_on(
    repo: GitRepo, capfd: pytest.CaptureFixture[str], off: str
) -> None:
    scene.start(repo)
    put(repo.path, stopHookEnforcement="block")
    repo.commit("settings")
    scene.create(repo, "greet", "--allow", ".claude/**")
    put(repo.path, LOCAL, **OFF[off])
    (repo.path / PROJECT).unlink()
    answer = hooks.stop(repo, capfd)
    assert answer["decision"] == "block", answer


@pytest.mark.parametrize("off", OFF)
def test_the_user_can_for_one_checkout(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], off: str
) -> None:
    begin(repo)
    (home / ".claude").mkdir(exist_ok=True)
    document = {
        "flow": {
            "goals": {"stopHookEnforcement": "block"},
            "checkouts": {str(repo.path): {"goals": OFF[off]}, "/elsewhere": {"goals": {}}},
        }
    }
    (home / PROJECT).write_text(json.dumps(document))
    answer = hooks.stop(repo, capfd)
    assert answer["decision"] == "approve", answer
    assert "unknown setting" not in json.dumps(answer)
    rows = flow(repo, "config", "list", "--show-origin", "--json").json["settings"]
    origin = next(row["origin"] for row in rows if row["key"].endswith(next(iter(OFF[off]))))
    assert origin.endswith("flow.checkouts")


def test_no_checkout_speaks_for_checkouts(repo: GitRepo, home: Path) -> None:
    scene.start(repo)
    document = {"flow": {"checkouts": {str(repo.path): {"goals": {"jobs": 7}}}}}
    (repo.path / ".claude").mkdir()
    (repo.path / PROJECT).write_text(json.dumps(document))
    listed = flow(repo, "config", "list", "--json").json
    jobs = next(row for row in listed["settings"] if row["key"] == "flow.goals.jobs")
    assert jobs["value"] == 1
    assert any("flow.checkouts: ignored" in each for each in listed["warnings"])


@pytest.mark.parametrize("file", [PROJECT, LOCAL])
def test_no_checkout_hides_what_the_user_says_of_it(repo: GitRepo, home: Path, file: str) -> None:
    document = {"flow": {"checkouts": {str(repo.path): {"goals": {"jobs": 7}}}}}
    for folder, name in ((home, PROJECT), (repo.path, file)):
        (folder / ".claude").mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(document))
    listed = flow(repo, "config", "list", "--json").json
    jobs = next(row for row in listed["settings"] if row["key"] == "flow.goals.jobs")
    assert jobs["value"] == 7
    assert len(listed["warnings"]) == 1


def test_an_entry_that_names_no_checkout_is_told(repo: GitRepo, home: Path) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    document = {"flow": {"checkouts": {"here": {"goals": {"jobs": 7}}}}}
    (home / PROJECT).write_text(json.dumps(document))
    (warning,) = flow(repo, "config", "list", "--json").json["warnings"]
    assert "flow.checkouts: here is no absolute path" in warning
