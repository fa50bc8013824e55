"""The commands that are killed and failed, each with the scene it starts from."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from flow.adapters.journal import parts
from tests.faults.scenes import GOAL, ISSUE, JOURNAL, RUN, TEXT, must
from tests.support.debate_judge import reply as debate_reply
from tests.support.judges.score_replies import reply as score_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.scenes import Scene
    from tests.faults.view import View

EVIDENCE = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowEvidence",
    "metadata": {
        "id": "theirs-1",
        "goal": GOAL,
        "run_id": RUN,
        "activity_id": "verify",
        "created_at": "2026-03-01T10:15:00Z",
    },
    "evidence": {
        "type": "command_result",
        "command": "make check",
        "exit_code": 0,
        "proves": ["AC1"],
        "limitations": ["Only on this machine."],
    },
}
VERDICT = {
    "verdict": "not_achieved",
    "confidence": 0.5,
    "delta": "unchanged",
    "reason": "as told",
}


class Trial(NamedTuple):
    """A command, and how to tell what it did.

    ``words`` may depend on what ``prepare`` returned; ``done`` counts its effects.
    """

    name: str
    prepare: Callable[[Scene], str]
    words: Callable[[Scene, str], tuple[str, ...]]
    done: Callable[[View], int]
    success: int = 0
    again: frozenset[int] = frozenset({0})
    """Exit statuses of a second call after a first that did its work."""
    adds: bool = False
    """Whether a second call adds to the first one's effect."""
    closes: bool = False
    """Whether it is a person's door, so that ``achieved`` may follow."""
    first: str = ""
    """Code that runs before it, where it is traced."""
    judged: bool = False
    """Whether a judge is asked: where it cannot be, that is no usable answer, which is 4."""
    reader: bool = False
    """Whether it changes nothing."""
    hook: bool = False
    """Whether it is the Stop hook, which always ends with 0 and says in its answer what failed."""


def _goal(scene: Scene) -> str:
    scene.start()
    return ""


def _none(scene: Scene) -> str:
    scene.start(goal=None)
    scene.hand("goal.yaml", TEXT)
    return ""


def _draft(scene: Scene) -> str:
    scene.start(draft=True)
    return ""


def _met(scene: Scene) -> str:
    scene.start().meet()
    return ""


def _full_journal(scene: Scene) -> str:
    """Its next entry begins a second file."""
    _met(scene)
    scene.write(JOURNAL, scene.read(JOURNAL).ljust(parts.FULL, "x"))
    return ""


def _outside(scene: Scene) -> str:
    scene.start().write("elsewhere.txt", "not allowed\n")
    return ""


def _waiting(scene: Scene) -> str:
    scene.start().meet()
    must(scene.flow("goal", "pause", GOAL))
    return ""


def _proposed(scene: Scene) -> str:
    return scene.start().propose()


def _blocked(scene: Scene) -> str:
    proposal = scene.start().propose()
    _block(scene)
    must(scene.helper(*_lifecycle_words(scene)))
    return proposal


def _block(scene: Scene) -> None:
    block = {
        "status": "blocked",
        "last_evaluation": {
            "result": "blocked",
            "reason": "told to",
            "at": "2026-03-01T10:15:00Z",
        },
    }
    scene.hand("lifecycle.yaml", json.dumps(block))


def _to_block(scene: Scene) -> str:
    scene.start()
    _block(scene)
    return ""


def _to_achieve(scene: Scene) -> str:
    proposal = scene.start().propose()
    scene.hand("lifecycle.yaml", "status: achieved\n")
    return proposal


def _closed(scene: Scene) -> str:
    proposal = scene.start().propose()
    must(scene.flow("goal", "confirm", GOAL, "--proposal", proposal))
    return ""


def _archived(scene: Scene) -> str:
    _closed(scene)
    must(scene.flow("gc", "--archive", "--older-than", "0", "--yes"))
    return ""


def _evidence(scene: Scene) -> str:
    scene.start()
    scene.hand("evidence.yaml", json.dumps(EVIDENCE))
    scene.hand("raw.txt", "all is well\n" * 2000)
    return ""


def _verdict(scene: Scene) -> str:
    scene.start()
    scene.hand("verdict.json", json.dumps(VERDICT))
    return ""


def _changed(scene: Scene) -> str:
    scene.start()
    path = f".flow/goals/{GOAL}.goal.yaml"
    scene.write(path, scene.read(path).replace("It says please", "It says please, twice"))
    return ""


def _to_amend(scene: Scene) -> str:
    """A proposal is live, and a file is to be protected that the work has changed already."""
    proposal = scene.start().propose()
    text = TEXT.replace("It says please", "It says please, twice")
    paths = 'allowed_paths: ["src/**"]'
    scene.hand(
        "amended.yaml", text.replace(paths, f'{paths}\n  protected_paths: ["src/greet.txt"]')
    )
    return proposal


