"""Auto mode: the script as Claude Code starts it, real processes, a scripted judge."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.transcripts.settling import LONGEST_STILL
from flow.adapters.user_state.auto_judge import AutoJudgeMemory
from flow.app.judging.auto_mode import Stop
from flow.wiring.context import Context
from flow.wiring.judging import auto_mode
from tests.support import ROOT, GitRepo, scene
from tests.support.goal_judge import GoalJudge
from tests.support.judges.score_replies import reply
from tests.support.sessions import SessionFile, folder
from tests.support.stops import event, one_day, run_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SCRIPT = os.path.join(ROOT, "hooks", "judge-on-stop.sh")
GRADED = "COMPOSITE: 7.95/10"
"""Eights, and the 7.0 of a first card's consistency."""


class Place:
    """A repository with a session of Claude Code, a scripted judge, and auto mode on."""

    def __init__(self, repo: GitRepo, home: Path, tmp_path: Path) -> None:
        scene.start(repo)
        self.repo, self.home, self.tmp = repo, home, tmp_path
        self.judge = GoalJudge(tmp_path / "judge", home, timeoutSeconds=300)
        self.judge.answers(reply(8.0, "all is tidy now"))
        self.session = SessionFile(folder(home, repo.path) / "s1.jsonl")
        repo.write("judge-config.json", '{"autoJudge": true}')

    def ran(self, name: str = "tidy") -> None:
        """A skill ran to its end."""
        self.session.command(name, "the shed").bash("ls", "a\nb").says("all is tidy now")

    def stop(self, **more: Any) -> dict[str, Any]:
        """One stop; what the hook answers."""
        env = more.pop("env", {})
        text = json.dumps(event(self.repo, transcript_path=str(self.session.path), **more))
        done = run_script(text, script=SCRIPT, cwd=self.tmp, **env)
        assert done.status == 0
        found = json.loads(done.stdout)
        assert set(found) <= {"systemMessage"}
        return dict(found)

    def stop_here(self, data: str | None = None, **more: Any) -> dict[str, Any]:
        """One stop of which nothing comes, without a start of the script's; all has settled."""
        given = json.dumps(event(self.repo, transcript_path=str(self.session.path), **more))
        text = given if data is None else data
        done = scene.flow(self.repo, "hook", "judge", input=text, cwd=self.repo.path)
        assert done.status == 0
        self.settled()
        return dict(done.json)

    def settled(self) -> None:
        """Wait until nobody scores any more; only who was found to is looked at all the time."""
        while working := [f"/proc/{pid}/cwd" for pid in apart(self.repo)]:
            _until(lambda seen=working: not any(map(os.path.exists, seen)), "it still scores")

    def thinks(self, **step: Any) -> None:
        """The judge answers only once it may."""
        self.judge.says({"reply": reply(8.0, "all is tidy now"), "wait": "go", **step})

    def may_answer(self) -> None:
        """Now it may."""
        (self.judge.folder / "go").touch()

    def said(self) -> str:
        """What is told at a stop once everything before it has settled; then that settles, too."""
        self.settled()
        answer = self.stop()
        self.settled()
        return str(answer.get("systemMessage", ""))

    @property
    def cards(self) -> list[str]:
        """The stored cards."""
        where = self.repo.path / ".flow/scores"
        return sorted(os.listdir(where)) if where.is_dir() else []

    @property
    def asked(self) -> int:
        """How often the judge was asked."""
        return len(self.judge.prompts)


