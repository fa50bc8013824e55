"""``flow evidence verify --bundle``: every attack on a bundle is named, and no file can hurt it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.exchange import dsse
from flow.adapters.exchange.bundle_file import check_bundle
from flow.app.exchange.bundle import BundleReport
from flow.core.chain.entries import following
from flow.errors import ContractError, InputError
from flow.startup.json import canonical
from tests.support import GitRepo, bundles, scene

pytestmark = pytest.mark.needs_tool("git", "bash", "ssh-keygen")
NAMESPACE = "evidence@flow.synapti.ai"
_made: dict[str, bytes] = {}


class Set:
    """A signed bundle of a closed goal with its key, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "bundle.jsonl"
        self.key = folder / "key"
        self.allowed = folder / "allowed"

    def check(self) -> BundleReport:
        """By the list of allowed signers."""
        return check_bundle(str(self.file), str(self.allowed), ())

    def unsigned(self) -> BundleReport:
        """Without signatures, and so by what is in it alone."""
        return check_bundle(str(bundles.unsigned(self.file)), None, ())


@pytest.fixture
def signed(repo: GitRepo, tmp_path: Path) -> Set:
    """Made once by Flow; each test gets a copy."""
    found = Set(tmp_path)
    names = ("bundle.jsonl", "key", "key.pub", "allowed")
    if not _made:
        bundles.close(bundles.done(repo, "--criterion", "AC2: echoes :: echo well done"))
        bundles.key(found.key)
        bundles.allowed(found.allowed, found.key, options=f'namespaces="{NAMESPACE}"')
        bundles.export(repo, found.file, "--with-outputs", "--sign", f"ssh:{found.key}")
        _made.update((name, (tmp_path / name).read_bytes()) for name in names)
    for name in names:
        (tmp_path / name).write_bytes(_made[name])
        (tmp_path / name).chmod(0o600)
    return found


def test_it_holds_together(signed: Set) -> None:
    report = signed.check()
    assert (report.findings, report.signed) == ((), True)
    assert report.signers[0].startswith("tester@example.org (SHA256:")
    assert report.record is not None
    assert report.record.goal.status == "achieved"


def test_unsigned_is_said(signed: Set) -> None:
    plain = signed.unsigned()
    assert plain.findings == ()
    assert "unsigned: nothing says who made this" in plain.notes
    strict = signed.check()
    assert len(strict.findings) == len(bundles.envelopes(signed.file))
    assert all("unsigned: nothing says who made this" in what for what in strict.findings)
    ran = bundles.verify(signed.file, "--allowed-signers", signed.allowed)
    assert (ran.status, ran.json["ok"]) == (1, False)
    in_words = scene.flow(
        GitRepo(signed.file.parent), "evidence", "verify", "--bundle", signed.file
    )
    assert in_words.status == 0
    assert "unsigned: nothing says who made this" in in_words.stdout


def test_signed_by_somebody_nobody_named(signed: Set) -> None:
    report = check_bundle(str(signed.file), None, ())
    assert report.findings == ()
    assert report.signed
    assert any("whose key" in note for note in report.notes)


# --- what is in it -------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def record_file(name: str, old: bytes, new: bytes, *, digest: bool = False) -> Change:
    """Replace text in a file that goes along; with ``digest`` its digest too."""

    def how(said: dict[str, Any]) -> None:
        files = said["predicate"]["files"]
        data = base64.b64decode(files[name])
        assert old in data
        data = data.replace(old, new)
        files[name] = base64.b64encode(data).decode()
        if digest:
            row = next(one for one in said["subject"] if one["name"] == name)
            row["digest"] = {"sha256": hashlib.sha256(data).hexdigest()}

    return how


def setting(path: str, value: Any) -> Change:
    """Set one value of a Statement."""

    def how(said: dict[str, Any]) -> None:
        *above, last = path.split(".")
        at: Any = said
        for step in above:
            at = at[int(step)] if step.isdigit() else at[step]
        at[int(last) if last.isdigit() else last] = value

    return how


