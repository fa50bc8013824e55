"""Acceptance criteria read from the folders of spec-kit, Kiro and OpenSpec (SPEC 12).

The three are Markdown by convention, so this reads headings and list items and skips fenced code
and comments. A criterion taken from there has no command: it is fuzzy until a person adds one.

Layouts, as of November 2026:

=========  ===================================  ================================================
tool       files in the folder                  criteria
=========  ===================================  ================================================
spec-kit   ``spec.md``                          items below *Acceptance Scenarios*, *Functional
                                                Requirements* and *Measurable Outcomes*
Kiro       ``requirements.md`` or ``bugfix.md`` items below *Acceptance Criteria*, or items that
                                                say SHALL
OpenSpec   ``proposal.md``, ``specs/*/spec.md`` each ``#### Scenario:``, or the
                                                ``### Requirement:`` that has none
=========  ===================================  ================================================
"""

from __future__ import annotations

import re

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OUTCOME_LIMIT = 400
CRITERION_LIMIT = 600
"""Characters; a longer text is cut at a word, so that a goal file stays readable."""

_HEADING = re.compile(r"(#{1,6})\s+(.*)$")
_BOLD_HEADING = re.compile(r"\*\*([^*]+?):?\*\*:?\s*(?:\*\([^)]*\)\*)?$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")
_SPEC_KIT_SECTIONS = ("acceptance scenarios", "functional requirements", "measurable outcomes")
_SPEC_KIT_NUMBER = re.compile(r"(?:FR|NFR|SC)-\d+\b")
_KIRO_WORDS = re.compile(r"\bSHALL\b")
_TITLE_PREFIX = re.compile(
    r"(?:feature specification|requirements document|requirements|change|proposal|bugfix "
    r"requirements document|spec)\s*:?\s*",
    re.IGNORECASE,
)


class SpecificationDraft(NamedTuple):
    """A specification folder's content, as parts of a goal."""

    tool: str
    outcome: str
    """Empty if the folder names none."""
    criteria: tuple[str, ...]
    """Texts in the order of the files, each once."""
    unclear: tuple[str, ...]
    """Those of ``criteria`` that the specification itself marks as undecided."""


class _Line(NamedTuple):
    """One line of Markdown: a heading (level 1 to 6), a list item, or text."""

    kind: str
    text: str
    level: int
    """Depth of a heading; indentation of an item, in columns."""


def read_specification(files: Mapping[str, str]) -> SpecificationDraft | None:
    """The draft from a folder's ``files`` (path below it → text); None for any other layout."""
    changed_specs = sorted(name for name in files if re.fullmatch(r"specs/(.+/)?spec\.md", name))
    if changed_specs:
        return _open_spec(files, changed_specs)
    for name in ("requirements.md", "bugfix.md"):
        if name in files:
            return _kiro(files[name])
    if "spec.md" in files:
        lines = list(_lines(files["spec.md"]))
        if any(line.kind == "heading" and _requirement_name(line.text) for line in lines):
            return _open_spec(files, ["spec.md"])
        return _spec_kit(lines)
    return None


def _spec_kit(lines: list[_Line]) -> SpecificationDraft:
    items = [
        text
        for section, text in _items(lines)
        if section.startswith(_SPEC_KIT_SECTIONS) or _SPEC_KIT_NUMBER.match(text)
    ]
    return _draft("spec-kit", _title(lines), items)


def _kiro(text: str) -> SpecificationDraft:
    lines = list(_lines(text))
    items = [
        item
        for section, item in _items(lines)
        if section.startswith("acceptance criteria") or _KIRO_WORDS.search(item)
    ]
    return _draft(
        "Kiro",
        _title(lines) or next((line.text for line in lines if line.kind == "text"), ""),
        items,
    )


def _open_spec(files: Mapping[str, str], names: list[str]) -> SpecificationDraft:
    criteria: list[str] = []
    for name in names:
        criteria += _open_spec_criteria(list(_lines(files[name])))
    proposal = list(_lines(files.get("proposal.md", "")))
    outcome = _section_text(proposal, "what changes") or _section_text(proposal, "why")
    return _draft("OpenSpec", outcome or _title(proposal), criteria)


