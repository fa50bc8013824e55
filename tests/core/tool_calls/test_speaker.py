"""Who speaks: every variable of every agent, and what is none."""

from __future__ import annotations

import pytest

from flow.core.tool_calls.speaker import AGENT_VARIABLES, SESSION_VARIABLES, Speaker, speaker

REQUIRED = {"CLAUDECODE", "GEMINI_CLI", "CURSOR_AGENT", "CODEX_SANDBOX", "OPENCODE"}


def test_those_of_the_specification_are_in_the_table() -> None:
    names = [variable.name for variable in AGENT_VARIABLES]
    assert set(names) >= REQUIRED
    assert len(names) == len(set(names))
    assert all(variable.source and variable.agent for variable in AGENT_VARIABLES)


@pytest.mark.parametrize("at_terminal", [True, False])
@pytest.mark.parametrize("variable", AGENT_VARIABLES, ids=lambda variable: variable.name)
def test_each_variable_means_an_agent(variable: object, at_terminal: bool) -> None:
    name, agent = variable.name, variable.agent  # type: ignore[attr-defined]
    found = speaker({name: "1"}, at_terminal=at_terminal)
    assert (found.said_from, found.agent) == ("agent", agent)


@pytest.mark.parametrize(("at_terminal", "said"), [(True, "terminal"), (False, "pipe")])
@pytest.mark.parametrize(
    "environ",
    [{}, {"CLAUDECODE": ""}, {"CLAUDE_CODE_SESSION_ID": "s"}, {"CURSOR_TRACE_ID": "x"}],
)
def test_without_one_the_streams_decide(
    environ: dict[str, str], at_terminal: bool, said: str
) -> None:
    assert speaker(environ, at_terminal=at_terminal) == Speaker(said)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SESSION_VARIABLES)
def test_the_session_is_named_where_the_environment_has_it(name: str) -> None:
    found = speaker({"CLAUDECODE": "1", name: "s-1"}, at_terminal=False)
    assert found.fields() == {
        "said_from": "agent",
        "agent": "Claude Code",
        "agent_session": "s-1",
    }


@pytest.mark.parametrize("session", ["", "a\x1b[31mb", "x" * 201, "\u202e"])
def test_what_is_no_session_is_left_out(session: str) -> None:
    environ = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}
    assert "agent_session" not in speaker(environ, at_terminal=False).fields()