OUTPUT = "evidence-ac2-eval-1.txt"
SIDECAR = "evidence-ac2-eval-1.evidence.yaml"
RECORD, RESULT, SUMMARY = bundles.RECORD, bundles.TEST_RESULT, bundles.SUMMARY
OTHER = "f" * 64
ATTACKS: dict[str, tuple[str, Change, str]] = {
    "an output replaced": (RECORD, record_file(OUTPUT, b"well", b"ill!"), "not the file that"),
    "an output replaced with its digest": (
        RECORD, record_file(OUTPUT, b"well", b"ill!", digest=True), "is not the one that"),
    "a sidecar altered": (
        RECORD, record_file(SIDECAR, b"exit 0", b"exit 1"), "not the file that"),
    "a sidecar altered with its digest": (
        RECORD, record_file(SIDECAR, b"exit 0", b"exit 1", digest=True),
        "is not what the evidence"),
    "a sidecar of another name": (
        RECORD, record_file(SIDECAR, b"id: evidence-ac2", b"id: evidence-ac9", digest=True),
        "is not the name of"),
    "a sidecar that is no YAML": (
        RECORD, record_file(SIDECAR, b"evidence:", b"evidence: [", digest=True), SIDECAR),
    "a goal that is none": (
        RECORD, record_file("greet.goal.yaml", b"kind: FlowGoal", b"kind: Other", digest=True),
        "greet.goal.yaml"),
    "a goal that is not there": (
        RECORD, setting("predicate.goalId", "other"), "the goal's file other.goal.yaml"),
    "a sidecar that is not there": (
        RECORD, setting("predicate.evidence.1.file", "x.evidence.yaml"), "is not in it"),
    "a text that is none": (RECORD, setting("predicate.flowVersion", 7), "is no text"),
    "more rows than there can be": (
        RECORD, setting("predicate.evidence", [{}] * 2001), "more than 2000 rows"),
    "no base64 in a file": (
        RECORD, setting("predicate.files", {"greet.goal.yaml": "!!"}), "is not base64"),
    "an outcome altered with its digest": (
        RECORD, record_file(SIDECAR, b"outcome: passed", b"outcome: failed", digest=True),
        "no evidence here proves AC2"),
    "a sidecar that somebody else wrote": (
        RECORD, record_file(SIDECAR, b"flow-evaluator", b"flow-evaluater", digest=True),
        "of Flow's own"),
    "a sidecar of another goal": (
        RECORD, record_file(SIDECAR, b"goal: greet", b"goal: other", digest=True),
        "of another goal"),
    "a sidecar of another contract": (
        RECORD, record_file(SIDECAR, b"contract: ", b"contract: 0", digest=True),
        "another contract"),
    "a sidecar of other files": (
        RECORD, record_file(SIDECAR, b"tree: ", b"tree: 0", digest=True), "different files"),
    "the contract altered": (
        RECORD, record_file("greet.goal.yaml", b"echo well", b"echo Well", digest=True),
        "not the digest of the goal"),
    "the status altered": (
        RECORD, record_file("greet.goal.yaml", b"achieved", b"active", digest=True),
        "says otherwise"),
    "not counted, and decides": (
        RECORD, setting("predicate.evidence.0.counted", False), "counted is not whether"),
    "a sidecar that is left out": (
        RECORD, lambda s: s["predicate"]["evidence"].pop(1), "belongs to none"),
    "a sidecar for another criterion": (
        RECORD, setting("predicate.evidence.1.criterion", "AC1"), "does not speak for AC1"),
    "a criterion that is not there": (
        RECORD, setting("predicate.evidence.1.criterion", "AC9"), "which the goal does not have"),
    "another commit": (
        RECORD, setting("predicate.evidence.1.commit", "f" * 40), "names another commit"),
    "another time": (
        RECORD, setting("predicate.closedAt", "2020-01-01T00:00:00Z"), "timeVerified"),
    "no time": (RECORD, setting("predicate.closedAt", None), "says otherwise"),
    "another run": (RECORD, setting("predicate.runId", "other"), "of another goal or run"),
    "a path for a run": (RECORD, setting("predicate.runId", "../x"), "not a run id"),
    "a path for a goal": (RECORD, setting("predicate.goalId", "../../etc"), "not a goal id"),
    "a path for a file": (
        RECORD, setting("subject.1.name", "../../evil"), "has no digest"),
    "a file nobody asked for": (
        RECORD, lambda s: s["subject"].append({"name": "/etc/x", "digest": {"sha256": OTHER}}),
        "belongs to none"),
    "a file named twice": (
        RECORD, lambda s: s["subject"].append(s["subject"][0]), "is named twice"),
    "a digest of another kind": (
        RECORD, setting("subject.0.digest", {"md5": "0"}), "no sha256"),
    "files that are no texts": (RECORD, setting("predicate.files", {"a": 1}), "no object of texts"),
    "evidence that is no list": (RECORD, setting("predicate.evidence", {}), "is no list"),
    "a row that is no object": (RECORD, setting("predicate.evidence.0", 7), "is no object"),
    "a count that is none": (
        RECORD, setting("predicate.leftOut", {"a": True}), "no object of whole numbers"),
    "content that is no base64": (
        RECORD, setting(f"predicate.files.{'x'}", "!!"), "has no digest"),
    "a failure made a pass": (
        RESULT, setting("predicate.result", "FAILED"), "predicate.result is 'FAILED'"),
    "a test added": (
        RESULT, setting("predicate.passedTests", ["AC1", "AC7"]), "predicate.passedTests"),
    "another subject": (
        RESULT, setting("subject.0.digest.gitCommit", "f" * 40), "subject[0].digest.gitCommit"),
    "another policy": (
        SUMMARY, setting("predicate.policy.digest.sha256", OTHER), "predicate.policy.digest"),
    "a level more": (
        SUMMARY, setting("predicate.verifiedLevels", ["SLSA_BUILD_LEVEL_3"]), "verifiedLevels"),
    "other inputs": (
        SUMMARY, setting("predicate.inputAttestations", []), "predicate.inputAttestations"),
    "a key more": (SUMMARY, setting("predicate.extra", 1), "predicate.extra"),
    "no subject": (SUMMARY, setting("subject", []), "names no subject"),
    "no predicate": (SUMMARY, setting("predicate", None), "no predicate"),
    "another type of Statement": (SUMMARY, setting("_type", "x"), "is no https://in-toto.io"),
    "another type of predicate": (
        SUMMARY, setting("predicateType", "https://example.org/x"), "nothing in the record makes"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_change_is_found_by_content(attack: str, signed: Set) -> None:
    kind, how, said = ATTACKS[attack]
    bundles.change(signed.file, kind, how)
    found = signed.unsigned().findings
    assert any(said in what for what in found), found


def test_each_change_is_found_by_signature(signed: Set) -> None:
    """That every byte counts: ``test_any_byte_of_what_is_signed_is_found_when_it_is_another``."""
    before = bundles.envelopes(signed.file)
    for name in ("an output replaced with its digest", "a test added", "a key more"):
        kind, how, _ = ATTACKS[name]
        bundles.change(signed.file, kind, how)
    found = signed.check().findings
    changed = [old != new for old, new in zip(before, bundles.envelopes(signed.file), strict=True)]
    misfits = [
        any(f"line {line}: " in what and "does not fit what is signed" in what for what in found)
        for line in range(1, len(before) + 1)
    ]
    assert misfits == changed
    assert sum(changed) == 3


# --- the ledger in it ----------------------------------------------------------------------------


def ledger(how: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Change:
    """Change the entries of the ledger that goes along, each hash and digest made anew."""

    def change(said: dict[str, Any]) -> None:
        files = said["predicate"]["files"]
        entries = [json.loads(line) for line in base64.b64decode(files[LEDGER]).splitlines()]
        last, text = None, b""
        for fields in how(entries):
            rest = {k: v for k, v in fields.items() if k not in ("seq", "prev", "hash")}
            entry = following(last, said["predicate"]["runId"], rest)
            text, last = text + canonical(entry._asdict()) + b"\n", entry.head
        _put(said, LEDGER, text)

    return change


def _put(said: dict[str, Any], name: str, data: bytes) -> None:
    said["predicate"]["files"][name] = base64.b64encode(data).decode()
    row = next(one for one in said["subject"] if one["name"] == name)
    row["digest"] = {"sha256": hashlib.sha256(data).hexdigest()}


def no_ledger(said: dict[str, Any]) -> None:
    del said["predicate"]["files"][LEDGER]
    said["subject"] = [one for one in said["subject"] if one["name"] != LEDGER]


def raw_ledger(old: bytes, new: bytes) -> Change:
    return record_file(LEDGER, old, new, digest=True)


LEDGER = "ledger.jsonl"
LEDGER_ATTACKS: dict[str, tuple[Change, str]] = {
    "a sidecar forged afterwards": (
        record_file(SIDECAR, b"duration_seconds: ", b"duration_seconds: 9", digest=True),
        f"{SIDECAR}: is not the sidecar that entry 2 of ledger.jsonl recorded"),
    "no ledger": (no_ledger, "ledger.jsonl is not in it"),
    "the ledger by its digest only": (
        lambda s: s["predicate"]["files"].pop(LEDGER), "ledger.jsonl is not in it"),
    "no entry": (ledger(lambda entries: entries[:1]), "no entry of ledger.jsonl records it"),
    "another sidecar": (
        ledger(lambda entries: [entries[0], {**entries[1], "sidecar_sha256": OTHER}]),
        "is not the sidecar that entry 2"),
    "another output": (
        ledger(lambda entries: [entries[0], {**entries[1], "output_sha256": OTHER}]),
        "names another output than entry 2"),
    "another goal": (
        ledger(lambda entries: [entries[0], {**entries[1], "goal_id": "other"}]),
        "is about goal other"),
    "by somebody else": (
        ledger(lambda entries: [entries[0], {**entries[1], "by": "caller"}]), "is by caller"),
    "recorded twice": (
        ledger(lambda entries: [*entries, entries[0]]), "records evidence-ac1-eval-1 again"),
    "an entry altered": (
        raw_ledger(b'"by":"evaluator"', b'"by":"evaluater"'), "line 1 (where entry 1 should be)"),
    "an entry cut": (raw_ledger(b"}\n", b"}"), "ledger.jsonl: line 1"),
    "no JSON": (raw_ledger(b'{"at"', b'["at"'), "is no entry"),
}  # fmt: skip


@pytest.mark.parametrize("attack", LEDGER_ATTACKS)
def test_evidence_that_is_not_what_the_ledger_recorded(attack: str, signed: Set) -> None:
    how, said = LEDGER_ATTACKS[attack]
    bundles.change(signed.file, RECORD, how)
    found = signed.unsigned().findings
    assert any(said in what for what in found), found


def test_a_ledger_of_another_run(signed: Set) -> None:
    def how(said: dict[str, Any]) -> None:
        said["predicate"]["runId"] = "another"
        for name, data in said["predicate"]["files"].items():
            if name.endswith(".evidence.yaml"):
                old = base64.b64decode(data)
                run = re.search(rb"run_id: (\S+)", old)
                assert run is not None
                _put(said, name, old.replace(run[1], b"another"))

    bundles.change(signed.file, RECORD, how)
    assert any("entry 1 does not follow" in what for what in signed.unsigned().findings)


def test_two_deciding_sidecars(signed: Set) -> None:
    def how(said: dict[str, Any]) -> None:
        said["predicate"]["evidence"].append(said["predicate"]["evidence"][0])

    bundles.change(signed.file, RECORD, how)
    assert any("decide the same" in what for what in signed.unsigned().findings)


def test_a_pass_without_a_goal_that_is_closed(signed: Set) -> None:
    """The record says that nothing is closed; the summary has nothing to stand on."""

    def how(said: dict[str, Any]) -> None:
        record_file("greet.goal.yaml", b"achieved", b"active", digest=True)(said)
        said["predicate"]["closedAt"] = None

    bundles.change(signed.file, RECORD, how)
    assert any("nothing in the record makes" in what for what in signed.unsigned().findings)


@pytest.mark.parametrize("gone", [0, 1, 2, 3])
def test_an_envelope_that_is_missing(gone: int, signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    del found[gone]
    bundles.put(signed.file, found)
    found = signed.unsigned().findings
    assert any("missing" in what or "0 records" in what for what in found)


def test_an_envelope_twice(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    bundles.put(signed.file, [*found, found[0]])
    assert signed.check().findings == (f"line 5: nothing in the record makes this {RESULT}",)
    bundles.put(signed.file, [*found, found[-1]])
    assert any("it holds 2 records" in what for what in signed.unsigned().findings)


def test_the_same_json_written_otherwise(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    said = bundles.statement(found[0])
    found[0]["payload"] = base64.b64encode(json.dumps(said, indent=1).encode()).decode()
    bundles.put(signed.file, found)
    assert any("written in another way" in what for what in signed.unsigned().findings)


# --- signatures ----------------------------------------------------------------------------------


def resign(signed: Set, key: Path, space: str, *, only: int | None = None) -> None:
    """Sign envelopes with another key, or for another namespace."""
    found = bundles.envelopes(signed.file)
    for number, one in enumerate(found):
        if only is not None and number != only:
            continue
        body, kind = base64.b64decode(one["payload"]), one["payloadType"].encode()
        pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", os.fspath(key), "-n", space]
        sig = subprocess.run(argv, input=pae, capture_output=True, check=True).stdout
        one["signatures"] = [{"keyid": "x", "sig": base64.b64encode(sig).decode()}]
    bundles.put(signed.file, found)


def test_altered_and_signed_by_somebody_else(signed: Set, tmp_path: Path) -> None:
    stranger = bundles.key(tmp_path / "stranger")
    resign(signed, stranger, NAMESPACE)
    assert check_bundle(str(signed.file), None, ()).findings == ()
    report = signed.check()
    assert len(report.findings) == 4
    assert all("the given keys do not name" in what for what in report.findings)
    assert report.signers == ()


def test_one_envelope_by_another_key(signed: Set, tmp_path: Path) -> None:
    resign(signed, bundles.key(tmp_path / "stranger"), NAMESPACE, only=2)
    assert any("line 3" in what for what in signed.check().findings)
    report = check_bundle(str(signed.file), None, ())
    assert report.findings == ("the envelopes are signed by different keys",)
    assert not report.signed


def test_several_signatures_of_one_envelope(signed: Set, tmp_path: Path) -> None:
    """A stranger's beside the one that counts is no harm, in either order; one that does not fit
    is named."""
    good = [one["signatures"] for one in bundles.envelopes(signed.file)]
    resign(signed, bundles.key(tmp_path / "stranger"), NAMESPACE)
    found = bundles.envelopes(signed.file)
    for mine, one in zip(good, found, strict=True):
        one["signatures"].insert(len(one["signatures"]) * (one is found[0]), *mine)
    bundles.put(signed.file, found)
    assert signed.check().findings == ()
    found[1]["signatures"] = [*good[1], *good[0]]
    found[2]["signatures"] = [*good[0], *good[2]]
    bundles.put(signed.file, found)
    for report in (signed.check(), check_bundle(str(signed.file), None, ())):
        misfits = [what for what in report.findings if "does not fit" in what]
        assert [what[:6] for what in misfits] == ["line 2", "line 3"]


def test_a_statement_of_another_bundle_by_the_same_key(signed: Set) -> None:
    """Its signature fits, and it is not what this bundle's evidence says."""
    found = bundles.envelopes(signed.file)
    said = bundles.statement(found[0])
    said["subject"][0]["digest"]["gitCommit"] = "f" * 40
    bundles.change(signed.file, RESULT, lambda s: s.update(said))
    resign(signed, signed.key, NAMESPACE)
    assert any("gitCommit" in what for what in signed.check().findings)


def test_a_signature_for_another_namespace(signed: Set) -> None:
    resign(signed, signed.key, "git")
    for report in (signed.check(), check_bundle(str(signed.file), None, ())):
        assert any("for the namespace 'git'" in what for what in report.findings)


@pytest.mark.parametrize("options", ['namespaces="git"', 'valid-before="20200101"'])
def test_a_key_that_is_allowed_otherwise(options: str, signed: Set) -> None:
    """For another namespace only, or no longer."""
    bundles.allowed(signed.allowed, signed.key, options=options)
    assert any("do not name" in what for what in signed.check().findings)


def test_a_pattern_of_principals_and_signatures_without_armour(signed: Set) -> None:
    bundles.allowed(signed.allowed, signed.key, who="*@example.org,other@example.net")
    found = bundles.envelopes(signed.file)
    for one in found[:2]:
        text = base64.b64decode(one["signatures"][0]["sig"])
        blob = base64.b64decode(b"".join(text.split(b"\n")[1:-2]))
        one["signatures"][0]["sig"] = base64.b64encode(blob).decode()
    bundles.put(signed.file, found)
    assert signed.check().findings == ()


def test_the_signature_of_another_envelope(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    found[0]["signatures"] = found[1]["signatures"]
    bundles.put(signed.file, found)
    assert any("made for other bytes" in what for what in signed.check().findings)


def test_some_envelopes_without(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    found[1]["signatures"] = []
    bundles.put(signed.file, found)
    findings = check_bundle(str(signed.file), None, ()).findings
    assert "only 3 of 4 envelopes are signed" in findings


BLOBS = (
    b"-----BEGIN SSH SIGNATURE-----\n!!\n-----END SSH SIGNATURE-----",
    b"-----BEGIN SSH SIGNATURE-----\nAAAA",
    b"SSHSIG",
    b"SSHSIG\0\0\0\1" + b"\xff" * 8,
    b"SSHSIG\0\0\0\1" + b"\0" * 40,
    b"SSHSIG\0\0\0\2" + b"\0" * 40,
)


@pytest.mark.parametrize("sig", BLOBS)
def test_hostile_signatures(sig: bytes, signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    for one in found:
        one["signatures"] = [{"keyid": "\x1b[31m", "sig": base64.b64encode(sig).decode()}]
    bundles.put(signed.file, found)
    for allowed in (None, str(signed.allowed)):
        report = check_bundle(str(signed.file), allowed, ())
        assert report.findings
        assert not any("\x1b" in what for what in report.findings)


def test_a_signature_of_no_known_kind(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    for one in found:
        one["signatures"] = [{"sig": base64.b64encode(b"what").decode()}]
    bundles.put(signed.file, found)
    report = check_bundle(str(signed.file), None, ())
    assert (report.findings, report.signed) == ((), False)
    assert len(signed.check().findings) == 4


def test_key_files(signed: Set, tmp_path: Path) -> None:
    from tests.cli.evidence.test_export import pem

    _, public = pem(tmp_path, "ed25519")
    report = check_bundle(str(signed.file), None, (str(public),))
    assert len(report.findings) == 4  # signed by an SSH key, which that list does not name
    (tmp_path / "bad.pub").write_text("no key")
    with pytest.raises(InputError, match="no public key"):
        check_bundle(str(signed.file), None, (str(tmp_path / "bad.pub"),))


def test_a_key_file_s_signature_that_does_not_fit(signed: Set, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.signer import SSlibKey

    from tests.cli.evidence.test_export import pem

    _, public = pem(tmp_path, "ecdsa")
    keyid = SSlibKey.from_crypto(load_pem_public_key(public.read_bytes())).keyid
    found = bundles.envelopes(signed.file)
    for one in found:
        one["signatures"] = [{"keyid": keyid, "sig": base64.b64encode(b"x" * 64).decode()}]
    bundles.put(signed.file, found)
    findings = check_bundle(str(signed.file), None, (str(public),)).findings
    assert any("does not fit what is signed" in what for what in findings)


# --- files that are no bundle --------------------------------------------------------------------

ENVELOPE = {"payloadType": "application/vnd.in-toto+json", "payload": "e30=", "signatures": []}


def line(**more: Any) -> bytes:
    return json.dumps({**ENVELOPE, **more}).encode()


NO_BUNDLES: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n\n",
    "no JSON": b"{",
    "something behind it": line() + b" {}",
    "a list": b"[]",
    "a number": b"1",
    "not UTF-8": b'{"payload": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a key twice": b'{"payloadType": "a", "payloadType": "b", "payload": "", "signatures": []}',
    "too deep": b"[" * 5000 + b"]" * 5000,
    "no number": b'{"payload": NaN}',
    "a huge number": b'{"payload": ' + b"9" * 5000 + b"}",
    "a lone surrogate": b'{"payload": "\\ud800"}',
    "no payload": b'{"payloadType": "a", "signatures": []}',
    "a payload of another type": line(payload=1),
    "a payload that is no base64": line(payload="e30"),
    "base64 with blanks": line(payload="e3 0="),
    "base64 with other letters": line(payload="e3\u00e9="),
    "no list of signatures": line(signatures={}),
    "a signature that is a text": line(signatures=["x"]),
    "a signature without sig": line(signatures=[{"keyid": "a"}]),
    "a sig that is no base64": line(signatures=[{"sig": "?"}]),
    "a long keyid": line(signatures=[{"keyid": "k" * 300, "sig": ""}]),
    "a long sig": line(signatures=[{"sig": "A" * 70_000}]),
    "many signatures": line(signatures=[{"sig": ""}] * 17),
    "a long payloadType": line(payloadType="x" * 300),
    "many envelopes": (line() + b"\n") * 2001,
}


@pytest.mark.parametrize("what", NO_BUNDLES)
def test_a_file_that_is_no_bundle_is_bad_input(what: str, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(NO_BUNDLES[what])
    with pytest.raises(ContractError) as caught:
        check_bundle(str(tmp_path / "b"), None, ())
    assert caught.value.exit_code == 2
    assert all(fault.file and fault.file.startswith("b") for fault in caught.value.faults)


PAYLOADS: dict[str, bytes] = {
    "an empty object": b"{}",
    "an older type of Statement": json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v0.1",
            "predicateType": bundles.SUMMARY,
            "subject": [{"name": "a", "digest": {"sha256": OTHER}}],
            "predicate": {},
        }
    ).encode(),
    "something behind it": b"{} {}",
    "no JSON": b"what",
    "a key twice": b'{"_type": 1, "_type": 2}',
    "too deep": b"[" * 100 + b"]" * 100,
    "a list": b"[]",
}


@pytest.mark.parametrize("what", PAYLOADS)
def test_a_payload_that_is_no_statement_is_a_finding(what: str, tmp_path: Path) -> None:
    encoded = base64.b64encode(PAYLOADS[what]).decode()
    (tmp_path / "b").write_bytes(line(payload=encoded))
    report = check_bundle(str(tmp_path / "b"), None, ())
    assert len(report.findings) == 2  # the payload, and no record
    assert all("line 1" in f or "0 records" in f for f in report.findings)


def test_another_payload_type_is_a_finding(signed: Set) -> None:
    found = bundles.envelopes(signed.file)
    found[0]["payloadType"] = "application/json"
    bundles.put(signed.file, found)
    assert any("payloadType is application/json" in f for f in signed.unsigned().findings)


def test_thousands_of_findings_are_cut(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes((line() + b"\n") * 1500)
    report = check_bundle(str(tmp_path / "b"), None, ())
    assert len(report.findings) == 101
    assert report.findings[-1] == "and 1,401 more"


def test_a_bundle_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flow.adapters.exchange import dsse

    monkeypatch.setattr(dsse, "LIMIT", 1000)
    (tmp_path / "b").write_bytes(b" " * 1001)
    with pytest.raises(InputError, match="larger than 1000 bytes"):
        check_bundle(str(tmp_path / "b"), None, ())


@pytest.mark.parametrize("name", ["missing", "."])
def test_files_that_cannot_be_read(name: str, signed: Set, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        check_bundle(str(tmp_path / name), None, ())
    with pytest.raises(InputError):
        check_bundle(str(signed.file), str(tmp_path / name), ())


def test_what_it_shows_is_safe_for_a_terminal(signed: Set) -> None:
    def how(said: dict[str, Any]) -> None:
        said["predicate"]["verificationResult"] = "\x1b[2JPASSED\u202e"
        said["predicateType"] = "\x1b]0;x\x07"

    bundles.unsigned(bundles.change(signed.file, SUMMARY, how))
    ran = scene.flow(GitRepo(signed.file.parent), "evidence", "verify", "--bundle", signed.file)
    assert ran.status == 1
    assert not any(mark in ran.stdout for mark in "\x1b\x07\u202e")


def test_from_standard_input(signed: Set) -> None:
    text = signed.file.read_text()
    folder = GitRepo(signed.file.parent)
    ran = scene.flow(folder, "evidence", "verify", "--bundle", "-", "--json", input=text)
    assert (ran.status, ran.json["goal_id"]) == (0, "greet")


@pytest.mark.slow
def test_any_byte_of_what_is_signed_is_found_when_it_is_another(signed: Set) -> None:
    """Sampled over the file, a byte of each envelope at a time.

    What changes no payload (a blank, the hint at the key) may pass.
    """

    def read(line: bytes) -> list[tuple[str, bytes]]:
        return [(one.payload_type, one.payload) for one in dsse.read_bundle(line, "b")]

    sound = signed.file.read_bytes().splitlines(keepends=True)
    places = [
        [(number, place) for place in range(7, len(line), max(len(line) // 7, 1))]
        for number, line in enumerate(sound)
    ]
    tried = 0
    for round in zip_longest(*places):
        lines = list(sound)
        for number, place in filter(None, round):
            line = sound[number]
            altered = line[:place] + bytes((line[place] ^ 1,)) + line[place + 1 :]
            with suppress(ContractError):
                if read(altered) != read(line):
                    lines[number] = altered
        signed.file.write_bytes(b"".join(lines))
        found = signed.check().findings if lines != sound else ()
        for number, line in enumerate(lines, 1):
            if line != sound[number - 1]:
                assert any(f"line {number}" in what for what in found), (round, found)
                tried += 1
    assert tried > 8


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "b: line 2, column 2: not a JSON document: "),
        (b'{"a": 1, "a": 2}', "b: line 2: a: is given twice"),
        (b"[]", "b: line 2: is no DSSE envelope"),
    ],
)
def test_a_fault_in_a_line_has_that_lines_place_once(line: bytes, told: str) -> None:
    with pytest.raises(ContractError) as caught:
        dsse.read_bundle(b"\n" + line + b"\n", "b")
    assert str(caught.value.faults[0]).startswith(told)
