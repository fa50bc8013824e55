"""What commands leave behind, through ``flow goal evaluate``: data is named, the rest counts."""

from __future__ import annotations

import os
import shlex

import pytest

from flow.core.boundary.by_products import is_by_product
from flow.core.boundary.changes import ContentState, PathChange, entry_digest
from flow.core.boundary.rules import DATED_BEFORE, IN_NO_COMMIT
from tests.support import GitRepo, Ran
from tests.support.scene import flow, start, step

GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**", "--deny", "secret/**")


LOOSER = '{"flow": {"goals": {"stopHookEnforcement": "off"}}}'
"""As a settings file it takes back what is in force; any other file may hold it, too."""


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return start(repo)


def evaluated(work: GitRepo, *made: str) -> tuple[Ran, Ran]:
    """Two evaluations of a goal whose command makes these files anew."""
    if not (work.path / ".flow/goals/greet.goal.yaml").exists():
        names = " ".join(map(shlex.quote, made))
        command = (
            f'for f in {names}; do mkdir -p "$(dirname "$f")" && echo {shlex.quote(LOOSER)} > "$f"'
            " || exit 1; done"
        )
        assert flow(work, *GOAL, "--criterion", f"AC1: x :: {command}").status == 0
    runs = [flow(work, "goal", "evaluate", "greet", "--json") for _ in range(2)]
    return runs[0], runs[1]


STEERS = (
    "conftest.py", "tests/test_ok.py", "sitecustomize.py", "evil.pth", "pytest.ini", "package.json",
    "Makefile", "run.sh", ".cargo/config.toml", "target/conftest.py", ".claude/settings.flow.json",
    ".flow/rubrics/login.md", "skills/judge/judge-config.json",
)  # fmt: skip


@pytest.mark.parametrize("names", [STEERS, ("secret/out.log", "secret/build/x.o")])
def test_what_steers_or_is_denied_counts(work: GitRepo, names: tuple[str, ...]) -> None:
    first, second = evaluated(work, *names)
    assert first.json["proposed_transition"] is None
    assert first.status != 0
    assert second.status == 3, second.json
    assert sorted(path.split(" ")[0] for path in second.json["path_violations"]) == sorted(names)


def test_rules_about_runners_count_and_stop_all_that_would_read_them(work: GitRepo) -> None:
    first, second = evaluated(work, ".flow/runners.yaml")
    assert first.json["proposed_transition"] is None
    assert first.status != 0
    assert second.status == 2, second.json  # it holds none


def test_inside_the_paths_a_source_is_a_change_that_is_allowed(work: GitRepo) -> None:
    first, second = evaluated(work, "src/generated.py")
    assert first.status == 1
    assert "src/generated.py" in first.json["reason"]
    assert second.status == 0


def test_what_real_runs_leave_is_named_and_does_not_count(work: GitRepo) -> None:
    names = (
        "tests/__pycache__/test_a.cpython-311.pyc", ".pytest_cache/v/cache/lastfailed", ".coverage",
        "coverage.xml", "htmlcov/index.html", "pkg.egg-info/PKG-INFO", "build/lib/pkg/mod.py",
        "dist/index.js", "target/debug/app", "node_modules/.cache/x/a.json", "junit.xml", "run.log",
        ".tox/py/lib/x.pth", "coverage/lcov-report/sorter.js", "secret/__pycache__/a.pyc",
    )  # fmt: skip
    for done in evaluated(work, *names):
        assert done.status == 0, done.json
        assert any("left" in text for text in done.json["warnings"])


def test_what_an_older_record_took_for_a_by_product_counts_now(work: GitRepo) -> None:
    """Runs that were begun before may have one on record."""
    entry = ContentState("100644", "1" * 40)
    for path in ("conftest.py", ".claude/settings.flow.json"):
        change = PathChange(path, None, None, None, entry)
        assert not is_by_product(change, {path: entry_digest(entry)})


def test_a_journal_s_name_alone_makes_no_file_flow_s(work: GitRepo) -> None:
    denied, link, program, gone = (f".decisions/issue-{number}.md" for number in range(96, 100))
    text = "---\nissue: 99\n---\n"
    work.commit("journal", **{gone: text})
    words = ("--criterion", "AC1: x :: true", "--issue", "7", "--deny", denied)
    assert step(work, *GOAL, *words).status == 0
    assert step(work, "goal", "evaluate", "greet").status == 0
    work.write(denied, text)
    (work.path / link).symlink_to("issue-7.md")
    work.write(program, text, mode=0o755)
    (work.path / gone).unlink()
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 3, done.json
    found = [path.split(" ")[0] for path in done.json["path_violations"]]
    assert found == [denied, link, program, gone]


def reporting(work: GitRepo, *reports: tuple[str, str, str]) -> list[Ran]:
    """Two evaluations of a goal whose commands write a path each, and declare a report.

    Without a command of its own it is a copy.
    """
    words = []
    for number, (_, path, command) in enumerate(reports, 1):
        (work.path / path).parent.mkdir(parents=True, exist_ok=True)
        does = command or f"cp src/greet.xml {shlex.quote(path)}"
        words += ["--criterion", f"AC{number}: x :: {does}"]
    made = step(work, *GOAL, *words, "--draft")
    assert made.status == 0, made
    file = work.path / ".flow/goals/greet.goal.yaml"
    first, *rest = file.read_text().split("      verification_command:")
    lines = [f"      report: {report!r}\n      verification_command:" for report, *_ in reports]
    assert len(lines) == len(rest)
    file.write_text(first + "".join(map("".join, zip(lines, rest, strict=True))))
    assert step(work, "goal", "activate", "greet", "--json").status == 0
    return [flow(work, "goal", "evaluate", "greet", "--json") for _ in range(2)]


JUNIT = '<testsuites><testsuite tests="1"><testcase name="{}"/></testsuite></testsuites>\n'


@pytest.fixture
def reported(work: GitRepo) -> GitRepo:
    work.commit("a report", **{"src/greet.xml": JUNIT.format("a")})
    return work


def test_a_declared_report_counts_whatever_its_name(reported: GitRepo) -> None:
    reports = {
        "r.xml": "r.xml", "out-*.xml": "out-1.xml", "r.json": "r.json",
        "sub/a/*.xml": "sub/a/greeting.xml", "unit tests.xml": "unit tests.xml",
    }  # fmt: skip
    first, second = reporting(reported, *((name, path, "") for name, path in reports.items()))
    for done in (first, second):
        assert (done.status, done.json["path_violations"]) == (0, []), done.json
        (left,) = [text for text in done.json["warnings"] if "left" in text]
        assert all(path in left for path in reports.values()), left
    assert first.json["proposed_transition"]["to"] == "achieved"


def test_a_report_that_is_written_anew_by_a_failing_run_too(reported: GitRepo) -> None:
    reported.write("src/state", "1")
    command = (
        "cp src/greet.xml r.xml; cat src/state | sed 's/^/<!-- /; s/$/ -->/' >> r.xml; "
        "test -f src/done"
    )
    first, second = reporting(reported, ("r.xml", "r.xml", command))
    assert (first.status, second.status) == (1, 1)
    assert "stale" not in first.json["reason"]
    reported.write("src/done", "")
    done = flow(reported, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["path_violations"]) == (0, [])


STEERING_REPORTS = {
    "its name": (
        ("*.json", "package.json", ""),
        ("package.json", "package.json", ""),
        ("*.xml", "pom.xml", ""),
        ("conftest.py", "conftest.py", ""),
        ("*", ".mocharc.json", ""),
        ("secret/r.xml", "secret/r.xml", ""),
    ),
    "its kind": (
        ("run.xml", "run.xml", "cp src/greet.xml run.xml && chmod +x run.xml"),
        ("link.xml", "link.xml", "ln -sf src/greet.xml link.xml"),
    ),
    "another": (("r.xml", "other.xml", "cp src/greet.xml r.xml && cp r.xml other.xml"),),
}


@pytest.mark.parametrize("reports", STEERING_REPORTS.values(), ids=list(STEERING_REPORTS))
def test_a_declared_report_that_steers_is_denied_or_is_no_file_counts(
    reported: GitRepo, reports: tuple[tuple[str, str, str], ...]
) -> None:
    _, second = reporting(reported, *reports)
    assert second.status == 3, second.json
    found = {path.split(" ")[0] for path in second.json["path_violations"]}
    assert found == {path for _, path, _ in reports}


def test_a_declared_report_that_is_staged_or_edited_counts(reported: GitRepo) -> None:
    reporting(reported, ("r.xml", "r.xml", ""))
    reported.git("add", "r.xml")
    done = flow(reported, "goal", "evaluate", "greet", "--json")
    assert done.status == 3, done.json


def test_folders_that_ignore_themselves_are_named(work: GitRepo) -> None:
    """Nothing in them counts, so code that a test rests on can lie there without a change."""
    assert flow(work, *GOAL, "--criterion", "AC1: x :: test -f src/lib/x.py").status == 0
    for folder in ("src/lib", "plug", "a/b/c/d/e/f/g/h/i", ".venv", "venv", ".ruff_cache", "build"):
        work.write(f"{folder}/.gitignore", "*\n")
        work.write(f"{folder}/x.py", "x = 1\n")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    named = "a/b/c/d/e/f/g/h/i, plug, src/lib"
    assert f"not looked at, as they ignore themselves: {named}" in done.json["warnings"]
    unknown = done.json["proposed_transition"]["confirm"]["unknown"]
    assert f"not looked at, as they ignore themselves: {named}" in unknown


def test_ignored_folders_that_the_allowed_paths_name_are_told(repo: GitRepo) -> None:
    """``lib/`` is in many a ``.gitignore`` for Python: work there passes, and is in no commit."""
    rules = ".flow/runs/\nlib/\ndist/\n.venv/\ndata/\n*.gen/\n"
    repo.commit("start", **{"src/x.py": "x = 1\n", ".gitignore": rules})
    paths = ("lib/**", "src/**", "packages/*/lib/**", "pkg/a.gen/b/x.js", "dist/**", ".venv/**")
    allowed = [word for path in paths for word in ("--allow", path)]
    command = ("--criterion", "AC1: x :: test -f lib/x.js")
    assert flow(repo, "goal", "create", "greet", "--outcome", "o", *allowed, *command).status == 0
    here = ("lib", "packages/a/lib", "pkg/a.gen/b", "dist", ".venv")
    elsewhere = ("data", "src/lib", "src/y.gen", "other/lib", "packages/lib", "pkg/c.gen")
    for folder in (*here, *elsewhere):
        repo.write(f"{folder}/x.js", "x = 1\n")
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 0, done.json
    named = f"{IN_NO_COMMIT}: lib, packages/a/lib, pkg/a.gen"
    assert named in done.json["warnings"]
    assert named in done.json["proposed_transition"]["confirm"]["unknown"]


def test_a_change_that_is_dated_before_the_goal_is_told(repo: GitRepo) -> None:
    """``ruff``, ``mypy`` and Python's caches took the file for the one they knew (HAZARD I303)."""
    files = ("a", "edited", "moved", "mode", "dirty", "same")
    repo.commit("start", **{f"src/{name}.py": f"{name} = 1\n" for name in files})
    long_ago = (1_577_836_800, 1_577_836_800)
    repo.write("src/dirty.py", "dirty = 2\n")
    for name in files:
        os.utime(repo.path / f"src/{name}.py", long_ago)
    goal = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")
    assert flow(repo, *goal, "--criterion", "AC1: x :: test -f src/a.py").status == 0
    repo.write("src/edited.py", "edited = 2\n")
    repo.write("src/new.py", "new = 1\n")
    repo.git("mv", "src/moved.py", "src/elsewhere.py")
    (repo.path / "src/mode.py").chmod(0o755)
    for name in ("dirty", "same", "new"):
        os.utime(repo.path / f"src/{name}.py", long_ago)
    honest = flow(repo, "goal", "evaluate", "greet", "--json")
    assert (honest.status, honest.json["warnings"]) == (0, [])

    repo.write("src/a.py", "a = 2\n")
    os.utime(repo.path / "src/a.py", long_ago)
    done = flow(repo, "goal", "evaluate", "greet", "--json")

    assert done.status == 0
    assert done.json["warnings"] == [f"{DATED_BEFORE}: src/a.py"]
    assert f"{DATED_BEFORE}: src/a.py" in done.json["proposed_transition"]["confirm"]["unknown"]


def test_ignored_folders_that_hold_committed_files_are_compared(repo: GitRepo) -> None:
    repo.commit("start", **{"lib/y.js": "y = 1\n"})
    repo.commit("rules", **{".gitignore": ".flow/runs/\nlib/\n"})
    goal = ("goal", "create", "greet", "--outcome", "o", "--allow", "lib/**")
    assert flow(repo, *goal, "--criterion", "AC1: x :: test -f lib/x.js").status == 0
    repo.write("lib/x.js", "x = 1\n")
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert not [text for text in done.json["warnings"] if IN_NO_COMMIT in text], done.json
