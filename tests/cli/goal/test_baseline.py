"""Red first through ``flow`` itself: what the commands came to before the change."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from flow import hook
from flow.adapters.contracts import formats
from tests.support import ROOT, GitRepo
from tests.support.effort import sizes
from tests.support.scene import (
    create,
    edit,
    flow,
    goal_file,
    meet,
    run_dir,
    start,
    status,
    step,
)
from tests.support.stops import events, settings, stop, verdict

BASELINE = ("goal", "baseline", "greet")
EVALUATE = ("goal", "evaluate", "greet", "--json")
PY = sys.executable
GREEN, RED, SAYS_NOTHING = "test -e src/greet.txt", "grep -q please src/greet.txt", "exit 127"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file outside the checkout that commands write to."""
    return tmp_path / "log"


def counted(log: Path, command: str) -> str:
    """``command``, which says in ``log`` that it ran, and where."""
    return f"pwd >> {log}; {command}"


def runs(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def goal(repo: GitRepo, *commands: str, tdd: bool = False, more: tuple[str, ...] = ()) -> GitRepo:
    """An active goal with a criterion for each command; the change is made."""
    if not (repo.path / "src").exists():
        start(repo)
    first, *rest = [f"AC{n}: x :: {command}" for n, command in enumerate(commands, 1)]
    words = [part for word in rest for part in ("--criterion", word)]
    create(repo, "greet", *words, *more, criterion=first)
    if tdd:
        edit(repo, ("constraints:\n", "constraints:\n  tdd_required: true\n"))
    meet(repo)
    return repo


def baseline(repo: GitRepo, *words: str, **more: Any) -> dict[str, dict[str, Any]]:
    """What ``flow goal baseline`` says of each criterion."""
    done = flow(repo, *BASELINE, *words, "--json", **more)
    assert done.status == 0, done
    return {row["criterion_id"]: row for row in done.json["criteria"]}


def measured(repo: GitRepo) -> None:
    """The same, where it only leads to what a test looks at."""
    assert step(repo, *BASELINE).status == 0


def sidecar(repo: GitRepo, name: str = "evidence-ac1-base") -> dict[str, Any]:
    path = run_dir(repo) / "evidence" / f"{name}.evidence.yaml"
    document = formats.parse_yaml(path.read_bytes(), file=name)
    formats.check("evidence", document, file=name)
    schema = json.loads(Path(ROOT, "schemas/v1/run.schema.json").read_text("utf-8"))
    schema["$ref"] = f"#/$defs/{schema.pop('anyOf')[-1]['$ref'].rpartition('/')[2]}"
    for line in (run_dir(repo) / "ledger.jsonl").read_text("ascii").splitlines():
        jsonschema.validate(json.loads(line), schema)
    return document


def output(repo: GitRepo, name: str = "evidence-ac1-base") -> str:
    return (run_dir(repo) / "evidence" / f"{name}.txt").read_text()


def work_folder(home: Path) -> list[str]:
    """What is left of base checkouts."""
    folder = home / "flow-state" / "work"
    return sorted(name for name in os.listdir(folder) if name != "lock") if folder.exists() else []


def untouched(repo: GitRepo) -> tuple[str, ...]:
    """All of git's state that a base run must leave alone."""
    git = repo.path / ".git"
    return (
        repo.git("worktree", "list"),
        repo.git("for-each-ref"),
        repo.git("stash", "list"),
        (git / "index").read_bytes().hex(),
        (git / "HEAD").read_text(),
        (git / "config").read_text(),
        repr(sorted(os.listdir(git))),
        "\n".join(repo.status()),
    )


# --- the attack it is for ---------------------------------------------------------------------


def test_a_test_that_passed_before_proves_nothing(repo: GitRepo) -> None:
    """An agent's check that cannot fail: it was achieved without a word, and is not any more."""
    start(repo)
    repo.write("src/test_greet.sh", "true\n")
    repo.commit("a test of nothing")
    goal(repo, "sh src/test_greet.sh")
    before = flow(repo, *EVALUATE)
    assert (before.json["verdict"], before.json["warnings"]) == ("achieved", [])
    flow(repo, *BASELINE)
    done = flow(repo, *EVALUATE)
    (row,) = done.json["criterion_results"]
    assert row["base"] == {"outcome": "passed", "result": "exit 0", "non_discriminating": True}
    text = (
        f"non_discriminating: its command passes on the base commit {repo.head[:12]} already, "
        "so a pass says nothing about the change."
    )
    assert text in row["limitations"]
    assert done.json["warnings"] == [f"AC1: {text}"]
    assert text in sidecar(repo, "evidence-ac1-eval-2")["evidence"]["limitations"]
    assert done.json["verdict"] == "achieved"  # it is a limitation, no decision


PYTEST = f"{sys.executable} -B -m pytest -q -p no:cacheprovider"
OUTCOMES = {
    "green": (GREEN, "passed", True),
    "red": (RED, "failed", False),
    "cannot run": ("exit 127", "inconclusive", None),
    "not there yet": ("./src/new-check", "inconclusive", None),
    "too long": ("sleep 60", "inconclusive", None),
    "killed": ("kill -KILL $$", "inconclusive", None),
    "crashed": ("kill -SEGV $$", "failed", False),
    "masked": (f"{RED} || true", "inconclusive", None),
    "vacuous": (f"{PY} -B -m unittest src/nothing.py || [ $? = 5 ]", "inconclusive", None),
    "pytest without its file": (f"{PYTEST} src/test_new.py", "inconclusive", None),
    "unittest without its module": (f"{PY} -B -m unittest src.test_no", "inconclusive", None),
    "no program in a pipe that hides it": ("nosuch_prog 2>&1 | grep -q x", "inconclusive", None),
    "no file in a pipe that hides it": ("./src/no 2>&1 | grep -q x", "inconclusive", None),
    "a target that is not there": ("make -s no-such-target", "inconclusive", None),
}  # fmt: skip
"""What runners print where there is no such test: ``tests/core/attribution/test_absent.py``."""


@pytest.mark.parametrize("cases", [["too long"], [*OUTCOMES]], ids=["too long", "each"])
def test_what_a_run_on_the_base_says(repo: GitRepo, home: Path, cases: list[str]) -> None:
    """The criteria of one goal: each is run on the base for itself."""
    long = cases == ["too long"]
    cases = [name for name in cases if long or name != "too long"]
    start(repo)
    repo.write("src/nothing.py", "import unittest\n")
    repo.write("Makefile", "all:\n\ttrue\n")
    repo.commit("more")
    goal(repo, *(OUTCOMES[name][0] for name in cases))
    rows = baseline(repo, "--timeout", "1" if long else "60")
    shown = flow(repo, "goal", "status", "greet", "--json").json
    found = {}
    for number, name in enumerate(cases, 1):
        row, of_status = rows[f"AC{number}"], shown["criteria"][number - 1]
        body = sidecar(repo, f"evidence-ac{number}-base")["evidence"]
        assert row["evidence_ref"].endswith(f"/evidence-ac{number}-base.evidence.yaml")
        assert body["proves"] == []
        bases = (row, body["base"], of_status["base"])
        outcomes = {row["outcome"], body["outcome"]}
        found[name] = (outcomes, {base.get("non_discriminating") for base in bases})
    assert found == {name: ({OUTCOMES[name][1]}, {OUTCOMES[name][2]}) for name in cases}
    assert len(shown["red_first"]) == sum(OUTCOMES[name][2] is not False for name in cases)
    assert work_folder(home) == []


HERE = {"pass": 0, "fail": 1, "nothing": 127}


@pytest.mark.parametrize("now", HERE)
def test_every_cell_of_base_and_now(repo: GitRepo, now: str) -> None:
    """What the base says never changes the verdict."""
    at_base = {0: True, 1: False, 127: None}
    start(repo)
    scripts = [f"src/check-{code}.sh" for code in at_base]
    for script, code in zip(scripts, at_base, strict=True):
        repo.write(script, f"exit {code}\n")
    repo.commit("the checks as they were")
    goal(repo, *(f"bash {script}" for script in scripts))
    for script in scripts:
        repo.write(script, f"exit {HERE[now]}\n")
    plain = flow(repo, *EVALUATE)
    flow(repo, *BASELINE)
    done = flow(repo, *EVALUATE)
    assert done.status == plain.status == (0 if now == "pass" else 1)
    for key in ("verdict", "reason", "confidence", "blocker_type", "next_step_hint"):
        assert done.json[key] == plain.json[key]
    rows = done.json["criterion_results"]
    assert [row["base"].get("non_discriminating") for row in rows] == [*at_base.values()]
    told = [any(t.startswith("non_discriminating: ") for t in row["limitations"]) for row in rows]
    assert told == [True, False, False]
    warned = [text for text in done.json["warnings"] if "base commit" in text]
    assert [text[:3] for text in warned] == ["AC1", "AC3"]
    assert ["non_discriminating" in text for text in warned] == [True, False]


def test_it_looks_like_this(repo: GitRepo) -> None:
    goal(repo, GREEN, RED, SAYS_NOTHING)
    done = flow(repo, *BASELINE)
    assert done.status == 0
    for line in (
        "◐ AC1  exit 0         green before the change: it cannot tell it",
        "✓ AC2  exit 1         red first: it can tell the change",
        "○ AC3  could not run  shows nothing",
    ):
        assert line in done.stdout.splitlines()
    assert done.stdout.startswith("◐ greet  1 of 3 can tell the change  base ")
    assert "flow: warning: AC1: non_discriminating: " in done.stderr
    shown = flow(repo, "goal", "status", "greet").stdout
    assert re.search(
        r"^red first  AC1: non_discriminating: .*\nred first  AC3: on the base", shown, re.M
    )
    evaluated = flow(repo, "goal", "evaluate", "greet").stdout
    assert re.search(r"^warning AC1: non_discriminating: ", evaluated, re.M)
    again = flow(repo, *BASELINE).stdout
    assert re.search(r"AC1 .*green before the change: .*  as at \d{4}-", again)


def test_a_goal_without_commands(repo: GitRepo) -> None:
    create(start(repo), criterion="AC1: x :: true")
    text = re.sub(r"\n +verification_command: .*", "", goal_file(repo))
    repo.write(".flow/goals/greet.goal.yaml", text)
    flow(repo, "trust", "record", "greet", "--yes")
    done = flow(repo, *BASELINE)
    assert done.status == 0
    assert "no criterion has a command" in done.stdout
    assert baseline(repo) == {}


# --- where it runs --------------------------------------------------------------------------


def test_it_is_a_clean_checkout_of_the_base(repo: GitRepo, home: Path) -> None:
    start(repo)
    repo.write("src/deep/a b\nc.txt", "x\n")
    repo.write("run", "#!/bin/sh\n", mode=0o755)
    os.symlink("greet.txt", repo.path / "src/link")
    base = repo.commit("files")
    tell = (
        "git rev-parse HEAD && git status --porcelain --ignored && git log --format=%s"
        " && git branch --show-current && git diff --quiet HEAD && test -x run && readlink src/link"
        " && test -e src/deep/a\\ b*c.txt && cat src/greet.txt && test ! -e untracked"
    )
    goal(repo, tell)
    repo.write("untracked", "x")
    repo.commit("work in progress")
    row = baseline(repo)["AC1"]
    assert row["outcome"] == "passed", output(repo)
    assert output(repo) == f"{base}\nfiles\nstart\ngreet.txt\ngive me that\n"
    subject = sidecar(repo)["evidence"]["subject"]
    assert subject["head"] == base
    assert "tree" not in subject


def test_the_checkout_is_left_as_it_is(repo: GitRepo, home: Path) -> None:
    """Whatever a command does to git where it runs, the user's repository does not notice."""
    busy = (
        "echo more >> src/greet.txt; touch new; git add -A; git commit -qm x; git branch other;"
        " git tag t; git stash -u; git config user.name Somebody; git worktree add -q ../there"
    )
    goal(repo, busy)
    repo.git("add", "src/greet.txt")
    repo.write("src/greet.txt", "please, staged and more\n")
    before = untouched(repo)
    baseline(repo)
    assert untouched(repo) == before
    assert repo.read("src/greet.txt") == "please, staged and more\n"
    assert work_folder(home) == []


def test_each_command_has_a_checkout_of_its_own(repo: GitRepo, log: Path) -> None:
    one = counted(log, "test ! -e made && touch made")
    goal(repo, one, one, one)
    found = baseline(repo, "--jobs", "3")
    assert {row["outcome"] for row in found.values()} == {"passed"}
    assert len(set(runs(log))) == 3
    assert not any(os.path.exists(folder) for folder in runs(log))


def test_jobs_run_at_once(repo: GitRepo, tmp_path: Path) -> None:
    """Each waits for the other: alone neither would end."""
    meets = "touch {0}/{1}; until test -e {0}/{2}; do sleep 0.02; done"
    goal(repo, meets.format(tmp_path, "a", "b"), meets.format(tmp_path, "b", "a"))
    found = baseline(repo, "--jobs", "2", "--timeout", "100")
    assert {row["outcome"] for row in found.values()} == {"passed"}


def test_only_some(repo: GitRepo) -> None:
    goal(repo, GREEN, RED)
    assert list(baseline(repo, "--only", "AC2")) == ["AC2"]
    done = flow(repo, *BASELINE, "--only", "AC9", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--only")


def test_a_folder_of_its_own_for_a_command(repo: GitRepo) -> None:
    """One that was not there says nothing."""
    goal(repo, "pwd && test -e greet.txt", "true")
    folders = {"AC1": "src", "AC2": "later"}
    edit(repo, *((f"id: {ac}\n", f"id: {ac}\n      cwd: {cwd}\n") for ac, cwd in folders.items()))
    repo.write("later/x", "")
    rows = baseline(repo)
    assert rows["AC1"]["outcome"] == "passed"
    assert output(repo).endswith("/src\n")
    assert (rows["AC2"]["outcome"], rows["AC2"]["result"]) == ("inconclusive", "could not run")
    assert "later" in rows["AC2"]["reason"]


def test_a_branch_without_commits(repo: GitRepo) -> None:
    """The base is the empty tree: everything is red there but what looks at nothing."""
    create(repo, criterion=f"AC1: x :: {GREEN}")
    edit(repo, ("constraints:\n", "constraints:\n  tdd_required: true\n"))
    repo.write("src/greet.txt", "please\n")
    row = baseline(repo)["AC1"]
    assert row["non_discriminating"] is False
    limitations = sidecar(repo)["evidence"]["limitations"]
    assert "The base is empty: there was no commit yet when the goal began." in limitations
    done = flow(repo, *EVALUATE)
    assert (done.status, done.json["warnings"]) == (0, [])


def test_without_git_there_is_no_base(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / ".flow").mkdir(parents=True)
    repo = GitRepo(folder)
    create(repo, criterion="AC1: x :: true")
    done = flow(repo, *BASELINE, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "no_base")
    edit(repo, ("constraints:\n", "constraints:\n  tdd_required: true\n"))
    evaluated = flow(repo, *EVALUATE)
    assert "red first: the goal has no pinned base commit" in evaluated.json["warnings"]


def test_a_base_commit_that_is_gone(repo: GitRepo, home: Path) -> None:
    goal(repo, RED, tdd=True)
    gone = "0123456789" * 4
    text = goal_file(repo)
    repo.write(".flow/goals/greet.goal.yaml", text.replace(repo.head, gone))
    flow(repo, "trust", "record", "greet", "--yes")
    done = flow(repo, *BASELINE, "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "no_base")
    assert gone[:12] in done.json["error"]["message"]
    evaluated = flow(repo, *EVALUATE)  # its boundary is not known either
    assert evaluated.status == 1
    assert any(text.startswith("red first: the base commit") for text in evaluated.json["warnings"])
    assert work_folder(home) == []


def test_a_shallow_clone(repo: GitRepo, tmp_path: Path) -> None:
    start(repo)
    old = repo.head
    repo.commit("second", more="x")
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{repo}", str(tmp_path / "clone")],
        check=True,
    )
    clone = GitRepo(tmp_path / "clone")
    goal(clone, "git log --format=%s")
    assert baseline(clone)["AC1"]["outcome"] == "passed"
    assert output(clone) == "second\n"
    text = goal_file(clone)
    clone.write(".flow/goals/greet.goal.yaml", text.replace(clone.head, old))
    flow(clone, "trust", "record", "greet", "--yes")
    done = flow(clone, *BASELINE, "--json")
    assert done.status == 5
    assert "shallow" in done.json["error"]["message"]
    assert done.json["error"]["remedy"] == "git fetch --unshallow"


def test_a_linked_worktree(repo: GitRepo, tmp_path: Path) -> None:
    start(repo)
    repo.git("worktree", "add", "-q", "-b", "work", str(tmp_path / "linked"))
    linked = GitRepo(tmp_path / "linked")
    goal(linked, f"{RED} || git rev-parse --show-toplevel && false")
    before = repo.git("worktree", "list")
    assert baseline(linked)["AC1"]["non_discriminating"] is False
    assert repo.git("worktree", "list") == before


def test_a_sha256_repository(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "r", "--object-format=sha256")
    goal(repo, "git rev-parse HEAD && git status --porcelain")
    assert baseline(repo)["AC1"]["outcome"] == "passed"
    assert len(output(repo).strip()) == 64


def test_submodules_come_from_the_checkout(repo: GitRepo, tmp_path: Path) -> None:
    other = GitRepo.init(tmp_path / "other")
    first = other.commit("first", part="one\n")
    start(repo)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q")
    repo.git(*add, str(other), "sub")
    repo.git(*add, str(other), "absent")
    repo.commit("with submodules")
    goal(repo, "cat sub/part; git -C sub rev-parse HEAD; ls absent; git status --porcelain")
    moved = GitRepo(repo.path / "sub")
    moved.commit("second", part="two\n")
    repo.git("submodule", "deinit", "-q", "-f", "absent")
    baseline(repo)
    assert output(repo) == f"one\n{first}\n"
    said = "Submodules that are not checked out here were empty: absent."
    assert said in sidecar(repo)["evidence"]["limitations"]


def test_a_large_tree(repo: GitRepo) -> None:
    start(repo)
    count = sizes(short=600, long=3000)
    for number in range(count):
        repo.write(f"many/{number % 50}/{number}.txt", f"{number}\n")
    repo.commit("many")
    goal(repo, f"test $(git ls-files many | wc -l) = {count} && git diff --quiet")
    assert baseline(repo)["AC1"]["outcome"] == "passed"


# --- hostile repositories -------------------------------------------------------------------


def test_no_program_of_the_repository_is_started(repo: GitRepo, tmp_path: Path) -> None:
    start(repo)
    trap = tmp_path / "trap"
    script = repo.write("evil", f"#!/bin/sh\necho $0 $* >> {trap}\ncat\n", mode=0o755)
    repo.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
    repo.commit("a filter is named")
    goal(repo, "git status --porcelain && git diff HEAD && git add -A && git checkout -q -f HEAD")
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "pre-commit", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {trap}\n")
        (hooks / name).chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(script), "core.hooksPath": str(hooks), "core.sshCommand": str(script),
        "filter.evil.smudge": str(script), "filter.evil.clean": str(script),
        "filter.evil.process": str(script), "filter.evil.required": "true",
        "diff.evil.textconv": str(script), "diff.external": str(script),
        "core.alternateRefsCommand": str(script), "core.pager": str(script),
    }.items():  # fmt: skip
        repo.git("config", key, value)
    row = baseline(repo)["AC1"]
    assert row["outcome"] == "passed", output(repo)
    assert not trap.exists(), trap.read_text()
    assert any("Flow runs no filter" in t for t in sidecar(repo)["evidence"]["limitations"])


def test_bash_of_the_checkout_is_not_taken(repo: GitRepo, tmp_path: Path) -> None:
    start(repo)
    trap = tmp_path / "trap"
    goal(repo, RED)
    repo.write("bin/bash", f"#!/bin/sh\ntouch {trap}\n", mode=0o755)
    row = baseline(repo, env={"PATH": f"{repo.path}/bin:{os.environ['PATH']}"})["AC1"]
    assert row["outcome"] == "failed"
    assert not trap.exists()


def test_symlinks_out_of_the_tree_stay_links(repo: GitRepo, tmp_path: Path, home: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept\n")
    start(repo)
    os.symlink(outside, repo.path / "out")
    repo.commit("a link")
    goal(repo, "test -L out && chmod 000 src && mkdir -p closed/in && chmod 000 closed")
    assert baseline(repo)["AC1"]["outcome"] == "passed"
    assert (outside / "kept").read_text() == "kept\n"
    assert work_folder(home) == []


def test_a_path_back_into_the_checkout_is_said(repo: GitRepo) -> None:
    start(repo)
    goal(repo, f"grep -q please {repo.path}/src/greet.txt")
    row = baseline(repo)["AC1"]
    assert row["non_discriminating"] is True  # it has looked at the change
    said = sidecar(repo)["evidence"]["limitations"]
    assert any(
        text.startswith("the command itself names the checkout by its path") for text in said
    )


@pytest.mark.parametrize(("value", "named"), [("{0}/src", True), ("{0}/new", False), ("/x", False)])
def test_so_is_a_variable_that_leads_there(repo: GitRepo, value: str, named: bool) -> None:
    goal(repo, RED)
    repo.write("new/x", "")
    env = {"PYTHONPATH": f"/y:{value.format(repo.path)}"}
    baseline(repo, env=env)
    said = sidecar(repo)["evidence"]["limitations"]
    assert any(text.startswith("PYTHONPATH names the checkout") for text in said) is named


def test_secrets_are_masked_there_too(repo: GitRepo) -> None:
    goal(repo, "echo $DEPLOY_TOKEN")
    baseline(repo, env={"DEPLOY_TOKEN": "s3cr3t-Val-4711-abcdef"})
    assert "4711" not in output(repo)
    assert sidecar(repo)["evidence"]["masked"]


def test_the_rules_about_runners_are_those_of_the_base(repo: GitRepo) -> None:
    start(repo)
    rule = "runners:\n  - name: mine\n    command: mine\n    vacuous: ['ran 0']\n"
    repo.write(".flow/runners.yaml", "runners: [broken\n")
    repo.commit("broken rules")
    goal(repo, RED)
    repo.write(".flow/runners.yaml", rule)
    assert baseline(repo)["AC1"]["outcome"] == "failed"
    said = sidecar(repo)["evidence"]["limitations"]
    assert any("runners.yaml of the base commit is broken" in text for text in said)


# --- it decides nothing ---------------------------------------------------------------------


def test_its_sidecar_never_counts(repo: GitRepo, log: Path) -> None:
    """A green base run is made the goal's evidence by hand; neither hook nor proposal takes it."""
    from flow.wiring.context import Context

    goal(repo, GREEN, RED)
    measured(repo)
    records = Context(os.fspath(repo.path)).records
    folder = f".flow/runs/{run_dir(repo).name}/evidence"
    for name in ("evidence-ac1-base", "evidence-ac2-base"):
        assert records.evidence_named(run_dir(repo).name, name) is not None
        assert records.counted(f"{folder}/{name}.evidence.yaml") is None
    document = sidecar(repo)
    assert document["metadata"]["created_by"] == "flow-baseline"
    assert document["evidence"]["proves"] == []
    (event,) = [e for e in events(repo, "evidence") if e["evidence_id"] == "evidence-ac1-base"]
    assert (event["by"], event["proves"]) == ("baseline", [])


def test_nobody_else_may_call_himself_so(repo: GitRepo, tmp_path: Path) -> None:
    goal(repo, GREEN)
    measured(repo)
    document = sidecar(repo)
    document["metadata"]["id"] = "forged"
    document["evidence"] = {"type": "git_diff"}
    file = tmp_path / "forged.yaml"
    file.write_text(json.dumps(document))
    done = flow(
        repo,
        "evidence",
        "record",
        "--run-id",
        run_dir(repo).name,
        "--evidence-file",
        file,
        "--json",
    )
    assert (done.status, done.json["error"]["key"]) == (2, "metadata.created_by")


def test_goal_and_verdict_stay_as_they_are(repo: GitRepo) -> None:
    goal(repo, GREEN, RED)
    step(repo, *EVALUATE)
    before = goal_file(repo), (run_dir(repo) / "last-verdict.json").read_bytes()
    proposal = (run_dir(repo) / "proposal.json").read_bytes()
    baseline(repo)
    assert (goal_file(repo), (run_dir(repo) / "last-verdict.json").read_bytes()) == before
    assert (run_dir(repo) / "proposal.json").read_bytes() == proposal
    assert [e["type"] for e in events(repo, "evaluated")] == ["evaluated"]
    done = flow(repo, "goal", "confirm", "greet", "--proposal", json.loads(proposal)["proposal_id"])
    assert done.status == 0, done.stderr


def test_what_is_on_record_of_it(repo: GitRepo) -> None:
    goal(repo, GREEN, RED)
    base = repo.head
    measured(repo)
    (event,) = events(repo, "baseline")
    assert {k: event[k] for k in ("base_commit", "ran", "cached", "non_discriminating")} == {
        "base_commit": base, "ran": ["AC1", "AC2"], "cached": [], "non_discriminating": ["AC1"],
    }  # fmt: skip
    assert "ran on the base commit" in flow(repo, "goal", "history", "greet").stdout


def test_its_record_cannot_be_cut_unseen(repo: GitRepo) -> None:
    """The head that the state folder keeps covers the event of the base run, which comes last."""
    goal(repo, GREEN)
    measured(repo)
    assert flow(repo, "evidence", "verify", "--json").json["runs"][0]["notes"] == []
    told = run_dir(repo) / "events.jsonl"
    told.write_bytes(b"".join(told.read_bytes().splitlines(keepends=True)[:-1]))
    done = flow(repo, "evidence", "verify")
    assert (done.status, "events.jsonl" in done.stdout) == (1, True), done


REFUSED = {
    "draft": (lambda repo: create(start(repo), "greet", "--draft"), 2, "no_base"),
    "closed": (
        lambda repo: flow(create(start(repo)), "goal", "clear", "greet", "--yes"), 2, "wrong_state",
    ),
    "not trusted": (
        lambda repo: flow(create(start(repo)), "trust", "revoke", "greet"), 4, "not_trusted",
    ),
    "unknown": (start, 2, "not_found"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED.values(), ids=list(REFUSED))
def test_where_nothing_runs(repo: GitRepo, home: Path, case: Any) -> None:
    prepare, code, word = case
    prepare(repo)
    done = flow(repo, *BASELINE, "--json")
    assert (done.status, done.json["error"]["code"]) == (code, word), done.json
    assert done.json["error"]["remedy"]
    assert not (home / "flow-state" / "work").exists()


# --- what is remembered ---------------------------------------------------------------------


def test_it_runs_once_for_a_commit_and_a_command(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, GREEN), counted(log, RED))
    assert not any(row["cached"] for row in baseline(repo).values())
    repo.write("src/greet.txt", "please, changed\n")
    repo.commit("a change")
    again = baseline(repo)
    assert all(row["cached"] for row in again.values())
    assert len(runs(log)) == 2
    assert len(list((run_dir(repo) / "evidence").glob("*-base*.yaml"))) == 2
    assert not any(row["cached"] for row in baseline(repo, "--again").values())
    assert len(runs(log)) == 4


def test_what_says_nothing_or_rests_on_more_than_files_is_tried_again(
    repo: GitRepo, log: Path
) -> None:
    goal(repo, counted(log, RED), counted(log, "exit 127"))
    edit(repo, ("status: pending\n", "status: pending\n      hermetic: false\n"))
    for number in (1, 2):
        assert [row["cached"] for row in baseline(repo).values()] == [False, False]
        assert len(runs(log)) == 2 * number


OTHERS = [
    {"PATH": os.environ["PATH"] + ":/nowhere/else"},
    {"VIRTUAL_ENV": "/somewhere/venv"},
    {"LANG": "xx_XX.UTF-8"},
]


def test_other_conditions_are_another_matter(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, RED))
    baseline(repo)
    for number, env in enumerate(OTHERS, 2):
        assert baseline(repo, env=env)["AC1"]["cached"] is False
        assert len(runs(log)) == number


def test_an_amended_command_has_no_baseline(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, GREEN))
    measured(repo)
    edit(repo, ("test -e src/greet.txt", "grep -q please src/greet.txt"))
    shown = flow(repo, "goal", "status", "greet", "--json").json
    assert "red_first" not in shown
    assert "base" not in shown["criteria"][0]
    done = flow(repo, *EVALUATE)
    assert "base" not in done.json["criterion_results"][0]
    assert not done.json["warnings"]
    assert baseline(repo)["AC1"]["non_discriminating"] is False


