"""Creating a goal, and moving its pinned base (SPEC 4, 5 and 7)."""

from __future__ import annotations

from flow.app.checks import Check, CheckResult
from flow.app.evaluation.observing import refuse_other_branch
from flow.app.ports import Artifact, ClockPort, GoalPort, Move, TrustingPort
from flow.app.transitions.beside import OpenGoalsPort, namesake, refuse_beside_active
from flow.app.transitions.closing import refuse_closed, refuse_untrusted
from flow.core import layout
from flow.core.attribution.harmless import harmless
from flow.core.boundary.rules import check_patterns, path_rules
from flow.core.drafting import draft
from flow.core.drafting.completing import with_schema_line
from flow.core.drafting.defaults import not_trusted
from flow.core.judging.goal import delegated
from flow.core.judging.goal.delegated import DelegatedDebate
from flow.core.text import display
from flow.errors import ContractError, Fault, OutsideError, at_key, in_file
from flow.startup import re
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion, Goal

LOOK_SECONDS = 5.0
"""The time limit of a command that is run to see whether it is green already."""
PATTERN_KEYS = ("allowed_paths", "denied_paths", "protected_paths")
_OF_A_SHELL = re.compile(r"\{[^{}]*,[^{}]*\}|^(?:\s+|~/|\$\w+)")
Edit = tuple[tuple[str | int, ...], Any]


class Parsed(NamedTuple):
    """A goal text with what it means."""

    text: str
    goal: Goal
    warnings: tuple[str, ...]


class Outside(NamedTuple):
    """A path that was committed since the base and that the goal does not allow."""

    path: str
    why: str
    commits: tuple[str, ...]
    """``<short id> <subject>`` of the commits that touched it, newest first."""


class NewGoal(NamedTuple):
    """The text of a goal that is to begin, and how."""

    text: str
    name: str
    """The file that it came from, for messages."""
    source: str
    """Its origin, for the journal."""
    as_draft: bool | None = None
    """None: as the text says."""
    base: str | None = None
    """``--base``: from where its changes count."""
    line: str = "flow goal create --file F"
    """The line that a person types where an agent's shell may not create it."""
    from_goal: str | None = None
    """The goal whose contract was copied."""


class CreationTools(OpenGoalsPort, GoalPort, TrustingPort, ClockPort, Protocol):
    """Everything that creating a goal touches outside of values."""

    @property
    def defaults_known(self) -> bool:
        """Whether the user trusts the repository's defaults as they are; else nothing runs."""

    def asked_by(self) -> Mapping[str, str]:
        """The person or agent that creates the goal, as an event has them."""

    # --- the text ---

    def parse(self, text: str, name: str) -> Parsed:
        """The goal of a text from the file ``name``, completed; raises with every fault at once."""

    def edit(self, text: str, changes: Sequence[Edit], name: str) -> str:
        """The text with other values."""

    def syntax_faults(self, goal: Goal, name: str) -> Sequence[Fault]:
        """A fault for each command that bash cannot read."""

    # --- the base ---

    def pin(self, goal: Goal, base: str | None) -> Baseline:
        """The baseline of a goal that begins now; ``base`` as ``--base`` names it."""

    def kept_base(self, base: str) -> str:
        """``--base`` as ``scope.base`` keeps it: a branch by its name, else the commit."""

    def outside(self, goal: Goal, baseline: Baseline) -> Sequence[Outside]:
        """Commits since the base outside the goal's paths."""

    # --- the record ---

    def new_run_id(self, goal_id: str, now: str) -> str:
        """The id of a run that is not known here yet."""

    def write(
        self,
        text: str,
        run_id: str,
        baseline: Baseline | None,
        artifact: Artifact,
        event: Mapping[str, Any],
        trust: Callable[[], None],
    ) -> str:
        """Publish the goal, all or nothing; its file.

        ``trust`` is called when it is sure that no other goal has its id, before anything is
        written.
        """

    def record_trust(self, goal: Goal, how: str) -> None:
        """Trust the contract of a goal; ``how`` is the command."""

    def write_beside(self) -> Sequence[str]:
        """Write what belongs beside goals; returns warnings."""

    # --- the commands ---

    def about_commands(self, goal: Goal) -> list[str]:
        """A warning for each command that cannot run or cannot show what it should."""

    def run_checks(self, checks: Sequence[Check]) -> Sequence[tuple[Check, CheckResult]]:
        """Run commands that only read; none of their results is stored."""


