"""The final reports of test runners: the number of tests that ran (SPEC 10).

Each reader takes lines, without escapes, and yields the summaries in them, in order. A summary must
have its full form (a rule above it, the line before it, the time after it), so that the output of a
test is rarely mistaken for one. The author of the tests can still forge a report, or write a test
that proves nothing: no reading of the output can detect that.
"""

from __future__ import annotations

import json
import re

from flow.core.attribution.reading import Summary
from flow.core.attribution.report_forms import ctest, multiline, number_of, one_line, tap
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence


_PYTEST_FAILED = frozenset(("failed", "error", "errors"))
_PYTEST_RAN = _PYTEST_FAILED | {"passed", "xpassed"}
_PYTEST_SKIPPED = frozenset(("skipped", "deselected", "xfailed"))
_PYTEST_OTHER = frozenset(("warning", "warnings", "rerun", "reruns"))
_RULE = "-" * 70
_GO_NOTHING = ("\t[no test files]", "\t\tcoverage: 0.0% of statements")


def _counted_list(text: str) -> dict[str, int] | None:
    """``2 passed, 1 skipped`` as a mapping; None if the text is no such list."""
    counts: dict[str, int] = {}
    for part in text.split(","):
        number, _, name = part.strip().partition(" ")
        count = number_of(number)
        if count is None or not name or name in counts:
            return None
        counts[name] = count
    return counts


def _sum_of(counts: Mapping[str, int], names: Collection[str]) -> int:
    return sum(count for name, count in counts.items() if name in names)


def _is_time(text: str) -> bool:
    """Whether ``text`` is a time as pytest writes it: ``0.12s``, ``75.31s (0:01:15)``."""
    first, _, rest = text.partition(" ")
    whole, point, part = first.removesuffix("s").partition(".")
    timed = first.endswith("s") and point and number_of(whole) is not None
    return bool(
        timed and number_of(part) is not None and (not rest or rest[:1] + rest[-1:] == "()")
    )


def pytest(lines: Sequence[str]) -> Iterator[Summary]:
    """``==== 2 passed, 1 skipped in 0.12s ====``; without the rules with ``-q``."""
    counted = list(_pytest_counts(lines))
    yield from counted or _pytest_progress(lines)


_MARKS = frozenset(".,sxXFERpPu")


def _summary_of_marks(marks: str) -> Summary:
    skipped, expected = marks.count("s"), marks.count("x")
    failed = marks.count("F") + marks.count("E")
    quote = f"{skipped} skipped" + (f", {expected} xfailed" if expected else "")
    ran = len(marks) - skipped - expected
    return Summary("pytest", ran, skipped + expected, quote, failed)


def _pytest_progress(lines: Sequence[str]) -> Iterator[Summary]:
    """Progress lines of ``-qq``: ``s..s  [ 66%]`` or ``[2/3]``; used only if every share fits."""
    marks = ""
    shares: list[tuple[int, str]] = []
    for line in lines:
        shown, _, share = line.removesuffix("]").rpartition("[")
        shown, share = shown.rstrip(" "), share.strip(" ")
        if not line.endswith("]") or not shown or not _MARKS.issuperset(shown):
            continue
        marks += shown
        shares.append((len(marks), share))
        count, _, total = share.partition("/")
        if share == "100%" or (count.strip() == total and number_of(total) is not None):
            if all(_is_share(done, len(marks), text) for done, text in shares):
                yield _summary_of_marks(marks)
            marks, shares = "", []


def _is_share(done: int, total: int, share: str) -> bool:
    if share.endswith("%"):
        return done * 100 // total == number_of(share[:-1])
    count, _, whole = share.partition("/")
    return (done, total) == (number_of(count.strip()), number_of(whole))


def _pytest_counts(lines: Sequence[str]) -> Iterator[Summary]:
    """The summaries that end with a time."""
    for line in lines:
        quote, _, time = line.strip("= ").rpartition(" in ")
        if not quote or not _is_time(time):
            continue
        if quote.startswith("no tests ") or " collected" in quote:
            yield from _pytest_none(quote)
            continue
        counts = _counted_list(quote)
        if counts is None or not (
            counts.keys() & _PYTEST_RAN
            or counts.keys() <= _PYTEST_SKIPPED | _PYTEST_OTHER  # plugins add words of their own
        ):
            continue
        ran = _sum_of(counts, _PYTEST_RAN)
        skipped = _sum_of(counts, _PYTEST_SKIPPED)
        if ran or skipped:
            yield Summary("pytest", ran, skipped, quote, _sum_of(counts, _PYTEST_FAILED))


_PYTEST_EXIT = re.compile(r"!+ _pytest\.outcomes\.Exit: .*")


def pytest_exit(lines: Sequence[str], *, one_report: bool) -> str:
    """The line below a report of pytest by which ``pytest.exit`` ended the run; empty without one.

    With ``returncode=0``, the exit status is that of a pass, and the tests that passed before are
    counted. With ``one_report`` only the last report is pytest's own: a test may print others.
    """
    ended = ""
    reported = False
    for line in lines:
        if next(_pytest_counts([line]), None) is not None:
            reported = True
            ended = "" if one_report else ended
        elif reported and _PYTEST_EXIT.match(line):
            ended = ended or line
    return ended


