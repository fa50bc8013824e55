"""Vacuous commands and masked exits (SPEC 10): the sources that show them, and when they are read.

The text of a command is classed once and remembered in the user's state folder, so that a hook does
not load the shell parser. The end of an output and the reports that a command names are read only
if it exited 0.
"""

from __future__ import annotations

import os

from flow.adapters.attribution import report_files
from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.contracts import formats
from flow.adapters.fs import files
from flow.core.attribution.reading import (
    LONGEST_WHY,
    RULE_FILE,
    WINDOW,
    Attribution,
    CommandReading,
)
from flow.core.attribution.rules import applies, read_rules
from flow.core.evidence.model import OTHER_CODE
from flow.core.text.display import visible
from flow.errors import ContractError, FlowError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.adapters.attribution.report_files import Stamp
    from flow.app.checks import Check, CheckEvents, CheckResult
    from flow.app.ports import RunChecks
    from flow.core.attribution.reading import Summary
    from flow.core.attribution.rules import Rule

REVISION = 33
"""To be raised when a command's classing changes without a change of Flow's version."""
RULES_LIMIT = 1 << 18
_NAMES_FILES = (".xml", ".json", ">", "tee")
_MAY_RUN_NOTHING = (
    *("make", "--if-present", "doctest", "python", "pypy", "node", "xargs"),
    *("command -v ", "which ", "type ", "hash "),
)
"""Words of commands that may end with 0 without having run anything."""
_NOT_BUILT = ("--no-build", "--skip-build", "--no-compile", "--no-rebuild", "test-without-building")
"""Words with which a runner tests what was built before."""
BUILDERS = ("make", "gmake", "npm", "pnpm", "yarn", "bun", "sh", "bash", "dash", "zsh", "ksh")
"""Programs whose files say what they start."""


class RunTrace(NamedTuple):
    """Output and reports of a run. A report is a summary, with the file (or `output`) it is of."""

    output: bytes
    """Its end, at most ``WINDOW`` bytes, from before the output was cut."""
    whole: bool
    """Whether that is all of it."""
    before: Mapping[str, Stamp]
    """The files that may be reports, as they were before the run."""
    written: Sequence[tuple[str, Summary]]
    """The reports in files that it has written."""
    named: Sequence[tuple[str, Summary]]
    """Those of them that the criterion names."""
    why_not_named: str
    """Why a file that the criterion names is no report."""

    def reports(self) -> list[tuple[str, Summary]]:
        """The reports in files, and the whole output if it is one."""
        printed = report_files.read_report(self.output) if self.whole else None
        return [*self.written, *([("output", printed)] if printed is not None else ())]


