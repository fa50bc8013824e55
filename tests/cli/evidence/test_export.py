"""``flow evidence export``: what other tools read, and what it never says."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import google.protobuf.json_format as pb_json
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as Result
from in_toto_attestation.predicates.vsa.v1.vsa_pb2 import VerificationSummary
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from tests.support import GitRepo, bundles, scene
from tests.support import stops as hooks
from tests.support.forger import Forger

pytestmark = pytest.mark.needs_tool("git", "bash", "ssh-keygen")
NAMESPACE = "evidence@flow.synapti.ai"


def read_by_others(statement: dict[str, Any]) -> None:
    """Validate with the framework's own package, unknown fields refused."""
    pb = pb_json.ParseDict(statement, Statement([], "", {}).pb)
    Statement.copy_from_pb(pb).validate()
    predicate = json.loads(json.dumps(statement["predicate"]))
    if statement["predicateType"] == bundles.TEST_RESULT:
        found = pb_json.ParseDict(predicate, Result())
        assert found.result in ("PASSED", "WARNED", "FAILED")
        assert found.configuration
    elif statement["predicateType"] == bundles.SUMMARY:
        # SLSA has a list of levels and the verifier's versions; the package's type lags behind.
        levels = predicate.pop("verifiedLevels")
        assert levels
        assert all(isinstance(level, str) for level in levels)
        assert predicate["verifier"].pop("version")
        found = pb_json.ParseDict(predicate, VerificationSummary())
        assert found.verifier.id
        assert found.policy.digest["sha256"]


def result(statement: dict[str, Any]) -> tuple[str, list[str]]:
    predicate = statement["predicate"]
    key = {"PASSED": "passedTests", "WARNED": "warnedTests", "FAILED": "failedTests"}
    names: list[str] = predicate[key[predicate["result"]]]
    assert sum(len(predicate[k]) for k in key.values()) == len(names)
    return predicate["result"], names


def test_a_closed_goal_in_statements_that_others_read(repo: GitRepo, tmp_path: Path) -> None:
    commit = bundles.close(bundles.done(repo)).head
    bundles.export(repo, tmp_path / "b.jsonl")
    results, summary, record = bundles.statements(tmp_path / "b.jsonl")
    for one in (results, summary, record):
        read_by_others(one)
    assert result(results) == ("PASSED", ["AC1"])
    assert results["subject"][0]["digest"] == {"gitCommit": commit}
    assert [len(s["digest"]["sha256"]) for s in results["subject"][1:]] == [64]
    said = summary["predicate"]
    assert said["verificationResult"] == "PASSED"
    assert said["verifiedLevels"] == ["FLOW_GOAL_ACHIEVED"]
    assert said["verifier"]["version"] == {"flow": scene.flow(repo, "--version").stdout.split()[1]}
    assert said["resourceUri"] == f"flow-goal:{repo.path.name}/greet"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", said["timeVerified"])
    contract = scene.flow(repo, "goal", "status", "greet", "--json").json["contract"]
    assert said["policy"]["digest"] == {"sha256": contract}
    assert summary["subject"] == results["subject"]
    inputs = [one["digest"]["sha256"] for one in said["inputAttestations"]]
    import hashlib

    payloads = [base64.b64decode(e["payload"]) for e in bundles.envelopes(tmp_path / "b.jsonl")]
    assert inputs == [hashlib.sha256(payloads[0]).hexdigest()]
    names = [one["name"] for one in record["subject"]]
    assert names[0] == "greet.goal.yaml"
    assert {"evidence-ac1-eval-1.evidence.yaml", "evidence-ac1-eval-1.txt"} <= set(names)


