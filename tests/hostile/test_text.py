"""Hostile words: ids that lead elsewhere, and text that would do something to a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.hostile.scene import CONTROL, EVIDENCE_TEXT, GOAL, RUN, RUN_DIR, Done, Scene, check
from tests.support import ROOT, GitRepo

if TYPE_CHECKING:
    from pathlib import Path

IDS = (
    "../x",
    "..",
    ".",
    "",
    "/etc/passwd",
    "a/b",
    "a\0b",
    "a\nb",
    "greet\n",
    "a\u202eb",
    "gre\u200bet",
    "\x1b[2J",
    "x" * 300,
    ".hidden",
    "é",
    "\udcff",
    "con fig",
)
TAKES_AN_ID = (
    ("goal", "status", "ID"),
    ("goal", "history", "ID"),
    ("goal", "inspect", "ID"),
    ("goal", "evaluate", "ID"),
    ("goal", "evaluate", GOAL, "--run-id", "ID"),
    ("goal", "confirm", "ID", "--proposal", "0" * 64),
    ("goal", "confirm", GOAL, "--proposal", "ID"),
    ("goal", "activate", "ID"),
    ("goal", "pause", "ID"),
    ("goal", "resume", "ID"),
    ("goal", "clear", "ID", "--yes"),
    ("goal", "approve", "ID", "AC2", "--by", "x", "--note", "y", "--yes"),
    ("goal", "approve", GOAL, "ID", "--by", "x", "--note", "y", "--yes"),
    ("goal", "rebase", "ID", "--yes"),
    ("goal", "amend", "ID", "--file", "goal.yaml", "--yes"),
    ("goal", "create", "ID", "--outcome", "x", "--criterion", "AC1: x :: true"),
    ("goal", "create", "new", "--from", "ID"),
    ("evidence", "record", "--run-id", "ID", "--evidence-file", "evidence.yaml"),
    ("evidence", "list", "ID"),
    ("evidence", "list", "--run-id", "ID"),
    ("evidence", "show", "ID"),
    ("evidence", "show", "x", "--goal", "ID"),
    ("evidence", "show", "x", "--run-id", "ID"),
    ("verdict", "record", "--run-id", "ID", "--verdict-file", "verdict.json"),
    ("verdict", "show", "ID"),
    ("verdict", "show", "--run-id", "ID"),
    ("journal", "show", "--goal", "ID"),
    ("journal", "show", "--issue", "ID"),
    ("journal", "record", "--issue", "ID", "--type", "note"),
    ("journal", "record", "--issue", "7", "--type", "ID"),
    ("trust", "record", "ID", "--yes"),
    ("trust", "check", "ID"),
    ("trust", "revoke", "ID"),
    ("report", "ID"),
)
HELPERS = (
    ("flow-record-evidence", "--run-id", "ID", "--evidence-file", "evidence.yaml"),
    ("flow-record-verdict", "--run-id", "ID", "--verdict-file", "verdict.json"),
    (
        *("flow-goal-record", "--update-lifecycle", "--goal-id", "ID"),
        *("--lifecycle-file", "lifecycle.yaml"),
    ),
    ("journal-record", "--issue", "ID", "--type", "note"),
    ("journal-record", "--issue", "7", "--type", "ID"),
)


@pytest.mark.parametrize("words", [*TAKES_AN_ID, *HELPERS], ids=" ".join)
def test_an_id_that_is_none_is_refused(scene: Scene, words: tuple[str, ...]) -> None:
    before = scene._look()
    for number, bad in enumerate(IDS, len(words)):  # in either form, in turn
        given = [bad if word == "ID" else word for word in words]
        more = ["--json"] if number % 2 and words not in HELPERS else []
        done = scene.helper(*given) if words in HELPERS else scene.flow(*given, *more)
        check(done, (words, bad), as_json=bool(more))
        assert done.status == (1 if words in HELPERS else 2), (bad, done)
        assert done.text.strip(), bad
    after = scene._look()
    new = {rel for rel in after.keys() - before.keys() if not rel.startswith("home/state/cache")}
    assert {rel for rel in new if not rel.endswith(".lock")} == set()
    assert all(after[rel] == what for rel, what in before.items() if "/state/" not in rel)


EVIL = "a\x1b[2J\x1b]0;t\x07\x9b1m\u202eb\u2066c\u200fd\r\x08e"
ESCAPED = json.dumps(EVIL)
"""As JSON and YAML hold it."""


def evil_goal(branch: str) -> str:
    return f"""\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {{id: evil, created_at: "2026-03-01T10:15:00Z", created_by: x}}
