"""``flow evidence``: recording and showing evidence."""

from __future__ import annotations

import os
from importlib import import_module

from flow.adapters.fs import files, inputs
from flow.app import goal_record
from flow.app.overview import fresh_fields
from flow.cli.evidence.verify import HEAD, VERIFY
from flow.cli.goal.which import run_arguments, run_of_goal
from flow.cli.parsing import CommandSpec, plain
from flow.core import layout
from flow.core.goal import ids
from flow.core.text import display
from flow.core.text.near import did_you_mean
from flow.errors import FlowError, InputError, at_key, in_file
from flow.render import records
from flow.render.evidence import evidence_show
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from flow.cli.output import Output
    from flow.core.evidence.model import Evidence

TAIL = 8192
"""Bytes of an output that ``show`` prints."""


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--run-id", metavar="R", required=True, help="the run it belongs to")
    add("--evidence-file", metavar="F", required=True, help="a FlowEvidence file (-: stdin)")
    add("--raw-output", metavar="F", help="what the command printed; copied beside it")


def _record_evidence(args: argparse.Namespace, out: Output) -> int:
    run_id = ids.run_id(args.run_id)
    data = inputs.read(args.evidence_file, "--evidence-file")
    if args.raw_output is not None:
        inputs.check_file(args.raw_output, "--raw-output")
    context = Context()
    path, warnings = context.ledger.record_handed_in(
        run_id, data, args.raw_output, file=args.evidence_file, environ=context.environ
    )
    out.result(
        {"run_id": run_id, "path": path, "warnings": list(warnings)},
        [f"{out.screen.mark('proved')} recorded {display.visible(path)}"],
    )
    out.warn(warnings)
    return 0


def _list_evidence(args: argparse.Namespace, out: Output) -> int:
    goals = Goals(Context())
    run_id, _ = run_of_goal(goals, args.run_id, args.ID, "flow evidence list")
    sidecars, warnings = goals.records.evidence(ids.run_id(run_id))
    freshness = goal_record.freshness(goals, sidecars)
    rows = [{**goal_record.evidence_row(e), **fresh_fields(freshness.get(e.id))} for e in sidecars]
    document = {"run_id": run_id, "evidence": rows, "warnings": list(warnings)}
    out.result(document, records.evidence_list(document, out.screen))
    out.warn(warnings)
    return 0


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("EVIDENCE", help="a criterion (AC2: its newest evidence), or the evidence's id")
    add("--goal", metavar="ID", help="in this goal's run")
    add("--run-id", metavar="R", help="in this run (default: the branch's goal's)")
    add("--details", action="store_true", help="the whole record, too")


def _show_evidence(args: argparse.Namespace, out: Output) -> int:
    goals = Goals(Context())
    run_id, goal_id = run_of_goal(goals, args.run_id, args.goal, "flow evidence show")
    evidence, warnings = _named_evidence(goals, run_id, goal_id, args.EVIDENCE)
    output = _output_end(goals.top, run_id, evidence.output_ref)
    freshness = fresh_fields(goal_record.freshness(goals, [evidence]).get(evidence.id))
    document: Mapping[str, object] = {
        "run_id": run_id,
        "handed_in": evidence.handed_in,
        **freshness,
        **plain(evidence.document),
        **output,
        "warnings": list(warnings),
    }
    typed = (("", args.EVIDENCE), ("--goal ", args.goal), ("--run-id ", args.run_id))
    words = [f"{option}{display.visible(word)}" for option, word in typed if word is not None]
    more = "" if args.details else " ".join(["flow evidence show", *words, "--details"])
    out.result(document, evidence_show(document, out.screen, more))
    out.warn(warnings)
    return 0


