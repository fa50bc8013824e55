"""The folder of a debate's reports, and the context of its turns."""

from __future__ import annotations

from flow.adapters.debates.log import DebateLog
from flow.adapters.debates.reports import ReportNames, claim_reports
from flow.adapters.fs import clock
from flow.adapters.judges.asking import BackendJudge
from flow.adapters.judges.given_judge import random_nonce
from flow.adapters.process.in_threads import run_in_threads
from flow.adapters.process.redaction import redacted_text
from flow.adapters.process.secret_values import secret_values
from flow.core.secrets.redact import redact
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.adapters.debates.reports import Reports
    from flow.app.judging.debate_calls import Spent
    from flow.app.judging.port import AskJudge, NoAnswer


class DebateContext(NamedTuple):
    """A :class:`~flow.app.judging.debate_calls.DebateContextPort` of plain values.

    ``top`` is the folder around the reports, ``checkout`` the repository around it, if any.
    """

    top: str
    checkout: str | None
    common_dir: str | None
    state_dir: str
    reports_dir: str
    environ: Mapping[str, str]
    seconds: float
    announce: Callable[[str, bytes], None] = lambda *_: None
    """Gets path and bytes of each report before it is written."""

    def nonce(self, content: str) -> str:
        """A nonce that cannot be known beforehand."""
        return random_nonce(content)

    def run_in_threads(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of the calls, which run at the same time."""
        return run_in_threads(calls)

    def redact_text(self, text: str) -> str:
        """The text without secrets."""
        return redacted_text(text, self.environ)

    def redact(self, data: bytes) -> bytes:
        """The bytes without secrets."""
        return redact(data, secret_values(self.environ)).data

    def claim_reports(
        self, name: str, debate: str, judges: int, warn: Callable[[str], None]
    ) -> AbstractContextManager[Reports]:
        """The files of the debate with this digest: those that it began, else new ones."""
        log = DebateLog(self.state_dir, self.top, self.checkout, self.common_dir)
        names = ReportNames(self.top, self.reports_dir.strip("/"), name, clock.today())
        return claim_reports(names, debate, judges, log, warn, self.announce)

    def charge(self, judges: Sequence[AskJudge | NoAnswer], spent: Spent) -> None:
        """Count the costs of earlier runs against the judges' limits; a shared judge only once."""
        budgets = {
            id(judge.budget): judge.budget for judge in judges if isinstance(judge, BackendJudge)
        }
        for budget in budgets.values():
            budget.charge(spent.usd, untold=spent.untold)
