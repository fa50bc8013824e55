"""Read SARIF logs, and the status of a CI run: the outcome, and the commit it is about."""

from __future__ import annotations

from flow.adapters.attribution.reported_tests import LONGEST_NAME, MOST_FAILING, NoReport
from flow.core.evidence.imported import CheckReport
from flow.startup import re
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.evidence.model import Outcome

_CONCLUSION_KEYS = ("conclusion", "status", "result", "state")
_LEVELS = ("error", "warning", "note", "none")
_GOOD = frozenset(("success", "successful", "succeeded", "passed", "ok"))
_BAD = frozenset(("failure", "failed", "fail", "error", "errored", "startup_failure"))
_HARMLESS = frozenset(("skipped", "neutral", "manual"))
_FINAL = _GOOD | _BAD | _HARMLESS
_OPEN = frozenset(
    """
    aborted action_required canceled cancelled completed created in_progress pending preparing
    queued requested running scheduled stale timed_out waiting
    """.split()
)
"""Conclusions by which neither success nor failure is known."""

_COMMIT = r"[0-9a-fA-F]{7,64}"


def commit_in(values: Iterable[object]) -> str | None:
    """The commit that a report's fields name; None if there is none.

    Only hexadecimal ids count: a branch's name, or ``HEAD``, would fit any checkout. Raises
    :class:`NoReport` if they name different commits.
    """
    texts = [value for value in values if isinstance(value, str)]
    ids = {text.lower() for text in texts if re.fullmatch(_COMMIT, text)}
    if not ids:
        return None
    longest = max(ids, key=len)
    if not all(longest.startswith(commit) for commit in ids):
        raise NoReport(f"it names different commits: {', '.join(sorted(ids)[:5])}")
    return longest


def read_sarif(document: Mapping[str, Any]) -> CheckReport:
    """A SARIF 2.1.0 log. Suppressed results, and those that are gone, do not count."""
    if document.get("version") != "2.1.0":
        raise NoReport("its version is not 2.1.0")
    runs = document.get("runs")
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise NoReport("runs is no list of runs")
    counts = {"errors": 0, "warnings": 0, "notes": 0, "suppressed": 0}
    doubts: list[str] = []
    tools: list[str] = []
    commits: list[object] = []
    failing: list[str] = []
    for number, run in enumerate(runs, 1):
        driver = object_of(object_of(run.get("tool")).get("driver"))
        if not isinstance(driver.get("name"), str):
            raise NoReport("a run does not name its tool (tool.driver.name)")
        tools.append(driver["name"][:LONGEST_NAME])
        sources = _object_rows(run, "versionControlProvenance")
        commits += [source.get("revisionId") for source in sources]
        if any(map(_ended_badly, _object_rows(run, "invocations"))):
            doubts.append(f"Its run number {number} did not end well.")
        if run.get("results") is None:
            doubts.append(f"Its run number {number} has no results at all.")
        if "results" in object_of(run.get("externalPropertyFileReferences")):
            doubts.append(f"Its run number {number} has results in other files.")
        if any(row.get("kind") in ("open", "review") for row in _object_rows(run, "results")):
            doubts.append(f"Its run number {number} leaves results open, for a person to look at.")
        _count_results(run, counts, failing)
    outcome: Outcome = "passed"
    if counts["errors"]:
        outcome = "failed"
    elif counts["warnings"] or doubts or not runs:
        outcome = "inconclusive"
    if counts["warnings"] and not counts["errors"]:
        doubts.append("It has warnings only; whether those fail is not for a log to say.")
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return CheckReport(
        "sarif",
        outcome,
        summary or "no results",
        commit_in(commits),
        ", ".join(dict.fromkeys(tools))[:LONGEST_NAME] or None,
        counts=counts,
        failing=tuple(failing[:MOST_FAILING]),
        doubts=tuple(doubts),
    )


def _ended_badly(invocation: Mapping[str, Any]) -> bool:
    """Whether the tool says that it did not do all of its work (SARIF 3.20.14, 3.58.6)."""
    keys = ("toolExecutionNotifications", "toolConfigurationNotifications")
    return invocation.get("executionSuccessful") is False or any(
        row.get("level") == "error" for key in keys for row in _object_rows(invocation, key)
    )


def _count_results(run: Mapping[str, Any], counts: dict[str, int], failing: list[str]) -> None:
    for result in _object_rows(run, "results"):
        level = _result_level(result, run)
        if level is None:
            counts["suppressed"] += 1
        elif level != "none":
            counts[f"{level}s"] += 1
        if level == "error":
            failing.append(str(result.get("ruleId") or "without a rule")[:LONGEST_NAME])


def _result_level(result: Mapping[str, Any], run: Mapping[str, Any]) -> str | None:
    """A result's level (SARIF 3.27.10); None if it is suppressed, or gone.

    A result is suppressed if all its suppressions were accepted: one that is under review, or
    rejected, leaves it as it is.
    """
    suppressions = _object_rows(result, "suppressions")
    if suppressions and all(s.get("status", "accepted") == "accepted" for s in suppressions):
        return None
    if result.get("baselineState") == "absent":
        return None
    if result.get("kind", "fail") != "fail":
        return "none"
    level = result.get("level")
    if level is None:
        rule = _named_rule(result, object_of(run.get("tool")))
        level = object_of(rule.get("defaultConfiguration")).get("level", "warning")
        level = _overridden(rule, run) or level
    if level not in _LEVELS:
        raise NoReport("a result has a level that SARIF does not know")
    return str(level)


