"""``flow hook stop``: the command that a coding agent's host calls at a stop (SPEC 6).

The host's JSON comes on standard input. In every case, also after an error, one JSON object goes to
standard output and the exit status is 0: a hook that fails says so in its answer, and lets the
agent stop.
"""

from __future__ import annotations

import os
import sys
from time import monotonic, time

from flow.core.stop.hosts import (
    HOSTS,
    StopAnswer,
    StopEvent,
    block_cap,
    read_event,
    reason_limit,
    reason_size,
    to_document,
)
from flow.errors import FlowError, InputError
from flow.startup import ctrl_c, json
from flow.startup.alarm import TooLate, print_bytes, read_input, set_alarm
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GUARD = "CLAUDE_HOOK_GOAL_JUDGE_MODE"
"""Set around a judge, so that a judge's own stop is never judged."""
CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
INPUT_LIMIT = 16 << 20
"""Bytes of standard input that are read."""
INPUT_SECONDS = 10.0
"""Seconds that the host may take to send the input."""
LEAST_SECONDS = 1.0
REASON_MARGIN = 500
"""Distance between the longest reason and the host's limit, in the host's units."""

USAGE = """\
usage: flow hook stop [--host claude|codex|gemini|cursor] [-- TEXT]
       flow hook judge [-- TEXT]
       flow hook pre-tool-use
       flow hook pre-push

Called by an agent's host, with the host's JSON on standard input (TEXT is what
was read of it already). All but pre-push exit with 0, always; stop and judge
print one JSON object.

stop          decides whether the agent may stop
pre-tool-use  prints a question for a person before a call of a tool that only
              a person may allow; nothing for any other (Claude Code)
judge         with judge.autoJudge: tells what was scored since the last stop,
              and has the skills' runs that ended scored in a process of their
              own; it lets every agent stop (Claude Code)
pre-push      for git: exits with 0 where this branch's goal is achieved or
              none has begun

examples:
  flow hook stop --host codex < event.json
  flow hook pre-push"""


def run(words: Sequence[str]) -> int:
    """``flow hook WORDS``; the exit status."""
    as_json = "--json" in words[:3]
    words = words[1:] if words[:1] == ["--json"] else words
    if not words or words[0] in ("-h", "--help", "help") or "--help" in words[:3]:
        _print_answer({"help": USAGE}) if as_json else print_bytes(USAGE.encode("ascii"))
        return 0
    if words[0] == "judge":
        return judge(words[1:])
    if words[0] == "pre-tool-use":
        return pre_tool_use()
    if words[0] != "stop":
        from flow.core.text.near import did_you_mean

        near = did_you_mean(words[0], ("stop", "judge", "pre-tool-use", "pre-push"))
        error = InputError(
            f"{words[0][:40]!r} is no command of flow hook{near}",
            code="usage",
            remedy="see flow hook --help",
        )
        if as_json:
            _print_answer({"error": error.to_dict()})
        else:
            sys.stderr.write(f"flow: {error}\n")
        return error.exit_code
    return main(words[1:])


def main(words: Sequence[str]) -> int:
    """Answer one stop. Raises nothing; returns 0."""
    started = monotonic()
    host = "claude"
    try:
        with ctrl_c.HEARD:
            host, head = _options(words)
            answer = _answer_stop(host, head, started)
    except FlowError as error:
        answer = _failed_answer(_error_line(error))
    except (KeyboardInterrupt, TooLate):
        ctrl_c.ignore()  # it may have come instead of the one above
        answer = _failed_answer("the hook was ended before it was done")
    except BaseException as error:  # noqa: BLE001 - after any error the host gets its answer
        answer = _failed_answer(_crashed(error))
    _print_answer(to_document(host, answer))
    return 0


def judge(words: Sequence[str]) -> int:
    """Answer one stop in auto mode (SPEC 9.3). Raises nothing; returns 0."""
    try:
        with ctrl_c.HEARD:
            _, head = _options(words)
            said = "" if os.environ.get(GUARD) else _auto_judged(head)
    except FlowError as error:
        said = f"autoJudge did not work: {_error_line(error)}"
    except KeyboardInterrupt:
        ctrl_c.ignore()
        said = ""
    except BaseException as error:  # noqa: BLE001 - after any error the host gets its answer
        said = f"autoJudge did not work: {_crashed(error)}"
    _print_answer({"systemMessage": f"Flow: {said}"} if said else {})
    return 0


def pre_tool_use() -> int:
    """Ask a person about one tool call, if one is needed. Raises nothing; returns 0."""
    updated = None
    try:
        with ctrl_c.HEARD:
            from flow.wiring.tool_calls import input_with_question, question_before

            event = _document(b"")
            if not isinstance(event, dict):
                raise FlowError("what the host sent is no JSON object")
            asked = question_before(event)
            if asked is not None:
                updated = input_with_question(event, asked)
    except FlowError as error:
        asked = _cannot_look(_error_line(error))
    except KeyboardInterrupt:
        ctrl_c.ignore()
        asked = _cannot_look("it was ended before it was done")
    except BaseException as error:  # noqa: BLE001 - after any error the host gets its answer
        asked = _cannot_look(_crashed(error))
    if asked is not None:
        decision: dict[str, Any] = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": asked,
        }
        if updated is not None:
            decision["updatedInput"] = updated
        _print_answer({"hookSpecificOutput": decision})
    return 0


def _cannot_look(reason: str) -> str:
    from flow.core.tool_calls.questions import cannot_look

    return cannot_look(reason)


