"""``flow goal create --from-spec``: a draft from a specification folder (SPEC 12)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.core.drafting.test_specifications import KIRO, OPEN_SPEC, SPEC_KIT
from tests.support import scene

if TYPE_CHECKING:
    from tests.support import GitRepo

FOLDERS = {
    "spec-kit": ({"spec.md": SPEC_KIT, "plan.md": "- FR-9: no"}, "Strict dates", 5),
    "Kiro": ({"requirements.md": KIRO, "tasks.md": "- [ ] 1. x"}, "Dates are read strictly.", 3),
    "OpenSpec": (
        {"proposal.md": "## Why\nTrust.\n", "specs/dates/spec.md": OPEN_SPEC},
        "Trust.",
        4,
    ),
}


def goal(repo: GitRepo, name: str = "strict") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(scene.goal_file(repo, name))
    return loaded


@pytest.mark.parametrize("tool", FOLDERS)
def test_each_criterion_is_fuzzy_in_a_draft_that_runs_nothing(repo: GitRepo, tool: str) -> None:
    files, outcome, criteria = FOLDERS[tool]
    scene.start(repo)
    for name, text in files.items():
        repo.write(f"specs/003/{name}", text)

    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", "specs/003", "--json")

    assert (done.status, done.json["status"]) == (0, "draft"), done
    document = goal(repo)
    assert document["objective"]["outcome"] == outcome
    rows = document["objective"]["acceptance_criteria"]
    assert [row["id"] for row in rows] == [f"AC{n}" for n in range(1, criteria + 1)]
    assert not any("verification_command" in row for row in rows)
    assert scene.flow(repo, "goal", "activate").status == 0


def test_words_of_the_command_line_go_first_and_keep_their_ids(repo: GitRepo) -> None:
    scene.start(repo).write("spec.md", SPEC_KIT)
    words = ("--outcome", "Mine", "--criterion", "AC2: tests :: true", "--allow", "src/**")
    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", "spec.md", *words)
    assert done.status == 0, done
    document = goal(repo)
    assert document["objective"]["outcome"] == "Mine"
    ids = [row["id"] for row in document["objective"]["acceptance_criteria"]]
    assert ids == ["AC2", "AC1", "AC3", "AC4", "AC5", "AC6"]
    assert document["constraints"]["allowed_paths"] == ["src/**"]


def test_what_the_specification_leaves_open_is_told(repo: GitRepo) -> None:
    scene.start(repo).write("spec.md", SPEC_KIT)
    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", "spec.md")
    assert "AC4: the specification marks it as not decided" in done.stderr


def test_terminal_codes_of_a_specification_are_made_visible(repo: GitRepo) -> None:
    scene.start(repo).write("spec.md", "## Functional Requirements\n- FR-1: \x1b[31mred\u202e\n")
    words = ("--outcome", "x", "--from-spec", "spec.md")
    done = scene.flow(repo, "goal", "create", "strict", *words)
    assert done.status == 0, done
    (row,) = goal(repo)["objective"]["acceptance_criteria"]
    assert "\x1b" not in row["text"]
    assert "\u202e" not in row["text"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("gone", "cannot be read"),
        ("src", "holds no acceptance criteria"),
        ("bytes.md", "is not UTF-8"),
        ("large.md", "is larger than"),
        ("many", "more than 100 Markdown files"),
    ],
)
def test_what_is_no_specification_is_refused_and_nothing_is_written(
    repo: GitRepo, path: str, why: str
) -> None:
    scene.start(repo).write("large.md", "x" * ((1 << 20) + 1))
    (repo.path / "bytes.md").write_bytes(b"\xff")
    for number in range(101):
        repo.write(f"many/{number}.md", "x")
    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", path)
    assert done.status == 2, done
    assert why in done.stderr
    assert not (repo.path / ".flow/goals/strict.goal.yaml").exists()


def test_a_link_in_the_folder_is_not_followed(repo: GitRepo) -> None:
    scene.start(repo).write("elsewhere.md", SPEC_KIT)
    (repo.path / "specs").mkdir()
    os.symlink("../elsewhere.md", repo.path / "specs/spec.md")
    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", "specs")
    assert (done.status, "holds no acceptance criteria" in done.stderr) == (2, True)


@pytest.mark.parametrize("more", [("--from", "old"), ("--file", "goal.yaml")])
def test_it_goes_with_no_other_origin(repo: GitRepo, more: tuple[str, str]) -> None:
    scene.start(repo).write("spec.md", SPEC_KIT)
    name = () if more[0] == "--file" else ("strict",)
    assert scene.flow(repo, "goal", "create", *name, "--from-spec", "spec.md", *more).status == 2


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("specs/003-strict_dates", "strict-dates"),
        ("specs/003-Strict dates", "strict-dates"),
        ("specs/003-taken", "strict-dates"),
        ("specs/003-strict_dates/spec.md", "strict-dates"),
    ],
)
def test_without_an_id_the_goal_is_named_after_the_folder_or_the_outcome(
    repo: GitRepo, path: str, name: str
) -> None:
    scene.create(scene.start(repo), "taken")
    folder = path.removesuffix("/spec.md")
    repo.write(f"{folder}/spec.md", SPEC_KIT)
    done = scene.flow(repo, "goal", "create", "--from-spec", path)
    assert done.status == 0, done
    assert done.stdout == (
        f"○ {name} is a draft on branch main.\n"
        f"next   complete the draft, then: flow goal activate {name}\n"
    )
    assert scene.goal_file(repo, name).startswith("# yaml-language-server: $schema=")


def test_what_is_no_regular_file_is_not_read(repo: GitRepo) -> None:
    scene.start(repo).write("specs/003/spec.md", SPEC_KIT)
    os.mkfifo(repo.path / "specs/003/pipe.md")
    (repo.path / "specs/003/folder.md").mkdir()
    done = scene.flow(repo, "goal", "create", "strict", "--from-spec", "specs/003")
    assert done.status == 0, done


@pytest.mark.parametrize(
    ("path", "key", "remedy"),
    [("specs/003", "--outcome", "--outcome T"), ("specs/nope", "--from-spec", "name a folder")],
)
def test_what_is_missing_is_named(repo: GitRepo, path: str, key: str, remedy: str) -> None:
    text = "# Requirements\n\n## Requirement 1\n### Acceptance Criteria\n1. it SHALL work\n"
    scene.start(repo).write("specs/003/requirements.md", text)
    words = ("goal", "create", "strict", "--from-spec", path, "--json")
    error = scene.flow(repo, *words).json["error"]
    assert (error["key"], remedy in error["remedy"]) == (key, True), error
    words = (*words[:-1], "--outcome", "It works")
    assert scene.flow(repo, *words).status == (0 if key == "--outcome" else 2)
