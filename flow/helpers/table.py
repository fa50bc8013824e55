"""The helpers by name: usage, options, action."""

from __future__ import annotations

from flow.helpers import actions
from flow.helpers.words import Helper
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        actions.record_evidence,
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
        actions.record_goal,
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
        actions.record_verdict,
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
        actions.record_journal,
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
        actions.active_goal,
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
        actions.trust,
        actions=("record", "check", "list"),
    ),
}
