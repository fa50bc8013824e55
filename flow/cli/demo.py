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
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from flow.cli.output import Output

DIFFERED = 5
"""The exit status where something did not go as told."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``flow demo``."""
    parser.add_argument(
        "--all",
        action="store_true",
        help="play the chapters, too, in which a judge scores a goal and one waits",
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder and print where it is")


def run(options: argparse.Namespace, out: Output) -> int:
    """Play the story; returns the exit status."""
    folder = _temporary_folder()
    try:
        stage = Stage(folder, tell=_make_teller(out), ask=_make_asker(out))
        play_story(stage, everything=options.all)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    shown = folder if options.keep else None
    out.result({**stage.report(), "folder": shown}, _closing_words(stage, shown))
    return DIFFERED if stage.differences else 0


COMMAND = CommandSpec(
    "play the example end to end, in a temporary repository",
    arguments,
    run,
    "One goal is achieved, one fails honestly, one leaves its paths and is blocked. --all adds a\n"
    "hybrid goal that a judge scores by a rubric, and one that waits for a person. The\n"
    "repository has a home folder and a trust ledger of its own. Exit status 0: as told; else 5.",
)


def play_story(stage: Stage, *, everything: bool = False) -> None:
    """The story, from top to bottom; with ``everything`` the last two chapters, too."""
    stage.set_up()
    _achieved(stage, "count-lines")
    _show_failing(stage, "unique-words")
    _blocked(stage, "hyphens")
    if everything:
        stage.commit("Both halves count")
        _show_judged(stage, "usage-page")
        _show_waiting(stage, "unique-words")


def _achieved(stage: Stage, goal: str) -> None:
    stage.title("1. A goal that is achieved")
    stage.switch(goal)
    stage.say("A goal says what must be true, which commands prove it, and which files may change.")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say("Nothing is done yet, and Flow finds that out by running the commands.")
    stage.flow("goal", "evaluate", goal, expected=1)
    stage.say("Now somebody does the work.")
    stage.change(goal)
    stage.flow("goal", "evaluate", goal)
    status = stage.status(goal)
    stage.expect(status["status"] == "active", f"{goal} is active until a person confirms")
    stage.say("What the commands printed is on disk, with a record of each run beside it.")
    stage.listing(f".flow/runs/{status['run_id']}")
    proposal = status["proposal"]
    if stage.expect(proposal is not None and proposal["live"], f"{goal} has a live proposal"):
        stage.say("All is proved, and the goal is still active: only a person closes it.")
        if _close_proposed(stage, goal, proposal["proposal_id"]):
            stage.say("The proposal worked once; it does not work again.")
            stage.flow("goal", "confirm", goal, "--proposal", proposal["proposal_id"], expected=2)
    stage.say("The journal tells the whole story.")
    stage.show(".decisions/issue-1.md")
    stage.commit("Count lines")
    stage.git("switch", "-q", "main", shown=True)
    stage.git("merge", "-q", goal, shown=True)


def _show_failing(stage: Stage, goal: str) -> None:
    stage.title("2. A goal that fails honestly")
    stage.switch(goal, "main")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say(
        "Somebody does the work and says that it is done. The exit status says that it is not."
    )
    stage.change(goal)
    stage.flow("goal", "evaluate", goal, expected=1)
    status = stage.status(goal)
    stage.expect(status["proposal"] is None, f"nothing is proposed for {goal}")
    stage.say("What the command printed is the evidence.")
    stage.flow("evidence", "show", "evidence-ac2-eval-1")
    stage.closed(goal, "active")
    stage.commit("Done: count different words")


def _blocked(stage: Stage, goal: str) -> None:
    stage.title("3. A goal that leaves its paths")
    stage.switch(goal, "main")
    stage.flow("goal", "create", "--file", f"goals/{goal}.goal.yaml")
    stage.say(
        "This time the commands pass, because the test they run was changed along with the code."
    )
    stage.change(goal)
    stage.flow("goal", "evaluate", goal, expected=3)
    status = stage.status(goal)
    passed = all(criterion["status"] == "pass" for criterion in status["criteria"])
    stage.expect(passed, f"every command of {goal} passes")
    stage.expect(status["proposal"] is None, f"nothing is proposed for {goal}")
    stage.closed(goal, "blocked")


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
        _close_proposed(stage, goal, proposal["proposal_id"])
    stage.commit("A page that tells how to count words")


def _show_waiting(stage: Stage, goal: str) -> None:
    stage.title("5. A goal that waits for a person")
    stage.git("switch", "-q", goal, shown=True)
    stage.say("The work waits for an answer that only a person can give.")
    stage.flow("goal", "pause", goal, "--reason", "Issue 2: are polish and Polish one word?")
    stage.closed(goal, "waiting_for_user")


def _close_proposed(stage: Stage, goal: str, proposal_id: str) -> bool:
    """Confirm what is proposed on a person's word; returns whether they gave it."""
    if not stage.confirmed(f"Is {goal} achieved?"):
        stage.say("Then it stays active, and the proposal stays open.")
        stage.closed(goal, "active")
        return False
    stage.flow("goal", "confirm", goal, "--proposal", proposal_id)
    stage.closed(goal, "achieved")
    return True


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


def _make_asker(out: Output) -> Callable[[str], bool] | None:
    if not out.can_ask:
        return None
    return lambda question: out.ask(f"{question} [y/N]") in ("y", "yes")


def _closing_words(stage: Stage, folder: str | None) -> list[str]:
    if stage.differences:
        lines = ["", "Not everything went as told:"]
        lines += [f"  {difference}" for difference in stage.differences]
    else:
        outcomes = ", ".join(f"{goal} is {status}" for goal, status in stage.goals.items())
        lines = ["", f"Everything went as told: {outcomes}."]
    if folder:
        return [*lines, f"The files are kept in {folder}."]
    return [*lines, "The folder is removed; flow demo --keep keeps it to look around in."]
