"""Reports of other tools: what each says, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flow.adapters.attribution.report_files import read_report
from flow.adapters.exchange import import_formats
from flow.core.evidence.imported import FORMATS, CheckReport, Format
from flow.errors import ContractError, InputError

SHA = "0123456789abcdef0123456789abcdef01234567"


def read(data: str | bytes | dict[str, Any], format: Format) -> CheckReport:
    if isinstance(data, dict):
        data = json.dumps(data)
    return import_formats.read_report(
        data.encode() if isinstance(data, str) else data, format, "file"
    )


def ctrf(*statuses: str, **more: Any) -> dict[str, Any]:
    counts = {
        key: statuses.count(key) for key in ("passed", "failed", "skipped", "pending", "other")
    }
    results = {
        "tool": {"name": "vitest"},
        "summary": {**counts, **more.pop("summary", {})},
        "tests": [{"name": f"t{n}", "status": s} for n, s in enumerate(statuses)],
        **more,
    }
    return {"results": results}


def sarif(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    tool = {
        "driver": {"name": "ruff", "rules": more.pop("rules", [])},
        "extensions": more.pop("extensions", []),
    }
    run = {"tool": tool, "results": list(results), **more}
    return {"version": "2.1.0", "runs": [run]}


def ci(conclusion: str, *jobs: str, **more: Any) -> dict[str, Any]:
    rows = [{"name": f"j{n}", "conclusion": word} for n, word in enumerate(jobs)]
    return {"provider": "ci", "run_id": "7", "conclusion": conclusion, "jobs": rows, **more}


def suite(inside: str, attributes: str = "") -> str:
    return f"<testsuite {attributes}>{inside}</testsuite>"


CASE, FAILED = '<testcase name="a"/>', '<testcase classname="m" name="b"><failure/></testcase>'
ERROR, SKIPPED = '<testcase name="c"><error/></testcase>', "<testcase><skipped/></testcase>"
XFAIL = '<testcase><skipped type="pytest.xfail"/></testcase>'
BOTH = "<testcase><failure/><skipped/></testcase>"
LONG = "n" * 300
ERROR_RULE = {"id": "R", "defaultConfiguration": {"level": "error"}}
HEADER_ONLY = suite("", 'tests="3" errors="1"')

OUTCOMES: list[tuple[Format, Any, str, str]] = [
    ("junit", suite(CASE), "passed", "1 test: 1 passed"),
    ("junit", suite(CASE + FAILED), "failed", "2 tests: 1 passed, 1 failed"),
    ("junit", suite(CASE + ERROR), "failed", "2 tests: 1 passed, 1 errors"),
    ("junit", suite(SKIPPED), "inconclusive", "1 test: 1 skipped"),
    ("junit", suite(XFAIL), "passed", "1 test: 1 passed"),
    ("junit", suite(BOTH), "failed", "1 test: 1 failed"),
    ("junit", suite('<testcase status="notrun"/>'), "inconclusive", "1 test: 1 skipped"),
    ("junit", suite(""), "inconclusive", "0 tests"),
    ("junit", f"<testsuites>{suite(CASE)}{suite(FAILED)}</testsuites>", "failed",
     "2 tests: 1 passed, 1 failed"),
    ("junit", suite(CASE, 'tests="1" failures="1"'), "failed", "1 test: 1 passed"),
    ("junit", suite(CASE, 'tests="9"'), "inconclusive", "1 test: 1 passed"),
    ("junit", f"<testsuites>{HEADER_ONLY}</testsuites>", "failed",
     "0 tests"),
    # Where a report contradicts itself the worse counts, wherever in it that stands.
    ("junit", suite(suite(CASE, 'tests="1" failures="1"'), 'failures="0"'), "failed",
     "1 test: 1 passed"),
    ("junit", "<testsuites>" + suite(suite(CASE, 'errors=" 1 "')) + "</testsuites>", "failed",
     "1 test: 1 passed"),
    ("junit", suite(CASE + suite("", 'tests="5"')), "inconclusive", "1 test: 1 passed"),
    ("junit", suite(CASE + CASE, 'skipped="2"'), "inconclusive", "2 tests: 2 passed"),
    ("junit", suite(CASE, 'disabled="1"'), "inconclusive", "1 test: 1 passed"),
    ("junit", suite(XFAIL, 'tests="1" skipped="1"'), "passed", "1 test: 1 passed"),
    ("junit", suite(CASE + SKIPPED, 'tests="2" skipped="1"'), "passed",
     "2 tests: 1 passed, 1 skipped"),
    ("junit", suite(CASE + '<error message="not collected"/>'), "failed", "1 test: 1 passed"),
    ("junit", f"<testsuites><failure/>{suite(CASE)}</testsuites>", "failed", "1 test: 1 passed"),
    ("junit", suite('<testcase status="Fail"/>'), "failed", "1 test: 1 failed"),
    ("junit", suite('<testcase status="run" result="failed"/>'), "failed", "1 test: 1 failed"),
    ("junit", suite('<testcase status="run" result="skipped"/>'), "inconclusive",
     "1 test: 1 skipped"),
    ("junit", suite('<testcase status="Disabled"/>'), "inconclusive", "1 test: 1 skipped"),
    ("junit", suite(CASE, 'failures="1,000"'), "inconclusive", "1 test: 1 passed"),
    ("junit", suite(CASE, 'failures="-1"'), "inconclusive", "1 test: 1 passed"),
    ("junit", suite(CASE, f"failures='{'9' * 5000}'"), "failed", "1 test: 1 passed"),
    ("junit", suite(CASE, 'failures="" errors="00000000000000000000"'), "passed",
     "1 test: 1 passed"),
    ("junit", suite(CASE, 'tests="1"').encode("utf-16"), "passed", "1 test: 1 passed"),
    ("junit", (suite(CASE) + "\n").encode("utf-16-be"), "passed", "1 test: 1 passed"),
    ("ctrf", ctrf("passed", summary={"tests": 5}), "inconclusive", "1 test: 1 passed"),
    ("ctrf", ctrf(summary={"passed": 3, "tests": 9}), "inconclusive", "3 tests: 3 passed"),
    ("ctrf", ctrf("passed", "failed", "passed"), "failed", "3 tests: 2 passed, 1 failed"),
    ("ctrf", ctrf("other"), "inconclusive", "1 test: 1 other"),
    ("ctrf", ctrf("passed"), "passed", "1 test: 1 passed"),
    ("ctrf", ctrf("passed", "failed"), "failed", "2 tests: 1 passed, 1 failed"),
    ("ctrf", ctrf("skipped", "pending"), "inconclusive", "2 tests: 1 skipped, 1 pending"),
    ("ctrf", ctrf(), "inconclusive", "0 tests"),
    ("ctrf", ctrf("passed", summary={"failed": 1}), "failed", "1 test: 1 passed"),
    ("ctrf", ctrf("failed", summary={"failed": 0, "passed": 1}), "failed", "1 test: 1 failed"),
    ("ctrf", ctrf(summary={"passed": 3}), "passed", "3 tests: 3 passed"),
    ("sarif", sarif(), "passed", "no results"),
    ("sarif", sarif({"level": "error", "ruleId": "E1"}), "failed", "1 errors"),
    ("sarif", sarif({"level": "warning"}), "inconclusive", "1 warnings"),
    ("sarif", sarif({}), "inconclusive", "1 warnings"),
    ("sarif", sarif({"level": "note"}), "passed", "1 notes"),
    ("sarif", sarif({"kind": "pass", "level": "error"}), "passed", "no results"),
    ("sarif", sarif({"level": "error", "suppressions": [{"kind": "inSource"}]}), "passed",
     "1 suppressed"),
    ("sarif", sarif({"level": "error", "suppressions": [{"status": "rejected"}]}), "failed",
     "1 errors"),
    ("sarif", sarif({"level": "error", "suppressions": []}), "failed", "1 errors"),
    ("sarif", sarif({"level": "error", "suppressions": [{"status": "underReview"}]}), "failed",
     "1 errors"),
    ("sarif", sarif({"level": "error", "suppressions": [{"kind": "inSource"},
                                                        {"status": "rejected"}]}),
     "failed", "1 errors"),
    ("sarif", {"version": "2.1.0", "runs": [*sarif()["runs"], *sarif({"level": "error"})["runs"]]},
     "failed", "1 errors"),
    ("sarif", sarif({"rule": {"id": "R", "index": 0}}, rules=[ERROR_RULE]), "failed", "1 errors"),
    ("sarif", sarif({"ruleId": "R/sub"}, rules=[ERROR_RULE]), "failed", "1 errors"),
    ("sarif", sarif({"ruleId": "R"}, extensions=[{"name": "e", "rules": [ERROR_RULE]}]),
     "failed", "1 errors"),
    ("sarif", sarif({"rule": {"index": 0, "toolComponent": {"index": 0}}},
                    rules=[{"id": "S", "defaultConfiguration": {"level": "note"}}],
                    extensions=[{"name": "e", "rules": [ERROR_RULE]}]), "failed", "1 errors"),
    ("sarif", sarif({"ruleId": "S"}, rules=[{"id": "S"}], invocations=[{
        "executionSuccessful": True,
        "ruleConfigurationOverrides": [
            {"descriptor": {"id": "S"}, "configuration": {"level": "error"}}]}]),
     "failed", "1 errors"),
    ("sarif", sarif({"kind": "review"}), "inconclusive", "no results"),
    ("sarif", sarif(invocations=[{"executionSuccessful": True, "toolExecutionNotifications": [
        {"level": "error"}]}]), "inconclusive", "no results"),
    ("sarif", sarif(externalPropertyFileReferences={"results": [{"location": {}}]}),
     "inconclusive", "no results"),
    ("sarif", sarif({"level": "error", "baselineState": "absent"}), "passed", "1 suppressed"),
    ("sarif", sarif({"ruleIndex": 0}, rules=[{"defaultConfiguration": {"level": "error"}}]),
     "failed", "1 errors"),
    ("sarif", sarif({"ruleId": "R"},
                    rules=[{"id": "R", "defaultConfiguration": {"level": "note"}}]),
     "passed", "1 notes"),
    ("sarif", sarif({"ruleIndex": 9}), "inconclusive", "1 warnings"),
    ("sarif", sarif({"ruleId": "unknown"}), "inconclusive", "1 warnings"),
    ("sarif", sarif(invocations=[{"executionSuccessful": False}]), "inconclusive", "no results"),
    ("sarif", sarif(results=None), "inconclusive", "no results"),
    ("sarif", {"version": "2.1.0", "runs": []}, "inconclusive", "no results"),
    ("ci", ci("success"), "passed", "CI run: success"),
    ("ci", ci("success", "success", "skipped"), "passed",
     "CI run: success (2 jobs: 1 passed, 1 others)"),
    ("ci", ci("success", "failure"), "failed", "CI run: success (1 jobs: 1 failed)"),
    ("ci", ci("success", "cancelled"), "inconclusive", "CI run: success (1 jobs: 1 others)"),
    ("ci", ci("FAILURE"), "failed", "CI run: failure"),
    ("ci", ci("success", status="failed"), "failed", "CI run: success"),
    ("ci", ci("success", result="FAILURE"), "failed", "CI run: success"),
    ("ci", ci("success", status="in_progress"), "inconclusive", "CI run: success"),
    ("ci", ci("success", "failure", status="in_progress"), "failed",
     "CI run: success (1 jobs: 1 failed)"),
    ("ci", ci("success", status="completed"), "passed", "CI run: success"),
    ("ci", ci("cancelled"), "inconclusive", "CI run: cancelled"),
    ("ci", ci("timed_out"), "inconclusive", "CI run: timed_out"),
    ("ci", {"id": 7, "status": "in_progress", "conclusion": None}, "inconclusive",
     "CI run: in_progress"),
    ("ci", {"web_url": "https://ci.example.org/1", "status": "failed", "sha": SHA}, "failed",
     "CI run: failed"),
    ("ci", ci("success") | {"jobs": [{"name": "a"}]}, "inconclusive",
     "CI run: success (1 jobs: 1 others)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("format", "data", "outcome", "said"),
    OUTCOMES,
    ids=[f"{row[0]}-{n}" for n, row in enumerate(OUTCOMES)],
)
def test_what_a_report_says(format: Format, data: Any, outcome: str, said: str) -> None:
    report = read(data, format)
    assert (report.format, report.outcome, report.result) == (format, outcome, said)


@pytest.mark.parametrize(
    ("data", "outcome"), [row[1:3] for row in OUTCOMES if row[0] in ("junit", "ctrf")]
)
def test_a_report_that_a_criterion_s_command_writes_fails_alike(data: Any, outcome: str) -> None:
    text = json.dumps(data) if isinstance(data, dict) else data
    summary = read_report(text if isinstance(text, bytes) else text.encode())
    if HEADER_ONLY in str(data):
        assert summary is None  # numbers without a test are no report of a run
    else:
        assert summary is not None
        assert bool(summary.failed) == (outcome == "failed")


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("junit", suite(f'<properties><property name="git.commit" value="{SHA}"/></properties>')),
        ("junit", suite(f'<properties><property name="GITHUB_SHA">{SHA}</property></properties>')),
        ("junit", suite(f'<properties><property name="revision" value="{SHA.upper()}"/>'
                        "</properties>" + CASE)),
        ("ctrf", ctrf("passed", environment={"commit": SHA})),
        ("sarif", sarif(versionControlProvenance=[{"revisionId": SHA}])),
        ("ci", ci("success", commit=SHA)),
        ("ci", ci("success", sha=SHA, head_sha=SHA[:7])),
        ("ci", ci("success", headSha=SHA)),
    ],
)  # fmt: skip
def test_the_commit_it_names(format: Format, data: Any) -> None:
    assert read(data, format).commit == SHA


@pytest.mark.parametrize(
    "named", ["HEAD", "main", "refs/heads/main", "abc", "", "g" * 40, "a" * 65]
)
def test_a_name_that_would_fit_anything_is_no_commit(named: str) -> None:
    assert read(ctrf("passed", environment={"commit": named}), "ctrf").commit is None
    assert read(ci("success", commit=named), "ci").commit is None


def test_a_test_s_own_property_names_no_commit() -> None:
    inside = f'<testcase><properties><property name="sha" value="{SHA}"/></properties></testcase>'
    assert read(suite(inside), "junit").commit is None


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("junit", suite('<testcase name="a"><flakyFailure/></testcase>')),
        ("ctrf", {**ctrf(), "results": {**ctrf()["results"], "tests": [
            {"name": "t", "status": "passed", "flaky": True, "retries": 2}],
            "summary": {"passed": 1}}}),
    ],
)  # fmt: skip
def test_a_pass_at_another_attempt_is_said_to_be_flaky(format: Format, data: Any) -> None:
    report = read(data, format)
    assert report.outcome == "passed"
    assert any(doubt.startswith("Flaky: 1 ") for doubt in report.doubts)


def test_two_commits_are_refused() -> None:
    other = sarif()
    other["runs"] = [
        {**other["runs"][0], "versionControlProvenance": [{"revisionId": one * 40}]}
        for one in ("a", "b")
    ]
    with pytest.raises(ContractError, match="different commits"):
        read(other, "sarif")


def test_the_names_of_what_failed_are_kept_and_cut() -> None:
    many = "".join(f'<testcase name="{LONG}{n}"><failure/></testcase>' for n in range(50))
    report = read(suite(FAILED + many), "junit")
    assert report.failing[0] == "m.b"
    assert (len(report.failing), max(map(len, report.failing))) == (20, 200)
    assert read(ctrf("failed"), "ctrf").failing == ("t0",)
    assert read(sarif({"level": "error", "ruleId": "E1"}), "sarif").failing == ("E1",)
    assert read(ci("failure", "failure"), "ci").failing == ("j0",)


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    "<testsuite><testcase name='&b;'/></testsuite>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite>&a;</testsuite>'
REMOTE = '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><testsuite/>'
REFUSED: list[tuple[Format, Any, str]] = [
    ("junit", BOMB, "document type"),
    ("junit", OUTSIDE, "document type"),
    ("junit", REMOTE, "document type"),
    ("junit", "<testsuite>&undefined;</testsuite>", "no XML"),
    ("junit", "<testsuite>", "no XML"),
    ("junit", "", "no XML"),
    ("junit", b"<?xml version='1.0' encoding='made-up'?><testsuite/>", "no XML"),
    ("junit", b"\0<testsuite/>", "no XML"),
    ("junit", "<html/>", "root is no testsuites"),
    ("junit", "<testsuite>" + "<a>" * 60, "deeper than 50"),
    ("junit", suite("<testcase><testcase/></testcase>"), "lies in a testcase"),
    ("ctrf", {}, "no results"),
    ("ctrf", {"results": {"tool": {}, "summary": {}}}, "results.tool.name"),
    ("ctrf", ctrf(summary={"passed": -1}), "no count"),
    ("ctrf", ctrf(summary={"passed": True}), "no count"),
    ("ctrf", ctrf(tests=["x"]), "no list of tests"),
    ("ctrf", ctrf("fine"), "no status"),
    ("ctrf", ctrf(tests=[{"status": ["passed"]}]), "no status"),
    ("ctrf", "[]", "no JSON object"),
    ("ctrf", '{"results": 1, "results": 2}', "given twice"),
    ("ctrf", '{"a": ' * 40 + "1" + "}" * 40, "nests deeper"),
    ("sarif", {"version": "2.0.0", "runs": []}, "not 2.1.0"),
    ("sarif", {"version": "2.1.0", "runs": {}}, "no list of runs"),
    ("sarif", {"version": "2.1.0", "runs": [{}]}, "does not name its tool"),
    ("sarif", sarif({"level": "fatal"}), "does not know"),
    ("sarif", sarif(results="many"), "no list of objects"),
    ("ci", {"id": 1}, "no conclusion"),
    ("ci", {"conclusion": "success"}, "names no run"),
    ("ci", ci("fine"), "no conclusion of a CI run"),
    ("ci", ci("success", "fine"), "no conclusion of a CI run"),
    ("ci", ci("success") | {"jobs": "all"}, "no list of jobs"),
    ("ci", ci("success") | {"jobs": [1]}, "no list of jobs"),
]


@pytest.mark.parametrize(
    ("format", "data", "why"), REFUSED, ids=[f"{row[0]}-{n}" for n, row in enumerate(REFUSED)]
)
def test_what_is_no_report_is_refused(format: Format, data: Any, why: str) -> None:
    with pytest.raises(ContractError) as caught:
        read(data, format)
    assert why in str(caught.value)
    assert str(caught.value).startswith("file: ")


@pytest.mark.parametrize("format", FORMATS)
def test_a_huge_file_is_refused(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_formats, "LIMIT", 100)
    with pytest.raises(ContractError, match="larger than 100 bytes"):
        read(" " * 101, format)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (suite(CASE), "junit"),
        ("\ufeff" + suite(CASE), "junit"),
        (suite(CASE).encode("utf-16"), "junit"),
        (ctrf("passed"), "ctrf"),
        (sarif(), "sarif"),
        (ci("success"), "ci"),
        ({"status": "failed", "id": 1}, "ci"),
    ],
)
def test_the_format_is_found_out(data: Any, format: Format) -> None:
    text = json.dumps(data) if isinstance(data, dict) else data
    raw = text if isinstance(text, bytes) else text.encode()
    assert import_formats.detect_format(raw, "file") == format
    assert read(raw, format).format == format


@pytest.mark.parametrize("data", [b"", b"TAP version 13", b"{}", b'{"results": []}'])
def test_what_looks_like_none(data: bytes) -> None:
    with pytest.raises(InputError, match="no report that can be imported"):
        import_formats.detect_format(data, "file")


def test_xml_in_another_encoding() -> None:
    data = '<?xml version="1.0" encoding="ISO-8859-1"?>' + suite(
        '<testcase name="é"><error/></testcase>'
    )
    assert read(data.encode("latin-1"), "junit").failing == ("é",)
    assert read(data.replace("ISO-8859-1", "UTF-16").encode("utf-16"), "junit").failing == ("é",)
