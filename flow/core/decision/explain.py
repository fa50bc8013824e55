"""The words of a verdict: its reason, and the next step. Pure text from values."""

from __future__ import annotations

from flow.core.decision.decide import (
    CONFIDENCE_BAR,
    Candidate,
    Decision,
    NoOpinion,
    Opinion,
)
from flow.core.decision.verdict import HINT_LIMIT, REASON_LIMIT, CriterionResult
from flow.core.goal.model import JUDGED, NOT_PROVED, OUTSIDE_PATHS, PROTECTED_CHANGED
from flow.core.text.display import clip, joined, names, some_names, visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.boundary.rules import BoundaryReport


NO_TIME = "not reached in the time that was left"
"""Reason for a criterion whose command did not end, or start, in the caller's time."""

NO_ANSWER = " gave no usable answer"
"""Behind a judge's name, in a reason that ends with why."""

NAMED_JUDGE = " --judge-backend claude"
"""Options added to an evaluation's command line if a judge could answer and none is set up."""

FUZZY = "no command proves it"
"""Reason for a fuzzy criterion that is neither judged nor approved."""

_NOT_NOW = "not run this time: "
_MOST_ROWS = 8
"""Criteria of each kind that a reason lists with their own reasons, at most."""
_BY_COMMANDS = "required criteria passed by their commands"
_BY_WORD = "proved by approval or judge"
LOOP_LIMITS = ("stuck_no_progress", "budget_exhausted")
"""The words before the sentence about a limit of the Stop hook, as files and ``--json`` have it."""
_BARE = "commands and boundary show "
"""The words of a reason that has nothing else to say."""
_OUTSIDE = " outside the goal's paths"
"""The text after a violation's paths, as files and ``--json`` have it."""


class VerdictGrounds(NamedTuple):
    """Values from which the words of a verdict are made."""

    decision: Decision
    needed: Sequence[CriterionResult]
    """Results of the required criteria."""
    boundary: BoundaryReport
    judge: Opinion | NoOpinion | None


def reason(grounds: VerdictGrounds, candidate: Candidate, remarks: Sequence[str] = ()) -> str:
    """The verdict's reason. ``remarks`` go first: they override everything else."""
    decision, needed, boundary, judge = grounds
    parts = [
        *remarks,
        *_boundary_parts(decision, boundary),
        *_criterion_parts(needed),
        *([f"{JUDGED}{said}"] if judge is not None and (said := _judge_words(judge)) else []),
    ]
    if decision.verdict == "achieved":
        parts += _achieved_parts(needed)
    return clip("; ".join(parts) or _left_out(needed) or f"{_BARE}{candidate}", REASON_LIMIT)


def _judge_words(judge: Opinion | NoOpinion) -> str:
    """A judge's reason; first, if it is not sure enough, that this is why a person decides."""
    unsure = ""
    if isinstance(judge, Opinion) and judge.unsure:
        from flow.core.text.numbers import beside  # fractions: rarely needed

        figure = beside(judge.confidence, CONFIDENCE_BAR)
        unsure = f"achieved, but its confidence {figure} is below {CONFIDENCE_BAR}"
    return "; ".join(filter(None, (unsure, visible(judge.reason))))


def _left_out(needed: Sequence[CriterionResult]) -> str:
    """The required criteria that did not run this time; their earlier results do not count."""
    left = [r.criterion_id for r in needed if r.outcome == "not_run" and not r.reason]
    return f"{_NOT_NOW}{names(left)}" if left else ""


def in_words(reason: str) -> str:
    """A verdict's ``reason`` in the words for people."""
    return "; ".join(map(_part_in_words, reason.split("; ")))


def _part_in_words(part: str) -> str:
    for limit in LOOP_LIMITS:
        part = part.removeprefix(f"{limit}: ")
    if not part.startswith(OUTSIDE_PATHS):
        return part
    return f"outside its paths: {part.removeprefix(OUTSIDE_PATHS).removesuffix(_OUTSIDE)}"


def only_counts(reason: str) -> bool:
    """Whether an achieved verdict's reason only counts criteria, which their list shows as well."""
    return all(part.endswith((_BY_COMMANDS, _BY_WORD)) for part in reason.split("; "))


def _achieved_parts(needed: Sequence[CriterionResult]) -> list[str]:
    passed = sum(1 for result in needed if result.outcome == "passed")
    parts = [f"{passed} of {len(needed)} {_BY_COMMANDS}"]
    if passed < len(needed):
        parts.append(f"{len(needed) - passed} {_BY_WORD}")
    return parts