scope: {{repo: "r\u202e", branch: {json.dumps(branch)}, issue: 9, run_id: r9}}
objective:
  outcome: {ESCAPED}
  source: {ESCAPED}
  acceptance_criteria:
    - id: AC1
      text: {ESCAPED}
      status: pending
      verification_command: "printf '\\\\033[2J\\\\302\\\\233\\\\342\\\\200\\\\256\\\\r\\\\n'; true"
      limitations: [{ESCAPED}]
      {ESCAPED}: {ESCAPED}
    - {{id: AC2, text: {ESCAPED}, status: pending, must_pass: false, rubric: house}}
    - {{id: AC3, text: {ESCAPED}, status: pending}}
specification: {{non_goals: [{ESCAPED}], failure_modes: [{ESCAPED}]}}
constraints: {{denied_paths: [{json.dumps("x" + EVIL + "*")}]}}
evaluator: {{type: hybrid, denied_context: [{ESCAPED}]}}
continuation: {{on_blocked: {ESCAPED}}}
lifecycle: {{status: draft, current_phase: {ESCAPED}}}
"""


SHOWING = (
    ("goal", "status", "evil"),
    ("goal", "status"),
    ("goal", "list"),
    ("goal", "history", "evil"),
    ("goal", "inspect", "evil"),
    ("evidence", "list", "evil"),
    ("evidence", "show", "evidence-ac1-eval-1", "--goal", "evil"),
    ("evidence", "show", "shown", "--goal", "evil"),
    ("verdict", "show", "evil"),
    ("verdict", "show", "--run-id", "r10"),
    ("journal", "show", "--goal", "evil"),
    ("trust", "list"),
    ("trust", "check", "evil"),
    ("config", "list", "--show-origin"),
    ("report", "evil"),
    ("doctor",),
    ("schema", "goal"),
)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A scene in a folder with a hostile name, on a hostile branch, with hostile text all over."""
    parent = tmp_path_factory.mktemp("evil") / "p\x1b[2J\u202e\nq"
    (parent / "home").mkdir(parents=True)
    (parent / "home/.gitconfig").write_text("[user]\n\tname = T\n\temail = t@e\n")
    home, os.environ["HOME"] = os.environ["HOME"], str(parent / "home")
    try:
        made = Scene(parent, GitRepo.init(parent / "repo", "--initial-branch=main"))
        made.environ["USER"] = EVIL
        branch = "fe\u202eat\u2066ure"
        made.git("switch", "--quiet", "-c", branch)
        made.write_top("evil.yaml", evil_goal(branch).encode())
        amended = evil_goal(branch).replace("must_pass: false, ", "").replace("[2J", "[3J")
        made.write_top("amended.yaml", amended.encode())
        made.write_top(f"src/bad\x1b[2J\u202ename{chr(0xDC9B)}".replace(chr(0xDC9B), ""), b"x")
        made.write_top(f"out{EVIL.replace('/', '')}side.txt", b"x")
        calls = [
            ("goal", "create", "--file", "evil.yaml"),
            ("goal", "evaluate", "evil"),
            ("goal", "approve", "evil", "AC3", "--by", "N", "--note", EVIL, "--yes"),
            ("goal", "pause", "evil", "--reason", EVIL),
            ("goal", "resume", "evil", "--reason", EVIL),
            ("trust", "revoke", "evil"),
            ("trust", "record", "evil", "--yes"),
            ("journal", "record", "--issue", "9", "--type", "note", "--metadata", f"x={EVIL}"),
        ]
        text = EVIDENCE_TEXT.replace(f"goal: {GOAL}", "goal: evil").replace(RUN, "r9")
        text = text.replace("by-hand", "shown").replace("make test", ESCAPED)
        made.write_top("e.yaml", text.replace("One machine only", ESCAPED).encode())
        made.write_top("raw.txt", EVIL.encode() + b"\x00\xff\x9b\n")
        record = ("evidence", "record", "--run-id", "r9", "--evidence-file", "e.yaml")
        calls.append((*record, "--raw-output", "raw.txt"))
        verdict = {"verdict": "blocked", "confidence": 0.5, "delta": "unchanged", "reason": EVIL}
        rows = [{"criterion_id": "AC1", "status": "fail", "reason": EVIL, "evidence_ref": EVIL}]
        more = {"next_step_hint": EVIL, "warnings": [EVIL], "path_violations": [EVIL]}
        document = {**verdict, **more, "criterion_results": rows, "source": EVIL}
        made.write_top("v.json", json.dumps(document).encode())
        calls.append(("verdict", "record", "--run-id", "r10", "--verdict-file", "v.json"))
        for words in calls:
            done = made.flow(*words)
            check(done, words)
            assert done.status in (0, 1, 3, 4), (words, done)
        with open(f"{made.top}/.flow/runs/r9/events.jsonl", "a") as file:
            event = {"at": EVIL, "seq": 99, "type": EVIL, "goal_id": "evil", "reason": EVIL}
            file.write(json.dumps({**event, EVIL: [EVIL], "from": EVIL, "to": EVIL}) + "\n")
        with open(f"{made.top}/.decisions/issue-9.md", "ab") as file:
            file.write(EVIL.encode() + b"\xff\x9b\n")
        made.write_top(".claude/settings.flow.local.json", json.dumps({EVIL: EVIL}).encode())
        for name in ("broken\x1b[2J", "bro\u202eken"):
            made.write_top(f".flow/goals/{name}.goal.yaml", b"x")
        made.write_top(".flow/goals/broken.goal.yaml", f"{ESCAPED}: {ESCAPED}\n".encode())
        made.write_top(f".decisions/{EVIL}.md", b"---\n[")
        made.write_top(f".flow/runs/.pending/{EVIL}.json", b"x")
        made.save()
    finally:
        os.environ["HOME"] = home
    return made


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_nothing_reaches_a_terminal_as_it_is(
    evil: Scene, words: tuple[str, ...], as_json: bool
) -> None:
    done = evil.flow(*words, *(["--json"] if as_json else []))
    check(done, words, as_json=as_json)
    assert done.status in (0, 1, 4), done
    if words[0] not in ("schema", "config", "trust") and words[:2] != ("evidence", "list"):
        assert "u202e" in done.text.lower(), done  # it is shown, escaped


