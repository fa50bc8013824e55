"""The origin of a command: a person at a terminal, a pipe, or an agent's shell (SPEC 17.3).

It is read from the environment, which its owner can change: this is a record, not a proof.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SaidFrom = Literal["terminal", "pipe", "agent"]


class AgentVariable(NamedTuple):
    """A variable that an agent sets in each shell it starts, and its documentation."""

    name: str
    agent: str
    source: str
    """Public page or thread, read in November 2026."""


AGENT_VARIABLES = (
    AgentVariable("CLAUDECODE", "Claude Code", "code.claude.com/docs/en/env-vars"),
    AgentVariable("GEMINI_CLI", "Gemini CLI", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("CURSOR_AGENT", "Cursor", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("CODEX_SANDBOX", "Codex", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("CODEX_THREAD_ID", "Codex", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable(
        "CODEX_SANDBOX_NETWORK_DISABLED", "Codex", "github.com/openai/codex AGENTS.md, sandbox"
    ),
    AgentVariable("OPENCODE", "opencode", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("OPENCODE_CLIENT", "opencode", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("COPILOT_AGENT", "Copilot", "github.com/microsoft/vscode/pull/316267"),
    AgentVariable("COPILOT_AGENT_SESSION_ID", "Copilot", "Copilot CLI, environment variables"),
    AgentVariable("COPILOT_CLI", "Copilot", "Copilot CLI, environment variables"),
    AgentVariable("AUGMENT_AGENT", "Augment", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("AMP_CURRENT_THREAD_ID", "Amp", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("ANTIGRAVITY_AGENT", "Antigravity", "github.com/microsoft/vscode/issues/311734"),
    AgentVariable("CLINE_ACTIVE", "Cline", "github.com/cline/cline/discussions/5366"),
    AgentVariable("GOOSE_TERMINAL", "goose", "github.com/aaif-goose/goose/pull/7017"),
    AgentVariable("PI_CODING_AGENT", "pi", "github.com/earendil-works/pi/pull/2867"),
    AgentVariable("QWEN_CODE", "Qwen Code", "Qwen Code, shell execution service"),
    AgentVariable("CRUSH", "Crush", "github.com/agentsmd/agents.md/issues/136"),
    AgentVariable("TRAE_AI_SHELL_ID", "Trae", "github.com/agentsmd/agents.md/issues/136"),
    AgentVariable("AI_AGENT", "an agent", "github.com/microsoft/vscode/pull/320129"),
    AgentVariable("AGENT", "an agent", "github.com/agentsmd/agents.md/issues/136"),
)
"""Only variables of an agent's own shells. ``CURSOR_TRACE_ID`` and ``REPL_ID`` are not here: every
terminal of an editor has them, a person's too. The first variable that is set names the agent.
"""

SESSION_VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "AMP_CURRENT_THREAD_ID",
)
"""The variables that hold the agent's session."""

_LONGEST = 200


class Speaker(NamedTuple):
    """The origin of a command; ``agent`` and ``session`` only from an agent's shell."""

    said_from: SaidFrom
    agent: str | None = None
    session: str | None = None

    def fields(self) -> dict[str, str]:
        """The fields in journal, events, sidecars and the trust ledger."""
        named = {"said_from": self.said_from, "agent": self.agent, "agent_session": self.session}
        return {key: value for key, value in named.items() if value is not None}


def is_agent(speaker: Speaker | None) -> bool:
    """Whether a command comes from an agent's shell; False if its origin (None) is unknown."""
    return speaker is not None and speaker.said_from == "agent"


def speaker(environ: Mapping[str, str], *, at_terminal: bool) -> Speaker:
    """The speaker; an agent's variable counts at a terminal, too, since agents can open one."""
    for variable in AGENT_VARIABLES:
        if environ.get(variable.name):
            sessions = (environ.get(name, "") for name in SESSION_VARIABLES)
            session = next((text for text in sessions if _is_session(text)), None)
            return Speaker("agent", variable.agent, session)
    return Speaker("terminal" if at_terminal else "pipe")


def _is_session(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isprintable()