def beside_rows(
    reason: str, needed: Sequence[CriterionResult], violations: Sequence[str] = ()
) -> str:
    """A verdict's ``reason`` without the parts that its rows and its list of paths show already.

    Only the text that :func:`reason` wrote about exactly these is left out; any other text stays.
    """
    outside = f"{OUTSIDE_PATHS}{names(violations)}{_OUTSIDE}"
    for part in (*_criterion_parts(needed), *_achieved_parts(needed), outside):
        reason = f"; {reason}; ".replace(f"; {part}; ", "; ", 1)[2:-2]
    alone = reason.removeprefix(_BARE)
    if reason == _left_out(needed) or (alone != reason and " " not in alone):
        return ""
    return reason


def _boundary_parts(decision: Decision, boundary: BoundaryReport) -> list[str]:
    parts = []
    review = decision.verdict == "needs_human_review"
    if boundary.violations:  # the blocker type may be a judge's
        outside = names([violation.path for violation in boundary.violations])
        parts.append(f"{OUTSIDE_PATHS}{outside}{_OUTSIDE}")
    if boundary.status == "inconclusive":
        parts.append(f"the path boundary could not be checked: {names(boundary.problems, 3)}")
    if boundary.guards_changed and review:
        parts.append(f"changed since activation: {names(boundary.guards_changed)}")
    if boundary.protected_changed and review:
        changed = names(boundary.protected_changed)
        parts.append(f"{PROTECTED_CHANGED} since activation: {changed}")
    return parts


def _criterion_parts(needed: Sequence[CriterionResult]) -> list[str]:
    stale = [result for result in needed if _is_stale(result)]
    fuzzy = [result for result in needed if result.reason == FUZZY]
    idle = [r for r in needed if r.outcome == "not_run" and not_shown(r) and r not in fuzzy]
    judged = [result for result in idle if result.reason.startswith(JUDGED)]
    groups = (
        ("failed", [r for r in needed if r.outcome == "failed" and r not in stale]),
        ("inconclusive", [r for r in needed if r.outcome == "inconclusive"]),
        ("not run", [r for r in idle if r not in judged]),
        (NOT_PROVED, judged),
    )
    parts = [f"{label}: {_each_row(rows)}" for label, rows in groups if rows]
    if stale:
        moved = names([r.criterion_id for r in stale])
        parts.append(f"measured on files that moved meanwhile: {moved}")
    if fuzzy:
        parts.append(f"no command can prove: {names([r.criterion_id for r in fuzzy])}")
    return parts


def not_shown(result: CriterionResult) -> bool:
    """Whether it does not pass now; its status stays where its command was not reached."""
    return result.status != "pass" or result.reason == NO_TIME


def _each_row(rows: Sequence[CriterionResult]) -> str:
    shown = [visible(f"{row.criterion_id} ({_row_reason(row)})") for row in rows[:_MOST_ROWS]]
    return joined(shown, len(rows))


def _row_reason(row: CriterionResult) -> str:
    if row.reason:
        return row.reason
    return row.outcome if row.exit_code is None else f"exit {row.exit_code}"


def _is_stale(result: CriterionResult) -> bool:
    return result.outcome in ("passed", "failed") and result.status == "evidence_collected"


def hint(
    grounds: VerdictGrounds,
    goal_id: str,
    evaluator_type: str,
    *,
    may_propose: bool = True,
    trust_first: str = "",
    first: str = "",
) -> str:
    """The next step, as a command if there is one.

    A judge's hint is quoted, never given as Flow's instruction. ``may_propose``: this evaluation
    may make a proposal. ``trust_first``: the text that a person reads first, if trust in it is the
    next step. ``first`` is the earlier step if another goal comes first.
    """
    decision, needed, boundary, judge = grounds
    judge_hint = judge.next_step_hint if isinstance(judge, Opinion) else ""
    quoted = f'judge: "{visible(judge_hint)}"' if judge_hint else ""
    if trust_first:
        text = f"a person reads {trust_first}, then: flow trust record {goal_id}"
    elif decision.proposed and may_propose:
        text = f"a person confirms: flow goal confirm {goal_id}"
    elif decision.proposed:
        text = f"let everything be evaluated: flow goal evaluate {goal_id}"
    elif boundary.violations:
        text = outside_hint(goal_id, boundary)
    elif boundary.status == "inconclusive":
        text = f"make git answer ({names(boundary.problems, 1)}), then flow goal evaluate {goal_id}"
    elif first:
        text = first
    elif decision.verdict == "needs_human_review":
        line = _persons_line(grounds, goal_id, evaluator_type)
        text = "; ".join(part for part in (line, quoted) if part)
    elif quoted:
        text = quoted
    else:
        open_ones = [r for r in needed if r.status != "pass"]
        failed = [r for r in open_ones if r.outcome == "failed" or r.status == "fail"]
        tried = [r for r in open_ones if r.outcome != "not_run" or r.reason.startswith(JUDGED)]
        shown = some_names([r.criterion_id for r in failed or tried], 5)
        text = f"{f'work on {shown}, then: ' if shown else ''}flow goal evaluate {goal_id}"
        if open_ones and all(map(_is_stale, open_ones)):
            text = "let neither the commands nor anything else change files while they run: "
            text += f"flow goal evaluate {goal_id}"
    return clip(text, HINT_LIMIT)