@pytest.mark.parametrize(
    "words",
    [
        ("goal", "evaluate", "evil"),
        ("goal", "evaluate", "evil", "--json"),
        ("goal", "evaluate", "evil", "--only", EVIL),
        ("goal", "evaluate", "evil", "--base", EVIL),
        ("goal", "create", "--file", EVIL),
        ("goal", "create", "x", "--outcome", EVIL, "--criterion", EVIL),
        ("goal", "create", "y", "--outcome", EVIL, "--criterion", f"AC1: {EVIL} :: true"),
        ("goal", "create", "z", "--outcome", "x", "--criterion", "AC1: x :: true", "--allow", EVIL),
        ("goal", "create", "w", "--outcome", "x", "--criterion", "AC1: x", "--base", EVIL),
        ("goal", "approve", "evil", EVIL, "--by", EVIL, "--note", EVIL, "--yes"),
        ("goal", "clear", "evil", "--reason", EVIL, "--yes"),
        ("goal", "amend", "evil", "--file", EVIL, "--yes"),
        ("goal", "amend", "evil", "--file", "amended.yaml"),
        (
            "goal",
            "amend",
            "evil",
            "--file",
            "amended.yaml",
            "--by",
            EVIL,
            "--reason",
            EVIL,
            "--yes",
        ),
        ("trust", "record", "--goal-file", EVIL, "--yes"),
        ("trust", "check", "--goal-file", EVIL),
        ("evidence", "record", "--run-id", "r9", "--evidence-file", EVIL),
        ("evidence", "record", "--run-id", "r9", "--evidence-file", "e.yaml", "--raw-output", EVIL),
        ("verdict", "record", "--run-id", "r9", "--verdict-file", EVIL),
        ("journal", "record", "--issue", "9", "--type", "note", "--metadata", EVIL),
        ("report", "evil", "--output", EVIL),
        ("doctor", "--fix"),
        (EVIL,),
        ("goal", EVIL),
        ("goal", "status", "evil", EVIL),
        ("goal", "status", f"--{EVIL}"),
        ("init",),
    ],
    ids=lambda words: " ".join(words).replace(EVIL, "EVIL"),
)
def test_words_of_the_caller_are_escaped_too(evil: Scene, words: tuple[str, ...]) -> None:
    try:
        check(evil.flow(*words), words, as_json="--json" in words)
    finally:
        evil.restore()


