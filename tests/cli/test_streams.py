"""What happens to the output: pipes that close, encodings, hostile text."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support import ROOT, GitRepo, run, scene

FLOW = os.path.join(ROOT, "bin", "flow")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.start(repo)


def started(work: GitRepo, *words: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "FLOW_PYTHON": sys.executable, **more.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [FLOW, *words], cwd=work.path, env=env, stderr=subprocess.PIPE, timeout=300, **more
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [(["goal", "evaluate", "greet"], 1), (["goal", "list"], 0), (["schema", "goal"], 0)],
)
def test_a_reader_that_leaves_changes_nothing(work: GitRepo, words: list[str], status: int) -> None:
    scene.create(work)
    reader, writer = os.pipe()
    os.close(reader)
    done = started(work, *words, stdout=writer)
    os.close(writer)
    assert done.returncode == status
    assert b"roken" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("stream", ["1>&-", "2>&-", "0<&-", "1>&- 2>&- 0<&-"])
def test_closed_streams(work: GitRepo, stream: str) -> None:
    scene.create(work)
    scene.meet(work)
    done = run(
        ["bash", "-c", f'"{FLOW}" goal evaluate greet {stream}'],
        cwd=work.path,
        env={"FLOW_PYTHON": sys.executable},
    )
    assert done.status == 0, done
    assert "Traceback" not in done.stderr


def test_what_an_encoding_lacks_is_replaced(work: GitRepo) -> None:
    ascii = {"PYTHONIOENCODING": "ascii"}
    words = ("--outcome", "prêt ✓ 完了", "--criterion", "AC1: x :: true")
    done = scene.flow_started(work, "goal", "create", "greet", *words, env=ascii)
    assert done.status == 0, done.stderr
    status = ("goal", "status", "greet")
    for env, wanted in (
        (ascii, b"pr?t ? ??"),
        ({"LC_ALL": "en_US.ISO-8859-1"}, "prêt ? ??".encode("latin-1")),
        ({"LC_ALL": "C"}, "prêt ✓ 完了".encode()),
        ({"LANG": ""}, "prêt ✓ 完了".encode()),
    ):
        shown = started(work, *status, env=env, stdout=subprocess.PIPE)
        assert shown.returncode == 0, env
        assert wanted in shown.stdout, env
    as_json = started(work, *status, "--json", env=ascii, stdout=subprocess.PIPE)
    assert json.loads(as_json.stdout)["outcome"] == "prêt ✓ 完了"
    assert as_json.stdout.isascii()


def test_hostile_text_reaches_no_terminal(work: GitRepo) -> None:
    evil = "a\\e[2J\\e]0;title\\a\\u202Eb"  # YAML escapes
    text = f"""\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {{id: greet, created_at: "2026-01-01T00:00:00Z"}}
scope: {{repo: r, branch: main}}
objective:
  outcome: "{evil}"
  acceptance_criteria:
    - id: AC1
      text: "{evil}"
      status: pending
      verification_command: "printf '\\\\033[2Jseen\\\\007'; true"
    - {{id: AC2, text: "{evil}", status: pending}}
evaluator: {{type: hybrid}}
lifecycle: {{status: draft}}
"""
    work.write("goal.yaml", text)
    outputs = []
    for words in (
        ["goal", "create", "--file", "goal.yaml", "--draft"],
        ["goal", "status", "greet"],
        ["goal", "list"],
        ["goal", "inspect", "greet"],
        ["goal", "activate", "greet"],
        ["goal", "evaluate", "greet"],
        ["goal", "history", "greet"],
        ["goal", "approve", "greet", "AC2", "--by", "e\x1b[2Jvil", "--note", "\x1b[2J", "--yes"],
        ["evidence", "list", "greet"],
        ["evidence", "show", "evidence-ac1-eval-1", "--goal", "greet"],
        ["journal", "show", "--goal", "greet"],
        ["trust", "list"],
        ["goal", "create", "--file", "no\x1b[2Jsuch"],
        ["goal", "evaluate", "\x1b[2J"],
        ["\x1b[2J"],
    ):
        done = scene.flow(work, *words)
        outputs.append((words, done.stdout + done.stderr))
    for words, output in outputs:
        assert "\x1b" not in output, words
        assert "\u202e" not in output, words
        assert "\x07" not in output, words
    assert "\n\\x1b[2Jseen\\x07\n" in outputs[9][1]  # colours go, the rest is shown


def test_a_file_name_that_is_not_utf_8(work: GitRepo) -> None:
    scene.create(work)
    try:
        with open(os.fsencode(work.path) + b"/bad\xff\x1bname", "w"):
            pass
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    done = scene.flow(work, "goal", "evaluate", "greet")
    assert done.status == 3
    assert "bad\\xff\\x1bname" in done.stdout
    as_json = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert as_json.json["path_violations"] == ["bad\\xff\\x1bname"]


def test_a_warning_is_on_stderr_and_in_the_document(work: GitRepo) -> None:
    scene.create(work)
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path) + "  curent_phase: x\n")
    told = scene.flow(work, "goal", "status", "greet")
    assert "curent_phase" in told.stderr
    assert "curent_phase" not in told.stdout
    as_json = scene.flow(work, "goal", "status", "greet", "--json")
    assert as_json.stderr == ""
    assert "curent_phase" in as_json.json["warnings"][0]


@pytest.mark.parametrize(
    ("named", "ascii_marks"),
    [
        ({"LANG": "C"}, True),
        ({"LANG": "POSIX"}, True),
        ({"LC_ALL": "C"}, True),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, False),
        ({}, False),
        ({"TERM": "dumb"}, True),
    ],
)
def test_marks_are_ascii_where_the_locale_is_c(
    named: dict[str, str], ascii_marks: bool, work: GitRepo
) -> None:
    scene.create(work)
    plain = {name: value for name, value in os.environ.items() if name[:3] not in ("LAN", "LC_")}
    done = subprocess.run(
        [f"{ROOT}/bin/flow", "goal", "list"],
        cwd=work.path,
        env={**plain, "FLOW_PYTHON": sys.executable, "TERM": "xterm", **named},
        capture_output=True,
        check=True,
    )
    assert done.stdout.isascii() == ascii_marks
