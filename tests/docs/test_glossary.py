"""``docs/glossary.md``: one headword for each term, and no retired word in what users read."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import ROOT

GLOSSARY = Path(ROOT, "docs", "glossary.md").read_text(encoding="utf-8")
HEADWORDS = re.findall(r"^- \*\*(.+?)\*\*:", GLOSSARY, re.M)
NOT = [part.split("\n- ")[0] for part in re.split(r"\bNot:\s", GLOSSARY)[1:]]
RETIRED = tuple(word for part in NOT for word in re.findall(r'"([^"]+)"', part))
"""In no page, help text or message."""
RETIRED_NAMES = {name for part in NOT for name in re.findall(r"`(\w+)`", part)} | {
    name
    for row in re.findall(r"^\| `.*\| (.+) \|$", GLOSSARY, re.M)
    for name in re.findall(r"`(\w+)`", row)
}

GONE_FROM_CODE = (
    "Vouching",
    "Wish",
    "chain_said",
    "cheap_typing",
    "judging_apart",
    "own_json",
    "passed_on",
    "process_apart",
    "vouching",
)
"""Names of :data:`RETIRED_NAMES` that no code bears any more. Grows with each renaming."""

TEXTS = [
    Path(ROOT, "README.md"),
    *(
        page
        for folder in ("docs", "docs/start", "docs/reference")
        for page in sorted(Path(ROOT, folder).glob("*.md"))
        if page.name != "glossary.md"
    ),
    *(
        file
        for folder in ("commands", "references", "skills", "agents", "hooks", "schemas")
        for file in sorted(Path(ROOT, folder).rglob("*"))
        if file.suffix in {".md", ".json", ".sh"}
    ),
]
MODULES = sorted(Path(ROOT, "flow").rglob("*.py"))


def shown(tree: ast.Module) -> list[str]:
    """The texts of a module that it can show: all but its docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def names(tree: ast.Module) -> set[str]:
    """The names that a module gives or uses."""
    return {
        part
        for node in ast.walk(tree)
        for name in (
            getattr(node, key, None) for key in ("id", "attr", "name", "arg", "module", "asname")
        )
        if isinstance(name, str)
        for part in name.split(".")
    }


def test_there_are_terms_and_retired_words() -> None:
    assert len(HEADWORDS) >= 60
    assert {"warden", "doors"} <= set(RETIRED)
    assert {"Warden", "cheap_typing", "seats"} <= RETIRED_NAMES


def test_every_headword_is_there_once() -> None:
    folded = sorted(word.casefold() for word in HEADWORDS)
    assert [one for one, two in pairwise(folded) if one == two] == []


def test_no_headword_is_retired() -> None:
    assert not {word.casefold() for word in HEADWORDS} & {word.casefold() for word in RETIRED}


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_retired_word_in_what_people_read(text: Path) -> None:
    words = "|".join(re.escape(word) for word in RETIRED)
    assert re.findall(rf"\b(?:{words})\b", text.read_text(encoding="utf-8"), re.I) == []


def test_no_retired_word_in_help_and_messages() -> None:
    words = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in RETIRED)})\b", re.I)
    split = [word.lower().split() for word in RETIRED]  # a text may go on in the next line
    texts = {module: module.read_text(encoding="utf-8") for module in MODULES}
    found = {
        f"{module.relative_to(ROOT)}: {shown_text}"
        for module, text in texts.items()
        if any(all(part in text.lower() for part in parts) for parts in split)
        for shown_text in shown(ast.parse(text))
        if words.search(shown_text) and not shown_text.isidentifier()  # a key, not a text
    }
    assert found == set()


def test_no_name_comes_back_that_was_renamed() -> None:
    gone = set(GONE_FROM_CODE)
    assert gone <= RETIRED_NAMES, "each of them stands in the glossary"
    texts = {module: module.read_text(encoding="utf-8") for module in MODULES}
    found = {
        f"{module.relative_to(ROOT)}: {name}"
        for module, text in texts.items()
        if any(name in text for name in gone)  # most have none of them, as a name or otherwise
        for name in names(ast.parse(text)) & gone
    }
    assert found == set()


PLAINER = {
    "gate": "what holds the goal back",
    "door": "the command that closes, approves or trusts",
    "ledger": "chain; what you trusted",
    "digest": "SHA-256, hash",
    "candidate": "what commands and boundary show",
    "made_progress": "progress",
}
"""Words of the code for which pages for users have a plainer one; names in code spans stay."""


@pytest.mark.parametrize(
    "page",
    [
        Path(ROOT, "README.md"),
        *sorted(Path(ROOT, "docs").glob("*.md")),
        *sorted(Path(ROOT, "docs", "start").glob("*.md")),
    ],
    ids=lambda page: page.name,
)
def test_pages_for_users_say_it_plainly(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    text = re.sub(r"`[^`]+`|Flow-Ledger|--trust-digest", "", text)
    if page.name == "glossary.md":  # says which word is not used, and what code says
        text = re.sub(r"\*trust (?:ledger|digest)\*|Not: [^\n]*|\bretired\b", "", text)
        text = re.sub(r'"\w+"', "", text)
    words = set(re.findall(r"[a-z_]+", text.lower()))
    plural = {f"{word}s" for word in PLAINER} | set(PLAINER)
    assert words & plural == set()
