"""Edits of a goal's text, and the checks before them (SPEC 2)."""

from __future__ import annotations

from flow.adapters.contracts import formats
from flow.adapters.contracts.text import DELETE, one_line
from flow.adapters.ledger.reader import parse_goal
from flow.core.goal.lifecycle import STATUSES
from flow.core.goal.model import RESULT_FIELDS, contract
from flow.core.stop.turns import with_turn
from flow.errors import ContractError, StateError, in_file
from flow.startup.json import object_of, text_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.ports import CriterionUpdate
    from flow.core.goal.loaded import ExpectedState, LoadedGoal
    from flow.core.goal.model import Goal
    from flow.core.stop.turns import RecordedTurn

    Edit = tuple[tuple[str | int, ...], Any]


def compare(loaded: LoadedGoal, seen: ExpectedState | None) -> None:
    """Raise :class:`StateError` (``moved``) if the goal differs from the caller's view of it."""
    if seen is None:
        return
    goal = loaded.goal
    for name, key, now, then in (
        ("status", "lifecycle.status", goal.status, seen.status),
        ("contract", None, loaded.contract, seen.contract),
        (
            "turns_evaluated",
            "lifecycle.turns_evaluated",
            goal.turns_evaluated,
            seen.turns_evaluated,
        ),
    ):
        if then is not None and now != then:
            raise in_file(loaded.file, key, now).wrong_state(
                f"the {name} of goal {goal.id} is {_short(now)}, not {_short(then)} any more",
                "somebody else wrote to it; read it again and repeat the command",
                code="moved",
            )


def edited(
    data: bytes,
    loaded: LoadedGoal,
    to: str,
    edits: Sequence[Edit],
    scope: Mapping[str, Any],
    cache_dir: str | None = None,
) -> str:
    """The goal's text with the edits, read again to check that nothing else changed.

    ``cache_dir`` is the folder in which the next process finds the parsed text.
    """
    document = loaded.goal.document
    newest: dict[tuple[str | int, ...], Any] = dict(edits)
    newest.update({("scope", key): value for key, value in scope.items()})
    whole = [path for path in newest if len(path) == 1]  # a block that is replaced
    every = [(p, v) for p, v in newest.items() if p in whole or p[:1] not in whole]
    needed = [(path, value) for path, value in every if _at(document, path) != (value,)]
    new = formats.edit(data.decode("utf-8"), needed, file=loaded.file, document=document)
    after, _ = parse_goal(
        new.encode("utf-8"), loaded.file, expect_id=loaded.goal.id, cache_dir=cache_dir
    )
    wanted = contract(document)
    wanted["scope"].update({key: value for key, value in scope.items() if key != "run_id"})
    if contract(after.document) != wanted or after.status != to:
        raise in_file(loaded.file).wrong_state(
            "it cannot be edited without changing more than its status and results",
            "write its lifecycle and criteria as plain YAML blocks, then try again",
            code="not_editable",
        )
    return new


def carried(
    current: Goal, text: str, file: str, anew: Sequence[str] = (), run_id: str | None = None
) -> tuple[str, Goal]:
    """A goal's new text with Flow's own fields carried over, and the goal in it.

    Lifecycle, run, pinned base and ``created_at`` are the current goal's. So are its criteria's
    results, except those in ``anew``, which start again as pending. Comments and order stay the
    text's. Messages call the text ``file``; ``run_id`` is the run of a goal that has none yet.
    """
    new, _ = parse_goal(text.encode("utf-8", "surrogateescape"), file)
    edits: list[Edit] = [(("lifecycle",), current.document["lifecycle"])]
    scope = {**current.document["scope"], **({"run_id": run_id} if run_id else {})}
    edits += _result_edits(("scope",), ("run_id", "base_commit"), scope, new.document["scope"])
    edits.append((("metadata", "created_at"), current.created_at))
    for place, criterion in enumerate(new.criteria):
        before = current.criterion(criterion.id)
        unchanged = before is not None and criterion.id not in anew
        results = before.document if before and unchanged else {"status": "pending"}
        where = ("objective", "acceptance_criteria", place)
        edits += _result_edits(where, RESULT_FIELDS, results, criterion.document)
    final = formats.edit(text, edits, file=file)
    return final, parse_goal(final.encode("utf-8"), file)[0]


