"""Whether an exit 0 can be attributed to tests that ran (SPEC 10, *attributable*).

``vacuous``: a known runner was started or reports, and no report shows a test that ran. ``masked``,
a masked exit: the exit status cannot show a failure, or a runner reports a failure in spite of it.
Both make a pass inconclusive; nothing here turns a failed command into a pass.
"""

from __future__ import annotations

import re

from flow.core.attribution.echoed import echoed_runner
from flow.core.attribution.first_files import first_only, why_first_only
from flow.core.attribution.idle_builds import idle_gradle, idle_make
from flow.core.attribution.idle_checkers import GREP, asks_only, checkers, idle_checker
from flow.core.attribution.reading import WINDOW, Attribution, CommandReading, Summary
from flow.core.attribution.report_readers import (
    BEGINNINGS,
    ONE_REPORT,
    READERS,
    pytest_exit,
)
from flow.core.attribution.rules import Rule, applies, says_nothing_ran
from flow.core.masked_exit.programs import ASIDE, HANDS_ON, TESTS, main_programs
from flow.core.masked_exit.rules import exits, nested_commands
from flow.core.masked_exit.runner_names import mentioned_runner, report_of, runner_of, started
from flow.core.masked_exit.runner_options import (
    option_for_failed,
    option_without_tests,
    starts_if_there,
)
from flow.core.masked_exit.runner_words import (
    code_of,
    drops_asserts,
    is_interpreter,
    python_of,
    sets_optimize,
)
from flow.core.masked_exit.shell import ShellNode, base_name, commands, constructs, plain_words
from flow.core.text.display import joined, visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.core.attribution.idle_checkers import SearchedFolders
    from flow.core.masked_exit.runner_names import Runner

LONGEST_LINE = 500
"""Characters; a longer line is no summary."""
MOST_FILES = 16
"""Largest number of files that are read as possible test reports of one command."""
MOST_QUOTES = 3
"""Reports of one run that its limitation quotes."""
_CHOSEN = re.compile(r"\b[1-9]\d* (?:deselected|filtered out)\b")
_SKIPPED = re.compile(r"\b[1-9]\d* (?:skipped|xfailed|ignored)\b")
_IGNORED = re.compile(
    r"\S*make(?:\[\d+\])?: .*Error \d+ \(ignored\)|\S+: (?:SKIP|IGNORED FAIL code \d+) \(.*\)"
    r"|nox > Session .* skipped: .*"
)
"""The line of a recipe that begins with ``-``, or of ``.IGNORE``; of an environment of tox with
``ignore_outcome``, or that tox or nox left out (recorded, GNU make 4.3, tox 4, nox 2026).
"""


def read_command(text: str, parse: Callable[[str], ShellNode | None]) -> CommandReading:
    """Classify a command by its text; a command that cannot be parsed yields an empty reading."""
    node = parse(text)
    if node is None:
        return _not_understood(text)
    exit_analysis = exits(node, parse)
    programs = [plain_words(command.words) for command in commands(node)][:200]
    inner = [plain_words(command.words) for command in nested_commands(node, parse)][:200]
    known = tuple(filter(None, map(_known_words, programs)))
    runners = [runner for runner in map(started, (*programs, *inner)) if runner.name]
    forms = dict.fromkeys(runner.form for runner in runners)
    optional = next((runner.name for runner in runners if starts_if_there(runner)), "")
    first = list(first_only((*programs, *inner)))
    dropped = next((why_first_only(each.program) for each in first if each.certain), "")
    failed_only = _always_with(option_for_failed, runners)
    if failed_only and not dropped:
        dropped = f"`{failed_only}` leaves out the tests that passed before"
    without_asserts = sets_optimize(text) or any(map(drops_asserts, (*programs, *inner)))
    if without_asserts and not dropped and any(map(_only_asserts, (*programs, *inner))):
        dropped = NO_ASSERTS
    computed = any(None in words and words[0] not in TESTS for words in (*programs, *inner))
    passes_by_failing = bool(exit_analysis.unheard or exit_analysis.must_fail)
    inverts = "!" in text or passes_by_failing
    return CommandReading(
        masked_exit=exit_analysis.masked_exit or dropped,
        only_runner=_only_runner(node, programs),
        commands=known,
        files=tuple(dict.fromkeys((*_named_files(known), *_written_files(node))))[:MOST_FILES],
        runners=tuple(filter(None, forms)),
        certain_runners=exit_analysis.certain,
        idle_option=_always_with(option_without_tests, runners) or asks_only(known),
        second_try=exit_analysis.second_try,
        inverted=exit_analysis.inverted,
        piped_programs=_piped_programs(node),
        guarded_runner=exit_analysis.guarded or optional,
        only_checkers=not computed and _may_check_nothing(checkers(known), inverts),
        unheard=exit_analysis.unheard,
        must_fail=exit_analysis.must_fail,
        first_only=tuple((each.program, *each.files) for each in first if not each.certain),
        without_asserts=without_asserts,
    )


