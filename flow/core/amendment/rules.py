"""The class of a change, for each contract field: stronger, neutral, weaker, incomparable.

``FIELDS`` is the whole table; a test holds it against the schema, so that no field is without a
rule. An incomparable change, and a change of a key outside the table, needs a person like a
weakening.
"""

from __future__ import annotations

import json
from math import inf

from flow.core.amendment.trust_diff import json_line, quoted_if_misleading, without
from flow.core.boundary.glob_cover import covers
from flow.core.goal.model import MAX_ITERATIONS
from flow.core.judging.goal.delegated import LOWEST_GRADE
from flow.core.judging.scorecard.model import GRADES
from flow.startup.typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    RatedChanges = Iterator[tuple["Class", str]]
    Rule = Callable[[Any, Any], RatedChanges]
    """(old value, new value), None for an absent one → the class of each part, in words."""

Class = Literal["strengthening", "neutral", "weakening", "incomparable"]
"""The effect of a change on the goal's requirements; ``incomparable``: it cannot be ranked."""

NEED_PERSON: frozenset[Class] = frozenset(("weakening", "incomparable"))
"""The classes that need a person's yes."""

COMPARED = 100
"""Patterns whose coverage is compared; beyond that, comparing each pair would take too long."""

CRITERION = "objective.acceptance_criteria[]"
"""Prefix of a criterion's keys in the table."""


def without_effect(_old: Any, _new: Any) -> RatedChanges:
    """Rule for names, and for values that are stored and have no effect."""
    yield "neutral", "decides nothing"


def unordered(old: Any, new: Any) -> RatedChanges:
    """Rule for values without an order: wording, commands, models, places."""
    verb = "added" if old is None else "taken out" if new is None else "changed"
    yield "incomparable", verb


def written_out(value: Any) -> Rule:
    """Rule for values without an order, of which an absent one equals ``value``."""

    def rule(old: Any, new: Any) -> RatedChanges:
        if json_line(value if old is None else old) == json_line(value if new is None else new):
            yield "neutral", "the same, written out"
        else:
            yield from unordered(old, new)

    return rule


def more_is_stronger(default: float | None) -> Rule:
    """Rule for a number of which more asks for more. Without ``default``, absence has no number."""
    return _number(default, "strengthening", "weakening")


def less_is_stronger(default: float | None) -> Rule:
    """Rule for a number of which less asks for more."""
    return _number(default, "weakening", "strengthening")


def _number(default: float | None, raised: Class, lowered: Class) -> Rule:
    def rule(old: Any, new: Any) -> RatedChanges:
        before = _value(default if old is None else old)
        after = _value(default if new is None else new)
        if before is None or after is None:
            yield from unordered(old, new)
        elif before == after:
            yield "neutral", "the same number, written out"
        else:
            yield (raised, "raised") if after > before else (lowered, "lowered")

    return rule


