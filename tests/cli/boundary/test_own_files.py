"""What counts as a file of Flow's own: what Flow wrote, not what has such a name."""

from __future__ import annotations

import os
import shutil
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flow import debate, scorecard
from flow.adapters.journal import parts
from tests.api.test_debate import AGREE, SOLUTION
from tests.api.test_scorecard import GOOD, QUOTE
from tests.support import GitRepo, Ran, run_helper
from tests.support.judges.rubric_replies import Scripted
from tests.support.scene import create, edit, flow, flow_started, meet, start, step

if TYPE_CHECKING:
    from tests.support.made_once.stage import Stage

JOURNAL = ".decisions/issue-7.md"
PART = ".decisions/issue-7.2.md"
OTHER = ".decisions/issue-9.md"
LEFT_ALONE = ".decisions/issue-11.md"
FOREIGN = "---\nissue: 9\nartifacts:\n  - type: note\n    text: mine\n---\n\n# mine\n"
OWN = Path("flow-state/own")
"""What Flow knows of files that it wrote, below HOME."""


def met(repo: GitRepo) -> GitRepo:
    """A goal that is met, whose first evaluation has written its journal."""
    start(GitRepo.init(repo.path))
    files = {"area.py": SOLUTION, "run.txt": f"commit\n{QUOTE}\n"}
    repo.commit("more", **files, **{"skills/judge/scores/README": "x"})
    create(repo)
    meet(repo)
    assert evaluate(repo).status == 0
    return repo


def written(repo: GitRepo) -> None:
    """There, a report, a card, journals of two other issues and a second part of the goal's own."""
    met(repo)
    with chdir(repo.path):
        debate("area.py", "areas", "a:1,b:1", backends=[AGREE, AGREE])
        scorecard("commit", file="run.txt", backend=Scripted(GOOD))
    for issue in ("9", "11"):
        note("--issue", issue, work=repo)
    with open(repo.path / JOURNAL, "a", encoding="utf-8") as file:
        file.write("x" * parts.FULL)  # a person's text, so that the journal goes on elsewhere
    assert evaluate(repo).status == 0


@pytest.fixture
def work(stage: Stage) -> GitRepo:
    stage.begin(lambda: met(stage.repo), "met")
    return stage.repo


@pytest.fixture
def made(stage: Stage) -> list[str]:
    """A file of each kind that Flow has written, but for one that nobody touches."""
    stage.begin(lambda: written(stage.repo), "written")
    top = stage.repo.path
    judged = [*top.glob(".specs/reports/*.md"), *top.glob("skills/judge/scores/*.json")]
    assert len(judged) >= 2
    return sorted([JOURNAL, PART, OTHER, *(os.path.relpath(file, top) for file in judged)])


def evaluate(work: GitRepo, goal: str = "greet") -> Ran:
    return flow(work, "goal", "evaluate", goal, "--json")


def found(work: GitRepo, goal: str = "greet") -> list[str]:
    """The paths that an evaluation finds outside."""
    return paths(evaluate(work, goal))


def paths(done: Ran) -> list[str]:
    violations = done.json["path_violations"]
    assert done.status == (3 if violations else 0), done.json
    return sorted(str(text).split(" ")[0].rstrip(":") for text in violations)


def outside(work: GitRepo, goal: str = "greet") -> list[str]:
    """The same, asked twice, since an evaluation writes the journal."""
    first, second = found(work, goal), found(work, goal)
    assert first == second
    return first


def forget(home: Path) -> None:
    """As a fresh clone knows nothing of what was written, or a run of an older version."""
    shutil.rmtree(home / OWN)


def commit(work: GitRepo) -> None:
    work.git("add", "-A")
    work.commit("all of it")


def anew(stage: Stage) -> None:
    """A second goal, about the same issue, whose base has all there is; nothing is on record."""
    commit(stage.repo)
    assert step(stage.repo, "goal", "clear", "greet", "--yes").status == 0
    commit(stage.repo)
    create(stage.repo, "second", criterion="AC1: it is there :: test -f src/greet.txt")
    forget(stage.home)


def note(*words: str, work: GitRepo) -> None:
    done = run_helper("journal-record", *words, "--type", "note", cwd=work.path)
    assert done.status == 0, done.stderr


def change(file: Path) -> None:
    """Another word in the front matter of a journal, or one letter more in another file."""
    was = file.read_bytes()
    changed = was.replace(b"type: note", b"type: done").replace(b"goal_id: greet", b"goal_id: x")
    file.write_bytes(changed if changed != was else was + b" ")


