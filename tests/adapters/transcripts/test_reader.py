"""Transcripts: sessions as Claude Code 2.1.197 writes them, older ones, texts, broken ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.transcripts import agents as transcripts_agents
from flow.adapters.transcripts import reader, session_files
from flow.core.transcript.layout import lay_out
from flow.core.transcript.model import Transcript, has_ended, quotable_text
from flow.errors import InputError
from tests.support.counted import memory_of
from tests.support.sessions import SessionFile, folder


def rows(transcript: Transcript) -> list[tuple[str, str]]:
    """Kind and text of each entry."""
    return [(entry.kind, entry.text) for entry in transcript.entries]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """A checkout's folder."""
    (tmp_path / "work_tree.v1" / ".git").mkdir(parents=True)
    return tmp_path / "work_tree.v1"


@pytest.fixture
def session(home: Path, cwd: Path) -> SessionFile:
    return SessionFile(folder(home, cwd) / "s1.jsonl")


def newest(skill: str | None, home: Path, cwd: Path, **more: Any) -> Transcript:
    return reader.newest(
        skill, cwd=str(cwd), home=str(home), environ=more.pop("environ", {}), **more
    )


# --- runs --------------------------------------------------------------------------------------


def test_a_slash_command_with_all_that_happened(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("hello").says("hi")
    session.command("ship", "x & <y>", "Ship x now.")
    session.bash("rm -rf build", "Exit code 1\nno", failed=True)
    session.bash("rm -rf build", "ok")
    session.used("Write", {"file_path": "a.txt", "content": "hello\nyou"}, "created")
    session.says("shipped")
    session.prompt("thanks").says("you are welcome")
    found = newest("ship", home, cwd)
    assert (found.path, found.form, found.skill) == (str(session.path), "claude", "ship")
    assert found.started_at is not None
    assert found.started_at.endswith("Z")
    assert len(found.started_at) == 20
    assert found.warnings == ()
    assert rows(found) == [
        ("prompt", "/ship x & <y>"),
        ("prompt", "Ship x now."),
        ("tool", "rm -rf build\ndescription: a step"),
        ("tool", "rm -rf build\ndescription: a step"),
        ("tool", "file_path: a.txt\ncontent: hello\nyou"),
        ("text", "shipped"),
    ]
    _, instructions, first, second, third, _ = found.entries
    assert instructions.tool == "instructions of the skill"
    assert (first.tool, first.result) == ("Bash", "Exit code 1\nno")
    assert (first.failed, first.destructive) == (True, True)
    assert (second.failed, second.destructive) == (False, True)
    assert (third.tool, third.result, third.destructive) == ("Write", "created", False)
    assert quotable_text(found).splitlines()[0] == "/ship x & <y>"
    assert lay_out(found, limit=9000).summary == {
        "prompts": 1,
        "texts": 1,
        "tool_calls": 3,
        "errors": 1,
        "retries": 1,
        "destructive": 2,
        "notes": 0,
        "left_out_entries": 0,
    }


def test_a_skill_that_the_agent_started_comes_with_what_the_person_asked(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("tidy up please").says("I will").skill("tidy", "the shed", "Tidy the shed.")
    session.bash("ls", "a").says("tidied")
    found = newest("tidy", home, cwd)
    assert rows(found) == [
        ("prompt", "tidy up please"),
        ("tool", "skill: tidy\nargs: the shed"),
        ("prompt", "Tidy the shed."),
        ("tool", "ls\ndescription: a step"),
        ("text", "tidied"),
    ]
    assert has_ended(found)


@pytest.mark.parametrize("older", [False, True])
def test_the_input_of_the_skill_tool_in_both_versions(
    older: bool, session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("go")
    session.used("Skill", {"command" if older else "skill": "/tidy"}, "launched")
    session.says("done")
    assert newest("tidy", home, cwd).skill == "tidy"


def test_a_run_ends_with_the_next_prompt_the_next_skill_or_the_file(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("one").says("first")
    session.command("two").says("second").skill("three").says("third")
    assert [text for _, text in rows(newest("one", home, cwd))][-1] == "first"
    two = newest("two", home, cwd)
    assert rows(two)[-1] == ("note", "the skill three began here; what follows is its run")
    assert not has_ended(two)
    assert rows(newest("three", home, cwd))[-1] == ("text", "third")
    assert newest(None, home, cwd).skill == "three"


def test_the_newest_of_several_runs_is_taken_and_each_has_an_identity_of_its_own(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("tidy").says("first")
    first = newest("tidy", home, cwd)
    assert newest("tidy", home, cwd).execution == first.execution
    session.prompt("and on").says("yes")
    assert newest("tidy", home, cwd).execution == first.execution
    session.command("tidy").says("second")
    second = newest("tidy", home, cwd)
    assert rows(second)[-1] == ("text", "second")
    assert second.execution != first.execution
    copied = session.path.with_name("s2.jsonl")  # a session that was resumed in a file of its own
    copied.write_bytes(session.path.read_bytes())
    assert newest("tidy", home, cwd).execution == second.execution


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("flow:goal", True),
        ("goal", True),
        ("/flow:goal", True),
        ("/goal", True),
        ("other:goal", False),
        ("flow", False),
        ("oal", False),
        ("Goal", False),
    ],
)
def test_names_with_and_without_the_prefix_of_a_plugin(
    wanted: str, found: bool, session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("flow:goal", "status").says("shown")
    if found:
        assert newest(wanted, home, cwd).skill == "flow:goal"
    else:
        with pytest.raises(InputError, match="no run of"):
            newest(wanted, home, cwd)


def test_commands_that_claude_code_answers_itself_are_no_skills(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("tidy").says("tidied").local("compact")
    session.line("system", subtype="local_command", content="/nonsense x")
    session.user("<task-notification>x</task-notification>").says("a task has ended")
    assert newest(None, home, cwd).skill == "tidy"
    with pytest.raises(InputError):
        newest("compact", home, cwd)


def test_the_judge_is_not_the_newest_but_can_be_named(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("tidy").says("tidied")
    session.command("flow:judge", "tidy").bash("flow judge scorecard tidy", "B").says("a B")
    assert newest(None, home, cwd).skill == "tidy"
    before = newest("judge", home, cwd)
    assert before.skill == "flow:judge"
    session.command("flow:judge", "judge").call("Bash", {"command": "flow judge scorecard judge"})
    assert newest("judge", home, cwd).execution == before.execution  # not the one that asks


def test_what_does_not_end_a_run(session: SessionFile, home: Path, cwd: Path) -> None:
    session.command("ship").says("first stop")
    session.user("Stop hook feedback:\nGO ON", isMeta=True)
    session.line("system", subtype="compact_boundary", content="Conversation compacted")
    session.user("This session is being continued", isCompactSummary=True)
    session.user("<task-notification>\n<task-id>a</task-id>", origin={"kind": "task-notification"})
    session.line("attachment", attachment={"type": "queued_command", "prompt": "and hurry"})
    session.line("attachment", attachment={"type": "task_reminder", "content": []})
    session.line("system", subtype="stop_hook_summary", hookCount=1)
    session.user([{"type": "text", "text": "[Request interrupted by user]"}])
    session.line("system", subtype="api_error", error={"message": "overloaded"})
    session.says("API Error: 400 bad", isApiErrorMessage=True)
    found = newest("ship", home, cwd)
    assert [kind for kind, _ in rows(found)] == [
        *("prompt", "prompt", "text", "note", "note", "note", "note", "prompt", "note"),
        *("error", "error"),
    ]
    assert ("error", "overloaded") in rows(found)
    assert "GO ON" in found.entries[3].text
    assert not any("continued from" in text for _, text in rows(found))
    assert found.entries[-1].failed
    assert has_ended(found)


def test_parallel_calls_find_their_results_and_a_repeated_line_is_one_call(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship")
    one = session.call("Bash", {"command": "echo 1"})
    two = session.call("Bash", {"command": "cat nofile"})
    session.call("Bash", {"command": "echo 1"}, id=one)
    three = session.call("Read", {"file_path": "x"})
    session.result(three, [{"type": "text", "text": "3"}, {"type": "image"}])
    session.result(two, "no such file", failed=True).result(one, "1")
    session.result(one, "again").result("toolu_unknown", "nobody")
    found = newest("ship", home, cwd)
    calls = [(e.result, e.failed) for e in found.entries if e.kind == "tool"]
    assert calls == [("1", False), ("no such file", True), ("3\n(image)", False)]
    assert not has_ended(found)


def test_a_call_without_a_result_is_told(session: SessionFile, home: Path, cwd: Path) -> None:
    session.command("ship").says("now").call("Bash", {"command": "sleep 9"})
    found = newest("ship", home, cwd)
    assert found.entries[-1].result is None
    assert found.warnings == ("it was going on when the transcript was read",)
    assert "no result is recorded" in lay_out(found, limit=9000).parts[0].text


@pytest.mark.parametrize("what", ["prompt", "command", "skill"])
def test_a_run_that_was_broken_off_is_not_going_on(
    what: str, session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship").says("now").call("Bash", {"command": "sleep 9"})
    getattr(session, what)("other").says("another thing")
    assert newest("ship", home, cwd).warnings == ()


def test_a_skill_that_only_began_has_no_run(session: SessionFile, home: Path, cwd: Path) -> None:
    session.command("ship").says("shipped").command("ship")
    assert rows(newest("ship", home, cwd))[-1] == ("text", "shipped")


# --- subagents ---------------------------------------------------------------------------------


def test_an_agents_run_is_its_task_its_own_transcript_and_its_answer(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("let it be reviewed")
    session.agent("reviewer", "Please review", "a1", "Review: fine")
    own = session.subagent("a1", "reviewer")
    own.user("Please review").bash("ls nothing", "no", failed=True)
    own.says("Review: fine", attributionAgent="reviewer")
    session.says("reviewed")
    found = newest("reviewer", home, cwd)
    assert found.skill == "reviewer"
    assert rows(found) == [
        ("prompt", "Please review"),
        ("tool", "ls nothing\ndescription: a step"),
        ("text", "Review: fine"),
    ]
    assert has_ended(found)
    assert newest(None, home, cwd).skill == "reviewer"


def test_an_agent_without_a_transcript_is_what_it_answered(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("p").agent("reviewer", "Please review", "a1", "Review: fine")
    found = newest("reviewer", home, cwd)
    assert rows(found)[0] == ("prompt", "Please review")
    assert "Review: fine" in rows(found)[1][1]


def test_an_agent_that_was_called_in_a_skills_run_is_part_of_it(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship").agent("reviewer", "Please review", "a1", "fine")
    session.subagent("a1", "reviewer").user("Please review").bash("git reset --hard", "ok")
    session.says("shipped")
    found = newest(None, home, cwd)
    assert found.skill == "ship"
    assert [kind for kind, _ in rows(found)] == [
        *("prompt", "prompt", "tool", "note", "prompt", "tool", "note", "text"),
    ]
    assert "what the subagent" in found.entries[3].text
    assert found.entries[5].destructive
    assert newest("reviewer", home, cwd).skill == "reviewer"


def test_an_agent_in_the_background_is_found_by_the_note_beside_its_transcript(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("in the background")
    given = {"subagent_type": "reviewer", "prompt": "Review in bg", "run_in_background": True}
    call = session.call("Agent", given)
    session.result(call, "Async agent launched", toolUseResult={"isAsync": True})
    session.says("launched")
    session.subagent("a7", "reviewer", call).user("Review in bg").says("sub done")
    found = newest("reviewer", home, cwd)
    assert rows(found) == [
        ("prompt", "Review in bg"),
        ("text", "sub done"),
        ("note", "it was started in the background"),
    ]


def test_a_skill_with_a_context_of_its_own_is_found_by_its_prompt(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("/forky the cat")
    own = session.subagent("a9", "general-purpose")
    own.prompt_id = session.prompt_id
    own.user("Fork the cat well.", isMeta=True).bash("ls", "x")
    own.says("forked result", attributionSkill="forky")
    session.user("<local-command-stdout>\nforked result\n</local-command-stdout>")
    found = newest("forky", home, cwd)
    assert ("tool", "ls\ndescription: a step") in rows(found)
    assert has_ended(found)
    assert newest(None, home, cwd).skill == "forky"


def test_a_path_at_the_start_of_a_prompt_is_no_skill(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("tidy").says("tidied").prompt("/srv/x is full").says("cleaned")
    session.prompt("/srv")
    assert newest(None, home, cwd).skill == "tidy"


def test_an_older_session_has_its_subagents_lines_among_its_own(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("go")
    call = session.call("Task", {"subagent_type": "reviewer", "prompt": "Please review"})
    session.side = "a1"
    session.user("Please review").bash("ls", "x").says("looked")
    session.side = None
    session.result(call, "fine").says("reviewed")
    found = newest("reviewer", home, cwd)
    assert rows(found) == [
        ("prompt", "Please review"),
        ("note", "a subagent was asked: Please review"),
        ("tool", "ls\ndescription: a step"),
        ("text", "looked"),
        ("text", "fine"),
    ]
    assert found.entries[2].result == "x"


def test_a_subagents_own_file_is_taken_whole(session: SessionFile) -> None:
    own = session.subagent("a1", "reviewer")
    own.user("Please review").bash("ls", "x").says("fine", attributionAgent="reviewer")
    for skill in ("reviewer", None, "other"):
        found = reader.read(str(own.path), skill)
        assert (found.skill, found.warnings) == ("reviewer", ())
        assert [kind for kind, _ in rows(found)] == ["prompt", "tool", "text"]


def test_subagents_that_call_each_other_are_read_once(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship").agent("one", "task", "a1", "x").says("done")
    session.subagent("a1").user("t").agent("two", "t", "a2", "y").says("one")
    session.subagent("a2").user("t").agent("one", "t", "a1", "z").says("two")
    found = newest("ship", home, cwd)
    assert found.warnings == ()
    assert [text for kind, text in rows(found) if kind == "text"] == ["two", "one", "done"]


def test_subagents_of_subagents_are_read_to_a_depth(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship").agent("n", "task", "a1", "x").says("done")
    for number in range(1, 6):
        own = session.subagent(f"a{number}").user("t")
        own.agent("n", "t", f"a{number + 1}", "y").says(f"depth {number}")
    found = newest("ship", home, cwd)
    said = [text for kind, text in rows(found) if kind == "text"]
    assert said == ["depth 3", "depth 2", "depth 1", "done"]
    assert found.warnings == ("transcripts of some subagents were not read: there are too many",)


def test_many_subagents_come_to_an_end(session: SessionFile, home: Path, cwd: Path) -> None:
    session.command("ship").agent("one", "task", "a1", "x").says("done")
    session.subagent("a1").user("t").agent("two", "t", "a2", "y").says("one")
    session.subagent("a2").user("t").agent("one", "t", "a1", "z").says("two")
    for number in range(transcripts_agents.MOST_AGENTS + 5):
        session.agent("n", "task", f"n{number}", "x")
        session.subagent(f"n{number}").user("t").says("n")
    session.says("end")
    found = newest("ship", home, cwd)
    assert found.warnings == ("transcripts of some subagents were not read: there are too many",)
    assert rows(found)[-1] == ("text", "end")


# --- where sessions lie ------------------------------------------------------------------------


def test_the_newest_session_is_looked_into_first(home: Path, cwd: Path) -> None:
    base = folder(home, cwd)
    old = SessionFile(base / "old.jsonl").command("tidy").says("old")
    new = SessionFile(base / "new.jsonl").command("ship").says("new")
    os.utime(old.path, (1, 1))
    assert newest(None, home, cwd).path == str(new.path)
    assert newest("tidy", home, cwd).path == str(old.path)
    os.utime(old.path)
    os.utime(new.path, (1, 1))
    assert newest(None, home, cwd).path == str(old.path)


def test_the_session_that_calls_comes_before_newer_ones(home: Path, cwd: Path) -> None:
    base = folder(home, cwd)
    own = SessionFile(base / "own.jsonl").command("tidy").says("own")
    other = SessionFile(base / "other.jsonl").command("tidy").says("other")
    os.utime(own.path, (1, 1))
    assert newest("tidy", home, cwd).path == str(other.path)
    environ = {"CLAUDE_CODE_SESSION_ID": "own"}
    assert newest("tidy", home, cwd, environ=environ).path == str(own.path)
    environ = {"CLAUDE_CODE_SESSION_ID": "../own"}
    assert newest("tidy", home, cwd, environ=environ).path == str(other.path)


def test_a_named_session_is_the_only_one(home: Path, cwd: Path, tmp_path: Path) -> None:
    base = folder(home, cwd)
    SessionFile(base / "one.jsonl").command("tidy").says("one")
    two = SessionFile(base / "two.jsonl").prompt("hello").says("two")
    away = SessionFile(folder(home, tmp_path / "away") / "three.jsonl").command("tidy").says("3")
    for session in ("two", str(two.path), "nowhere", str(tmp_path / "nowhere.jsonl"), "a/b", ""):
        with pytest.raises(InputError):
            newest("tidy", home, cwd, session=session)
    assert newest("tidy", home, cwd, session="one").path.endswith("one.jsonl")
    assert newest("tidy", home, cwd, session="three").path == str(away.path)
    assert newest("tidy", home, cwd, session=str(away.path)).path == str(away.path)


def test_sessions_of_folders_above_count_up_to_the_checkouts_top(home: Path, cwd: Path) -> None:
    below = cwd / "src" / "deep"
    below.mkdir(parents=True)
    SessionFile(folder(home, cwd) / "s.jsonl").command("tidy").says("top")
    SessionFile(folder(home, cwd.parent) / "s.jsonl").command("ship").says("outside")
    assert newest("tidy", home, below).skill == "tidy"
    with pytest.raises(InputError):
        newest("ship", home, below)


def test_claude_codes_folder_can_lie_elsewhere(home: Path, cwd: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    base = config / "projects" / session_files.project_name(str(cwd))
    SessionFile(base / "s.jsonl").command("tidy").says("x")
    with pytest.raises(InputError):
        newest("tidy", home, cwd)
    environ = {"CLAUDE_CONFIG_DIR": str(config)}
    assert newest("tidy", home, cwd, environ=environ).skill == "tidy"


def test_without_a_home_nothing_is_looked_for_in_the_working_directory(
    cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SessionFile(tmp_path / "projects" / "x" / "s1.jsonl").command("tidy").says("planted")
    monkeypatch.chdir(tmp_path)
    for more in ({"environ": {"CLAUDE_CODE_SESSION_ID": "s1"}}, {"session": "s1", "environ": {}}):
        with pytest.raises(InputError):
            reader.newest("tidy", cwd=str(cwd), home=None, **more)  # type: ignore[arg-type]


def test_without_a_home_there_are_no_sessions(cwd: Path) -> None:
    with pytest.raises(InputError, match="there are no sessions") as caught:
        reader.newest("tidy", cwd=str(cwd), home=None, environ={})
    assert caught.value.exit_code == 2
    assert "--file" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/my_repo.v1", "-srv-my-repo-v1"),
        ("/srv/Käse", "-srv-K-se"),
        # what Claude Code 2.1.197 makes of long paths: 200 characters and a hash in base 36
        ("/" + "a" * 199, "-" + "a" * 199),
        ("/" + "a" * 200, "-" + "a" * 199 + "-b6ymvl"),
        ("/" + "ab" * 300, "-" + "ab" * 99 + "a-xfq5r9"),
        ("/srv/" + "Käse😀/" * 40, "-srv-" + "K-se---" * 27 + "K-se---"[:6] + "-suqlon"),
    ],
)
def test_the_folders_name_is_claude_codes(path: str, name: str) -> None:
    assert session_files.project_name(path) == name


# --- files that somebody names -----------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n \n\t", b"\xef\xbb\xbf", b"\0\0"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.md", "t.txt"])
def test_an_empty_transcript_is_an_error(data: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match="empty") as caught:
        reader.read(str(tmp_path / name), "tidy")
    assert (caught.value.exit_code, caught.value.code) == (2, "empty")
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("what", ["missing", "folder", "fifo", "device", "NUL", "dangling"])
def test_what_is_no_regular_file_is_an_error(what: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    named = {"device": "/dev/zero", "NUL": "a\0b"}.get(what, str(path))
    with pytest.raises(InputError) as caught:
        reader.read(named, None)
    assert caught.value.exit_code == 2


def test_a_named_file_may_be_a_link_a_found_one_may_not(
    session: SessionFile, home: Path, cwd: Path, tmp_path: Path
) -> None:
    session.command("tidy").says("x")
    link = tmp_path / "link.jsonl"
    link.symlink_to(session.path)
    assert reader.read(str(link), "tidy").skill == "tidy"
    real = tmp_path / "moved.jsonl"
    session.path.rename(real)
    session.path.symlink_to(real)
    with pytest.raises(InputError):
        newest("tidy", home, cwd)
    with pytest.raises(InputError):
        newest("tidy", home, cwd, session=str(session.path))


def test_a_session_where_only_others_ran_is_an_error(session: SessionFile) -> None:
    session.command("tidy").says("x").skill("ship").says("y")
    with pytest.raises(InputError, match="what ran: tidy, ship") as caught:
        reader.read(str(session.path), "commit")
    assert (caught.value.fault.key, caught.value.exit_code) == ("skill", 2)


def test_where_only_others_ran_in_the_folders_sessions_they_are_named(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    with pytest.raises(InputError) as caught:
        newest("commit", home, cwd)
    nothing = "there is no run of 'commit' to judge in 1 session of this folder"
    assert caught.value.fault.message == nothing
    session.command("tidy").says("x").skill("ship").says("y").command("commit")
    SessionFile(session.path.with_name("more.jsonl")).command("look").says("z")
    os.utime(session.path)
    os.utime(session.path.with_name("more.jsonl"), (1, 1))
    with pytest.raises(InputError) as caught:
        newest("commit", home, cwd)
    wanted = "there is no run of 'commit' to judge in 2 sessions of this folder"
    assert caught.value.fault.message == f"{wanted}; what ran: tidy, ship, look"


def test_a_skill_that_only_began_in_a_file_is_an_error(session: SessionFile) -> None:
    session.command("tidy")
    with pytest.raises(InputError, match="only began in this transcript"):
        reader.read(str(session.path), "tidy")


def test_a_session_that_names_no_skill_is_taken_whole_and_says_so(session: SessionFile) -> None:
    session.prompt("commit it").bash("git commit -m x", "done").says("committed")
    for skill in ("commit", None):
        found = reader.read(str(session.path), skill)
        assert found.skill is None
        assert found.warnings == ("it names no skill or agent; all of it was taken",)
        assert [kind for kind, _ in rows(found)] == ["prompt", "tool", "text"]
    again = reader.read(str(session.path), None)
    assert again.execution == found.execution


@pytest.mark.parametrize(
    "lines", [b'{"type": "summary", "summary": "x"}\n', b"no json\n", b'{"a": 1}\n{"b":', b"[1]\n"]
)
def test_a_session_in_which_nothing_happened_is_an_error(lines: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(lines)
    with pytest.raises(InputError, match="holds nothing"):
        reader.read(str(tmp_path / "t.jsonl"), None)


def test_a_run_whose_lines_have_no_ids_has_an_identity_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    command = "<command-name>/tidy</command-name>"
    lines: list[Any] = [
        {"type": "user", "message": {"content": command}},
        {"type": "assistant", "message": {"content": "done"}},
        {
            "type": "user",
            "message": {"content": [{"type": "image"}, {"type": "text", "text": "?"}]},
        },
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    first = reader.read(str(path), "tidy")
    assert rows(first) == [("prompt", "/tidy"), ("text", "done")]
    assert first.execution == reader.read(str(path), "tidy").execution
    lines[0]["n"] = 2
    path.write_text("\n".join(map(json.dumps, lines)))
    assert first.execution != reader.read(str(path), "tidy").execution


def test_outside_of_a_checkout_only_the_folder_itself_counts(home: Path, tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    SessionFile(folder(home, tmp_path / "a") / "s.jsonl").command("tidy").says("above")
    with pytest.raises(InputError):
        newest("tidy", home, below)
    SessionFile(folder(home, below) / "s.jsonl").command("tidy").says("here")
    assert rows(newest("tidy", home, below))[-1] == ("text", "here")


def test_what_matters_in_the_middle_of_a_long_run_is_kept(session: SessionFile) -> None:
    session.command("tidy")
    for number in range(300):
        session.says(f"{number} " + "x" * 60_000)
        if number == 100:
            session.bash("false", "THE ERROR", failed=True).bash("git reset --hard", "LOST")
        if number in (50, 250):
            session.call("Bash", {"command": "sleep 1"})
    session.says("the end")
    found = reader.read(str(session.path), "tidy")
    texts = [entry.result for entry in found.entries]
    assert "THE ERROR" in texts
    assert "LOST" in texts
    assert texts.index("THE ERROR") < texts.index("LOST")
    assert sum(len(entry.text) for entry in found.entries) < 12_000_000
    assert any("entries of a very long session were not kept" in t for _, t in rows(found))


def test_many_open_calls_are_bounded(session: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    from flow.core.transcript import claude as transcript_claude
    from flow.core.transcript import pending

    monkeypatch.setattr(pending, "MOST_OPEN", 3)
    monkeypatch.setattr(transcript_claude, "MOST_CALLS", 3)
    session.command("tidy")
    calls = [session.call("Bash", {"command": f"sleep {n}"}) for n in range(6)]
    for call in calls:
        session.result(call, "done")
    found = reader.read(str(session.path), "tidy")
    results = [entry.result for entry in found.entries if entry.kind == "tool"]
    assert results == [None, None, None, "done", "done", "done"]


def test_subagents_files_that_cannot_be_read_are_told(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.command("ship").agent("one", "task", "a1", "x").agent("two", "task", "a2", "y")
    session.agent("three", "task", "../../a3", "z").says("done")
    session.subagent("a1")
    session.subagent("a2").user("t").raw(b"no json\n").says("two")
    found = newest("ship", home, cwd)
    assert found.warnings == (
        "the transcript of a subagent could not be read",
        "a subagent's transcript: 1 line is no JSON that can be read; left out",
    )
    assert ("text", "two") in rows(found)


def test_notes_beside_subagents_may_be_anything(
    session: SessionFile, home: Path, cwd: Path
) -> None:
    session.prompt("p")
    session.result(session.call("Agent", {"subagent_type": "r", "prompt": "t"}), "answer")
    session.says("ok")
    session.subagent("a1").user("t").says("mine")
    note = session.path.with_suffix("") / "subagents" / "agent-a1.meta.json"
    for data in (b"{", b"[1]", b"[" * 9999, b"\xff"):
        note.write_bytes(data)
        assert ("text", "answer") in rows(newest("r", home, cwd))
    note.unlink()
    note.mkdir()
    assert ("text", "answer") in rows(newest("r", home, cwd))


def test_messages_as_the_api_has_them_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines: list[Any] = [
        {"role": "user", "content": "make it"},
        {"role": "assistant", "content": [{"type": "text", "text": "made"}]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert rows(reader.read(str(path), None)) == [("prompt", "make it"), ("text", "made")]


def test_a_session_is_known_by_its_content_too(session: SessionFile, tmp_path: Path) -> None:
    session.command("tidy").says("x")
    other = tmp_path / "saved.log"
    other.write_bytes(session.path.read_bytes())
    assert reader.read(str(other), "tidy").form == "claude"
    other.write_text('{"a": 1}\nnot a session\n')
    assert reader.read(str(other), "tidy").form == "text"


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1, 2]",
        b"3",
        b'"x"',
        b"null",
        b'{"type": 3}',
        b'{"type": "user"}',
        b'{"type": "user", "message": 3}',
        b'{"type": "user", "message": {"content": 3}}',
        b'{"type": "assistant", "message": {"content": null}}',
        b"\xff\xfe\x00broken",
        b'{"type": "user", "message": {"content": "x"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type": "user", "n": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda line: repr(line[:30]),
)
def test_lines_that_cannot_be_read_are_counted(line: bytes, session: SessionFile) -> None:
    session.command("tidy").says("before").raw(line + b"\n").says("after")
    found = reader.read(str(session.path), "tidy")
    assert rows(found)[-2:] == [("text", "before"), ("text", "after")]
    assert any("cannot be read" in w or "can be read" in w for w in found.warnings)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type": "progress", "data": {}}',
        b'{"type": "user", "message": {"content": []}}',
        b'{"type": "user", "message": {"content": [3, null, {"type": 3}, {"type": "text"}]}}',
        b'{"type": "assistant", "message": {"content": [{"type": "tool_use"}, 3]}}',
        b'{"type": "assistant", "message": {"content": [{"type": "text", "text": " "}]}}',
        b'{"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "h"}]}}',
        b'{"type": "user", "message": {"content": [{"type": "tool_result"}]}}',
        b'{"type": "system", "subtype": 3, "content": 4}',
        b'{"type": "attachment", "attachment": 3}',
        b'{"type": "queue-operation", "operation": "enqueue", "content": "x"}',
        b"",
        b"\0\0\0",
    ],
)
def test_lines_that_say_nothing_are_passed_over(line: bytes, session: SessionFile) -> None:
    session.command("tidy").says("before").raw(line + b"\n").says("after")
    found = reader.read(str(session.path), "tidy")
    assert rows(found)[-2:] == [("text", "before"), ("text", "after")]
    assert found.warnings == ()


def test_wrong_types_in_a_call_do_no_harm(session: SessionFile) -> None:
    session.command("tidy")
    for given in (None, 3, "text", ["a"], {"command": ["x", 3]}, {"command": {"a": 1}}):
        session.used("Bash", given, "ok")
    for skill in (3, None, "", " ", ["x"]):
        session.used("Skill", {"skill": skill}, "no")
    session.used("Agent", {"subagent_type": 7, "prompt": 8}, "no")
    assert len(reader.read(str(session.path), "tidy").entries) == 14


def test_a_last_line_that_is_cut_off_is_told(session: SessionFile) -> None:
    session.command("tidy").says("whole").raw(b'{"type": "assistant", "message": {"co')
    found = reader.read(str(session.path), "tidy")
    assert found.warnings == ("its last line is cut off; left out",)
    assert rows(found)[-1] == ("text", "whole")


def test_parents_in_a_circle_do_no_harm(session: SessionFile) -> None:
    session.command("tidy")
    for uuid, parent in (("a", "b"), ("b", "a"), ("c", "c")):
        session.line(
            "assistant",
            uuid=uuid,
            parentUuid=parent,
            message={"role": "assistant", "content": [{"type": "text", "text": uuid}]},
        )
    assert [text for _, text in rows(reader.read(str(session.path), "tidy"))][-3:] == [*"abc"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings(encoding: str, session: SessionFile, tmp_path: Path) -> None:
    session.command("tidy").says("größer ✓")
    text = session.path.read_text().encode().decode("utf-8")
    saved = tmp_path / "t.jsonl"
    saved.write_bytes(text.encode(encoding))
    assert rows(reader.read(str(saved), "tidy"))[-1] == ("text", "größer ✓")
    note = tmp_path / "t.md"
    note.write_bytes("# User\n\ngrößer ✓\n".encode(encoding))
    assert rows(reader.read(str(note), None)) == [("prompt", "größer ✓")]


def test_half_characters_can_be_written_again(session: SessionFile) -> None:
    session.command("tidy").says("a\ud800b").used("X\udc00", {"k": "\udfff"}, "\ud801")
    found = reader.read(str(session.path), "tidy")
    for part in lay_out(found, limit=9000).parts:
        part.text.encode() if isinstance(part.text, str) else part.text
    for entry in found.entries:
        (entry.text + (entry.result or "")).encode("utf-8")


def test_control_characters_reach_no_heading(session: SessionFile) -> None:
    session.command("ti\x1b]0;x\x07dy").used("Ba\x1b[31m\nsh", {}, "x").says("done")
    found = reader.read(str(session.path), None)
    assert found.skill == "ti\\x1b]0;x\\x07dy"
    headings = [
        line
        for part in lay_out(found, limit=9000).parts
        for line in str(part.text).splitlines()
        if line.startswith("(")
    ]
    assert headings
    assert not any("\x1b" in line for line in headings)


def test_a_huge_session_takes_little_memory(session: SessionFile, home: Path, cwd: Path) -> None:
    session.command("tidy", "x", "The instructions.")
    session.bash("git reset --hard", "HEAD is now")
    text = "x" * 200_000
    with session.path.open("ab") as file:
        for number in range(400):
            message = {
                "role": "assistant",
                "content": [{"type": "text", "text": f"{number}{text}"}],
            }
            file.write(json.dumps({"type": "assistant", "message": message}).encode() + b"\n")
    session.bash("false", "Exit code 1", failed=True).says("the very end")
    assert session.path.stat().st_size > 80_000_000
    assert memory_of(lambda: newest("tidy", home, cwd)).peak < 40_000_000
    found = newest("tidy", home, cwd)
    assert any("were not kept" in text for _, text in rows(found))
    assert rows(found)[0] == ("prompt", "/tidy x")
    assert rows(found)[-1] == ("text", "the very end")
    laid = lay_out(found, limit=20_000)
    shown = "\n".join(str(part.text) for part in laid.parts)
    for kept in ("/tidy x", "The instructions.", "git reset --hard", "Exit code 1", "very end"):
        assert kept in shown
    assert "left out here" in shown


def test_lines_without_end_and_long_files_are_bounded(
    session: SessionFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_files, "MOST_LINE", 5000)
    session.command("tidy").says("before").says("y" * 6000).says("z" * 20_000).says("after")
    found = reader.read(str(session.path), "tidy")
    assert found.warnings == ("2 lines are longer than 5000 bytes; left out",)
    assert rows(found)[-2:] == [("text", "before"), ("text", "after")]
    monkeypatch.setattr(session_files, "MOST_SESSION", 3000)
    session.command("tidy").says("the end")
    found = reader.read(str(session.path), "tidy")
    assert rows(found)[-1] == ("text", "the end")
    assert any("were not read" in warning for warning in found.warnings)


def test_saved_texts_of_any_length_keep_beginning_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_files, "MOST_TEXT", 2000)
    path = tmp_path / "t.txt"
    path.write_text("User: begin\nAssistant: " + "m" * 9000 + "\nthe end")
    found = reader.read(str(path), None)
    assert rows(found)[0] == ("prompt", "begin")
    assert "bytes of the transcript were not read" in rows(found)[1][1]
    assert rows(found)[1][1].endswith("the end")


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(400) + b"libc.so.6\0printf\0",
        b"PK\x03\x04" + bytes(range(256)) * 4,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    ],
    ids=["program", "archive", "image"],
)
@pytest.mark.parametrize("name", ["run.txt", "run.md", "run"])
def test_a_file_that_is_no_text_is_no_transcript(data: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match="is no text"):
        reader.read(str(path), "tidy")


def test_a_terminals_own_characters_are_text(tmp_path: Path) -> None:
    path = tmp_path / "typescript"
    path.write_text("$ make\x1b[K\r\n\x1b[32mok\x1b[0m\x07\b\b\x0c\r\n\x1b[1m\x1b[0m" * 50)
    assert reader.read(str(path), "tidy").entries


def test_bytes_in_no_encoding_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"caf\xe9 and t\xe9")
    found = reader.read(str(path), None)
    assert found.warnings == ("2 places are not in its encoding",)