def _moved_base(scene: Scene) -> str:
    scene.start(goal=None)
    scene.git("branch", "trunk")
    given = scene.hand("goal.yaml", TEXT.replace("branch: main", "branch: main\n  base: trunk"))
    must(scene.flow("goal", "create", "--file", given))
    scene.git("switch", "-q", "trunk")
    scene.write("src/other.txt", "theirs\n")
    scene.git("add", "src/other.txt")
    scene.git("commit", "-q", "-m", "theirs")
    scene.git("switch", "-q", "main")
    scene.git("merge", "-q", "trunk")
    return ""


def _report(scene: Scene) -> str:
    scene.start().meet()
    scene.hand("junit.xml", '<testsuite tests="1"><testcase name="says please"/></testsuite>\n')
    return ""


def _bundle(scene: Scene) -> str:
    _closed(scene)
    must(scene.flow("evidence", "export", GOAL, "--output", f"{scene.files}/bundle.jsonl"))
    return ""


def _scored(scene: Scene) -> str:
    """One card is stored already."""
    scene.start()
    scene.write("run.md", "**User:** /commit\n\n**Assistant:** Done: 2 files changed.\n")
    _judge(scene, score_reply(8.0, "2 files changed"))
    must(scene.call(_score_words(scene)))
    return ""


def _score_words(scene: Scene) -> tuple[str, ...]:
    return ("flow", "judge", "scorecard", "commit", "--file", f"{scene.repo}/run.md", "--json")


def _debated(scene: Scene) -> str:
    """Two judges that agree after a debate."""
    scene.start()
    pairs = [{"question": f"Is it {n}?", "answer": "It is."} for n in range(1, 6)]
    for name, score in (("1", 3), ("2", 5), ("debate", 4)):
        reply = debate_reply({"it": score}, "give me that")
        scene.hand(f"{name}.json", json.dumps(reply))
        scene.hand(f"{name}-verify.json", json.dumps({"verification": pairs, **reply}))
    _judge(scene, None)
    return ""


def _judge(scene: Scene, reply: dict[str, Any] | None) -> None:
    """A judge that gives this reply, or as a judge of a debate the one for its turn."""
    if reply is not None:
        scene.hand("reply.json", json.dumps(reply))
    program = scene.hand("judge.sh", JUDGE)
    judge = {"backend": "command", "command": ["/bin/bash", program], "timeoutSeconds": 60}
    _settings(scene, judge=judge)


JUDGE = """\
prompt=$(cat)
cd "${BASH_SOURCE[0]%/*}"
case $prompt in
    "You are Judge"*"in debate round"*) cat debate.json ;;
    *"BEGIN draft of Judge 1"*) cat 1-verify.json ;;
    *"BEGIN draft of Judge 2"*) cat 2-verify.json ;;
    "You are Judge 1"*) cat 1.json ;;
    "You are Judge 2"*) cat 2.json ;;
    *) cat reply.json ;;
esac
"""
IN_TURN = """
from flow.adapters.debates import context
def in_turn(calls):
    results, raised = [], []
    for call in calls:
        try:
            results.append(call())
        except Exception as error:
            raised.append(error)
    if raised:
        raise raised[0]
    return results
context.run_in_threads = in_turn
"""
"""The judges one after the other: strace follows one thread, and each run is to be as the last."""


def _debate_words(scene: Scene) -> tuple[str, ...]:
    task = ("--task", "say it politely", "--criteria", "it:1", "--judges", "2", "--rounds", "1")
    return ("flow", "judge", "debate", "--solution", f"{scene.repo}/src/greet.txt", *task, "--json")


def _settings(scene: Scene, **goals: Any) -> None:
    os.makedirs(os.path.join(scene.home, ".claude"))
    with open(os.path.join(scene.home, ".claude", "settings.flow.json"), "w") as file:
        json.dump({"flow": {"goals": goals}}, file)


def _looping(scene: Scene) -> str:
    scene.start()
    _settings(scene, stopHookEnforcement="evaluator-loop")
    return ""


def _looping_goal(scene: Scene) -> str:
    """A stop was answered by a continuation; the work has gone on since."""
    _looping(scene)
    must(scene.call(_stop_words(scene)))
    scene.write("src/more.txt", "more\n")
    return ""


def _nearly_stuck(scene: Scene) -> str:
    _looping(scene)
    for _ in range(3):
        must(scene.call(_stop_words(scene)))
    return ""


