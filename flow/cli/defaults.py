"""Trust in ``.flow/defaults.goal.yaml``: what every new goal of a repository gets."""

from __future__ import annotations

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.fs import clock
from flow.adapters.setup.defaults_file import read_defaults
from flow.core.amendment.trust_diff import difference
from flow.core.drafting.defaults import as_goal
from flow.core.goal.model import goal_from_document
from flow.core.layout import DEFAULTS
from flow.core.tool_calls.speaker import is_agent
from flow.errors import ContractError, PersonNeeded, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.cli.output import Output
    from flow.core.drafting.defaults import GoalDefaults
    from flow.wiring.context import Context

OPTION = "--defaults"
QUESTION = f"Take {DEFAULTS} into every new goal, and let its commands run as you?"
RECORD = f"flow trust record {OPTION}"


def accept_defaults(context: Context, out: Output) -> None:
    """Show the defaults to a person at a terminal who does not know them, and record their yes.

    Without a terminal there is no question, and the goal is not trusted. Raises
    :class:`PersonNeeded` for a no.
    """
    defaults = read_defaults(context.top)
    if defaults is None or context.knows_defaults(defaults.digest):
        return
    if out.can_ask and not is_agent(context.speaker):
        _show(context, out, defaults)
        out.need_yes(QUESTION, yes=False, how=f"{RECORD} --yes")
        _record(context, defaults, "flow goal create")


def record_defaults(context: Context, out: Output, *, yes: bool) -> int:
    """``flow trust record --defaults``."""
    defaults = _existing_defaults(context)
    if is_agent(context.speaker) and not context.settings.settings.agent_may_name_trust:
        raise PersonNeeded(
            f"{OPTION} lets commands run in every new goal, and this is an agent's shell",
            code="agent_names_trust",
            key=OPTION,
            remedy=f"a person, at a terminal: {RECORD}",
        )
    known = context.trust_ledger.check(DEFAULTS, defaults.digest)
    document = {"defaults": DEFAULTS, "digest": defaults.digest, "was_trusted": known}
    if not known:
        _show(context, out, defaults)
        out.need_yes(QUESTION, yes=yes, how=f"{RECORD} --yes")
        _record(context, defaults, "flow trust record")
    state = "is trusted already" if known else "is trusted"
    out.result(document, [f"{DEFAULTS} {state} ({defaults.digest[:12]})"])
    return 0


def check_defaults(context: Context, out: Output) -> int:
    """``flow trust check --defaults``."""
    defaults = _existing_defaults(context)
    known = context.knows_defaults(defaults.digest)
    why = "you trust it as it is" if known else f"you do not know it as it is: {RECORD}"
    out.result(
        {"defaults": DEFAULTS, "trusted": known, "why": why, "digest": defaults.digest},
        [f"{DEFAULTS} {'is' if known else 'is not'} trusted: {why}"],
    )
    return 0 if known else PersonNeeded.exit_code


def revoke_defaults(context: Context, out: Output) -> int:
    """``flow trust revoke --defaults``."""
    revoked = context.trust_ledger.revoke(DEFAULTS, now=clock.now(), how="flow trust revoke")
    state = "is not trusted any more" if revoked else "was not trusted"
    out.result({"defaults": DEFAULTS, "revoked": revoked}, [f"{DEFAULTS} {state}"])
    return 0


def _existing_defaults(context: Context) -> GoalDefaults:
    defaults = read_defaults(context.top)
    if defaults is None:
        raise in_file(DEFAULTS, OPTION).not_found(
            "this repository has no such file", "a goal is named by its id"
        )
    return defaults


def _show(context: Context, out: Output, defaults: GoalDefaults) -> None:
    """Show the file for a question; raises :class:`ContractError` where bash cannot read it."""
    goal = goal_from_document(as_goal(defaults.to_document()))
    faults = syntax_faults(goal, DEFAULTS, context.environ, context.top, defaults.places)
    if faults:  # create would refuse every goal with it
        raise ContractError(faults)
    before = context.trust_ledger.recorded_contract(DEFAULTS)
    head = "differs from what you trusted last:" if before else "adds to every new goal:"
    out.say(f"{DEFAULTS} {head}", *difference(before, defaults.to_document()))


def _record(context: Context, defaults: GoalDefaults, how: str) -> None:
    context.trust_ledger.record(
        DEFAULTS, defaults.digest, defaults.to_document(), now=clock.now(), how=how
    )