def test_a_moved_base_has_none_either(repo: GitRepo) -> None:
    start(repo)
    repo.git("switch", "-q", "-c", "topic")
    goal(repo, GREEN)
    measured(repo)
    repo.git("switch", "-q", "main")
    other = repo.commit("the base moves on")
    repo.git("switch", "-q", "topic")
    repo.git("merge", "-q", "main")
    assert flow(repo, "goal", "rebase", "greet", "--yes").status == 0
    assert other in goal_file(repo)
    assert "red_first" not in flow(repo, "goal", "status", "greet", "--json").json


def test_another_goal_takes_the_result_and_says_from_where(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, GREEN))
    measured(repo)
    done = flow(
        repo, "goal", "create", "second", "--outcome", "x", "--allow", "src/**",
        "--base", "HEAD", "--criterion", f"AC1: x :: {counted(log, GREEN)}",
    )  # fmt: skip
    assert done.status == 0, done.stderr
    flow(repo, "goal", "clear", "greet", "--yes")
    row = flow(repo, "goal", "baseline", "second", "--json").json["criteria"][0]
    assert (row["cached"], len(runs(log))) == (True, 1)
    path = repo.path / row["evidence_ref"]
    body = formats.parse_yaml(path.read_bytes(), file="x")["evidence"]
    assert body["base"]["cached"] == row["at"]
    assert "output_ref" not in body
    assert any(
        text.startswith("Taken from a run on the same commit at ") for text in body["limitations"]
    )


