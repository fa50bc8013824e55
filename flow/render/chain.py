"""``flow evidence verify`` and ``flow gc`` for a terminal."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Paint = Callable[[str, str], str]


def verified(document: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    """A line for each run, its findings below it."""
    for run in document["runs"]:
        bad = bool(run["findings"])
        mark = paint("failed", "broken") if bad else paint("proved", "intact")
        head = run["head"] or "no entry yet"
        entries = run["entries"]
        count = f", {entries} entr{'y' if entries == 1 else 'ies'}, head {head}" if entries else ""
        yield f"{mark}  {visible(run['run_id'])}{count}"
        for finding in run["findings"]:
            yield _finding(finding, paint)
        if run["more"]:
            yield f"  and {run['more']} more"
        for note in run["notes"]:
            yield f"  note: {visible(note)}"
    for finding in document["findings"]:
        yield _finding(finding, paint)
    if not document["runs"] and not document["findings"]:
        yield "there is no run yet"


def _finding(finding: Mapping[str, Any], paint: Paint) -> str:
    kind = finding["kind"].replace("_", " ")
    return f"  {paint('bad', kind)}: {visible(finding['file'])}: {visible(finding['message'])}"


def collected(document: Mapping[str, Any]) -> Iterator[str]:
    """The outputs that ``flow gc`` dropped, or would drop."""
    verb = "would drop" if document["dry_run"] else "dropped"
    for run in document["runs"]:
        yield (
            f"{verb} {run['outputs']} output{'' if run['outputs'] == 1 else 's'} "
            f"({size(run['bytes'])}) of {visible(run['run_id'])}: {visible(run['why'])}"
        )
    total = document["outputs"]
    if not document["runs"]:
        yield "nothing to drop"
        return
    yield f"{verb} {total} output{'' if total == 1 else 's'}, {size(document['bytes'])} in all"


def size(count: int) -> str:
    """A number of bytes for people."""
    number = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024 or (unit == "MiB" and number < 10240):
            return f"{count} bytes" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
