"""The final report of a debate or a vote, as Markdown (SPEC 9.4).

The headings of the consensus report are the seed's.
"""

from __future__ import annotations

from flow.core.judging.debate import analysis as debate_analysis
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate.model import CRITERION_LIMIT, LEAST_SUPPORT, OVERALL_LIMIT, shown_mean
from flow.core.judging.debate.points import KINDS
from flow.core.judging.debate.report import inert, quoted
from flow.core.judging.debate.state import DebateState, initial_gaps, revisions
from flow.core.judging.debate.words import speaks
from flow.core.text.numbers import apart, exact, shown
from flow.core.untrusted.fences import LABEL
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from flow.core.judging.debate.model import Agreement

QUOTES_SHOWN = 2
"""Quotes that are listed for a revised score, at most."""
WORDS: Mapping[str, str] = {"pass": "Pass", "needs_revision": "Needs Revision", "fail": "Fail"}


def report(state: DebateState) -> str:
    """The final report as Markdown."""
    if state.decided and state.mode == "debate":
        lines = _consensus(state)
    elif state.decided:
        lines = _vote(state)
    else:
        lines = _no_consensus(state)
    return "\n".join([*lines, "", *_reports(state)])


def _consensus(state: DebateState) -> list[str]:
    scores = debate_model.means(state.about.criteria, state.positions)
    return [
        "# Consensus Evaluation Report",
        "",
        "## Consensus Scores",
        "",
        *_table(state, "Final", scores.criteria),
        "",
        f"**Consensus Overall Score**: {shown_mean(scores.overall)}/5.0",
        *_points(state, "Consensus "),
        "",
        "## Debate Summary",
        "",
        f"- Rounds to consensus: {state.rounds}",
        *_how(state),
        "",
        "## Final Recommendation",
        "",
        *_recommendation(state, scores),
    ]


def _vote(state: DebateState) -> list[str]:
    scores = debate_model.medians(state.about.criteria, state.positions)
    last = debate_model.agreement(state.about.criteria, state.positions, debated=False)
    near = "would be" if last.reached else "would not be"
    return [
        "# Vote Evaluation Report",
        "",
        "## Median Scores",
        "",
        *_table(state, "Median", scores.criteria),
        "",
        f"**Median Overall Score**: {shown_mean(scores.overall)}/5.0",
        "",
        _scores_apart(state, last, near),
        *_silent(state),
        *_points(state, ""),
        "",
        "## Final Recommendation",
        "",
        *_recommendation(state, scores),
    ]


def _scores_apart(state: DebateState, last: Agreement, near: str) -> str:
    said = f"{apart(last.overall, OVERALL_LIMIT)} from the lowest to the highest overall score"
    return (
        f"{len(state.positions)} independent ballots, no debate; {said}: that {near} a consensus."
    )


def _no_consensus(state: DebateState) -> list[str]:
    lines = ["# No Consensus", "", "**A person has to decide: the judges could not.**", ""]
    if state.positions:
        lines += ["## Final Scores", "", *_table(state, "Gap", None), ""]
    lines += ["## Persistent Disagreements", "", *_why(state)]
    if debate_analysis.wanted(state):
        lines += ["", "## Analysis", "", *debate_analysis.lines(state)]
    if state.agreements:
        lines += ["", "## Debate Summary", "", f"- Debates held: {state.rounds}", *_how(state)]
    return lines + _points(state, "")


def _why(state: DebateState) -> Iterator[str]:
    """The reasons that there is no consensus, or that a vote does not count."""
    for path, what in state.altered:
        yield f"- {inert(path)} is not what Flow wrote: {inert(what)}"
    yield from (line for line in _silent(state) if line)
    if state.silent or state.altered or not state.agreements:
        yield "- Without every judge's own report there is no consensus."
        if not state.altered:
            yield "- The same command goes on from here, and asks only for what is missing."
        return
    if state.mode == "vote":
        yield from _unsupported(state)
        return
    last, positions = state.agreements[-1], state.positions
    for name in last.apart:
        said = ", ".join(f"Judge {p.judge} {shown(p.score(name), 4)}" for p in positions)
        gap = apart(last.criteria[name], CRITERION_LIMIT)
        yield f'- Criterion "{inert(name)}": {gap} apart ({said})'
        ends = sorted(positions, key=lambda p: exact(p.score(name)))
        for position in (ends[0], ends[-1]):
            mark = next(mark for mark in position.marks if mark.name == name)
            yield f"  - Judge {position.judge}: {_labelled_words(mark.justification)}"
    if last.overall > OVERALL_LIMIT:
        gap = apart(last.overall, OVERALL_LIMIT)
        yield f"- Overall scores: {gap} apart, at most 0.5 is a consensus"
    for number in last.refusing:
        yield f"- Judge {number} does not accept the consensus"
    yield from _unsupported(state)


