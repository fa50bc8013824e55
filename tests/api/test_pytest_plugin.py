"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flow.adapters.judges.choose
import flow.adapters.judges.replay
import flow.adapters.rubrics.rubric_files
import flow.api
import flow.api_judge
import flow.app.judging.rubric
import flow.render.judgement  # noqa: F401 - loaded before pytester looks, or it unloads them each time
from tests.support import ROOT
from tests.support.goal_judge import GoalJudge
from tests.support.judges.rubric_replies import reply
from tests.support.judges.scripted import answers_here

pytest_plugins = "pytester"

RUBRIC = """
from flow import Rubric, RubricCriterion
RUBRIC = Rubric("Greeting", [RubricCriterion("polite", "Says please", 3, 0.5),
                             RubricCriterion("short", "Has ten words at most")])
"""
PASSES = f"""{RUBRIC}
def test_it(assert_passes_rubric):
    assert assert_passes_rubric("give me that, please", RUBRIC).score == 0.9
"""
GOOD = reply({"polite": 0.9, "short": 0.9}, "please")
BAD = reply({"polite": 0.4, "short": 1.0})


@pytest.fixture(autouse=True)
def _own_home(pytester: pytest.Pytester, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's home that is not the folder of the tests, as pytester has it.

    No module is kept compiled: pytest before 9.2 takes a file that was written again in the same
    second, with the same length, for the one it knows.
    """
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture
def program(tmp_path: Path, home: Path) -> Iterator[GoalJudge]:
    """A judge in the user's settings."""
    with answers_here():
        yield GoalJudge(tmp_path / "the-judge", home)


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(
        "-p", "flow.pytest_plugin", "-p", "no:cacheprovider", *words
    )


def recording(pytester: pytest.Pytester, name: str = "test_a") -> Path:
    return pytester.path / "judge_recordings" / f"{name}.json"


def test_a_judge_of_the_settings_is_asked(pytester: pytest.Pytester, program: GoalJudge) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester).assert_outcomes(passed=1)
    assert "give me that, please" in program.prompts[0]


def test_the_fixture_judge_returns_what_flow_judge_does(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
from flow import NotPassed
import pytest
def test_it(judge):
    result = judge("text", RUBRIC, "look closely")
    assert (result.passed, result.score) == (False, 0.55)
    with pytest.raises(NotPassed):
        judge("text", RUBRIC, throw_on_fail=True)
    form = {{"type": "object", "properties": {{"note": {{"type": "string"}}}}}}
    assert judge("text", RUBRIC, result_format=form) == {{"note": "x"}}
"""
    )
    program.answers(BAD, BAD, {**BAD, "result": {"note": "x"}})
    run(pytester).assert_outcomes(passed=1)
    assert "> look closely" in program.prompts[0]


def test_a_failure_shows_the_table_of_criteria(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(reply({"polite": 0.4, "short": 1.0}, "never said", suggestions=["say please"]))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            ">*assert_passes_rubric(*",
            "E*AssertionError: the rubric is not passed",
            "E*Greeting  failed  0.550, needs 0.7",
            "E*polite  0.40, needs 0.5*",
            "E*short   1.00*",
            "E*judge      command, one answer*",
            "E*because    the overall picture*",
            "E*polite: polite looks so*",
            "E*suggestion say please*",
            "E*remark     polite: a quote that does not occur in the subject*",
            "E* said'",
        ]
    )
    assert "pytest_plugin.py" not in done.stdout.str()
    assert "pytest_fixtures.py" not in done.stdout.str()


def test_a_terminal_gets_nothing_a_judge_could_hide(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers({**BAD, "reasoning": "red \x1b[31m \u202e text"})
    shown = run(pytester).stdout.str()
    assert "red \\x1b[31m \\u202e text" in shown
    assert "\u202e" not in shown


def test_without_a_judge_the_test_is_skipped_and_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=PASSES)
    done = run(pytester, "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED*no judge to ask: no judge is configured*--judge-record*"])


def test_a_judge_that_is_named_and_cannot_be_asked_is_a_failure(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=PASSES)
    for words in (["--judge-backend", "nonsense"], ["--judge-record"]):
        run(pytester, *words).assert_outcomes(failed=1)


@pytest.mark.parametrize("step", [{"exit": 3}, {"raw": "no JSON"}, {"reply": {}}])
def test_no_usable_answer_is_a_failure(
    step: dict[str, Any], pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.says(step)
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["the judge command gave no usable answer: *"])
    assert "rubrics.py" not in done.stdout.str()  # where in Flow it was found is of no use


def test_recorded_once_replayed_always(
    pytester: pytest.Pytester, program: GoalJudge, home: Path
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record").assert_outcomes(passed=1)
    kept = recording(pytester).read_text()
    assert "the overall picture" in kept
    program.says({"exit": 9})  # nobody may be asked any more
    (home / ".claude/settings.flow.json").unlink()
    for _ in range(2):
        run(pytester).assert_outcomes(passed=1)
    assert recording(pytester).read_text() == kept
    assert program.prompts == []


def test_a_recording_goes_before_the_settings_and_a_named_judge_before_it(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record")
    program.answers(BAD)
    run(pytester).assert_outcomes(passed=1)
    assert program.prompts == []
    run(pytester, "--judge-backend", "command").assert_outcomes(failed=1)
    assert len(program.prompts) == 1
    assert "flow-judge-replies" in recording(pytester).read_text()


CHANGES = [
    ("the subject", '"give me that, please"', '"give me that please"'),
    ("a description", "Says please", "Says thanks"),
    ("a name", '"short"', '"brief"'),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in CHANGES], ids=[r[0] for r in CHANGES])
def test_a_changed_prompt_makes_the_replay_fail_loudly(
    old: str, new: str, pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record").assert_outcomes(passed=1)
    pytester.makepyfile(test_a=PASSES.replace(old, new))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*the prompt changed*record it anew: pytest --judge-record test_a.py*"]
    )


def test_a_changed_threshold_changes_no_prompt(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record").assert_outcomes(passed=1)
    pytester.makepyfile(test_a=PASSES.replace("3, 0.5", "3, 0.95"))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*polite  0.90, needs 0.95*"])


def test_a_test_that_was_never_recorded_fails_beside_those_that_were(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record")
    more = 'def test_more(judge):\n    assert judge("something new", RUBRIC)\n'
    pytester.makepyfile(test_a=PASSES + more)
    done = run(pytester)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*holds no reply*test_a.py::test_more*"])


def test_several_tests_and_samples_in_one_recording(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
def test_one(judge):
    assert judge("same", RUBRIC, samples=3).criteria[0].scores == (0.1, 0.5, 0.9)
def test_two(judge):
    assert judge("same", RUBRIC).score == 0.1
def test_three(judge):
    assert judge("other", RUBRIC).score == 0.7
"""
    )
    scores = (0.1, 0.5, 0.9, 0.7)
    program.answers(*(reply({"polite": s, "short": s}) for s in scores))
    run(pytester, "--judge-record").assert_outcomes(passed=3)
    program.says({"exit": 9})
    run(pytester).assert_outcomes(passed=3)
    for name in ("one", "two", "three"):
        run(pytester, "-k", name).assert_outcomes(passed=1)


