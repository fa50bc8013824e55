"""The fixtures of the pytest plugin at work (SPEC 9.2); :mod:`flow.pytest_plugin` offers them.

The plugin loads this module when a fixture is first used: a run of pytest without one pays nothing.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.fs import folders
from flow.adapters.judges import agent_command
from flow.adapters.judges.replay import Recorder, Replayer
from flow.app.judging import rubric_calls
from flow.core.text.locale import wants_ascii
from flow.errors import FlowError, NoUsableAnswer, OutsideError
from flow.render.judgement import judgement
from flow.render.screen import Screen
from flow.wiring.judging.context import JudgingContext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.judging.port import AskJudge, JudgeAnswer
    from flow.core.judging.rubric.model import JudgeResult
    from flow.wiring.judging.context import RubricLike

FOLDER = "judge_recordings"
AGENT_VARIABLE = "FLOW_AGENT_COMMAND"
_ANSWERS: pytest.StashKey[dict[str, dict[str, list[JudgeAnswer]]]] = pytest.StashKey()
"""The answers of this run by the file that they are recorded in."""


def agent_runner(config: pytest.Config) -> Callable[..., str]:
    """The fixture ``run_agent`` for runs of pytest with this configuration."""
    start = str(config.invocation_params.dir)

    def run_agent(
        prompt: str,
        timeout: float = 600.0,
        cwd: str | os.PathLike[str] | None = None,
        command: Sequence[str] | None = None,
    ) -> str:
        __tracebackhide__ = True
        words = list(command) if command is not None else _agent_words(config)
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
            reason = str(error)
        except FlowError as error:
            raise _without_inside(error) from None
        return pytest.fail(reason, pytrace=False)

    return run_agent


def _without_inside(error: FlowError) -> FlowError:
    """The error without Flow's own frames: it is about the test's call."""
    return error.with_traceback(None)


def _agent_words(config: pytest.Config) -> list[str]:
    """The configured command, split as a shell would; without one the test is skipped."""
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


class FixtureJudge:
    """The judge of one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        path = os.fspath(request.path)
        self._folder, name = os.path.split(path)
        self._node = request.node.nodeid
        self._config = request.config
        self._on_record: AskJudge | None = None
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
        """Like :func:`flow.judge`; a ``backend`` of the test's own is asked without recordings."""
        __tracebackhide__ = True
        configured = backend is None
        try:
            context = JudgingContext(self._folder)
            if configured:
                backend, on_record = self._ask(context)
                if on_record:
                    context.nonce = rubric_calls.content_nonce
            call = rubric_calls.RubricCall(
                subject, rubric, instructions, result_format, throw_on_fail, backend, samples
            )
            return rubric_calls.judge(context, call)
        except NoUsableAnswer as error:
            if not configured:
                raise
            reason = error.fault.message
        except FlowError as error:
            raise _without_inside(error) from None
        return pytest.fail(reason, pytrace=False)

    def assert_passes_rubric(
        self,
        subject: Any,
        rubric: RubricLike,
        instructions: str | None = None,
        backend: Any = None,
        samples: int = 1,
    ) -> JudgeResult:
        """The judgement if it passes; else an AssertionError with the table of criteria."""
        __tracebackhide__ = True
        result: JudgeResult = self.judge(
            subject, rubric, instructions, backend=backend, samples=samples
        )
        if not result.passed:
            lines = judgement(result.to_document(), Screen(unicode=not wants_ascii(os.environ)))
            raise AssertionError("the rubric is not passed\n" + "\n".join(lines))
        return result

    def _ask(self, context: JudgingContext) -> tuple[AskJudge, bool]:
        """The judge to ask, and whether its replies are, or will be, on record."""
        __tracebackhide__ = True
        recorded = os.path.lexists(self._file)
        if recorded and not self._record and self._backend is None:
            if self._on_record is None:
                self._on_record = Replayer(self._file, remedy=self._record_remedy())
            return self._on_record, True
        try:
            live = context.judge(self._backend)
        except NoUsableAnswer as error:
            reason = str(error)
        else:
            return (self._recorder(live), True) if self._record else (live, False)
        if self._record or self._backend is not None:
            return pytest.fail(reason, pytrace=False)
        return pytest.skip(
            f"no judge to ask: {reason}; nor is there a recording "
            f"({FOLDER}/{os.path.basename(self._file)}, made by --judge-record)"
        )

    def _recorder(self, live: AskJudge) -> AskJudge:
        """The one recorder of this test, with the answers of all tests of the run for this file."""
        if hasattr(self._config, "workerinput"):
            pytest.fail("--judge-record needs one process: leave out -n", pytrace=False)
        if self._on_record is None:
            with folders.reported("write", FOLDER):
                os.makedirs(os.path.dirname(self._file), exist_ok=True)
            answers = self._config.stash.setdefault(_ANSWERS, {}).setdefault(self._file, {})
            self._on_record = Recorder(live, self._file, answers)
        return self._on_record

    def _record_remedy(self) -> str:
        return f"record it anew: pytest --judge-record {shlex.quote(self._node)}"
