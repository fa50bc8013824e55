"""A judge's report file: Markdown for people and judges, with a structured part for Flow.

A file is a list of sections: the assessment, then one for each debate, each ended by a block of
JSON. Flow reads only these blocks. The text is made from them, so that a changed number or word in
it is detected (SPEC 9.4; the headings are the seed's).
"""

from __future__ import annotations

import json
import re
from fractions import Fraction

from flow.core.judging.debate import section as debate_section
from flow.core.judging.debate.criteria import DebateCriterion
from flow.core.judging.debate.model import Position, overall, shown_mean
from flow.core.judging.debate.points import KINDS, numbered
from flow.core.judging.debate.prompt import QUESTIONS
from flow.core.judging.debate.section import Altered, DebateSubject, Section
from flow.core.text.display import visible
from flow.core.text.numbers import shown
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.core.judging.common.reply import Mark

_BLOCK = re.compile(r"^```json\n(.*?)\n```\n", re.MULTILINE | re.DOTALL)
_ACTIVE = re.compile(r"([\\`*_\[\]<>|#~])")
_WEIGHT = re.compile(r'^\*\*Criterion ".*"\*\* \(([0-9]{1,3}(?:\.[0-9])?)%\): ', re.MULTILINE)
MOST_SECTIONS = 100


def render(about: DebateSubject, section: Section) -> str:
    """One section as text of the file."""
    lines = _assessment(about, section) if section.round == 0 else _debate(about, section)
    block = json.dumps(debate_section.document(about, section), indent=1, ensure_ascii=False)
    return "\n".join([*lines, "", "```json", block, "```", ""])


def read(about: DebateSubject, judge: int, text: str) -> tuple[Section, ...]:
    """The sections of a report file; raises :class:`Altered` if it is not as Flow writes it."""
    sections = []
    for number, match in enumerate(_BLOCK.finditer(text)):
        if number >= MOST_SECTIONS:
            raise Altered(f"it has more than {MOST_SECTIONS} structured parts")
        line = text.count("\n", 0, match.start()) + 1
        section = _section(about, judge, match[1], f"the structured part at line {line}")
        if section.round != number:
            raise Altered(f"the structured part at line {line} is not that of round {number}")
        sections.append(section)
    if not sections:
        raise Altered("it has no structured part")
    try:
        wanted = "".join(render(about, section) for section in sections)
    except (ValueError, TypeError, AttributeError):
        raise Altered("its structured parts hold something else than what Flow writes") from None
    _compare(wanted, text)
    return tuple(sections)


def stored(judge: int, text: str) -> tuple[DebateSubject, tuple[Section, ...]]:
    """The content of a report file for a reader without the question; decides nothing.

    Weights are read from the text, a tenth of a per cent exact. Raises :class:`Altered` if it is no
    report of this judge. Only the file's digest can show whether Flow wrote it.
    """
    head = text.partition("\n```json\n")[0]
    about: DebateSubject | None = None
    sections: list[Section] = []
    for number, match in enumerate(_BLOCK.finditer(text)):
        try:
            document = json.loads(match[1], parse_constant=_no_number)
            section = debate_section.from_document(document)
            about = about or _subject(head, str(document["debate"]), section)
            fits = [mark.name for mark in section.position.marks] == [
                c.name for c in about.criteria
            ]
            render(about, section)  # raises unless every value is of Flow's type
            fits = fits and all(isinstance(point.number, str) for point in section.shares)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise Altered(f"its part {number + 1} cannot be read") from None
        whose = type(section.position.judge) is int and section.position.judge == judge
        if not fits or not whose or section.round != number or number >= MOST_SECTIONS:
            raise Altered(f"its part {number + 1} does not fit the others")
        sections.append(section)
    if about is None:
        raise Altered("it has no structured part")
    return about, tuple(sections)


def _subject(head: str, digest: str, section: Section) -> DebateSubject:
    """The subject of the debate, from the text before the first structured part."""
    task = re.search(r"^- Task: (.*)$", head, re.MULTILINE)
    solution = re.findall(r"^- Solution: (`+) ?(.*?) ?\1$", head, re.MULTILINE)
    weights = [Fraction(text) for text in _WEIGHT.findall(head)]
    names = [mark.name for mark in section.position.marks]
    if len(weights) != len(names) or not sum(weights):
        weights = [Fraction(1)] * len(names)
    if not names or len(set(names)) < len(names):
        raise ValueError("no criteria, or one of them twice")
    return DebateSubject(
        digest,
        re.sub(r"\\([\\`*_\[\]<>|#~])", r"\1", task[1]) if task else "",
        tuple(name for _, name in solution),
        tuple(
            DebateCriterion(name, weight / sum(weights))
            for name, weight in zip(names, weights, strict=True)
        ),
    )


def inert(text: str) -> str:
    """Foreign text on one line of Markdown, without any formatting or links."""
    return _ACTIVE.sub(r"\\\1", visible(" ".join(text.split())))


def quoted(text: str) -> str:
    """A quote as a code span, character for character."""
    runs = [len(run) for run in re.findall("`+", text)]
    marks = "`" * (max(runs, default=0) + 1)
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{edge}{visible(text)}{edge}{marks}"