def _named_rule(result: Mapping[str, Any], tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rule that a result names, by its index or its id, of the tool or an extension of it."""
    named = object_of(result.get("rule"))
    extensions = _object_rows(tool, "extensions")
    component = object_of(named.get("toolComponent")).get("index", -1)
    components = [object_of(tool.get("driver")), *extensions]
    if type(component) is int and 0 <= component < len(extensions):
        components = [extensions[component]]
    index = result.get("ruleIndex", named.get("index"))
    rules = _object_rows(components[0], "rules")
    if type(index) is int and 0 <= index < len(rules):
        return rules[index]
    id = result.get("ruleId", named.get("id"))
    if not isinstance(id, str):
        return {}
    every = [rule for each in components for rule in _object_rows(each, "rules")]
    for name in (id, id.rpartition("/")[0]):  # E1/sub is a case of the rule E1
        for rule in every:
            if name and rule.get("id") == name:
                return rule
    return {}


def _overridden(rule: Mapping[str, Any], run: Mapping[str, Any]) -> object:
    """The level that the run's own settings gave a rule; None if they gave none."""
    for invocation in _object_rows(run, "invocations"):
        for override in _object_rows(invocation, "ruleConfigurationOverrides"):
            if rule and object_of(override.get("descriptor")).get("id") == rule.get("id"):
                return object_of(override.get("configuration")).get("level")
    return None


def read_ci(document: Mapping[str, Any]) -> CheckReport:
    """Read the status of a CI run: in Flow's own form, or in GitHub's or GitLab's.

    ``provider``, ``run_id`` or ``url``, ``commit``, ``conclusion``, ``jobs: [{name, conclusion}]``.
    """
    conclusion = _first_given(document, *_CONCLUSION_KEYS)
    if conclusion is None:
        raise NoReport("it names no conclusion")
    if _first_given(document, "run_id", "id", "databaseId", "url", "html_url", "web_url") is None:
        raise NoReport("it names no run (run_id or url)")
    rows = document.get("jobs")
    if rows is not None and (
        not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows)
    ):
        raise NoReport("jobs is no list of jobs")
    jobs = [
        (str(_first_given(job, "name", "id") or "without a name"), _conclusion(job))
        for job in rows or ()
    ]
    outcome, doubts = _run_outcome(
        _conclusion_word(conclusion), [word for _, word in jobs], _other_statements(document)
    )
    counts = {"jobs": len(jobs)}
    for _, word in jobs:
        kind = "passed" if word in _GOOD else "failed" if word in _BAD else "others"
        counts[kind] = counts.get(kind, 0) + 1
    parts = [f"{counts[key]} {key}" for key in ("passed", "failed", "others") if counts.get(key)]
    shown = f"CI run: {_conclusion_word(conclusion)}" + (
        f" ({len(jobs)} jobs: {', '.join(parts)})" if jobs else ""
    )
    provider = _first_given(document, "provider")
    url = _first_given(document, "url", "html_url", "web_url")
    return CheckReport(
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


def _other_statements(document: Mapping[str, Any]) -> list[str]:
    """The words under all keys that may hold a conclusion; ``completed`` is none."""
    words = (str(document.get(key)).lower() for key in _CONCLUSION_KEYS)
    return [word for word in words if word in (_FINAL | _OPEN) - {"completed"}]


def _run_outcome(
    conclusion: str, jobs: Sequence[str], others: Sequence[str]
) -> tuple[Outcome, tuple[str, ...]]:
    bad = any(word in _BAD for word in jobs)
    if conclusion in _BAD:
        return "failed", ()
    worse = next((word for word in others if word in _BAD), None)
    if worse is not None:
        return "failed", (f"It says {conclusion}, and {worse} as well; the worse counts.",)
    unsettled = next((word for word in others if word in _OPEN), None)
    if conclusion in _GOOD and unsettled is not None and not bad:
        return "inconclusive", (f"It says {conclusion}, and {unsettled} as well.",)
    if conclusion in _GOOD and bad:
        return "failed", ("It says that it succeeded, and that a job of it failed.",)
    if conclusion in _GOOD and all(word in _GOOD | _HARMLESS for word in jobs):
        return "passed", ()
    if conclusion in _GOOD:
        return "inconclusive", ("It says that it succeeded, and that a job of it did not.",)
    return "inconclusive", (f"It did not come to a result: {conclusion}.",)


def _conclusion(job: Mapping[str, Any]) -> str:
    conclusion = _first_given(job, *_CONCLUSION_KEYS)
    return _conclusion_word(conclusion) if conclusion is not None else "pending"


def _conclusion_word(value: object) -> str:
    """A conclusion as one of the known words."""
    word = str(value).lower()
    if word not in _FINAL | _OPEN:
        raise NoReport(f"{str(value)[:40]!r} is no conclusion of a CI run that is known")
    return word


def _first_given(document: Mapping[str, Any], *keys: str) -> object:
    """The first of these values that is a text or a number."""
    for key in keys:
        value = document.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if type(value) is int:
            return value
    return None


def _object_rows(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    rows = document.get(key)
    if rows is None:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NoReport(f"{key} is no list of objects")
    return rows
