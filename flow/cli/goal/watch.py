"""``flow goal watch``: the commands run whenever the goal's files change; nothing is recorded."""

from __future__ import annotations

import os
import shutil
import sys
import time

from flow.adapters.fs import watching
from flow.app import overview
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.evaluation.measure import wanted_criteria
from flow.app.evaluation.values import Listener, Request
from flow.cli import progress
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import goal_argument
from flow.core import layout
from flow.core.boundary.globs import Globs
from flow.core.text.display import names, visible
from flow.errors import FlowError, InputError, Interrupted, PersonNeeded, at_key
from flow.render.progress import PlainProgress, ProgressTable
from flow.startup import ctrl_c
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple
from flow.wiring import evaluating
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.app.checks import Check, CheckResult
    from flow.cli.output import Output
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal

NEVER = (b".flow/", b".git/")
"""Folders whose files no goal is about, but for its own."""


class Outputs(progress.Forwarding):
    """Keeps the last output of each command in the cache folder, and hands all on."""

    def __init__(self, inner: Listener, top: str, folder: str | None) -> None:
        super().__init__(inner)
        self._top, self.folder = top, folder
        self.rows: list[dict[str, Any]] = []

    def planned(self, checks: Any, where: str = "") -> None:
        """Begin anew."""
        self.rows.clear()
        self.inner.planned(checks, where)

    def ended(self, check: Check, result: CheckResult) -> None:
        """Keep the output."""
        row = {
            "id": check.criterion_id,
            "outcome": result.outcome,
            "result": result.result,
            "seconds": round(result.duration_seconds, 3),
        }
        if self.folder is not None and result.output is not None:
            target = os.path.join(self.folder, f"{check.criterion_id}.txt")
            source = os.path.join(self._top, result.output.path)
            try:
                shutil.copyfile(source, f"{target}.new", follow_symlinks=False)
                os.replace(f"{target}.new", target)
                row["output"] = target
            except OSError:  # a full disk takes no result away
                pass
        self.rows.append(row)
        self.inner.ended(check, result)


class RestingTable(ProgressTable):
    """The live table, which stays when the commands have ended."""

    def planned(self, checks: Any, where: str = "") -> None:
        """The rows of what will run wait from now on."""
        self._asked = ""
        super().planned(checks, where)

    def finished(self) -> None:
        """Leave it."""

    def show_waiting(self, line: str) -> None:
        """Say below it what is waited for."""
        self._asked = line
        self._draw()


class _Seen(NamedTuple):
    """The goal's contract, and the digest of the files that it is about (None: unknown)."""

    contract: str
    tree: str | None


class _Rounds:
    """The rounds of one contract: its table, its outputs, and what tells of changes."""

    def __init__(self, goal_id: str, out: Output) -> None:
        context = Context()
        loaded = _watchable(context, goal_id)
        self._out, self._goal, self.contract = out, loaded.goal, loaded.contract
        self._table = progress.progress_table(out, context, goal_id, RestingTable)
        inner = self._table or (Listener() if out.json else PlainProgress(sys.stderr))
        self._outputs = Outputs(inner, context.top, _output_folder(context, goal_id))
        folders, wanted = _folders(self._goal), _path_filter(self._goal)
        self.changed = watching.changes(context.top, folders, wanted)
        self.has_run = False

    def run_until_still(self) -> _Seen | None:
        """Run the commands, once more where files changed meanwhile; returns what was seen last.

        No more than once: a command may leave something else behind each time.
        """
        for _ in range(2):
            before = _seen_now(self._goal.id)
            self._run()
            after = _seen_now(self._goal.id)
            if after == before:
                break
        if self._table is not None:
            self._table.show_waiting(_resting(self._goal, self._outputs))
        return after

    def _run(self) -> None:
        context, goal_id, rows = Context(), self._goal.id, self._outputs.rows
        goal = _watchable(context, goal_id).goal
        only = tuple(criterion.id for criterion in wanted_criteria(goal, None))
        request = Request(goal_id, trigger="manual", dry_run=True, no_judge=True, only=only)
        verdict = evaluating.evaluate(context, request, self._outputs)
        self.has_run = True
        document = {"goal_id": goal_id, "criteria": list(rows), "reason": verdict.reason}
        failed = [row["id"] for row in rows if row["outcome"] != "passed"]
        told = f"{names(failed)} did not pass" if failed else "all commands passed"
        if self._table is None:
            self._out.line(document, f"{visible(goal_id)}: {told}")


