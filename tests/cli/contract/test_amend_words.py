"""``flow goal amend`` with what changes named one by one, and with the user's own editor."""

from __future__ import annotations

import shlex
import stat
from typing import TYPE_CHECKING

import pytest

from flow.cli.goal.amend import UNATTENDED_EDITS
from tests.cli.contract.test_amend import TEXT, artifacts, trusted
from tests.support import scene
from tests.support.scene import at_terminal, ended, flow

if TYPE_CHECKING:
    from tests.support import GitRepo, Ran


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    repo.write("../goal.yaml", TEXT)
    scene.create_from(repo, "../goal.yaml")
    return repo


def amend(repo: GitRepo, *words: str, **env: str | None) -> Ran:
    return flow(repo, "goal", "amend", *words, env=env)


def editor(repo: GitRepo, *turns: str) -> str:
    """An editor that does one of ``turns`` (shell, the file is ``$1``) each time it is opened."""
    path = repo.path.parent / "my editor"
    count = shlex.quote(str(repo.path.parent / "opened"))
    cases = "\n".join(f"{n}) {turn} ;;" for n, turn in enumerate(turns, 1))
    path.write_text(
        f"#!/bin/sh\necho >> {count}\ncp \"$1\" {count}.$(wc -l < {count} | tr -d ' ')\n"
        f"case $(wc -l < {count} | tr -d ' ') in\n{cases}\nesac\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return shlex.quote(str(path))


def opened(repo: GitRepo, turn: int) -> str:
    """The file as the editor was given it that time."""
    return (repo.path.parent / f"opened.{turn}").read_text()


# --- one by one -----------------------------------------------------------------------------------


def test_everything_that_is_named_is_changed_at_once_and_the_rest_stays(work: GitRepo) -> None:
    before = scene.goal_file(work)
    words = ("--allow", "docs/**", "--allow", "it's new.md", "--deny", "*.key", "--remove", "AC2")
    criteria = (
        "--criterion", "AC1: says please :: grep -qi please src/greet.txt",
        "--criterion", "is short :: test $(wc -l < src/greet.txt) -lt 9",
    )  # fmt: skip
    done = amend(work, "--json", "--yes", *words, *criteria)
    assert done.status == 0, done
    after = scene.goal_file(work)
    for line in ("# Why: politeness.", "# by hand", "scope: {repo: demo, branch: main, issue: 7"):
        assert line in before
        assert line in after
    document = flow(work, "goal", "inspect", "--json").json["document"]
    one, three = document["objective"]["acceptance_criteria"]
    assert (one["text"], one["verification_command"]) == (
        "says please",
        "grep -qi please src/greet.txt",
    )
    assert (three["id"], three["text"], three["must_pass"]) == ("AC3", "is short", True)
    assert document["constraints"] == {
        "allowed_paths": ["src/**", "docs/**", "it's new.md"],
        "denied_paths": ["*.key"],
    }
    assert done.json["starts_anew"] == ["AC1"]
    assert trusted(work)
    (entry,) = artifacts(work)
    assert entry["how"] == "flow goal amend"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--allow", "docs/**"), 4, ("paths  + docs/**", "opens more: docs/** added")),
        (("--allow", "src/**"), 0, ("nothing in the contract of goal greet changes",)),
        (("--allow", "src/a"), 0, ("asks for the same: src/a added",)),
        (("--deny", "*.key"), 0, ("denied  + *.key", "closes more: *.key added")),
        (("--remove", "AC2"), 4, ("AC2  - id: AC2", "asks for less: dropped: is there")),
        (("--criterion", "AC2: is there, whole"), 4, ("AC2 text  - is there", "+ is there, whole")),
        (("--criterion", "x :: true-ish"), 0, ("+ command: true-ish", "asks for more: added: x")),
        (
            ("--criterion", "x :: true-ish", "--criterion", "y :: true-ish"),
            0,
            ("asks for more: added: x", "asks for more: added: y"),
        ),
        (("--criterion", "AC2: is there :: test -s src/greet.txt"), 0, ("nothing in the",)),
    ],
)
def test_each_is_shown_with_what_it_means(
    work: GitRepo, words: tuple[str, ...], status: int, says: tuple[str, ...]
) -> None:
    done = amend(work, "greet", *words)
    assert done.status == status, done
    for text in says:
        assert text in done.stderr + done.stdout
    if status == 4:
        line = shlex.join(("flow", "goal", "amend", "greet", *words, "--yes"))
        assert line in done.stderr  # the whole call, as a caller who has asked gives it
        assert amend(work, *shlex.split(line)[3:]).status == 0


def test_at_a_terminal_it_asks_and_shows_the_difference(work: GitRepo) -> None:
    child = at_terminal(work, ["goal", "amend", "--allow", "docs/**"])
    child.expect(r"Change the contract of goal greet\? \[y/N\](\x1b\[0m)? ")
    assert "opens more" in (child.before or "")
    assert "\x1b[32m+ docs/**" in (child.before or "")
    child.sendline("y")
    status, said = ended(child)
    assert status == 0
    assert "is amended" in said
    assert '"docs/**"]' in scene.goal_file(work) or ", docs/**]" in scene.goal_file(work)


NOT_MEANT: list[tuple[tuple[str, ...], str | None, str]] = [
    ((), None, "say what is to change"),
    (("--remove", "AC9"), "--remove", "it has AC1, AC2"),
    (("--remove", "AC1", "--remove", "AC2"), "--remove", "no criterion would be left"),
    (("--remove", "AC1", "--criterion", "AC1: x :: true"), "--criterion", "removed as well"),
    (("--criterion", "AC3: a :: b", "--criterion", "AC3: c :: d"), "--criterion", "twice"),
    (("--criterion", "AC3: only text"), "--criterion", "has no command"),
    (("--criterion", "only text"), "--criterion", "has no command"),
    (("--criterion", "AC3: :: true"), "--criterion", "has no text"),
    (("--criterion", "ac3: x :: true"), "--criterion", "write AC3"),
    (("--criterion", ""), "--criterion", "has no command"),
    (("--criterion", "AC3: x :: ("), "verification_command", "bash -n refuses it"),
    (("--allow", "!x"), "constraints.allowed_paths[1]", "!x"),
    (("--deny", "../x"), "constraints.denied_paths[0]", ".."),
    (("--allow", ""), "constraints.allowed_paths[1]", ""),
]
"""The options, the key that is named, and what is said of it."""


def test_what_cannot_be_meant_changes_nothing(work: GitRepo) -> None:
    before = scene.goal_file(work)
    for words, key, says in NOT_MEANT:
        done = amend(work, "--json", "--yes", *words)
        assert done.status == 2, (words, done)
        error = done.json["error"]
        assert says in f"{error['message']} {error['remedy']}", words
        assert key is None or key in (error["key"] or ""), words
        assert scene.goal_file(work) == before, words
        assert artifacts(work) == [], words


def test_what_is_open_already_is_not_narrowed_by_allowing(repo: GitRepo) -> None:
    scene.start(repo)
    words = ("--outcome", "o", "--criterion", scene.PASSES)
    assert flow(repo, "goal", "create", "greet", *words).status == 0
    done = amend(repo, "--allow", "src/**", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--allow")
    assert "every path is allowed already" in done.json["error"]["message"]
    assert amend(repo, "--deny", "*.key").status == 0


def test_a_fuzzy_criterion_gets_its_command(repo: GitRepo) -> None:
    scene.start(repo)
    words = ("--outcome", "o", "--fuzzy", "AC1: says please", "--allow", "src/**", "--draft")
    assert flow(repo, "goal", "create", "greet", *words).status == 0
    done = amend(repo, "greet", "--criterion", scene.PASSES)
    assert done.status == 0, done
    assert flow(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    document = flow(repo, "goal", "inspect", "greet", "--json").json["document"]
    (one,) = document["objective"]["acceptance_criteria"]
    assert one["verification_command"] == "grep -q please src/greet.txt"


def test_a_file_is_the_text_that_the_others_change(work: GitRepo) -> None:
    work.write("../new.yaml", TEXT.replace("repo: demo", "repo: renamed"))
    done = amend(work, "--file", "../new.yaml", "--deny", "*.key")
    assert done.status == 0, done
    assert "repo: renamed" in scene.goal_file(work)
    assert "*.key" in scene.goal_file(work)


def test_a_change_by_hand_does_not_go_in_behind_a_named_one(work: GitRepo) -> None:
    path = work.path / ".flow/goals/greet.goal.yaml"
    path.write_text(path.read_text().replace("grep -q please src/greet.txt", "true"))
    done = amend(work, "--deny", "*.key")
    assert done.status == 4
    assert "- grep -q please src/greet.txt" in done.stderr
    assert not trusted(work)


# --- in the editor --------------------------------------------------------------------------------


def test_the_editor_has_the_goal_with_what_was_named(work: GitRepo) -> None:
    edit = editor(work, "sed -i.bak 's/outcome: .*/outcome: it is kind/' \"$1\"")
    done = amend(work, "--edit", "--deny", "*.key", "--yes", EDITOR=edit, VISUAL="")
    assert done.status == 0, done
    assert "*.key" in opened(work, 1)
    assert "outcome: it is kind" in scene.goal_file(work)
    assert "*.key" in scene.goal_file(work)


def test_what_flow_writes_itself_may_be_missing_in_the_editor(work: GitRepo) -> None:
    edit = editor(work, "sed -i.bak -e '/created_at/d' -e '/status: pending/d' \"$1\"")
    done = amend(work, "--edit", "--deny", "*.key", "--yes", EDITOR=edit, VISUAL="")
    assert done.status == 0, done
    text = scene.goal_file(work)
    assert "created_at" in text
    assert "status: pending" in text
    assert "*.key" in text


def test_what_an_editor_leaves_is_never_waited_for(work: GitRepo) -> None:
    before = scene.goal_file(work)
    edit = editor(work, 'rm "$1"; mkfifo "$1"')
    done = amend(work, "--edit", "--deny", "*.key", "--yes", EDITOR=edit, VISUAL="")
    assert done.status == 2, done
    assert "is not a regular file" in done.stderr
    assert scene.goal_file(work) == before


def test_faults_come_back_at_their_lines_until_the_file_is_right(work: GitRepo) -> None:
    edit = editor(
        work,
        "sed -i.bak -e 's/type: deterministic/type: nonsense/' -e 's/id: AC2/id: AC1/' \"$1\"",
        "printf '\\t- broken: [\\n' >> \"$1\"",
        "sed -i.bak -e '/broken/d' -e 's/type: nonsense/type: hybrid/' "
        "-e '1,/id: AC1/!s/id: AC1/id: AC3/' \"$1\"",
    )  # fmt: skip
    done = amend(work, "--edit", "--yes", VISUAL=edit, EDITOR="false")
    assert done.status == 0, done
    second = opened(work, 2).splitlines()
    for fault, line in (("nonsense", "type: nonsense"), ("id too", "- id: AC1")):
        place = next(n for n, text in enumerate(second) if text.startswith("#!") and fault in text)
        assert line in second[place + 1], second[place : place + 2]
    third = opened(work, 3).splitlines()
    place = next(n for n, text in enumerate(third) if "broken" in text and "#!" not in text)
    assert third[place - 1].startswith("#! "), third[place - 2 :]
    assert "#!" not in scene.goal_file(work)
    assert "- id: AC3" in scene.goal_file(work)
    assert "nonsense" in done.stderr


@pytest.mark.parametrize("turn", [': > "$1"', "printf ' \\n\\n' > \"$1\""])
def test_an_empty_file_changes_nothing(work: GitRepo, turn: str) -> None:
    before = scene.goal_file(work)
    done = amend(work, "--edit", EDITOR=editor(work, turn), VISUAL="")
    assert (done.status, done.stdout.strip()) == (0, "the file is empty: nothing changed")
    assert scene.goal_file(work) == before


def test_an_editor_that_mends_nothing_is_not_opened_for_ever(work: GitRepo) -> None:
    done = amend(work, "--edit", "--deny", "../x", "--yes", EDITOR="true", VISUAL="")
    assert done.status == 2, done
    assert artifacts(work) == []
    assert amend(work, "--edit", EDITOR="true", VISUAL="").status == 0  # nothing changed


@pytest.mark.parametrize(
    "turn", ["sed -i.bak s/deterministic/determinist/", "printf 'broken: [\\n' >", "date +%N >>"]
)
def test_an_editor_that_breaks_it_each_time_is_not_opened_for_ever(
    work: GitRepo, turn: str
) -> None:
    edit = work.path.parent / "breaks"
    edit.write_text(f'#!/bin/sh\necho >> "{work.path.parent}/opened"\n{turn} "$1"\n')
    edit.chmod(0o755)
    done = amend(work, "--edit", "--yes", "--json", EDITOR=shlex.quote(str(edit)), VISUAL="")
    assert done.status == 2, done
    assert done.json["error"]["remedy"]
    assert len((work.path.parent / "opened").read_text()) <= UNATTENDED_EDITS
    assert artifacts(work) == []


def test_an_editor_that_fails_changes_nothing(work: GitRepo) -> None:
    for command in ("false", "/no/such/editor"):
        done = amend(work, "--edit", "--json", EDITOR=command, VISUAL=None)
        assert (done.status, done.json["error"]["code"]) == (5, "outside")
    assert artifacts(work) == []


def test_off_a_terminal_without_an_editor_it_is_refused(work: GitRepo) -> None:
    done = amend(work, "--edit", "--json", EDITOR=None, VISUAL=None)
    assert (done.status, done.json["error"]["key"]) == (2, "--edit")


def test_in_the_editor_at_a_terminal(work: GitRepo) -> None:
    edit = editor(work, "sed -i.bak 's/repo: demo/repo: renamed/' \"$1\"")
    child = at_terminal(work, ["goal", "amend", "--edit"], EDITOR=edit, VISUAL="")
    status, said = ended(child)
    assert status == 0, said
    assert "repo: renamed" in scene.goal_file(work)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_a_name_that_cannot_be_shown_is_refused_before_anything_is(
    work: GitRepo, name: str
) -> None:
    done = amend(work, "--deny", "*.key", "--by", name)
    assert (done.status, "--by" in done.stderr, "*.key" in done.stderr) == (2, True, False)
    assert artifacts(work) == []


@pytest.mark.parametrize("words", ["AC1 :: true", "AC1:: true"])
def test_a_command_without_a_text_is_no_text(work: GitRepo, words: str) -> None:
    done = amend(work, "--criterion", words, "--yes")
    assert (done.status, "AC1 has no text" in done.stderr) == (2, True), done
    assert artifacts(work) == []