def _stop_words(scene: Scene) -> tuple[str, ...]:
    event = {
        "session_id": "s",
        "cwd": scene.repo,
        "prompt_id": "p",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    return ("flow", "hook", "stop", "--", json.dumps(event))


def _lifecycle_words(scene: Scene, *more: str) -> tuple[str, ...]:
    file = f"{scene.files}/lifecycle.yaml"
    words = ("--goal-id", GOAL, "--lifecycle-file", file, "--merge", *more)
    return ("flow-goal-record", "--update-lifecycle", *words)


def _events(kind: str, **fields: str) -> Callable[[View], int]:
    def count(view: View) -> int:
        wanted = fields.items()
        return sum(
            bool(event["type"] == kind and all(event.get(k) == v for k, v in wanted))
            for event in view.events
        )

    return count


def _trusted_again(view: View) -> int:
    return sum(bool(line["action"] == "record") for line in view.trust) - 1


def _revoked(view: View) -> int:
    return sum(line["action"] == "revoke" for line in view.trust)


def _initialised(view: View) -> int:
    wanted = {".gitattributes", ".claude/settings.json", ".flow/goals/example.goal.yaml"}
    return int({f"repo/{name}" for name in wanted} <= view.files)


def _imported(view: View) -> int:
    return sum(id.startswith("import-") for id in view.evidence)


def _cards(view: View) -> int:
    return sum(path.startswith("repo/.flow/scores/commit-") for path in view.files)


def _reports(view: View) -> int:
    """Debates whose reports are all there."""
    found = [path for path in view.files if path.startswith("repo/.specs/reports/")]
    return sum(path.endswith(".2.md") and f"{path[:-5]}.1.md" in view.files for path in found)


def _created(view: View) -> int:
    made = _events("created")(view)
    return made if view.status else 0


TRIALS: tuple[Trial, ...] = (
    Trial(
        "record",
        _evidence,
        lambda s, _: (
            "flow-record-evidence",
            "--run-id",
            RUN,
            "--evidence-file",
            f"{s.files}/evidence.yaml",
            "--raw-output",
            f"{s.files}/raw.txt",
        ),
        lambda view: view.evidence.count("theirs-1"),
        again=frozenset({2}),
    ),
    Trial(
        "evaluate",
        _met,
        lambda s, _: ("flow", "goal", "evaluate", GOAL, "--json"),
        _events("evaluated"),
        adds=True,
    ),
    Trial(
        "evaluate-outside",
        _outside,
        lambda s, _: ("flow", "goal", "evaluate", GOAL, "--json"),
        _events("evaluated"),
        success=3,
        again=frozenset({3}),
        adds=True,
    ),
    Trial(
        "evaluate-waiting",
        _waiting,
        lambda s, _: ("flow", "goal", "evaluate", GOAL, "--json"),
        _events("evaluated"),
        adds=True,
    ),
    Trial(
        "evaluate-rollover",
        _full_journal,
        lambda s, _: ("flow", "goal", "evaluate", GOAL, "--json"),
        _events("evaluated"),
        adds=True,
    ),
    Trial(
        "amend",
        _to_amend,
        lambda s, _: (
            "flow",
            "goal",
            "amend",
            GOAL,
            "--file",
            f"{s.files}/amended.yaml",
            "--yes",
            "--json",
        ),
        _events("contract-amended"),
    ),
    Trial(
        "confirm",
        _proposed,
        lambda s, p: ("flow", "goal", "confirm", GOAL, "--proposal", p),
        _events("confirmed"),
        again=frozenset({2}),
        closes=True,
    ),
    Trial(
        "confirm-blocked",
        _blocked,
        lambda s, p: ("flow", "goal", "confirm", GOAL, "--proposal", p),
        _events("confirmed"),
        again=frozenset({2}),
        closes=True,
    ),
    Trial(
        "lifecycle",
        _to_block,
        lambda s, _: _lifecycle_words(s, "--increment-turns", "--from-status", "active"),
        lambda view: view.turns if view.status == "blocked" else 0,
        again=frozenset({1}),
    ),
    Trial(
        "lifecycle-achieved",
        _to_achieve,
        lambda s, _: _lifecycle_words(s),
        _events("transition", to="achieved"),
        again=frozenset({1}),
        closes=True,
    ),
    Trial(
        "verdict",
        _verdict,
        lambda s, _: (
            "flow-record-verdict",
            "--run-id",
            RUN,
            "--verdict-file",
            f"{s.files}/verdict.json",
        ),
        lambda view: int(view.verdict is not None),
    ),
    Trial(
        "journal",
        _goal,
        lambda s, _: (
            "journal-record",
            "--issue",
            str(ISSUE),
            "--type",
            "note",
            "--metadata",
            "topic=faults",
        ),
        lambda view: sum(a["type"] == "note" for a in view.artifacts),
        adds=True,
    ),
    Trial(
        "trust",
        _changed,
        lambda s, _: ("flow", "trust", "record", GOAL, "--yes", "--json"),
        _trusted_again,
    ),
    Trial("init", _none, lambda s, _: ("flow", "init"), _initialised),
    Trial("revoke", _goal, lambda s, _: ("flow", "trust", "revoke", GOAL), _revoked),
    Trial(
        "create",
        _none,
        lambda s, _: ("flow", "goal", "create", "--file", f"{s.files}/goal.yaml", "--json"),
        _created,
        again=frozenset({2}),
    ),
    Trial(
        "create-helper",
        _none,
        lambda s, _: ("flow-goal-record", "--create", "--goal-file", f"{s.files}/goal.yaml"),
        _created,
        again=frozenset({2}),
    ),
    Trial(
        "activate",
        _draft,
        lambda s, _: ("flow", "goal", "activate", GOAL),
        _events("transition", to="active"),
        again=frozenset({2}),
    ),
    Trial(
        "approve",
        _goal,
        lambda s, _: (
            *("flow", "goal", "approve", GOAL, "AC2", "--json"),
            *("--by", "A Tester", "--note", "read it", "--yes"),
        ),
        _events("approved"),
        adds=True,
    ),
    Trial(
        "pause",
        _goal,
        lambda s, _: ("flow", "goal", "pause", GOAL, "--reason", "lunch"),
        _events("transition", to="waiting_for_user"),
    ),
    Trial(
        "resume",
        _waiting,
        lambda s, _: ("flow", "goal", "resume", GOAL, "--json"),
        _events("transition", to="active"),
    ),
    Trial(
        "clear",
        _proposed,
        lambda s, _: ("flow", "goal", "clear", GOAL, "--yes"),
        _events("transition", to="cancelled"),
        again=frozenset({2}),
    ),
    Trial(
        "hook-first",
        _looping,
        lambda s, _: _stop_words(s),
        _events("stop"),
        adds=True,
        hook=True,
    ),
    Trial(
        "hook-again",
        _looping_goal,
        lambda s, _: _stop_words(s),
        _events("stop"),
        adds=True,
        hook=True,
    ),
    Trial(
        "hook-stuck",
        _nearly_stuck,
        lambda s, _: _stop_words(s),
        _events("transition", to="failed"),
        hook=True,
    ),
    Trial(
        "baseline",
        _met,
        lambda s, _: ("flow", "goal", "baseline", GOAL, "--json"),
        _events("baseline"),
        adds=True,
    ),
    Trial(
        "evaluate-repeat",
        _met,
        lambda s, _: ("flow", "goal", "evaluate", GOAL, "--json", "--repeat", "2"),
        _events("evaluated"),
        adds=True,
    ),
    Trial(
        "gc",
        _closed,
        lambda s, _: ("flow", "gc", "--older-than", "0", "--yes", "--json"),
        lambda view: int(view.dropped > 0),
    ),
    Trial(
        "gc-archive",
        _closed,
        lambda s, _: ("flow", "gc", "--archive", "--older-than", "0", "--yes", "--json"),
        lambda view: int(any(path.endswith("/evidence.zip") for path in view.files)),
    ),
    Trial(
        "import",
        _report,
        lambda s, _: (
            *("flow", "evidence", "import", f"{s.files}/junit.xml", "--json"),
            *("--goal", GOAL, "--proves", "AC1", "--commit", "HEAD"),
        ),
        _imported,
        again=frozenset({2}),
    ),
    Trial(
        "verify",
        _closed,
        lambda s, _: ("flow", "evidence", "verify", "--json"),
        lambda view: 0,
        reader=True,
    ),
    Trial(
        "verify-archive",
        _archived,
        lambda s, _: ("flow", "evidence", "verify", "--json"),
        lambda view: 0,
        reader=True,
    ),
    Trial(
        "verify-bundle",
        _bundle,
        lambda s, _: (
            *("flow", "evidence", "verify", "--json"),
            *("--bundle", f"{s.files}/bundle.jsonl"),
        ),
        lambda view: 0,
        reader=True,
    ),
    Trial(
        "export",
        _closed,
        lambda s, _: (
            *("flow", "evidence", "export", GOAL, "--with-outputs", "--json"),
            *("--output", f"{s.files}/bundle.jsonl"),
        ),
        lambda view: int("files/bundle.jsonl" in view.files),
    ),
    Trial(
        "scorecard",
        _scored,
        lambda s, _: _score_words(s),
        _cards,
        adds=True,
        judged=True,
    ),
    Trial(
        "debate",
        _debated,
        lambda s, _: _debate_words(s),
        _reports,
        adds=True,
        judged=True,
        first=IN_TURN,
    ),
    Trial(
        "rebase",
        _moved_base,
        lambda s, _: ("flow", "goal", "rebase", GOAL, "--yes", "--json"),
        _events("rebased"),
        again=frozenset({2}),
    ),
)
BY_NAME = {trial.name: trial for trial in TRIALS}
