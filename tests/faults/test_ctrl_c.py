"""Ctrl-C at the moments when nothing is under way: a start, an answer, an end."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from flow.startup import ctrl_c
from tests.faults.scenes import CALL_TIMEOUT, Scene
from tests.faults.test_found import patched
from tests.faults.view import look
from tests.support import ROOT

NOW = "import os, signal, sys\nnow = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
IMPORTS = """
def told(event, about):
    if event == "import" and about[0] == NAME:
        now()
sys.addaudithook(told)  # whichever finder is asked
"""
"""It comes while a module is being imported."""
BEFORE = """
import pkgutil
module = pkgutil.resolve_name(MODULE)
def later(*words, real=module.NAME):
    now()
    return real(*words)
module.NAME = later
"""
"""It comes as a function is called."""
BEHIND = """
import pkgutil
module = pkgutil.resolve_name(MODULE)
def later(*words, real=module.NAME):
    done = real(*words)
    now()
    return done
module.NAME = later
"""
ENDING = "import atexit\natexit.register(now)\n"
WORK = """
from flow.adapters.journal import journals
from flow.wiring import stopping
from flow.wiring.judging import auto_mode as auto_judging
def work(*_, **__):
    now()
    return "a journal"
auto_judging.on_stop = stopping.Stopping.stop = journals.record_entry = work
"""
"""It comes while the work is done."""


def importing(name: str) -> str:
    return NOW + IMPORTS.replace("NAME", repr(name))


def at(text: str, function: str) -> str:
    module, _, name = function.rpartition(".")
    return NOW + text.replace("MODULE", repr(module)).replace("NAME", name)


@pytest.fixture
def scene(tmp_path):
    return Scene(os.path.realpath(tmp_path / "scene")).start()


ENDED = "the hook was ended before it was done"


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        (importing("flow.hook"), True),
        (at(BEFORE, "flow.hook._failed_answer") + WORK, True),
        (at(BEFORE, "flow.hook._print_answer"), False),
        (NOW + ENDING, False),
    ],
)
def test_the_stop_hook_answers_whenever_ctrl_c_comes(scene, code, ended):
    event = {"session_id": "s", "cwd": scene.repo, "hook_event_name": "Stop"}
    done = patched(scene, code, "hook", "stop", "--", json.dumps(event))
    assert (done.status, done.stderr) == (0, "")
    assert done.json["decision"] == "approve"
    assert (ENDED in done.json["reason"]) is ended


@pytest.mark.parametrize("code", [NOW + WORK, at(BEFORE, "flow.hook._print_answer"), NOW + ENDING])
def test_so_does_the_judges_hook(scene, code):
    scene.write("judge-config.json", '{"autoJudge": true}')
    event = {"session_id": "s", "cwd": scene.repo, "hook_event_name": "Stop"}
    done = patched(scene, code, "hook", "judge", "--", json.dumps(event))
    assert (done.status, done.stderr) == (0, "")
    assert isinstance(done.json, dict)


@pytest.mark.parametrize(
    ("code", "status", "noted"),
    [
        (importing("flow.cli.main"), 130, 0),
        (at(BEHIND, "flow.cli.output.Output.result"), 130, 1),
        (at(BEFORE, "flow.cli.output.Output.error") + WORK, 130, 0),
        (NOW + ENDING, 0, 1),
    ],
)
def test_a_command_prints_one_document_and_no_traceback(scene, code, status, noted):
    words = ("journal", "record", "--issue", "7", "--type", "note", "--json")
    done = patched(scene, code, *words)
    assert (done.status, done.stderr) == (status, "flow: interrupted\n" if noted and status else "")
    assert ("error" in done.json) is not bool(noted)
    assert sum(a["type"] == "note" for a in look(scene).artifacts) == noted


@pytest.mark.parametrize(
    ("code", "status", "noted"),
    [
        (importing("flow.helpers.table"), 130, 0),
        (at(BEFORE, "flow.helpers.words.write"), 130, 1),  # of the path, then of its own end
        (NOW + ENDING, 0, 1),
    ],
)
def test_a_helper_shows_no_traceback(scene, code, status, noted):
    words = ("journal-record", "--issue", "7", "--type", "note")
    done = patched(scene, code, *words, program="")
    assert (done.status, done.stdout) == (status, "")
    assert "Traceback" not in done.stderr
    assert sum(a["type"] == "note" for a in look(scene).artifacts) == noted


@pytest.fixture
def handler(monkeypatch):
    """Sets what SIGINT does in this process, which is nobody's; all of it is put back."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(ctrl_c, "_owned", False)
    monkeypatch.setattr(ctrl_c, "_missed", False)
    yield lambda what: signal.signal(signal.SIGINT, what)
    signal.signal(signal.SIGINT, before)


def test_it_counts_while_the_work_is_done_and_only_then(handler):
    handler(signal.default_int_handler)
    ctrl_c.own()
    signal.raise_signal(signal.SIGINT)  # too early: kept in mind
    with pytest.raises(KeyboardInterrupt), ctrl_c.HEARD:
        pytest.fail("it came before")
    with pytest.raises(KeyboardInterrupt), ctrl_c.HEARD:
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)  # too late
    ctrl_c.own(missed=True)
    with pytest.raises(KeyboardInterrupt), ctrl_c.HEARD:
        pytest.fail("it came before")


@pytest.mark.parametrize("what", [signal.SIG_IGN, signal.SIG_DFL, lambda *_: None])
def test_what_somebody_else_said_of_it_stays(handler, what):
    handler(what)
    ctrl_c.own()
    with ctrl_c.HEARD:
        assert signal.getsignal(signal.SIGINT) is what
    assert signal.getsignal(signal.SIGINT) is what


def test_a_program_that_imports_flow_keeps_its_own(handler):
    handler(signal.default_int_handler)
    with ctrl_c.HEARD:
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


GROUP = """#!/bin/bash
trap '' INT
kill -INT 0
%s
"""
"""An interpreter whose whole process group is interrupted, as a terminal does it."""


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.parametrize("script", ["scripts/flow-goal-evaluator.sh", "judge-on-stop.sh"])
def test_the_hooks_script_answers_an_interrupted_group(scene, script, answers):
    then = """echo '{"it": "answers"}'""" if answers else "exit 130"
    python = scene.hand("python", GROUP % then)
    os.chmod(python, 0o755)
    scene.write("judge-config.json", '{"autoJudge": true}')
    done = subprocess.run(
        [os.path.join(ROOT, "hooks", script)],
        cwd=scene.repo,
        env={**scene.env, "FLOW_PYTHON": python},
        input=json.dumps({"session_id": "s", "cwd": scene.repo, "hook_event_name": "Stop"}),
        capture_output=True,
        timeout=CALL_TIMEOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert (said == {"it": "answers"}) is answers
