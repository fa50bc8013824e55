"""The helpers in ``bin/``: each a thin start of what the command line runs (SPEC section 5).

Exit statuses: 0 done; 1 bad input (for ``check``: not trusted; for ``flow-active-goal.sh``: none
active); 2 the system refused; ``flow-active-goal.sh`` also 3, more than one active goal. The path
that was written goes to standard error, and standard output gets only an answer that was asked for.
They are called often, so the arguments are read by hand: argparse would take longer than the rest.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from flow.errors import FlowError, InputError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.wiring import Checkout

    Options = Mapping[str, Any]

DONE, BAD_INPUT, REFUSED, SEVERAL = 0, 1, 2, 3


class Helper:
    """One helper: its options (``one`` value, ``many``, or a ``flag``), and what runs it.

    ``actions`` are the words of which the first argument must be one. (No NamedTuple: making the
    class would take longer than reading the arguments.)
    """

    __slots__ = ("actions", "options", "run", "usage")

    def __init__(
        self,
        usage: str,
        options: Mapping[str, str],
        run: Callable[[Options, str], int],
        actions: tuple[str, ...] = (),
    ) -> None:
        self.usage = usage
        self.options = options
        self.run = run
        self.actions = actions


def main(name: str, argv: Sequence[str]) -> int:
    """Run the helper ``name`` (with or without ``.sh``); its exit status. Raises nothing."""
    name = name.removesuffix(".sh")
    helper = HELPERS[name]
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed by the caller: the next file must not take its number
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        if "-h" in argv or "--help" in argv:
            _answer(helper.usage)
            return DONE
        return helper.run(_options(helper, argv), name)
    except FlowError as error:
        _report(name, error)
        return error.helper_code
    except KeyboardInterrupt:
        _say(f"{name}.sh: interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user; the log has it
        from flow.adapters.crash import report

        _report(name, report(error, os.environ))
        return REFUSED


def _options(helper: Helper, argv: Sequence[str]) -> dict[str, Any]:
    """The words as a mapping; every fault is an :class:`InputError`."""
    words = list(argv)
    found: dict[str, Any] = {}
    if helper.actions:
        if not words or words[0] not in helper.actions:
            given = f"{words[0]!r:.60} is not" if words else "the first word is missing:"
            raise _wrong(f"{given} one of {', '.join(helper.actions)}")
        found["action"] = words.pop(0)
    while words:
        option, equals, value = words.pop(0).partition("=")
        kind = helper.options.get(option)
        if kind is None:
            raise _wrong(f"{option!r:.60} is no option")
        if kind == "flag":
            if equals:
                raise _wrong(f"{option} takes no value")
            found[option] = True
            continue
        if not equals:
            if not words or words[0].partition("=")[0] in helper.options:
                raise _wrong(f"{option} needs a value")
            value = words.pop(0)
        if kind == "many":
            found.setdefault(option, []).append(value)
            # `--metadata a=1 b=2` is as good as naming the option twice.
            while not equals and words and not words[0].startswith("--"):
                found[option].append(words.pop(0))
        elif option in found:
            raise _wrong(f"{option} is given twice")
        else:
            found[option] = value
    return found


def _wrong(message: str) -> InputError:
    return InputError(message, code="usage", remedy="--help tells the options")


def _need(options: Options, *names: str) -> list[str]:
    missing = [name for name in names if not options.get(name)]
    if missing:
        raise _wrong(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return [options[name] for name in names]


# --- the six ---


def _record_evidence(options: Options, name: str) -> int:
    from flow.adapters import inputs
    from flow.core import ids

    run_id, file = _need(options, "--run-id", "--evidence-file")
    ids.run_id(run_id)
    data = inputs.read(file, "--evidence-file")
    raw_output = options.get("--raw-output")
    if raw_output is not None:
        inputs.check_file(raw_output, "--raw-output")
    checkout = _checkout()
    path, warnings = checkout.record_evidence(run_id, data, file, raw_output)
    _wrote(checkout, path, name, warnings)
    return DONE


def _record_goal(options: Options, name: str) -> int:
    if bool(options.get("--create")) == bool(options.get("--update-lifecycle")):
        raise _wrong("say either --create or --update-lifecycle")
    if options.get("--create"):
        return _create_goal(options, name)
    return _update_lifecycle(options)


def _create_goal(options: Options, name: str) -> int:
    from flow.adapters import inputs

    (file,) = _need(options, "--goal-file")
    _refuse_others(options, "--create", "--goal-file")
    text = inputs.read_text(file, "--goal-file")
    checkout = _checkout()
    path, warnings = checkout.create_goal_file(text, file)
    _wrote(checkout, path, name, warnings)
    return DONE


def _update_lifecycle(options: Options) -> int:
    from flow.adapters import inputs
    from flow.core import ids
    from flow.core.lifecycle import STATUSES

    goal_id, file = _need(options, "--goal-id", "--lifecycle-file")
    if "--goal-file" in options:
        raise _wrong("--goal-file belongs to --create")
    ids.goal_id(goal_id)
    from_status = options.get("--from-status")
    if from_status is not None and from_status not in STATUSES:
        raise InputError(
            f"{from_status!r:.60} is not a status",
            key="--from-status",
            value=from_status,
            remedy=f"one of {', '.join(STATUSES)}",
        )
    data = inputs.read(file, "--lifecycle-file")
    checkout = _checkout()
    path = checkout.update_lifecycle(
        goal_id,
        data,
        file,
        from_status=from_status,
        merge=bool(options.get("--merge")),
        increment_turns=bool(options.get("--increment-turns")),
    )
    _wrote(checkout, path)
    return DONE


def _refuse_others(options: Options, *known: str) -> None:
    others = [option for option in options if option not in known]
    if others:
        raise _wrong(f"{others[0]} does not go with {known[0]}")


def _record_verdict(options: Options, name: str) -> int:
    from flow.adapters import inputs
    from flow.adapters.contracts import parse_json
    from flow.core import ids

    run_id, file = _need(options, "--run-id", "--verdict-file")
    ids.run_id(run_id)
    document = parse_json(inputs.read(file, "--verdict-file"), file=file)
    checkout = _checkout()
    path, warnings = checkout.record_verdict(document, run_id, None)
    if os.environ.get("FLOW_RECORD_VERDICT_QUIET") != "1":
        _wrote(checkout, path, name, warnings)
    return DONE


def _record_journal(options: Options, _name: str) -> int:
    from flow.adapters.journal import metadata_from_pairs

    issue, type = _need(options, "--issue", "--type")
    if not (issue.isascii() and issue.isdigit() and len(issue) < 17 and 1 <= int(issue) <= 2**53):
        raise InputError(
            f"{issue!r:.60} is not an issue's number",
            key="--issue",
            value=issue,
            remedy="a whole number from 1 on",
        )
    metadata = metadata_from_pairs(options.get("--metadata", ()))
    checkout = _checkout()
    _wrote(checkout, checkout.journal_record(int(issue), type, metadata))
    return DONE


_WHAT = ("--path", "--id", "--status", "--json")


def _active_goal(options: Options, name: str) -> int:
    wanted = [option for option in _WHAT if options.get(option)]
    if len(wanted) > 1:
        raise _wrong(f"{' and '.join(wanted)} exclude each other")
    from flow.core import layout

    checkout = _checkout()
    goals, broken = checkout.active(options.get("--branch"), any_open=bool(options.get("--any")))
    for error in broken:  # named, never taken for absent
        _report(name, error)
    if not goals:
        return BAD_INPUT
    if len(goals) > 1:
        names = ", ".join(goal.id for goal in goals)
        _say(f"{name}.sh: more than one active goal: {names}")
        return SEVERAL
    goal = goals[0]
    path = os.path.join(checkout.top, layout.goal_file(goal.id))
    what = wanted[0] if wanted else "--path"
    if what == "--json":
        import json

        document = {
            "id": goal.id,
            "path": path,
            "status": goal.status,
            "branch": goal.branch,
            "run_id": goal.run_id,
            "issue": goal.issue,
            "outcome": goal.outcome,
        }
        _answer(json.dumps(document, indent=2))
    else:
        _answer({"--path": path, "--id": goal.id, "--status": goal.status}[what])
    return DONE


def _trust(options: Options, name: str) -> int:
    file = options.get("--goal-file")
    action = options["action"]
    if action == "list":
        if file is not None:
            raise _wrong("list takes no --goal-file")
        for entry in _checkout().trust_list():
            _answer(f"{entry['goal_id']} {entry['digest']} {entry['at']} {entry['how']}")
        return DONE
    if action == "check":
        return _check_trust(file)
    checkout = _checkout()
    goal_id = None if file is not None else checkout.choose()
    difference = checkout.trust_difference(goal_id, file)
    _say(f"the contract of {goal_id or file}, as far as it differs from what was trusted last:")
    for line in difference or ("nothing differs",):
        _say(f"  {line}")
    digest = checkout.trust_record(goal_id, file, how=f"{name}.sh record")
    _say(f"trusted: {goal_id or file} (contract {digest})")
    return DONE


def _check_trust(file: str | None) -> int:
    trusted = False
    try:
        checkout = _checkout()
        goal_id = None if file is not None else checkout.choose()
        trusted, why, _ = checkout.trust_check(goal_id, file)
    finally:
        _answer("TRUSTED=yes" if trusted else "TRUSTED=no")
    if trusted:
        return DONE
    _say(why)
    return BAD_INPUT


def _checkout() -> Checkout:
    from flow.wiring import Checkout

    return Checkout()


def _wrote(checkout: Checkout, path: str, name: str = "", warnings: Sequence[str] = ()) -> None:
    for warning in warnings:
        _say(f"{name}.sh: warning: {warning}")
    _say(os.path.join(checkout.top, path))


def _say(line: str) -> None:
    _write(sys.stderr, _visible(line))


def _answer(text: str) -> None:
    _write(sys.stdout, "\n".join(_visible(line) for line in text.split("\n")))


def _visible(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line  # the usual case, without loading anything
    from flow.core.explain import visible

    return visible(line)


def _write(stream: Any, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        # A message nobody can read changes nothing; an answer that was asked for must arrive.
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise StorageError(
                f"cannot write to standard output: {error.strerror}",
                remedy="check where the output goes",
            ) from error


def _report(name: str, error: FlowError) -> None:
    for fault in error.faults:
        _say(f"{name}.sh: {fault}")


_EXIT = """\
exit status: 0 done; 1 bad input{more}; 2 the system refused (symlink, lock, disk, id already
recorded, broken journal, no interpreter)"""

HELPERS: Mapping[str, Helper] = {
    "flow-record-evidence": Helper(
        """\
