"""The pytest plugin: a judge in tests (SPEC 9.2).

Fixtures: ``judge(subject, rubric, ...)`` as :func:`flow.judge`, and ``assert_passes_rubric(subject,
rubric, ...)``, which shows the table of criteria where it fails. Which judge answers:

1. the one of ``--judge-backend``, live; with ``--judge-record`` (also with the one of the user's
   settings) its replies are kept in ``judge_recordings/<module>.json`` beside the test;
2. else the recording, where there is one for the module: a prompt that is not in it fails the test;
3. else the one of the user's settings, live;
4. else nobody: the test is skipped.

A third fixture, ``run_agent(prompt)``, runs the command of ``--agent-command`` or of the variable
``FLOW_AGENT_COMMAND`` and returns what it printed, to be judged; without one the test is skipped.

The project's own pytest settings cannot name a judge: what sends data away is the user's to choose.
Loading this module imports nothing of Flow; that happens when a fixture is first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.judging.port import AskJudge
    from flow.core.judging.rubric.model import JudgeResult
    from flow.wiring.judging.context import JudgingContext, RubricLike

FOLDER = "judge_recordings"
AGENT_VARIABLE = "FLOW_AGENT_COMMAND"
_RECORDERS: pytest.StashKey[dict[str, Any]] = pytest.StashKey()


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
        help=f"ask live and keep the replies in {FOLDER}/ beside the tests, to be replayed later",
    )
    group.addoption(
        "--agent-command",
        metavar="COMMAND",
        help="what run_agent runs, without a shell: 'claude -p' gets the prompt on standard input, "
        f"'gemini -p {{prompt}}' as an argument (default: {AGENT_VARIABLE})",
    )


@pytest.fixture
def _flow_bench(request: pytest.FixtureRequest) -> _Bench:
    return _Bench(request)


@pytest.fixture(name="judge")
def _judge(_flow_bench: _Bench) -> Callable[..., Any]:
    """``judge(subject, rubric, ...)``: a :class:`flow.JudgeResult`, or the ``result_format``."""
    return _flow_bench.judge


@pytest.fixture(name="assert_passes_rubric")
def _assert_passes_rubric(_flow_bench: _Bench) -> Callable[..., JudgeResult]:
    """``assert_passes_rubric(subject, rubric, ...)``: the result, or a table of the criteria."""
    return _flow_bench.assert_passes_rubric


@pytest.fixture(name="run_agent")
def _run_agent(request: pytest.FixtureRequest) -> Callable[..., str]:
    """``run_agent(prompt, timeout=600, cwd=None, command=None)``: what the agent printed.

    ``timeout`` is seconds, ``cwd`` the folder it works in (default: where pytest was started),
    ``command`` a list of arguments instead of the configured one.
    """
    start = str(request.config.invocation_params.dir)

    def run_agent(
        prompt: str,
        timeout: float = 600.0,
        cwd: str | os.PathLike[str] | None = None,
        command: Sequence[str] | None = None,
    ) -> str:
        __tracebackhide__ = True
        from flow.adapters.judges import agent_command
        from flow.errors import OutsideError

        words = list(command) if command is not None else _agent_words(request.config)
        folder = start if cwd is None else os.path.join(start, os.fspath(cwd))
        try:
            return agent_command.run(
                agent_command.located(words, start),
                prompt,
                cwd=folder,
                environ=os.environ,
                seconds=timeout,
            )
        except OutsideError as error:
            why = str(error)
        return pytest.fail(why, pytrace=False)

    return run_agent


def _agent_words(config: pytest.Config) -> list[str]:
    """The configured command, split as a shell would; without one the test is skipped."""
    import shlex

    __tracebackhide__ = True
    option: str | None = config.getoption("--agent-command")
    text = option if option is not None else os.environ.get(AGENT_VARIABLE, "")
    if not text.strip():
        return pytest.skip(f"no agent to run: give --agent-command, or set {AGENT_VARIABLE}")
    try:
        return shlex.split(text)
    except ValueError as error:
        name = AGENT_VARIABLE if option is None else "--agent-command"
        return pytest.fail(f"{name} cannot be split into words: {error}", pytrace=False)


class _Bench:
    """The judge of one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        path = os.fspath(request.path)
        self._folder, name = os.path.split(path)
        self._node = request.node.nodeid
        self._config = request.config
        self._replayer: AskJudge | None = None
        self._backend: str | None = request.config.getoption("--judge-backend")
        self._record: bool = request.config.getoption("--judge-record")
        self._file = os.path.join(self._folder, FOLDER, f"{os.path.splitext(name)[0]}.json")

    def judge(
        self,
        subject: Any,
        rubric: RubricLike,
        instructions: str | None = None,
        result_format: Any = None,
        throw_on_fail: bool = False,
        backend: Any = None,
        samples: int = 1,
    ) -> Any:
        """As :func:`flow.judge`; a ``backend`` of the test's own is asked as it is."""
        __tracebackhide__ = True
        from flow.app.judging import rubric_calls
        from flow.errors import NoUsableAnswer
        from flow.wiring.judging.context import JudgingContext

        context = JudgingContext(self._folder)
        chosen = backend is None
        if chosen:
            backend, fixed = self._ask(context)
            if fixed:
                context.nonce = rubric_calls.content_nonce
        call = rubric_calls.RubricCall(
            subject, rubric, instructions, result_format, throw_on_fail, backend, samples
        )
        try:
            return rubric_calls.judge(context, call)
        except NoUsableAnswer as error:
            if not chosen:
                raise
            why = error.fault.message
        return pytest.fail(why, pytrace=False)

    def assert_passes_rubric(
        self,
        subject: Any,
        rubric: RubricLike,
        instructions: str | None = None,
        backend: Any = None,
        samples: int = 1,
    ) -> JudgeResult:
        """The judgement, where it passes; else an AssertionError with the table of criteria."""
        __tracebackhide__ = True
        result: JudgeResult = self.judge(
            subject, rubric, instructions, backend=backend, samples=samples
        )
        if not result.passed:
            from flow.render.judgement import judgement

            lines = judgement(result.to_document(), lambda _, text: text)
            raise AssertionError("the rubric is not passed\n" + "\n".join(lines))
        return result

    def _ask(self, context: JudgingContext) -> tuple[AskJudge, bool]:
        """The judge to ask, and whether its replies are, or will be, on record."""
        from flow.adapters.judges.replay import Replayer
        from flow.errors import NoUsableAnswer

        __tracebackhide__ = True
        recorded = os.path.lexists(self._file)
        if recorded and not self._record and self._backend is None:
            if self._replayer is None:
                self._replayer = Replayer(self._file, remedy=self._how())
            return self._replayer, True
        try:
            live = context.judge(self._backend)
        except NoUsableAnswer as error:
            why = str(error)
        else:
            return (self._recorder(live), True) if self._record else (live, False)
        if self._record or self._backend is not None:
            return pytest.fail(why, pytrace=False)
        return pytest.skip(
            f"no judge to ask: {why}; nor is there a recording "
            f"({FOLDER}/{os.path.basename(self._file)}, made by --judge-record)"
        )

    def _recorder(self, live: AskJudge) -> AskJudge:
        """One for each file and run of pytest: what it recorded in this run it must not forget."""
        from flow.adapters.judges.replay import Recorder

        if hasattr(self._config, "workerinput"):
            pytest.fail("--judge-record needs one process: leave out -n", pytrace=False)
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        recorders = self._config.stash.setdefault(_RECORDERS, {})
        recorder: AskJudge = recorders.setdefault(self._file, Recorder(live, self._file))
        return recorder

    def _how(self) -> str:
        return f"record it anew: pytest --judge-record {self._node}"