def _watch(args: argparse.Namespace, out: Output) -> int:
    goal_id = goal_to_act_on(Context(), args)
    rounds, fault = _Rounds(goal_id, out), ""
    seen: _Seen | None = None
    try:
        while True:
            try:
                now = _seen_now(goal_id)
                if now is None or now != seen:
                    if now is None or fault or now.contract != rounds.contract:
                        rounds = _Rounds(goal_id, out)
                    seen, fault = rounds.run_until_still(), ""
                    continue
            except (InputError, PersonNeeded) as error:  # an editor is saving it, say
                if not (rounds.has_run or fault):
                    raise
                if fault != error.code:  # each time it is looked at it may be broken elsewhere
                    out.say(f"flow: {error}", "flow: the watch goes on once that is put right")
                seen, fault = None, error.code
            if not out.wait(0):
                return 0
            next(rounds.changed)
    except KeyboardInterrupt:
        ctrl_c.ignore()
        return Interrupted.exit_code


def _seen_now(goal_id: str) -> _Seen | None:
    """The goal and its files as they are now; None if the goal cannot be read."""
    try:
        context = Context()
        loaded = context.load(goal_id)
    except FlowError:  # the run says it
        return None
    try:
        closing = overview.observing_once(Goals(context).closing_context())
        return _Seen(loaded.contract, CurrentFiles(closing, loaded).subject.tree)
    except FlowError:
        return _Seen(loaded.contract, None)


def _watchable(context: Context, goal_id: str) -> LoadedGoal:
    """The goal; refused are drafts, closed goals, those without a command, and without trust."""
    loaded = context.load(goal_id)
    trusted, why = context.trusted(loaded)
    if not trusted:
        raise PersonNeeded(why, code="untrusted", remedy=f"flow trust record {goal_id}")
    if not wanted_criteria(loaded.goal, None):
        raise at_key("acceptance_criteria").wrong_state(
            f"goal {goal_id} has no command to run", f"flow goal status {goal_id}"
        )
    return loaded


def _path_filter(goal: Goal) -> Any:
    allowed, own = Globs(goal.allowed_paths, anchored=True), layout.goal_file(goal.id).encode()

    def wanted(path: bytes) -> bool:
        inside = not path.startswith(NEVER) and (not allowed or allowed.first(path) is not None)
        return inside or path == own

    return wanted


def _folders(goal: Goal) -> list[str]:
    """The folders that its file and paths lie in, as far as their patterns name them."""
    folders = [layout.GOALS]
    for pattern in goal.allowed_paths:
        plain = pattern.split("*")[0].split("?")[0].split("[")[0].split("{")[0]
        folders.append(plain.rpartition("/")[0].lstrip("/"))
    return [] if "" in folders else sorted(set(folders))


def _output_folder(context: Context, goal_id: str) -> str | None:
    """The folder of the last outputs; None without a state folder."""
    checkout = sha256(os.fsencode(context.top)).hexdigest()[:8]
    return context.cache("watch") and context.cache(f"watch/{goal_id}-{checkout}")


def _resting(goal: Goal, outputs: Outputs) -> str:
    paths = names(goal.allowed_paths, 3) if goal.allowed_paths else "the checkout"
    at = time.strftime("%H:%M")
    text = f"{at}, waits for changes of {paths}; Ctrl-C ends it."
    if not outputs.folder:
        return text
    home = os.path.expanduser("~")
    below = outputs.folder.removeprefix(f"{home}/")  # short, so that it is not cut
    return f"{text}\noutputs in {outputs.folder if below == outputs.folder else f'~/{below}'}"


COMMANDS = {
    "watch": (
        goal_argument,
        _watch,
        (
            "It runs as evaluate --dry-run does: no turn, no journal, no evidence. The last output "
            "of each command lies in the cache folder. It needs the library watchfiles."
        ),
    ),
}
