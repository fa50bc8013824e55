"""A project's own rules for runners that Flow does not know: ``.flow/runners.yaml``.

The file comes with the checkout, so a rule can only turn a pass into inconclusive. Trust (SPEC 7)
does not cover it: nothing in it runs, sends or opens anything, and a hostile rule can only hold a
goal back, with its name in the reason. A pattern is literal text with ``*`` for any
characters: no regular expression from a checkout is run (HAZARD D52).
"""

from __future__ import annotations

from flow.core.attribution.reading import RULE_FILE
from flow.core.masked_exit.shell import base_name
from flow.errors import Fault, in_file
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    AddFault = Callable[..., None]
    """Called with message, key, remedy and, where it is shown, the value."""

MOST_RULES = 50
MOST_PATTERNS = 20
LONGEST = 200
MOST_STARS = 5
_KEYS = ("name", "command", "nothing_ran", "tests_ran", "report")


class Rule(NamedTuple):
    """A project's own rule for one runner."""

    name: str
    command: tuple[tuple[str, ...], ...]
    """Words of the runner; it is started if a program of the command has them in sequence."""
    nothing_ran: tuple[str, ...] = ()
    """Lines that say that no test ran."""
    tests_ran: tuple[str, ...] = ()
    """Lines that say that a test ran; one of them outweighs all of ``nothing_ran``."""
    report: tuple[str, ...] = ()
    """JUnit or CTRF files that it writes, relative to the command's folder."""


def applies(rule: Rule, commands: Sequence[Sequence[str]]) -> bool:
    """Whether a command starts the rule's runner."""
    for words in commands:
        named = [base_name(words[0]), *words[1:]] if words else []
        for wanted in rule.command:
            size = len(wanted)
            if any(tuple(named[i : i + size]) == wanted for i in range(len(named) - size + 1)):
                return True
    return False


def says_nothing_ran(rule: Rule, lines: Sequence[str]) -> str | None:
    """The last line that says that nothing ran; None if a line says that something did."""
    last_line = None
    for line in lines:
        text = line.strip()
        if any(matches_whole(pattern, text) for pattern in rule.tests_ran):
            return None
        if any(matches_whole(pattern, text) for pattern in rule.nothing_ran):
            last_line = text
    return last_line


def matches_whole(pattern: str, text: str) -> bool:
    """Whether ``pattern`` fits the whole of ``text``; ``*`` stands for any characters.

    The literal parts are searched from left to right, each once: the time grows at most with the
    product of both lengths.
    """
    first, *middle = pattern.split("*")
    if not middle:
        return text == first
    last = middle.pop()
    if len(text) < len(first) + len(last):
        return False
    if not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        start = text.find(part, place, end)
        if start < 0:
            return False
        place = start + len(part)
    return True


def read_rules(document: Any) -> tuple[tuple[Rule, ...], list[Fault]]:
    """The rules of a document, and all its faults."""
    faults: list[Fault] = []

    def fault(message: str, key: str, remedy: str, value: Any = None) -> None:
        faults.append(in_file(RULE_FILE, key, value).fault(message, remedy))

    runners = items_of(object_of(document).get("runners"))
    if not runners or set(document) != {"runners"}:
        fault("not a list of runners", "runners", "one key, runners, and below it a list of rules")
        return (), faults
    if len(runners) > MOST_RULES:
        fault(f"more than {MOST_RULES} rules", "runners", "keep the ones the goals need")
        return (), faults
    rules = []
    for index, entry in enumerate(runners):
        key = f"runners[{index}]"
        if not isinstance(entry, dict):
            fault("a rule must be a mapping", key, f"with the keys {', '.join(_KEYS)}")
            continue
        for name in entry:
            if name not in _KEYS:
                fault(f"{name!r:.60} is not a known key", key, f"one of {', '.join(_KEYS)}", name)
        rules.append(_read_rule(entry, key, fault))
    return tuple(rules), faults


def _read_rule(entry: Mapping[str, Any], key: str, fault: AddFault) -> Rule:
    """One rule; each of its faults is added by ``fault``."""
    name = entry.get("name")
    if not _is_text(name) or len(str(name)) > 60:
        fault(
            "a rule needs a name of at most 60 plain characters", f"{key}.name", "name the runner"
        )
        name = ""
    command = _read_texts(entry, "command", key, fault)
    if not command:
        fault(
            "nothing says which commands it is for", f"{key}.command", 'such as ["cargo nextest"]'
        )
    rule = Rule(
        str(name),
        tuple(_command_words(text) for text in command if text.split()),
        _read_patterns(entry, "nothing_ran", key, fault),
        _read_patterns(entry, "tests_ran", key, fault),
        _read_paths(entry, key, fault),
    )
    if not rule.nothing_ran and not rule.report:
        fault("it could never say anything", f"{key}.nothing_ran", "give nothing_ran, or report")
    return rule


def _command_words(text: str) -> tuple[str, ...]:
    """The words of a command, the program reduced to its base name as in :func:`applies`."""
    first, *rest = text.split()
    return (base_name(first), *rest)


def _read_texts(entry: Mapping[str, Any], name: str, key: str, fault: AddFault) -> tuple[str, ...]:
    value = entry.get(name, [])
    if not isinstance(value, list) or len(value) > MOST_PATTERNS:
        fault(f"not a list of at most {MOST_PATTERNS} texts", f"{key}.{name}", "write a list")
        return ()
    texts = []
    for index, text in enumerate(value):
        if _is_text(text):
            texts.append(text)
        else:
            place = f"{key}.{name}[{index}]"
            fault(f"not a plain text of 1 to {LONGEST} characters", place, "shorten it", text)
    return tuple(texts)


def _read_patterns(
    entry: Mapping[str, Any], name: str, key: str, fault: AddFault
) -> tuple[str, ...]:
    patterns = _read_texts(entry, name, key, fault)
    for text in patterns:
        if text.count("*") > MOST_STARS or not text.replace("*", "").strip():
            remedy = f"literal text with at most {MOST_STARS} times *"
            fault("not a pattern that says something", f"{key}.{name}", remedy, text)
    return tuple(text.strip() for text in patterns)


def _read_paths(entry: Mapping[str, Any], key: str, fault: AddFault) -> tuple[str, ...]:
    paths = _read_texts(entry, "report", key, fault)
    for text in paths:
        if text.startswith("/") or ".." in text.split("/") or "*" in text:
            fault("not a file below the top level", f"{key}.report", "name one file", text)
    return paths


def _is_text(value: Any) -> bool:
    return (
        isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()
        and bool(value.strip())
    )  # fmt: skip