class Attributor:
    """Finds out why a run that exited 0 is no pass.

    ``top`` is the checkout's top level; ``cache_dir`` a folder of the user's own (mode 0700), or
    None to remember nothing; ``path`` the ``PATH`` of the commands, None if it is not known.
    """

    def __init__(self, top: str, cache_dir: str | None = None, path: str | None = None) -> None:
        self._path = path
        self._top = os.path.realpath(top)
        self._cache_dir = cache_dir
        self._readings: dict[str, CommandReading] = {}
        self._rules: tuple[Rule, ...] | None = None

    def reading(self, command: str) -> CommandReading:
        """The command, read from its text."""
        if command not in self._readings:
            self._readings[command] = self._remembered(command)
        return self._readings[command]

    def rules(self) -> tuple[Rule, ...]:
        """The project's own rules; raises :class:`ContractError` naming every fault of them."""
        if self._rules is None:
            data = files.read_optional(self._top, RULE_FILE, limit=RULES_LIMIT)
            self._rules = () if data is None else self._parsed(data)
        return self._rules

    def stamps(self, check: Check) -> dict[str, Stamp]:
        """The reports that a command may write, as they are before it runs."""
        if not self.rules() and not any(sign in check.command for sign in _NAMES_FILES):
            return {}

        reading = self.reading(check.command)
        named = list(reading.files)
        for rule in self.rules():
            if applies(rule, reading.commands):
                named += rule.report
        stamps: dict[str, Stamp] = {}
        for name in named:
            rel = os.path.normpath(os.path.join(check.cwd, name))
            if not os.path.isabs(rel) and not rel.startswith(".."):
                stamps[rel] = files.stamp(self._top, rel)
        return stamps

    def declared(self, check: Check) -> dict[str, Stamp]:
        """The reports that the criterion names, as they are now."""
        return report_files.stamps_below(self._top, check.cwd, check.report) if check.report else {}

    def trace(
        self,
        check: Check,
        result: CheckResult,
        before: Mapping[str, Stamp],
        declared: Mapping[str, Stamp],
    ) -> RunTrace:
        """The output and the reports of a run, each read once.

        ``before`` and ``declared`` are the results of :meth:`stamps` and :meth:`declared` from
        before the run.
        """
        output = self._output_end(result)
        named: list[tuple[str, Summary]] = []
        why = ""
        if check.report:
            named, why = report_files.written_reports(self._top, declared, self.declared(check))
        written = [*dict((*self._reports(before), *named)).items()]
        return RunTrace(output, _is_whole_output(output, result), before, written, named, why)

    def attribution(self, check: Check, trace: RunTrace) -> Attribution | None:
        """Why a run that passed is no pass; None if it is one."""
        reading = self.reading(check.command)
        if reading.masked_exit:
            return Attribution("masked", reading.masked_exit)
        data = trace.output
        no_work = self._no_work(check, reading, data)
        if no_work is not None:
            return no_work
        by_words = reading.runners or reading.idle_option or reading.guarded_runner
        asked = trace.before or check.report or by_words or self.rules()
        builds = _builds(reading)
        if not data and not asked and not builds:
            return None  # no runner, no report, no rule
        from flow.core.attribution.attribute import (
            all_reports,
            answered_no,
            lines_of,
            not_reported,
            reported_failure,
            vacuous,
        )

        if check.report and not any(summary.failed for _, summary in trace.named):
            held_back = not_reported(check.report, trace.named, trace.why_not_named)
            if held_back is not None:
                return held_back
        reports = trace.reports()
        ends = [data] if data or reports else self._logged(trace.before)
        lines = [line for end in ends for line in lines_of(end)]
        shown = all_reports(reading, lines, reports)
        failure = reported_failure(reading, shown) or answered_no(reading, lines)
        if failure is not None:
            return failure
        found = vacuous(
            reading,
            lines,
            whole=trace.whole,
            reports=reports,
            rules=self.rules(),
            read=self.reading,
            builder_commands=lambda: self._builder_commands(check, reading) if builds else [],
        )
        if found is None and builds and not any(summary.ran for _, summary in shown):
            found = _idle_runs().masked_script(self._top, check, reading.commands, self.reading)
        return found

    def tests_ran(self, check: Check, trace: RunTrace) -> int | None:
        """Number of tests that a run's reports show; None where no runner is known to have run."""
        reading = self._reporting(check, trace)
        if reading is None:
            return None
        from flow.core.attribution.attribute import lines_of, number_of_tests

        return number_of_tests(reading, lines_of(trace.output), trace.written, whole=trace.whole)

    def skipped(self, check: Check, trace: RunTrace) -> str:
        """The limitation of a pass in which tests were skipped; empty without one."""
        reading = self.reading(check.command)
        if self._reporting(check, trace) is None and not (reading.only_runner and trace.output):
            return ""
        from flow.core.attribution.attribute import lines_of, skipped_tests

        return skipped_tests(reading, lines_of(trace.output), trace.written, whole=trace.whole)

    def elsewhere(self, check: Check) -> str:
        """The limitation of a pass whose tests may have run other code than this; else empty."""
        reading = self.reading(check.command)
        if reading.without_asserts:
            return f"{OTHER_CODE}Python ran without asserts (-O), but for those of pytest's files"
        words = [word for words in reading.commands for word in words]
        old = next((word for word in words if word in _NOT_BUILT), "")
        if old and reading.only_runner:
            return f"{OTHER_CODE}{old} runs what was built before, perhaps from other files"
        temporary = any(place in check.command for place in ("tmp/", "shm/"))
        place = temporary and _programs().of_temporary_folder(check.command, self._top)
        if place:
            return (
                f"{OTHER_CODE}{visible(place)} is outside of this checkout: anything may change it"
            )
        tests = bool(reading.runners or reading.only_runner) and "build" not in check.command
        if tests and any(map(_is_unmounted, reading.commands)):
            return (
                f"{OTHER_CODE}an image without a mount (-v) has the files as it was built with them"
            )
        python = {"pytest", "unittest"}.intersection(reading.runners) or _builds(reading)
        if not python or "PYTHONPATH" in check.command:
            return ""
        named = [words[0] for words in reading.commands if "/" in words[0]]
        paths = [os.path.join(self._top, check.cwd, name) for name in named]
        place = _programs().installed_elsewhere(self._top, paths, self._path)
        if not place:
            return ""
        flat = os.path.isfile(os.path.join(place, "pyproject.toml"))
        first = "-m" in check.command.split() or os.path.isfile(f"{self._top}/conftest.py")
        if flat and first:  # the current folder comes before what is installed
            return ""
        return (
            f"{OTHER_CODE}Python imports this project from another checkout, {visible(place)}, so "
            "its tests may have run that (pip install -e . here, or PYTHONPATH)"
        )

    def _reporting(self, check: Check, trace: RunTrace) -> CommandReading | None:
        """The command, if it may have reported the tests that it ran; else None."""
        if not trace.output and not trace.written:
            return None
        reading = self.reading(check.command)
        return reading if trace.written or reading.runners or _builds(reading) else None

    def shows_nothing(self, check: Check, result: CheckResult, trace: RunTrace) -> str:
        """Why a run on the base commit that failed shows no test that failed; empty: it does."""
        from flow.core.attribution.absent import shows_nothing
        from flow.core.attribution.attribute import lines_of

        reading = self.reading(check.command)
        reports = trace.reports()
        why = shows_nothing(reading, lines_of(trace.output), result.exit_code, reports)
        if why or any(summary.ran for _, summary in reports):
            return why
        folder = os.path.join(self._top, check.cwd)
        absent = _programs().missing(reading.piped_programs, folder, self._path)
        return f"a command was not found: {absent}" if absent else ""

    def _no_work(self, check: Check, reading: CommandReading, data: bytes) -> Attribution | None:
        """Why a run is no pass that checked nothing, or could not do its work."""
        asks = any(word in check.command for word in _MAY_RUN_NOTHING)
        looked = b" pass " in data or asks or reading.only_checkers
        if not (looked or reading.first_only or reading.unheard or reading.must_fail):
            return None
        idle_runs = _idle_runs()
        idle: Attribution | None
        idle = idle_runs.read_first_only(self._top, check, reading.first_only)
        if idle is None and looked:
            idle = idle_runs.idle_run(self._top, check, reading, data)
        if idle is None:
            idle = idle_runs.failed_run(self._top, check, reading, data, self._path)
        return idle

    def _builder_commands(self, check: Check, reading: CommandReading) -> list[str]:
        """The commands that builders start for it, which they need not print."""
        lines: list[str] = _idle_runs().builder_commands(self._top, check, reading.commands)
        return lines

    def _output_end(self, result: CheckResult) -> bytes:
        """The last bytes that it printed, read before the output was cut."""
        path = result.output_end or (result.output.path if result.output is not None else None)
        if path is None or (result.output is not None and result.output.size == 0):
            return b""
        rel = os.path.relpath(path, self._top)
        return files.read_end(self._top, rel, limit=WINDOW)

    def _reports(self, before: Mapping[str, Stamp]) -> list[tuple[str, Summary]]:
        """The reports that the run has written; an unchanged older one is no sign of this run."""
        summaries = []
        for rel in self._rewritten(before):
            try:
                data = files.read_optional(self._top, rel, limit=report_files.LIMIT)
            except FlowError:  # a link, a folder, too large: no report
                continue
            summary = report_files.read_report(data) if data is not None else None
            if summary is not None:
                summaries.append((rel, summary))
        return summaries

    def _logged(self, before: Mapping[str, Stamp]) -> list[bytes]:
        """The ends of the files that got the output of a run that printed nothing."""
        ends: list[bytes] = []
        for rel in self._rewritten(before):
            with suppress(FlowError):  # a link, a folder: no report
                ends.append(files.read_end(self._top, rel, limit=WINDOW))
        return ends

    def _rewritten(self, before: Mapping[str, Stamp]) -> list[str]:
        return [rel for rel, known in before.items() if files.stamp(self._top, rel) != known]

    def _remembered(self, command: str) -> CommandReading:
        key = f"command {REVISION}\n{command}".encode("utf-8", "surrogatepass")

        def read() -> dict[str, Any]:
            from flow.adapters.attribution.shell_syntax import parse_shell
            from flow.core.attribution.attribute import read_command

            return read_command(command, parse_shell).to_document()

        return CommandReading.from_document(self._cached(key, "command", read))

    def _parsed(self, data: bytes) -> tuple[Rule, ...]:
        def read() -> dict[str, Any]:
            parsed: dict[str, Any] = formats.parse_yaml(data, file=RULE_FILE, what="rule file")
            return parsed

        rules, faults = read_rules(self._cached(data, "runners", read))
        if faults:
            raise ContractError(faults)
        return rules

    def _cached(self, key: bytes, kind: str, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if self._cache_dir is None:
            return read()
        entry = contracts_cache.load_checked(self._cache_dir, key, kind)
        if entry is not None:
            return entry[0]
        document = read()
        contracts_cache.store_checked(self._cache_dir, key, document, [], kind)
        return document


def attributed(
    run_checks: RunChecks, attributor: Attributor, *, on_base: bool = False
) -> RunChecks:
    """``run_checks`` with inconclusive results for vacuous passes and those with a masked exit.

    ``on_base``: also for failures that show no test that failed (red first).
    """

    def run(checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        attributor.rules()  # raises for a broken rule file before anything runs
        own = _AttributedEvents(attributor, events, on_base=on_base)
        run_checks(checks, jobs=jobs, events=events._replace(started=own.started, ended=own.ended))

    return run


class _AttributedEvents:
    """Events of commands that run: each result is attributed before it is handed on."""

    def __init__(self, attributor: Attributor, events: CheckEvents, *, on_base: bool) -> None:
        self._attributor, self._events, self._on_base = attributor, events, on_base
        self._before: dict[str, tuple[dict[str, Stamp], dict[str, Stamp]]] = {}
        """The reports before each run that is under way, by criterion."""

    def started(self, check: Check) -> None:
        attributor = self._attributor
        self._events.started(check)
        self._before[check.criterion_id] = (attributor.stamps(check), attributor.declared(check))

    def ended(self, check: Check, result: CheckResult) -> Callable[[], None] | None:
        stamps = self._before.pop(check.criterion_id)
        if result.outcome in ("passed", "failed"):
            trace = self._attributor.trace(check, result, *stamps)
            result = result._replace(tests_ran=self._attributor.tests_ran(check, trace))
            if result.outcome == "passed":
                result = self._passed(check, result, trace)
            elif self._on_base:
                result = self._failed_on_base(check, result, trace)
        return self._events.ended(check, result)

    def _passed(self, check: Check, result: CheckResult, trace: RunTrace) -> CheckResult:
        attribution = self._attributor.attribution(check, trace)
        if attribution is not None:
            return result._replace(
                outcome="inconclusive",
                reason=attribution.reason,
                attribution=attribution.to_document(),
            )
        more = (self._attributor.skipped(check, trace), self._attributor.elsewhere(check))
        return result._replace(limitations=(*result.limitations, *filter(None, more)))

    def _failed_on_base(self, check: Check, result: CheckResult, trace: RunTrace) -> CheckResult:
        why = self._attributor.shows_nothing(check, result, trace)
        if not why:
            return result
        reason = visible(f"not red: {why[:LONGEST_WHY]}")
        return result._replace(outcome="inconclusive", reason=reason)


def _is_unmounted(words: Sequence[str]) -> bool:
    """Whether it is ``docker run`` of an image that is given no folder of this machine."""
    runs = words[0] in ("docker", "podman", "nerdctl") and words[1:2] == ("run",)
    return runs and not any(word.startswith(("-v", "--volume", "--mount")) for word in words)


def _programs() -> Any:
    """The module, which a command that needs nothing of it does not load."""
    from flow.adapters.attribution import programs

    return programs


def _idle_runs() -> Any:
    """The module, as that of :func:`_programs`."""
    from flow.adapters.attribution import idle_runs

    return idle_runs


def _builds(reading: CommandReading) -> bool:
    """Whether it starts builders or scripts, which may run tests."""
    return any("/" in words[0] or words[0] in BUILDERS for words in reading.commands)


def _is_whole_output(data: bytes, result: CheckResult) -> bool:
    """Whether ``data``, the end of an output, is all of it."""
    return len(data) < WINDOW and (result.output_end is not None or not result.truncated_bytes)
