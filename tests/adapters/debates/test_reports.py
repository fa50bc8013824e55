"""Report files of debates: names, growth, going on; the record in the user's state folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flow.adapters.debates import reports as debates_reports
from flow.adapters.debates.log import DebateLog
from flow.adapters.debates.reports import ReportNames, Reports, claim_reports, solution_name
from flow.core.judging.debate.section import Altered
from flow.errors import RefusedError

DAY = "2026-01-31"
STEM = f"reports/x-{DAY}"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "top").mkdir()
    return tmp_path / "top"


@pytest.fixture
def book(tmp_path: Path, top: Path) -> DebateLog:
    return DebateLog(str(tmp_path / "state"), str(top), None, None)


def taken(
    top: Path, book: DebateLog, debate: str = "d", warn: Callable[[str], None] = print
) -> str:
    with claim_reports(
        ReportNames(str(top), "reports", "x", DAY), debate, 2, book, warn
    ) as reports:
        return reports.stem


def test_a_file_grows_and_is_known_again(top: Path, book: DebateLog) -> None:
    reports = Reports(str(top), STEM, book)
    assert reports.load(1) is None
    reports.append(1, "one\n")
    reports.append(1, "two\n")
    assert (top / f"{STEM}.1.md").read_text() == "one\ntwo\n"
    assert reports.load(1) == ("one\ntwo\n", True)
    assert Reports(str(top), STEM, book).load(1) == ("one\ntwo\n", True)


def test_an_older_state_of_ours_is_gone_on_with_only_by_a_later_run(
    top: Path, book: DebateLog
) -> None:
    reports = Reports(str(top), STEM, book)
    reports.append(1, "one\n")
    reports.append(1, "two\n")
    (top / f"{STEM}.1.md").write_text("one\n")
    later = Reports(str(top), STEM, book)  # as after a crash between the record and the file
    assert later.load(1) == ("one\n", True)
    assert reports.load(1) == ("one\n", False)
    with pytest.raises(Altered, match="somebody changed it"):
        reports.append(1, "three\n")


@pytest.mark.parametrize("start", [None, b"theirs"])
def test_a_file_that_came_meanwhile_is_not_written_to(
    start: bytes | None, top: Path, book: DebateLog
) -> None:
    reports = Reports(str(top), STEM, book)
    reports.load(1)
    (top / "reports").mkdir()
    (top / f"{STEM}.1.md").write_bytes(start or b"")
    with pytest.raises(Altered, match="somebody changed it"):
        reports.append(1, "one\n")
    assert (top / f"{STEM}.1.md").read_bytes() == (start or b"")


def test_a_file_that_comes_at_the_last_moment_is_not_overwritten(
    top: Path, book: DebateLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce = book.announce

    def meanwhile(stem: str, judge: int, sha256: str) -> None:
        announce(stem, judge, sha256)
        (top / "reports").mkdir()
        (top / f"{STEM}.1.md").write_text("theirs")

    monkeypatch.setattr(book, "announce", meanwhile)
    with pytest.raises(Altered, match="exists already"):
        Reports(str(top), STEM, book).append(1, "one\n")
    assert (top / f"{STEM}.1.md").read_text() == "theirs"


def test_what_is_gone_or_unreadable_is_said(top: Path, book: DebateLog) -> None:
    reports = Reports(str(top), STEM, book)
    path = top / f"{STEM}.1.md"
    reports.append(1, "one\n")
    path.unlink()
    with pytest.raises(Altered, match="it is gone"):
        reports.load(1)
    path.write_bytes(b"\xff")
    with pytest.raises(Altered, match="not UTF-8"):
        reports.load(1)
    path.write_bytes(b"x" * (debates_reports.LIMIT + 1))
    with pytest.raises(Altered, match="larger than"):
        reports.load(1)
    path.unlink()
    path.symlink_to("elsewhere")
    with pytest.raises(Altered, match="symbolic link"):
        reports.load(1)


def test_nothing_is_written_once_the_debate_is_over(top: Path, book: DebateLog) -> None:
    with claim_reports(ReportNames(str(top), "reports", "x", DAY), "d", 2, book, print) as reports:
        reports.append(1, "one\n")
    with pytest.raises(Altered, match="was over"):
        reports.append(1, "two\n")
    assert reports.load(1) == ("one\n", True)


def test_an_unfinished_debate_is_gone_on_with_and_a_finished_one_is_not(
    top: Path, book: DebateLog
) -> None:
    with claim_reports(ReportNames(str(top), "reports", "x", DAY), "d", 2, book, print) as reports:
        reports.append(1, "one\n")
    assert taken(top, book, "other") == f"reports/x-2-{DAY}"
    assert taken(top, book) == STEM
    assert taken(top, book) == STEM
    book.end(STEM)
    assert taken(top, book) == f"reports/x-2-{DAY}"


def test_it_is_gone_on_with_on_another_day_too(top: Path, book: DebateLog) -> None:
    with claim_reports(
        ReportNames(str(top), "reports", "x", "2026-01-30"), "d", 2, book, print
    ) as reports:
        reports.append(1, "one\n")
    assert taken(top, book) == "reports/x-2026-01-30"


def test_names_that_are_held_just_now_are_passed_over(top: Path, book: DebateLog) -> None:
    names = ReportNames(str(top), "reports", "x", DAY)
    other: list[str] = []
    with claim_reports(names, "d", 2, book, print):
        import threading

        thread = threading.Thread(target=lambda: other.append(taken(top, book)))
        thread.start()
        thread.join()
    assert other == [f"reports/x-2-{DAY}"]


@pytest.mark.parametrize("judge", [1, 2])
def test_a_spoilt_unfinished_debate_starts_anew_and_says_why(
    judge: int, top: Path, book: DebateLog
) -> None:
    with claim_reports(ReportNames(str(top), "reports", "x", DAY), "d", 2, book, print) as reports:
        reports.append(1, "one\n")
    path = top / f"{STEM}.{judge}.md"
    path.write_text("forged")
    said: list[str] = []
    assert taken(top, book, warn=said.append) == f"reports/x-2-{DAY}"
    assert said == [
        f"{STEM}.{judge}.md is not what Flow wrote; the debate starts anew, under another name"
    ]
    said.clear()
    assert taken(top, book, warn=said.append) == f"reports/x-2-{DAY}"
    assert said == []  # it is said once
    assert path.read_text() == "forged"


def test_an_unreadable_report_of_an_unfinished_debate(top: Path, book: DebateLog) -> None:
    with claim_reports(ReportNames(str(top), "reports", "x", DAY), "d", 2, book, print) as reports:
        reports.append(1, "one\n")
    (top / f"{STEM}.2.md").write_bytes(b"\xff")
    said: list[str] = []
    taken(top, book, warn=said.append)
    assert f"{STEM}.2.md cannot be resumed: it is not UTF-8" in said[0]


def test_debates_of_another_folder_are_not_ours(tmp_path: Path, top: Path, book: DebateLog) -> None:
    (tmp_path / "other").mkdir()
    other = DebateLog(str(tmp_path / "state"), str(tmp_path / "other"), None, None)
    other.begin(STEM, "d")
    assert book.unfinished("d") == ()
    assert other.unfinished("d") == (STEM,)


def test_the_newest_unfinished_debate_comes_first(book: DebateLog) -> None:
    for stem in ("a", "b", "c", "a"):
        book.begin(stem, "d")
    book.begin("e", "other")
    book.end("c")
    assert book.unfinished("d") == ("a", "b")


def test_digests_are_those_since_the_names_were_taken(book: DebateLog) -> None:
    book.announce("a", 1, "0" * 64)
    book.begin("a", "d")
    book.announce("a", 1, "1" * 64)
    book.announce("a", 1, "2" * 64)
    book.announce("a", 2, "3" * 64)
    book.announce("b", 1, "4" * 64)
    assert book.digests("a") == {1: {"1" * 64, "2" * 64}, 2: {"3" * 64}}


@pytest.mark.parametrize(
    "line",
    [b"x", b"[]", b'{"top"', b"\xff", b"null", b'{"event":"report","judge":"1"}', b"[" * 999],
)
def test_a_line_that_is_no_event_is_nothing(line: bytes, tmp_path: Path, book: DebateLog) -> None:
    book.begin("a", "d")
    file = tmp_path / "state" / "debates.jsonl"
    file.write_bytes(line + b"\n" + file.read_bytes() + line)
    book.announce("a", 1, "1" * 64)
    assert book.unfinished("d") == ("a",)
    assert book.digests("a") == {1: {"1" * 64}}


def test_events_without_sense_are_passed_over(tmp_path: Path, book: DebateLog, top: Path) -> None:
    book.begin("a", "d")
    file = tmp_path / "state" / "debates.jsonl"
    odd = {"top": str(top), "event": "report", "stem": "a", "judge": "1", "sha256": 7}
    file.write_bytes(file.read_bytes() + json.dumps(odd).encode() + b"\n")
    assert book.digests("a") == {}


@pytest.mark.parametrize("what", ["symlink", "folder", "mode"])
def test_a_record_that_others_could_write_is_refused(
    what: str, tmp_path: Path, book: DebateLog
) -> None:
    book.begin("a", "d")
    file = tmp_path / "state" / "debates.jsonl"
    if what == "mode":
        file.chmod(0o666)
    else:
        file.unlink()
        file.symlink_to("x") if what == "symlink" else file.mkdir()
    with pytest.raises(RefusedError):
        book.unfinished("d")


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["src/api/users.ts"], "users-api"),
        (["users.ts"], "users"),
        (["a/b.c/d.e.f"], "d.e-b.c"),
        (["..."], "solution"),
        (["x/é.py"], "x"),
        (["x/y.py", "z.py"], "y-x-and-1-more"),
        (["x/" + "n" * 300 + ".py", "b", "c"], "n" * 69 + "-and-2-more"),
        (["../out/y.py"], "y-out"),
        (["x/a..b.py"], "a-b-x"),
        (["lib/a.test.js"], "a.test-lib"),
        ([".env"], "env"),
        (["conf/.env.local"], "env-conf"),
        (["a b/c;d.py"], "c-d-a-b"),
        (["x/ünï.md"], "n-x"),
        (["x/..md"], "md-x"),
        (["x/\u202e.py"], "x"),
        (["deep/" + "n" * 200 + ".py"], "n" * 80),
        (["x/no-ending"], "no-ending-x"),
        (["x/a\nb.py"], "a-b-x"),
    ],
)
def test_what_reports_are_called(paths: list[str], name: str, top: Path) -> None:
    assert solution_name([str(top / path) for path in paths], str(top)) == name
    assert len(name) <= 80