def _result_edits(
    place: tuple[str | int, ...],
    keys: Sequence[str],
    old: Mapping[str, Any],
    new: Mapping[str, Any],
) -> list[Edit]:
    """The edits that give ``new``, which is at ``place``, these keys' values of ``old``."""
    edits: list[Edit] = [((*place, key), old[key]) for key in keys if key in old]
    gone = [key for key in keys if key in new and key not in old]
    return edits + [((*place, key), DELETE) for key in gone]


def turn_edits(goal: Goal, recorded: RecordedTurn | None) -> list[Edit]:
    """The edits that write the results of the newest turn, if the goal's file has an older one."""
    if recorded is None or recorded.turn <= goal.turns_evaluated:
        return []
    edits: list[Edit] = [(("lifecycle", "turns_evaluated"), recorded.turn)]
    if recorded.last_evaluation is not None:
        edits.append((("lifecycle", "last_evaluation"), recorded.last_evaluation))
    for place, criterion in enumerate(with_turn(goal, recorded).criteria):
        if criterion != goal.criteria[place]:
            where = ("objective", "acceptance_criteria", place)
            keys = ("evidence_ref", "last_evaluated_at", "last_result")
            edits += [((*where, key), getattr(criterion, key)) for key in keys]
    return edits


def criterion_edits(goal: Goal, updates: Sequence[CriterionUpdate]) -> list[Edit]:
    """The edits of the criteria's result fields; None leaves a field unchanged."""
    index = {criterion.id: i for i, criterion in enumerate(goal.criteria)}
    edits: list[Edit] = []
    for update in updates:
        if update.id not in index:
            raise StateError(
                f"goal {goal.id} has no criterion {update.id} any more",
                code="moved",
                value=update.id,
            )
        place = ("objective", "acceptance_criteria", index[update.id])
        for key, value in update._asdict().items():
            if key != "id" and value is not None:
                edits.append(((*place, key), value))
    return edits


def check_given(lifecycle: Mapping[str, Any], *, merge: bool, file: str) -> None:
    """Refuse an empty lifecycle block, and one without a status that replaces the old one."""
    if not isinstance(lifecycle, dict) or not lifecycle:
        raise _bad_block(file, "is not a mapping of lifecycle fields", None, None)
    if not merge and "status" not in lifecycle:
        raise _bad_block(file, "is missing", "status", None)
    status = lifecycle.get("status")
    if "status" in lifecycle and status not in STATUSES:
        message = f"{one_line(status)} is not one of {', '.join(STATUSES)}"
        raise _bad_block(file, message, "status", status)


def check_block(goal: Goal, block: Mapping[str, Any], file: str) -> None:
    """Check the block as part of the goal; faults name its file."""
    try:
        formats.check("goal", {**goal.document, "lifecycle": dict(block)}, file=file)
    except ContractError as error:
        own = [fault for fault in error.faults if (fault.key or "").startswith("lifecycle")]
        raise ContractError(own or error.faults) from None


def block_reason(lifecycle: Mapping[str, Any]) -> str | None:
    """The reason in the given block."""
    reason = object_of(lifecycle.get("last_evaluation")).get("reason")
    return text_of(reason) or None


def block_result(block: Mapping[str, Any], to: str) -> str:
    """``result`` in the ``last_evaluation`` vocabulary (SPEC 1, decision journal)."""
    result = object_of(block.get("last_evaluation")).get("result")
    by_status = {
        "achieved": "pass",
        "failed": "fail",
        "blocked": "blocked",
        "waiting_for_user": "needs_human_review",
    }
    return str(by_status.get(to) or result or "incomplete")


def _at(document: Any, path: Sequence[str | int]) -> tuple[Any] | None:
    """The document's value at ``path``, in a tuple; None if there is none."""
    value = document
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return (value,)


def _short(value: object) -> str:
    text = str(value)
    return text[:12] if len(text) == 64 else text


def _bad_block(file: str, fault: str, key: str | None, value: object) -> ContractError:
    remedy = "write a mapping like: status: active"
    return in_file(file, key, value).corrupt(fault, remedy)
