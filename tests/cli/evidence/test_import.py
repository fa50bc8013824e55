"""``flow evidence import``: kept and shown, fresh or stale by its commit, and never decisive."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import GitRepo, Ran, scene
from tests.support.goal_judge import GoalJudge, reply

pytestmark = pytest.mark.needs_tool("git", "bash")
JUNIT = '<testsuite tests="1"><testcase name="says please"/></testsuite>\n'
NO = "f" * 40


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """A goal whose work is committed."""
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    repo.commit("work")
    return repo


def take(repo: GitRepo, file: Path, *words: str, **more: Any) -> Ran:
    return scene.flow(repo, "evidence", "import", "--goal", "greet", "--json", file, *words, **more)


def taken(repo: GitRepo, file: Path, *words: str) -> dict[str, Any]:
    done = take(repo, file, *words)
    assert done.status == 0, done
    found: dict[str, Any] = done.json
    return found


def freshness(repo: GitRepo) -> list[str | None]:
    listed = scene.flow(repo, "evidence", "list", "greet", "--json")
    return [stand(row) for row in listed.json["evidence"]]


def stand(row: dict[str, Any]) -> str | None:
    if row["why_stale"] == ["unstamped"]:
        return "unstamped"
    return {True: "fresh", False: "stale", None: None}[row["fresh"]]


def reports(commit: str) -> dict[str, tuple[str, str]]:
    """For each format a report that names a commit, and the type it becomes."""
    prop = f'<properties><property name="git.commit" value="{commit}"/></properties>'
    run = {
        "tool": {"driver": {"name": "ruff"}},
        "results": [],
        "versionControlProvenance": [{"repositoryUri": "https://x", "revisionId": commit}],
    }
    tests = {
        "tool": {"name": "vitest"},
        "summary": {"tests": 1, "passed": 1, "failed": 0, "skipped": 0, "pending": 0, "other": 0},
        "tests": [{"name": "t", "status": "passed", "duration": 1}],
        "environment": {"commit": commit},
    }
    status = {"provider": "ci", "run_id": "1", "commit": commit, "conclusion": "success"}
    return {
        "junit": (JUNIT.replace("<testcase", prop + "<testcase"), "test_result"),
        "ctrf": (json.dumps({"results": tests}), "test_result"),
        "sarif": (json.dumps({"version": "2.1.0", "runs": [run]}), "lint_result"),
        "ci": (json.dumps(status), "ci_status"),
    }


@pytest.mark.parametrize("format", ["junit", "ctrf", "sarif", "ci"])
def test_each_format_becomes_evidence_of_its_commit(
    format: str, work: GitRepo, tmp_path: Path
) -> None:
    for commit, fresh in ((work.head, "fresh"), (NO, "stale")):
        text, type = reports(commit)[format]
        file = tmp_path / "report"
        file.write_text(text)
        found = taken(work, file, "--format", format, "--proves", "AC1,AC2")
        assert (found["type"], stand(found), found["commit"]) == (type, fresh, commit)
        assert (found["outcome"], found["proves"]) == ("passed", ["AC1", "AC2"])
        shown = scene.flow(work, "evidence", "show", found["id"], "--json").json
        assert (stand(shown), shown["output"]) == (fresh, text)
        assert shown["metadata"]["created_by"] == "flow-import"
        assert shown["evidence"]["limitations"]
        assert shown["evidence"]["subject"]["head"] == commit
        assert shown["evidence"]["imported"]["format"] == format
    assert sorted(map(str, freshness(work))) == ["fresh", "stale"]
    words = scene.flow(work, "evidence", "list", "greet").stdout
    assert "stale" in words


def test_fresh_is_what_the_files_are(work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    commit = work.head
    taken(work, file, "--commit", commit)
    assert freshness(work) == ["fresh"]
    work.write("src/greet.txt", "please, but not committed\n")
    assert freshness(work) == ["stale"]
    work.git("checkout", "-q", "--", "src/greet.txt")
    assert freshness(work) == ["fresh"]
    work.write("src/new.py")
    assert freshness(work) == ["stale"]
    os.unlink(work.path / "src/new.py")
    noted = scene.flow(work, "journal", "record", "--issue", "9", "--type", "note")
    assert noted.status == 0, noted.stderr
    work.commit("Flow's own files only")
    assert work.head != commit
    assert freshness(work) == ["fresh"]
    work.commit("more work", **{"src/more.txt": "x"})
    assert freshness(work) == ["stale"]
    work.git("checkout", "-q", "--detach", commit)
    assert freshness(work) == ["fresh"]


def test_reports_that_lie_in_the_checkout_do_not_make_themselves_stale(work: GitRepo) -> None:
    one, two = work.write("one.xml", JUNIT), work.write("two.xml", JUNIT.replace("please", "it"))
    taken(work, one, "--commit", "HEAD")
    taken(work, two, "--commit", "HEAD")
    assert freshness(work) == ["fresh", "fresh"]
    work.write("two.xml", JUNIT + "<!-- changed -->")  # this one was not imported
    assert freshness(work) == ["stale", "stale"]


def test_a_report_that_cannot_be_read_is_named_as_it_was_typed(work: GitRepo) -> None:
    """Of two reports with the same name in two folders the broken one."""
    work.write("build/unit/report.xml", "<x")
    done = scene.flow(work, "evidence", "import", "build/unit/report.xml")
    assert done.status == 2
    assert done.stderr.startswith("flow: build/unit/report.xml: is not a JUnit XML report")


def test_it_never_decides(work: GitRepo, tmp_path: Path) -> None:
    """A report that says everything passed, for a goal whose command fails."""
    work.write("src/greet.txt", "give me that\n")
    work.commit("worse")
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    assert taken(work, file, "--commit", "HEAD", "--proves", "AC1,AC2")["fresh"]
    done = scene.flow(work, "goal", "evaluate", "greet", "--no-judge", "--json")
    assert done.status == 1
    assert done.json["verdict"] == "not_achieved"
    statuses = [row["status"] for row in done.json["criterion_results"]]
    assert statuses == ["fail", "pending"]


def test_a_judge_is_shown_what_is_fresh_and_what_is_stale_is_named(
    work: GitRepo, tmp_path: Path, home: Path
) -> None:
    judge = GoalJudge(tmp_path / "judge", home)
    judge.answers(*[reply("not_achieved", ("AC2", "incomplete", ()))] * 2)
    text = scene.goal_file(work).replace('type: "deterministic"', "type: hybrid")
    text = text.replace("type: deterministic", "type: hybrid")
    work.write(".flow/goals/greet.goal.yaml", text)
    assert scene.flow(work, "trust", "record", "greet", "--yes").status == 0
    file = tmp_path / "report.xml"
    file.write_text(JUNIT.replace("says please", "fresh-one"))
    taken(work, file, "--commit", "HEAD", "--proves", "AC2")
    file.write_text(JUNIT.replace("says please", "stale-one"))
    taken(work, file, "--commit", NO, "--proves", "AC2")
    done = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status in (1, 4), done
    (prompt,) = judge.prompts[:1]
    assert "fresh-one" in prompt
    assert "a JUnit XML report of another tool" in prompt
    assert "stale-one" not in prompt
    assert done.json["verdict"] != "achieved"


def test_a_commit_must_be_named_by_somebody(work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    error = take(work, file)
    assert (error.status, error.json["error"]["code"]) == (2, "no_commit")
    assert "--commit" in error.json["error"]["remedy"]
    assert freshness(work) == []


@pytest.mark.parametrize(
    ("named", "given", "status"),
    [
        ("{head}", "{head}", 0),
        ("{head}", "HEAD", 0),
        ("{short}", "HEAD", 0),
        ("{short}", None, 0),
        ("{head}", NO, 2),
        (NO, "HEAD", 2),
        (None, "nonsense", 2),
        (None, "--all", 2),
        (None, "--", 2),
        (None, "", 2),
        (None, NO, 0),
    ],
)
def test_who_names_the_commit(
    named: str | None, given: str | None, status: int, work: GitRepo, tmp_path: Path
) -> None:
    fill = {"head": work.head, "short": work.head[:8]}
    said = {"provider": "ci", "run_id": 1, "conclusion": "success"}
    if named is not None:
        said["commit"] = named.format(**fill)
    file = tmp_path / "status.json"
    file.write_text(json.dumps(said))
    words = [] if given is None else [f"--commit={given.format(**fill)}"]
    done = take(work, file, *words)
    assert done.status == status, done
    if status == 0:
        assert len(done.json["commit"]) == 40


def test_a_short_commit_that_is_not_here_is_stale(work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    file.write_text('{"id": 1, "conclusion": "success", "commit": "fffffff"}')
    found = taken(work, file)
    assert (found["commit"], stand(found)) == ("fffffff", "stale")
    assert any("stale" in text for text in found["warnings"])


def test_a_branch_that_looks_like_an_id_is_not_the_commit_that_was_named(
    work: GitRepo, tmp_path: Path
) -> None:
    """A report about the commit fffffff; a branch of that name is checked out here."""
    work.git("checkout", "-q", "-b", "fffffff")
    file = tmp_path / "status.json"
    file.write_text('{"id": 1, "conclusion": "success", "commit": "fffffff"}')
    found = taken(work, file)
    assert (found["commit"], stand(found)) == ("fffffff", "stale")


def test_the_same_report_is_recorded_once(work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    taken(work, file, "--commit", "HEAD")
    again = take(work, file, "--commit", "HEAD")
    assert (again.status, again.json["error"]["code"]) == (2, "exists")
    taken(work, file, "--commit", "HEAD", "--proves", "AC2")


def test_it_is_journalled(work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    found = taken(work, file, "--commit", "HEAD", "--proves", "AC1")
    shown = scene.flow(work, "journal", "show", "--goal", "greet", "--json").json
    entries = [a for a in shown["artifacts"] if a["type"] == "evidence-captured"]
    assert [(a["evidence_id"], a["proves"]) for a in entries] == [(found["id"], ["AC1"])]
    events = (scene.run_dir(work) / "events.jsonl").read_text().splitlines()
    (event,) = (e for e in map(json.loads, events) if e.get("evidence_id") == found["id"])
    assert event["by"] == "caller"


def test_secrets_are_masked_wherever_they_are(work: GitRepo, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    value = "correct-horse-battery-staple-42"
    case = f'<testsuite><testcase name="{token}"><failure>{value}</failure></testcase></testsuite>'
    file = tmp_path / "report.xml"
    file.write_text(case)
    env = {**os.environ, "DEPLOY_PASSWORD": value}
    done = take(work, file, "--commit", "HEAD", env=env)
    assert done.status == 0, done
    folder = scene.run_dir(work) / "evidence"
    for kept in folder.iterdir():
        assert token not in kept.read_text()
        assert value not in kept.read_text()
    assert any("redacted" in text for text in done.json["warnings"])


def test_from_standard_input_and_found_out(work: GitRepo) -> None:
    text = reports(work.head)["sarif"][0]
    done = scene.flow(work, "evidence", "import", "-", input=text)
    assert done.status == 0, done
    assert "lint_result  passed" in done.stdout
    assert "it decides nothing" in done.stdout


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["--proves", "AC9"], "--proves"),
        (["--proves", "../x"], "criterion id"),
        (["--run-id", "../x"], "run id"),
    ],
)
def test_names_that_do_not_fit(words: list[str], key: str, work: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    done = take(work, file, "--commit", "HEAD", *words)
    assert (done.status, done.json["error"]["key"]) == (2, key)


def test_hostile_names_are_shown_safely(work: GitRepo, tmp_path: Path) -> None:
    said = {
        "provider": "\x1b[31mci\u202e",
        "run_id": 1,
        "conclusion": "failure",
        "jobs": [{"name": "\x1b]0;x\x07", "conclusion": "failure"}],
        "commit": work.head,
    }
    file = tmp_path / "\x1b[2Jstatus.json"
    file.write_text(json.dumps(said))
    words = ["evidence", "import", "--goal", "greet", file]
    done = scene.flow(work, *words)
    assert done.status == 0, done
    shown = scene.flow(work, "evidence", "list", "greet").stdout + done.stdout + done.stderr
    (sidecar,) = (scene.run_dir(work) / "evidence").glob("*.yaml")
    assert not any(mark in shown + sidecar.read_text() for mark in "\x1b\x07\u202e")


def test_the_schema_takes_it(work: GitRepo, tmp_path: Path) -> None:
    import jsonschema
    import yaml

    file = tmp_path / "report.xml"
    file.write_text(JUNIT)
    taken(work, file, "--commit", "HEAD")
    (sidecar,) = (scene.run_dir(work) / "evidence").glob("*.yaml")
    schema = json.loads(scene.flow(work, "schema", "evidence").stdout)
    document = yaml.load(sidecar.read_text(), yaml.BaseLoader)
    document["evidence"]["output_bytes"] = int(document["evidence"]["output_bytes"])
    counts = document["evidence"]["imported"]["counts"]
    document["evidence"]["imported"]["counts"] = {key: int(n) for key, n in counts.items()}
    jsonschema.Draft202012Validator(schema).validate(document)


def test_evidence_of_flow_s_own_is_held_against_the_files_too(work: GitRepo) -> None:
    assert scene.flow(work, "goal", "evaluate", "greet", "--no-judge").status == 4
    assert freshness(work) == ["fresh"]
    work.write("src/greet.txt", "please, again\n")
    assert freshness(work) == ["stale"]


def test_evidence_without_a_stamp_says_nothing(work: GitRepo, tmp_path: Path) -> None:
    run = scene.flow(work, "goal", "status", "greet", "--json").json["run_id"]
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text(
        "apiVersion: flow.synapti.ai/v1\nkind: FlowEvidence\nmetadata:\n  id: mine\n  goal: greet\n"
        f"  run_id: {run}\n  created_at: 2026-01-01T00:00:00Z\nevidence:\n  type: git_diff\n"
    )
    done = scene.flow(work, "evidence", "record", "--run-id", run, "--evidence-file", foreign)
    assert done.status == 0, done
    assert freshness(work) == ["unstamped"]
    os.unlink(work.path / ".flow/goals/greet.goal.yaml")
    listed = scene.flow(work, "evidence", "list", "--run-id", run, "--json")
    assert [stand(row) for row in listed.json["evidence"]] == [None]


def test_real_reports_of_real_runners(work: GitRepo, tmp_path: Path) -> None:
    """pytest and ruff write them, with the commit given by the caller."""
    from tests.support import run

    (tmp_path / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=r.xml"]
    run([*argv, "test_it.py"], cwd=tmp_path, env={"PYTEST_ADDOPTS": None})
    found = taken(work, tmp_path / "r.xml", "--commit", "HEAD")
    assert (found["outcome"], found["result"]) == ("failed", "2 tests: 1 passed, 1 failed")
    (tmp_path / "bad.py").write_text("import os\n")
    argv = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "bad.py"]
    done = run([*argv, "--output-format", "sarif"], cwd=tmp_path)
    (tmp_path / "r.sarif").write_text(done.stdout)
    found = taken(work, tmp_path / "r.sarif", "--commit", "HEAD")
    assert (found["type"], found["outcome"]) == ("lint_result", "failed")
