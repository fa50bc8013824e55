"""Claude Code at a terminal, as a person has it in front of them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import termios
import time
from typing import TYPE_CHECKING

from tests.e2e.session import QUIET, SECONDS, start_cli
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from tests.e2e.agent import Agent
    from tests.support import GitRepo

ESCAPES = re.compile(
    r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b.|[\x00-\x1f ]"
)
ENTER = "\r"


class Terminal:
    """The CLI with a terminal of its own.

    ``shown`` holds what was written to it so far, without escapes and blanks: the CLI moves the
    cursor where a blank would be, so only words can be looked for.
    """

    def __init__(self, repo: GitRepo, agent: Agent) -> None:
        been_here(repo)
        self.agent = agent
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 160))
        self._process = start_cli(
            repo=repo,
            agent=agent,
            plugin=ROOT,
            env={"TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self._raw = b""

    def __enter__(self) -> Self:
        self.agent.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        os.close(self._master)
        self.agent.__exit__(kind, error, trace)

    @property
    def shown(self) -> str:
        """See the class."""
        return ESCAPES.sub("", self._raw.decode("utf-8", "replace"))

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def until(self, condition: Callable[[], bool], *, pressing: str = "") -> None:
        """Read what is shown until the condition holds; SECONDS only end a hang.

        With ``pressing`` that key is pressed now, and again every few seconds, since a key that
        comes before the CLI listens is lost.
        """
        end = time.monotonic() + SECONDS
        press = 0.0
        while not condition():
            assert not self.agent.errors, self.agent.errors
            assert time.monotonic() < end, self.shown[-3000:]
            if pressing and time.monotonic() >= press:
                press = time.monotonic() + 5
                self.type(pressing)
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self._raw += os.read(self._master, 1 << 16)
                except OSError as error:
                    raise AssertionError(f"the CLI has ended:\n{self.shown[-3000:]}") from error

    def shows(self, words: str) -> None:
        """Wait until these words were shown."""
        self.until(lambda: words.replace(" ", "") in self.shown)


def been_here(repo: GitRepo) -> None:
    """What the CLI asks a person on the first day, answered in its own file."""
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [QUIET["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {os.path.realpath(repo.path): project},
    }
    with open(os.path.join(os.environ["HOME"], ".claude.json"), "w", encoding="utf-8") as file:
        json.dump(answers, file)
