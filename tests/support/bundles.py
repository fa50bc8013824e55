"""Exported bundles for tests: made by Flow, taken apart, changed, put together again."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from tests.support import scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import GitRepo, Ran

RECORD = "https://flow.synapti.ai/attestation/evidence-record/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY = "https://slsa.dev/verification_summary/v1"


def done(repo: GitRepo, *more: str) -> GitRepo:
    """A goal whose work is committed, evaluated and proposed."""
    scene.create(scene.start(repo), "greet", *more)
    scene.meet(repo)
    repo.commit("the work")
    ran = scene.step(repo, "goal", "evaluate", "greet", "--no-judge", "--json")
    assert ran.status in (0, 1, 4), ran
    return repo


def close(repo: GitRepo) -> GitRepo:
    """Confirm what is proposed."""
    ran = scene.step(repo, "goal", "status", "greet", "--json")
    proposal = ran.json["proposal"]["proposal_id"]
    confirmed = scene.step(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert confirmed.status == 0, confirmed
    return repo


def key(path: Path, *, passphrase: str = "", kind: str = "ed25519") -> Path:
    """A new SSH key."""
    argv = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "tester", "-f", os.fspath(path)]
    argv += ["-b", "2048"] if kind == "rsa" else []  # a longer one takes a second to find
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return path


def allowed(path: Path, key: Path, *, who: str = "tester@example.org", options: str = "") -> Path:
    """A list of allowed signers with one key."""
    public = key.with_name(f"{key.name}.pub").read_text()
    path.write_text(" ".join(part for part in (who, options, public) if part))
    return path


def export(repo: GitRepo, file: Path, *words: str | Path) -> list[dict[str, Any]]:
    """Export to ``file``; returns the envelopes."""
    ran = scene.flow(repo, "evidence", "export", "greet", "--output", file, *words)
    assert ran.status == 0, ran
    return envelopes(file)


def verify(file: Path, *words: str | Path, cwd: Path | None = None) -> Ran:
    """``flow evidence verify --bundle``, in a folder without a repository."""
    from tests.support import run_flow

    folder = cwd or file.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    return run_flow("evidence", "verify", "--bundle", file, "--json", *words, cwd=folder)


def envelopes(file: Path) -> list[dict[str, Any]]:
    """The envelopes of a bundle."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def statements(file: Path) -> list[dict[str, Any]]:
    """The Statements of a bundle."""
    return [statement(one) for one in envelopes(file)]


def statement(envelope: dict[str, Any]) -> dict[str, Any]:
    """The Statement in an envelope."""
    found: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return found


def put(file: Path, found: list[dict[str, Any]]) -> Path:
    """Write envelopes."""
    file.write_text("".join(json.dumps(one) + "\n" for one in found))
    return file


def payload(value: Any) -> str:
    """A payload as Flow writes it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return base64.b64encode(text.encode()).decode()


def change(file: Path, kind: str, how: Callable[[dict[str, Any]], None]) -> Path:
    """Change the first Statement of a kind, and leave the signatures as they are."""
    found = envelopes(file)
    for one in found:
        said = statement(one)
        if said["predicateType"] == kind:
            how(said)
            one["payload"] = payload(said)
            break
    else:
        raise AssertionError(f"no {kind}")
    return put(file, found)


def unsigned(file: Path) -> Path:
    """The bundle without its signatures."""
    found = envelopes(file)
    for one in found:
        one["signatures"] = []
    return put(file, found)