def _open_spec_criteria(lines: list[_Line]) -> Iterator[str]:
    """A criterion for each scenario, or for a requirement without one, from its name and text."""
    removed = False
    requirement: str | None = None
    for place, line in enumerate(lines):
        if line.kind != "heading":
            continue
        if line.level <= 2:
            removed = line.text.lower().startswith("removed")
        name = _requirement_name(line.text)
        if name is not None:
            requirement = name
            own = " ".join(_below(lines, place))
            if removed:
                yield f"{name}: is removed"
            elif not _has_scenario(lines, place):
                yield f"{name}: {own}" if own else name
            continue
        scenario = re.match(r"scenario:\s*(.+)", line.text, re.IGNORECASE)
        if scenario is not None and not removed:
            steps = " ".join(_below(lines, place))
            title = f"{requirement}, {scenario[1]}" if requirement else scenario[1]
            yield f"{title}: {steps}" if steps else title


def _requirement_name(heading: str) -> str | None:
    matched = re.match(r"requirement:\s*(.+)", heading, re.IGNORECASE)
    return matched[1] if matched else None


def _has_scenario(lines: list[_Line], place: int) -> bool:
    """Whether a heading *Scenario* is below the heading at ``place``."""
    level = lines[place].level
    for line in lines[place + 1 :]:
        if line.kind == "heading":
            if line.level <= level:
                return False
            if line.text.lower().startswith("scenario:"):
                return True
    return False


def _below(lines: list[_Line], place: int) -> Iterator[str]:
    """Texts and items between the heading at ``place`` and the next heading."""
    for line in lines[place + 1 :]:
        if line.kind == "heading":
            return
        yield line.text


def _items(lines: list[_Line]) -> Iterator[tuple[str, str]]:
    """(section name in lower case, text) of each list item, including its nested lines."""
    section = ""
    item: list[str] = []
    indentation = 0
    for line in lines:
        nested = line.kind == "text" or (line.kind == "item" and line.level > indentation)
        if item and nested:
            item.append(line.text)
            continue
        if item:
            yield section, " ".join(item)
            item = []
        if line.kind == "heading":
            section = line.text.lower()
        elif line.kind == "item":
            item, indentation = [line.text], line.level
    if item:
        yield section, " ".join(item)


def _title(lines: list[_Line]) -> str:
    """The first heading of level 1, without words that only name the kind of document."""
    for line in lines:
        if line.kind == "heading" and line.level == 1:
            return _TITLE_PREFIX.sub("", line.text, count=1)
    return ""


def _section_text(lines: list[_Line], name: str) -> str:
    """Texts and items of the section ``name``, as one line."""
    for place, line in enumerate(lines):
        if line.kind == "heading" and line.text.lower() == name:
            return " ".join(_below(lines, place))
    return ""


def _draft(tool: str, outcome: str, texts: list[str]) -> SpecificationDraft:
    whole = {_cut(text, CRITERION_LIMIT): text for text in texts if text}
    unclear = tuple(cut for cut, text in whole.items() if "NEEDS CLARIFICATION" in text)
    return SpecificationDraft(tool, _cut(outcome, OUTCOME_LIMIT), tuple(whole), unclear)


def _cut(text: str, limit: int) -> str:
    """``text`` with at most ``limit`` characters, cut before a word."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0] + "…"


def _lines(text: str) -> Iterator[_Line]:
    """Lines of Markdown with content; fenced code and comments are left out."""
    fence = ""
    for raw in _COMMENT.sub("", text).splitlines():
        fenced = _FENCE.match(raw)
        if fence:
            fence = "" if fenced and fenced[1].startswith(fence) else fence
        elif fenced:
            fence = fenced[1]
        elif raw.strip():
            yield _line(raw.expandtabs(4))


def _line(raw: str) -> _Line:
    heading = _HEADING.match(raw) or _BOLD_HEADING.match(raw.strip())
    if heading is not None:
        # A bold line on its own is used instead of spec-kit's heading of the third level.
        level, text = 3, heading.groups()[-1]
        if raw.startswith("#"):  # a pattern for the marks at the end would take cubic time
            level, text = len(heading[1]), text.rstrip().rstrip("#")
        return _Line("heading", _plain(text), level)
    item = _ITEM.match(raw)
    if item is not None:
        return _Line("item", _plain(item[2]), len(item[1]))
    return _Line("text", _plain(raw), 0)


def _plain(text: str) -> str:
    """``text`` without bold marks, each run of blanks as one."""
    return " ".join(_EMPHASIS.sub(lambda m: m[1] or m[2], text).split())
