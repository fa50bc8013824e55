"""One action for each helper: a call of the code that the command line runs."""

from __future__ import annotations

import os

from flow.core import layout
from flow.core.goal import ids
from flow.errors import at_key
from flow.helpers.words import answer, answer_path, in_json, need, report_error, say, wrong
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Options = Mapping[str, Any]

DONE, BAD_INPUT, SEVERAL = 0, 1, 3


def record_evidence(options: Options, name: str) -> int:
    """``flow-record-evidence.sh``."""
    from flow.adapters.fs import inputs

    run_id, file = need(options, "--run-id", "--evidence-file")
    ids.run_id(run_id)
    data = inputs.read(file, "--evidence-file")
    raw_output = options.get("--raw-output")
    if raw_output is not None:
        inputs.check_file(raw_output, "--raw-output")
    context = Context()
    path, warnings = context.ledger.record_handed_in(
        run_id, data, raw_output, file=file, environ=context.environ
    )
    _wrote(context, path, name, warnings)
    return DONE


def record_goal(options: Options, name: str) -> int:
    """``flow-goal-record.sh``."""
    if bool(options.get("--create")) == bool(options.get("--update-lifecycle")):
        raise wrong("say either --create or --update-lifecycle")
    if options.get("--create"):
        return _create_goal(options, name)
    return _update_lifecycle(options, name)


def _create_goal(options: Options, name: str) -> int:
    from flow.adapters.fs import inputs
    from flow.adapters.transitions.creating import Creating
    from flow.app.transitions.create import NewGoal, create_goal

    (file,) = need(options, "--goal-file")
    _refuse_others(options, "--create", "--goal-file")
    text = inputs.read_text(file, "--goal-file")
    context = Context()
    made = create_goal(Creating(context), NewGoal(text, file, "flow-goal-record.sh"))
    _wrote(context, made.file, name, made.warnings)
    return DONE


def _update_lifecycle(options: Options, name: str) -> int:
    from flow.adapters.fs import inputs
    from flow.core.goal.lifecycle import STATUSES
    from flow.wiring.recording import update_lifecycle

    goal_id, file = need(options, "--goal-id", "--lifecycle-file")
    if "--goal-file" in options:
        raise wrong("--goal-file belongs to --create")
    ids.goal_id(goal_id)
    from_status = options.get("--from-status")
    if from_status is not None and from_status not in STATUSES:
        raise at_key("--from-status", from_status).invalid(
            f"{from_status!r:.60} is not a status", f"one of {', '.join(STATUSES)}"
        )
    data = inputs.read(file, "--lifecycle-file")
    context = Context()
    path, warnings = update_lifecycle(
        context,
        goal_id,
        data,
        file,
        from_status=from_status,
        merge=bool(options.get("--merge")),
        increment_turns=bool(options.get("--increment-turns")),
    )
    _wrote(context, path, name, warnings)
    return DONE


def _refuse_others(options: Options, *known: str) -> None:
    others = [option for option in options if option not in known]
    if others:
        raise wrong(f"{others[0]} does not go with {known[0]}")


def record_verdict(options: Options, name: str) -> int:
    """``flow-record-verdict.sh``."""
    from flow.adapters.ledger.verdicts import read_verdict, record_verdict

    run_id, file = need(options, "--run-id", "--verdict-file")
    ids.run_id(run_id)
    document = read_verdict(file)
    context = Context()
    path, warnings, _ = record_verdict(context.run_record, document, run_id, None, file)
    if os.environ.get("FLOW_RECORD_VERDICT_QUIET") != "1":
        _wrote(context, path, name, warnings)
    return DONE


def record_journal(options: Options, _name: str) -> int:
    """``journal-record.sh``."""
    from flow.adapters.journal import journals, store

    issue, type = need(options, "--issue", "--type")
    if not (issue.isascii() and issue.isdigit() and len(issue) < 17 and 1 <= int(issue) <= 2**53):
        raise at_key("--issue", issue).invalid(
            f"{issue!r:.60} is not an issue's number", "a whole number from 1 on"
        )
    metadata = store.metadata_from_pairs(options.get("--metadata", ()))
    context = Context()
    _wrote(context, journals.record_entry(context, int(issue), type, metadata))
    return DONE


_ANSWERS = ("--path", "--id", "--status", "--json")


def active_goal(options: Options, name: str) -> int:
    """``flow-active-goal.sh``."""
    wanted = [option for option in _ANSWERS if options.get(option)]
    if len(wanted) > 1:
        raise wrong(f"{' and '.join(wanted)} exclude each other")
    from flow.wiring.goals import Goals

    context = Context()
    goals, broken = Goals(context).active(
        options.get("--branch"), any_open=bool(options.get("--any"))
    )
    for error in broken:  # named, never taken for absent
        report_error(name, error)
    if not goals:
        return BAD_INPUT
    if len(goals) > 1:
        names = ", ".join(goal.id for goal in goals)
        say(f"{name}.sh: more than one active goal: {names}")
        return SEVERAL
    goal = goals[0]
    path = os.path.join(context.top, layout.goal_file(goal.id))
    asked = wanted[0] if wanted else "--path"
    if asked == "--json":
        whole = context.load(goal.id).goal
        document = {
            "id": goal.id,
            "path": in_json(path),
            "status": whole.status,
            "branch": whole.branch,
            "run_id": whole.run_id,
            "issue": whole.issue,
            "outcome": whole.outcome,
        }
        answer(json.dumps(document, indent=2))
    elif asked == "--path":
        answer_path(path)
    else:
        answer({"--id": goal.id, "--status": goal.status}[asked])
    return DONE


def trust(options: Options, name: str) -> int:
    """``flow-goal-trust.sh``."""
    from flow.app.transitions import trusting as contracts
    from flow.wiring.trusting import Trusting

    file = options.get("--goal-file")
    action = options["action"]
    if action == "check":
        return _check_trust(file)
    if action == "list" and file is not None:
        raise wrong("list takes no --goal-file")
    context = Context()
    if action == "list":
        for entry in context.trust_ledger.standing():
            answer(f"{entry.goal_id} {entry.digest} {entry.at} {entry.how}")
        return DONE
    goal_id = _goal_unless(file, context)
    if goal_id is not None:
        context.finish(goal_id)
    trusting = Trusting(context)
    loaded = trusting.named(goal_id, file)
    difference = contracts.lines_since_trusted(trusting, loaded)
    say(f"the contract of {goal_id or file}, as far as it differs from what was trusted last:")
    for line in difference or ("nothing differs",):
        say(f"  {line}")
    contracts.record_trust(trusting, loaded, f"{name}.sh record")
    say(f"trusted: {goal_id or file} (contract {loaded.contract})")
    return DONE


def _check_trust(file: str | None) -> int:
    from flow.wiring.trusting import Trusting

    trusted = False
    try:
        context = Context()
        trusted, why = context.trusted(Trusting(context).named(_goal_unless(file, context), file))
    finally:
        answer("TRUSTED=yes" if trusted else "TRUSTED=no")
    if trusted:
        return DONE
    say(why)
    return BAD_INPUT


def _goal_unless(file: str | None, context: Context) -> str | None:
    """The goal of the branch, unless a goal file is named."""
    if file is not None:
        return None
    from flow.app import goal_views
    from flow.wiring.goals import Goals

    return goal_views.choose(Goals(context))


def _wrote(context: Context, path: str, name: str = "", warnings: Sequence[str] = ()) -> None:
    for warning in warnings:
        say(f"{name}.sh: warning: {warning}")
    say(os.path.join(context.top, path))
