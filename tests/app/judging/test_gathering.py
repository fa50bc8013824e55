"""What a judge is given, piece by piece: which evidence, which files, and the contract's words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flow.app.evaluation.values import JudgeCase, Request
from flow.app.judging.changed_files import EvidenceFiles, Raw
from flow.app.judging.gathering import (
    ContextSources,
    denied_context,
    gather_context,
    sought_criteria,
)
from flow.app.transitions.persons_word import PersonsWord
from flow.core.decision.decide import NoOpinion
from flow.core.evidence.model import EVALUATOR
from flow.core.evidence.red_first import BaseRun, limitation
from flow.core.goal.model import goal_from_document
from flow.core.judging.goal.context import (
    ContextItem,
    JudgeContext,
    MissingEvidence,
    PreviousVerdict,
    SoughtCriterion,
)
from flow.core.untrusted.fences import FencedPart
from tests.app.fakes import BASE, World, criterion, evaluate, goal_document, sidecar
from tests.app.judge_fakes import Court

NO_FILE = "its evidence_paths name no file that may be read and holds anything"
NOTHING = "no evidence at all"
NO_OUTPUT = "its evidence_command has no fresh output"
OTHERS = "only what others recorded, which no pass can rest on"
OLDER = "there is evidence of older files, which does not count"
OFF = (
    "no output of another criterion's command, and changed files are not sent to judges "
    "(flow.goals.judge.changedFiles)"
)
OPINION = "an earlier judge's report is there, which alone proves nothing"


class Bench:
    """One goal, the case that its evaluation hands over, and what may be read."""

    def __init__(self, *rows: dict[str, Any], kind: str = "hybrid", **more: Any) -> None:
        self.world = World(goal_document(*rows, kind=kind, **more))
        self.world.document["evaluator"]["sandbox"] = "none"
        self.court = Court(self.world)
        self.outputs: dict[str, Raw] = {}
        self.files = EvidenceFiles(())
        self.asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self._case: JudgeCase | None = None

    def case(self) -> JudgeCase:
        if self._case is None:
            seen: list[JudgeCase] = []

            def judge(case: JudgeCase) -> NoOpinion:
                seen.append(case)
                return NoOpinion("only looking")

            copy = World(json.loads(json.dumps(self.world.document)))
            copy.judge = judge
            evaluate(Request("issue-4"), copy.tools())
            self._case = seen[0]
        return self._case

    def sources(self) -> ContextSources:
        def files(patterns: Any, denied: Any) -> EvidenceFiles:
            self.asked.append((tuple(patterns), tuple(denied)))
            return self.files

        found = self.court.tools().sources
        return found._replace(output=lambda e: self.outputs.get(e.id, Raw(b"")), files=files)

    def judge_context(self, case: JudgeCase | None = None) -> JudgeContext:
        return gather_context(case or self.case(), self.sources())

    def record(
        self, name: str, *, by: str | None = EVALUATOR, text: bytes = b"out", **body: Any
    ) -> None:
        """A sidecar about AC2 on the present files, if ``body`` says nothing else."""
        goal, at = body.pop("goal", "issue-4"), body.pop("at", "2026-11-21T11:00:00Z")
        subject = self.case().facts.subject.to_document() | body.pop("stamp", {})
        metadata = {"id": name, "goal": goal, "run_id": "run-1", "created_at": at}
        self.world.record_evidence(
            {
                "apiVersion": "flow.synapti.ai/v1",
                "kind": "FlowEvidence",
                "metadata": {**metadata, **({"created_by": by} if by else {})},
                "evidence": {
                    "type": "command_result",
                    "proves": [],
                    "about": ["AC2"],
                    "limitations": [],
                    "subject": subject,
                    **body,
                },
            }
        )
        self.outputs[name] = Raw(text)

    def shown(self) -> list[tuple[str, str, bool]]:
        """(criterion, source, counts) of each piece."""
        return [(i.criterion_id, i.part.source, i.counts) for i in self.judge_context().items]


def fuzzy(id: str = "AC2", **more: Any) -> dict[str, Any]:
    return criterion(id, None, **more)


# --- what is asked about --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "approved", "asked"),
    [
        ("hybrid", (), ("AC3", "AC4")),
        ("hybrid", ("AC3",), ("AC4",)),
        ("hybrid", ("AC1", "AC3", "AC4"), ()),
        ("flow_verdict_judge", (), ("AC1", "AC3", "AC4")),
        ("flow_verdict_judge", ("AC1", "AC3"), ("AC1", "AC4")),
    ],
)
def test_what_is_asked_about(kind: str, approved: tuple[str, ...], asked: tuple[str, ...]) -> None:
    rows = {
        "AC1": SoughtCriterion("AC1", "AC1 holds", True, False),
        "AC3": SoughtCriterion("AC3", "AC3 holds", True, True),
        "AC4": SoughtCriterion("AC4", "AC4 holds", False, True),
    }
    document = goal_document(
        criterion("AC1"),
        criterion("AC2", must_pass=False),
        fuzzy("AC3"),
        fuzzy("AC4", must_pass=False),
        kind=kind,
    )
    assert sought_criteria(goal_from_document(document), approved) == tuple(
        rows[id] for id in asked
    )


@pytest.mark.parametrize(
    ("entry", "pattern", "told"),
    [
        ("secrets/**", True, False),
        ("*.pem", True, False),
        ("a.txt", True, False),
        ("what?", True, False),
        ("[ab]", True, False),
        ("folder/", True, False),
        ("transcript", True, True),
        ("X", True, True),
        ("what the author said", True, True),
        ("docs/the notes.md", True, True),
        ("../outside", False, True),
        ("/etc/../x", False, True),
        ("", False, True),
    ],
)
def test_what_is_denied_is_a_pattern_or_told_or_both(entry: str, pattern: bool, told: bool) -> None:
    document = goal_document(fuzzy(), kind="hybrid")
    document["evaluator"]["denied_context"] = [entry]
    patterns, texts = denied_context(goal_from_document(document))
    assert (patterns, texts) == ((entry,) * pattern, (entry,) * told)


def test_nothing_is_denied_unless_the_contract_says_so() -> None:
    for denied in ({}, {"denied_context": None}, {"denied_context": []}):
        document = goal_document(fuzzy(), kind="hybrid")
        document["evaluator"].update(denied)
        assert denied_context(goal_from_document(document)) == ((), ())


# --- files ----------------------------------------------------------------------------------------


def test_files_are_given_with_their_name_and_what_was_not_read_of_them() -> None:
    made = Bench(fuzzy(evidence_paths=["docs/**", "*.md"]))
    made.world.document["evaluator"]["denied_context"] = ["*.pem", "the transcript"]
    made.files = EvidenceFiles(
        (("a.md", Raw(b"one", 7)), ("b.md", Raw(b"")), ("c.md", Raw(b"three"))), ("2 files", "more")
    )
    found = made.judge_context()
    assert found.items == (
        ContextItem("AC2", "file", FencedPart("", b"one", "a.md", 7)),
        ContextItem("AC2", "file", FencedPart("", b"three", "c.md", 0)),
    )
    assert found.left_out == ("AC2: 2 files", "AC2: more")
    assert found.missing == ()
    assert found.denied == ("the transcript",)
    ((patterns, denied),) = made.asked
    assert patterns == ("docs/**", "*.md")
    assert denied == ("*.pem", "the transcript", "/.decisions")


def test_files_are_looked_for_only_where_paths_of_an_unproved_criterion_name_them() -> None:
    made = Bench(criterion("AC1", evidence_paths=["src/**"]), fuzzy("AC2"), fuzzy("AC3"))
    made.files = EvidenceFiles((("a.md", Raw(b"one")),))
    found = made.judge_context()
    assert made.asked == []
    assert found.items == ()
    assert found.missing == tuple(
        MissingEvidence(id, why) for id in ("AC2", "AC3") for why in (NOTHING, OFF)
    )


@pytest.mark.parametrize("files", [(), (("a.md", Raw(b"")),), (("a.md", Raw(b"", 9)),)])
def test_files_without_content_are_missing(files: Any) -> None:
    made = Bench(fuzzy(evidence_paths=["docs/**"]))
    made.files = EvidenceFiles(files)
    found = made.judge_context()
    assert found.items == ()
    assert found.missing == (MissingEvidence("AC2", NO_FILE), MissingEvidence("AC2", NOTHING))


def test_nothing_is_missing_of_what_is_not_asked_about() -> None:
    found = Bench(criterion("AC1"), fuzzy()).judge_context()
    assert found.missing == (MissingEvidence("AC2", NOTHING), MissingEvidence("AC2", OFF))


# --- sidecars -------------------------------------------------------------------------------------


def test_the_newest_of_flows_own_is_given_and_no_older_one() -> None:
    made = Bench(fuzzy(evidence_command="./show"))
    for number in range(3):
        made.record(f"own-{number}", command=f"./show {number}", result="exit 0")
    found = made.judge_context()
    assert found.items == (
        ContextItem(
            "AC2",
            "output of its evidence_command (exit 0)",
            FencedPart("", b"out", "./show 2", 0),
            True,
        ),
    )
    assert found.missing == ()


def test_of_what_others_recorded_the_newest_five_come_after_flows_own() -> None:
    made = Bench(fuzzy())
    made.record("own", command="./show")
    for number in range(7):
        made.record(f"other-{number}", by=None, type="test_result", result="exit 0")
    assert made.shown() == [
        ("AC2", "./show", True),
        *(("AC2", f"other-{number}", False) for number in (6, 5, 4, 3, 2)),
    ]
    assert made.judge_context().items[1].kind == "a sidecar of type test_result"


@pytest.mark.parametrize(
    ("rows", "result", "command", "what", "source"),
    [
        ((fuzzy(),), None, None, "output of its evidence_command", "own"),
        ((fuzzy(),), "exit 3", "./a", "output of its evidence_command (exit 3)", "./a"),
        (
            (criterion("AC2"), fuzzy("AC3")),
            "exit 3",
            "./a",
            "output of its command (exit 3)",
            "./a",
        ),
        ((criterion("AC2"), fuzzy("AC3")), None, None, "output of its command", "own"),
    ],
)
def test_how_a_piece_of_flows_own_is_named(
    rows: Any, result: str | None, command: str | None, what: str, source: str
) -> None:
    made = Bench(*rows)
    body = {key: v for key, v in (("result", result), ("command", command)) if v is not None}
    made.record("own", **body)
    made.outputs["own"] = Raw(b"text", 5)
    (item,) = made.judge_context().items
    also = ("AC3",) if len(rows) == 2 else ()
    assert item == ContextItem("AC2", what, FencedPart("", b"text", source, 5), True, also)


@pytest.mark.parametrize("by", [None, "somebody", "flow-approve", "flow-baseline"])
def test_what_the_evaluator_did_not_write_is_of_others_even_where_it_is_on_record(
    by: str | None,
) -> None:
    made = Bench(fuzzy())
    made.record("theirs", by=by, type="test_result")
    assert made.shown() == [("AC2", "theirs", False)]
    assert made.judge_context().missing == (
        MissingEvidence("AC2", OTHERS),
        MissingEvidence("AC2", OFF),
    )


def test_what_is_not_on_record_is_of_others_whoever_it_says_wrote_it() -> None:
    made = Bench(fuzzy())
    made.record("forged")
    made.world.altered.add(sidecar("run-1", "forged"))
    assert made.shown() == [("AC2", "forged", False)]


@pytest.mark.parametrize(
    "skipped",
    [
        {"goal": "another"},
        {"type": "llm_judge_report"},
        {"type": "git_diff"},
        {"stamp": {"tree": "0" * 64}},
        {"stamp": {"contract": "0" * 64}},
        {"at": "2026-11-21T13:00:00Z"},
        {"by": None, "stamp": {"tree": "0" * 64}},
        {"by": None, "at": "2026-11-21T13:00:00Z"},
        {"criterion_digest": "0" * 64},
        {"about": []},
        {"about": ["AC9"]},
        {"text": b""},
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_is_skipped_hides_nothing_beside_it(skipped: dict[str, Any], first: bool) -> None:
    made = Bench(fuzzy())
    if first:
        made.record("skipped", **skipped)
    made.record("own")
    if not first and skipped != {"text": b""}:
        made.record("skipped", **skipped)
    assert made.shown() == [("AC2", "own", True)]


@pytest.mark.parametrize("stamp", [{"tree": None}, {}, {"contract": "0" * 64}, {"head": "0" * 40}])
def test_what_others_recorded_is_given_unless_it_names_other_files(stamp: dict[str, Any]) -> None:
    made = Bench(fuzzy())
    made.record("theirs", by=None, stamp=stamp)
    assert made.shown() == [("AC2", "theirs", False)]


@pytest.mark.parametrize("key", ["proves", "about"])
def test_a_sidecar_is_about_what_it_proves_or_names(key: str) -> None:
    made = Bench(fuzzy("AC2"), fuzzy("AC3"))
    made.record("both", **{"about": [], key: ["AC3", "AC2", "AC3"]})
    assert made.shown() == [("AC2", "both", True), ("AC3", "both", True)]
    made = Bench(fuzzy("AC2"), fuzzy("AC3"))
    made.record("own", proves=["AC2"], about=["AC2"])
    assert made.shown() == [("AC2", "own", True)]


MISSING: dict[str, tuple[list[dict[str, Any]], bool, list[str]]] = {
    # sidecars, whether a file is there: what is missing of a criterion with an evidence command
    "nothing": ([], False, [NO_OUTPUT, NOTHING]),
    "its output": ([{}], False, []),
    "an empty output": ([{"text": b""}], False, [NO_OUTPUT, NOTHING]),
    "a file alone": ([], True, [NO_OUTPUT]),
    "a file and its output": ([{}], True, []),
    "others": ([{"by": None}], False, [NO_OUTPUT, OTHERS]),
    "others and a file": ([{"by": None}], True, [NO_OUTPUT]),
    "others and its output": ([{"by": None}, {}], False, []),
    "older": ([{"stamp": {"tree": "0" * 64}}], False, [NO_OUTPUT, NOTHING, OLDER]),
    "older of others": (
        [{"by": None, "stamp": {"tree": "0" * 64}}, {"by": None}],
        False,
        [NO_OUTPUT, OTHERS, OLDER],
    ),
    "older and its output": ([{"stamp": {"tree": "0" * 64}}, {}], False, []),
    "older of another criterion": (
        [{"stamp": {"tree": "0" * 64}, "about": ["AC3"]}],
        False,
        [NO_OUTPUT, NOTHING],
    ),
    "an opinion": ([{"type": "llm_judge_report"}], False, [NO_OUTPUT, NOTHING, OPINION]),
    "an opinion of others": (
        [{"type": "llm_judge_report", "by": None, "proves": ["AC2"], "about": []}],
        False,
        [NO_OUTPUT, NOTHING, OPINION],
    ),
    "an opinion and its output": ([{"type": "llm_judge_report"}, {}], False, []),
    "a verdict": ([{"type": "verdict"}], False, [NO_OUTPUT, NOTHING]),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_said_to_be_missing(name: str) -> None:
    sidecars, file, expected = MISSING[name]
    more = {"evidence_paths": ["docs/**"]} if file else {}
    made = Bench(fuzzy(evidence_command="./show", **more))
    made.files = EvidenceFiles((("a.md", Raw(b"one")),))
    for number, body in enumerate(sidecars):
        made.record(f"sidecar-{number}", **body)
    assert made.judge_context().missing == tuple(MissingEvidence("AC2", why) for why in expected)


# --- contract, report, previous verdict -----------------------------------------------------------


def test_the_contract_is_given_without_what_is_asked_about() -> None:
    made = Bench(
        criterion("AC1", "make test", must_pass=False, limitations=["only Linux"]),
        fuzzy("AC2", limitations=["one reader"]),
        fuzzy("AC3"),
    )
    made.world.document["specification"] = {"summary": "caf\u00e9"}
    from flow.app.transitions import moves

    at = "2026-11-21T11:00:00Z"
    moves.approve(
        made.world.desk(at=at),
        "issue-4",
        "AC3",
        PersonsWord("sam", None, "seen"),
    )
    seen: list[JudgeCase] = []
    made.world.judge = lambda case: [seen.append(case), NoOpinion("only looking")][1]
    evaluate(Request("issue-4"), made.world.tools())
    found = made.judge_context(seen[0])
    assert [one.id for one in found.sought] == ["AC2"]
    assert [part.name for part in found.contract] == [
        "outcome",
        "other criteria",
        "limitations of criteria",
        "specification",
        "constraints",
    ]
    outcome, others, limits, specification, constraints = (str(p.text) for p in found.contract)
    assert outcome == "it works"
    assert json.loads(others) == [
        {"id": "AC1", "text": "AC1 holds", "must_pass": False, "verification_command": "make test"},
        {"id": "AC3", "text": "AC3 holds", "must_pass": True},
    ]
    assert json.loads(limits) == {"AC1": ["only Linux"], "AC2": ["one reader"]}
    assert specification == '{\n "summary": "caf\u00e9"\n}'
    assert json.loads(constraints) == {"allowed_paths": ["src/**"]}
    assert all(part.source == "" for part in found.contract)


def test_an_empty_part_of_the_contract_is_none() -> None:
    made = Bench(fuzzy())
    made.world.document["specification"] = {}
    assert [part.name for part in made.judge_context().contract] == ["outcome", "constraints"]


def test_what_the_commands_and_the_paths_came_to() -> None:
    made = Bench(
        criterion("AC1"),
        criterion("AC3", must_pass=False),
        fuzzy("AC2"),
        fuzzy("AC4", must_pass=False),
    )
    case = made.case()
    rows = list(case.measurement.rows)
    rows[0] = rows[0]._replace(outcome="passed", result="exit 0", reason="")
    rows[1] = rows[1]._replace(outcome="failed", result="exit 1", reason="the reason")
    measured = [*case.measured[:3], case.measured[3]._replace(approved=True)]
    case = case._replace(
        measurement=case.measurement._replace(rows=tuple(rows)), measured=tuple(measured)
    )
    assert made.judge_context(case).report.split("\n") == [
        "AC1 (must_pass): its command: passed, exit 0",
        "AC3 (not must_pass): its command: failed, exit 1, the reason",
        "AC2 (must_pass): no command proves it",
        "AC4 (not must_pass): a person has approved it",
        "The change stays inside the paths that the contract allows.",
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("inside", "The change stays inside the paths that the contract allows."),
        ("outside", "The change leaves the paths that the contract allows."),
        ("unknown", "Whether the change stays inside is not known."),
    ],
)
def test_where_the_change_lies(status: Any, said: str) -> None:
    made = Bench(fuzzy())
    case = made.case()
    case = case._replace(report=case.report._replace(status=status))
    assert made.judge_context(case).report == f"AC2 (must_pass): no command proves it\n{said}"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            "passed",
            f"; {limitation(BASE)}",
        ),
        ("failed", ""),
        ("inconclusive", ""),
        (None, ""),
    ],
)
def test_a_command_that_passed_before_the_change_is_said_to(outcome: Any, said: str) -> None:
    made = Bench(criterion("AC1"), fuzzy())
    case = made.case()
    known = {} if outcome is None else {"AC1": BaseRun("k", outcome, "exit 0", "", "")}
    case = case._replace(facts=case.facts._replace(base_runs=known))
    first = made.judge_context(case).report.split("\n")[0]
    assert first == f"AC1 (must_pass): its command: passed, exit 0{said}"


def test_the_rest_of_a_judge_context() -> None:
    made = Bench(fuzzy())
    made.world.document["continuation"] = {"max_iterations": 9}
    found = made.judge_context()
    assert (found.goal_id, found.turn, found.turns_left) == ("issue-4", 1, 8)
    assert found.sought == (SoughtCriterion("AC2", "AC2 holds", True, True),)
    assert (found.previous, found.denied, found.left_out) == (None, (), ())


@pytest.mark.parametrize(
    ("verdict", "previous"),
    [
        ({}, None),
        ({"verdict": "achieved"}, PreviousVerdict("It was achieved. Its words:", "")),
        ({"verdict": "blocked", "goal_id": "another"}, None),
        ({"verdict": "blocked", "reason": "a"}, PreviousVerdict("It was blocked. Its words:", "a")),
        (
            {"verdict": "blocked", "reason": "a", "next_step_hint": "b"},
            PreviousVerdict("It was blocked. Its words:", "a\nb"),
        ),
        (
            {"verdict": "blocked", "reason": 1, "next_step_hint": "b"},
            PreviousVerdict("It was blocked. Its words:", "b"),
        ),
        ({"verdict": "x" * 9, "reason": "a"}, None),
        (
            {
                "verdict": "not_achieved",
                "criterion_results": [
                    {"criterion_id": "AC1", "status": "pass"},
                    {"criterion_id": "AC2", "status": "pending"},
                    {"criterion_id": "AC3", "status": "evidence_collected"},
                    {"criterion_id": "AC4", "status": "fail"},
                    {"criterion_id": "AC5", "status": "splendid"},
                    {"criterion_id": "AC9", "status": "pass"},
                    {"criterion_id": "AC6"},
                    [],
                ],
            },
            PreviousVerdict(
                "It was not_achieved (AC1 pass, AC2 pending, AC3 evidence_collected, AC4 fail). "
                "Its words:",
                "",
            ),
        ),
        (
            {"verdict": "achieved", "criterion_results": {"criterion_id": "AC1"}},
            PreviousVerdict("It was achieved. Its words:", ""),
        ),
    ],
)
def test_what_is_given_of_the_previous_verdict(
    verdict: dict[str, Any], previous: PreviousVerdict | None
) -> None:
    made = Bench(*(fuzzy(f"AC{n}") for n in range(1, 7)))
    made.world.verdict = verdict
    assert made.judge_context().previous == previous
