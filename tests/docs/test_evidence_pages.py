"""The pages about evidence: what they tell is what the code has, and each attack is caught."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.adapters.contracts import formats
from flow.adapters.sandbox import bubblewrap
from flow.adapters.sandbox import home as sandbox_home
from flow.adapters.sandbox import paths as sandbox_paths
from flow.core.amendment.rules import FIELDS
from flow.core.attribution.rules import read_rules
from flow.core.evidence.freshness import WORDS
from flow.core.evidence.imported import FORMATS, TYPES
from flow.core.secrets.redact import KNOWN
from flow.core.secrets.shapes import shapes
from tests.support import ROOT

PAGE, COMMANDS, CHANGES, GOAL_FILE, EXCHANGE, SANDBOX = (
    Path(ROOT, "docs", f"{name}.md").read_text(encoding="utf-8")
    for name in (
        "evidence",
        "evidence-commands",
        "evidence-changes",
        "goal-file",
        "evidence-exchange",
        "sandbox-secrets",
    )
)
POINTS = {
    "Subject": "is stale: the files were changed",
    "Vacuous": "── AC1  vacuous ──",
    "Masked": "── AC1  masked ──",
    "Red first": "non_discriminating: ",
    "Protected files": "protected files changed since activation: tests/test_greet.py",
    "Flaky": "passed 1 of 2 runs, failed 1",
    "Chain": "was altered since entry 1 recorded it",
    "Secrets": "header: bWU6[masked:known_value]",
    "Export": "predicate.result is 'PASSED', and should be 'FAILED'",
    "Amendments": "cannot be compared: changed",
}
"""The heading of each, and what its attack comes to."""


def _sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_point_has_its_section() -> None:
    assert [name for name in _sections() if name in POINTS] == list(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_every_attack_is_caught(point: str) -> None:
    text = _sections()[point]
    shown = "\n".join(re.findall(r"```console\n(.*?)```", text, re.S))
    assert len(shown.splitlines()) <= 25
    own = r"\]\((?:evidence-[a-z]+|goal-file|sandbox-secrets)\.md(?:#[a-z-]+)?\)"
    assert re.search(own, text), "links to its own page"
    assert POINTS[point] in shown


@pytest.mark.parametrize("page", sorted(Path(ROOT, "docs").glob("evidence-*.md")))
def test_every_page_about_evidence_is_linked(page: Path) -> None:
    assert re.search(rf"\]\({page.name}(?:#[a-z-]+)?\)", PAGE)


def rows(text: str) -> list[list[str]]:
    """The cells of each row of ``text``'s tables."""
    return [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]


def test_its_rule_file_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n(runners:.*?)```", COMMANDS, re.S)
    document = formats.parse_yaml(text.encode(), file="runners.yaml")
    rules, faults = read_rules(document)
    assert [rule.name for rule in rules] == ["nextest"]
    assert not faults


def test_every_word_of_staleness_is_told() -> None:
    section = CHANGES[CHANGES.index("## Freshness") : CHANGES.index("## Protected files")]
    told = re.findall(r"^\| `(\w+)` \|", section, re.M)
    assert sorted(told) == sorted(["why_stale", *WORDS])


def test_every_field_that_an_amendment_weighs_is_in_the_table() -> None:
    section = GOAL_FILE[GOAL_FILE.index("## Amendments") :]
    told = {word for row in rows(section) for word in re.findall(r"[a-z_0-9]+", row[0])}
    carried = {"on_incomplete", "on_blocked", "on_complete", "command", "judge_agent"}
    carried |= {"evidence_bundle_format", "apiVersion", "kind", "id"}
    assert {key.rpartition(".")[2] for key in FIELDS} - carried <= told


def test_the_attacks_on_an_export_are_caught() -> None:
    section = EXCHANGE[: EXCHANGE.index("## Import")]
    statuses = re.findall(r'echo "exit \$\?"\n(?:(?!\$ )[^\n]*\n)*?exit (\d+)\n', section)
    assert statuses == ["1", "1", "2"]


def test_every_format_of_a_report_is_told() -> None:
    told = {row[0].strip(" `"): row[2].strip(" `") for row in rows(EXCHANGE) if len(row) > 2}
    assert {name: told.get(name) for name in FORMATS} == {name: TYPES[name] for name in FORMATS}


def test_the_numbers_of_the_sandbox_are_those_of_the_code() -> None:
    assert f"{bubblewrap.PROCESSES:,} processes" in SANDBOX
    assert bubblewrap.TMP_BYTES == 1 << 30
    assert f"at most {sandbox_paths.MOST}" in SANDBOX
    assert ".".join(map(str, bubblewrap.OLDEST)) in SANDBOX
    assert {".cargo", ".rustup", ".pyenv", ".nvm"} <= sandbox_home.TOOLS
    assert {".ssh", ".aws", ".netrc", ".claude"} <= set(sandbox_home.SECRETS)


def test_every_kind_of_secret_is_told() -> None:
    section = SANDBOX[SANDBOX.index("## Secrets") :]
    told = [kind for row in rows(section) for kind in re.findall(r"`(\w+)`", row[1])]
    told.remove("masked")
    assert sorted(told) == sorted({shape.kind for shape in shapes()} | {KNOWN})