NO_ASSERTS = "Python takes every assert out of what it runs here, so that none fails: leave -O out"


def _only_asserts(words: Sequence[str | None]) -> bool:
    """Whether the asserts of Python's code, or of pytest's test files, are its only checks."""
    code = code_of(python_of(tuple(words))) or ""
    return "--assert=plain" in words or (
        re.search(r"\bassert\b", code) is not None and not re.search("exit|raise", code)
    )


def _may_check_nothing(searched: Sequence[SearchedFolders], by_failing: bool) -> bool:
    """Whether these checkers may pass without a file; ``grep`` only where it may have to fail."""
    return any(each.program != GREP or by_failing for each in searched)


def _piped_programs(node: ShellNode) -> tuple[str, ...]:
    """The programs inside pipes, except those whose name a shell function takes."""
    names: dict[str, None] = {}
    for part in constructs(node):
        if part.kind == "function":
            return ()
        for member in part.parts if part.kind == "pipe" else ():
            words = plain_words(member.words) if member.kind == "command" else ()
            if words and words[0]:
                names[words[0]] = None
    return tuple(names)


def _always_with(option_of: Callable[[Runner], str], runners: Sequence[Runner]) -> str:
    """The runner with such an option; empty if it is also started without one."""
    options = [option_of(runner) for runner in runners]
    run = {runner.name for runner, option in zip(runners, options, strict=True) if not option}
    for runner, option in zip(runners, options, strict=True):
        if option and runner.name not in run:
            return f"{runner.name} {option}"
    return ""


def _not_understood(text: str) -> CommandReading:
    """The reading of a text that cannot be parsed: masked if a runner is in it, else empty."""
    words = mentioned_runner(text)
    if words is None:
        return CommandReading()
    name = runner_of(words)
    why = f"the shell text is not understood, so that `{name}` may fail unheard: write it plainly"
    return CommandReading(why, runners=tuple(filter(None, [report_of(words)])))


def _known_words(words: Sequence[str | None]) -> tuple[str, ...]:
    """The words up to the first one that the shell computes."""
    known = []
    for word in words[:100]:
        if word is None:
            break
        known.append(word[:1000])
    return tuple(known)