def apart(repo: GitRepo) -> list[int]:
    """The processes that work for the checkout."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == str(repo.path) and int(pid) != os.getpid():
                found.append(int(pid))
        except OSError:
            continue
    return found


pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")


@pytest.fixture
def place(repo: GitRepo, home: Path, tmp_path: Path) -> Iterator[Place]:
    """What scores is waited for: it would write to the home of the test that comes next."""
    made = Place(repo, home, tmp_path)
    yield made
    made.may_answer()
    made.settled()


def test_the_card_comes_at_the_next_stop_once_and_is_stored(place: Place) -> None:
    place.ran()
    assert place.stop() == {}
    told = place.said()
    assert told.startswith("Flow: scorecard of tidy\n╔═")
    assert GRADED in told
    (name,) = place.cards
    assert f"stored as .flow/scores/{name}" in told
    assert place.said() == ""
    assert place.asked == 1
    card = json.loads((place.repo.path / ".flow/scores" / name).read_text())
    assert card["skill"] == "tidy"
    assert card["transcriptPath"] == str(place.session.path)


def test_the_stop_is_not_held_up_by_a_slow_judge(place: Place) -> None:
    place.thinks()
    place.ran()
    assert place.stop() == {}
    assert place.cards == []  # it has answered, and the judge still thinks
    assert apart(place.repo)
    place.may_answer()
    assert GRADED in place.said()


def test_each_execution_is_scored_once(place: Place) -> None:
    place.ran()
    place.stop()
    place.settled()
    place.session.prompt("thanks").says("you are welcome")
    assert GRADED in place.said()
    assert place.said() == ""
    assert len(place.cards) == place.asked == 1
    place.ran()
    assert place.said() == ""
    assert "scorecard of tidy" in place.said()
    assert place.said() == ""
    assert len(place.cards) == place.asked == 2


def scored(place: Place) -> list[str]:
    """The skills of the stored cards, in the order in which they were stored."""
    folder = place.repo.path / ".flow/scores"
    found = [json.loads((folder / name).read_text()) for name in place.cards]
    rows = {card["startedAt"]: card["skill"] for card in found}
    return [rows[when] for when in sorted(rows)]


def test_all_skills_of_a_turn_are_scored_oldest_first(place: Place) -> None:
    place.session.prompt("clean everything").skill("sweep", "the floor").says("all is tidy now")
    place.session.skill("dust", "the shelf").says("all is tidy now")
    place.session.agent("mop", "the hall", "a1", "all is tidy now").says("all is tidy now")
    assert place.stop() == {}
    told = place.said()
    assert scored(place) == ["sweep", "dust"]
    assert told.index("scorecard of sweep") < told.index("scorecard of dust")
    assert place.asked == 2
    assert place.said() == ""


def test_all_that_ended_since_the_last_stop_is_scored(place: Place) -> None:
    place.ran("first")
    place.stop()
    place.settled()
    for name in ("second", "third"):
        place.ran(name)
    place.session.prompt("thanks").says("you are welcome")
    place.said()
    place.said()
    assert scored(place) == ["first", "second", "third"]
    assert place.asked == 3


def test_of_a_session_seen_first_the_last_turn_is_scored(place: Place) -> None:
    place.ran("long-ago")
    place.ran("now")
    place.stop()
    assert "scorecard of now" in place.said()
    assert scored(place) == ["now"]


def test_what_goes_on_is_scored_once_it_has_ended(place: Place) -> None:
    place.ran("first")
    place.stop()
    place.settled()
    place.session.command("second").bash("ls", "a")
    place.said()
    assert scored(place) == ["first"]
    place.session.says("all is tidy now")
    place.ran("third")
    place.said()
    assert scored(place) == ["first", "second", "third"]


def test_what_ends_while_subagents_work_is_scored_at_a_later_stop(place: Place) -> None:
    place.ran("first")
    assert place.stop(background_tasks=[{"type": "subagent", "status": "running"}]) == {}
    place.settled()
    assert place.asked == 0
    place.session.prompt("and now?").says("done")
    place.said()
    assert scored(place) == ["first"]


def test_more_than_five_are_named(place: Place) -> None:
    place.session.prompt("all of it")
    names = [f"s{number}" for number in range(8)]
    for name in names:
        place.session.skill(name, "x").says("all is tidy now")
    assert place.stop() == {}
    told = place.said()
    assert scored(place) == names[:5]
    assert told.count("VERDICT SCORECARD") == 5
    assert (
        "3 more runs were not scored, since a stop scores 5 at most: s5, s6, s7; by hand: flow "
        "judge scorecard SKILL"
    ) in told
    assert len(told) < 10_000
    assert place.said() == ""
    assert place.asked == 5


def test_two_stops_at_once_score_one_run_once(place: Place) -> None:
    place.thinks()
    place.ran()
    assert [place.stop(), place.stop(), place.stop()] == [{}, {}, {}]
    place.may_answer()
    assert GRADED in place.said()
    assert len(place.cards) == place.asked == 1


def test_what_a_person_had_scored_is_not_scored_again(place: Place) -> None:
    place.ran()
    done = scene.flow(place.repo, "judge", "scorecard", "tidy", "--json")
    assert done.status == 0, done.stderr
    assert place.stop() == {}
    assert place.said() == ""
    assert len(place.cards) == place.asked == 1


@pytest.mark.parametrize(
    ("local", "project", "own", "config", "on"),
    [
        (None, None, None, '{"autoJudge": true}', True),
        (None, None, None, '{"autoJudge": true, "rubric": "x"}', True),
        (None, None, None, '{"autoJudge": false}', False),
        (None, None, None, "{}", False),
        (None, None, None, None, False),
        (None, None, True, None, True),
        (None, True, None, None, True),
        (True, None, None, None, True),
        (False, True, True, '{"autoJudge": true}', False),
        (None, False, True, '{"autoJudge": true}', False),
        (None, None, False, '{"autoJudge": true}', False),
        (None, True, False, None, False),
        (True, None, False, None, False),
        (True, False, False, '{"autoJudge": false}', False),
        (True, False, None, None, True),
        (True, False, True, '{"autoJudge": false}', True),
    ],
)
def test_where_auto_mode_is_turned_on(
    place: Place,
    local: bool | None,
    project: bool | None,
    own: bool | None,
    config: str | None,
    on: bool,
) -> None:
    os.unlink(place.repo.path / "judge-config.json")
    if config is not None:
        place.repo.write("judge-config.json", config)
    for name, value in (("settings.flow.local.json", local), ("settings.flow.json", project)):
        if value is not None:
            place.repo.write(f".claude/{name}", json.dumps({"judge": {"autoJudge": value}}))
    if own is not None:
        path = place.home / ".claude/settings.flow.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "judge": {"autoJudge": own}}))
    place.ran()
    if on and (own, project) in ((None, None), (True, None)):  # the others count alike
        assert place.stop() == {}
        place.settled()
        assert place.asked == 1
    elif not on:
        assert place.stop_here() == {}
        assert place.asked == 0
    listed = scene.flow(place.repo, "config", "list", "--json", "--show-origin")
    rows = {row["key"]: row for row in listed.json["settings"]}
    assert rows["judge.autoJudge"]["value"] is on


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "judge-config.json"),
        ("[true]", "is not an object"),
        ('{"autoJudge": "yes"}', "'yes' is not true or false"),
        ('{"autoJudge": 1}', "1 is not true or false"),
        ('{"autoJudge": true, "autoJudge": true}', "judge-config.json"),
    ],
)
def test_a_broken_file_is_said_once_and_not_obeyed(place: Place, text: str, why: str) -> None:
    place.repo.write("judge-config.json", text + " " * 3 + "\n")
    if "autoJudge" not in text:
        place.repo.write("judge-config.json", text.replace("{", '{"autoJudge"'))
        if text == "[true]":
            place.repo.write("judge-config.json", '["autoJudge"]')
    place.ran()
    told = place.stop_here()["systemMessage"]
    assert why in told
    assert "not obeyed" in told
    assert place.stop_here() == {}
    assert place.asked == 0


def test_other_commands_work_on_beside_a_broken_file(place: Place) -> None:
    place.repo.write("judge-config.json", "{")
    done = scene.flow(place.repo, "config", "list")
    assert done.status == 0
    assert "judge-config.json" in done.stderr
    assert "not obeyed" in done.stderr


def test_by_hand_it_works_where_auto_mode_is_off(place: Place) -> None:
    place.repo.write("judge-config.json", '{"autoJudge": false}')
    place.ran()
    assert place.stop() == {}
    place.settled()
    assert place.asked == 0
    done = scene.flow(place.repo, "judge", "scorecard", "tidy")
    assert done.status == 0
    assert GRADED in done.stdout


def test_a_broken_settings_file_turns_it_off_and_is_said(place: Place) -> None:
    place.repo.write(".claude/settings.flow.json", '{"judge": {"autoJudge": }}')
    place.ran()
    assert ".claude/settings.flow.json" in place.stop_here()["systemMessage"]
    assert place.asked == 0


def test_a_config_that_is_no_file_is_said(place: Place) -> None:
    os.unlink(place.repo.path / "judge-config.json")
    (place.repo.path / "judge-config.json").symlink_to("elsewhere.json")
    place.ran()
    assert "not obeyed" in place.stop_here()["systemMessage"]
    assert place.asked == 0


def test_where_nothing_speaks_of_it_no_interpreter_is_started(place: Place) -> None:
    os.unlink(place.repo.path / "judge-config.json")
    place.ran()
    env = {"FLOW_PYTHON": "/nowhere/python", "PATH": one_day(place.tmp)}
    assert place.stop(env=env) == {}
    place.repo.write("judge-config.json", '{"autoJudge": true}')
    told = place.stop(env=env)["systemMessage"]
    assert f"{ROOT}/bin/flow doctor" in told
    assert place.stop(env=env) == {}  # once a day


def test_a_judges_own_session_is_not_judged(place: Place) -> None:
    place.ran()
    assert place.stop(env={"CLAUDE_HOOK_GOAL_JUDGE_MODE": "1"}) == {}
    assert apart(place.repo) == []
    assert place.asked == 0
    env = {**os.environ, "CLAUDE_HOOK_GOAL_JUDGE_MODE": "1"}
    done = scene.flow(place.repo, "hook", "judge", input="{}", env=env)
    assert (done.status, done.stdout) == (0, "{}\n")


def test_the_judge_runs_with_the_guard(place: Place) -> None:
    code = 'printf %s "${CLAUDE_HOOK_GOAL_JUDGE_MODE-}" >"$folder/guard"'
    place.judge.says({"reply": reply(8.0, "all is tidy now"), "run": code})
    place.ran()
    place.stop()
    place.settled()
    assert (place.judge.folder / "guard").read_text()


@pytest.mark.parametrize("exit_status", [9, 0])
def test_a_failure_is_told_once_and_the_run_is_not_tried_again(
    place: Place, exit_status: int
) -> None:
    place.judge.says({"exit": exit_status, "raw": "no"})
    place.ran()
    assert place.stop() == {}
    told = place.said()
    assert "the run of tidy was not scored" in told
    assert "\n" not in told
    assert place.said() == ""
    asked = place.asked
    place.settled()
    assert place.asked == asked
    assert place.cards == []


def test_without_a_judge_it_is_said_once_a_session(place: Place) -> None:
    (place.home / ".claude/settings.flow.json").unlink()
    place.ran()
    place.stop()
    assert "no judge is configured" in place.said()
    place.ran()
    place.stop()
    assert place.said() == ""
    place.ran()
    place.stop(session_id="s2")
    assert "no judge is configured" in place.said()


def test_a_scoring_process_that_was_killed_is_told(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (left_over := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(left_over))  # a killed process leaves its judge's folder
    place.thinks()
    place.ran()
    place.stop()
    _until(lambda: place.asked, "the judge is not asked")
    for pid in apart(place.repo):
        with suppress(ProcessLookupError):  # it went with the one before
            os.kill(pid, signal.SIGKILL)
    place.may_answer()
    told = place.said()
    assert "the run of tidy was not scored: the process that did it was ended" in told
    assert place.said() == ""
    assert place.cards == []


def test_an_agent_that_goes_on_is_not_judged_yet(place: Place) -> None:
    place.session.command("tidy").bash("ls", "a").says("first")
    place.session.user("Stop hook feedback:\nGO ON", isMeta=True)
    assert place.stop() == {}
    place.settled()
    assert place.asked == 0
    place.session.says("all is tidy now")
    assert place.said() == ""
    assert GRADED in place.said()


def test_background_subagents_are_waited_for(place: Place) -> None:
    place.ran()
    working = {"id": "a", "type": "subagent", "status": "running", "description": "d"}
    assert place.stop(background_tasks=[working]) == {}
    place.settled()
    assert place.asked == 0
    assert place.stop(background_tasks=[{**working, "type": "shell"}]) == {}
    assert GRADED in place.said()


@pytest.mark.parametrize("lines", ["nothing", "no skill", "only the judge", "no file"])
def test_where_no_skill_ran_nothing_happens(place: Place, lines: str) -> None:
    if lines == "no skill":
        place.session.prompt("hello").says("hello")
    elif lines == "only the judge":
        place.session.command("flow:judge", "tidy").bash("flow judge scorecard tidy").says("B+")
    elif lines == "no file":
        place.session.path.unlink()
    assert place.stop_here() == {}
    assert place.stop_here() == {}
    assert place.asked == 0


@pytest.mark.parametrize(("written", "waited"), [(4, True), (None, False)])
def test_the_end_of_a_transcript_that_is_still_written_is_waited_for(
    written: int | None, waited: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of its own, so that the speed of the machine decides nothing."""
    place.session.command("tidy").bash("ls", "a")
    parts = Context(str(place.repo.path))
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if written is None:
            place.session.bash("ls", "a")  # it never comes to an end
        elif len(pauses) == written:
            place.session.says("all is tidy now")

    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", sleep)
        patched.setattr(time, "monotonic", lambda: sum(pauses))
        stop = Stop("s1", str(place.session.path))
        found = auto_mode.AutoMode(parts).ended_runs(
            stop, AutoJudgeMemory(parts.state_dir, parts.top).settled
        )
    assert found is not None
    assert [run.entries[-1].text for run in found.runs] == ["all is tidy now"] * waited
    longest = LONGEST_STILL
    assert (sum(pauses) < longest / 2) == waited
    assert sum(pauses) < longest + 1


