"""What a goal's commands rest on is watched without being asked (SPEC 17.12)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.scene import flow, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo, Ran

FILES = {
    "src/add.py": "def add(a, b):\n    return a + b\n",
    "tests/test_add.py": "import add\nassert add.add(2, 2) == 4\n",
    "tests/test_more.py": "assert False\n",
    "run.sh": "#!/bin/sh\nexit 0\n",
    "ci/test.sh": "exit 0\n",
    "ci/all.sh": "set -e\nsh scripts/check\n",
    "scripts/check": "exit 0 # all\n",
    "justfile": "test:\n  sh scripts/check\n",
    "conftest.py": "pytest_plugins = ['tools.plug']\n",
    "tools/plug.py": "",
    "Makefile": "check:\n\ttrue\ndeep:\n\t@$(MAKE) -C web check\n",
    "web/Makefile": "check: build\n\tsh scripts/run\nbuild:\n\t@true\n",
    "web/scripts/run": "exit 0\n",
    "package.json": '{"version": "1", "scripts": {"test": "sh ci/test.sh"}}\n',
    "pkg/__init__.py": "",
    "pkg/mod.py": "print('ok')\n",
    "pyproject.toml": '[project]\nname = "demo"\nversion = "1"\n',
    ".flow/checks/run.sh": "exit 0\n",
    ".gitignore": ".flow/runs/\n.venv/\n*.cfg\n",
}


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners that run nothing: what is watched is told from the command's words."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("pytest", "npm", "spectral"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def begin(repo: GitRepo, command: str, *more: str) -> None:
    """An active goal whose criterion is ``command``."""
    repo.commit("start", **FILES)
    create(repo, command, *more)


def create(repo: GitRepo, command: str, *more: str) -> None:
    words = ("goal", "create", "adds", "--outcome", "it adds", "--issue", "7", "--allow", "**")
    done = step(repo, *words, "--criterion", f"AC1: it adds :: {command}", *more)
    assert done.status == 0, done.stderr


def evaluate(repo: GitRepo) -> Ran:
    return flow(repo, "goal", "evaluate", "adds", "--json")


def changed(done: Ran) -> dict[str, str]:
    """path → what became of it, of the files that the proof rests on."""
    found: dict[str, Any] = done.json.get("proof") or {"files": []}
    return {file["path"]: file["change"] for file in found["files"]}


def lines(done: Ran) -> list[str]:
    """The warnings about the proof."""
    return [text for text in done.json["warnings"] if text.startswith("the proof changed")]


def test_what_a_command_names_is_told_where_it_changed(repo: GitRepo) -> None:
    """What each kind of command names: ``tests/adapters/attribution/test_proof_files.py``."""
    commands = (
        "sh ./run.sh", "make -C web build check", "python3 -B -m pkg.mod", "npm run test || true",
        "PYTHONPATH=src pytest; true", "just test; true", "sh .flow/checks/run.sh",
    )  # fmt: skip
    more = [f"AC{number}: x :: {command}" for number, command in enumerate(commands[1:], 2)]
    begin(repo, commands[0], *(word for text in more for word in ("--criterion", text)))
    before = evaluate(repo)
    assert not changed(before), before.json["proof"]
    assert not lines(before)

    texts = {
        "run.sh": "#!/bin/sh\nexit 0 # changed\n",
        ".flow/checks/run.sh": "exit 0 # changed\n",
        "web/Makefile": "check:\n\tsh scripts/run # changed\n",
        "web/scripts/run": "exit 0 # changed\n",
        "pkg/mod.py": "print('other')\n",
        "package.json": '{"version": "1", "scripts": {"test": "true"}}\n',
        "ci/test.sh": "exit 0 # changed\n",
        "src/argparse.py": "x = 1\n",
        "tests/test_more.py": "assert True\n",
        "tests/conftest.py": "import sys\n",
        "tools/plug.py": "import sys\n",
        "pytest.ini": "[pytest]\n",
        "setup.cfg": "[tool:pytest]\n",
        "scripts/check": "exit 0\n",
    }
    for path, text in texts.items():
        repo.write(path, text)
    after = evaluate(repo)

    assert changed(after) == {path: "changed" if path in FILES else "new" for path in texts}
    assert len(lines(after)) == 1


def test_a_file_outside_is_said_to_be_out_of_sight(repo: GitRepo, tmp_path: Path) -> None:
    script = tmp_path / "beyond.sh"
    script.write_text("exit 0\n")
    begin(repo, f"sh {script}")

    done = evaluate(repo)

    (unknown,) = done.json["proof"]["unknown"]
    assert (
        unknown == f"the commands name files outside the checkout, which are not watched: {script}"
    )
    assert unknown in done.json["warnings"]
    assert unknown not in evaluate(repo).json["warnings"], "said once"


def test_installed_packages_are_said_to_be_out_of_sight(repo: GitRepo) -> None:
    repo.commit("start", **{**FILES, ".gitignore": ".venv/\n"})
    repo.write(".venv/bin/check", "#!/bin/sh\n. .venv/lib/check.sh\n")
    repo.write(".venv/lib/check.sh", "exit 1\n")
    os.chmod(repo.path / ".venv/bin/check", 0o755)
    create(repo, ".venv/bin/check")
    repo.write(".venv/lib/check.sh", "exit 0\n")

    done = evaluate(repo)

    unknown = ["of installed packages only the programs are watched: .venv"]
    assert done.json["proof"]["unknown"] == unknown
    assert set(unknown) <= set(done.json["warnings"])


def test_settings_in_the_home_folder_are_told_where_they_changed(repo: GitRepo, home: Path) -> None:
    """``go env -w GOFLAGS=-exec=true`` makes every test of Go pass, in no file of the checkout."""
    (home / "dotfiles").mkdir()
    (home / "dotfiles/cargo").write_text("[term]\n")
    (home / ".cargo").mkdir()
    (home / ".cargo/config.toml").symlink_to(home / "dotfiles/cargo")
    repo.commit("start", **{**FILES, "ci/all.sh": "exit 0\n"})
    create(repo, "sh ci/all.sh")
    assert not changed(evaluate(repo))

    (home / ".config/go").mkdir(parents=True)
    (home / ".config/go/env").write_text("GOFLAGS=-exec=true\n")
    (home / "dotfiles/cargo").write_text("[target.'cfg(all())']\nrunner = 'true'\n")
    (home / ".npmrc").write_text("script-shell=/bin/true\n")
    done = evaluate(repo)

    files = {"~/.config/go/env": "new", "~/.npmrc": "new", "~/.cargo/config.toml": "changed"}
    assert changed(done) == files
    assert len(lines(done)) == 1


def test_settings_above_the_checkout_are_told_where_they_changed(repo: GitRepo) -> None:
    """pytest, cargo and others look for their settings in each folder up to the root."""
    above, far = repo.path.parent, repo.path.parent.parent
    (above / "pytest.ini").write_text("[pytest]\n")
    begin(repo, "sh ci/all.sh")
    assert not changed(evaluate(repo))

    (above / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
    (far / ".cargo").mkdir()
    (far / ".cargo/config.toml").write_text("[target.'cfg(all())']\nrunner = 'true'\n")
    try:
        done = evaluate(repo)
    finally:
        (far / ".cargo/config.toml").unlink()
        (far / ".cargo").rmdir()

    assert changed(done) == {"../pytest.ini": "changed", "../../.cargo/config.toml": "new"}
    assert len(lines(done)) == 1


def test_settings_that_have_the_name_of_their_program_are_told(repo: GitRepo) -> None:
    """Less is checked, by a program that no table has (HAZARD I300)."""
    begin(repo, "spectral lint src")
    assert not changed(evaluate(repo))

    repo.write(".spectral.yaml", "extends: []\n")
    repo.write("src/spectral.py", "SPECTRUM = ()\n")

    assert changed(evaluate(repo)) == {".spectral.yaml": "new"}


def test_a_deleted_failing_test_is_never_silent(repo: GitRepo) -> None:
    begin(repo, "sh -c 'for t in tests/test_*.py; do PYTHONPATH=src python3 -B $t || exit 1; done'")
    assert evaluate(repo).status == 1

    os.unlink(repo.path / "tests/test_more.py")
    done = evaluate(repo)

    assert done.json["verdict"] == "achieved"
    assert changed(done) == {"tests/test_more.py": "gone"}
    assert lines(done) == ["the proof changed: 1 file, +0 -1, 1 gone"]


def test_the_line_is_said_once_for_each_set(repo: GitRepo) -> None:
    begin(repo, "pytest tests; true")
    repo.write("tests/test_new.py", "assert True\nassert 1\n")
    first, second = evaluate(repo), evaluate(repo)
    assert lines(first) == ["the proof changed: 1 file, +2 -0, 1 new"]
    assert not lines(second)
    assert changed(second) == {"tests/test_new.py": "new"}

    repo.write("tests/test_add.py", "import add\n")
    third = evaluate(repo)
    assert lines(third) == ["the proof changed: 2 files, +2 -1, 1 new"]

    repo.write("tests/test_add.py", FILES["tests/test_add.py"])  # put back, it is as it was
    assert changed(evaluate(repo)) == {"tests/test_new.py": "new"}


def test_ignored_programs_and_what_python_starts_with_count(repo: GitRepo) -> None:
    repo.commit("start", **FILES)
    for path in (".venv/bin/check", ".venv/lib/python3.11/site-packages/a.pth"):
        repo.write(path, "#!/bin/sh\nexit 0\n")
    repo.write(".venv/pyvenv.cfg", "home = /usr\n")
    repo.write(".venv/bin/python3", "#!/bin/sh\nexit 0\n")
    for name in ("check", "python3"):
        os.chmod(repo.path / ".venv/bin" / name, 0o755)
    create(repo, ".venv/bin/check && .venv/bin/python3 -c 1")
    assert not changed(evaluate(repo))

    repo.write(".venv/bin/check", "#!/bin/sh\nexit 0 # swapped\n")
    os.unlink(repo.path / ".venv/lib/python3.11/site-packages/a.pth")
    repo.write(".venv/lib/python3.11/site-packages/sitecustomize.py", "import sys\n")

    assert changed(evaluate(repo)) == {
        ".venv/bin/check": "changed",
        ".venv/lib/python3.11/site-packages/a.pth": "gone",
        ".venv/lib/python3.11/site-packages/sitecustomize.py": "new",
    }


def test_a_program_that_puts_itself_back_is_told(repo: GitRepo) -> None:
    repo.commit("start", **FILES)
    repo.write(".venv/bin/check", "#!/bin/sh\nexit 1\n")
    os.chmod(repo.path / ".venv/bin/check", 0o755)
    create(repo, ".venv/bin/check")
    repo.write(".venv/bin/check", "#!/bin/sh\nprintf '#!/bin/sh\\nexit 1\\n' > \"$0\"; exit 0\n")

    done = evaluate(repo)

    assert changed(done) == {".venv/bin/check": "changed"}


def test_what_a_proposal_rests_on_and_changed_after_it_makes_it_stale(repo: GitRepo) -> None:
    repo.commit("start", **FILES)
    repo.write(".venv/bin/check", "#!/bin/sh\nexit 0\n")
    os.chmod(repo.path / ".venv/bin/check", 0o755)
    create(repo, ".venv/bin/check")
    proposed = evaluate(repo).json["proposed_transition"]
    repo.write(".venv/bin/check", "#!/bin/sh\nexit 0 # swapped\n")

    done = flow(repo, "goal", "confirm", "adds", "--proposal", proposed["proposal_id"])

    assert done.status != 0
    assert "rest on was changed" in done.stderr


def test_a_files_that_was_changed_before_the_goal_began_is_as_it_was(repo: GitRepo) -> None:
    repo.commit("start", **FILES)
    repo.git("switch", "-q", "-c", "work")
    repo.write("tests/test_add.py", "import add\n")
    repo.commit("on the branch")
    repo.write("tests/test_more.py", "assert True\n")
    repo.write("tests/test_mine.py", "assert True\n")
    create(repo, "pytest tests; true")

    assert not changed(evaluate(repo))
    repo.write("tests/test_mine.py", "\n")
    assert changed(evaluate(repo)) == {"tests/test_mine.py": "changed"}


def test_pyproject_counts_by_what_changed_in_it(repo: GitRepo) -> None:
    begin(repo, "pytest tests; true")
    repo.write("pyproject.toml", '[project]\nname = "demo"\nversion = "2"\n')
    assert not changed(evaluate(repo))
    for text, said in (
        ('[project]\nname = "demo"\nversion = "1"\n\n[tool.pytest]\na = 1\n', ["tool.pytest"]),
        ("not toml [", []),
    ):
        repo.write("pyproject.toml", text)
        shown = flow(repo, "goal", "inspect", "adds", "--json")
        assert changed(shown) == {"pyproject.toml": "changed"}
        assert shown.json["proof"]["files"][0]["keys"] == said


def test_an_amended_command_is_followed(repo: GitRepo) -> None:
    begin(repo, "PYTHONPATH=src python3 -B tests/test_add.py")
    repo.write("tests/test_more.py", "assert True\n")
    assert not changed(evaluate(repo))
    repo.write(".venv/bin/check", "#!/bin/sh\nexit 0\n")

    text = (repo.path / ".flow/goals/adds.goal.yaml").read_text()
    command = "PYTHONPATH=src python3 -B tests/test_add.py"
    assert command in text
    other = "python3 -B tests/test_more.py && sh .venv/bin/check"
    repo.write("../goal.yaml", text.replace(command, other))
    done = flow(repo, "goal", "amend", "adds", "--file", "../goal.yaml", "--yes")
    assert done.status == 0, done.stderr

    # What it was at the start is known of the tracked one; the ignored one is digested now.
    assert changed(evaluate(repo)) == {"tests/test_more.py": "changed"}
    repo.write(".venv/bin/check", "#!/bin/sh\nexit 0 # swapped\n")
    assert changed(evaluate(repo)) == {
        "tests/test_more.py": "changed",
        ".venv/bin/check": "changed",
    }


def test_the_work_itself_is_no_proof(repo: GitRepo) -> None:
    commands = (
        "python3 -B -c 'import sys; sys.exit(0)'",
        "test -e src/add.py",
        "mypy src || true",
        "pytest --junitxml=report.xml tests/test_add.py; true",
    )
    more = [f"AC{number}: x :: {command}" for number, command in enumerate(commands, 2)]
    begin(repo, "grep -q add src/add.py", *(w for text in more for w in ("--criterion", text)))
    repo.write("src/add.py", "def add(a, b):\n    return b + a\n")
    repo.write("src/more.py", "x = 1\n")
    done = evaluate(repo)
    assert not changed(done), done.json["proof"]
    assert not lines(done)


def test_inspect_names_every_file(repo: GitRepo) -> None:
    begin(repo, "pytest tests; true")
    assert flow(repo, "goal", "inspect", "adds", "--json").json["proof"]["files"] == []
    repo.write("tests/test_new\x1b.py", "assert True\n")
    repo.write("pyproject.toml", "[tool.pytest]\na = 1\n")
    done = flow(repo, "goal", "inspect", "adds")
    assert "tests/test_new\\x1b.py  new  +1 -0" in done.stdout
    assert "pyproject.toml  changed  +2 -3  in project.name, tool.pytest" in done.stdout


def test_a_protected_file_has_its_own_line_alone(repo: GitRepo) -> None:
    begin(repo, "pytest tests; true", "--protect", "tests/**")
    repo.write("tests/test_add.py", "import add\n")
    done = evaluate(repo)
    assert not lines(done)
    assert changed(done) == {"tests/test_add.py": "changed"}
    assert any(text.startswith("protected files changed") for text in done.json["warnings"])


def test_a_goal_that_began_before_is_not_missed_and_that_is_said_once(repo: GitRepo) -> None:
    from flow.app.evaluation.proofs import UNRECORDED
    from flow.app.transitions.confirming import live_question
    from flow.wiring.context import Context

    begin(repo, "pytest tests; true")
    context = Context(str(repo.path))
    goal = context.load("adds").goal
    run_id = goal.run_id
    assert run_id is not None
    baseline = context.pinned(run_id, goal)
    assert baseline is not None
    old = baseline._replace(proof_named=(), proof_known=(), proof_states={}, proof_since="")
    context.ledger.write_baseline("adds", run_id, old)
    repo.write("tests/test_add.py", "import add\n")

    first, second = evaluate(repo), evaluate(repo)

    assert not changed(first)
    assert UNRECORDED in first.json["warnings"]
    assert UNRECORDED not in second.json["warnings"]
    question = live_question(Context(str(repo.path)), "adds")
    assert question is None or UNRECORDED in question.unknown
