"""docs/reference/specification.md: what it names exists, and what exists is named."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from flow import errors
from flow.cli.goal import evaluate
from flow.cli.main import COMMANDS, ELSEWHERE
from flow.cli.parser import Parser
from flow.cli.parsing import command_of
from flow.core import layout
from flow.core.decision.decide import NoOpinion, Opinion, decide
from flow.core.decision.verdict import CriterionResult, Verdict
from flow.core.goal.lifecycle import TABLE
from flow.core.setting_keys import KEYS
from flow.core.settings import config_rows, merge_layers
from flow.core.stop.policy import CONTINUE
from flow.helpers.table import HELPERS
from tests.support import ROOT

PAGE = Path(ROOT, "docs/reference/specification.md").read_text(encoding="utf-8")
SPANS = [re.sub(r"\s+", " ", span) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", PAGE)]
MODES = ("warn", "block", "evaluator-loop")
FOREIGN = {"runAgent", "throwOnFail", "showUntrackedFiles"}
"""Names of the seeds and of git that Flow itself never writes."""


def section(number: str) -> str:
    """The text below a numbered heading, its subsections included."""
    heading = re.search(rf"^(#+) {re.escape(number)}\.? .*$", PAGE, re.M)
    assert heading is not None, number
    level = len(heading[1])
    rest = PAGE[heading.end() :]
    following = re.search(rf"^#{{1,{level}}} ", rest, re.M)
    return rest[: following.start()] if following else rest


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without the marks around code."""
    found = []
    for line in text.split("\n"):
        if line.startswith("| ") and not line.startswith("|---"):
            cells = re.split(r"(?<!\\)\|", line.strip("|"))
            found.append([cell.strip() for cell in cells])
    return found


def program() -> str:
    """All text of the program, its schemas and its scripts."""
    folders = ("flow", "schemas", "bin", "hooks", "rubrics", "skills", "commands", "agents")
    files = (path for folder in folders for path in sorted(Path(ROOT, folder).rglob("*")))
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in files
        if path.is_file() and path.suffix != ".pyc"
    )


def parsers() -> dict[str, Parser]:
    """Every command with its parser."""
    found = {}
    for name in COMMANDS:
        module = import_module(f"flow.cli.{name}")
        if hasattr(module, "COMMAND"):
            found[name] = Parser(f"flow {name}", module.COMMAND)
        for word in getattr(module, "COMMANDS", ()):
            found[f"{name} {word}"] = Parser(f"flow {name} {word}", command_of(module, word))
    return found


def options() -> set[str]:
    found = {option for parser in parsers().values() for option in parser._option_string_actions}
    return found | {option for helper in HELPERS.values() for option in helper.options}


def test_its_options_exist() -> None:
    named = {found for span in SPANS for found in re.findall(r"(?<![\w-])--[a-z][\w-]*", span)}
    quoted = set(re.findall(r"[\"' ](--[a-z][\w-]*)", program()))
    assert named - options() - quoted == set()


def test_every_option_of_goals_and_helpers_is_named() -> None:
    needed = {option for helper in HELPERS.values() for option in helper.options}
    for name, parser in parsers().items():
        if name.startswith("goal "):
            needed |= set(parser._option_string_actions)
    missing = {option for option in needed if not re.search(rf"{option}(?![\w-])", PAGE)}
    assert missing <= {"-h", "--note"} | {"--help", "--json"}


def test_its_commands_exist_and_all_are_named() -> None:
    text = section("5")
    for name in parsers():
        group, _, word = name.partition(" ")
        line = re.compile(rf"^\|[^\n]*`flow {group}\b[^\n]*\b{word}\b", re.M)
        assert line.search(text), name
    groups = {*COMMANDS, *ELSEWHERE}
    for span in SPANS:
        called = re.match(r"flow ([a-z-]+)(?: ([a-z-]+(?:\|[a-z-]+)*))?", span)
        if called is None:
            continue
        group, words = called[1], (called[2] or "").split("|")
        assert group in groups, span
        if any(name.startswith(f"{group} ") for name in parsers()):
            assert {f"{group} {word}".strip() for word in words} <= {*parsers()}, span


def test_its_exit_codes_are_the_codes() -> None:
    told = {int(row[0]): row[1] for row in rows(section("5")) if row[0].isdigit()}
    raised = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.FlowError)
    }
    assert set(told) == {0, 1} | raised | set(evaluate.EXIT_CODES.values())
    words = {"achieved": "achieved", "not_achieved": "not achieved", "blocked": "blocked",
             "needs_human_review": "a person is needed"}  # fmt: skip
    for verdict, code in evaluate.EXIT_CODES.items():
        assert words[verdict] in told[code].replace("`", "")


def test_its_settings_are_the_settings() -> None:
    told = [row for row in rows(section("8")) if row[0] != "key"]
    plain = {row.key: row.value for row in config_rows(merge_layers([]))}
    assert [row[0] for row in told] == [f"`{name}`" for name in KEYS]
    for name, default, rule in told:
        key, value = name.strip("`"), plain[name.strip("`")]
        shown = value if isinstance(value, str) else json.dumps(value)
        assert default.strip("`") == ("none" if value is None else shown), name
        assert rule == KEYS[key].rule, name
    named = {row[0].strip("`") for row in rows(section("17.2"))} - {"rule"}
    assert named == {key.rule for key in KEYS.values()}