def test_the_process_leaves_the_hosts_group_and_no_zombie(place: Place) -> None:
    place.thinks()
    place.ran()
    place.stop()
    _until(lambda: place.asked, "the judge is not asked")
    found = apart(place.repo)
    assert found
    for pid in found:
        assert os.getsid(pid) != os.getsid(0)
        state = _stat(pid)
        assert state[2] != "Z"
        assert int(state[3]) != os.getpid()
        links = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in ("0", "1", "2")}
        assert links == {"/dev/null"}
    place.may_answer()
    place.settled()
    assert len(place.cards) == 1


def _until(there: Callable[[], object], otherwise: str) -> None:
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def _stat(pid: int) -> list[str]:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().replace(") ", ")\0", 1).replace("\0", " ").split()


@pytest.mark.parametrize(
    "data",
    [
        "",
        "no json",
        "[]",
        "5",
        '{"cwd": 3}',
        '{"cwd": "/nowhere", "hook_event_name": "Stop"}',
        "{" * 999,
    ],
)
def test_whatever_the_host_sends_the_answer_is_json(place: Place, data: str) -> None:
    assert "internal error" not in place.stop_here(data).get("systemMessage", "")
    none = {"FLOW_PYTHON": "/bin/false"}
    done = run_script(data, script=SCRIPT, cwd=place.repo.path, **none)
    assert done.status == 0
    assert isinstance(json.loads(done.stdout), dict)
    done = run_script(data, script=SCRIPT, cwd=place.tmp, **none)
    assert (done.status, done.stdout) == (0, "{}\n")


