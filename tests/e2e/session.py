"""One session of the real Claude Code CLI, with Flow's checkout as its plugin."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from tests.e2e.agent import Agent
    from tests.support import GitRepo

    Person = Callable[[str, dict[str, Any]], dict[str, Any] | None]

SECONDS = 300.0
"""After so long a session is ended; only a hang takes that."""

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ANTHROPIC_API_KEY": "made-up",
}


class Turn(NamedTuple):
    """What the CLI printed from one prompt to its result."""

    events: list[dict[str, Any]]

    @property
    def result(self) -> dict[str, Any]:
        """The last event, which ends the turn."""
        return self.events[-1]

    @property
    def hooks(self) -> list[dict[str, Any]]:
        """What the Stop hook answered at each stop: its standard output, one JSON object each."""
        return [json.loads(event["stdout"]) for event in self.hook_events]

    @property
    def hook_events(self) -> list[dict[str, Any]]:
        """The CLI's reports about the Stop hook of goals."""
        return [event for event in self._stops if _decides(event)]

    @property
    def judged(self) -> list[dict[str, Any]]:
        """What the Stop hook of auto mode answered at each stop."""
        return [json.loads(event["stdout"]) for event in self._stops if not _decides(event)]

    @property
    def _stops(self) -> list[dict[str, Any]]:
        return [
            event
            for event in self.events
            if event.get("subtype") == "hook_response" and event.get("hook_event") == "Stop"
        ]

    @property
    def decisions(self) -> list[str]:
        """``block`` or ``approve`` for each stop."""
        return [answer.get("decision", "") for answer in self.hooks]

    @property
    def init(self) -> dict[str, Any]:
        """What the CLI says about itself: tools, commands, agents, plugins."""
        return next(event for event in self.events if event.get("subtype") == "init")


def _decides(event: dict[str, Any]) -> bool:
    """Whether a Stop hook's answer lets go or blocks; that of auto mode does neither."""
    return '"decision"' in event["stdout"]


def allow(_tool: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """A person who allows whatever is asked."""
    return given


def refuse(_tool: str, _given: dict[str, Any]) -> dict[str, Any] | None:
    """A person who allows nothing."""
    return None


class Session:
    """The CLI, started with ``claude -p`` in both directions as a stream of JSON.

    ``person`` stands for whoever sits there: asked for a permission, or by ``AskUserQuestion``, it
    returns the tool's input (with ``answers`` filled in), or None to refuse. ``asked`` holds what
    it was asked, ``reasons`` why, as it was shown. With ``plugin=None`` there are only the plugins
    that are installed.
    """

    def __init__(
        self,
        repo: GitRepo,
        agent: Agent,
        *options: str,
        person: Person = refuse,
        plugin: str | None = ROOT,
        env: dict[str, str | None] | None = None,
    ) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.reasons: list[str] = []
        self.agent = agent
        self._person = person
        self._lines: list[str] = []
        streams = ("--input-format", "stream-json", "--output-format", "stream-json")
        self._process = start_cli(
            *("-p", "--verbose", "--include-hook-events", *streams),
            *("--permission-prompt-tool", "stdio", *options),
            repo=repo,
            agent=agent,
            plugin=plugin,
            env=env or {},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self._watch = threading.Timer(SECONDS, self._kill)

    def __enter__(self) -> Self:
        self._watch.start()
        self.agent.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            if kind is None:
                self._lines += process.stdout.readlines()
                process.wait(SECONDS)
        finally:
            self._watch.cancel()
            self._kill()
            process.wait(30)
            process.stdout.close()
            self.agent.__exit__(kind, error, trace)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def prompt(self, text: str) -> Turn:
        """Say ``text``, and wait until the CLI is done with it."""
        self._send({"type": "user", "message": {"role": "user", "content": text}})
        return self.turn()

    def turn(self) -> Turn:
        """What happens until the next result; the CLI may wake by itself."""
        events = []
        for event in self._events():
            events.append(event)
            if event["type"] == "result":
                assert not self.agent.errors, self.agent.errors
                return Turn(events)
        told = "".join(self._lines[-20:])
        raise AssertionError(f"the CLI ended, or was ended after {SECONDS} s:\n{told}")

    def _events(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line[:2000])
            with contextlib.suppress(json.JSONDecodeError):
                event = json.loads(line)
                if event["type"] == "control_request":
                    self._decide(event)
                else:
                    yield event

    def _decide(self, event: dict[str, Any]) -> None:
        request = event["request"]
        tool, given = request["tool_name"], request["input"]
        self.reasons.append(str(request.get("decision_reason") or ""))
        self.asked.append((tool, given))
        answer = self._person(tool, given)
        verdict: dict[str, Any] = {"behavior": "deny", "message": "The person says no."}
        if answer is not None:
            verdict = {"behavior": "allow", "updatedInput": answer}
        response = {"subtype": "success", "request_id": event["request_id"], "response": verdict}
        self._send({"type": "control_response", "response": response})

    def _send(self, document: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(document) + "\n")
        self._process.stdin.flush()


def start_cli(
    *options: str,
    repo: GitRepo,
    agent: Agent,
    plugin: str | None,
    env: dict[str, str | None],
    **streams: Any,
) -> subprocess.Popen[Any]:
    """Start the CLI, whose model is ``agent``; with nothing but loopback where that can be."""
    changed = {
        **os.environ,
        **QUIET,
        "ANTHROPIC_BASE_URL": agent.url,
        "CLAUDE_CODE_TMPDIR": os.environ["HOME"],
        "FLOW_PYTHON": sys.executable,
        **env,
    }
    argv = ["claude", *(("--plugin-dir", plugin) if plugin else ()), *options]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        enter = namespace(theirs.fileno())
        process = subprocess.Popen(
            [*enter, *argv],
            cwd=repo.path,
            env={name: value for name, value in changed.items() if value is not None},
            pass_fds=[theirs.fileno()] if enter else [],
            start_new_session=True,
            **streams,
        )
        theirs.close()
        if enter:
            ours.settimeout(SECONDS)
            _, (listener, *_), _, _ = socket.recv_fds(ours, 64, 1)
            agent.listen_on(socket.socket(fileno=listener))
    return process


def namespace(channel: int) -> list[str]:
    """The words before a command that leave it nothing but loopback; none where that cannot be."""
    words = unshare()
    helper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loopback_only.py")
    return [*words, sys.executable, "-I", "-S", helper, str(channel)] if words else []


@functools.cache
def unshare() -> tuple[str, ...]:
    """How a network namespace is made here: by root, by a user, or not at all."""
    flags = "-n" if os.geteuid() == 0 else "-rn"
    if shutil.which("unshare") is None:
        return ()
    tried = subprocess.run(["unshare", flags, "true"], capture_output=True, timeout=60)
    return ("unshare", flags) if tried.returncode == 0 else ()
