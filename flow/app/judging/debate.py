"""A debate between judges (SPEC 9.4), as one list of steps.

*every judge assesses, at once → checks its own draft → writes its file → while they do not agree:
every judge reads the others' files and appends a debate to its own → count.*

What decides is read from the files' structured parts. A judge without a usable answer, and a file
that is not what Flow wrote, end the debate without a consensus.
"""

from __future__ import annotations

from functools import partial

from flow.app.judging.asking import Asking, total
from flow.app.judging.port import AskJudge, JudgeAnswer, NoAnswer, Usage, name_of
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate import prompt as debate_prompt
from flow.core.judging.debate import report as debate_report
from flow.core.judging.debate.prompt import DebateQuestion, Others, ReportFile, others_of
from flow.core.judging.debate.reply import DebateReply, read_reply
from flow.core.judging.debate.section import Altered, DebateSubject, Disagreement, Section
from flow.core.judging.debate.state import (
    DebateJudge,
    DebateState,
    Mode,
    SilentJudge,
    agreement_of_round,
)
from flow.core.judging.debate.words import remarks
from flow.core.text.numbers import shown
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.judging.common.question import Question, Unusable
    from flow.core.judging.debate.model import Agreement

TRIES = 2
"""Most attempts at one question, not counting the backend's own retries."""
AGAIN = frozenset({"wrong_shape", "not_json", "empty", "cut_off", "error"})
"""Answers after which the same question may get a usable one."""


class Written(NamedTuple):
    """A report file. ``genuine``: its bytes are those that Flow wrote."""

    text: str
    genuine: bool


class ReportFiles(Protocol):
    """The report files of one debate, by the judge's number."""

    def path(self, judge: int) -> str:
        """Path of the judge's report file, below the top level."""

    def load(self, judge: int) -> Written | None:
        """The report on disk now; None without a file, :class:`Altered` if it is no report."""

    def append(self, judge: int, text: str) -> None:
        """Add to the file; :class:`Altered` if it is not as it was left."""

    def paid(self, judge: int, cost_usd: float | None) -> None:
        """Record at once what an answer cost; None if the judge did not tell."""