def test_its_variables_exist() -> None:
    named = {found for span in SPANS for found in re.findall(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+", span)}
    text = program()
    assert {name for name in named if name not in text} == set()


def test_every_key_of_a_verdict_is_named() -> None:
    verdict = Verdict("g", "r", "achieved", 1.0, "unchanged", "", "", "none",
                      (CriterionResult("AC1", "pass", "passed"),), (), (), None,
                      "active", "active", 1)  # fmt: skip
    document = verdict.to_document()
    keys = {*document, *document["lifecycle"], *document["criterion_results"][0]}
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", section("3")))))
    assert keys - words == set()


@pytest.mark.parametrize("kind", ["goal", "evidence"])
def test_every_field_of_a_file_is_named(kind: str) -> None:
    schema: dict[str, Any] = json.loads(Path(ROOT, f"schemas/v1/{kind}.schema.json").read_text())
    parts = [*schema["properties"].values(), schema]
    parts += [schema["$defs"]["criterion"]] if kind == "goal" else []
    keys = {key for part in parts for key in part.get("properties", ())}
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", section("1")))))
    assert keys - words == set()


def test_its_names_exist() -> None:
    """Whatever looks like a field, an enum's value or a function's name."""
    text = set(re.findall(r"\w+", program()))
    named = {word for span in SPANS for word in re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", span)}
    named |= {word for span in SPANS for word in re.findall(r"\b[a-z]+(?:[A-Z][a-z]+)+\b", span)}
    assert named - text == FOREIGN


def test_its_files_lie_where_flow_puts_them() -> None:
    for file in (
        layout.goal_file("<goal-id>"),
        layout.evidence_file("<run-id>", "<evidence-id>"),
        layout.ledger_file("<run-id>"),
        layout.events_file("<run-id>"),
        layout.verdict_file("<run-id>"),
        f"{layout.run_dir('<run-id>')}/{{baseline,proposal,loop,measuring}}.json",
    ):
        assert f"`{file}`" in PAGE
    for span in SPANS:
        if re.match(r"(schemas|hooks|bin)/[\w./-]+$", span):
            assert Path(ROOT, span).exists(), span
    assert set(re.findall(r"\b[a-z-]+\.sh\b", section("5"))) == {f"{name}.sh" for name in HELPERS}


STOPS = {
    "a `must_pass` criterion failed": "failed",
    "violation": "violation",
    "nothing failed, a proof was lost": "proof_lost",
    "nothing failed, some inconclusive": "inconclusive",
    "fuzzy criteria left": "judge_not_achieved",
    "all proved": "proved",
    "untrusted, waiting, unreadable": "untrusted",
}


JUDGES = {
    "not asked": None,
    "`achieved`, confidence ≥ 0.6": Opinion("achieved", 0.6),
    "`achieved`, confidence < 0.6": Opinion("achieved", 0.59),
    "`not_achieved`": Opinion("not_achieved", 0.9),
    "`blocked`, with": Opinion("blocked", 0.9, blocker_type="missing_dep"),
    "`needs_human_review`; no usable answer": NoOpinion("no answer"),
    "type `deterministic`": None,
    "as it is": None,
    "any": None,
}


def test_what_is_decided_is_the_table() -> None:
    told = [row for row in rows(section("3")) if len(row) == 4 and row[0] != "result before judges"]
    for candidates, answer, status, verdict in told:
        (judge,) = (value for words, value in JUDGES.items() if answer.startswith(words))
        for found in re.findall(r"`(pass\+fuzzy|pass|fail|incomplete)`", candidates) or ["pass"]:
            kind = "flow_verdict_judge" if judge and found == "pass" else "hybrid"
            decision = decide(
                found,
                violation=candidates == "violation",
                evaluator_type="deterministic" if "deterministic" in answer else kind,
                trigger="manual",
                judge=judge,
                review=answer == "as it is",
                held="open" if answer == "any" else "",
            )
            proposed = f"`{decision.proposed}`, proposed"
            written = proposed if decision.proposed else f"`{decision.status}`"
            assert status.startswith(written), (candidates, answer)
            assert verdict == f"`{decision.verdict}`", (candidates, answer)
    assert len(told) == 11


def test_what_continues_at_a_stop_is_the_table() -> None:
    told = [row for row in rows(section("6")) if len(row) == 4]
    for words, name in STOPS.items():
        (cells,) = (row[1:] for row in told if row[0].startswith(words))
        cells = [cells[0], cells[1], cells[1] if cells[2] == "the same" else cells[2]]
        goes_on = {mode for mode, cell in zip(MODES, cells, strict=True) if "continue" in cell}
        assert goes_on == CONTINUE.get(name, frozenset()), name  # type: ignore[call-overload]


def test_its_lifecycle_is_the_table() -> None:
    told: dict[str, set[str]] = {}
    for sources, targets in (row for row in rows(section("2")) if len(row) == 2):
        for source in re.findall(r"`(\w+)`", sources):
            words = "" if targets.startswith("nothing") else targets
            told[source] = set(re.findall(r"`(\w+)`", words))
    assert told == {source: set(targets) for source, targets in TABLE.items()}