def _assessment(about: DebateSubject, section: Section) -> list[str]:
    position = section.position
    lines = [
        f"Done by Judge {position.judge}",
        "",
        "# Evaluation Report",
        "",
        f"- Task: {inert(about.task)}",
        *(f"- Solution: {quoted(name)}" for name in about.solution),
        "",
        "## Criteria",
    ]
    for criterion, mark in zip(about.criteria, position.marks, strict=True):
        name = inert(criterion.name)
        lines += [
            "",
            f'**Criterion "{name}"** ({criterion.percent}%): {shown(mark.score)}/5',
            *_quotes(mark, "- Evidence", "- Not in the solution", "- Too short to look up"),
            f"- Justification: {inert(mark.justification)}",
        ]
    score = shown_mean(overall(about.criteria, position))
    lines += ["", f"**Overall Weighted Score**: {score}/5.0", *_points(section)]
    lines += ["", f"**Recommendation**: {position.recommendation}", "", "## Verification", ""]
    for number, asked in enumerate(section.verification, 1):
        lines += [f"{number}. {inert(asked.question)}", f"   - {inert(asked.answer)}"]
    if len(section.verification) < QUESTIONS:
        given = len(section.verification) or "none"
        lines.append(f"(asked for {QUESTIONS} questions and answers, the judge gave {given})")
    changed = [
        f'- Criterion "{inert(mark.name)}": {shown(before)} in the draft, {shown(mark.score)} now'
        for before, mark in zip(section.before, position.marks, strict=True)
        if before != mark.score
    ]
    return [*lines, "", "Changed by it:", *(changed or ["- nothing"])]


def _debate(about: DebateSubject, section: Section) -> list[str]:
    position = section.position
    lines = ["", f"## Debate Round {section.round}", "", "### Disagreements Identified", ""]
    for one in section.disagreements:
        lines += [
            f'**Disagreement with Judge {one.judge} on Criterion "{inert(one.criterion)}"**',
            f"- My score: {shown(one.mine)}/5",
            f"- Their score: {shown(one.theirs)}/5",
            f"- My defense: {inert(one.defense) or _defense(position, one.criterion)}",
            f"- My challenge: {inert(one.challenge) or '(none given)'}",
            "",
        ]
    if not section.disagreements:
        lines += ["None: no score lies more than one point from another judge's.", ""]
    lines += ["### Revised Assessment", "", "After considering other judges' arguments:"]
    for before, mark in zip(section.before, position.marks, strict=True):
        lines += _revised(before, mark, mark.name in section.conformity)
    score = shown_mean(overall(about.criteria, position))
    lines += ["", f"**New Weighted Score**: {score}/5.0", *_points(section)]
    shares = [f"- {inert(point.text)} ({point.number})" for point in section.shares]
    lines += ["", "### Points of Others Shared", "", *(shares or ["None named."])]
    agrees = ", ".join(f"Judge {number}" for number in section.agrees_with) or "nobody named"
    lines += ["", f"**Recommendation**: {position.recommendation}"]
    lines += ["", f"**Agrees with**: {agrees}"]
    lines += ["", f"**Accepts the consensus**: {'yes' if position.accepts else 'no'}"]
    lines += ["", "## Evidences", ""]
    for mark in position.marks:
        ends = ("", ", not in the solution", ", too short to look up")
        lines += _quotes(mark, *(f'- Criterion "{inert(mark.name)}"{end}' for end in ends))
    if lines[-1] == "":
        lines.append("None.")
    return lines


def _quotes(mark: Mark, *starts: str) -> list[str]:
    """A judge's quotes: true, discounted and too short ones, each kind with its own start."""
    kinds = zip(starts, (mark.evidence, mark.discounted, mark.too_short), strict=True)
    return [f"{start}: {quoted(quote)}" for start, quotes in kinds for quote in quotes]


def _defense(position: Position, criterion: str) -> str:
    """The present words of a judge that gave no defense of the criterion."""
    mark = next(mark for mark in position.marks if mark.name == criterion)
    return ", ".join(map(quoted, mark.evidence)) or inert(mark.justification)


def _revised(before: float, mark: Mark, conformity: bool) -> list[str]:
    name = f'- **Criterion "{inert(mark.name)}"**'
    why = inert(mark.justification)
    if before == mark.score:
        return [f"{name}: Maintained {shown(before)}/5", f"  - Reason maintained: {why}"]
    lines = [f"{name}: Revised from {shown(before)} to {shown(mark.score)}/5"]
    lines.append(f"  - Reason for change: {why}")
    if conformity:
        lines.append("  - Flagged by Flow: conformity, no new quote from the solution")
    return lines


def _points(section: Section) -> list[str]:
    lines = []
    for kind in KINDS:
        points = numbered(section.position, section.round, kind)
        rows = [f"- {inert(point.text)} ({point.number})" for point in points]
        lines += ["", f"### {kind.capitalize()}", "", *(rows or ["None named."])]
    return lines


def _section(about: DebateSubject, judge: int, text: str, where: str) -> Section:
    try:
        document = json.loads(text, parse_constant=_no_number)
        section = debate_section.from_document(document)
        if [mark.name for mark in section.position.marks] != [c.name for c in about.criteria]:
            raise ValueError("other criteria")
        whole = json.dumps(debate_section.document(about, section), sort_keys=True)
        same = whole == json.dumps(document, sort_keys=True)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        raise Altered(f"{where} cannot be read") from None
    if document["debate"] != about.digest:
        raise Altered(f"{where} belongs to another debate")
    if section.position.judge != judge:
        raise Altered(f"{where} is another judge's")
    if not same:
        raise Altered(f"{where} contradicts itself")
    return section


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _compare(wanted: str, text: str) -> None:
    """Raise :class:`Altered` at the first line that differs."""
    if wanted == text:
        return
    ours, theirs = wanted.split("\n"), text.split("\n")
    for number, (our, their) in enumerate(zip(ours, theirs, strict=False), 1):
        if our != their:
            wrote, says = visible(our)[:80], visible(their)[:80]
            raise Altered(f"line {number} says '{says}', its structured part '{wrote}'")
    raise Altered(f"it has {len(theirs)} lines, its structured parts {len(ours)}")
