"""``flow goal evaluate --all``: every active goal of the branch, one after the other."""

from __future__ import annotations

from flow.app.goal_views import gone_goals
from flow.cli.output import Output
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flow.wiring.context import Context

SCHEMA = 1
"""The version of the JSON document's form."""


class _Collected(Output):
    """Keeps the documents of several answers for one; lines go out at once."""

    def __init__(self, out: Output) -> None:
        super().__init__(json=out.json, environ=out.environ)
        self.documents: list[Any] = []

    def result(self, document: Any, lines: Iterable[str]) -> None:
        if self.json:
            self.documents.append(document)
        else:
            super().result(document, lines)

    def error(self, error: FlowError) -> int:
        if not self.json:
            return super().error(error)
        self.documents.append({"error": error.to_dict()})
        return error.exit_code


def evaluate_all(context: Context, out: Output, evaluate: Callable[[str, Output], int]) -> int:
    """Evaluate each active goal; returns the worst exit status, which is the highest.

    A goal that cannot be read or evaluated is named, and the others are evaluated anyway. Raises
    :class:`InputError` if none is active: an exit 0 must not be taken for a result.
    """
    port = Goals(context)
    goals, broken = port.active()
    broken += gone_goals(port)
    if not goals and not broken:
        raise at_key("--all").not_found(
            "no goal of this branch is active", "flow goal list shows all goals"
        )
    collected = _Collected(out)
    codes = [collected.error(error) for error in broken]
    for place, goal in enumerate(goals):
        if place and not out.json:
            out.text("")
        try:
            codes.append(evaluate(goal.id, collected))
        except FlowError as error:
            codes.append(collected.error(error))
            if out.json:
                collected.documents[-1]["goal_id"] = goal.id
    if out.json:
        out.result({"schema": SCHEMA, "items": collected.documents}, ())
    return max(codes)
