"""Scorecards in ``skills/judge/scores`` are Flow's own files (SPEC 4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.adapters.ledger.reader import baseline_document, baseline_from_document
from flow.core.boundary.changes import Baseline
from flow.core.boundary.rules import OwnFiles
from flow.core.judging.scorecard.history import read_name
from flow.core.layout import PLUGIN_SCORES, TEMP_PREFIX

EMPTY = Baseline(None, {}, {}, {}, {}, {})
OWN = OwnFiles(EMPTY)
NAMES = [
    ("commit-20260102-030405.json", True),
    ("commit-20260102-030405-2.json", True),
    ("a-b.c_d-20260102-030405-10.json", True),
    ("20260101-000000-20260102-030405.json", True),
    (f"{TEMP_PREFIX}{'0' * 18}", True),
    (f"{TEMP_PREFIX}{'0' * 17}", False),
    (f"{TEMP_PREFIX}{'x' * 18}", False),
    ("20260102-030405.json", False),
    ("20260102-030405-2.json", False),
    ("commit-20260102-030405", False),
    ("commit-20260102-030405.py", False),
    ("commit-20260102-030405-x.json", False),
    ("commit-2026012-030405.json", False),
    ("commit.json", False),
    ("x/commit-20260102-030405.json", False),
    ("日本-20260102-030405.json", False),
    ("evil.py", False),
    ("", False),
]


PINNED = Baseline(None, {}, {}, {}, {}, {}, reports_dir="docs/reports/", scores_dir="docs/cards")


@pytest.mark.parametrize(
    ("path", "pinned", "usual"),
    [
        ("docs/reports/users-api-2026-01-31.1.md", True, False),
        ("docs/reports/.flow-tmp-0123456789abcdef01", True, False),
        ("docs/reports/users-api-2026-01-31.md", False, False),
        ("docs/reports/notes-20260102-030405.json", False, False),
        ("docs/reports/x/users-api-2026-01-31.1.md", False, False),
        ("docs/cards/notes-20260102-030405.json", True, False),
        ("docs/cards/.flow-tmp-0123456789abcdef01", True, False),
        ("docs/cards/users-api-2026-01-31.1.md", False, False),
        ("docs/cards/evil.py", False, False),
        ("x/docs/cards/notes-20260102-030405.json", False, False),
        ("docs/users-api-2026-01-31.1.md", False, False),
        ("users-api-2026-01-31.1.md", False, False),
        (".specs/reports/users-api-2026-01-31.1.md", True, True),
        ("skills/judge/scores/notes-20260102-030405.json", True, True),
        (".decisions/issue-7.md", True, True),
    ],
)
def test_reports_and_cards_lie_in_the_pinned_folders(path: str, pinned: bool, usual: bool) -> None:
    assert OwnFiles(PINNED)(path) is pinned
    assert OwnFiles(PINNED._replace(reports_dir=".specs/reports", scores_dir=""))(path) is usual


@pytest.mark.parametrize(
    ("journal", "reports", "cards"), [("docs", "docs", "docs"), ("docs/", "docs/", "docs/")]
)
def test_they_may_share_one_folder(journal: str, reports: str, cards: str) -> None:
    found = OwnFiles(EMPTY._replace(journal_dir=journal, reports_dir=reports, scores_dir=cards))
    names = ("issue-1.md", "a-b-2026-01-31.1.md", "a-20260102-030405.json", "evil.py")
    assert [found(f"docs/{name}") for name in names] == [True, True, True, False]


@pytest.mark.parametrize("field", ["reports_dir", "scores_dir", "journal_dir"])
def test_a_baseline_is_read_back_with_its_folders(field: str) -> None:
    document = baseline_document(PINNED, "g", "r")
    assert baseline_from_document(document) == PINNED
    assert baseline_from_document({**document, field: ["docs"]}) is None
    del document[field]  # an older Flow's
    found = baseline_from_document(document)
    assert found is not None
    assert getattr(found, field) == Baseline._field_defaults[field]


@pytest.mark.parametrize(("name", "own"), NAMES)
def test_which_files_are_cards(name: str, own: bool) -> None:
    assert OWN(f"{PLUGIN_SCORES}/{name}") is own


@pytest.mark.parametrize(
    "folder", ["src", "skills/judge", "skills/judge/scoresx", "x/skills/judge/scores"]
)
def test_elsewhere_they_are_files_like_any_other(folder: str) -> None:
    assert not OWN(f"{folder}/commit-20260102-030405.json")


@settings(deadline=None)
@given(
    st.from_regex(r"[a-z0-9.-]{0,12}-?[0-9]{7,8}-[0-9]{5,6}(-[0-9]{0,2})?\.json", fullmatch=True)
)
def test_it_is_what_reads_them_back(name: str) -> None:
    """But for numbers that Flow never writes."""
    found = read_name(name)
    if found is not None:
        assert OWN(f"{PLUGIN_SCORES}/{name}")
    elif OWN(f"{PLUGIN_SCORES}/{name}"):
        assert name.rsplit("-", maxsplit=1)[-1].startswith("0") or name.startswith("-")