def test_a_spoilt_record_is_none(repo: GitRepo, home: Path) -> None:
    goal(repo, GREEN)
    measured(repo)
    (note,) = (home / "flow-state" / "baselines").glob("*/greet.json")
    for spoilt in ("nonsense", "{}", '{"rows": 3}', '{"rows": {"AC1": [1]}}', ""):
        note.write_text(spoilt)
        done = flow(repo, *EVALUATE)
        assert (done.status, done.json["warnings"]) == (0, [])
    assert baseline(repo)["AC1"]["cached"] is True
    assert flow(repo, *EVALUATE).json["warnings"]


def test_what_lies_in_the_checkout_cannot_say_otherwise(repo: GitRepo) -> None:
    """The sidecars of base runs are for people: the user's own folder has what counts."""
    goal(repo, GREEN)
    measured(repo)
    path = run_dir(repo) / "evidence" / "evidence-ac1-base.evidence.yaml"
    path.write_text(path.read_text().replace("outcome: passed", "outcome: failed"))
    path.unlink()
    done = flow(repo, *EVALUATE)
    assert done.json["criterion_results"][0]["base"]["non_discriminating"] is True


# --- tdd_required ---------------------------------------------------------------------------


def test_it_is_automatic_with_tdd_required(repo: GitRepo, log: Path) -> None:
    """Once: what says nothing is not run there again by itself either."""
    nothing = "grep -q please src/greet.txt || exit 127"
    goal(repo, *(counted(log, command) for command in (GREEN, RED, nothing)), tdd=True)
    done = flow(repo, *EVALUATE)
    assert done.status == 0
    bases = [row["base"].get("non_discriminating") for row in done.json["criterion_results"]]
    assert bases == [True, False, None]
    first, second = done.json["warnings"]
    assert first.startswith("AC1: non_discriminating:")
    assert "was inconclusive (a command was not found (exit 127))" in second
    limits = sidecar(repo, "evidence-ac1-eval-1")["evidence"]["limitations"]
    assert any(text.startswith("non_discriminating: ") for text in limits)
    assert len(runs(log)) == 6
    flow(repo, *EVALUATE)
    assert len(runs(log)) == 9  # the base was measured once
    assert verdict(repo)["warnings"]


