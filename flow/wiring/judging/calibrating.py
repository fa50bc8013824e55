"""Asking a judge about cases that people have labelled, and keeping what both said."""

from __future__ import annotations

import os

from flow.adapters.contracts import formats
from flow.adapters.fs import clock, files, inputs
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.repository import find_repo
from flow.adapters.rubrics.rubric_files import find
from flow.adapters.user_state.judge_labels import LabelBook, LabelLine
from flow.core.judging.rubric.calibration import Label, believed, calibrate
from flow.core.judging.rubric.calibration_cases import cases
from flow.errors import NoUsableAnswer, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple
from flow.wiring.judging import rubrics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.core.judging.rubric.calibration_cases import Case
    from flow.wiring.judging.rubrics import Backend, RubricContext

CASES_LIMIT = 16 << 20
"""Bytes of a file of cases in JSON or JSON Lines; YAML has its own limit of 1 MiB."""


class Tried(NamedTuple):
    """One case and what the judge said; ``judged`` None where it gave no usable answer."""

    case: Case
    judged: bool | None
    why: str


def read_cases(path: str) -> tuple[Case, ...]:
    """The cases in a YAML, JSON or JSON Lines file; :class:`ContractError` with every fault."""
    data = inputs.read(path, "--cases", limit=CASES_LIMIT)
    document: Any
    if path.endswith((".jsonl", ".ndjson")):
        document = [
            formats.parse_json(line, file=f"{path}:{number}", what="case")
            for number, line in enumerate(data.split(b"\n"), 1)
            if line.strip()
        ]
    elif path.endswith(".json"):
        document = formats.parse_json(data, file=path, what="file of cases", limit=CASES_LIMIT)
    else:
        document = formats.parse_yaml(data, file=path, what="file of cases")
    return cases(document, path)


def try_cases(
    found: Sequence[Case],
    path: str,
    *,
    rubric: str | None,
    backend: Backend | None,
    samples: int,
    tried: Callable[[Tried], None],
) -> dict[str, Any]:
    """Ask about every case, keep the labels, and return what they come to.

    ``rubric`` is for cases that name none. ``tried`` hears of each case as it is done. Raises
    :class:`NoUsableAnswer` where no judge is configured at all.
    """
    where = rubrics.place()
    ask = rubrics.choose(backend, where)
    orders = [
        _order(case, path, rubric=rubric, ask=ask, samples=samples, where=where) for case in found
    ]
    book = label_book(where)
    labels, silent = [], []
    for case, ordered in zip(found, orders, strict=True):
        try:
            result, _ = rubrics.carry_out(ordered)
        except NoUsableAnswer as error:
            silent.append({"id": case.id, "reason": error.fault.message})
            tried(Tried(case, None, error.fault.message))
            continue
        labels.append(Label(case.label, result.passed))
        book.add([_line(case, ordered, ask.name, result.passed, clock.now())])
        tried(Tried(case, result.passed, f"{result.score:.3g}"))
    return {
        "judge": ask.name,
        "cases": len(found),
        **calibrate(labels).to_document(),
        "no_answer": silent,
        "believed": _belief(book.labels(ask.name), where),
    }


def history() -> dict[str, Any]:
    """What is known of each judge's agreement with people."""
    where = rubrics.place()
    book = label_book(where)
    lines = book.lines()
    judges = []
    for name in dict.fromkeys(line.judge for line in lines):
        own = [line for line in lines if line.judge == name]
        labels = [Label(line.person, line.judged) for line in own]
        sources = {s: sum(line.source == s for line in own) for s in {x.source for x in own}}
        judges.append(
            {
                "judge": name,
                **calibrate(labels).to_document(),
                "sources": sources,
                "believed": _belief(labels, where),
            }
        )
    rows = [line._asdict() for line in lines]
    return {"judges": judges, "labels": rows, "warnings": list(book.warnings)}


def label_book(where: RubricContext) -> LabelBook:
    """The user's own record of labels."""
    repo = find_repo(where.top) if where.top is not None else None
    common = repo.common_dir if repo is not None else None
    home = where.environ.get("HOME") or None
    return LabelBook(state_dir(where.environ, home, where.top, common), where.top, common)


def _order(
    case: Case, path: str, *, rubric: str | None, ask: Any, samples: int, where: RubricContext
) -> rubrics.PreparedJudgement:
    # A case names a rubric by name only: such a file may have come with a checkout, and a path
    # would let it read any file.
    own = case.rubric
    named = rubric if own is None else find(own, where.top).rubric
    if named is None:
        raise in_file(path, "rubric").invalid(
            f"case {case.id!r:.80} names no rubric",
            "give the file or the case a rubric, or --rubric NAME",
        )
    subject = case.subject
    if case.file is not None:
        # Below the folder of the cases, for the same reason.
        folder = os.path.dirname(os.path.abspath(path))
        subject = files.read_bytes(folder, case.file, limit=8 << 20)
    return rubrics.order(
        subject, named, instructions=case.instructions, backend=ask, samples=samples, where=where
    )


def _line(
    case: Case, ordered: rubrics.PreparedJudgement, judge: str, judged: bool, at: str
) -> LabelLine:
    asked = ordered.asked
    content = (repr(asked.rubric), asked.instructions, [part.text for part in asked.subject])
    key = rubrics.content_nonce(repr(content))
    return LabelLine(at, judge, key, case.id[:200], case.label, judged, "calibrate")


def _belief(labels: Sequence[Label], where: RubricContext) -> dict[str, Any]:
    found = believed(labels, where.settings.min_kappa)
    return {"ok": found.ok, "reason": found.reason}
