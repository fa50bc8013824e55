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
from flow.cli import live
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import CommandSpec, goal_argument
from flow.core.boundary.globs import Globs
from flow.core.text.display import names, visible
from flow.errors import FlowError, Interrupted, PersonNeeded, at_key
from flow.render.progress import LiveTable, PlainProgress
from flow.startup import ctrl_c
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring import evaluating
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.app.ports import Check, CheckResult
    from flow.cli.output import Output
    from flow.core.goal.model import Goal

NEVER = (b".flow/", b".git/")
"""Folders whose files no goal is about."""


class Outputs(Listener):
    """Keeps the last output of each command in the cache folder, and hands all on."""

    def __init__(self, inner: Listener, top: str, folder: str | None) -> None:
        self.inner, self._top, self.folder = inner, top, folder
        self.rows: list[dict[str, Any]] = []

    def planned(self, checks: Any, where: str = "") -> None:
        """Begin anew."""
        self.rows.clear()
        self.inner.planned(checks, where)

    def started(self, check: Check) -> None:
        """Hand it on."""
        self.inner.started(check)

    def ticked(self) -> None:
        """Hand it on."""
        self.inner.ticked()

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


class RestingTable(LiveTable):
    """The live table, which stays when the commands have ended."""

    def planned(self, checks: Any, where: str = "") -> None:
        """The rows of what will run wait from now on."""
        self._asked = ""
        super().planned(checks, where)

    def finished(self) -> None:
        """Leave it."""

    def rest(self, line: str) -> None:
        """Say below it what is waited for."""
        self._asked = line
        self._draw()


def _watch(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    goal = _watchable(context, goal_id)
    table = live.table(out, context, goal_id, RestingTable)
    inner = table or (Listener() if out.json else PlainProgress(sys.stderr))
    outputs = Outputs(inner, context.top, _folder(context, goal_id))
    changed = watching.changes(context.top, _folders(goal), _wanted(goal))
    try:
        while True:
            seen = _run_until_still(goal_id, outputs, out)
            if table is not None:
                table.rest(_resting(goal, outputs))
            while _tree(goal_id) == seen:
                if not out.wait(0):
                    return 0
                next(changed)
    except KeyboardInterrupt:
        ctrl_c.ignore()
        return Interrupted.exit_code


def _run_until_still(goal_id: str, outputs: Outputs, out: Output) -> str | None:
    """Run the commands, once more where files changed meanwhile; returns the files' tree.

    No more than once: a command may leave something else behind each time.
    """
    for _ in range(2):
        before = _tree(goal_id)
        context = Context()
        goal = _watchable(context, goal_id)
        only = tuple(criterion.id for criterion in wanted_criteria(goal, None))
        request = Request(goal_id, trigger="manual", dry_run=True, no_judge=True, only=only)
        verdict = evaluating.evaluate(context, request, outputs)
        document = {"goal_id": goal_id, "criteria": list(outputs.rows), "reason": verdict.reason}
        failed = [row["id"] for row in outputs.rows if row["outcome"] != "passed"]
        told = f"{names(failed)} did not pass" if failed else "all commands passed"
        if out.json or not isinstance(outputs.inner, RestingTable):
            out.line(document, f"{visible(goal_id)}: {told}")
        after = _tree(goal_id)
        if after == before:
            break
    return after


def _watchable(context: Context, goal_id: str) -> Goal:
    """The goal; refused are drafts, closed goals, those without a command, and without trust."""
    loaded = context.load(goal_id)
    goal = loaded.goal
    trusted, why = context.trusted(loaded)
    if not trusted:
        raise PersonNeeded(why, code="untrusted", remedy=f"flow trust record {goal_id}")
    if not wanted_criteria(goal, None):
        raise at_key("acceptance_criteria").wrong_state(
            f"goal {goal_id} has no command to run", f"flow goal status {goal_id}"
        )
    return goal


def _tree(goal_id: str) -> str | None:
    """The digest of the files that the goal is about, as they are now."""
    context = Context()
    closing = overview.looking_once(Goals(context).closing_context())
    try:
        return CurrentFiles(closing, context.load(goal_id)).subject.tree
    except FlowError:  # the run says it
        return None


def _wanted(goal: Goal) -> Any:
    allowed = Globs(goal.allowed_paths, anchored=True)

    def wanted(path: bytes) -> bool:
        return not path.startswith(NEVER) and (not allowed or allowed.first(path) is not None)

    return wanted


def _folders(goal: Goal) -> list[str]:
    """The folders that the goal's paths lie in, as far as their patterns name them."""
    folders = []
    for pattern in goal.allowed_paths:
        plain = pattern.split("*")[0].split("?")[0].split("[")[0].split("{")[0]
        folders.append(plain.rpartition("/")[0].lstrip("/"))
    return [] if "" in folders else sorted(set(folders))


def _folder(context: Context, goal_id: str) -> str | None:
    """Where the last outputs are kept; None without a state folder."""
    checkout = sha256(os.fsencode(context.top)).hexdigest()[:8]
    return context.cache("watch") and context.cache(f"watch/{goal_id}-{checkout}")


def _resting(goal: Goal, outputs: Outputs) -> str:
    paths = names(goal.allowed_paths, 3) if goal.allowed_paths else "the checkout"
    at = time.strftime("%H:%M")
    where = f" Outputs: {outputs.folder}" if outputs.folder else ""
    return f"{at}, waits for changes of {paths}; Ctrl-C ends it.{where}"


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)


COMMANDS = {
    "watch": CommandSpec(
        "run the commands whenever the goal's files change; nothing is recorded",
        _arguments,
        _watch,
        "It runs as evaluate --dry-run does: no turn, no journal, no evidence. The last output of "
        "each command lies in the cache folder. It needs the library watchfiles.",
    )
}