class AskingPort(Protocol):
    """Interface of a debate's questions to the outside: nonces, threads, redaction."""

    def nonce(self, content: str) -> str:
        """A nonce for a text that is going to be fenced."""

    def run_in_threads(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """Call all of them at once; the results in the same order."""

    def redact_text(self, text: str) -> str:
        """``text`` without its secrets."""


class Watcher(Protocol):
    """Shows progress; called from several threads."""

    def asking(self, judge: int, name: str, what: str, seconds: float) -> None:
        """A judge is being asked."""

    def wrote(self, judge: int, what: str, score: str) -> None:
        """A judge's part of its report is on disk."""

    def silent(self, judge: int, what: str, why: str) -> None:
        """A judge gave no usable answer."""

    def counted(self, rounds: int, agreement: Agreement) -> None:
        """All have answered."""


class DebateRequest(NamedTuple):
    """A debate that is to be held."""

    question: DebateQuestion
    about: DebateSubject
    judges: tuple[AskJudge | NoAnswer, ...]
    """In the order of their numbers; one that cannot be asked is an answer already."""
    rounds: int
    mode: Mode
    seconds: float
    """For one call, the backend's own retries included."""


class DebateTools(NamedTuple):
    """The interfaces of a debate to the outside."""

    files: ReportFiles
    context: AskingPort
    watch: Watcher


def hold_debate(request: DebateRequest, tools: DebateTools) -> DebateState:
    """Hold the debate, or go on with it where its files say it has got to."""
    return _Debate(request, tools).run()


class _Debate:
    def __init__(self, request: DebateRequest, tools: DebateTools) -> None:
        self._request, self._tools = request, tools
        self._numbers = range(1, len(request.judges) + 1)
        self._sections: dict[int, tuple[Section, ...]] = {}
        self._agreements: list[Agreement] = []
        self._silent: list[SilentJudge] = []
        self._altered: dict[str, str] = {}
        """By path, how a file was first seen to differ."""
        self._notes: dict[str, None] = {}
        self._usages: list[Usage] = []

    def run(self) -> DebateState:
        request = self._request
        for round in range(request.rounds + 1 if request.mode == "debate" else 1):
            if not self._read():
                break
            self._turn(round)
            if not self._read() or self._silent:
                break
            reports = [self._sections[number] for number in self._numbers]
            agreement = agreement_of_round(request.question.criteria, reports, round)
            self._agreements.append(agreement)
            self._tools.watch.counted(round, agreement)
            if agreement.reached:
                break
        return self._held()

    def _read(self) -> bool:
        """Take every file as it is now; whether all of them are what Flow wrote."""
        for number in self._numbers:
            try:
                written = self._tools.files.load(number)
                self._sections[number] = () if written is None else self._parts(number, written)
            except Altered as error:
                self._altered.setdefault(self._tools.files.path(number), str(error))
        return not self._altered

    def _parts(self, number: int, written: Written) -> tuple[Section, ...]:
        sections = debate_report.read(self._request.about, number, written.text)
        if not written.genuine:
            raise Altered("somebody changed both its text and its structured parts")
        return sections

    def _turn(self, round: int) -> None:
        """Ask every judge that has not had this turn, all at once."""
        wanting = [n for n in self._numbers if len(self._sections[n]) == round]
        reports = self._reports(round) if round else []
        own = {n: tuple(s.position for s in self._sections[n][:round]) for n in wanting}
        turns = [_Turn(self._request, self._tools, n, own[n], reports) for n in wanting]
        self._tools.context.run_in_threads([turn.take for turn in turns])
        for turn in turns:
            self._usages += turn.asking.usages
            self._notes.update(dict.fromkeys(turn.notes))
            if turn.silent is not None:
                self._silent.append(turn.silent)
            if turn.altered:
                self._altered.setdefault(self._tools.files.path(turn.number), turn.altered)

    def _reports(self, round: int) -> list[ReportFile]:
        """Every judge's report of the rounds before ``round``, for the prompts of this one."""
        return [
            ReportFile(
                number,
                self._tools.files.path(number),
                "".join(debate_report.render(self._request.about, section) for section in sections),
                dict(debate_points.all_numbered([section.position for section in sections])),
            )
            for number in self._numbers
            for sections in [self._sections[number][:round]]
        ]

    def _held(self) -> DebateState:
        request = self._request
        rows = zip(self._numbers, request.judges, strict=True)
        return DebateState(
            request.about,
            request.mode,
            tuple(
                DebateJudge(
                    number,
                    name_of(judge),
                    self._tools.files.path(number),
                    self._sections.get(number, ()),
                )
                for number, judge in rows
            ),
            max(len(self._agreements) - 1, 0),
            tuple(self._agreements),
            tuple(self._silent),
            tuple(self._altered.items()),
            tuple(dict.fromkeys((*self._notes, *remarks(self._sections)))),
            total(usage.cost_usd for usage in self._usages),
            len(self._usages),
        )


class _Turn:
    """One judge's turn: the questions to it, and what it appends to its file."""

    def __init__(
        self,
        request: DebateRequest,
        tools: DebateTools,
        number: int,
        history: tuple[debate_model.Position, ...],
        reports: list[ReportFile],
    ) -> None:
        """``history``: this judge's own earlier positions; as many as turns it has had."""
        self._request, self._tools, self._reports = request, tools, reports
        self._history, self._round = history, len(history)
        self.number = number
        self._judge = request.judges[number - 1]
        self.asking = Asking(self._answer, redact=tools.context.redact_text)
        self.notes: dict[str, None] = {}
        self.silent: SilentJudge | None = None
        self.altered = ""

    def take(self) -> None:
        """Ask, and write what came of it."""
        section = self._assess() if self._round == 0 else self._debate()
        what = "assessment" if self._round == 0 else f"debate {self._round}"
        if isinstance(section, NoAnswer):
            self.silent = SilentJudge(self.number, self._round, section.kind, section.reason)
            self._tools.watch.silent(self.number, what, section.reason)
            return
        try:
            self._tools.files.append(
                self.number, debate_report.render(self._request.about, section)
            )
        except Altered as error:
            self.altered = str(error)
            return
        score = debate_model.overall(self._request.question.criteria, section.position)
        self._tools.watch.wrote(self.number, what, shown(score))

    def _assess(self) -> Section | NoAnswer:
        question, number = self._request.question, self.number
        draft = self._ask(
            "assessment", lambda nonce: debate_prompt.assess(question, number, nonce), ""
        )
        if isinstance(draft, NoAnswer):
            return draft
        before = tuple(mark.score for mark in draft.position.marks)
        own = debate_report.render(self._request.about, Section(0, draft.position, before))
        final = self._ask(
            "its own check", lambda nonce: debate_prompt.verify(question, number, nonce, own), own
        )
        if isinstance(final, NoAnswer):
            return final
        return Section(0, final.position, before, final.verification)

    def _debate(self) -> Section | NoAnswer:
        question, number, round = self._request.question, self.number, self._round
        reports, history = self._reports, self._history
        whole = "".join(report.text for report in reports)
        reply = self._ask(
            f"debate {round}",
            lambda nonce: debate_prompt.debate(question, number, round, nonce, reports),
            whole,
        )
        if isinstance(reply, NoAnswer):
            return reply
        about = self._request.about
        others = [
            debate_report.read(about, report.judge, report.text)[-1].position
            for report in reports
            if report.judge != number
        ]
        changes = debate_model.revisions([*history, reply.position])
        flagged = tuple(c.criterion for c in changes if c.round == round and c.conformity)
        return Section(
            round,
            reply.position,
            tuple(mark.score for mark in history[-1].marks),
            disagreements=_disagreements(debate_model.gaps(history[-1], others), reply),
            conformity=flagged,
            shares=reply.shares,
            unknown_points=reply.unknown_points,
            agrees_with=reply.agrees_with,
        )

    def _ask(self, what: str, make: Callable[[str], Question], more: str) -> DebateReply | NoAnswer:
        """One question, put again where the answer was not usable."""
        judge, seconds = self._judge, self._request.seconds
        if isinstance(judge, NoAnswer):
            return judge
        material = "\0".join([repr(self._request.question), str(self.number), what, more])
        label = f"debate, judge {self.number}, {what}"
        reply: DebateReply | NoAnswer
        for attempt in range(TRIES):
            nonce = self._tools.context.nonce(f"{material}\0{attempt}")
            question = make(nonce)._replace(label=label)
            if attempt == TRIES - 1:  # one that still lacks answers counts, and that is said
                question = question._replace(
                    schema=debate_prompt.without_verification(question.schema)
                )
            self._tools.watch.asking(self.number, judge.name, what, seconds)
            self.notes.update(dict.fromkeys(question.reports))
            reply = self.asking.ask(question, partial(self._read, question))
            if not isinstance(reply, NoAnswer) or reply.kind not in AGAIN:
                break
        return reply

    def _answer(self, question: Question) -> JudgeAnswer | NoAnswer:
        """The judge's answer; what it cost is on record at once."""
        if isinstance(self._judge, NoAnswer):
            return self._judge
        answer = self._judge(question, seconds=self._request.seconds)
        if isinstance(answer, JudgeAnswer) or answer.usage.cost_usd is not None:
            self._tools.files.paid(self.number, answer.usage.cost_usd)
        return answer

    def _read(self, question: Question, value: Mapping[str, Any]) -> DebateReply | Unusable:
        return read_reply(
            self._request.question.criteria,
            self.number,
            value,
            question.quotable,
            others_of(self._reports, self.number) if self._reports else Others(),
            verified="verification" in question.schema["required"],
        )


def _disagreements(
    gaps: Sequence[debate_model.Gap], reply: DebateReply
) -> tuple[Disagreement, ...]:
    """Every gap, with what the judge said about it."""
    disputes = {(dispute.judge, dispute.criterion): dispute for dispute in reply.disputes}
    rows = []
    for gap in gaps:
        dispute = disputes.get((gap.judge, gap.criterion))
        texts = ("", "") if dispute is None else (dispute.defense, dispute.challenge)
        rows.append(Disagreement(gap.judge, gap.criterion, gap.mine, gap.theirs, *texts))
    return tuple(rows)