def _pytest_none(quote: str) -> Iterator[Summary]:
    """``no tests ran``, and the end of ``--collect-only``, which finds tests and runs none."""
    first = quote.split(" ", 1)[0].partition("/")[0]
    listed = quote.split(" ")[1:3] in (["tests", "collected"], ["test", "collected"])
    if quote.startswith("no tests") or (number_of(first) is not None and listed):
        yield Summary("pytest", 0, 0, quote)


def unittest(lines: Sequence[str]) -> Iterator[Summary]:
    """A rule of hyphens, ``Ran 2 tests in 0.001s``, an empty line, ``OK (skipped=1)``.

    The rule may be cut off where nothing else is left of the output (``| tail -3``).
    """
    for index, line in enumerate(lines):
        words = line.split(" ")
        if words[:1] != ["Ran"] or len(words) != 5 or words[2] not in ("test", "tests"):
            continue
        count = number_of(words[1])
        ruled = lines[index - 1] == _RULE if index else not any(lines[3:])
        if count is None or not ruled or not _is_time(words[4]):
            continue
        end = next((text for text in lines[index + 1 : index + 3] if text), "")
        if not end.startswith(("OK", "FAILED", "NO TESTS RAN")):
            continue
        skipped, expected = _count_beside(end, "skipped"), _count_beside(end, "expected failures")
        failed = sum(
            _count_beside(end, name) for name in ("failures", "errors", "unexpected successes")
        )
        ran = count - expected
        if skipped >= ran and not _shows_a_run(lines[:index]):
            ran = 0
        quote = f"{line} {end}".rpartition(" in ")[0] or line
        yield Summary("unittest", max(ran, failed), skipped + expected, f"{quote}, {end}", failed)


def _count_beside(end: str, name: str) -> int:
    """The count next to a name in ``OK (skipped=1, expected failures=2)``."""
    for part in end.partition("(")[2].rstrip(")").split(","):
        shown, _, value = part.strip().partition("=")
        if shown == name:
            return number_of(value) or 0
    return 0


_DOTS = frozenset(".sxuFE")


def _shows_a_run(before: Sequence[str]) -> bool:
    """Whether the progress above the rule shows a test that passed.

    The numbers alone do not show it: a class that is skipped as a whole counts as skipped and not
    as run, so ``Ran 1 test``, ``OK (skipped=1)`` may be one of each.
    """
    shown = [line for line in before[-2000:-1] if line]
    dots = shown[-1] if shown else ""
    if dots and _DOTS.issuperset(dots):
        return "." in dots
    return any(line.endswith(" ... ok") for line in shown)


def jest(lines: Sequence[str]) -> Iterator[Summary]:
    """``Test Suites: ... total`` and right below ``Tests: ... total``, or only the latter."""
    only = _is_one_line(lines)
    for before, line in zip(["", *lines], lines, strict=False):
        if line == "No tests found, exiting with code 0":
            yield Summary("jest", 0, 0, line)
        elif line.startswith("Tests: ") and (before.startswith("Test Suites: ") or only):
            counts = _counted_list(line.removeprefix("Tests:"))
            if counts is not None and "total" in counts:
                ran = counts.get("passed", 0) + counts.get("failed", 0)
                skipped = counts.get("skipped", 0) + counts.get("todo", 0)
                quote = line.removeprefix("Tests:").strip()
                suites = _counted_list(before.removeprefix("Test Suites:")) or {}
                failed = max(counts.get("failed", 0), suites.get("failed", 0))
                yield Summary("jest", max(ran, failed), skipped, quote, failed)


def vitest(lines: Sequence[str]) -> Iterator[Summary]:
    """``Test Files ... (1)`` and right below ``Tests ... (2)``, the numbers between bars.

    The first line may be cut off where the second one is all the output (``| grep``).
    """
    only = _is_one_line(lines)
    for before, line in zip(["", *lines], lines, strict=False):
        if line == "No test files found, exiting with code 0":
            yield Summary("vitest", 0, 0, line)
        elif line.strip().startswith("Tests ") and (
            before.strip().startswith("Test Files ") or only
        ):
            quote = line.strip().removeprefix("Tests").strip()
            listed, _, total = quote.rpartition(" (")
            counts = _counted_list(listed.replace(" | ", ", "))
            if quote == "no tests" or (counts is not None and total.endswith(")")):
                counts = counts or {}
                left_out = ("skipped", "todo", "expected fail")
                ran = sum(n for name, n in counts.items() if name not in left_out)
                skipped = _sum_of(counts, left_out)
                listed = before.strip().removeprefix("Test Files").rpartition(" (")[0]
                files = _counted_list(listed.replace(" | ", ", ")) or {}
                failed = max(counts.get("failed", 0), files.get("failed", 0))
                yield Summary("vitest", max(ran, failed), skipped, quote, failed)