usage: flow-record-evidence.sh --run-id R --evidence-file F [--raw-output F]

Record a FlowEvidence file as .flow/runs/R/evidence/<id>.evidence.yaml. Evidence is append-only: an
id that exists is refused. The path that was written goes to standard error.

  --run-id R          the run it belongs to
  --evidence-file F   the evidence, as YAML or JSON (-: standard input)
  --raw-output F      what the command printed; copied to <id>.txt and named in output_ref

"""
        + _EXIT.format(more=""),
        {"--run-id": "one", "--evidence-file": "one", "--raw-output": "one"},
        _record_evidence,
    ),
    "flow-goal-record": Helper(
        """\
usage: flow-goal-record.sh --create --goal-file F
       flow-goal-record.sh --update-lifecycle --goal-id ID --lifecycle-file F
                           [--from-status S] [--merge] [--increment-turns]

Create a goal, or write the lifecycle of one. A final status needs a caller that has asked a
person; achieved also needs a live proposal for it. The path goes to standard error.

  --goal-file F       the goal (-: standard input)
  --goal-id ID        the goal whose lifecycle is written
  --lifecycle-file F  the lifecycle block, bare or below a lifecycle: key, as YAML or JSON
  --from-status S     refuse unless this is the status now
  --merge             keep the keys that F does not name
  --increment-turns   add 1 to turns_evaluated

