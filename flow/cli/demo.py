"""``flow demo``: the example of ``.flow-example/``, end to end, in a temporary repository.

This is the story; :mod:`flow.cli.stage` is where it plays. Every command shown is really run.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from flow.cli.parsing import CommandSpec
from flow.cli.stage import Stage
from flow.errors import in_file
from flow.render.goal.standing import paragraph
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from flow.cli.output import Output
    from flow.render.screen import Screen

PAGE = os.path.join("docs", "usage.md")
"""The page that the last goal of the story is about."""
DIFFERED = 5
"""The exit status where something did not go as told."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``flow demo``."""
    parser.add_argument(
        "--judge",
        action="store_true",
        help="play the chapters, too, in which judges are asked",
    )
    parser.add_argument("--all", action="store_true", help="play all chapters, the longest form")
    parser.add_argument("--keep", action="store_true", help="keep the folder and print where it is")


def run(options: argparse.Namespace, out: Output) -> int:
    """Play the story; returns the exit status."""
    folder = _temporary_folder()
    try:
        stage = Stage(folder, tell=_make_teller(out), at_terminal=out.can_ask, screen=out.screen)
        play_story(stage, judged=options.judge or options.all, waiting=options.all, opinions=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    shown = folder if options.keep else None
    out.result({**stage.report(), "folder": shown}, _closing_words(stage, shown, out.screen))
    return DIFFERED if stage.differences else 0


COMMAND = CommandSpec(
    "play the example end to end, in a temporary repository",
    arguments,
    run,
    "One goal is achieved, after a proof had gone stale; one fails honestly, and has a command\n"
    "that could not fail; one leaves its paths and is blocked. --judge adds a goal that a judge\n"
    "scores by a rubric, a scorecard and a debate, with replies that a person wrote. The\n"
    "repository has a home folder and a trust ledger of its own. Exit status 0: as told; else 5.",
)


def play_story(
    stage: Stage, *, judged: bool = False, waiting: bool = False, opinions: bool = False
) -> None:
    """The story, from top to bottom.

    ``judged`` adds the goal that a judge scores, ``opinions`` a scorecard and a debate to that, and
    ``waiting`` a goal that waits for a person.
    """
    stage.set_up()
    _achieved(stage, "count-lines")
    _show_failing(stage, "unique-words")
    _blocked(stage, "hyphens")
    if judged:
        stage.commit("Both halves count")
        _show_judged(stage, "usage-page")
        if opinions:
            _show_opinions(stage)
    if waiting:
        _show_waiting(stage, "unique-words")


def _achieved(stage: Stage, goal: str) -> None:
    stage.title("1. A goal that is achieved")
    stage.switch(goal)
    stage.say("A goal says what must be true, which commands prove it, and which files may change.")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say("Nothing is done yet, and Flow finds that out by running the commands.")
    stage.flow("goal", "evaluate", goal, "--output", "none", expected=1)
    stage.say("Somebody does the work.")
    stage.change(goal)
    stage.flow("goal", "evaluate", goal)
    stage.say(
        "All is proved, and only a person closes it. Before that, one more edit: the proof was "
        "about other files, so it is stale, and nothing can be confirmed."
    )
    stage.append("wordcount/__init__.py", "# one more line")
    stale = stage.status(goal)["proposal"]
    if not stage.expect(stale is not None, f"{goal} has a proposal"):
        return
    stage.expect(not stale["live"], f"the proposal for {goal} is stale")
    digits = stale["proposal_id"][:12]
    stage.flow("goal", "confirm", goal, "--proposal", digits, expected=2)
    stage.flow("goal", "evaluate", goal)
    stage.expect(stage.status(goal)["status"] == "active", f"{goal} is active until a yes")
    done = stage.confirm(goal)
    stage.check_status(goal, "achieved" if done else "active")
    stage.commit("Count lines")
    stage.git("switch", "-q", "main")
    stage.git("merge", "-q", goal)


def _show_failing(stage: Stage, goal: str) -> None:
    stage.title("2. A goal that fails honestly")
    stage.switch(goal, "main")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say(
        "Somebody says that it is done. One exit status says that it is not, and one command ends "
        "in `|| true`, so that it could not fail, and proves nothing."
    )
    stage.change(goal)
    stage.flow("goal", "evaluate", goal, expected=1)
    status = stage.status(goal)
    stage.expect(status["proposal"] is None, f"nothing is proposed for {goal}")
    reason = str((status["last_evaluation"] or {}).get("reason"))
    stage.expect("AC3 (masked: " in reason, f"AC3 of {goal} is masked")
    stage.check_status(goal, "active")
    stage.commit("Done: count different words")


def _blocked(stage: Stage, goal: str) -> None:
    stage.title("3. A goal that leaves its paths")
    stage.switch(goal, "main")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say("The commands pass, because the test they run was changed along with the code.")
    stage.change(goal)
    stage.flow("goal", "evaluate", goal, expected=3)
    status = stage.status(goal)
    passed = all(criterion["status"] == "pass" for criterion in status["criteria"])
    stage.expect(passed, f"every command of {goal} passes")
    stage.expect(status["proposal"] is None, f"nothing is proposed for {goal}")
    stage.check_status(goal, "blocked")


def _show_judged(stage: Stage, goal: str) -> None:
    stage.title("4. A goal that commands alone do not prove")
    stage.switch(goal, "main")
    stage.say("A judge is asked about AC2. Here it is a script with replies that a person wrote.")
    stage.judge()
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.change(f"{goal}-draft")
    stage.say("The judge lets the draft pass, its scores by the rubric do not.")
    stage.flow("goal", "evaluate", goal, expected=1)
    stage.change(goal)
    stage.flow("goal", "evaluate", goal)
    proposal = stage.status(goal)["proposal"]
    if stage.expect(proposal is not None and proposal["live"], f"{goal} has a live proposal"):
        done = stage.confirm(goal)
        stage.check_status(goal, "achieved" if done else "active")
    stage.commit("A page that tells how to count words")


def _show_opinions(stage: Stage) -> None:
    session = os.path.join(stage.folder, "judge", "session.md")
    stage.title("5. How well did the agent work?")
    stage.flow("judge", "scorecard", "docs", "--file", session)
    stage.title("6. What do two judges make of the page?")
    task = "A page from which a newcomer learns to count words"
    words = ("--criteria", "complete:1,plain:1", "--judges", "2", "--rounds", "1")
    stage.flow("judge", "debate", "--solution", PAGE, "--task", task, *words)


def _show_waiting(stage: Stage, goal: str) -> None:
    stage.title("A goal that waits for a person")
    stage.git("switch", "-q", goal)
    stage.say("The work waits for an answer that only a person can give.")
    stage.flow("goal", "pause", goal, "--reason", "Issue 2: are polish and Polish one word?")
    stage.check_status(goal, "waiting_for_user")


def _temporary_folder() -> str:
    try:
        return os.path.realpath(tempfile.mkdtemp(prefix="flow-demo-"))
    except OSError as error:
        raise in_file(error.filename).storage(
            f"no temporary folder can be made: {error.strerror}",
            "set TMPDIR to a folder that can be written",
        ) from error


def _make_teller(out: Output) -> Callable[[str], None]:
    def tell(text: str) -> None:
        if not out.json:
            out.text(text)

    return tell


def _closing_words(stage: Stage, folder: str | None, screen: Screen) -> list[str]:
    if stage.differences:
        lines = ["", "Not everything went as told:"]
        lines += [f"  {difference}" for difference in stage.differences]
    else:
        outcomes = ", ".join(f"{goal} is {status}" for goal, status in stage.goals.items())
        lines = ["", *paragraph(f"Everything went as told: {outcomes}.", screen)]
    if folder:
        return [*lines, f"The files are kept in {folder}."]
    return [*lines, "The folder is removed; flow demo --keep keeps it to look around in."]