class Created(NamedTuple):
    """A goal that was just created."""

    goal_id: str
    status: str
    file: str
    run_id: str | None
    base_commit: str | None
    warnings: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return {**self._asdict(), "warnings": list(self.warnings)}


def create_goal(tools: CreationTools, new: NewGoal) -> Created:
    """Write a goal as ``active`` (or ``draft``), record trust, journal.

    Trust is recorded, and commands run, only where the user trusts the repository's defaults and
    the goal that it is copied from. Raises :class:`ContractError` with every fault,
    :class:`StateError` if commits since the base already lie outside the goal's paths.
    """
    old = new.from_goal
    unread = old if old and not tools.trusted(tools.load(old))[0] else ""
    parsed = tools.parse(new.text, new.name)
    goal = parsed.goal
    as_draft = goal.status == "draft" if new.as_draft is None else new.as_draft
    if not as_draft:
        refuse_beside_active(tools, goal.id, new.line)
    _refuse_faulty(tools, goal, new.name)
    refuse_other_branch(goal, tools.branch())
    run_id = goal.run_id or tools.new_run_id(goal.id, tools.now())
    baseline = None if as_draft else _pinned(tools, goal, new.base)
    changes = draft.starting_changes(
        goal.document,
        status="draft" if as_draft else "active",
        run_id=run_id,
        base=tools.kept_base(new.base) if new.base is not None else None,
        base_commit=baseline.base_commit if baseline else None,
    )
    final = with_schema_line(tools.edit(parsed.text, changes, new.name))
    ready = tools.parse(final, new.name).goal

    begins_trusted = not as_draft and tools.defaults_known and not unread

    def trust() -> None:
        if begins_trusted:
            tools.record_trust(ready, "flow goal create")

    artifact = Artifact("goal-created", {"goal_id": goal.id, "source": goal.source or new.source})
    event = {"type": "created", "to": ready.status, "source": new.source, **tools.asked_by()}
    if ready.base_commit is not None:
        event["base_commit"] = ready.base_commit
    warnings = [*namesake(tools, goal.id), *parsed.warnings]
    tools.write(final, run_id, baseline, artifact, event, trust)
    about = tools.about_commands(ready)
    warnings += lint_goal(ready, about)
    if begins_trusted:
        warnings += already_green(ready, tools.run_checks, about)
    elif not as_draft and not tools.trusted(tools.load(goal.id))[0]:
        warnings.append(unread_contract(goal.id, unread) if unread else not_trusted(goal.id))
    warnings += tools.write_beside()
    file = layout.goal_file(goal.id)
    return Created(goal.id, ready.status, file, ready.run_id, ready.base_commit, (*warnings,))


def _pinned(tools: CreationTools, goal: Goal, base: str | None) -> Baseline:
    """The goal's baseline; refuses a base since which paths outside the goal's were changed."""
    baseline = tools.pin(goal, base)
    _refuse_outside(goal, tools.outside(goal, baseline), base)
    return baseline


def unread_contract(goal_id: str, old: str) -> str:
    """The warning about a goal whose contract is copied from one that the user does not trust."""
    return (
        f"goal {goal_id} is not trusted, and nothing of it was run: this user does not trust goal "
        f"{old}, whose contract it has (read it, then: flow trust record {goal_id})"
    )


def _refuse_faulty(tools: CreationTools, goal: Goal, name: str) -> None:
    """Raise :class:`ContractError` with every fault of a goal that is to begin."""
    faults = [
        in_file(name, key, value).fault(why, "leave it out; Flow writes it")
        for key, value, why in draft.starting_faults(goal.document)
    ]
    faults += tools.syntax_faults(goal, name)
    if faults:
        raise ContractError(faults)