def test_only_what_is_asked_for_runs_there(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, GREEN), counted(log, RED), tdd=True)
    done = flow(repo, *EVALUATE, "--only", "AC2")
    assert [("base" in row) for row in done.json["criterion_results"]] == [False, True]
    assert len(runs(log)) == 2
    assert flow(repo, *EVALUATE, "--dry-run").status == 1
    assert len(runs(log)) == 2


def test_untrusted_nothing_runs_there(repo: GitRepo, log: Path) -> None:
    goal(repo, counted(log, GREEN), tdd=True)
    flow(repo, "trust", "revoke", "greet")
    assert flow(repo, *EVALUATE).status == 4
    assert runs(log) == []


def test_a_base_run_that_changes_the_checkout_makes_the_evaluation_stale(repo: GitRepo) -> None:
    goal(repo, f"echo more >> {repo.path}/src/greet.txt", tdd=True)
    done = flow(repo, *EVALUATE)
    assert done.status == 1
    assert "changed while the commands ran" in done.json["reason"]


def test_the_judge_is_told(repo: GitRepo, tmp_path: Path, home: Path) -> None:
    seen = tmp_path / "seen"
    judge = repo.path.parent / "judge"
    judge.write_text(f"#!/bin/sh\ncat > {seen}\nexit 1\n")
    judge.chmod(0o755)
    settings(home, judge={"backend": "command", "command": [str(judge)]})
    goal(repo, GREEN, tdd=True, more=("--fuzzy", "AC2: it reads well"))
    flow(repo, *EVALUATE)
    assert "AC1 (must_pass): its command: passed, exit 0; non_discriminating: " in seen.read_text()


