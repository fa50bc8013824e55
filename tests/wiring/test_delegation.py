"""Scorecards and debates about a criterion with the real parts: what is read, and how."""

from __future__ import annotations

import os

import pytest

from flow.errors import FlowError, InputError
from flow.wiring.context import Context
from flow.wiring.judging.goal import Delegation
from tests.support import GitRepo

RUN = "**User:** /notes\n\n**Assistant:** Written.\n"


@pytest.fixture
def port(repo: GitRepo) -> Delegation:
    repo.commit("start", **{"run.md": RUN, "notes.md": "# Notes\n", "secret.md": "s\n"})
    return Delegation(Context(str(repo.path), os.environ))


def test_a_transcript_is_read_from_below_the_top_level(port: Delegation) -> None:
    transcript = port.saved_execution("run.md", "notes")
    assert transcript is not None
    assert transcript.entries[-1].text == "Written."
    assert port.saved_execution("none.md", None) is None


def test_a_transcript_with_two_names_may_be_another_file(port: Delegation, repo: GitRepo) -> None:
    os.link(repo.path / "run.md", repo.path / "again.md")
    with pytest.raises(InputError, match="several hard links"):
        port.saved_execution("again.md", "notes")


def test_no_symlink_leads_to_a_transcript(port: Delegation, repo: GitRepo) -> None:
    os.symlink("run.md", repo.path / "link.md")
    with pytest.raises(FlowError):
        port.saved_execution("link.md", "notes")


def test_whose_rubric_a_name_means(port: Delegation, repo: GitRepo) -> None:
    assert port.rubric_source("rubric-code.md") == "flow"
    repo.write(".flow/rubrics/rubric-code.md", "# Mine\n")
    assert port.rubric_source("rubric-code.md") == "project"


def test_a_solution_leaves_out_what_is_denied(port: Delegation) -> None:
    found = port.solution_files(("*.md",), ("secret.md",))
    assert [path for path, _ in found.files] == ["notes.md", "run.md"]
    assert "notes" in port.solution_name(["notes.md"])
