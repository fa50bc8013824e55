"""``flow evidence verify`` and ``flow gc``: the state of the record, the dropped outputs."""

from __future__ import annotations

from flow.core.text.display import counted, visible
from flow.errors import more_than
from flow.render.screen import Column, Screen, Styled, lines_of, mark_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def verified(document: Mapping[str, Any], screen: Screen) -> list[str]:
    """A line for each run, its findings below it."""
    runs, findings = document["runs"], document["findings"]
    if not runs and not findings:
        return ["there is no run yet"]
    lines: list[str] = []
    for run in runs:
        lines += _run(run, screen)
    lines += [_finding(finding, screen) for finding in findings]
    broken = sum(bool(run["findings"]) for run in runs)
    total = f"{broken} of {len(runs)} runs broken" if broken else f"{len(runs)} runs intact"
    return lines_of(lines, [total] if len(runs) > 1 else [])


def _run(run: Mapping[str, Any], screen: Screen) -> list[str]:
    bad = bool(run["findings"])
    meaning, word = ("failed", "broken") if bad else ("proved", "intact")
    entries = run["entries"]
    head = str(run["head"] or "none yet")
    if screen.columns is not None and run["head"]:  # `flow evidence head` has all of it
        number, _, digest = head.partition(":")
        head = f"{number}:{digest[:12]}"
    count = f"{entries} entr{'y' if entries == 1 else 'ies'}, head {head}"
    first = f"{screen.mark(meaning)} {screen.paint(meaning, word)}  {visible(run['run_id'])}"
    lines = [f"{first}  {screen.paint('dim', count)}" if entries else first]
    lines += [_finding(finding, screen) for finding in run["findings"]]
    lines += [f"  {more}" for more in more_than(run["more"], "", 0)]
    return lines + [f"  {screen.paint('dim', f'note: {visible(note)}')}" for note in run["notes"]]


def _finding(finding: Mapping[str, Any], screen: Screen) -> str:
    kind = screen.paint("failed", finding["kind"].replace("_", " "))
    return f"  {kind}: {visible(finding['file'])}: {visible(finding['message'])}"


def collected(document: Mapping[str, Any], screen: Screen, next_step: str) -> list[str]:
    """The outputs that ``flow gc`` dropped, or would drop; ``next_step`` is the command for it."""
    return _collected(document, screen, next_step, "outputs", ("drop", "dropped"))


def archived(document: Mapping[str, Any], screen: Screen, next_step: str) -> list[str]:
    """The runs that ``flow gc --archive`` archived, or would archive, as in :func:`collected`."""
    return _collected(document, screen, next_step, "files", ("archive", "archived"))


def _collected(
    document: Mapping[str, Any], screen: Screen, next_step: str, what: str, verbs: tuple[str, str]
) -> list[str]:
    """A line for each run. ``what`` names the counted things; ``verbs``: to be done, and done."""
    if not document["runs"]:
        return [f"nothing to {verbs[0]}"]
    would, noun = document["dry_run"], what.removesuffix("s")
    rows: list[list[str | Styled]] = [
        [
            mark_of("unasked" if would else "proved"),
            visible(run["run_id"]),
            counted(run[what], noun),
            size(run["bytes"]),
            Styled(visible(run["why"]), "dim"),
        ]
        for run in document["runs"]
    ]
    columns = (Column(), Column(), Column(right=True), Column(right=True), Column(cut=True))
    total = f"{counted(document[what], noun)}, {size(document['bytes'])}"
    return lines_of(
        screen.table(columns, rows),
        [
            f"{f'would {verbs[0]}' if would else verbs[1]} {total} in all",
            *([screen.labelled("next", next_step, "person")] if would else []),
        ],
    )


def size(count: int) -> str:
    """A number of bytes for people."""
    number = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024 or (unit == "MiB" and number < 10240):
            return f"{count} bytes" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
