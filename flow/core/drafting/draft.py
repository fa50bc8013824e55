"""New goals as documents: from a command line's values, or from an older goal."""

from __future__ import annotations

from flow.core.drafting.completing import HEAD
from flow.core.drafting.criteria import SHAPE, numbered, parse_criterion
from flow.core.drafting.defaults import GoalDefaults
from flow.core.goal.ids import goal_id
from flow.core.goal.model import RESULT_FIELDS, without_results
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.drafting.completing import Edit, OwnFields

NO_DEFAULTS = GoalDefaults()
EVIDENCE_SHAPE = "write 'AC2: docs/**', with the id of a --fuzzy criterion"
COLLECT_SHAPE = "write 'AC2: command', with the id of a --fuzzy criterion"


class CreateRequest(NamedTuple):
    """The values of ``flow goal create``'s command line."""

    outcome: str | None = None
    criteria: tuple[str, ...] = ()
    fuzzy: tuple[str, ...] = ()
    more: tuple[Mapping[str, Any], ...] = ()
    """Criteria in the form of a goal file, added after the others; one without an id gets one."""
    evidence: tuple[str, ...] = ()
    """``ID: pattern`` for the files that a fuzzy criterion depends on."""
    evidence_commands: tuple[str, ...] = ()
    """``ID: command`` for the command on whose output it depends."""
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Goals that must be achieved first."""
    issue: int | None = None


def new_document(
    name: str,
    request: CreateRequest,
    *,
    here: OwnFields,
    author: str,
    old: Mapping[str, Any] | None = None,
    defaults: GoalDefaults = NO_DEFAULTS,
) -> dict[str, Any]:
    """A draft goal document, based on the goal ``old`` if there is one (``--from``).

    ``defaults`` are added later; here their ids are taken, and a fuzzy one makes the goal hybrid.
    """
    criteria = _criteria(request, defaults.ids)
    base = _copied(old) if old is not None else {}
    scope: dict[str, Any] = {**base.get("scope", {}), **here.scope}
    if request.issue is not None:
        if scope.get("journal", "").endswith(f"/issue-{scope.get('issue')}.md"):
            del scope["journal"]  # the other issue's
        scope["issue"] = request.issue
    fuzzy = defaults.fuzzy or any("verification_command" not in c for c in criteria)
    constraints = _constraints(base.get("constraints", {}), request)
    document = {
        **HEAD,
        "metadata": {"id": name, "created_at": here.created_at, "created_by": author},
        "scope": scope,
        "objective": _objective(base.get("objective", {}), criteria, request.outcome),
        "specification": base.get("specification"),
        "constraints": constraints or None,
        "evaluator": base.get("evaluator") or {"type": "hybrid" if fuzzy else "deterministic"},
        "continuation": _continuation(base.get("continuation"), request),
        "lifecycle": {"status": "draft", "turns_evaluated": 0},
    }
    return {key: value for key, value in document.items() if value is not None}


def _objective(
    old: Mapping[str, Any], criteria: list[dict[str, Any]], outcome: str | None
) -> dict[str, Any]:
    objective = dict(old)
    if outcome is not None:
        objective["outcome"] = outcome
    if criteria:
        objective["acceptance_criteria"] = criteria
    if "outcome" not in objective or not objective.get("acceptance_criteria"):
        raise at_key("--outcome, --criterion").invalid(
            "a goal needs an outcome and at least one criterion",
            f"--outcome TEXT --criterion '{SHAPE[7:-1]}', or --file F, or --from OLD",
        )
    return objective


def _constraints(old: Mapping[str, Any], request: CreateRequest) -> dict[str, Any]:
    constraints = dict(old)
    if request.allow:
        constraints["allowed_paths"] = list(request.allow)
    for key, more in (("denied_paths", request.deny), ("protected_paths", request.protect)):
        if more:  # the old goal's stay
            constraints[key] = list(dict.fromkeys((*(constraints.get(key) or ()), *more)))
    return constraints


def _continuation(
    old: Mapping[str, Any] | None, request: CreateRequest
) -> Mapping[str, Any] | None:
    if not request.after:
        return old
    return {**(old or {}), "after": [goal_id(name) for name in dict.fromkeys(request.after)]}


def _criteria(request: CreateRequest, taken: Sequence[str]) -> list[dict[str, Any]]:
    criteria = [parse_criterion(text, fuzzy=False) for text in request.criteria]
    criteria += [parse_criterion(text, fuzzy=True) for text in request.fuzzy]
    criteria = numbered([*criteria, *request.more], taken)
    known = {c["id"]: c for c in criteria if "verification_command" not in c}
    for text in request.evidence:
        criterion, pattern = _evidence_of(text, known, "--evidence", EVIDENCE_SHAPE)
        criterion.setdefault("evidence_paths", []).append(pattern)
    for text in request.evidence_commands:
        criterion, command = _evidence_of(text, known, "--evidence-command", COLLECT_SHAPE)
        if "evidence_command" in criterion:
            raise at_key("--evidence-command", text).invalid(
                f"{criterion['id']} has two evidence commands",
                "join them with '&&', or put them into a script",
            )
        criterion["evidence_command"] = command
    return criteria


def _evidence_of(
    text: str, known: Mapping[str, dict[str, Any]], key: str, shape: str
) -> tuple[dict[str, Any], str]:
    """The criterion that ``text`` names, and the text after the colon."""
    name, _, rest = text.partition(":")
    criterion, rest = known.get(name.strip()), rest.strip()
    if criterion is None or not rest:
        raise at_key(key, text).invalid(
            f"{text!r:.100} names no --fuzzy criterion and what it rests on", shape
        )
    return criterion, rest


def _copied(old: Mapping[str, Any]) -> dict[str, Any]:
    """The old contract without its results, its run and its pinned base."""
    copy = {key: value for key, value in old.items() if key not in ("metadata", "lifecycle")}
    copy["scope"] = {
        key: value for key, value in old["scope"].items() if key not in ("run_id", "base_commit")
    }
    objective = dict(old["objective"])
    objective["acceptance_criteria"] = [
        {**without_results(criterion), "status": "pending"}
        for criterion in objective["acceptance_criteria"]
    ]
    objective["source"] = f"goal {old['metadata']['id']}"
    copy["objective"] = objective
    return copy


def starting_changes(
    document: Mapping[str, Any],
    *,
    status: str,
    run_id: str | None,
    base_commit: str | None,
    base: str | None = None,
) -> Sequence[Edit]:
    """The edits that turn a goal's text into that of a goal which starts as ``status``."""
    wanted = (
        ("lifecycle", "status", status),
        ("scope", "run_id", run_id),
        ("scope", "base", base),
        ("scope", "base_commit", base_commit),
    )
    return [
        ((section, key), value)
        for section, key, value in wanted
        if value is not None and document[section].get(key) != value
    ]


def starting_faults(document: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Claims that a new goal file may not make yet, as (key, value, reason)."""
    claims: list[tuple[str, Any, str]] = []
    lifecycle = document["lifecycle"]
    if lifecycle["status"] not in ("draft", "active"):
        why = "a new goal starts as draft or active"
        claims.append(("lifecycle.status", lifecycle["status"], why))
    for key, why in (
        ("turns_evaluated", "a new goal has no turns yet"),
        ("last_evaluation", "a new goal has not been evaluated"),
    ):
        claims.append((f"lifecycle.{key}", lifecycle.get(key), why))
    why = "a new goal's criteria are pending and have no evidence"
    for place, criterion in enumerate(document["objective"]["acceptance_criteria"]):
        for key in RESULT_FIELDS:
            value = criterion.get(key)
            if (key, value) != ("status", "pending"):
                claims.append((f"objective.acceptance_criteria[{place}].{key}", value, why))
    return [claim for claim in claims if claim[1]]