def _unsupported(state: DebateState) -> Iterator[str]:
    """The reason that scores do not count: too few of them have support in the solution."""
    if state.support < LEAST_SUPPORT:
        share = f"{int(state.support * 100)}%"  # rounded down: never looks sufficient
        yield (
            f"- Only {share} of the weight of the scores rests on quotes that occur in the "
            "solution; at least half is needed"
        )


def _silent(state: DebateState) -> list[str]:
    if not state.silent:
        return []
    rows = [
        f"- Judge {one.judge} gave no usable answer ({one.kind}): {inert(one.reason)}"
        for one in state.silent
    ]
    return ["", *rows]


def _table(state: DebateState, last: str, scores: Mapping[str, Fraction] | None) -> list[str]:
    positions = state.positions
    heads = ["Criterion", *(f"Judge {position.judge}" for position in positions), last]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for criterion in state.about.criteria:
        values = [position.score(criterion.name) for position in positions]
        own = [f"{shown(value)}/5" for value in values]
        gap = max(exact(value) for value in values) - min(exact(value) for value in values)
        end = apart(gap, CRITERION_LIMIT)
        if scores is not None:
            end = f"{shown_mean(scores[criterion.name])}/5"
        lines.append(_row([inert(criterion.name), *own, end]))
    own = [f"{shown_mean(debate_model.overall(state.about.criteria, p))}/5" for p in positions]
    return [*lines, _row(["Overall", *own, ""])]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _points(state: DebateState, of: str) -> list[str]:
    lines: list[str] = []
    for kind in KINDS:
        points = state.points(kind)
        everybody = [f"- {_labelled_words(point.text)}" for point in points if state.of_all(point)]
        some = [
            f"- {_labelled_words(point.text)} ({_judges(point.judges)})"
            for point in points
            if not state.of_all(point)
        ]
        lines += ["", f"## {of}{kind.capitalize()}", "", "All judges:", ""]
        lines += everybody or ["- None."]
        lines += ["", "Some judges:", "", *(some or ["- None."])]
    if not state.rounds and len(state.positions) > 1:
        lines += ["", _UNREAD]
    return lines


_UNREAD = (
    "(No judge has read another's report: only points in the same words count as those of all.)"
)


def _labelled_words(text: str) -> str:
    """A judge's words, labelled if they seem to instruct the reader of the report."""
    line = inert(text)
    return f"{LABEL}{line}" if speaks(text) else line


def _judges(who: Sequence[int]) -> str:
    return f"Judge{'s' if len(who) > 1 else ''} {', '.join(map(str, who))}"


def _how(state: DebateState) -> Iterator[str]:
    """The changes of the evaluations by the debate."""
    first, revised = initial_gaps(state), revisions(state)
    before, after = state.agreements[0], state.agreements[-1]
    said = [
        f'"{inert(name)}" ({apart(gap, CRITERION_LIMIT)} apart)'
        if name is not None
        else f"overall ({apart(gap, OVERALL_LIMIT)} apart)"
        for name, gap in first
    ]
    yield f"- Initial disagreements: {', '.join(said) or 'none'}"
    ends = [apart(one.overall, OVERALL_LIMIT) for one in (before, after)]
    spread = f"{ends[0]} before, {ends[1]} after"
    yield f"- Spread of the overall scores: {spread}"
    if state.rounds:
        count = f"{len(revised)} revised score{'s' * (len(revised) != 1)}"
        yield f"- How resolved: {count}" + (":" if revised else "")
    for one in revised:
        change = f"from {shown(one.before)} to {shown(one.after)}"
        yield (
            f'  - Round {one.round}, Judge {one.judge}, "{inert(one.criterion)}" {change}: '
            f"{_labelled_words(one.reason)}"
        )
        if one.new_evidence:
            quotes = ", ".join(map(quoted, one.new_evidence[:QUOTES_SHOWN]))
            yield f"    - new evidence: {quotes}"
        if one.conformity:
            yield "    - **conformity**: revised without a new quote from the solution"


def _recommendation(state: DebateState, scores: debate_model.Scores) -> list[str]:
    word = debate_model.recommended(state.positions)
    said = ", ".join(f"Judge {p.judge} {WORDS[p.recommendation]}" for p in state.positions)
    why = [f"Overall {shown_mean(scores.overall)}/5", *_ends(scores.criteria)]
    why.append(f"the median of {said}")
    return [f"**{WORDS[word]}**", "", "; ".join(why) + "."]


def _ends(scores: Mapping[str, Fraction]) -> list[str]:
    """The best and the weakest criterion, if they differ."""
    low, high = (pick(scores, key=lambda name: scores[name]) for pick in (min, max))
    if scores[low] == scores[high]:
        return []
    best = f"best in {inert(high)} ({shown_mean(scores[high])}/5)"
    return [f"{best}, weakest in {inert(low)} ({shown_mean(scores[low])}/5)"]


def _reports(state: DebateState) -> list[str]:
    paths = [judge.path for judge in state.judges if judge.sections]
    return ["## Reports", "", *([f"- {inert(path)}" for path in paths] or ["None."])]