def test_a_judge_that_is_asked_by_itself_is_told_too(
    repo: GitRepo, tmp_path: Path, home: Path
) -> None:
    seen = tmp_path / "seen"
    judge = repo.path.parent / "judge"
    judge.write_text(f"#!/bin/sh\ncat > {seen}\nexit 1\n")
    judge.chmod(0o755)
    settings(home, judge={"backend": "command", "command": [str(judge)]})
    goal(repo, GREEN, more=("--fuzzy", "AC2: it reads well"))
    measured(repo)
    done = flow(repo, "judge", "run", "greet")
    assert "non_discriminating: " in seen.read_text(), done


def test_the_report_says_it(repo: GitRepo, tmp_path: Path) -> None:
    goal(repo, GREEN)
    measured(repo)
    done = flow(repo, "report", "greet", "--json")
    assert any("non_discriminating" in text for text in done.json["warnings"]), done


def test_the_hook_runs_it_after_what_decides(
    repo: GitRepo, log: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings(home, stopHookEnforcement="block")
    goal(repo, counted(log, GREEN), tdd=True)
    answer = stop(repo, capfd)
    assert answer["decision"] == "approve"
    assert runs(log)[0] == os.fspath(repo.path)
    assert len(runs(log)) == 2
    assert verdict(repo)["criterion_results"][0]["base"]["non_discriminating"] is True
    stop(repo, capfd)
    assert len(runs(log)) == 2


def test_the_hook_says_what_it_had_no_time_for(
    repo: GitRepo, log: Path, home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """Its time is over once the command runs there: the clock is the test's own."""
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=100)
    goal(repo, f"pwd >> {log}; grep -q please src/greet.txt || {{ sleep 600; false; }}", tdd=True)
    monkeypatch.setattr(hook, "monotonic", lambda: 0.0 if len(runs(log)) < 2 else 99.0)
    answer = stop(repo, capfd)
    assert answer["decision"] == "approve"
    told = verdict(repo)
    assert told["verdict"] == "achieved"
    said = "red first: AC1: no time was left to run its command on the base commit"
    assert said in told["warnings"]
    assert work_folder(home) == []


# --- at creation ----------------------------------------------------------------------------


def test_creating_a_goal_says_what_is_green_already(repo: GitRepo, log: Path) -> None:
    start(repo)
    words = ("goal", "create", "greet", "--outcome", "x", "--allow", "src/**", "--json")
    commands = [
        GREEN,
        RED,
        f"touch {log}",
        "test -e src/greet.txt && ! grep -q please src/greet.txt",
        "grep -q please src/greet.txt || true",
    ]
    criteria = [f"AC{n}: x :: {command}" for n, command in enumerate(commands, 1)]
    done = flow(repo, *words, *(part for text in criteria for part in ("--criterion", text)))
    assert done.status == 0
    green = [text for text in done.json["warnings"] if "already green" in text]
    assert [text[:19] for text in green] == ["AC1: already green:", "AC4: already green:"]
    assert "flow goal baseline greet" in green[0]
    assert [text[:12] for text in done.json["warnings"] if text[:3] == "AC5"] == ["AC5: masked:"]
    assert not log.exists()  # only what looks is run


def test_a_draft_runs_nothing_at_creation(repo: GitRepo) -> None:
    create(start(repo), "greet", "--draft", criterion=f"AC1: x :: {GREEN}")
    assert not (repo.path / ".flow/runs/.work").exists()


def test_a_record_that_cannot_be_kept_is_a_warning(repo: GitRepo, home: Path) -> None:
    """What the base says decides nothing, so an evaluation goes on without it."""
    goal(repo, GREEN, tdd=True)
    (home / "flow-state" / "baselines").write_text("in the way")
    done = flow(repo, *EVALUATE)
    assert done.status == 0
    assert any(text.startswith("red first: ") for text in done.json["warnings"])
    assert flow(repo, *BASELINE, "--json").status == 2
    assert work_folder(home) == []


# --- kills ----------------------------------------------------------------------------------


def killed_in_the_middle(repo: GitRepo, log: Path) -> None:
    start_words = [os.path.join(ROOT, "bin", "flow"), *BASELINE]
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    with subprocess.Popen(
        start_words, cwd=repo.path, env=env, stderr=subprocess.DEVNULL
    ) as process:
        began(process, log)
        process.send_signal(signal.SIGKILL)


def began(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until its command runs."""
    deadline = time.monotonic() + 60
    while not runs(log):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


NEXT = {
    "baseline": (*BASELINE, "--timeout", "1"),
    "evaluate": ("goal", "evaluate", "greet", "--timeout", "1"),
    "doctor": ("doctor", "--fix"),
}


@pytest.mark.parametrize("words", NEXT.values(), ids=list(NEXT))
def test_a_kill_leaves_nothing_after_the_next_command(
    repo: GitRepo, log: Path, home: Path, words: tuple[str, ...]
) -> None:
    goal(repo, counted(log, "sleep 60; true"))
    before = untouched(repo)
    killed_in_the_middle(repo, log)
    deadline = time.monotonic() + 60  # its command is ended by whoever watched it
    while work_folder(home) and time.monotonic() < deadline:
        flow(repo, *words)
    assert work_folder(home) == []
    assert untouched(repo)[:-1] == before[:-1]
    assert status(repo) == "active"


def test_an_interrupt_takes_everything_away(repo: GitRepo, log: Path, home: Path) -> None:
    goal(repo, GREEN, counted(log, "sleep 60; true"))
    words = [os.path.join(ROOT, "bin", "flow"), *BASELINE]
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    with subprocess.Popen(words, cwd=repo.path, env=env, stderr=subprocess.DEVNULL) as process:
        began(process, log)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    assert work_folder(home) == []
    shown = flow(repo, "goal", "status", "greet", "--json").json
    assert shown["criteria"][0]["base"]["non_discriminating"] is True  # what was known is kept


def test_what_is_at_work_is_left_alone(repo: GitRepo, log: Path, home: Path) -> None:
    goal(repo, counted(log, f"until test -e {log}.go; do sleep 0.02; done; test -e src"))
    words = [os.path.join(ROOT, "bin", "flow"), *BASELINE, "--json"]
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    with subprocess.Popen(
        words, cwd=repo.path, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        began(process, log)
        flow(repo, "doctor", "--fix")
        second = flow(repo, *BASELINE, "--json")
        assert (second.status, second.json["error"]["code"]) == (5, "locked")
        log.with_name("log.go").touch()
        told, _ = process.communicate(timeout=300)
    assert json.loads(told)["criteria"][0]["outcome"] == "passed"
