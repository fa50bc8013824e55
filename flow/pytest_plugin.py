"""The pytest plugin: a judge in tests (SPEC 9.2).

Fixtures: ``judge(subject, rubric, ...)`` as :func:`flow.judge`, and ``assert_passes_rubric(subject,
rubric, ...)``, which shows the table of criteria if it fails. The judge that answers:

1. the one of ``--judge-backend``, live; with ``--judge-record`` (also with the one of the user's
   settings) its replies are kept in ``judge_recordings/<module>.json`` beside the test;
2. else the module's recording, if there is one: a prompt that is not in it fails the test;
3. else the one of the user's settings, live;
4. else none: the test is skipped.

A third fixture, ``run_agent(prompt)``, runs the command of ``--agent-command`` or of the variable
``FLOW_AGENT_COMMAND`` and returns its output, to be judged; without one the test is skipped.

The project's own pytest settings cannot name a judge or an agent, ``addopts`` included: only the
user may choose where data is sent, and what runs.
Loading this module imports no other part of Flow; that happens when a fixture is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flow.core.judging.rubric.model import JudgeResult
    from flow.pytest_fixtures import FixtureJudge


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--judge-backend``, ``--judge-record`` and ``--agent-command``."""
    group = parser.getgroup("flow", "judges (flow)")
    group.addoption(
        "--judge-backend",
        metavar="BACKEND[:MODEL]",
        help="ask this judge, live: claude, anthropic, openai or command",
    )
    group.addoption(
        "--judge-record",
        action="store_true",
        help="ask live and keep the replies in judge_recordings/ beside the tests, "
        "to be replayed later",
    )
    group.addoption(
        "--agent-command",
        metavar="COMMAND",
        help="what run_agent runs, without a shell: 'claude -p' gets the prompt on standard input, "
        "'gemini -p {prompt}' as an argument (default: FLOW_AGENT_COMMAND)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a judge or an agent that the project's own settings name."""
    for word in _with_files(config.getini("addopts")):
        option = word.partition("=")[0]
        if option in ("--judge-backend", "--agent-command"):
            place = config.inipath or "-o"
            raise pytest.UsageError(
                f"{option} is in the addopts of {place}: a checkout does not choose where data is "
                "sent or what runs; give it on the command line, or in PYTEST_ADDOPTS"
            )


def _with_files(words: Sequence[str]) -> Iterator[str]:
    """The words of ``addopts``, with those that pytest reads from a file (``@FILE``)."""
    for word in words:
        if word.startswith("@"):
            with open(word[1:], errors="replace") as lines:  # pytest has read it before
                yield from _with_files(lines.read().splitlines())
        else:
            yield word


@pytest.fixture
def _flow_judge(request: pytest.FixtureRequest) -> FixtureJudge:
    from flow.pytest_fixtures import FixtureJudge

    return FixtureJudge(request)


@pytest.fixture(name="judge")
def _judge(_flow_judge: FixtureJudge) -> Callable[..., Any]:
    """``judge(subject, rubric, ...)``: a :class:`flow.JudgeResult`, or the ``result_format``."""
    return _flow_judge.judge


@pytest.fixture(name="assert_passes_rubric")
def _assert_passes_rubric(_flow_judge: FixtureJudge) -> Callable[..., JudgeResult]:
    """``assert_passes_rubric(subject, rubric, ...)``: the result, or a table of the criteria."""
    return _flow_judge.assert_passes_rubric


@pytest.fixture(name="run_agent")
def _run_agent(request: pytest.FixtureRequest) -> Callable[..., str]:
    """``run_agent(prompt, timeout=600, cwd=None, command=None)``: the agent's output.

    ``timeout`` is seconds, ``cwd`` the folder it works in (default: the one that pytest was started
    in), ``command`` a list of arguments instead of the configured one.
    """
    from flow.pytest_fixtures import agent_runner

    return agent_runner(request.config)