def test_an_open_goal_has_no_summary(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    bundles.export(repo, tmp_path / "b.jsonl")
    kinds = [one["predicateType"] for one in bundles.statements(tmp_path / "b.jsonl")]
    assert kinds == [bundles.TEST_RESULT, bundles.RECORD]


def test_a_failed_goal_has_a_summary_that_says_so(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo))
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    block = tmp_path / "failed.yaml"
    block.write_text("lifecycle:\n  status: failed\n")
    from tests.support import run_helper

    words = ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", str(block), "--merge"]
    done = run_helper("flow-goal-record.sh", *words, cwd=repo.path)
    assert done.status == 0, done
    bundles.export(repo, tmp_path / "b.jsonl")
    results, summary, _ = bundles.statements(tmp_path / "b.jsonl")
    assert result(results) == ("FAILED", ["AC1"])
    assert summary["predicate"]["verificationResult"] == "FAILED"
    assert summary["predicate"]["verifiedLevels"] == ["FAILED"]
    read_by_others(summary)
    assert bundles.verify(tmp_path / "b.jsonl").status == 0


def test_a_cancelled_goal_was_not_verified(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    assert scene.flow(repo, "goal", "clear", "greet", "--yes").status == 0
    bundles.export(repo, tmp_path / "b.jsonl")
    kinds = [one["predicateType"] for one in bundles.statements(tmp_path / "b.jsonl")]
    assert bundles.SUMMARY not in kinds
    repo.write("src/greet.txt", "please, again\n")
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "no_evidence")
    assert "flow goal create NEW --from greet" in ran.json["error"]["remedy"]  # not: evaluate it


def test_nobody_is_told_to_evaluate_a_closed_goal(
    repo: GitRepo,
) -> None:
    scene.create(scene.start(repo))
    assert scene.flow(repo, "goal", "clear", "greet", "--yes").status == 0
    for words in (("evidence", "export", "greet"), ("verdict", "show", "greet")):
        remedy = scene.flow(repo, *words, "--json").json["error"]["remedy"]
        assert "flow goal create NEW --from greet" in remedy, words


