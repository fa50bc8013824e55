"""``flow goal create`` at a terminal asks, and writes only on a yes."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.patience import eventually
from tests.support.scene import at_terminal, create, ended, flow, goal_file, start

if TYPE_CHECKING:
    from pathlib import Path

    import pexpect

    from tests.support import GitRepo

GOAL = ".flow/goals/greeting-polite.goal.yaml"


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    start(repo).commit("tests", **{"Makefile": "test:\n\ttrue\n", "tests/t.sh": "true\n"})
    return repo


def answer(child: pexpect.spawn[str], *answers: str) -> list[str]:
    """Type each answer at its prompt; what was shown before each of them."""
    shown = []
    for text in answers:
        child.expect(r"(?:^|\n) *> ")
        shown.append((child.before or "").replace("\r", ""))
        child.sendline(text)
    return shown


def document(repo: GitRepo, goal: str = "greeting-polite") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(goal_file(repo, goal))
    return loaded


def test_the_conversation_as_it_is_drawn(work: GitRepo) -> None:
    work.write("src/new.txt", "mine\n")
    child = at_terminal(work, ("goal", "create"), columns=80, NO_COLOR="1")
    shown = answer(
        child,
        "The greeting is polite",
        "",
        "says please :: grep -q please src/greet.txt",
        "a Nothing else broke",
        "it runs :: bash tests/new.sh",
        "bad :: if",
        "masked :: make test || true",
        "it reads well",
        "r documentation",
        "",
        "src/** tests/**",
        "y",
    )
    status, end = ended(child)
    assert status == 0, end
    assert "What will be true?  One sentence." in shown[0]
    assert "Name [greeting-polite]" in shown[1]
    assert 'Which commands prove it?  One per line, "text :: command". Enter ends.' in shown[2]
    assert "Found here:  a  make test    (Makefile)" in shown[2]
    assert "✗ AC1  exit 1, is red: the work can turn it green" in shown[3]
    assert "✓ AC2  exit 0, is green already: it shows that nothing breaks" in shown[4]
    assert "○ AC3  nothing to run yet: tests/new.sh is not there" in shown[5]
    assert "AC4: bash -n refuses it: " in shown[6]
    assert "◐ AC4  exit 0: it can show no failure" in shown[7]
    assert "AC4: masked: " in shown[7]
    assert "this can: make test" in " ".join(shown[7].split())
    assert (
        "○ AC5  no command. c it is one, r rubric, Enter: a person or a judge says so" in shown[8]
    )
    assert "Where may the change be?  Globs, Enter ends.  [src/**, tests/**]" in shown[10]
    assert "Changed there already: src/new.txt." in shown[11]
    assert f" {GOAL}, new" in shown[11]
    assert "lines, v views all)" in shown[11]
    assert "Write it and start?  y yes   e edit first   d as a draft   Enter no" in shown[11]
    base = work.git("rev-parse", "HEAD").strip()[:12]
    assert f"✓ greeting-polite is active on branch main, base main {base}." in end
    assert "next   do the work, then: flow goal evaluate\r\n" in end
    assert "masked" not in end
    written = document(work)
    rows = written["objective"]["acceptance_criteria"]
    assert [(row["id"], row.get("verification_command")) for row in rows] == [
        ("AC1", "grep -q please src/greet.txt"),
        ("AC2", "make test"),
        ("AC3", "bash tests/new.sh"),
        ("AC4", "make test || true"),
        ("AC5", None),
    ]
    assert rows[4]["rubric"] == "documentation"
    assert written["constraints"]["allowed_paths"] == ["src/**", "tests/**"]
    assert not list((work.path / ".flow/runs").rglob("*.evidence.yaml"))
    assert flow(work, "trust", "check", "greeting-polite").status == 0


WORDS = ("goal", "create", "greeting-polite", "--outcome", "The greeting is polite")


def test_what_the_editor_leaves_is_written(work: GitRepo, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\ngrep -q broken: "$1" && { sed -i.b /broken:/d "$1"; exit; }\n'
        'sed -i.b "s/is polite/is very polite/" "$1"\necho "broken: [" >> "$1"\n'
    )
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    words = (*WORDS, "--allow", "src/**")
    child = at_terminal(work, words, NO_COLOR="1", EDITOR=os.fspath(editor), VISUAL="")
    answer(child, "says :: make test || true", "", "e")
    faults = answer(child, "")[0]
    assert "Enter edits it again, n leaves it" in faults
    answer(child, "d")
    status, end = ended(child)
    assert status == 0, end
    assert "greeting-polite is a draft on branch main." in end
    assert "next   complete the draft, then: flow goal activate greeting-polite" in end
    assert "AC1: masked" in end  # it went through the editor, so all is said
    assert document(work)["objective"]["outcome"] == "The greeting is very polite"


@pytest.mark.parametrize("leave", ["Enter", "Ctrl-C", "Ctrl-D", "Ctrl-C while a command runs"])
def test_leaving_writes_nothing(work: GitRepo, leave: str) -> None:
    child = at_terminal(work, (*WORDS, "--allow", "src/**"), NO_COLOR="1")
    if leave.endswith("runs"):
        answer(child, "waits :: echo $$ > ../here; exec sleep 600")
        child.expect("AC1  runs, Ctrl-C leaves")
        assert eventually((work.path.parent / "here").exists)
        child.sendintr()
    else:
        answer(child, "says please :: false", "")
        child.expect("Enter no")
        if leave == "Enter":
            answer(child, "")
        elif leave == "Ctrl-C":
            child.sendintr()
        else:
            child.sendeof()
    status, end = ended(child)
    assert status == (130 if "Ctrl-C" in leave else 4), end
    assert "Traceback" not in end
    assert not (work.path / ".flow").exists()
    assert flow(work, "trust", "list", "--json").json == {"trusted": []}


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ((), "an ID, --outcome, --criterion (or --fuzzy)"),
        (("x",), "--outcome, --criterion (or --fuzzy)"),
        (("x", "--outcome", "o"), "--criterion (or --fuzzy)"),
        (("x", "--criterion", "a :: b"), "--outcome"),
        (("--outcome", "o", "--fuzzy", "a"), "an ID"),
        (("--from", "x"), "an ID"),
    ],
)
def test_off_a_terminal_the_missing_options_are_named(
    work: GitRepo, words: tuple[str, ...], missing: str
) -> None:
    done = flow(work, "goal", "create", *words)
    assert done.status == 2
    assert f"a new goal needs {missing}, or a --file" in done.stderr
    assert not (work.path / ".flow").exists()


def test_the_goal_is_named_where_the_branch_has_others(work: GitRepo) -> None:
    create(work, "first")
    done = flow(work, *WORDS, "--criterion", "AC1: a :: false", "--allow", "src/**")
    assert "next   do the work, then: flow goal evaluate greeting-polite\n" in done.stdout


def test_a_protected_file_that_is_not_there_is_told(work: GitRepo) -> None:
    paths = ("--protect", "tests/t.sh", "--protect", "tests/later.sh", "--protect", "tests/**")
    more = ("--criterion", "AC1: a :: false", "--allow", "src/**")
    done = flow(work, *WORDS, *more, *paths, "--json")
    told = [text for text in done.json["warnings"] if "protected_paths" in text]
    key = "constraints.protected_paths"
    assert told == [f"{key}: tests/later.sh is not there, so nothing of it is protected yet"]
    assert (done.json["branch"], done.json["base"]) == ("main", "main")


@pytest.mark.parametrize("mend", ["here", "edit", "leave"])
def test_what_was_said_is_not_lost_where_it_cannot_be_written(
    work: GitRepo, tmp_path: Path, mend: str
) -> None:
    work.git("switch", "-qc", "topic")
    work.commit("more", **{"docs.txt": "x\n"})
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i.b 's,- src/..,- docs.txt,' \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    words = (*WORDS, "--allow", "src/**")
    child = at_terminal(work, words, NO_COLOR="1", EDITOR=os.fspath(editor), VISUAL="")
    answer(child, "says :: grep -q please src/greet.txt", "", "y")
    child.expect("already changed paths outside its own: docs.txt")
    child.expect(re.escape("e edit it   h count changes from here on (--base HEAD)   Enter no"))
    answer(child, "what")
    child.expect_exact("that is no answer here: e, h, or Enter")
    answer(child, {"here": "h", "edit": "e", "leave": ""}[mend])
    status, end = ended(child)
    if mend == "leave":
        assert (status, "nothing was written" in end) == (4, True), end
        assert not (work.path / ".flow/goals").exists()
        return
    assert (status, "is active on branch topic" in end) == (0, True), end
    assert (mend == "here") == ("base HEAD" in end)
    assert document(work)["constraints"]["allowed_paths"] == [
        "src/**" if mend == "here" else "docs.txt"
    ]