def test_a_subagents_stop_is_none(place: Place) -> None:
    place.ran()
    assert place.stop_here(agent_id="a1") == {}
    assert place.asked == 0


def test_scores_go_to_the_plugins_folder_only_where_it_is(place: Place) -> None:
    (place.repo.path / "skills/judge/scores").mkdir(parents=True)
    place.ran()
    place.stop()
    assert "stored as skills/judge/scores/tidy-" in place.said()


def test_it_works_outside_of_a_repository_by_doing_nothing(place: Place) -> None:
    elsewhere = place.tmp / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "judge-config.json").write_text('{"autoJudge": true}')
    text = json.dumps(event(elsewhere, transcript_path=str(place.session.path)))
    done = run_script(text, script=SCRIPT, cwd=elsewhere)
    assert (done.status, done.stdout) == (0, "{}\n")


def test_a_spoilt_memory_is_an_empty_one(place: Place) -> None:
    place.ran()
    place.stop()
    assert GRADED in place.said()
    (memory,) = (place.home / "flow-state/auto-judge").glob("*.json")
    memory.write_text("{" * 50)
    assert place.said() == ""
    assert place.said() == ""
    assert place.asked == 1  # its card says that it was scored


def test_hooks_json_starts_it_with_the_seeds_limit() -> None:
    with open(os.path.join(ROOT, "hooks", "hooks.json")) as file:
        document = json.load(file)
    commands = [each for group in document["hooks"]["Stop"] for each in group["hooks"]]
    (entry,) = [each for each in commands if "judge-on-stop" in each["command"]]
    assert entry["timeout"] == 120
    assert entry["command"].replace("${CLAUDE_PLUGIN_ROOT}", ROOT).replace('"', "") == SCRIPT
    assert os.access(SCRIPT, os.X_OK)


@pytest.mark.parametrize("script", ["hooks/judge-on-stop.sh", "./hooks/judge-on-stop.sh"])
def test_it_runs_by_a_relative_path_too(script: str, place: Place) -> None:
    place.ran()
    text = json.dumps(event(place.repo, transcript_path=str(place.session.path)))
    done = run_script(text, script=script, cwd=ROOT)
    assert (done.status, done.stdout) == (0, "{}\n")
    assert GRADED in place.said()


def test_it_runs_from_a_path_with_spaces_and_through_a_link(place: Place) -> None:
    place.ran()
    link = place.tmp / "a link.sh"
    link.symlink_to(SCRIPT)
    text = json.dumps(event(place.repo, transcript_path=str(place.session.path)))
    done = run_script(text, script=str(link), cwd=place.tmp)
    assert (done.status, done.stdout) == (0, "{}\n")
    assert GRADED in place.said()
    shutil.rmtree(place.repo.path / ".flow")
