"""Secrets through the command line: evaluate, record, show (SPEC 10)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flow.core.secrets.redact import placeholder
from tests.support import GitRepo, run_helper, scene
from tests.support import secret_samples as samples

if TYPE_CHECKING:
    from tests.support import Ran

SECRET = samples.Maker(5).of(samples.ALNUM, 30)
TOKEN = samples.tokens()["anthropic-api"][1]
KNOWN = placeholder("known_value").decode()
ENV = {"DEPLOY_TOKEN": SECRET}
PRINTS = 'AC1: prints :: echo "got $DEPLOY_TOKEN"; cat src/greet.txt; grep -q please src/greet.txt'
EVIDENCE = """\
apiVersion: flow.synapti.ai/v1
kind: FlowEvidence
metadata: {{id: mine, goal: greet, run_id: r1, created_at: "2026-01-01T00:00:00Z"}}
evidence: {{type: review_comment_snapshot, proves: [AC1], command: "deploy {0}",
  reason: "with {0}", limitations: ["none but {0}", "x"]}}
"""


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    made = scene.create(scene.start(repo), criterion=PRINTS)
    repo.write("src/greet.txt", f"please\n{TOKEN}\n")
    return made


def holding(folder: Path, *texts: str) -> list[str]:
    """The files below a folder that hold one of the texts."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(text.encode() in path.read_bytes() for text in texts)
    ]


def body(work: GitRepo, ref: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(work.read(ref))["evidence"]
    return found


def test_what_a_command_prints_is_stored_without_its_secrets(work: GitRepo, home: Path) -> None:
    done = scene.flow(work, "goal", "evaluate", "greet", "--json", env=ENV)
    assert done.status == 0, done
    assert SECRET not in done.stdout + done.stderr
    ref = done.json["criterion_results"][0]["evidence_ref"]
    found = body(work, ref)
    output = work.read(ref.replace(".evidence.yaml", ".txt"))
    assert output == f"got {KNOWN}\nplease\n{placeholder('anthropic').decode()}\n"
    assert found["masked"] == {"anthropic": 1, "known_value": 1}
    assert found["output_sha256"] == hashlib.sha256(output.encode()).hexdigest()
    assert found["output_bytes"] == len(f"got {SECRET}\nplease\n{TOKEN}\n")
    assert found["truncated"] is False
    assert holding(work.path, SECRET, TOKEN) == ["src/greet.txt"]
    assert holding(home, SECRET, TOKEN) == []
    shown = scene.flow(work, "evidence", "show", found["output_ref"][:-4], "--json")
    assert shown.json["evidence"]["masked"] == found["masked"]
    assert shown.json["output"] == output


def test_a_command_that_bash_refuses_tells_no_secret(repo: GitRepo) -> None:
    scene.create(scene.start(repo), criterion="AC1: broken :: (true) && true")
    scene.edit(repo, ("(true) && true", f"(true) {SECRET}"))  # create would refuse it
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json", env=ENV)
    row = done.json["criterion_results"][0]
    assert row["outcome"] == "inconclusive"
    assert KNOWN in row["reason"]
    found = body(repo, row["evidence_ref"])
    assert found["command"] == f"(true) {SECRET}"  # the contract, as it was written
    rest = {key: value for key, value in found.items() if key != "command"}
    assert SECRET not in str(rest)
    assert holding(repo.path / ".decisions", SECRET) == []


def test_a_sidecar_without_secrets_says_nothing_of_them(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json", env=ENV)
    assert "masked" not in body(repo, done.json["criterion_results"][0]["evidence_ref"])


def record(work: GitRepo, by: str, evidence: str, output: str) -> Ran:
    work.write("../e.yaml", evidence)
    work.write("../out.txt", output)
    words = ("--run-id", "r1", "--evidence-file", "../e.yaml", "--raw-output", "../out.txt")
    if by == "helper":
        return run_helper("flow-record-evidence", *words, cwd=work.path, env=ENV)
    return scene.flow(work, "evidence", "record", *words, env=ENV)


@pytest.mark.parametrize("by", ["helper", "command"])
def test_what_others_record_is_masked_too(work: GitRepo, by: str) -> None:
    printed = f"one {SECRET}\ntwo {TOKEN}\n" + "x" * 20_000
    done = record(work, by, EVIDENCE.format(SECRET), printed)
    assert done.status == 0, done
    assert "redacted in the output: 2 secrets (anthropic 1, known_value 1)" in done.stderr
    assert "redacted a known secret in evidence.reason" in done.stderr
    assert "redacted a known secret in evidence.limitations" in done.stderr
    ref = ".flow/runs/r1/evidence/mine.evidence.yaml"
    found, output = body(work, ref), work.read(ref.replace(".evidence.yaml", ".txt"))
    assert output == f"one {KNOWN}\ntwo {placeholder('anthropic').decode()}\n" + "x" * 20_000
    assert found["masked"] == {"anthropic": 1, "known_value": 1}
    assert found["output_sha256"] == hashlib.sha256(output.encode()).hexdigest()
    assert found["output_bytes"] == len(printed)
    assert found["reason"] == f"with {KNOWN}"
    assert found["limitations"] == [f"none but {KNOWN}", "x"]
    assert found["command"] == f"deploy {SECRET}"


def test_counts_that_the_recorder_found_are_kept(work: GitRepo) -> None:
    evidence = EVIDENCE.format("nothing").replace("type:", "masked: {jwt: 2, anthropic: 1}, type:")
    done = record(work, "command", evidence, TOKEN)
    assert done.status == 0, done
    found = body(work, ".flow/runs/r1/evidence/mine.evidence.yaml")
    assert found["masked"] == {"anthropic": 2, "jwt": 2}


def test_nothing_to_mask_warns_of_nothing(work: GitRepo) -> None:
    done = record(work, "command", EVIDENCE.format("nothing"), "all is well\n")
    assert done.status == 0, done
    assert "mask" not in done.stderr
    assert "masked" not in body(work, ".flow/runs/r1/evidence/mine.evidence.yaml")
