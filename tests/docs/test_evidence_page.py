"""docs/evidence.md: each point of SPEC section 10 has a demonstration with an attack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence.md").read_text(encoding="utf-8")
POINTS = {
    "Subject": "is stale: the files were changed",
    "Vacuous": "inconclusive: AC1 (vacuous: ",
    "Masked": "inconclusive: AC1 (masked: ",
    "Red first": "non_discriminating: ",
    "Protected files": "protected files changed since activation: tests/test_greet.py",
    "Flaky": "inconclusive: AC1 (flaky: passed 1 of 2 runs, failed 1)",
    "Chain": "was altered since entry 1 recorded it",
    "Secrets": "header: bWU6[masked:known_value]",
    "Export": "predicate.result is 'PASSED', and should be 'FAILED'",
    "Amendments": "weakening: objective.acceptance_criteria[AC1].verification_command",
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
    assert re.search(r"\]\(evidence-[a-z-]+\.md\)", text), "links to its own page"
    assert POINTS[point] in shown


@pytest.mark.parametrize("page", sorted(Path(ROOT, "docs").glob("evidence-*.md")))
def test_every_page_about_evidence_is_linked(page: Path) -> None:
    assert f"({page.name})" in PAGE