def test_what_flow_wrote_is_no_change_committed_or_not(stage: Stage, made: list[str]) -> None:
    assert evaluate(stage.repo).status == 0
    commit(stage.repo)
    assert outside(stage.repo) == []


def test_what_flow_wrote_may_be_checked_out_with_other_line_ends(
    stage: Stage, made: list[str]
) -> None:
    work, files = stage.repo, [stage.repo.path / path for path in made]
    work.git("config", "core.autocrlf", "true")
    assert flow(work, "goal", "approve", "greet", "guards", "--note", "n", "--yes").status == 0
    commit(work)
    for file in files:
        file.unlink()
    work.git("checkout", "-q", "--", *made)
    assert all(b"\r\n" in file.read_bytes() for file in files)
    assert found(work) == []
    for file in files[1:]:  # the journal itself could not be read
        file.write_bytes(file.read_bytes().replace(b"e", b"E"))
    assert evaluate(work).json["path_violations"] == made[1:]


def test_a_name_alone_is_a_change(work: GitRepo) -> None:
    names = [PART, OTHER, ".specs/reports/area-2026-01-02.1.md"]
    names.append("skills/judge/scores/commit-20260102-030405.json")
    for name in names:
        work.write(name, FOREIGN)
    assert outside(work) == names


@pytest.mark.parametrize("way", ["edited", "executable", "committed", "committed and put back"])
def test_what_flow_wrote_and_somebody_changed_is_a_change(
    stage: Stage, made: list[str], way: str
) -> None:
    """Nobody is told to remove it: there is no line to type that would do no harm."""
    work, files = stage.repo, [stage.repo.path / path for path in made]
    was = [file.read_bytes() for file in files]
    for file in files:
        file.chmod(0o755) if way == "executable" else change(file)
    if way.startswith("committed"):
        work.git("add", *made)
        work.commit("theirs")
    if way.endswith("put back"):
        for file, content in zip(files, was, strict=True):
            file.write_bytes(content)
    assert found(work) == made

    done = flow(work, "goal", "evaluate", "greet")
    assert done.status == 3, done
    rows = [line for line in done.stdout.splitlines() if any(path in line for path in made)]
    told = [line for line in rows if line.endswith("take back what was changed in it")]
    assert len(told) == len(made), done.stdout
    assert "rm " not in done.stdout
    assert "git restore" not in done.stdout
    assert "or     flow goal amend greet --allow" in done.stdout

    if way == "edited":
        for file, content in zip(files, was, strict=True):
            now = file.read_bytes().replace(b"type: done", b"type: note")
            now = now.replace(b"goal_id: x", b"goal_id: greet")
            file.write_bytes(now if file.parent.name == ".decisions" else content)
        assert outside(work) == []


def link(work: GitRepo, path: str) -> None:
    """Move it to where the work is allowed, and leave a link to it."""
    file, moved = work.path / path, work.path / "src" / os.path.basename(path)
    shutil.move(file, moved)
    file.symlink_to(os.path.relpath(moved, file.parent))


def test_a_link_in_the_place_of_what_flow_wrote_is_a_change(stage: Stage, made: list[str]) -> None:
    for path in made:
        if "issue-7" not in path:
            link(stage.repo, path)
    assert outside(stage.repo) == [path for path in made if "issue-7" not in path]


@pytest.mark.parametrize("path", [JOURNAL, PART])
def test_a_journal_that_is_a_link_is_not_written(stage: Stage, made: list[str], path: str) -> None:
    link(stage.repo, path)
    assert evaluate(stage.repo).status != 0


def test_a_person_s_text_below_the_front_matter_is_free(stage: Stage, made: list[str]) -> None:
    journals = [stage.repo.path / path for path in made if path.startswith(".decisions")]
    for text in ("\nWe chose the second way.\n", "\nAnd why.\n"):
        for path in journals:
            path.write_text(path.read_text() + text)
        assert found(stage.repo) == []
        commit(stage.repo)
    assert all("second way" in path.read_text() for path in journals)


def test_without_a_record_the_goal_s_own_journal_counts_by_its_form(
    stage: Stage, work: GitRepo
) -> None:
    """As in a fresh clone, or a run that an older version began."""
    file = work.path / JOURNAL
    for text in ("", "\nmore\n"):
        file.write_text(file.read_text() + text)
        forget(stage.home)
        assert found(work) == []
    file.write_text("---\n: [\n---\n")
    forget(stage.home)
    assert evaluate(work).status != 0  # a journal that cannot be read is refused


