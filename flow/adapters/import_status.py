"""SARIF logs, and the status of a CI run, read for what they found and for which commit."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any
from flow.core.imported import LONGEST_NAME, MOST_FAILING, NoReport, Report, commit_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.evidence import Outcome

_LEVELS = ("error", "warning", "note", "none")
_GOOD = frozenset(("success", "successful", "succeeded", "passed", "ok"))
_BAD = frozenset(("failure", "failed", "fail", "error", "errored", "startup_failure"))
_HARMLESS = frozenset(("skipped", "neutral", "manual"))
_KNOWN = _GOOD | _BAD | _HARMLESS
_ALSO = (
    "cancelled canceled timed_out action_required stale queued pending in_progress running waiting"
)
_OPEN = frozenset(
    (*_ALSO.split(), "created", "requested", "scheduled", "preparing", "completed", "aborted")
)


def read_sarif(document: Mapping[str, Any]) -> Report:
    """A SARIF 2.1.0 log. Suppressed results, and those that are gone, do not count."""
    if document.get("version") != "2.1.0":
        raise NoReport("its version is not 2.1.0")
    runs = document.get("runs")
    if not isinstance(runs, list) or not all(isinstance(one, dict) for one in runs):
        raise NoReport("runs is no list of runs")
    counts = {"errors": 0, "warnings": 0, "notes": 0, "suppressed": 0}
    doubts: list[str] = []
    tools: list[str] = []
    commits: list[object] = []
    failing: list[str] = []
    for number, run in enumerate(runs, 1):
        driver = _mapping(_mapping(run.get("tool")).get("driver"))
        if not isinstance(driver.get("name"), str):
            raise NoReport("a run does not name its tool (tool.driver.name)")
        tools.append(driver["name"][:LONGEST_NAME])
        commits += [one.get("revisionId") for one in _rows(run, "versionControlProvenance")]
        if any(one.get("executionSuccessful") is False for one in _rows(run, "invocations")):
            doubts.append(f"Its run number {number} did not end well.")
        if run.get("results") is None:
            doubts.append(f"Its run number {number} has no results at all.")
        _tally(run, driver, counts, failing)
    outcome: Outcome = "passed"
    if counts["errors"]:
        outcome = "failed"
    elif counts["warnings"] or doubts or not runs:
        outcome = "inconclusive"
    if counts["warnings"] and not counts["errors"]:
        doubts.append("It has warnings only; whether those fail is not for a log to say.")
    each = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return Report(
        "sarif",
        outcome,
        each or "no results",
        commit_in(commits),
        ", ".join(dict.fromkeys(tools))[:LONGEST_NAME] or None,
        counts=counts,
        failing=tuple(failing[:MOST_FAILING]),
        doubts=tuple(doubts),
    )


def _tally(
    run: Mapping[str, Any], driver: Mapping[str, Any], counts: dict[str, int], failing: list[str]
) -> None:
    for result in _rows(run, "results"):
        level = _level(result, driver)
        if level is None:
            counts["suppressed"] += 1
        elif level != "none":
            counts[f"{level}s"] += 1
        if level == "error":
            failing.append(str(result.get("ruleId") or "without a rule")[:LONGEST_NAME])


def _level(result: Mapping[str, Any], driver: Mapping[str, Any]) -> str | None:
    """A result's level (SARIF 3.27.10); None where it is suppressed, or gone."""
    said = _rows(result, "suppressions")
    if any(one.get("status", "accepted") == "accepted" for one in said):
        return None
    if result.get("baselineState") == "absent":
        return None
    if result.get("kind", "fail") != "fail":
        return "none"
    level = result.get("level")
    if level is None:
        rules = _rows(driver, "rules")
        place = result.get("ruleIndex")
        rule: Mapping[str, Any] = {}
        if type(place) is int and 0 <= place < len(rules):
            rule = rules[place]
        elif result.get("ruleId") is not None:
            rule = next((one for one in rules if one.get("id") == result["ruleId"]), {})
        level = _mapping(rule.get("defaultConfiguration")).get("level", "warning")
    if level not in _LEVELS:
        raise NoReport("a result has a level that SARIF does not know")
    return str(level)


def read_ci(document: Mapping[str, Any]) -> Report:
    """The status of a CI run: Flow's own form, or what GitHub and GitLab tell of a run.

    ``provider``, ``run_id`` or ``url``, ``commit``, ``conclusion``, ``jobs: [{name, conclusion}]``.
    """
    said = _one(document, "conclusion", "status", "result", "state")
    if said is None:
        raise NoReport("it names no conclusion")
    if _one(document, "run_id", "id", "databaseId", "url", "html_url", "web_url") is None:
        raise NoReport("it names no run (run_id or url)")
    rows = document.get("jobs")
    if rows is not None and (
        not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows)
    ):
        raise NoReport("jobs is no list of jobs")
    jobs = [
        (str(_one(job, "name", "id") or "without a name"), _conclusion(job)) for job in rows or ()
    ]
    outcome, doubts = _run_outcome(_word(said), [word for _, word in jobs])
    counts = {"jobs": len(jobs)}
    for _, word in jobs:
        kind = "passed" if word in _GOOD else "failed" if word in _BAD else "others"
        counts[kind] = counts.get(kind, 0) + 1
    parts = [f"{counts[key]} {key}" for key in ("passed", "failed", "others") if counts.get(key)]
    shown = f"CI run: {_word(said)}" + (f" ({len(jobs)} jobs: {', '.join(parts)})" if jobs else "")
    provider = _one(document, "provider")
    url = _one(document, "url", "html_url", "web_url")
    return Report(
        "ci",
        outcome,
        shown,
        commit_in(document.get(key) for key in ("commit", "sha", "head_sha", "headSha")),
        str(provider)[:LONGEST_NAME] if provider is not None else None,
        str(url)[:LONGEST_NAME] if url is not None else None,
        counts,
        tuple(name[:LONGEST_NAME] for name, word in jobs if word in _BAD)[:MOST_FAILING],
        doubts,
    )


def _run_outcome(said: str, jobs: Sequence[str]) -> tuple[Outcome, tuple[str, ...]]:
    bad = any(word in _BAD for word in jobs)
    if said in _BAD:
        return "failed", ()
    if said in _GOOD and bad:
        return "failed", ("It says that it succeeded, and that a job of it failed.",)
    if said in _GOOD and all(word in _GOOD | _HARMLESS for word in jobs):
        return "passed", ()
    if said in _GOOD:
        return "inconclusive", ("It says that it succeeded, and that a job of it did not.",)
    return "inconclusive", (f"It did not come to a result: {said}.",)


def _conclusion(job: Mapping[str, Any]) -> str:
    said = _one(job, "conclusion", "status", "result", "state")
    return _word(said) if said is not None else "pending"


def _word(value: object) -> str:
    """A conclusion as one of the known words."""
    word = str(value).lower()
    if word not in _KNOWN | _OPEN:
        raise NoReport(f"{str(value)[:40]!r} is no conclusion of a CI run that is known")
    return word


def _one(document: Mapping[str, Any], *keys: str) -> object:
    """The first of these that says something."""
    for key in keys:
        value = document.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if type(value) is int:
            return value
    return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _rows(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = document.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise NoReport(f"{key} is no list of objects")
    return found
