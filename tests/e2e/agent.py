"""The scripted agent: what stands in the model's place in a session of Claude Code."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

from tests.support.judges.messages_api import Call, MessagesApi, Reply

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Step = Reply | Callable[[Call], Reply]

_ids = itertools.count(1)


def says(words: str) -> Reply:
    """A turn of text: the agent believes that it is done, and the Stop hook runs."""
    return Reply([{"type": "text", "text": words}])


def uses(tool: str, /, **arguments: Any) -> Reply:
    """A turn that calls a tool."""
    block = {"type": "tool_use", "id": f"toolu_{next(_ids):04}", "name": tool, "input": arguments}
    return Reply([block], "tool_use")


def bash(command: str, **more: Any) -> Reply:
    """A turn that runs a command with the Bash tool."""
    return uses("Bash", command=command, description="a step of the script", **more)


def heard(call: Call) -> str:
    """The last thing said to the agent: by the user, the Stop hook, or a tool's result."""
    users = [message for message in call.body["messages"] if message["role"] == "user"]
    return plain(users[-1]["content"])


def plain(content: Any) -> str:
    """The text of a message's content, tool results included."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(plain(each) for each in content)
    return plain(content.get("text") or content.get("content") or "")


class Agent(MessagesApi):
    """Takes one step of the script in each of its turns; ``turns`` holds what it was told.

    ``steps`` are those to come: a test of several prompts may add to them.

    Requests that offer no Bash tool are a subagent's, or the CLI's own, and ``others`` answers
    them. After its last step the agent only says so, and ``beyond`` counts how often.
    """

    def __init__(self, *steps: Step, others: Callable[[Call], Reply] | None = None) -> None:
        super().__init__(self._step)
        self.turns: list[Call] = []
        self.aside: list[Call] = []
        self.beyond = 0
        self.steps = deque(steps)
        self._others = others or (lambda _call: says("Something else"))

    @property
    def heard(self) -> list[str]:
        """What was last said before each turn."""
        return [heard(call) for call in self.turns]

    def listen_on(self, listener: socket.socket) -> None:
        """Serve on a socket that was made elsewhere; before the server is entered."""
        self._server.socket.close()
        self._server.socket = listener
        self._server.server_address = listener.getsockname()

    def _step(self, call: Call) -> Reply:
        if "Bash" not in call.tools:
            self.aside.append(call)
            return self._others(call)
        self.turns.append(call)
        if not self.steps:
            self.beyond += 1
            return says("There is nothing left in my script.")
        step = self.steps.popleft()
        return step if isinstance(step, Reply) else step(call)