def test_nor_when_it_drops_what_the_base_has(stage: Stage, work: GitRepo) -> None:
    file = work.path / JOURNAL
    anew(stage)
    change(file)
    assert outside(work, "second") == [JOURNAL]


def test_without_a_record_nothing_else_is_flow_s(stage: Stage, made: list[str]) -> None:
    forget(stage.home)
    assert found(stage.repo) == sorted(
        [*(path for path in made if "issue-7" not in path), LEFT_ALONE]
    )


def test_what_the_base_has_is_no_change_without_a_record(stage: Stage, made: list[str]) -> None:
    work = stage.repo
    anew(stage)
    assert evaluate(work, "second").status == 0
    note("--issue", "9", work=work)  # Flow goes on with what the base has
    assert outside(work, "second") == []
    work.write(OTHER, FOREIGN)
    assert outside(work, "second") == [OTHER]


def test_flow_adding_to_a_foreign_journal_makes_it_no_file_of_its_own(work: GitRepo) -> None:
    work.write(OTHER, FOREIGN)
    note("--issue", "9", work=work)
    assert outside(work) == [OTHER]


def test_two_working_trees_know_each_other_s_journals(work: GitRepo, tmp_path: Path) -> None:
    work.git("add", "-A")
    work.commit("all of it")
    work.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    done = run_helper("journal-record", "--issue", "9", "--type", "n", cwd=tmp_path / "side")
    assert done.status == 0, done.stderr
    work.write(OTHER, (tmp_path / "side" / OTHER).read_text())
    assert found(work) == []


def test_two_writers_at_once_lose_no_state(work: GitRepo) -> None:
    from concurrent.futures import ThreadPoolExecutor

    words = ("journal", "record", "--issue", "9", "--type", "note")
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: flow_started(work, *words).status, range(4)))
    assert done == [0] * 4
    assert outside(work) == []


def test_a_goal_that_denies_its_own_journal_is_told_at_once(repo: GitRepo) -> None:
    start(repo)
    words = ("goal", "create", "greet", "--outcome", "o", "--criterion", "AC1: x :: true")
    done = flow(repo, *words, "--issue", "7", "--deny", "*.md")
    assert done.status == 0
    assert f"{JOURNAL} is denied by '*.md'" in done.stderr
    assert "constraints.denied_paths" in done.stderr
    assert JOURNAL in " ".join(evaluate(repo).json["path_violations"])
    text = repo.read(".flow/goals/greet.goal.yaml")
    repo.write("new.yaml", text.replace("outcome: o", "outcome: p"))
    done = flow(repo, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert f"{JOURNAL} is denied by '*.md'" in done.stderr


@pytest.mark.parametrize("more", [(), ("--allow", ".decisions/**")])
def test_what_git_brings_from_another_clone_is_a_change_unless_it_is_allowed(
    repo: GitRepo, more: tuple[str, ...]
) -> None:
    create(start(repo), "greet", *more)
    meet(repo)
    file = repo.path / JOURNAL
    file.write_text(file.read_text().replace("goal_id: greet", "goal_id: theirs", 1))
    repo.git("add", "-A")
    repo.commit("pulled")
    assert found(repo) == ([] if more else [JOURNAL])
    if more:  # and it holds still between the evaluation and the confirming
        proposed = evaluate(repo).json["proposed_transition"]["proposal_id"]
        words = ("goal", "confirm", "greet", "--proposal", proposed)
        assert flow(repo, *words).status == 0


@pytest.mark.parametrize("named", [".decisions/team/mine.md", "./.decisions/mine.md"])
def test_the_journal_that_a_goal_names_is_flows_own_however_it_is_written(
    repo: GitRepo, home: Path, named: str
) -> None:
    start(repo)
    create(repo, "greet", "--draft")
    edit(repo, ("  branch: ", f"  journal: {named}\n  branch: "))
    assert step(repo, "trust", "record", "greet", "--yes").status == 0
    assert step(repo, "goal", "activate", "greet").status == 0
    meet(repo)
    forget(home)
    assert evaluate(repo).json["path_violations"] == []
    assert (repo.path / named).is_file()
    repo.write(".decisions/team/other.md", FOREIGN)
    assert found(repo) == [".decisions/team/other.md"]
