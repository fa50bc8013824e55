"""What counts as a file of Flow's own: what Flow wrote, not what has such a name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from flow import debate, scorecard
from flow.adapters.journal import parts
from tests.api.test_debate import AGREE, SOLUTION
from tests.api.test_scorecard import GOOD, QUOTE
from tests.support import GitRepo, Ran, run_helper
from tests.support.judges.rubric_replies import Scripted
from tests.support.scene import create, edit, flow, flow_started, meet, start, step

JOURNAL = ".decisions/issue-7.md"
PART = ".decisions/issue-7.2.md"
OTHER = ".decisions/issue-9.md"
FOREIGN = "---\nissue: 9\nartifacts:\n  - type: note\n    text: mine\n---\n\n# mine\n"
NAMES = {
    "journal": JOURNAL,
    "second part": PART,
    "other journal": OTHER,
    "report": ".specs/reports/area-2026-01-02.1.md",
    "card": "skills/judge/scores/commit-20260102-030405.json",
}


@pytest.fixture
def work(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A goal that is met, whose first evaluation has written its journal."""
    start(repo)
    made = {"area.py": SOLUTION, "run.txt": f"commit\n{QUOTE}\n", "skills/judge/scores/README": "x"}
    repo.commit("more", **made)
    monkeypatch.chdir(repo.path)
    create(repo)
    meet(repo)
    assert step(repo, "goal", "evaluate", "greet", "--json").status == 0
    return repo


def evaluate(work: GitRepo, goal: str = "greet") -> Ran:
    return flow(work, "goal", "evaluate", goal, "--json")


def outside(work: GitRepo, goal: str = "greet") -> list[str]:
    """The paths that an evaluation finds outside; asked twice, since it writes the journal."""
    first, second = evaluate(work, goal), evaluate(work, goal)
    found = first.json["path_violations"]
    assert [v.split(" ")[0] for v in found] == [
        v.split(" ")[0] for v in second.json["path_violations"]
    ]
    assert first.status == (3 if found else 0), first.json
    return [str(text).split(" ")[0].rstrip(":") for text in found]


def forget() -> None:
    """As a fresh clone knows nothing of what was written, or a run of an older version."""
    shutil.rmtree(Path(os.environ["FLOW_STATE_DIR"]) / "own")


def anew(work: GitRepo) -> None:
    """A second goal, about the same issue, whose base has all there is; nothing is on record."""
    work.git("add", "-A")
    work.commit("all of it")
    assert step(work, "goal", "clear", "greet", "--yes").status == 0
    work.git("add", "-A")
    work.commit("cleared")
    create(work, "second", criterion="AC1: it is there :: test -f src/greet.txt")
    forget()


def by_flow(work: GitRepo, kind: str) -> str:
    """Have Flow write a file of a kind; returns its path."""
    if kind == "report":
        return debate("area.py", "areas", "a:1,b:1", backends=[AGREE, AGREE]).reports[0]
    if kind == "card":
        made = scorecard("commit", file="run.txt", backend=Scripted(GOOD)).file
        assert made is not None
        return made
    if kind == "second part":
        fill(work)
        assert evaluate(work).status == 0
        return PART
    if kind == "other journal":
        note("--issue", "9", work=work)
        return OTHER
    return JOURNAL


def fill(work: GitRepo) -> None:
    """A person writes so much below the front matter that the journal goes on in a second part."""
    with open(work.path / JOURNAL, "a", encoding="utf-8") as file:
        file.write("x" * parts.FULL)


def note(*words: str, work: GitRepo) -> None:
    done = run_helper("journal-record", *words, "--type", "note", cwd=work.path)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize("kind", NAMES)
def test_what_flow_wrote_is_no_change(work: GitRepo, kind: str, commit: bool) -> None:
    by_flow(work, kind)
    if commit:
        work.git("add", "-A")
        work.commit("all of it")
    assert outside(work) == []