def _value(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def flag(default: bool) -> Rule:
    """Rule for a boolean that asks for more where it is true."""

    def rule(old: Any, new: Any) -> RatedChanges:
        before = default if old is None else old
        after = default if new is None else new
        if not isinstance(before, bool) or not isinstance(after, bool):
            yield from unordered(old, new)
        elif before == after:
            yield "neutral", "the same, written out"
        else:
            word = "turned on" if after else "turned off"
            yield ("strengthening" if after else "weakening"), word

    return rule


def steps(*stronger: tuple[str | None, str | None], same: Sequence[str | None] = ()) -> Rule:
    """Rule for a word; ``stronger`` are the steps that ask for more, ``same`` the synonyms."""

    def rule(old: Any, new: Any) -> RatedChanges:
        if (old, new) in stronger:
            yield "strengthening", f"{show(old)} became {show(new)}"
        elif old in same and new in same:
            yield "neutral", "another word for the same"
        else:
            back = (new, old) in stronger
            yield ("weakening" if back else "incomparable"), f"{show(old)} became {show(new)}"

    return rule


def rows(added: Class, removed: Class) -> Rule:
    """Rule for a list of texts or rows, with the class of adding and of removing one."""

    def rule(old: Any, new: Any) -> RatedChanges:
        gone, come = without(old or [], new or []), without(new or [], old or [])
        for value in gone:
            yield removed, f"taken out: {show(value)}"
        for value in come:
            yield added, f"added: {show(value)}"
        if not gone and not come:
            yield "neutral", "in another order"

    return rule


def allowed(old: Any, new: Any) -> RatedChanges:
    """Rule for ``allowed_paths``: an empty list means every path."""
    before, after = old or [], new or []
    if not before and not after:
        yield "neutral", "every path is open, as before"
    elif not before:
        yield "strengthening", "closes every path but those that it names"
    elif not after:
        yield "weakening", "opens every path"
    else:
        yield from _patterns(
            before, after, anchored=True, opens="weakening", closes="strengthening"
        )


def closed(old: Any, new: Any) -> RatedChanges:
    """Rule for ``denied_paths`` and ``protected_paths``."""
    yield from _patterns(
        old or [], new or [], anchored=False, opens="strengthening", closes="weakening"
    )


def _patterns(
    before: Sequence[str], after: Sequence[str], *, anchored: bool, opens: Class, closes: Class
) -> RatedChanges:
    """``opens`` is the class of a pattern that covers more, ``closes`` of one that covers less."""
    gone, come = without(before, after), without(after, before)
    for pattern in gone:
        if _covered(pattern, after, anchored):
            yield "neutral", f"{show(pattern)} taken out, what it covers is still covered"
        else:
            yield closes, f"{show(pattern)} taken out"
    for pattern in come:
        if _covered(pattern, before, anchored):
            yield "neutral", f"{show(pattern)} added, what it covers was covered before"
        else:
            yield opens, f"{show(pattern)} added"
    if not gone and not come:
        yield "neutral", "in another order"


def _covered(pattern: str, others: Sequence[str], anchored: bool) -> bool:
    if len(others) > COMPARED:  # the text alone decides
        return False
    return any(covers(other, pattern, anchored=anchored) for other in others)


def sandbox(old: Any, new: Any) -> RatedChanges:
    """Rule for the sandbox: turning it on limits the commands; any other change may widen them."""
    if old in (None, False) and new not in (None, False) and not isinstance(new, dict):
        yield "strengthening", "turned on"
    elif old in (None, False) and new in (None, False):
        yield "neutral", "off, as before"
    elif new in (None, False):
        yield "weakening", "turned off"
    else:
        yield from unordered(old, new)


def grade(old: Any, new: Any) -> RatedChanges:
    """Rule for ``min_grade`` of a scorecard."""
    names = [name for name, _, _ in GRADES]
    before, after = old or LOWEST_GRADE, new or LOWEST_GRADE
    if before not in names or after not in names:
        yield from unordered(old, new)
    elif before == after:
        yield "neutral", "the same grade, written out"
    else:
        higher = names.index(after) < names.index(before)
        yield ("strengthening" if higher else "weakening"), f"{before} became {after}"


SCORECARD: Mapping[str, Rule] = {
    "skill": unordered,
    "min_grade": grade,
    "file": unordered,
    "rubric": unordered,
}
"""The rule of each key of a criterion's ``scorecard``."""

DEBATE: Mapping[str, Rule] = {
    "solution": unordered,
    "task": unordered,
    "criteria": unordered,
    "kind": written_out("code"),
    "judges": more_is_stronger(3),
    "rounds": written_out(3),  # more rounds make any agreement likelier
    "mode": written_out("debate"),  # a vote needs no agreement, a debate can talk judges over
    "min_score": more_is_stronger(1),  # no overall score is lower
}
"""The rule of each key of a criterion's ``debate``."""


def delegated(rules: Mapping[str, Rule], bare: str) -> Rule:
    """Rule for a delegated judgement, key by key; a mere text is the value of ``bare``."""

    def rule(old: Any, new: Any) -> RatedChanges:
        before, after = _keys(old, bare), _keys(new, bare)
        if before is None and after is None:
            yield "neutral", "not asked for, as before"
            return
        if before is None or after is None:
            yield from unordered(before, after)
            return
        same = True
        for key in dict.fromkeys((*before, *after)):
            ones = before.get(key), after.get(key)
            if json_line(ones[0]) != json_line(ones[1]):
                same = False
                for kind, words in rules.get(key, unordered)(*ones):
                    yield kind, f"{quoted_if_misleading(key)}: {words}"
        if same:
            yield "neutral", "the same, written out"

    return rule


def _keys(value: Any, bare: str) -> Mapping[str, Any] | None:
    """A value of ``scorecard`` or ``debate`` as a mapping; None if it asks for nothing."""
    if value is None or value is False:
        return None
    if isinstance(value, dict):
        return value
    return {bare: value} if isinstance(value, str) else {}


FIELDS: Mapping[str, Rule] = {
    "apiVersion": unordered,
    "kind": unordered,
    "metadata.id": unordered,
    "metadata.created_at": without_effect,
    "metadata.created_by": without_effect,
    "metadata.owner": without_effect,
    "scope.repo": without_effect,
    "scope.branch": unordered,
    "scope.issue": without_effect,
    "scope.pr": without_effect,
    "scope.journal": unordered,  # a file there is Flow's own, and so outside the boundary
    "scope.base": unordered,
    "scope.base_commit": unordered,
    "objective.outcome": unordered,
    "objective.source": without_effect,
    f"{CRITERION}.id": unordered,
    f"{CRITERION}.text": unordered,
    f"{CRITERION}.verification_command": unordered,
    f"{CRITERION}.must_pass": flag(True),
    f"{CRITERION}.timeout_seconds": less_is_stronger(None),
    f"{CRITERION}.cwd": unordered,
    f"{CRITERION}.report": unordered,
    f"{CRITERION}.serial": without_effect,  # only the time of its run, not a requirement
    # Turned off, evidence is never reused; and a pass after a failure is never doubted.
    f"{CRITERION}.hermetic": written_out(True),
    f"{CRITERION}.limitations": rows("neutral", "weakening"),
    f"{CRITERION}.rubric": unordered,
    f"{CRITERION}.scorecard": delegated(SCORECARD, "skill"),
    f"{CRITERION}.debate": delegated(DEBATE, "kind"),
    f"{CRITERION}.evidence_command": unordered,
    f"{CRITERION}.evidence_paths": unordered,
    "specification.non_goals": rows("weakening", "strengthening"),  # limits of a judge's demands
    "specification.failure_modes": rows("strengthening", "weakening"),
    "specification.interface_contracts": rows("strengthening", "weakening"),
    "specification.risk_map": rows("strengthening", "weakening"),
    "constraints.allowed_paths": allowed,
    "constraints.denied_paths": closed,
    "constraints.protected_paths": closed,
    "constraints.require_all_pass": flag(True),
    "constraints.tdd_required": flag(False),
    "constraints.no_calendar_estimates": flag(False),
    "constraints.no_tier3_without_confirmation": flag(False),
    "evaluator.type": steps(("hybrid", "deterministic"), ("hybrid", "flow_verdict_judge")),
    "evaluator.judges": more_is_stronger(None),
    "evaluator.judge_model": unordered,
    "evaluator.jobs": without_effect,
    "evaluator.repeat": more_is_stronger(1),
    "evaluator.sandbox": sandbox,
    "evaluator.baseline_link": unordered,
    "evaluator.denied_context": unordered,  # it may hide evidence against the goal, too
    "evaluator.command": without_effect,
    "evaluator.judge_agent": without_effect,
    "evaluator.evidence_bundle_format": without_effect,
    "continuation.max_iterations": less_is_stronger(MAX_ITERATIONS),
    "continuation.after": rows("strengthening", "weakening"),
    "continuation.max_seconds": less_is_stronger(inf),
    "continuation.max_cost_usd": less_is_stronger(inf),
    "continuation.mode": steps(
        ("flow_managed", "evaluator_loop"), ("flow_managed", None), same=(None, "evaluator_loop")
    ),
    "continuation.on_incomplete": without_effect,
    "continuation.on_blocked": without_effect,
    "continuation.on_complete": without_effect,
}
"""The rule of every field of a contract."""

SECTIONS: tuple[str, ...] = tuple(
    dict.fromkeys(key.partition(".")[0] for key in FIELDS if "." in key)
)
"""The parts of a contract that are mappings."""


def show(value: Any) -> str:
    """A value on one line, escaped if it could mislead."""
    if isinstance(value, str):
        return quoted_if_misleading(value)
    return (
        quoted_if_misleading(json.dumps(value, sort_keys=True)) if value is not None else "nothing"
    )
