"""Whether an exit 0 can be attributed to tests that ran (SPEC section 10, *attributable*).

``vacuous``: a runner says itself that no test ran, or that all were skipped. ``masked``: the exit
status cannot show a failure. Both make a pass inconclusive; nothing here makes anything pass, and
a command that failed stays failed.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING
from flow.core.attribution_reading import WINDOW, Attribution, Reading
from flow.core.attribution_runners import ONE_REPORT, READERS, Summary
from flow.core.masking import masked
from flow.core.masking_programs import CANNOT_FAIL, FILTERS
from flow.core.runner_names import runner_of
from flow.core.shell import Node, base_name, commands, plain_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.core.attribution_rules import Rule

LONGEST_LINE = 500
"""Characters; a longer line is no summary."""
MOST_FILES = 16
"""Files named by a command that may be reports of its tests."""
_ASIDE = CANNOT_FAIL | FILTERS | {"cd", "test", "[", "[["}


def read_command(text: str, parse: Callable[[str], Node | None]) -> Reading:
    """Class a command by its text; one that is not understood says nothing."""
    node = parse(text)
    if node is None:
        return Reading()
    found = masked(node, parse)
    programs = [plain_words(command.words) for command in commands(node)]
    known = [_known(words) for words in programs[:200]]
    return Reading(
        found.why if found is not None else "",
        _single(node, programs),
        tuple(words for words in known if words),
        _files(known),
    )


def _known(words: Sequence[str | None]) -> tuple[str, ...]:
    found = []
    for word in words[:100]:
        if word is None:
            break
        found.append(word[:1000])
    return tuple(found)


def _files(programs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for words in programs:
        for word in words:
            name = word.rpartition("=")[2].rpartition(":")[2]
            if name.endswith((".xml", ".json")) and "\0" not in name and len(name) < 500:
                found[name] = None
    return tuple(found)[:MOST_FILES]


def _single(node: Node, programs: Sequence[tuple[str | None, ...]]) -> str:
    """The runner that a command starts once, with nothing beside it that could start another."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.kind in ("for", "while", "until", "function", "unknown"):
            return ""
        waiting.extend(part.parts)
    others = [w for w in programs if not w or w[0] is None or base_name(w[0]) not in _ASIDE]
    return runner_of(others[0]) if len(others) == 1 else ""


def lines_of(data: bytes) -> list[str]:
    """The lines at the end of an output, without escapes; of a line rewritten in place the last."""
    text = plain(data[-WINDOW:].decode("utf-8", "replace"))
    lines = []
    for line in text.split("\n"):
        shown = line.rstrip("\r").rpartition("\r")[2].rstrip()
        lines.append(shown if len(shown) <= LONGEST_LINE else "")
    return lines


def plain(text: str) -> str:
    """``text`` without terminal escapes, in one pass."""
    first, *parts = text.split("\x1b")
    return first + "".join(map(_after_escape, parts))


def _after_escape(part: str) -> str:
    """What follows one escape sequence; ``part`` begins behind its ESC."""
    if part[:1] == "[":
        for index in range(1, min(len(part), 64)):
            if "@" <= part[index] <= "~":
                return part[index + 1 :]
        return part[1:]
    if part[:1] == "]":  # up to BEL; the other end is the next ESC, which begins a part
        bell = part.find("\x07", 0, 4096)
        return part[bell + 1 :] if bell >= 0 else ""
    return part[1:]


def summaries(lines: Sequence[str]) -> list[Summary]:
    """Every runner's reports in an output."""
    return [summary for reader in READERS for summary in reader(lines)]


def vacuous(
    reading: Reading,
    lines: Sequence[str],
    *,
    whole: bool,
    reports: Sequence[tuple[str, Summary]] = (),
    rules: Sequence[Rule] = (),
) -> Attribution | None:
    """Why an exit 0 stands for no test at all; None where tests ran, or nobody says how many.

    ``whole`` says that ``lines`` are all the output: only then do several reports say together that
    nothing ran, since one that is out of sight may say otherwise. ``reports`` are (path, content)
    of files that this run has written.
    """
    ruled = _by_rules(reading, lines, rules)
    if ruled is not None:
        return ruled
    found = [("output", summary) for summary in summaries(lines)]
    name = {"py.test": "pytest"}.get(reading.single, reading.single)
    if name in ONE_REPORT:
        found = [entry for entry in found if entry[1].runner == name][-1:]
    elif not whole:
        found = []
    found += reports
    if not found or any(summary.ran for _, summary in found):
        return None
    source, last = found[-1]
    skipped = sum(summary.skipped for _, summary in found)
    said = f" ({last.said})" if last.said else ""
    where = "" if source == "output" else f" in {source}"
    what = "every test was skipped or left out" if skipped else "no test ran"
    why = f"{last.runner} reports{where} that {what}{said}"
    return Attribution("vacuous", why, last.runner, 0, skipped, source)


def _by_rules(reading: Reading, lines: Sequence[str], rules: Sequence[Rule]) -> Attribution | None:
    from flow.core.attribution_rules import applies, says_nothing_ran

    for rule in rules:
        if applies(rule, reading.commands):
            said = says_nothing_ran(rule, lines)
            if said is not None:
                why = f"{rule.name} reports that no test ran ({said[:100]})"
                return Attribution("vacuous", why, rule.name, 0, None, "runners.yaml")
    return None