@pytest.mark.parametrize("kind", NAMES)
def test_what_flow_wrote_may_be_checked_out_with_other_line_ends(work: GitRepo, kind: str) -> None:
    work.git("config", "core.autocrlf", "true")
    assert flow(work, "goal", "approve", "greet", "guards", "--note", "n", "--yes").status == 0
    file = work.path / by_flow(work, kind)
    work.git("add", "-A")
    work.git("commit", "-qm", "all of it")
    file.unlink()
    work.git("checkout", "-q", "--", str(file))
    assert b"\r\n" in file.read_bytes()
    assert outside(work) == []
    file.write_bytes(file.read_bytes().replace(b"e", b"E"))
    assert evaluate(work).status != 0


@pytest.mark.parametrize("kind", ["second part", "other journal", "report", "card"])
def test_a_name_alone_is_a_change_and_inside_the_paths_an_allowed_one(
    work: GitRepo, kind: str
) -> None:
    work.write(NAMES[kind], FOREIGN)
    assert outside(work) == [NAMES[kind]]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("way", ["edited", "a symlink", "executable", "committed and put back"])
def test_what_flow_wrote_and_somebody_changed_is_a_change(
    work: GitRepo, kind: str, way: str
) -> None:
    path = by_flow(work, kind)
    file, was = work.path / path, (work.path / path).read_bytes()
    changed = was.replace(b"type: note", b"type: done").replace(b"goal_id: greet", b"goal_id: x")
    changed = changed if changed != was else was + b" "
    if way == "a symlink":
        shutil.move(file, work.path / "src/moved")
        file.symlink_to(os.path.relpath(work.path / "src/moved", file.parent))
        done = evaluate(work)  # the journal itself can no longer be written
        assert done.status == 3 if "issue-7" not in path else done.status != 0
        return
    if way == "executable":
        file.chmod(0o755)
        first = evaluate(work).json
        assert path in " ".join(first["path_violations"])
        return
    file.write_bytes(changed)
    if way == "committed and put back":
        work.git("add", path)
        work.commit("theirs")
        file.write_bytes(was)
    assert outside(work) == [path]
    if way == "edited":
        now = file.read_bytes().replace(b"type: done", b"type: note")
        now = now.replace(b"goal_id: x", b"goal_id: greet")
        file.write_bytes(now if kind.endswith("journal") else was)
        assert outside(work) == []


@pytest.mark.parametrize("way", ["edited", "committed", "executable"])
@pytest.mark.parametrize("kind", NAMES)
def test_nobody_is_told_to_remove_what_flow_wrote(work: GitRepo, kind: str, way: str) -> None:
    path = by_flow(work, kind)
    file, was = work.path / path, (work.path / path).read_bytes()
    if way == "executable":
        file.chmod(0o755)
    else:
        changed = was.replace(b"type: note", b"type: done").replace(
            b"goal_id: greet", b"goal_id: x"
        )
        file.write_bytes(changed if changed != was else was + b" ")
    if way == "committed":
        work.git("add", path)
        work.commit("theirs")
    done = flow(work, "goal", "evaluate", "greet")
    assert done.status == 3, done
    row = next(line for line in done.stdout.splitlines() if path in line)
    assert row.endswith("take back what was changed in it")
    assert "rm " not in done.stdout
    assert "git restore" not in done.stdout
    assert "or     flow goal amend greet --allow" in done.stdout


@pytest.mark.parametrize("kind", ["journal", "second part", "other journal"])
@pytest.mark.parametrize("commit", [False, True])
def test_a_person_s_text_below_the_front_matter_is_free(
    work: GitRepo, kind: str, commit: bool
) -> None:
    path = work.path / by_flow(work, kind)
    path.write_text(path.read_text() + "\nWe chose the second way.\n")
    if commit:
        work.git("add", "-A")
        work.commit("with a text")
        path.write_text(path.read_text() + "\nAnd why.\n")
    assert outside(work) == []
    assert "second way" in path.read_text()