def outside_hint(goal_id: str, boundary: BoundaryReport) -> str:
    """The files to remove and to put back, then the command that allows all, or a shorter one."""
    from flow.core.decision.outside import outside_advice  # most goals stay inside

    advice = outside_advice(goal_id, boundary.violations, None)
    new = [file.path for file in advice.files if file.do == "remove"]
    other = [file.path for file in advice.files if file.do == "put_back"]
    groups = (("remove", new), ("put back", other))
    steps = ", ".join(f"{verb} {names(paths, 5)}" for verb, paths in groups if paths)
    if any(file.committed for file in advice.files):
        steps += f"; or what only the base branch brought: flow goal rebase {goal_id}"
    if advice.not_opened and advice.amend:
        steps += f"; {names(advice.not_opened, 3)} cannot be allowed by a path"
    whole = ", with whole folders" if advice.folders else ""
    edit = f"flow goal amend {goal_id} --edit"
    for start, line in ((steps, advice.amend), (steps, edit), ("put them back", edit)):
        text = f"{start}; or a person allows them{whole if line != edit else ''}: {line}"
        if line and len(text) <= HINT_LIMIT:
            break
    return text


def _persons_line(grounds: VerdictGrounds, goal_id: str, evaluator_type: str) -> str:
    """The command for a person, if the evaluation needs one; else empty."""
    decision, needed, boundary, judge = grounds
    if boundary.guards_changed:
        return f"look at them, then: flow goal approve {goal_id} guards --by NAME --note TEXT"
    if boundary.protected_changed and decision.blocker_type == "missing_approval":
        shown = names(boundary.protected_changed, 5)
        return f"look at {shown}, then: flow goal approve {goal_id} protected --by NAME --note TEXT"
    line = approval_line(goal_id, needed) or f"a person looks: flow goal status {goal_id}"
    ask = ""
    if isinstance(judge, NoOpinion) and judge.remedy != "person":
        named = NAMED_JUDGE if judge.remedy == "name_judge" else ""
        ask = f"ask a judge: flow goal evaluate {goal_id}{named}"
    elif isinstance(judge, Opinion) and evaluator_type == "flow_verdict_judge":
        ask = f"to ask again: flow goal evaluate {goal_id}"
    return f"{line}; or {ask}" if ask else line


def approval_line(goal_id: str, needed: Sequence[CriterionResult]) -> str:
    """The command by which a person proves the first open fuzzy criterion; else empty.

    If a judge passed them all without enough confidence, the first of those.
    """
    rows = list(filter(needs_word, needed))
    fuzzy = [r.criterion_id for r in rows if r.status != "pass"] or [r.criterion_id for r in rows]
    if not fuzzy:
        return ""
    return f"{names(fuzzy)}: flow goal approve {goal_id} {fuzzy[0]} --by NAME --note TEXT"


def needs_word(row: CriterionResult) -> bool:
    """Whether no command proves the criterion: a judge or a person decides."""
    return row.reason == FUZZY or row.reason.startswith(JUDGED)


def for_judges(reason: str, hint: str) -> str:
    """A verdict's ``reason`` and ``hint`` as context for a later judge.

    Flow's label of a judge's words is replaced: "judge: all criteria pass" reads like an
    instruction to a judge. So does "its verdict is achieved, but AC2 does not pass": why an earlier
    judge gave no usable answer is left out, and so are commands that Flow offers to a person.
    """
    parts = reason.split("; ")
    silent = next((place for place, part in enumerate(parts) if NO_ANSWER in part), len(parts))
    reason = "; ".join(parts[:silent])
    if "flow goal " in hint:
        quote_at = hint.find(f'{JUDGED}"')
        hint = hint[quote_at:] if quote_at >= 0 else ""
    return "\n".join(text.replace(JUDGED, "opinion: ") for text in (reason, hint) if text)
