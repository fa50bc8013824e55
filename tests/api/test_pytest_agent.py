"""The fixture ``run_agent``, in pytest runs of its own; the agent is a program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import flow.adapters.judges.agent_command  # noqa: F401 - loaded before pytester looks, or it unloads it each time
from tests.support.goal_judge import GoalJudge
from tests.support.judges.rubric_replies import reply

pytest_plugins = "pytester"

AGENT = """\
import json, os, sys, time
given = sys.stdin.read()
if "hang" in given:
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    time.sleep(60)
if "flood" in given:
    sys.stdout.write("x" * (9 << 20))
if "fail" in given:
    sys.exit("no key is set: \\x1b[31msk-ant-api03-" + "A" * 95)
print(json.dumps({"args": sys.argv[1:], "stdin": given, "cwd": os.getcwd()}))
"""


@pytest.fixture(autouse=True)
def _own_home(pytester: pytest.Pytester, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's home that is not the folder of the tests, as pytester has it."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("FLOW_AGENT_COMMAND", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture
def agent(tmp_path: Path) -> str:
    """The command of an agent that tells how it was called."""
    program = tmp_path / "the agent.py"
    program.write_text(AGENT)
    return f"{sys.executable} -I -S '{program}'"


def run(pytester: pytest.Pytester, body: str, *words: str) -> pytest.RunResult:
    pytester.makepyfile(test_a=f"import json, os, pathlib, pytest\n\n{body}")
    return pytester.runpytest_inprocess(
        "-p", "flow.pytest_plugin", "-p", "no:cacheprovider", *words
    )


def told(prompt: str, *checks: str, call: str = "") -> str:
    lines = "".join(f"    assert {check}\n" for check in checks)
    return (
        f"def test_it(run_agent, tmp_path):\n    said = run_agent({prompt!r}{call})\n"
        f"    assert isinstance(said, str)\n    found = json.loads(said)\n{lines}"
    )


HOSTILE = "a\"b'c $(touch hit) `touch hit` ; touch hit & | > hit \\ * ~ é\nsecond line"


@pytest.mark.parametrize("how", ["option", "variable"])
def test_the_prompt_goes_to_standard_input(
    how: str, agent: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = told(HOSTILE, f"found['stdin'] == {HOSTILE!r}", "found['args'] == []")
    if how == "variable":
        monkeypatch.setenv("FLOW_AGENT_COMMAND", agent)
    words = ["--agent-command", agent] if how == "option" else []
    run(pytester, body, *words).assert_outcomes(passed=1)
    assert not list(pytester.path.rglob("hit"))


def test_or_it_is_one_argument_that_no_shell_reads(agent: str, pytester: pytest.Pytester) -> None:
    args = ["-x", HOSTILE, f"--p={HOSTILE}", "$HOME", "*"]
    body = told(HOSTILE, f"found['args'] == {args!r}", "found['stdin'] == ''")
    words = f"{agent} -x {{prompt}} --p={{prompt}} '$HOME' '*'"
    run(pytester, body, "--agent-command", words).assert_outcomes(passed=1)
    assert not list(pytester.path.rglob("hit"))


def test_a_test_chooses_folder_time_and_command(agent: str, pytester: pytest.Pytester) -> None:
    import shlex

    own = told(
        "hello",
        "found['cwd'] == os.path.realpath(tmp_path)",
        "found['args'] == ['own']",
        call=f", cwd=tmp_path, timeout=30, command={[*shlex.split(agent), 'own']!r}",
    )
    run(pytester, own, "--agent-command", "false").assert_outcomes(passed=1)
    here = told("hello", "found['cwd'] == os.getcwd()")
    run(pytester, here, "--agent-command", agent).assert_outcomes(passed=1)


def test_what_it_printed_can_be_judged(
    agent: str, tmp_path: Path, home: Path, pytester: pytest.Pytester
) -> None:
    judge = GoalJudge(tmp_path / "the-judge", home)
    judge.answers(reply({"polite": 0.9}, "say please"))
    body = """
from flow import Rubric, RubricCriterion
def test_it(run_agent, judge):
    rubric = Rubric("Greeting", [RubricCriterion("polite", "Says please")])
    assert judge(run_agent("say please"), rubric).passed
"""
    run(pytester, body, "--agent-command", agent).assert_outcomes(passed=1)
    assert "say please" in judge.prompts[0]


CALLS = [
    ("run_agent('hang', timeout=0.5)", "* was not done within 0.5 s*timeout=SECONDS*"),
    ("run_agent('flood')", "* printed more than 8388608 bytes and was ended*"),
    ("run_agent('fail')", "* ended with exit status 1: no key is set:*"),
    ("run_agent('x', command=['no-such-agent'])", "*no-such-agent was not found*"),
    ("run_agent('x', command=['./absent'])", "*the agent absent was not found*"),
    ("run_agent('x', command=[])", "*it names no program*"),
    ("run_agent('x', command=[' '])", "*it names no program*"),
    ("run_agent('')", "*it is no text that an agent can be given*"),
    ("run_agent('a\\0b')", "*it is no text that an agent can be given*"),
    ("run_agent({'prompt': 'x'})", "*it is no text that an agent can be given*"),
    ("run_agent('x', timeout=0)", "*0 is no time limit*"),
    ("run_agent('x', timeout=float('nan'))", "*nan is no time limit*"),
    ("run_agent('x', timeout=True)", "*True is no time limit*"),
    ("run_agent('x', cwd='absent')", "*absent*is no folder*"),
    ("run_agent('-rf', command=['echo', '{prompt}'])", "*begins with '-'*"),
]


@pytest.mark.parametrize(("call", "why"), CALLS)
def test_what_goes_wrong_fails_the_test_and_says_why(
    call: str, why: str, agent: str, pytester: pytest.Pytester
) -> None:
    done = run(pytester, f"def test_it(run_agent):\n    {call}\n", "--agent-command", agent)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([why])
    text = done.stdout.str()
    assert "\x1b" not in text
    assert "A" * 90 not in text  # a key that it printed


def test_a_command_that_cannot_be_split_is_named(pytester: pytest.Pytester) -> None:
    body = "def test_it(run_agent):\n    run_agent('x')\n"
    done = run(pytester, body, "--agent-command", "claude 'p")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*--agent-command cannot be split into words: No closing quot*"])


def test_without_an_agent_the_test_is_skipped(pytester: pytest.Pytester) -> None:
    body = "def test_it(run_agent):\n    run_agent('x')\n"
    done = run(pytester, body, "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*no agent to run: give --agent-command, or set FLOW_AGENT_C*"])


def test_nothing_that_it_started_outlives_it(
    agent: str, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    program = tmp_path / "spawns.py"
    program.write_text(
        "import os, sys, time\n"
        "if os.fork() == 0:\n    os.setsid()\n"
        f"    open({os.fspath(tmp_path / 'pid.new')!r}, 'w').write(str(os.getpid()))\n"
        f"    os.rename({os.fspath(tmp_path / 'pid.new')!r}, {os.fspath(tmp_path / 'pid')!r})\n"
        "    os.close(1)\n    os.close(2)\n    time.sleep(600)\n"
        f"while not os.path.exists({os.fspath(tmp_path / 'pid')!r}):\n    time.sleep(0.01)\n"
        "print('done')\n"
    )
    body = "def test_it(run_agent):\n    assert run_agent('x') == 'done\\n'\n"
    run(pytester, body, "--agent-command", f"{sys.executable} -I -S {program}").assert_outcomes(
        passed=1
    )
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