def test_a_test_sees_replayed_what_it_saw_recorded(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    """Two tests put the same question; a judge that changes its mind makes no difference."""
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
import pytest
@pytest.mark.parametrize("words", ["no reason", "none"])
def test_it(judge, words):
    assert judge("same", RUBRIC)
"""
    )
    program.answers(GOOD, BAD)
    run(pytester, "--judge-record").assert_outcomes(passed=2)
    run(pytester).assert_outcomes(passed=2)
    program.answers(BAD, GOOD)
    run(pytester, "--judge-record").assert_outcomes(failed=2)
    run(pytester).assert_outcomes(failed=2)
    recording(pytester).write_text('{"format": "flow-judge-replies/1", "replies": {}}')
    again = "*: pytest --judge-record 'test_a.py::test_it[[]no reason]'*"
    run(pytester).stdout.fnmatch_lines([again])


def test_a_recording_holds_no_place_of_this_machine(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
from pathlib import Path
def test_it(judge):
    assert judge(Path(__file__).parent / "subject.txt", RUBRIC).passed
"""
    )
    (pytester.path / "subject.txt").write_text("please")
    program.answers(GOOD)
    run(pytester, "--judge-record").assert_outcomes(passed=1)
    assert str(pytester.path) not in program.prompts[0] + recording(pytester).read_text()
    elsewhere = pytester.mkdir("elsewhere")
    for name in ("test_a.py", "subject.txt", "judge_recordings"):
        (pytester.path / name).rename(elsewhere / name)
    run(pytester, str(elsewhere)).assert_outcomes(passed=1)


BROKEN = ["", "{", "[]", '{"format": "other", "replies": {}}']


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_recording_is_a_failure(text: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=PASSES)
    recording(pytester).parent.mkdir()
    recording(pytester).write_text(text)
    run(pytester).assert_outcomes(failed=1)


