"""Suggestions for a person who drafts a goal: its name, and paths from the tree and its changes."""

from __future__ import annotations

import re

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.core.drafting.offers import Offer

NAME_WORDS = 4
_NAME_LENGTH = 40
_NOISE = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has",
        "have", "in", "is", "it", "its", "no", "not", "of", "on", "or", "so", "that", "the",
        "their", "there", "they", "this", "to", "true", "false", "none", "text", "was", "what",
        "when", "where", "which", "will", "with",
    )
)  # fmt: skip
"""Words too common to tell goals apart."""
_CODE = ("src", "lib", "app", "apps", "pkg", "cmd", "internal", "crates", "packages")
_TESTS = ("tests", "test", "spec", "specs", "__tests__")
MOST_PATHS = 6
_PLAIN = re.compile(r"[\w-][\w.-]*")
_PATH = re.compile(r"(?:(?!\.\./)[\w.-]+/)*[\w-][\w.-]*")


def suggested_name(outcome: str, taken: Iterable[str]) -> str:
    """A goal id made from the outcome, and not in ``taken``."""
    words = re.findall(r"[a-z0-9]+", outcome[:1000].lower())
    telling = [word for word in words if word not in _NOISE] or words or ["goal"]
    name = "-".join(telling[:NAME_WORDS])[:_NAME_LENGTH].strip("-")
    names = set(taken)
    numbers = (f"{name}-{number}" for number in range(2, len(names) + 3))
    return name if name not in names else next(free for free in numbers if free not in names)


def suggested_paths(tracked: Iterable[str], changed: Iterable[str]) -> tuple[str, ...]:
    """Patterns for the top-level folders of code and tests, and for paths with changes."""
    folders: dict[str, bool] = {}
    for path in tracked:
        top, slash, rest = path.partition("/")
        if slash and _PLAIN.fullmatch(top):
            folders[top] = folders.get(top, False) or rest == "__init__.py"
    code = [name for name in _CODE if name in folders]
    code += [name for name, is_package in folders.items() if is_package and name not in _TESTS]
    chosen = [f"{name}/**" for name in (*code, *(name for name in _TESTS if name in folders))]
    for path in changed:
        top, slash, _ = path.partition("/")
        if _PLAIN.fullmatch(top):
            chosen.append(f"{top}/**" if slash else top)
    return tuple(dict.fromkeys(chosen))[:MOST_PATHS]


def named_paths(commands: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Words of programs that look like paths in the tree, for which a command may wait."""
    named: dict[str, None] = {}
    for words in commands:
        for word in words[1:]:
            path = word.partition("::")[0].removeprefix("./").rstrip("/")
            if _PATH.fullmatch(path) and ("/" in path or re.search(r"\.[A-Za-z]\w*$", path)):
                named[path] = None
    return tuple(named)


def split_patterns(line: str) -> tuple[str, ...]:
    """The patterns of a line, separated by blanks or commas."""
    return tuple(dict.fromkeys(re.split(r"[\s,]+", line.strip()))) if line.strip() else ()


def typed_criterion(line: str, offers: Sequence[Offer]) -> str:
    """A typed line as ``text :: command``, with an offer in place of its letter.

    ``b`` is the second offer; ``b What holds`` and ``What holds :: b`` are its command with a text
    of one's own. A small letter at the start of a sentence (``a test is there``) is no offer.
    """
    text, marker, command = line.partition(" :: ")
    if marker:
        offer = _offer(command.strip(), offers)
        return f"{text} :: {offer.command}" if offer else line
    letter, _, rest = line.strip().partition(" ")
    offer = _offer(letter, offers)
    if offer is None or (rest and rest[0].islower()):
        return line
    return f"{rest.strip() or offer.text} :: {offer.command}"


def _offer(letter: str, offers: Sequence[Offer]) -> Offer | None:
    place = "abcdefghijklmnopqrstuvwxyz".find(letter) if len(letter) == 1 else -1
    return offers[place] if 0 <= place < len(offers) else None
