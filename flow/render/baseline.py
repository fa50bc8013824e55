"""The output of ``flow goal baseline``. Pure."""

from __future__ import annotations

from flow.errors import PATHS, more_than
from flow.render.text import field, show, table
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.render.text import Document, Paint

_MEANING = {
    True: "non_discriminating: green before the change",
    False: "red first: it can tell the change",
    None: "nothing",
}


def baseline(document: Document, paint: Paint) -> list[str]:
    """A row for each command, and what its result means."""
    lines = [f"goal {show(document['goal_id'])} on its base {document['base_commit'][:12]}"]
    rows = [("id", "on the base", "result", "says")]
    for row in document["criteria"][:PATHS]:
        meaning = _MEANING[row.get("non_discriminating")]
        cached = f" (as at {show(row['at'])})" if row["cached"] else ""
        rows.append(
            (show(row["criterion_id"]), show(row["outcome"]), show(row["result"]), meaning + cached)
        )
    if len(rows) == 1:
        return [*lines, "  no criterion has a command", field("next", show(document["next"]))]
    every = f"flow goal baseline {show(document['goal_id'])} --json"
    lines += ["", *table(rows, paint), *more_than(len(document["criteria"]), every), ""]
    lines.append(field("evidence", f".flow/runs/{show(document['run_id'])}/evidence/"))
    lines.append(field("next", show(document["next"])))
    return lines
