"""What the hosts send at a stop and what they are answered (SPEC 6)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.stop import hosts as stop_hosts
from flow.core.stop.hosts import HOSTS, StopAnswer, StopEvent, read_event, to_document
from tests.support import ROOT
from tests.support.effort import examples

COMMON = {
    "session_id": "s-1",
    "transcript_path": "/tmp/t.jsonl",
    "cwd": "/srv/repo",
    "stop_hook_active": False,
}
INPUTS: dict[str, dict[str, Any]] = {
    "claude": {
        **COMMON,
        "hook_event_name": "Stop",
        "prompt_id": "p-1",
        "permission_mode": "default",
        "last_assistant_message": "done",
        "background_tasks": [],
        "session_crons": [],
    },
    "codex": {
        **COMMON,
        "hook_event_name": "Stop",
        "turn_id": "p-1",
        "model": "m",
        "permission_mode": "bypassPermissions",
        "last_assistant_message": None,
    },
    "gemini": {
        **COMMON,
        "hook_event_name": "AfterAgent",
        "timestamp": "2026-01-01T00:00:00Z",
        "prompt": "do it",
        "prompt_response": "done",
    },
    "cursor": {
        "conversation_id": "s-1",
        "generation_id": "g-1",
        "hook_event_name": "stop",
        "workspace_roots": ["/srv/repo"],
        "status": "completed",
        "loop_count": 0,
    },
}
CWD = {host: "workspace_roots" if host == "cursor" else "cwd" for host in HOSTS}
SESSION = {host: "conversation_id" if host == "cursor" else "session_id" for host in HOSTS}


def given_input(host: str, **changes: Any) -> dict[str, Any]:
    return {**INPUTS[host], **changes}


def without(host: str, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in INPUTS[host].items() if key not in keys}


@pytest.mark.parametrize("host", HOSTS)
def test_a_usual_input_is_read_whole(host: str) -> None:
    event, warnings = read_event(host, INPUTS[host])
    expected = StopEvent(
        host,
        session="s-1",
        cwd="/srv/repo",
        prompt="p-1" if host in ("claude", "codex") else None,
        used=0 if host == "cursor" else None,
        message="done" if host in ("claude", "gemini") else None,
    )
    assert (event, warnings) == (expected, ())


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_missing_has_its_default_and_no_warning(host: str) -> None:
    assert read_event(host, {}) == (StopEvent(host), ())


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("key", sorted({key for host in HOSTS for key in INPUTS[host]}))
def test_null_is_missing(host: str, key: str) -> None:
    assert read_event(host, given_input(host, **{key: None})) == read_event(
        host, without(host, key)
    )


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("document", [None, True, False, 0, 1.5, "text", "{}", [], [{}]])
def test_no_object_is_an_empty_event_and_a_warning(host: str, document: object) -> None:
    event, warnings = read_event(host, document)
    assert event == StopEvent(host)
    assert len(warnings) == 1
    assert "not an object" in warnings[0]


@pytest.mark.parametrize(
    ("host", "changes", "continued", "used"),
    [
        ("claude", {"stop_hook_active": True}, True, None),
        ("codex", {"stop_hook_active": True}, True, None),
        ("gemini", {"stop_hook_active": True}, True, None),
        ("cursor", {"loop_count": 1}, True, 1),
        ("cursor", {"loop_count": 4}, True, 4),
        ("cursor", {"stop_hook_active": True}, False, 0),
        ("claude", {"loop_count": 3}, False, None),
    ],
)
def test_a_continuation_is_what_the_host_calls_one(
    host: str, changes: dict[str, Any], continued: bool, used: int | None
) -> None:
    event, warnings = read_event(host, given_input(host, **changes))
    assert (event.continued, event.used, warnings) == (continued, used, ())


WRONG: list[tuple[str, tuple[str, ...], list[object]]] = [
    ("session", ("claude", "codex", "gemini"), ["session_id"]),
    ("session", ("cursor",), ["conversation_id"]),
    ("cwd", ("claude", "codex", "gemini"), ["cwd"]),
    ("prompt", ("claude",), ["prompt_id"]),
    ("prompt", ("codex",), ["turn_id"]),
]


@pytest.mark.parametrize(
    ("field", "host", "key"),
    [(field, host, keys[0]) for field, hosts, keys in WRONG for host in hosts],
)
@pytest.mark.parametrize(
    "value",
    [7, 1.5, True, [], {}, ["/a"], "x" * 5000, "a\x00b", "a\nb", "\x1b[2J", "\ud800", "\u202e"],
)
def test_a_text_that_cannot_be_used_is_left_out_and_named(
    field: str, host: str, key: str, value: object
) -> None:
    event, warnings = read_event(host, given_input(host, **{key: value}))
    assert getattr(event, field) is None
    assert event == read_event(host, without(host, key))[0]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"{key} is ")
    assert warnings[0].isprintable()
    assert len(warnings[0]) < 400


@pytest.mark.parametrize(
    ("cwd", "taken"),
    [
        ("/", True),
        ("/a b/ü/✓", True),
        ("/with\nnewline", True),
        ("/bytes\udcff", True),
        ("", False),
        (".", False),
        ("src", False),
        ("../..", False),
        ("~", False),
        ("file:///work", False),
        ("C:\\work", False),
        ("/a\x00b", False),
        ("/half\ud83d", False),
        ("/" + "a" * 4095, True),
        ("/" + "a" * 4096, False),
    ],
)
@pytest.mark.parametrize("host", HOSTS)
def test_a_folder_is_an_absolute_path(host: str, cwd: str, taken: bool) -> None:
    value: object = [cwd] if host == "cursor" else cwd
    event, warnings = read_event(host, given_input(host, **{CWD[host]: value}))
    assert event.cwd == (cwd if taken else None)
    assert bool(warnings) is not taken


@pytest.mark.parametrize(
    ("roots", "cwd", "warned"),
    [
        ([], None, False),
        (["/a", "/b"], "/a", True),
        ("/a", None, True),
        ({"0": "/a"}, None, True),
        ([None, "/b"], None, True),
        ([["/a"]], None, True),
    ],
)
def test_cursor_tells_its_folders(roots: object, cwd: str | None, warned: bool) -> None:
    event, warnings = read_event("cursor", given_input("cursor", workspace_roots=roots))
    assert (event.cwd, bool(warnings)) == (cwd, warned)


@pytest.mark.parametrize(
    "value", [-1, True, "1", 1.0, [1], {}, 1_000_001, pytest.param(10**5000, id="huge")]
)
def test_a_count_that_is_none_is_left_out(value: object) -> None:
    event, warnings = read_event("cursor", given_input("cursor", loop_count=value))
    assert (event.used, event.continued) == (None, False)
    assert warnings[0].startswith("loop_count is ")


@pytest.mark.parametrize("value", [1, 0, "true", "false", [], {}])
@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_only_true_is_true(host: str, value: object) -> None:
    event, warnings = read_event(host, given_input(host, stop_hook_active=value))
    assert event.continued is False
    assert warnings[0].startswith("stop_hook_active is ")


def task(**fields: object) -> dict[str, object]:
    return {"id": "b1", "type": "shell", "status": "running", "description": "tests", **fields}


@pytest.mark.parametrize(
    ("tasks", "names", "warned"),
    [
        ([], (), False),
        ([task(command="npm test")], ("shell: tests",), False),
        ([task(status="pending")], ("shell: tests",), False),
        ([task(status="a new word")], ("shell: tests",), False),
        ([task(status="completed"), task(status="killed")], (), False),
        ([task(description="", command="npm test")], ("shell: npm test",), False),
        ([task(type="subagent", description=None, agent_type="a")], ("subagent: a",), False),
        ([task(type="monitor", description=5, tool="t", server="s")], ("monitor: t",), False),
        ([task(type="workflow", description=[], name="w")], ("workflow: w",), False),
        ([{"id": "b1"}], ("b1",), False),
        ([{}], ("a task",), False),
        ([task(status=None)], ("shell: tests",), False),
        ([task(status=7)], ("shell: tests",), False),
        (["x", 7, None], ("a task", "a task", "a task"), True),
        ([task(description="a\nb\x1b[2J\u202ec\ud800")], ("shell: a?b?[2J?c?",), False),
        ("running", (), True),
        ({"b1": task()}, (), True),
        (3, (), True),
    ],
)
def test_background_tasks_of_claude_code(
    tasks: object, names: tuple[str, ...], warned: bool
) -> None:
    event, warnings = read_event("claude", given_input("claude", background_tasks=tasks))
    assert (event.background, bool(warnings)) == (names, warned)


def test_many_background_tasks_are_counted() -> None:
    tasks = [task(description="x" * 5000) for _ in range(1000)]
    event, _ = read_event("claude", given_input("claude", background_tasks=tasks))
    assert len(event.background) == stop_hosts.MOST_TASKS + 1
    assert event.background[-1] == "980 more"
    assert max(map(len, event.background)) == stop_hosts.NAME_LIMIT


@pytest.mark.parametrize("host", ["codex", "gemini", "cursor"])
def test_other_hosts_tell_no_background_tasks(host: str) -> None:
    assert read_event(host, given_input(host, background_tasks=[task()]))[0].background == ()


@pytest.mark.parametrize(
    ("host", "changes", "skipped"),
    [
        (
            "claude",
            {"hook_event_name": "SubagentStop", "agent_id": "a1"},
            "event is 'SubagentStop'",
        ),
        ("claude", {"hook_event_name": "PostToolUse"}, "event is 'PostToolUse', not 'Stop'"),
        ("claude", {"hook_event_name": "AfterAgent"}, "event is 'AfterAgent', not 'Stop'"),
        ("claude", {"agent_id": "a1"}, "subagent"),
        ("claude", {"agent_type": "reviewer"}, ""),
        ("claude", {"hook_event_name": "stop"}, ""),
        ("codex", {"hook_event_name": "SubagentStop"}, "event is 'SubagentStop'"),
        ("codex", {"agent_id": "a1"}, "subagent"),
        ("gemini", {"hook_event_name": "Stop"}, "event is 'Stop', not 'AfterAgent'"),
        ("gemini", {"agent_id": "a1"}, ""),
        ("cursor", {"hook_event_name": "subagentStop"}, "event is 'subagentStop'"),
        ("cursor", {"status": "aborted"}, "'aborted'"),
        ("cursor", {"status": "error"}, "'error'"),
        ("claude", {"status": "aborted"}, ""),
        ("claude", {"hook_event_name": "x" * 5000}, "event is 'xxx"),
    ],
)
def test_stops_that_are_not_to_be_judged(host: str, changes: dict[str, Any], skipped: str) -> None:
    event, warnings = read_event(host, given_input(host, **changes))
    assert skipped in event.skip
    assert bool(event.skip) is bool(skipped)
    assert len(event.skip) < 300
    assert warnings == ()


@pytest.mark.parametrize(
    ("host", "key", "value"),
    [
        ("claude", "hook_event_name", ["Stop"]),
        ("cursor", "status", "tired"),
        ("cursor", "status", ["aborted"]),
        ("cursor", "status", {}),
    ],
)
def test_what_cannot_say_that_it_is_to_be_skipped(host: str, key: str, value: object) -> None:
    event, warnings = read_event(host, given_input(host, **{key: value}))
    assert event.skip == ""
    assert warnings[0].startswith(f"{key} is ")


KEYS = sorted({key for host in HOSTS for key in INPUTS[host]} | {"agent_id"})
TEXTS = st.one_of(
    st.text(), st.sampled_from(["Stop", "aborted", "/a", "x" * 9000, "\ud800", "\x00"])
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(TEXTS), inner, max_size=4)
    ),
    max_leaves=12,
)


@examples(120)
@given(st.sampled_from(HOSTS), st.one_of(JSON, st.dictionaries(st.sampled_from(KEYS), JSON)))
def test_no_input_breaks_the_reader(host: str, document: object) -> None:
    event, warnings = read_event(host, document)
    assert event.host == host
    assert event.session is None or (0 < len(event.session) <= 200 and event.session.isprintable())
    assert event.cwd is None or (event.cwd.startswith("/") and "\x00" not in event.cwd)
    assert type(event.continued) is bool
    assert all(name and name.isprintable() for name in event.background)
    assert len(event.background) <= stop_hosts.MOST_TASKS + 1
    for line in (*warnings, event.skip):
        assert len(line) < 500
        assert line.isprintable()


ANSWERS = {
    "continue": StopAnswer("continue", "FLOW_GOAL_CONTINUATION fix AC1", "hint", "message"),
    "let go": StopAnswer("let_go", "proved", "/flow:goal evaluate g", "confirm it"),
    "let go, bare": StopAnswer("let_go", "no goal"),
    "continue, bare": StopAnswer("continue", " \n"),
}
DOCUMENTS: list[tuple[str, str, dict[str, str]]] = [
    (
        "claude",
        "continue",
        {
            "decision": "block",
            "reason": "FLOW_GOAL_CONTINUATION fix AC1",
            "systemMessage": "message",
        },
    ),
    ("codex", "continue", {"decision": "block", "reason": "FLOW_GOAL_CONTINUATION fix AC1"}),
    (
        "gemini",
        "continue",
        {
            "decision": "deny",
            "reason": "FLOW_GOAL_CONTINUATION fix AC1",
            "systemMessage": "message",
        },
    ),
    ("cursor", "continue", {"followup_message": "FLOW_GOAL_CONTINUATION fix AC1"}),
    (
        "claude",
        "let go",
        {
            "decision": "approve",
            "reason": "proved",
            "next_step_hint": "/flow:goal evaluate g",
            "systemMessage": "confirm it",
        },
    ),
    ("codex", "let go", {}),
    ("gemini", "let go", {"decision": "allow", "systemMessage": "confirm it"}),
    ("cursor", "let go", {}),
    ("claude", "let go, bare", {"decision": "approve", "reason": "no goal"}),
    ("codex", "let go, bare", {}),
    ("gemini", "let go, bare", {"decision": "allow"}),
    ("cursor", "let go, bare", {}),
    ("claude", "continue, bare", {"decision": "block", "reason": "FLOW_GOAL_CONTINUATION"}),
    ("codex", "continue, bare", {"decision": "block", "reason": "FLOW_GOAL_CONTINUATION"}),
    ("gemini", "continue, bare", {"decision": "deny", "reason": "FLOW_GOAL_CONTINUATION"}),
    ("cursor", "continue, bare", {"followup_message": "FLOW_GOAL_CONTINUATION"}),
]


def test_every_host_has_every_answer() -> None:
    assert {(host, name) for host, name, _ in DOCUMENTS} == {
        (host, name) for host in HOSTS for name in ANSWERS
    }


@pytest.mark.parametrize(("host", "name", "document"), DOCUMENTS)
def test_answers_in_the_words_of_the_host(host: str, name: str, document: dict[str, str]) -> None:
    assert to_document(host, ANSWERS[name]) == document
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(
    ("host", "text", "size"),
    [
        ("claude", "abc", 3),
        ("claude", "ü€", 2),
        ("claude", "😀", 2),
        ("codex", "abc", 3),
        ("codex", "ü€", 5),
        ("codex", "😀", 4),
        ("codex", "\ud800", 3),
        ("gemini", "😀", 2),
        ("cursor", "😀", 2),
    ],
)
def test_a_reason_is_measured_as_the_host_does(host: str, text: str, size: int) -> None:
    assert stop_hosts.reason_size(host, text) == size
    assert stop_hosts.reason_limit(host) == 10_000


@pytest.mark.parametrize(
    ("host", "said", "cap"),
    [
        ("claude", None, 8),
        ("claude", "", 8),
        ("claude", "3", 3),
        ("claude", " 12 turns", 12),
        ("claude", "+4", 4),
        ("claude", "2.9", 2),
        ("claude", "0", None),
        ("claude", "-1", None),
        ("claude", "many", 8),
        ("claude", "-", 8),
        ("claude", "³", 8),
        ("claude", "9" * 5000, 999_999_999_999_999_999),
        ("codex", "3", None),
        ("gemini", "3", None),
        ("cursor", "3", 5),
    ],
)
def test_the_cap_of_the_host(host: str, said: str | None, cap: int | None) -> None:
    assert stop_hosts.block_cap(host, said) == cap


@pytest.mark.parametrize(
    ("host", "name"),
    [("claude", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent"), ("cursor", "stop")],
)
def test_the_event_of_the_host(host: str, name: str) -> None:
    assert stop_hosts.event_name(host) == name


def test_it_is_cheap_to_import() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import typing\n"
        "before = set(sys.modules); import flow.core.stop.hosts\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(ROOT)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) <= {
        "__future__",
        "flow",
        "flow.startup",
        "flow.startup.typing",
        "flow.core",
        "flow.core.stop",
        "flow.core.stop.hosts",
    }