def _auto_judged(head: bytes) -> str:
    """News of automatic judging for the user at this stop; empty if there is none."""
    from flow.app.judging.auto_mode import Stop
    from flow.wiring.judging.auto_mode import on_stop

    document = json.object_of(_document(head))
    event, _ = read_event("claude", document)
    if event.skip:
        return ""
    path, tasks = document.get("transcript_path"), json.rows_of(document.get("background_tasks"))
    stop = Stop(
        event.session,
        path if isinstance(path, str) and os.path.isabs(path) else None,
        any(task.get("type") == "subagent" for task in tasks),
    )
    folder = event.cwd if event.cwd is not None and os.path.isdir(event.cwd) else os.getcwd()
    try:
        return on_stop(stop, cwd=folder, environ=os.environ)
    except InputError as error:
        if error.code == "no_repository":
            return ""
        raise


def _options(words: Sequence[str]) -> tuple[str, bytes]:
    """The host, and the event after ``--``; argparse would take as long as the answer."""
    host, head = "claude", b""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" and len(rest) <= 1:
            head, rest = os.fsencode("".join(rest)), []
        elif word == "--host" and rest:
            host = rest.pop(0)
        elif word.startswith("--host="):
            host = word.removeprefix("--host=")
        elif word != "--json":  # the answer is JSON anyway
            raise FlowError(f"flow hook stop does not know {word[:40]!r}", remedy="see --help")
    if host not in HOSTS:
        raise FlowError(f"--host: {host[:40]!r} is none of {', '.join(HOSTS)}", remedy="see --help")
    return host, head


def _answer_stop(host: str, head: bytes, started: float) -> StopAnswer:
    if os.environ.get(GUARD):
        why = f"no goal is judged, as {GUARD} is set: this is the session of a judge"
        return StopAnswer("let_go", why, message=f"Flow: {why}")
    event, warnings = read_event(host, _document(head))
    if event.skip:
        return StopAnswer("let_go", event.skip)
    answer = _decide_stop(host, event, started)
    return _with_warnings(answer, warnings)


def _with_warnings(answer: StopAnswer, warnings: Sequence[str]) -> StopAnswer:
    """The answer with warnings after its text, on a line that is Flow's."""
    if not warnings:
        return answer
    before = answer.message or ""
    own_line = before.rpartition("\n")[2].startswith("Flow: ")
    lead = f"{before}; " if own_line else f"{before}\nFlow: " if before else "Flow: "
    return answer._replace(message=lead + "; ".join(warnings))


def _decide_stop(host: str, event: StopEvent, started: float) -> StopAnswer:
    from flow.app.stop.tools import Host
    from flow.wiring.stopping import Stopping, context_of

    try:
        context = context_of(event.cwd, event.session)
    except InputError as error:
        if error.code == "no_repository":
            return StopAnswer("let_go", "no repository and no .flow folder here")
        raise
    stopping = Stopping(context)
    said = (
        *stopping.take_settings_of_open_goals(),
        *stopping.left_behind(event.session),
    )
    settings = context.settings.settings
    if not settings.enabled or settings.stop_hook_enforcement == "off":
        off = (
            "flow.goals.enabled is false" if not settings.enabled else "stopHookEnforcement is off"
        )
        told = [*said, *stopping.switched_off(event.session, off)]
        return StopAnswer("let_go", off, message=f"Flow: {'; '.join(told)}" if told else "")
    parent = os.getppid()

    def seconds_left() -> float:
        if os.getppid() != parent:  # the process that waits for the answer is gone
            return 0.0
        return settings.hook_timeout_seconds - (monotonic() - started)

    set_alarm(max(seconds_left(), LEAST_SECONDS))
    limits = Host(
        "/flow:goal evaluate" if host == "claude" else "flow goal evaluate",
        reason_limit(host) - REASON_MARGIN,
        lambda text: reason_size(host, text),
        block_cap(host, os.environ.get(CAP)),
        settings.hook_timeout_seconds,
        context.top,
        event.cwd or os.getcwd(),
        time() - (monotonic() - started),
    )
    try:
        answer = stopping.stop(event, limits, seconds_left)
    finally:
        set_alarm(0)
    return _with_warnings(answer, said)


def _document(head: bytes) -> Any:
    """The host's input as a JSON value. Raises :class:`FlowError` if it is none."""
    data = head + read_input(INPUT_LIMIT - len(head), INPUT_SECONDS)
    if not data.strip():
        raise FlowError("the host sent nothing on standard input", remedy=_BY_HAND)
    try:
        # A byte-order mark is Cursor's; half a character is no reason to refuse the rest.
        return json.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise FlowError("what the host sent is no whole JSON value", remedy=_BY_HAND) from None


_BY_HAND = "nothing was checked; to evaluate by hand: flow goal evaluate ID"


def _failed_answer(line: str) -> StopAnswer:
    text = f"Flow's Stop hook could not do its work: {line}"
    return StopAnswer("let_go", text, message=f"Flow: {text}")


def _error_line(error: FlowError) -> str:
    from flow.core.text.display import clip, visible

    return clip(visible("; ".join(str(error).split("\n"))), 1000)


def _crashed(error: BaseException) -> str:
    try:
        from flow.adapters.fs.crash import report

        return _error_line(report(error, os.environ))
    except BaseException as second:  # noqa: BLE001 - a full disk, no memory: the answer goes out
        return f"{type(error).__name__}, and then {type(second).__name__}"


def _print_answer(document: Mapping[str, Any]) -> None:
    print_bytes(json.dumps(document, ensure_ascii=True).encode("ascii"))