def _named_evidence(
    goals: Goals, run_id: str, goal_id: str | None, name: str
) -> tuple[Evidence, tuple[str, ...]]:
    """The evidence with this id; of a criterion the newest one in the run that can be read.

    For a criterion also warnings about evidence of the run that cannot be read: one may be newer.
    """
    every = f"see what there is: flow evidence list --run-id {run_id}"
    if ids.CRITERION_ID.fits(name):
        sidecars, unusable = goals.records.evidence(run_id)
        newest = goal_record.newest_of(sidecars, name)
        if newest is None:
            of_run = [goal_id] if goal_id else dict.fromkeys(e.goal for e in sidecars)
            _refuse_unknown_criterion(goals, of_run, name)
            raise _not_found(
                f"run {run_id} has no evidence about {name} yet", name, every, unusable
            )
        return newest, unusable
    evidence_id = ids.evidence_id(ids.folded_evidence_id(name))
    evidence = goals.records.evidence_named(run_id, evidence_id)
    if evidence is None:
        capital = name.upper()
        if ids.CRITERION_ID.fits(capital):
            typed = f"flow evidence show {capital} --run-id {run_id}"
            every = f"a criterion's letters are capital ones: {typed}"
        sidecars, unusable = goals.records.evidence(run_id)
        file = layout.evidence_file(run_id, evidence_id)
        why = "; ".join(t.removeprefix(file) for t in unusable if t.startswith(f"{file}: "))
        if why:
            raise in_file(file, None, evidence_id).invalid(
                f"is there and cannot be used{why}", "flow evidence verify tells what was altered"
            )
        recorded = [sidecar.id for sidecar in sidecars]
        missing = f"run {run_id} has no usable evidence {evidence_id}"
        near = did_you_mean(evidence_id, recorded)
        raise _not_found(f"{missing}{near}", evidence_id, every, () if near else unusable)
    return evidence, ()


def _not_found(message: str, name: str, remedy: str, unusable: Sequence[str]) -> InputError:
    """The error for evidence that is in no file of the run that can be read."""
    if unusable:
        unread = display.joined(unusable[:1], len(unusable), before=", ")
        message = f"{message}; what cannot be read may be it: {unread}"
    return at_key("EVIDENCE", name).not_found(message, remedy)


def _refuse_unknown_criterion(goals: Goals, goal_ids: Iterable[str], name: str) -> None:
    """Raise :class:`InputError` if all these goals can be read and none has the criterion."""
    try:
        of_run = [goals.load(goal_id).goal for goal_id in goal_ids]
    except FlowError:
        return
    there = [criterion.id for goal in of_run for criterion in goal.criteria]
    if of_run and name not in there:
        raise at_key("EVIDENCE", name).not_found(
            f"goal {display.names([goal.id for goal in of_run])} has no criterion {name}",
            f"its criteria: {display.names(there)}",
        )


def _output_end(top: str, run_id: str, name: str | None) -> dict[str, object]:
    """The end of an output file: its text, and how many bytes stand before it."""
    if name is None:
        return {"output": None, "output_left_out": 0}
    descriptor = files.open_regular(top, f"{layout.evidence_dir(run_id)}/{name}")
    if descriptor is None:
        return {"output": None, "output_left_out": 0}
    try:
        start = max(0, os.fstat(descriptor).st_size - TAIL)
        data = os.pread(descriptor, TAIL, start)
    finally:
        os.close(descriptor)
    return {"output": data.decode("utf-8", "replace"), "output_left_out": start}


COMMANDS = {
    "record": CommandSpec(
        "record a piece of evidence; it is kept and shown, but only Flow's own counts",
        _record_arguments,
        _record_evidence,
    ),
    "list": CommandSpec("the evidence of a run", run_arguments, _list_evidence),
    "show": CommandSpec(
        "one piece of evidence and the end of its output", _show_arguments, _show_evidence
    ),
    "verify": VERIFY,
    "head": HEAD,
    "export": "write in-toto Statements of a goal's evidence, signed if asked",
    "import": "record results that other tools produced; they count for nothing",
}
_MODULES = {"export": "export", "import": "import_results"}


def load(name: str) -> CommandSpec:
    """A command of this group with a module of its own."""
    module = import_module(f"flow.cli.evidence.{_MODULES[name]}")
    return CommandSpec(str(COMMANDS[name]), module.arguments, module.run)