def _is_one_line(lines: Sequence[str]) -> bool:
    """Whether an output has one line only."""
    return sum(map(bool, lines)) == 1


def mocha(lines: Sequence[str]) -> Iterator[Summary]:
    """``  2 passing (5ms)`` after an empty line, and below ``  1 pending``, ``  1 failing``."""
    for index, line in enumerate(lines):
        words = line.split()
        if len(words) != 3 or words[1] != "passing" or not line.startswith("  "):
            continue
        passing = number_of(words[0])
        if passing is None or words[2][:1] + words[2][-1:] != "()" or (index and lines[index - 1]):
            continue
        more = {"passing": passing}
        for text in lines[index + 1 : index + 3]:
            number, _, name = text.strip().partition(" ")
            if name in ("pending", "failing"):
                more[name] = number_of(number) or 0
        quote = ", ".join(f"{count} {name}" for name, count in more.items())
        failed = more.get("failing", 0)
        yield Summary("mocha", passing + failed, more.get("pending", 0), quote, failed)


def cargo(lines: Sequence[str]) -> Iterator[Summary]:
    """``test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; ...``, one for each binary."""
    for line in lines:
        if not line.startswith("test result: "):
            continue
        verdict, _, listed = line.removeprefix("test result: ").partition(". ")
        counts = _counted_list(listed.rpartition("; finished in ")[0].replace(";", ",") or listed)
        if verdict not in ("ok", "FAILED") or counts is None or "ignored" not in counts:
            continue
        ran = counts.get("passed", 0) + counts.get("failed", 0) + counts.get("measured", 0)
        ignored, filtered = counts["ignored"], counts.get("filtered out", 0)
        quote = f"{ran} ran, {ignored} ignored, {filtered} filtered out"
        failed = counts.get("failed", 0) or int(verdict == "FAILED")
        yield Summary("cargo test", ran, ignored + filtered, quote, failed)


def go(lines: Sequence[str]) -> Iterator[Summary]:
    """One line for each package: ``ok      NAME    0.01s``, ``?    NAME    [no test files]``.

    Only ``-v`` prints the number of tests of a package; without it, an ``ok`` counts as one.
    """
    started = skipped = ended = 0
    for line in lines:
        if line == "FAIL" or line.startswith("FAIL\t"):
            yield Summary("go test", 1, skipped, line[:100], 1)
            started = skipped = ended = 0
        elif line.startswith("=== RUN   "):
            started += "/" not in line
        elif line.startswith("--- SKIP: "):
            skipped += 1
        elif line.startswith(("--- PASS: ", "--- FAIL: ")):
            ended += 1
        elif line.endswith(_GO_NOTHING) and line.startswith(("?   \t", "\t")):
            yield Summary("go test", 0, 0, "[no test files]")
        elif line.startswith('go: warning: "') and line.endswith("matched no packages"):
            yield Summary("go test", 0, 0, "matched no packages")
        elif line.startswith("ok  \t") and line.count("\t") >= 2:
            if line.endswith("[no tests to run]") and not ended:
                yield Summary("go test", 0, 0, "[no tests to run]")
            elif started and skipped == started and not ended:
                yield Summary("go test", 0, skipped, f"{skipped} skipped")
            else:
                yield Summary("go test", 1, skipped, "ok")
            started = skipped = ended = 0


def go_json(lines: Sequence[str]) -> Iterator[Summary]:
    """``go test -json``: one event per line; an event that names no test ends a package."""
    ran = skipped = failed = 0
    for line in lines:
        if not line.startswith("{") or '"Action":"' not in line or '"Package":"' not in line:
            continue
        try:
            event = json.loads(line)
            action, test = event.get("Action"), event.get("Test")
        except (ValueError, AttributeError, RecursionError):
            continue
        if action not in ("pass", "fail", "skip"):
            continue
        if isinstance(test, str):
            ran += action != "skip" and "/" not in test
            skipped += action == "skip" and "/" not in test
            failed += action == "fail" and "/" not in test
        else:
            failed = max(failed, int(action == "fail"))
            quote = f"{ran} ran, {skipped} skipped" + (f", {failed} failed" if failed else "")
            yield Summary("go test", max(ran, failed), skipped, quote, failed)
            ran = skipped = failed = 0


READERS: tuple[Callable[[Sequence[str]], Iterator[Summary]], ...] = (
    pytest, unittest, jest, vitest, mocha, cargo, go, go_json, one_line, multiline, ctest,
    tap,
)  # fmt: skip

ONE_REPORT = frozenset(("pytest", "py.test", "jest", "vitest", "mocha"))
"""Runners that print one report, at the very end, for everything they ran."""

BEGINNINGS = {"pytest": r"=== test session starts =+$", "cargo test": r"^running \d+ tests?$"}
"""The line with which a runner begins each run that it reports (recorded, pytest 9, cargo 1.95)."""