def already_green(
    goal: Goal,
    run_checks: Callable[[Sequence[Check]], Sequence[tuple[Check, CheckResult]]],
    warnings: Sequence[str] = (),
) -> list[str]:
    """A warning for each command that passes before any work was done.

    Only commands that look and change nothing are run for it, a few seconds each; ``flow goal
    baseline`` runs them all. Left out is a command of which ``warnings`` say already that its exit
    status shows nothing.
    """
    left_out = {warning.partition(":")[0] for warning in warnings}
    checks = [
        Check(c.id, c.verification_command or "", c.cwd or "", LOOK_SECONDS)
        for c in goal.criteria
        if harmless(c.verification_command or "") and c.id not in left_out
    ]
    try:
        results = run_checks(checks)
    except OutsideError as error:
        return [f"whether a command passes already is not known: {error}"]
    return [
        f"{check.criterion_id}: already green: passes now, before any work, so a pass proves "
        f"nothing (flow goal baseline {goal.id} looks closer)"
        for check, result in results
        if result.outcome == "passed"
    ]


def _refuse_outside(goal: Goal, outside: Sequence[Outside], base: str | None) -> None:
    if not outside or base is not None:
        return
    named = [f"{o.path} ({o.commits[0]})" if o.commits else o.path for o in outside]
    raise at_key("constraints.allowed_paths", outside[0].path).wrong_state(
        f"commits since the base of goal {goal.id} already changed paths outside its own: "
        f"{display.names(named)}",
        "say from where to count (--base REF, --base HEAD: from here), or widen the paths",
        code="outside_base",
    )


def lint_goal(goal: Goal, about_commands: Sequence[str]) -> list[str]:
    """Questions that a careful reader would ask about a new goal."""
    warnings = list(about_commands)
    if not goal.allowed_paths:
        warnings.append("constraints.allowed_paths is empty: every path may be changed")
    warnings += denied_all_the_same(goal)
    warnings += as_a_shell_reads(goal)
    fuzzy = [c.id for c in goal.criteria if c.fuzzy and c.must_pass]
    if fuzzy and goal.evaluator_type == "deterministic":
        them = "it" if len(fuzzy) == 1 else "them"
        warnings.append(
            f"{display.names(fuzzy)}: no command proves {them} and evaluator.type is "
            "deterministic, so only an approval can"
        )
    misread = [c.id for c in goal.criteria if c.fuzzy and " :: " in c.text]
    if misread:
        warnings.append(
            f"{display.names(misread)}: ' :: ' is part of the text, so what follows it is no "
            f"command (flow goal amend {goal.id} --criterion '{misread[0]}: text :: command')"
        )
    bare = [c.id for c in goal.criteria if c.id in fuzzy and _is_bare_debate(c)]
    if bare and goal.evaluator_type != "deterministic":
        warnings.append(f"{display.names(bare)}: a debate without a solution has nothing to judge")
    return warnings


def denied_all_the_same(goal: Goal) -> list[str]:
    """A warning for each allowed path that a denied pattern of the goal covers."""
    if check_patterns(goal.denied_paths, "denied_paths"):
        return []  # refused elsewhere
    rules = path_rules((), goal.denied_paths)
    reasons = {path: rules.refusal(path) for path in goal.allowed_paths}
    return [
        f"constraints.allowed_paths: {display.visible(path)} stays {why}: denied beats allowed"
        for path, why in reasons.items()
        if why is not None
    ]


def as_a_shell_reads(goal: Goal) -> list[str]:
    """A warning for each pattern with a part that a shell would replace, and no gitignore does."""
    patterns = [(key, p) for key in PATTERN_KEYS for p in getattr(goal, key)]
    return [
        f"constraints.{key}: {display.visible(pattern)} covers only paths with '{part[0]}' in them:"
        " as in .gitignore, it stands for itself (write a pattern for each path)"
        for key, pattern in patterns
        if (part := _OF_A_SHELL.search(pattern))
    ]