@pytest.mark.parametrize("way", ["as it was", "text below", "front edited", "base dropped"])
def test_without_a_record_the_goal_s_own_journal_counts_by_its_form(
    work: GitRepo, way: str, tmp_path: Path
) -> None:
    """As in a fresh clone, or a run that an older version began."""
    file = work.path / JOURNAL
    goal = "greet"
    if way == "base dropped":
        anew(work)
        goal = "second"
        text = file.read_text()
        file.write_text(text.replace("goal_id: greet", "goal_id: other", 1))
        assert file.read_text() != text
    elif way == "text below":
        file.write_text(file.read_text() + "\nmore\n")
    elif way == "front edited":
        file.write_text("---\n: [\n---\n")
    shutil.rmtree(Path(os.environ["FLOW_STATE_DIR"]) / "own", ignore_errors=True)
    first = evaluate(work, goal)
    if way == "front edited":
        assert first.status != 0  # a journal that cannot be read is refused
    elif way == "base dropped":
        assert JOURNAL in " ".join(first.json["path_violations"])
        assert outside(work, goal) == [JOURNAL]
    else:
        assert first.status == 0, first.json
        assert outside(work) == []


@pytest.mark.parametrize("kind", ["other journal", "report", "card"])
def test_without_a_record_nothing_else_is_flow_s(work: GitRepo, kind: str) -> None:
    path = by_flow(work, kind)
    forget()
    assert path in " ".join(evaluate(work).json["path_violations"])


@pytest.mark.parametrize("kind", ["other journal", "report", "card"])
def test_what_the_base_has_is_no_change_without_a_record(work: GitRepo, kind: str) -> None:
    path = by_flow(work, kind)
    anew(work)
    assert outside(work, "second") == []
    if kind == "other journal":  # Flow goes on with what the base has
        note("--issue", "9", work=work)
        assert outside(work, "second") == []
        work.write(path, FOREIGN)
        assert outside(work, "second") == [path]


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
    assert outside(work) == []


def test_two_writers_at_once_lose_no_state(work: GitRepo) -> None:
    from concurrent.futures import ThreadPoolExecutor

    words = ("journal", "record", "--issue", "9", "--type", "note")
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: flow_started(work, *words).status, range(8)))
    assert done == [0] * 8
    assert outside(work) == []


@pytest.mark.parametrize("pattern", [".decisions/**", "*.md", "issue-7.md"])
def test_a_goal_that_denies_its_own_journal_is_told_at_once(repo: GitRepo, pattern: str) -> None:
    start(repo)
    words = ("goal", "create", "greet", "--outcome", "o", "--criterion", "AC1: x :: true")
    done = flow(repo, *words, "--issue", "7", "--deny", pattern)
    assert done.status == 0
    assert f"{JOURNAL} is denied by {pattern!r}" in done.stderr
    assert "constraints.denied_paths" in done.stderr
    assert JOURNAL in " ".join(evaluate(repo).json["path_violations"])
    text = repo.read(".flow/goals/greet.goal.yaml")
    repo.write("new.yaml", text.replace("outcome: o", "outcome: p"))
    done = flow(repo, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert f"{JOURNAL} is denied by {pattern!r}" in done.stderr


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
    assert outside(repo) == ([] if more else [JOURNAL])
    if more:  # and it holds still between the evaluation and the confirming
        proposed = evaluate(repo).json["proposed_transition"]["proposal_id"]
        words = ("goal", "confirm", "greet", "--proposal", proposed)
        assert flow(repo, *words).status == 0


@pytest.mark.parametrize("named", [".decisions/team/mine.md", "./.decisions/mine.md"])
@pytest.mark.parametrize("known", [True, False])
def test_the_journal_that_a_goal_names_is_flows_own_however_it_is_written(
    repo: GitRepo, named: str, known: bool
) -> None:
    start(repo)
    create(repo, "greet", "--draft")
    edit(repo, ("  branch: ", f"  journal: {named}\n  branch: "))
    assert step(repo, "trust", "record", "greet", "--yes").status == 0
    assert step(repo, "goal", "activate", "greet").status == 0
    meet(repo)
    if not known:
        forget()
    assert outside(repo) == []
    assert (repo.path / named).is_file()
    repo.write(".decisions/team/other.md", FOREIGN)
    assert outside(repo) == [".decisions/team/other.md"]