def test_a_recorded_reply_is_checked_like_any_other(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    run(pytester, "--judge-record")
    path = recording(pytester)
    path.write_text(path.read_text().replace("0.9", "90"))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*its score is not from 0 to 1*"])


def test_a_backend_of_the_tests_own_is_asked_as_it_is(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
def test_it(judge, assert_passes_rubric):
    own = lambda prompt: {GOOD!r}
    assert judge("text", RUBRIC, backend=own)
    assert assert_passes_rubric("text", "Greeting.yaml", backend=own)
"""
    )
    text = "name: G\ncriteria:\n- {name: polite, description: d}\n- {name: short, description: d}\n"
    (pytester.path / "Greeting.yaml").write_text(text)
    run(pytester).assert_outcomes(passed=1)


def test_the_project_cannot_name_a_judge(pytester: pytest.Pytester) -> None:
    settings = {"flow": {"goals": {"judge": {"backend": "command", "command": ["true"]}}}}
    folder = pytester.mkdir(".claude")
    (folder / "settings.flow.json").write_text(json.dumps(settings))
    pytester.mkdir(".flow")
    pytester.makeini("[pytest]\njudge_backend = command\n")
    pytester.makepyfile(test_a=PASSES)
    run(pytester).assert_outcomes(skipped=1)


@pytest.mark.parametrize("words", ["--judge-backend=command", "--agent-command true"])
def test_nor_can_its_addopts(words: str, pytester: pytest.Pytester, program: GoalJudge) -> None:
    program.answers(GOOD)
    pytester.makepyfile(test_a=PASSES)
    pytester.makeini(f"[pytest]\naddopts = {words}\n")
    done = run(pytester)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {words[:15].rstrip('=')}*addopts of *tox.ini: *"])
    assert program.prompts == []


@pytest.mark.parametrize("lines", ["--judge-backend=command", "--judge-backend\ncommand", "@inner"])
def test_nor_a_file_that_its_addopts_name(
    lines: str, pytester: pytest.Pytester, program: GoalJudge
) -> None:
    program.answers(GOOD)
    pytester.makepyfile(test_a=PASSES)
    pytester.makefile(".txt", outer=lines)
    (pytester.path / "inner").write_text("--judge-backend=command\n")
    pytester.makeini("[pytest]\naddopts = @outer.txt\n")
    done = run(pytester)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --judge-backend *addopts of *tox.ini: *"])
    assert program.prompts == []


def test_what_the_user_says_in_the_environment_counts(
    pytester: pytest.Pytester, program: GoalJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.answers(GOOD)
    pytester.makepyfile(test_a=PASSES)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--judge-backend command")
    run(pytester).assert_outcomes(passed=1)


def test_an_error_shows_the_call_and_nothing_of_flow_inside(
    pytester: pytest.Pytester, program: GoalJudge
) -> None:
    pytester.makepyfile(
        test_a=f"""{RUBRIC}
import pytest
from flow import InputError, NotPassed
def test_rubric(judge):
    judge("x", "nope")
def test_below(judge):
    judge("please", RUBRIC, throw_on_fail=True)
def test_agent(run_agent):
    run_agent("", command=["true"])
def test_recording(judge):
    judge("x", RUBRIC)
def test_caught(judge, run_agent):
    with pytest.raises(InputError):
        judge("x", "nope")
    with pytest.raises(NotPassed):
        judge("please", RUBRIC, throw_on_fail=True)
"""
    )
    program.answers(BAD)
    (pytester.path / "judge_recordings").write_text("no folder")
    done = run(pytester, "--judge-record")
    done.assert_outcomes(failed=5)
    done.stdout.fnmatch_lines(["*StorageError: judge_recordings: *"])
    (pytester.path / "judge_recordings").unlink()
    done = run(pytester)
    done.assert_outcomes(failed=3, passed=2)
    done.stdout.no_fnmatch_line("*rubric_*.py:*")
    done.stdout.no_fnmatch_line("*agent_command.py:*")
    done.stdout.fnmatch_lines(["*InputError: *there is no rubric 'nope'*", "*NotPassed: Greeting*"])


def test_a_user_fixture_of_the_same_name_wins(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef judge():\n    return 'mine'\n")
    pytester.makepyfile(test_a="def test_it(judge):\n    assert judge == 'mine'\n")
    run(pytester).assert_outcomes(passed=1)


def test_runs_that_use_no_judge_are_left_alone(pytester: pytest.Pytester) -> None:
    """Loaded, it brings nothing of Flow but itself, and adds nothing to the output."""
    pytester.makepyfile(
        test_a="""
import sys
def test_it():
    found = sorted(name for name in sys.modules if name.partition(".")[0] == "flow")
    assert found == ["flow", "flow.pytest_plugin"]
    assert not {"yaml", "jsonschema", "asyncio"} & set(sys.modules) - KNOWN
"""
        "KNOWN = {'asyncio'}\n"
    )
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ROOT, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    outputs = []
    for plugin in (["-p", "flow.pytest_plugin"], []):
        if not plugin:
            pytester.makepyfile(test_a="def test_it(): pass\n")
        done = subprocess.run(
            [*argv, *plugin],
            cwd=pytester.path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout
        # Where Flow is installed, pytest names each loaded plugin's distribution.
        lines = [x for x in done.stdout.splitlines() if not x.startswith("plugins: ")]
        outputs.append([x for x in lines if " in " not in x])
    assert outputs[0] == outputs[1]


def test_the_options_are_told_about(pytester: pytest.Pytester) -> None:
    done = run(pytester, "--help")
    done.stdout.fnmatch_lines(["*judges (flow):*", "*--judge-backend=*", "*--judge-record*"])


def test_recording_wants_one_process(pytester: pytest.Pytester, program: GoalJudge) -> None:
    pytester.makepyfile(test_a=PASSES)
    program.answers(GOOD)
    done = run(pytester, "-p", "xdist.plugin", "-n", "1", "--judge-record")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*--judge-record needs one process: leave out -n*"])
    assert program.prompts == []