def test_a_goal_file_with_a_hostile_name_that_is_there(evil: Scene) -> None:
    evil.write_top(EVIL, evil.read("evil.yaml"))
    try:
        for words in (
            ("trust", "record", "--goal-file", EVIL, "--yes"),
            ("trust", "record", "--goal-file", EVIL, "--yes"),
            ("trust", "check", "--goal-file", EVIL),
            ("report", "evil", "--output", f"{EVIL}.html"),
        ):
            done = evil.flow(*words)
            check(done, words)
            assert done.status == 0, done
        for name, *words in (
            ("flow-goal-trust", "check", "--goal-file", EVIL),
            ("flow-goal-trust", "record", "--goal-file", EVIL),
            ("flow-goal-trust", "list"),
            ("flow-active-goal", "--branch", EVIL),
            ("flow-active-goal", "--json"),
            ("flow-active-goal", EVIL),
        ):
            check(evil.helper(name, *words), (name, words))
    finally:
        evil.restore()


# --- streams, as real processes ---


def start(scene: Scene, words: list[str], redirect: str, **more: str) -> Done:
    """``bin/NAME WORDS`` with its streams as a shell redirects them."""
    script = f'{ROOT}/bin/"$0" "$@" {redirect}'
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}", *words],
        cwd=scene.top,
        env={**scene.environ, "FLOW_PYTHON": sys.executable, **more},
        capture_output=True,
        timeout=120,
    )
    texts = (done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    return Done(done.returncode, *texts, 0)


@pytest.mark.parametrize(
    ("redirect", "words", "status"),
    [
        (">/dev/full", ["flow", "goal", "list"], 5),
        (">/dev/full", ["flow", "goal", "evaluate", GOAL, "--json"], 5),
        (">/dev/full", ["flow", "schema", "goal"], 5),
        (">/dev/full", ["flow-active-goal.sh"], 2),
        (">/dev/full", ["journal-record.sh", "--issue", "7", "--type", "note"], 0),
        (">/dev/full", ["flow", "goal", "status", "none"], 2),
        ("2>/dev/full", ["flow", "goal", "list"], 0),
        ("2>/dev/full", ["flow", "goal", "status", "none"], 2),
        (">/dev/full 2>&1", ["flow", "goal", "list"], 5),
        (">&-", ["flow", "goal", "list"], 0),
        (">&- 2>&- <&-", ["flow", "goal", "evaluate", GOAL], 0),
        (">&- 2>&- <&-", ["flow-active-goal.sh"], 0),
        ("| head -1 >/dev/null", ["flow", "goal", "inspect", GOAL], 0),
        ("| head -c 5 >/dev/null", ["flow", "schema", "goal"], 0),
        ("2>&1 | true", ["flow", "goal", "status", "none"], 2),
    ],
)
def test_streams_that_take_nothing(
    scene: Scene, redirect: str, words: list[str], status: int
) -> None:
    before = scene.outside()
    done = start(scene, words, redirect)
    assert done.status == status, done
    assert "Traceback" not in done.text
    assert "Exception ignored" not in done.text
    assert done.stderr.count("\n") <= 1 or words[1:3] == ["goal", "evaluate"], done
    assert scene.outside() == before


@pytest.mark.parametrize(
    "env",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LC_ALL": "xx_YY.none"}],
    ids=str,
)
def test_hostile_text_in_another_encoding(evil: Scene, env: dict[str, str]) -> None:
    for words in (
        ["flow", "goal", "status", "evil"],
        ["flow", "goal", "list", "--json"],
        ["flow-active-goal.sh", "--json"],
    ):
        done = start(evil, words, "", **env)
        check(done, (words, env))
        assert done.status == (0 if words[0] == "flow" else done.status), done
    assert CONTROL.search(done.text) is None


def test_run_dir_is_the_scenes(scene: Scene, tmp_path: Path) -> None:
    """The scene is what the tests take it for."""
    assert os.path.isdir(f"{scene.top}/{RUN_DIR}")
    assert scene.flow("goal", "status", GOAL).status == 0
    assert scene.flow("doctor").status == 0
