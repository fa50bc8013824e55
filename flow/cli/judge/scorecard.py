"""``flow judge scorecard`` and ``flow judge history SKILL``: how well an execution went."""

from __future__ import annotations

import os
import sys

from flow.app.judging import scoring
from flow.app.judging.scoring import ScoreRequest
from flow.cli.judge.offering import named_judge
from flow.cli.parsing import whole
from flow.core.text.display import counted
from flow.errors import FlowError
from flow.render import scorecard
from flow.render.scorecard import WIDTH, ScorecardBox
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.judging.scorecards import Scoring

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from flow.cli.output import Output


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``scorecard``, but ``--judge-backend``."""
    add = parser.add_argument
    add("SKILL", nargs="?", help="the skill or agent that ran (default: the transcript's own)")
    add(
        "--file",
        metavar="TRANSCRIPT",
        help="the transcript: a session's JSONL, plain text or Markdown, - for standard input "
        "(default: the newest run of the skill in this folder's sessions)",
    )
    add("--rubric", metavar="R", help="a rubric's name or path (default: the one for the skill)")
    samples_argument(
        parser, "opinions to ask for; each score is their median (default: the setting)"
    )


def samples_argument(parser: argparse.ArgumentParser, about: str) -> None:
    """The argument ``--samples``."""
    number = whole(1, 25, "a number of samples")
    parser.add_argument("--samples", type=number, metavar="K", help=about)


def run(args: argparse.Namespace, out: Output) -> int:
    """Score one execution, store the card, show it."""
    asked = counted((args.samples or 1) * 2, "question")
    backend = named_judge(
        args.judge_backend, out, f"at most {asked}", "the transcript, secrets redacted"
    )
    request = ScoreRequest(
        skill=args.SKILL,
        file=args.file,
        rubric=args.rubric,
        backend=backend,
        samples=args.samples,
    )

    def shown(document: Mapping[str, Any]) -> list[str]:
        box = _box(document, out)
        return [*box.lines(), *box.below()]

    unstored: list[Mapping[str, Any]] = []
    try:
        progress = _progress_teller(out)
        card = scoring.score_and_store(
            Scoring(), request, progress=progress, scored=unstored.append
        )
    except FlowError:
        if unstored and not out.json:  # it was paid for, and is lost otherwise
            out.result(unstored[0], [*shown(unstored[0]), "not stored:"])
        raise
    out.result(card.document, shown(card.document))
    out.warn(card.warnings)
    if not out.json:
        out.say(f"stored as {card.file}")
    return 0


def one_card(skill: str, name: str, out: Output) -> int:
    """Show one stored card of a skill, whole."""
    card = scoring.stored_card(Scoring(), skill, name)
    box = _box(card.document, out)
    out.result(card.document, [*box.lines(), *box.everything()])
    out.warn(card.warnings)
    return 0


def history(skill: str, out: Output) -> int:
    """Show the stored cards of a skill."""
    document = scoring.skill_history(Scoring(), skill)
    out.result(document, scorecard.history(document, out.screen))
    out.warn(document["warnings"])
    if not document["cards"] and not out.json:
        out.say(
            f"no scorecards of {document['skill']} in {document['folder']} yet: "
            "flow judge scorecard SKILL"
        )
    return 0


def _progress_teller(out: Output) -> Callable[[str], None]:
    """Prints each step for a person who watches at a terminal."""
    watched = not out.json and sys.stderr is not None and sys.stderr.isatty()
    return out.say if watched else lambda _: None


def _columns(out: Output) -> int:
    """Columns to draw in: ``COLUMNS``, else the terminal's, else the seed's."""
    columns = out.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:6]) > 0:
        return int(columns[:6])
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    except (OSError, ValueError, AttributeError):
        return WIDTH


def _box(card: Mapping[str, Any], out: Output) -> ScorecardBox:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return ScorecardBox(card, out.screen.paint, columns=_columns(out), encoding=encoding)