"""
        + _EXIT.format(more=" or a refused transition"),
        {
            "--create": "flag",
            "--goal-file": "one",
            "--update-lifecycle": "flag",
            "--goal-id": "one",
            "--lifecycle-file": "one",
            "--from-status": "one",
            "--merge": "flag",
            "--increment-turns": "flag",
        },
        _record_goal,
    ),
    "flow-record-verdict": Helper(
        """\
usage: flow-record-verdict.sh --run-id R --verdict-file F

Replace .flow/runs/R/last-verdict.json. F is a JSON object with verdict, confidence, delta and
reason. Over-long texts are cut, with a warning. The path goes to standard error;
FLOW_RECORD_VERDICT_QUIET=1 leaves path and warnings out.

  --run-id R          the run it belongs to
  --verdict-file F    the verdict (-: standard input)

"""
        + _EXIT.format(more=""),
        {"--run-id": "one", "--verdict-file": "one"},
        _record_verdict,
    ),
    "journal-record": Helper(
        """\
usage: journal-record.sh --issue N --type T [--metadata k=v ...]

Add an artifact to the decision journal of an issue. The path goes to standard error.

  --issue N           the issue
  --type T            the artifact's type
  --metadata k=v      a field; a comma makes a list, digits a number (repeatable)

"""
        + _EXIT.format(more=""),
        {"--issue": "one", "--type": "one", "--metadata": "many"},
        _record_journal,
    ),
    "flow-active-goal": Helper(
        """\
usage: flow-active-goal.sh [--path|--id|--status|--json] [--branch B] [--any]

Print the active goal of the branch that is checked out.

  --path              its file, absolute (the default)
  --id, --status      its id, its status
  --json              one JSON object with these and more
  --branch B          another branch
  --any               count waiting and blocked goals too

"""
        + _EXIT.format(more=", or no goal is active")
        + "; 3 more than one is",
        {
            "--path": "flag",
            "--id": "flag",
            "--status": "flag",
            "--json": "flag",
            "--branch": "one",
            "--any": "flag",
        },
        _active_goal,
    ),
    "flow-goal-trust": Helper(
        """\
usage: flow-goal-trust.sh record|check|list [--goal-file F]

Say or ask whose commands may run here; without --goal-file, for the goal of the branch.

  record              trust the contract as it is now, after showing what changed; only for a
                      caller that has asked a person
  check               print TRUSTED=yes or TRUSTED=no
  list                print the goals of this repository that are trusted
  --goal-file F       a goal file

"""
        + _EXIT.format(more=" (check: not trusted)"),
        {"--goal-file": "one"},
        _trust,
        actions=("record", "check", "list"),
    ),
}