def test_uncommitted_work_names_no_commit(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    ran = scene.flow(repo, "evidence", "export", "greet", "--output", tmp_path / "b.jsonl")
    assert "no commit" in ran.stderr
    results, record = bundles.statements(tmp_path / "b.jsonl")
    assert [list(one["digest"]) for one in results["subject"]] == [["sha256"]]
    assert results["subject"][0]["annotations"]["head"] == repo.head
    assert "commit" not in record["predicate"]["evidence"][0]
    notes = bundles.verify(tmp_path / "b.jsonl").json["notes"]
    assert any("no commit" in note for note in notes)


OUTCOMES = (
    ("AC2: fails :: false", "FAILED"),
    ("AC3: ends by a signal :: kill -TERM $$", "WARNED"),
    ("AC4: is masked :: false || true", "WARNED"),
)


def test_each_outcome(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo, *(word for row, _ in OUTCOMES for word in ("--criterion", row)))
    bundles.export(repo, tmp_path / "b.jsonl")
    *made, record = bundles.statements(tmp_path / "b.jsonl")
    wanted = [("PASSED", ["AC1"]), *((said, [row[:3]]) for row, said in OUTCOMES)]
    assert [result(one) for one in made] == wanted
    for one in made:
        read_by_others(one)
    assert record["predicate"]["status"] == "active"
    assert bundles.verify(tmp_path / "b.jsonl").status == 0


def test_a_commit_with_a_submodule_is_named_too(repo: GitRepo, tmp_path: Path) -> None:
    GitRepo.init(tmp_path / "other").commit("it", a="a\n")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", "../other", "part")
    commit = bundles.done(repo).head
    bundles.export(repo, tmp_path / "b.jsonl")
    results, _ = bundles.statements(tmp_path / "b.jsonl")
    assert results["subject"][0]["digest"] == {"gitCommit": commit}


def test_stale_evidence_is_not_exported(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    repo.write("src/greet.txt", "please, again\n")
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert ran.status == 2
    assert ran.json["error"]["code"] == "no_evidence"
    assert "evaluate" in ran.json["error"]["remedy"]


def test_what_the_hook_measured_counts_though_the_goal_names_older_evidence(
    repo: GitRepo, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundles.done(repo)
    named = scene.goal_file(repo)
    repo.commit("more", **{"src/greet.txt": "please, please\n"})
    hooks.stop(repo, capfd)
    assert scene.goal_file(repo) == named
    bundles.export(repo, tmp_path / "b.jsonl")
    results, _ = bundles.statements(tmp_path / "b.jsonl")
    assert results["subject"][0]["digest"] == {"gitCommit": repo.head}


def test_after_closing_the_work_may_go_on(repo: GitRepo, tmp_path: Path) -> None:
    commit = bundles.close(bundles.done(repo)).head
    repo.write("src/greet.txt", "no more\n")
    repo.commit("later")
    bundles.export(repo, tmp_path / "b.jsonl")
    results, *_ = bundles.statements(tmp_path / "b.jsonl")
    assert results["subject"][0]["digest"] == {"gitCommit": commit}


def test_what_others_recorded_is_marked_and_decides_nothing(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    run = scene.run_dir(repo).name
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text(
        "apiVersion: flow.synapti.ai/v1\nkind: FlowEvidence\nmetadata:\n  id: mine\n  goal: greet\n"
        f"  run_id: {run}\n  created_at: 2026-01-01T00:00:00Z\nevidence:\n  type: test_result\n"
        "  outcome: passed\n  proves: [AC1]\n  limitations: [mine]\n"
    )
    ran = scene.flow(repo, "evidence", "record", "--run-id", run, "--evidence-file", foreign)
    assert ran.status == 0, ran
    bundles.export(repo, tmp_path / "b.jsonl")
    *results, record = bundles.statements(tmp_path / "b.jsonl")
    assert len(results) == 1
    rows = {row["file"]: row for row in record["predicate"]["evidence"]}
    assert rows["mine.evidence.yaml"] == {"counted": False, "file": "mine.evidence.yaml"}
    assert bundles.verify(tmp_path / "b.jsonl").status == 0


def test_a_sidecar_that_others_forged_is_no_pass(repo: GitRepo, tmp_path: Path) -> None:
    """It says that the evaluator wrote it, and no event of Flow's says so."""
    scene.create(scene.start(repo))
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    folder = scene.run_dir(repo) / "evidence"
    real = (folder / "evidence-ac1-eval-1.evidence.yaml").read_text()
    forged = real.replace("eval-1", "eval-2").replace("outcome: failed", "outcome: passed")
    (folder / "evidence-ac1-eval-2.evidence.yaml").write_text(forged)
    (folder / "evidence-ac1-eval-2.txt").write_bytes(
        (folder / "evidence-ac1-eval-1.txt").read_bytes()
    )
    goal = scene.goal_file(repo).replace("evidence-ac1-eval-1.", "evidence-ac1-eval-2.")
    repo.write(".flow/goals/greet.goal.yaml", goal)
    bundles.export(repo, tmp_path / "b.jsonl")
    results, _ = bundles.statements(tmp_path / "b.jsonl")
    assert result(results) == ("FAILED", ["AC1"])


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("status", ["achieved", "failed"])
def test_a_status_that_nobody_confirmed_is_refused(
    status: str, moved: bool, repo: GitRepo, tmp_path: Path
) -> None:
    bundles.done(repo)
    if moved:  # there are events of transitions, to another status
        for move in ("pause", "resume"):
            assert scene.flow(repo, "goal", move, "greet").status == 0
    text = re.sub(r"(lifecycle:\n\s+status: *)\w+", rf"\1{status}", scene.goal_file(repo))
    repo.write(".flow/goals/greet.goal.yaml", text)
    ran = scene.flow(repo, "evidence", "export", "greet", "--output", tmp_path / "b", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "inconsistent")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("before", ["never closed", "closed once"])
def test_a_confirmation_that_nobody_gave_is_refused(
    before: str, repo: GitRepo, tmp_path: Path
) -> None:
    """The goal says achieved, and an event that fits the chain says who confirmed it.

    A goal that was closed on other files is opened again for that, and measured anew.
    """
    bundles.done(repo)
    events = Forger(scene.run_dir(repo))
    at = None
    if before == "closed once":
        bundles.close(repo)
        at = events.lines("events.jsonl")[-1]["at"]
        by_hand(repo, "active")
    repo.commit("not asked for", **{"outside.txt": "x\n"})
    ran = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    assert ran.json["verdict"] == "blocked"
    by_hand(repo, "achieved")
    forged = {"from": "active", "to": "achieved", **({"at": at} if at else {})}
    events.event("confirmed", **forged)
    ran = scene.flow(repo, "evidence", "export", "greet", "--output", tmp_path / "b", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "inconsistent")
    assert "your own state folder does not know" in ran.json["error"]["message"]
    assert not (tmp_path / "b").exists()
    shown = scene.flow(repo, "goal", "status", "greet", "--json").json["warnings"]
    assert any("Flow did not close it as it is now" in warning for warning in shown), shown


def by_hand(repo: GitRepo, status: str) -> None:
    text = re.sub(r"(lifecycle:\n\s+status: *)\w+", rf"\1{status}", scene.goal_file(repo))
    repo.write(".flow/goals/greet.goal.yaml", text)


def test_a_closed_goal_stands_for_the_evidence_it_was_closed_on(
    repo: GitRepo, tmp_path: Path
) -> None:
    """Where that is taken away, nothing newer stands in for it."""
    bundles.close(bundles.done(repo))
    assert scene.flow(repo, "goal", "status", "greet", "--json").json["warnings"] == []
    name, closed = "evidence-ac1-eval-1", Forger(scene.run_dir(repo)).lines("events.jsonl")[-1]
    by_hand(repo, "active")
    repo.commit("more", **{"src/more.txt": "x\n"})
    ran = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    assert ran.json["verdict"] == "achieved"
    text = re.sub("evidence-ac1-eval-2", name, scene.goal_file(repo))
    repo.write(".flow/goals/greet.goal.yaml", text)
    by_hand(repo, "achieved")
    for file in (scene.run_dir(repo) / "evidence").glob(f"{name}*"):
        file.unlink()
    forged = {"from": "active", "to": "achieved", "at": closed["at"]}
    Forger(scene.run_dir(repo)).event("confirmed", **forged)
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "no_evidence")
    remedy = "see whether its record is whole: flow evidence verify greet"
    assert ran.json["error"]["remedy"] == remedy  # a closed goal is evaluated no more


def test_a_closed_goal_whose_contract_was_changed_is_refused(repo: GitRepo, tmp_path: Path) -> None:
    bundles.close(bundles.done(repo))
    text = scene.goal_file(repo).replace("grep -q please", "grep -q pleas")
    repo.write(".flow/goals/greet.goal.yaml", text)
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "inconsistent")


def test_an_achieved_goal_whose_evidence_was_altered_is_refused(repo: GitRepo) -> None:
    bundles.close(bundles.done(repo, "--criterion", "AC2: echoes :: echo well"))
    (scene.run_dir(repo) / "evidence" / "evidence-ac2-eval-1.txt").write_text("ill")
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "inconsistent")
    assert "AC2" in ran.json["error"]["message"]


def test_a_record_that_does_not_hold_is_not_exported(repo: GitRepo) -> None:
    """Its evidence counts still, since its entries are found by their hashes."""
    bundles.done(repo)
    with open(scene.run_dir(repo) / "ledger.jsonl", "a") as file:
        file.write("no entry\n")
    ran = scene.flow(repo, "evidence", "export", "greet", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "inconsistent")
    assert "line 2 (where entry 2 should be) is no entry" in ran.json["error"]["message"]


def test_a_fuzzy_criterion_by_a_person(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    repo.commit("work")
    words = ["greet", "AC2", "--by", "Reader", "--note", "read it", "--yes"]
    assert scene.flow(repo, "goal", "approve", *words).status == 0
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    bundles.close(repo)
    bundles.export(repo, tmp_path / "b.jsonl")
    _, second, summary, _ = bundles.statements(tmp_path / "b.jsonl")
    assert result(second) == ("PASSED", ["AC2"])
    notes = second["predicate"]["configuration"][1]["annotations"]
    assert (notes["type"], notes["approved_by"]) == ("human_approval", "Reader")
    assert summary["predicate"]["verificationResult"] == "PASSED"


@pytest.mark.parametrize(
    ("amended", "closed"),
    [(("--deny", "*.key"), True), (("--criterion", "AC3: is :: true"), False)],
)
def test_an_approval_counts_in_an_export_where_the_evaluation_counts_it(
    amended: tuple[str, str], closed: bool, repo: GitRepo, tmp_path: Path
) -> None:
    """It is of a wording: what was amended elsewhere in the contract takes nothing from it."""
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    words = ["greet", "AC2", "--by", "Reader", "--note", "read it", "--yes"]
    assert scene.flow(repo, "goal", "approve", *words).status == 0
    assert scene.flow(repo, "goal", "amend", "greet", *amended).status == 0
    if closed:
        assert scene.confirm(repo).status == 0
    else:
        assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    bundles.export(repo, tmp_path / "b.jsonl")
    made = bundles.statements(tmp_path / "b.jsonl")
    proved = [one["predicate"]["passedTests"] for one in made if "passedTests" in one["predicate"]]
    assert ["AC2"] in proved
    checked = scene.flow(repo, "evidence", "verify", "--bundle", tmp_path / "b.jsonl", "--json")
    assert checked.json["findings"] == []


# --- signatures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_ssh_keygen_verifies_each_signature(kind: str, repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    key = bundles.key(tmp_path / "key", kind=kind)
    found = bundles.export(repo, tmp_path / "b.jsonl", "--sign", f"ssh:{key}")
    listed = bundles.allowed(tmp_path / "allowed", key, options=f'namespaces="{NAMESPACE}"')
    shown = subprocess.run(["ssh-keygen", "-lf", key], capture_output=True, text=True).stdout
    for envelope in found:
        (signature,) = envelope["signatures"]
        assert signature["keyid"] in shown
        (tmp_path / "sig").write_bytes(base64.b64decode(signature["sig"]))
        body = base64.b64decode(envelope["payload"])
        kind_ = envelope["payloadType"].encode()
        pae = b"DSSEv1 %d %b %d %b" % (len(kind_), kind_, len(body), body)
        argv = ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "allowed"]
        argv += ["-I", "tester@example.org", "-n", NAMESPACE, "-s", tmp_path / "sig"]
        ran = subprocess.run(argv, input=pae, capture_output=True)
        assert ran.returncode == 0, ran.stderr
    checked = bundles.verify(tmp_path / "b.jsonl", "--allowed-signers", listed)
    assert checked.status == 0, checked.json
    assert [s.split()[0] for s in checked.json["signers"]] == ["tester@example.org"]


def pem(tmp_path: Path, kind: str, password: bytes | None = None) -> tuple[Path, Path]:
    made = ed25519.Ed25519PrivateKey.generate()
    private: Any = made if kind == "ed25519" else ec.generate_private_key(ec.SECP256R1())
    secret = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    files = tmp_path / f"{kind}.pem", tmp_path / f"{kind}.pub"
    files[0].write_bytes(
        private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)
    )
    files[1].write_bytes(
        private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return files


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_securesystemslib_verifies_the_envelopes(kind: str, repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    private, public = pem(tmp_path, kind)
    found = bundles.export(repo, tmp_path / "b.jsonl", "--key", private)
    key = SSlibKey.from_crypto(serialization.load_pem_public_key(public.read_bytes()))
    for one in found:
        assert Envelope.from_dict(json.loads(json.dumps(one))).verify([key], 1)
        one["payload"] = base64.b64encode(b"{}").decode()
        with pytest.raises(VerificationError):
            Envelope.from_dict(one).verify([key], 1)
    checked = bundles.verify(tmp_path / "b.jsonl", "--key", public)
    assert checked.status == 0, checked.json
    unknown = bundles.verify(tmp_path / "b.jsonl")
    assert (unknown.status, unknown.json["signed"]) == (0, False)
    assert any("give --key" in note for note in unknown.json["notes"])


def test_both_kinds_of_key_at_once(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    private, public = pem(tmp_path, "ed25519")
    key = bundles.key(tmp_path / "key")
    words = ["--key", private, "--sign", f"ssh:{key}"]
    found = bundles.export(repo, tmp_path / "b.jsonl", *words)
    assert {len(one["signatures"]) for one in found} == {2}
    listed = bundles.allowed(tmp_path / "allowed", key)
    for words in (["--key", public], ["--allowed-signers", listed]):
        assert bundles.verify(tmp_path / "b.jsonl", *words).status == 0


def refused(repo: GitRepo, *words: str | Path, **env: str) -> dict[str, Any]:
    ran = scene.flow(
        repo, "evidence", "export", "greet", "--json", *words, env={**os.environ, **env}
    )
    assert ran.status == 2, ran
    found: dict[str, Any] = ran.json["error"]
    return found


def test_a_passphrase_is_never_asked_for(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    key = bundles.key(tmp_path / "key", passphrase="secret words")
    asking = tmp_path / "ask"
    asking.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret words\n")
    asking.chmod(0o755)
    env = {"SSH_ASKPASS": str(asking), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    error = refused(repo, "--sign", f"ssh:{key}", **env)
    assert "ssh-add" in error["remedy"]
    assert not (tmp_path / "asked").exists()
    private, _ = pem(tmp_path, "ed25519", b"secret words")
    assert "passphrase" in refused(repo, "--key", private)["message"]


def test_at_a_terminal_it_is_not_asked_for_either(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    key = bundles.key(tmp_path / "key", passphrase="secret words")
    child = scene.at_terminal(repo, ["evidence", "export", "greet", "--sign", f"ssh:{key}"])
    child.expect("ssh-add")
    assert scene.ended(child)[0] == 2


def listens(path: str) -> bool:
    """Whether somebody does; the socket is there a moment before."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
    return True


@pytest.mark.needs_tool("ssh-agent", "ssh-add")
def test_a_key_that_only_the_agent_holds(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    key = bundles.key(tmp_path / "key")
    folder = tempfile.mkdtemp(prefix="flow-", dir="/tmp")  # a socket's path has 103 bytes at most
    agent_socket = os.path.join(folder, "agent")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", agent_socket], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not listens(agent_socket):
            assert agent.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        env = {**os.environ, "SSH_AUTH_SOCK": agent_socket}
        subprocess.run(["ssh-add", "-q", key], env=env, check=True)
        key.unlink()
        ran = scene.flow(
            repo, "evidence", "export", "greet", "--output", tmp_path / "b.jsonl",
            "--sign", f"ssh:{key}.pub", env=env,
        )  # fmt: skip
        assert ran.status == 0, ran
    finally:
        agent.terminate()
        agent.wait()
        shutil.rmtree(folder)
    listed = bundles.allowed(tmp_path / "allowed", key)
    assert bundles.verify(tmp_path / "b.jsonl", "--allowed-signers", listed).status == 0


def test_keys_that_cannot_sign(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    (tmp_path / "text").write_text("no key\n")
    key = bundles.key(tmp_path / "key")
    public = key.with_name("key.pub").rename(tmp_path / "alone.pub")
    for path in (tmp_path / "text", public):
        error = refused(repo, "--sign", f"ssh:{path}")
        assert (error["code"], error["file"]) == ("key", str(path))
    assert refused(repo, "--key", tmp_path / "text")["code"] == "key"
    assert refused(repo, "--sign", f"ssh:{tmp_path}")["code"] == "unreadable"


def test_without_the_extra_a_key_file_is_a_clear_error(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from flow.cli import main

    bundles.done(repo)
    private, public = pem(tmp_path, "ed25519")
    bundles.export(repo, tmp_path / "b.jsonl", "--key", private)
    monkeypatch.setitem(sys.modules, "securesystemslib", None)
    monkeypatch.chdir(repo.path)
    for words in (
        ["evidence", "export", "greet", "--key", str(private)],
        ["evidence", "verify", "--bundle", str(tmp_path / "b.jsonl"), "--key", str(public)],
    ):
        assert main.run(words) == 2
        assert "pip install securesystemslib cryptography" in capsys.readouterr().err


def test_without_ssh_keygen(repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flow.adapters.exchange import ssh_keys
    from flow.errors import OutsideError

    monkeypatch.setattr(ssh_keys, "PROGRAM", "no-such-ssh-keygen")
    with pytest.raises(OutsideError, match="no-such-ssh-keygen"):
        ssh_keys.sign(str(tmp_path / "key"), b"", os.environ)


# --- output --------------------------------------------------------------------------------------


def test_where_it_goes(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    plain = scene.flow(repo, "evidence", "export", "greet")
    assert plain.status == 0
    assert "unsigned" in plain.stderr
    assert [json.loads(line)["signatures"] for line in plain.stdout.splitlines()] == [[], []]
    bare = scene.flow(repo, "evidence", "export", "greet", "--format", "statements")
    kinds = [json.loads(line)["predicateType"] for line in bare.stdout.splitlines()]
    assert kinds == [bundles.TEST_RESULT, bundles.RECORD]
    as_json = scene.flow(repo, "evidence", "export", "greet", "--json").json
    assert [one["predicateType"] for one in as_json["statements"]] == kinds
    assert len(as_json["envelopes"]) == 2
    assert any("unsigned" in text for text in as_json["warnings"])
    to_file = scene.flow(repo, "evidence", "export", "greet", "--output", tmp_path / "b", "--json")
    assert to_file.json["output"] == str(tmp_path / "b")
    assert (tmp_path / "b").read_text() == plain.stdout
    (tmp_path / "link").symlink_to(tmp_path / "target")
    linked = scene.flow(repo, "evidence", "export", "greet", "--output", tmp_path / "link")
    assert linked.status == 2
    assert not (tmp_path / "target").exists()
    ran = scene.flow(repo, "evidence", "export", "greet", "--output", "bundle")
    assert ran.status == 0
    assert "lies in the checkout" in ran.stderr


def test_the_branch_s_goal_another_run_and_another_name(repo: GitRepo) -> None:
    bundles.done(repo)
    words = ["--resource-uri", "git+https://example.org/greet", "--json"]
    ran = scene.flow(repo, "evidence", "export", *words)
    assert ran.json["goal_id"] == "greet"
    record = ran.json["statements"][-1]["predicate"]
    assert record["resourceUri"] == "git+https://example.org/greet"
    again = scene.flow(repo, "goal", "evaluate", "greet", "--run-id", "second")
    assert again.status == 0, again
    first = ran.json["run_id"]
    for run in (first, "second"):
        found = scene.flow(repo, "evidence", "export", "greet", "--run-id", run, "--json")
        assert found.status == 0, found
        assert {found.json["run_id"], found.json["statements"][-1]["predicate"]["runId"]} == {run}


def test_outputs_and_the_ledger_go_along_where_asked(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo, "--criterion", "AC2: echoes :: echo well done")
    for words, there in (([], False), (["--with-outputs"], True)):
        bundles.export(repo, tmp_path / "b.jsonl", *words)
        files = bundles.statements(tmp_path / "b.jsonl")[-1]["predicate"]["files"]
        assert ("evidence-ac2-eval-1.txt" in files) is there
        assert "ledger.jsonl" in files
        checked = bundles.verify(tmp_path / "b.jsonl")
        assert checked.status == 0
        assert any("here by digest only" in note for note in checked.json["notes"]) is not there