def _named_files(programs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for words in programs:
        for word in words:
            name = word.rpartition("=")[2].rpartition(":")[2]
            if name.endswith((".xml", ".json")) and "\0" not in name and len(name) < 500:
                names[name] = None
    return tuple(names)[:MOST_FILES]


def _written_files(node: ShellNode) -> list[str]:
    """The files that receive output of the command's programs."""
    names: list[str] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        names += part.writes
        words = plain_words(part.words) if part.kind == "command" else ()
        if words and base_name(words[0] or "") == "tee":
            names += [word for word in words[1:] if word is not None and word[:1] != "-"]
        waiting.extend(part.parts)
    return [name for name in names if "\0" not in name and 0 < len(name) < 500]


def _only_runner(node: ShellNode, programs: Sequence[tuple[str | None, ...]]) -> str:
    """The only runner that a command starts, and starts once; empty if others might run, too."""
    repeated = ("for", "while", "until", "function", "unknown")
    if any(part.kind in repeated for part in constructs(node)):
        return ""
    others = [w for w in programs if not w or w[0] is None or base_name(w[0]) not in ASIDE]
    runner = started(others[0]) if len(others) == 1 else None
    return "" if runner is None or runner.is_wrapped else runner.name


def lines_of(data: bytes) -> list[str]:
    """The lines at the end of an output, without escapes; a rewritten line as it ended.

    Lines of scripts that ran at once are sorted by script.
    """
    text = without_escapes(data[-WINDOW:].decode("utf-8", "replace"))
    lines = []
    for line in text.split("\n"):
        shown = line.rstrip("\r").rpartition("\r")[2].rstrip()
        lines.append(shown if len(shown) <= LONGEST_LINE else "")
    return _by_script(lines)


_SCRIPT_BEGINS = re.compile(r"(?:(\S+ \S+)\$|([^\s:]+:\S+): >) \S")
"""The line by which ``pnpm -r`` and turbo begin a script (recorded, pnpm 9; turbo's documentation).
"""


def _by_script(lines: list[str]) -> list[str]:
    """The lines of scripts that ran at once, sorted by script and without its name in front.

    They come before all other lines: the last report of an output stays the last one.
    """
    begun = [
        match[1] or match[2] for match in map(_SCRIPT_BEGINS.match, lines) if match is not None
    ]
    if not begun:
        return lines
    by_script: dict[str, list[str]] = {name: [] for name in begun}
    others = []
    for line in lines:
        name, _, rest = f"{line} ".partition(": ")
        if name in by_script:
            by_script[name].append(rest.rstrip())
        else:
            others.append(line)
    return [*(line for own in by_script.values() for line in (*own, "")), *others]


def without_escapes(text: str) -> str:
    """``text`` without terminal escapes, in one pass."""
    first, *parts = text.split("\x1b")
    return first + "".join(map(_after_escape, parts))


def _after_escape(part: str) -> str:
    """The text after one escape sequence; ``part`` begins after its ESC."""
    if part[:1] == "[":
        for index in range(1, min(len(part), 64)):
            if "@" <= part[index] <= "~":
                return part[index + 1 :]
        return part[1:]
    if part[:1] == "]":  # up to BEL; the other end is the next ESC, which begins a part
        bell = part.find("\x07", 0, 4096)
        return part[bell + 1 :] if bell >= 0 else ""
    return part[1:]


def summaries(lines: Sequence[str]) -> list[Summary]:
    """Every runner's reports in an output."""
    return [summary for reader in READERS for summary in reader(lines)]


def all_reports(
    reading: CommandReading, lines: Sequence[str], reports: Sequence[tuple[str, Summary]]
) -> list[tuple[str, Summary]]:
    """(Source, summary) of every report of a run: those in the output, then ``reports``.

    If the command starts nothing but one runner, and that reports once at the end, only the last
    report in the output is the runner's own.
    """
    printed = summaries(lines)
    name = {"py.test": "pytest"}.get(reading.only_runner, reading.only_runner)
    if name in ONE_REPORT:
        own = [summary for summary in printed if summary.runner == name][-1:]
        printed = own or [summary for summary in printed if summary.runner in _FORMS_OF_ALL]
    return [*(("output", summary) for summary in printed), *reports]


_FORMS_OF_ALL = ("TAP", "node --test")
"""Report formats that several runners can print in place of their own."""


def reported_failure(
    reading: CommandReading, reports: Sequence[tuple[str, Summary]]
) -> Attribution | None:
    """Reason that an exit 0 is no pass, if a runner reports a failure; else None."""
    if reading.inverted:
        return None
    if reading.second_try:  # the last try of each runner counts
        last_try = {(source, summary.runner): summary for source, summary in reports}
        reports = [(source, summary) for (source, _), summary in last_try.items()]
    for source, summary in reports:
        if summary.failed:
            where = "" if source == "output" else f" in {source}"
            tests = "1 test failed" if summary.failed == 1 else f"{summary.failed} tests failed"
            why = f"{summary.runner} reports{where} that {tests} ({summary.quote}), and the exit "
            why += "status is 0"
            return Attribution("masked", why, summary.runner, summary.ran, summary.skipped, source)
    return None


_CODE = re.compile(r"[\s(=]")
_NO = re.compile(r"(?:\[1\] )?(?:[Ff]alse|FALSE)|bool\(false\)")
"""The last line of code that only prints whether something holds; R numbers it, PHP names its type.
"""
_NOT_HELD = re.compile(
    r"Assertion failed(?:: .*)?|.*: SyntaxWarning: assertion is always true,.*"
    r"|\*\*\*Test Failed\*\*\* \d+ failures?\."
)
"""The line of ``console.assert``, of Python's ``assert (x, 'text')`` and of ``doctest.testmod()``,
which go on after it.
"""


def answered_no(reading: CommandReading, lines: Sequence[str]) -> Attribution | None:
    """A masked exit if the command only prints whether something holds, and it does not.

    ``python -c 'print(f(2) == 4)'`` and ``jq '.ok == true'`` end with 0 in both cases.
    """
    programs = [w for w in reading.commands if base_name(w[0]) not in ASIDE or w[0] in TESTS]
    if len(programs) != 1 or reading.runners:
        return None
    names = [base_name(word) for word in programs[0]]
    at = next((n for n, name in enumerate(names) if is_interpreter(name)), len(names))
    evaluates, query = at < len(names), not {"jq", "gojq", "yq"}.isdisjoint(names[:at])
    told = next(filter(_NOT_HELD.fullmatch, map(str.strip, lines)), "") if evaluates else ""
    last = next((line for line in map(str.strip, reversed(lines)) if line), "")
    if not told and _NO.fullmatch(last):
        code = code_of(programs[0][at:]) or ""
        shown = _CODE.search(code) and not HANDS_ON.search(code)
        told = last if ({"-e", "--exit-status"}.isdisjoint(names) if query else shown) else ""
    if not told:
        return None
    why = f"it printed {told[:120]} and ended with 0: let its status say that"
    return Attribution("masked", f"{why} (jq -e, assert, process.exit)", source="output")


def vacuous(
    reading: CommandReading,
    lines: Sequence[str],
    *,
    whole: bool,
    reports: Sequence[tuple[str, Summary]] = (),
    rules: Sequence[Rule] = (),
    read: Callable[[str], CommandReading] | None = None,
    builder_commands: Callable[[], Sequence[str]] = tuple,
) -> Attribution | None:
    """Reason that an exit 0 shows no test; None if tests ran, or if no runner is known.

    ``whole`` says that ``lines`` are all the output: only then can several reports show together
    that nothing ran, since a report that was cut off may show a test. ``reports`` are the
    files that this run wrote, each with its summary. ``read`` classes the commands that the run
    printed before it started them; without it they are not looked at. ``builder_commands`` gives
    those that builders start and need not print, from their files.
    """
    ruled = _by_rules(reading, lines, rules)
    if ruled is not None:
        return ruled
    if reading.idle_option:
        why = f"{reading.idle_option} checks nothing"
        return Attribution("vacuous", why, reading.idle_option.split()[0], 0, None, "command")
    by_source = all_reports(reading, lines, reports)
    for form in reading.certain_runners if len(reading.runners) > 1 else ():
        own = [(source, summary) for source, summary in by_source if summary.runner == form]
        others = [(src, other) for src, other in by_source if other.runner not in reading.runners]
        if not any(summary.ran for _, summary in (*own, *others)):
            return _nothing_ran(own) if own else unreported(form)
    if any(summary.ran for _, summary in by_source):
        return _cut_short(reading, lines, by_source, whole=whole)
    programs = main_programs(reading.commands)
    idle = idle_make(programs, lines)
    if idle is None and whole:
        idle = idle_gradle(programs, lines) or idle_checker(lines)
    if idle is not None:
        return idle
    if by_source and not whole and reading.only_runner not in ONE_REPORT:
        written = [(source, summary) for source, summary in by_source if source != "output"]
        return _nothing_ran(written) if written else None
    if by_source:
        return _nothing_ran(by_source)
    unseen = reading.runners[0] if reading.runners else reading.guarded_runner
    if not unseen and whole and read is not None:
        unseen = echoed_runner(reading.commands, lines, read, builder_commands())
    return unreported(unseen) if unseen else None


def _cut_short(
    reading: CommandReading,
    lines: Sequence[str],
    by_source: Sequence[tuple[str, Summary]],
    *,
    whole: bool,
) -> Attribution | None:
    """Reason that a run of a runner was ended before its last test, or before its report.

    Code under test can end a runner with 0. Reports are only missed if ``lines`` are all the
    output.
    """
    one_report = reading.only_runner in ONE_REPORT  # a test of a runner may show that one's words
    ended = pytest_exit(lines, one_report=one_report)
    if ended:
        why = f"pytest was ended before its last test ({ended.strip('! ')[:100]})"
        return Attribution("vacuous", why, "pytest", None, None, "output")
    if one_report or not whole:
        return None
    for name in (*BEGINNINGS, *ONE_REPORT - BEGINNINGS.keys()):
        beginning = BEGINNINGS.get(name, "")
        begun = sum(1 for line in lines if beginning and re.search(beginning, line))
        if not reading.files and name in ONE_REPORT:  # what is written elsewhere is not seen here
            begun = max(begun, reading.certain_runners.count(name))
        reported = sum(1 for _, summary in by_source if summary.runner == name)
        if begun > reported:
            why = (
                f"{name} began {begun} times and reports {reported}: a run ended before its report"
            )
            return Attribution("vacuous", why, name, None, None, "output")
    return None


def number_of_tests(
    reading: CommandReading,
    lines: Sequence[str],
    reports: Sequence[tuple[str, Summary]],
    *,
    whole: bool,
) -> int | None:
    """Number of tests that the reports of a run show; None if they show no certain number."""
    reports = _counted_reports(reading, lines, reports, whole=whole)
    if any(summary.runner == "go test" for _, summary in reports):  # it counts packages
        return None
    return sum(summary.ran for _, summary in reports) or None


def skipped_tests(
    reading: CommandReading,
    lines: Sequence[str],
    reports: Sequence[tuple[str, Summary]],
    *,
    whole: bool,
) -> str:
    """The limitation of a pass in which tests were skipped, or a failure was ignored; else empty.

    The command itself may choose some of the tests (``pytest -k``): this says nothing about them.
    """
    reports = _counted_reports(reading, lines, reports, whole=whole)
    quotes = dict.fromkeys(
        summary.quote
        for _, summary in reports
        if summary.skipped and (_SKIPPED.search(summary.quote) or not _CHOSEN.search(summary.quote))
    )
    ignored = next(filter(_IGNORED.fullmatch, map(str.strip, lines)), "") or _accepted(reading)
    if ignored:
        return visible(f"Not everything counted: {ignored[:120].rstrip('.')}.")
    if not quotes:
        return ""
    return visible(f"Not every test ran: {joined(list(quotes)[:MOST_QUOTES], len(quotes))}.")


_ACCEPTS = {
    "--updateSnapshot", "--update-snapshots", "--snapshot-update", "--force-regen", "--regen-all",
    "--accept",
}  # fmt: skip
"""Options with which a runner writes what it got in the place of what was expected."""


def _accepted(reading: CommandReading) -> str:
    """The words by which a runner accepts results that differ; empty without any."""
    short = {"-u"} if {"jest", "vitest", "playwright"}.intersection(reading.runners) else set()
    option = next((w for words in reading.commands for w in words if w in _ACCEPTS | short), "")
    return option and f"{option} accepts results that differ"


def _counted_reports(
    reading: CommandReading,
    lines: Sequence[str],
    reports: Sequence[tuple[str, Summary]],
    *,
    whole: bool,
) -> Sequence[tuple[str, Summary]]:
    """The reports by which the tests of a run are counted.

    Written ``reports`` are believed before those in the output, which may show the same tests.
    """
    if reading.second_try:  # each try reports
        return ()
    if not reports and (whole or reading.only_runner in ONE_REPORT):
        return all_reports(reading, lines, ())
    return reports


def not_reported(
    pattern: str, by_source: Sequence[tuple[str, Summary]], why: str
) -> Attribution | None:
    """Reason that the report named by a criterion shows no test; None if it shows one.

    ``why`` is the reason that part of it could not be read.
    """
    if why:
        text = f"the criterion's report {pattern} {why}: no test is shown to have run"
        return Attribution("vacuous", text, "", None, None, pattern)
    return None if any(summary.ran for _, summary in by_source) else _nothing_ran(by_source)


def _nothing_ran(by_source: Sequence[tuple[str, Summary]]) -> Attribution:
    source, last = by_source[-1]
    skipped = sum(summary.skipped for _, summary in by_source)
    quote = f" ({last.quote})" if last.quote else ""
    where = "" if source == "output" else f" in {source}"
    reason = "every test was skipped or left out" if skipped else "no test ran"
    why = f"{last.runner} reports{where} that {reason}{quote}"
    return Attribution("vacuous", why, last.runner, 0, skipped, source)


def unreported(runner: str) -> Attribution:
    """The vacuous attribution of a runner that was started and has no report."""
    why = (
        f"no report of {runner} shows a test that ran: let it print its summary, or name the JUnit "
        "or CTRF file that it writes in the criterion's report"
    )
    return Attribution("vacuous", why, runner, 0, None, "output")


def _by_rules(
    reading: CommandReading, lines: Sequence[str], rules: Sequence[Rule]
) -> Attribution | None:
    for rule in rules:
        if applies(rule, reading.commands):
            line = says_nothing_ran(rule, lines)
            if line is not None:
                why = f"{rule.name} reports that no test ran ({line[:100]})"
                return Attribution("vacuous", why, rule.name, 0, None, "runners.yaml")
    return None