def denied_journal(journal: str, denied: Sequence[str]) -> list[str]:
    """The warning where the goal denies the very journal that its evaluations write."""
    if check_patterns(denied, "denied_paths"):
        return []  # refused elsewhere
    why = path_rules((), denied).refusal(journal)
    if why is None:
        return []
    return [
        (
            f"{journal} is {why}, and every evaluation writes this journal, so it will be outside "
            "the paths: take the pattern out of constraints.denied_paths"
        )
    ]


def _is_bare_debate(criterion: Criterion) -> bool:
    """Whether a debate is to judge it that is given nothing to judge."""
    judgements = delegated.delegated_judgements(criterion)
    return any(isinstance(each, DelegatedDebate) and not each.solution for each in judgements)


class Rebase(NamedTuple):
    """A move of the pinned base that a person may accept."""

    goal_id: str
    old_base: str | None
    new_base: str | None
    stops_counting: tuple[str, ...]
    """Files that only the other side changed."""
    baseline: Baseline
    loaded: LoadedGoal

    @property
    def move(self) -> str:
        """From where to where, for people."""
        old, new = (base[:12] if base else "none" for base in (self.old_base, self.new_base))
        return f"{old} to {new}"

    def to_document(self) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return {
            "goal_id": self.goal_id,
            "old_base": self.old_base,
            "new_base": self.new_base,
            "stops_counting": [display.visible(path) for path in self.stops_counting],
        }


def plan_rebase(
    context: ClosingContext,
    goal_id: str,
    rebased: Callable[[Goal, Baseline], tuple[Baseline, Sequence[str]]],
    branch: str | None,
) -> Rebase:
    """The changes that moving the pin of ``goal_id`` would make; nothing is written.

    Moving it trusts the contract that names the new base, so the contract must be trusted before:
    raises :class:`PersonNeeded` for any other.
    """
    loaded = context.finished(goal_id)
    goal = loaded.goal
    refuse_closed(goal, "moving its base")
    refuse_other_branch(goal, branch)
    if goal.run_id is None or goal.base_commit is None:
        raise at_key("scope.base_commit").wrong_state(
            f"goal {goal.id} has no pinned base yet", f"flow goal activate {goal.id}"
        )
    old = context.baseline(goal, goal.run_id).baseline
    new, only_theirs = rebased(goal, old)
    refuse_untrusted(goal, "the goal's contract is", context.trusted(loaded))
    return Rebase(goal.id, old.base_commit, new.base_commit, tuple(only_theirs), new, loaded)


def do_rebase(context: ClosingContext, plan: Rebase, trust: Callable[[Goal, str], None]) -> None:
    """Write an accepted plan: the pin, the baseline, trust in the contract that names it."""
    goal = plan.loaded.goal
    run_id = goal.run_id or ""
    reason = f"base moved from {plan.move}"
    status: Any = goal.status  # not closed: plan_rebase has refused that
    context.write_baseline(goal.id, run_id, plan.baseline)
    context.ledger.move(
        goal.id,
        run_id,
        plan.loaded.seen,
        Move(
            to=status,
            reason=reason,
            artifact=Artifact(
                "contract-amended",
                {
                    "goal_id": goal.id,
                    "change": "scope.base_commit",
                    "from": plan.old_base or "none",
                    "to": plan.new_base or "none",
                    "by": context.who,
                    "stops_counting": [display.visible(p) for p in plan.stops_counting[:200]]
                    or "none",
                },
            ),
            event={
                "type": "rebased",
                "from": plan.old_base,
                "to": plan.new_base,
                "files": len(plan.stops_counting),
                "by": context.who,
            },
            scope={"base_commit": plan.new_base},
        ),
    )
    trust(goal.pinned_at(plan.new_base), "flow goal rebase")  # not what the file says meanwhile
