"""What ``create``, ``amend``, ``baseline`` and the helpers say of commands that are handed in."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from flow.adapters.attribution.command_checks import pipes_of
from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import read_command
from flow.core.attribution.pipes import cannot_pass
from flow.core.attribution.whole_tree import whole_tree_remedy
from tests.adapters.attribution.masking_commands import HONEST
from tests.core.attribution.honest_runs import HONEST_RUNS
from tests.support import run_helper
from tests.support.scene import create, flow, goal_file, start

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support import GitRepo

FILE = ".flow/goals/greet.goal.yaml"
KEY = "objective.acceptance_criteria[0].verification_command"
MALFORMED = ["if", "grep -q 'please src/greet.txt", "(true", "true &&", "for x in a; do", "a | | b"]
GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")


def changed(repo: GitRepo, command: str) -> str:
    """The goal's text with another command."""
    quoted = command.replace("'", "''")
    return re.sub(
        r"verification_command: .*", lambda _: f"verification_command: '{quoted}'", goal_file(repo)
    )


def criteria(commands: Iterable[str]) -> list[str]:
    """The options of a goal with a criterion for each command."""
    rows = [f"AC{number}: x :: {command}" for number, command in enumerate(commands, 1)]
    return [word for row in rows for word in ("--criterion", row)]


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return start(repo)


# --- what bash cannot read -----------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--draft",)])
def test_create_refuses_what_bash_refuses(work: GitRepo, more: tuple[str, ...]) -> None:
    done = flow(work, *GOAL, *criteria(MALFORMED), *more)
    assert done.status == 2, done
    told = done.stderr.split("bash -n refuses it: ")
    assert KEY in told[0]
    assert len(told) == 1 + len(MALFORMED)
    for number, text in enumerate(told[1:], 1):
        assert told[number - 1].endswith(f"AC{number}: ")
        assert "syntax error" in text or "unexpected EOF" in text
    assert not (work.path / FILE).exists()


def test_a_file_is_named_with_every_command_that_bash_refuses(work: GitRepo) -> None:
    create(work)
    text = changed(work, "if").replace("id: greet", "id: other")
    text = re.sub(r"lifecycle:\n(  .*\n)+", "lifecycle:\n  status: draft\n", text)
    text = re.sub(r"\n  (run_id|base_commit): .*", "", text)
    work.write("other.yaml", text)
    done = flow(work, "goal", "create", "--file", "other.yaml", "--draft")
    assert done.status == 2
    assert "other.yaml" in done.stderr
    assert f"{KEY}" in done.stderr
    ran = run_helper("flow-goal-record", "--create", "--goal-file", "other.yaml", cwd=work.path)
    assert ran.status == 1, ran
    assert "bash -n refuses it" in ran.stderr
    assert KEY in ran.stderr


def test_an_evidence_command_too(work: GitRepo) -> None:
    create(work)
    text = goal_file(work).replace("verification_command:", "evidence_command: 'if'\n      x_note:")
    work.write("new.yaml", text)
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 2
    assert "evidence_command" in done.stderr


@pytest.mark.parametrize("command", MALFORMED[:3])
def test_amend_refuses_it_and_changes_nothing(work: GitRepo, command: str) -> None:
    create(work)
    before = goal_file(work)
    work.write("new.yaml", changed(work, command))
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 2, done
    assert f"new.yaml: {KEY}" in done.stderr
    assert goal_file(work) == before


def test_by_hand_it_could_not_start(work: GitRepo) -> None:
    create(work)
    work.write(FILE, changed(work, "touch src/ran; if"))
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert (done.status, row["outcome"]) == (1, "inconclusive")
    assert "could not run" in goal_file(work)
    assert row["reason"].startswith("bash -n refuses it: ")
    assert not (work.path / "src/ran").exists()
    (base,) = flow(work, "goal", "baseline", "greet", "--json").json["criteria"]
    assert base["outcome"] == "inconclusive"
    # what is right again can be amended, whatever stands there
    work.write("new.yaml", changed(work, "grep -q please src/greet.txt"))
    assert flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes").status == 0


def test_only_reading_no_running(work: GitRepo) -> None:
    done = flow(work, *GOAL, "--criterion", "AC1: x :: touch src/ran; x=$(touch src/ran2); (")
    assert done.status == 2
    assert sorted(os.listdir(work.path / "src")) == ["greet.txt"]


# --- what is only said ---------------------------------------------------------------------------

PROG = "./src/prog"
CANNOT = {
    "standard error": f"{PROG} bad 2>&1 | grep -q 'no such word'",
    "a message that says little": f"{PROG} bad 2>&1 | grep -q word",
    "by |&": f"{PROG} bad |& grep -q word",
    "through a filter": f"{PROG} bad 2>&1 | tee log | grep -q word",
    "after something else": f"true && {PROG} bad 2>&1 | grep -q word",
    "in braces": f"{{ {PROG} bad 2>&1 | grep -q word; }}",
    "a difference": "diff src/greet.txt src/prog | grep -q exit",
    "an end": "yes | head -1",
}  # fmt: skip


def said(repo: GitRepo, command: str) -> list[str]:
    done = flow(repo, *GOAL, "--criterion", f"AC1: x :: {command}", "--json")
    assert done.status == 0, done
    return [text for text in done.json["warnings"] if text.startswith("AC1: ")]


def test_a_pipe_that_cannot_pass_is_said_with_the_form_that_works(work: GitRepo) -> None:
    work.write("src/prog", "#!/bin/sh\necho no such word >&2\nexit 1\n", mode=0o755)
    work.commit("prog")
    made = flow(work, *GOAL, *criteria(CANNOT.values()), "--json")
    warnings = [text for text in made.json["warnings"] if text.startswith("AC")]
    assert len(warnings) == len(CANNOT)
    base = flow(work, "goal", "baseline", "greet", "--json")
    assert set(warnings) <= set(base.json["warnings"])
    forms = {}
    for number, (command, warning) in enumerate(zip(CANNOT.values(), warnings, strict=True), 1):
        assert warning.startswith(f"AC{number}: pipe: ")
        form = forms[command] = re.sub(r".*write: ", "", warning)
        assert ended(work, command) != 0
        assert ended(work, form) == 0, form
        reading = read_command(form, parse_shell)
        assert (reading.masked_exit, reading.guarded_runner) == ("", "")
        assert not any(map(cannot_pass, pipes_of(form)))
    # the form is no way to pass where the program does not fail, or says something else
    work.write("src/prog", "#!/bin/sh\necho no such word\n")
    assert all(ended(work, form) for command, form in forms.items() if "prog bad" in command)
    done = flow(work, "goal", "amend", "greet", *criteria(forms.values()), "--yes")
    assert (done.status, "pipe:" in done.stderr) == (0, False), done


def ended(work: GitRepo, command: str) -> int:
    words = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(words, cwd=work.path, capture_output=True).returncode


def test_a_pattern_as_a_shell_reads_it_is_said_to_cover_nothing_else(work: GitRepo) -> None:
    """Denied, it would protect nothing: ``.gitignore`` knows no braces, ``~`` and variables."""
    plain = ("--allow", "{{slug}}/**", "--allow", "src/{a}", "--protect", "a$b~")
    deny = [part for p in ("conf/{dev,prod}.yml", " x", "~/y", "$HOME/z") for part in ("--deny", p)]
    words = ("goal", "create", "second", "--outcome", "o", "--criterion", "AC1: x :: test -f q")
    told = flow(work, *words, *plain, *deny, "--json").json["warnings"]
    about = [line.partition("paths with '")[2] for line in told]
    parts = [text.partition("'")[0] for text in about if text]
    assert parts == ["{dev,prod}", " ", "~/", "$HOME"]
    told = flow(work, "goal", "amend", "second", "--deny", "{b,c}", "--json").json["warnings"]
    assert any("'{b,c}'" in line for line in told)


def test_amend_says_it_as_well(work: GitRepo) -> None:
    create(work)
    work.write("new.yaml", changed(work, CANNOT["standard error"]))
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 0
    assert "AC1: pipe: it passes only where" in done.stderr


MAY_PASS = """
java -version 2>&1 | grep -q 17
nginx -t 2>&1 | grep -q successful
./app --version 2>&1 | grep -q 1.2
./app --help 2>&1 | grep -qi usage
./app 2>&1 | grep -q 'tests passed'
./app 2>&1 | grep -q 'listening on'
./app 2>&1 | grep -q '0 errors'
./app 2>&1 | grep -v warning
./app | grep -q word
! ./app 2>&1 | grep -q Traceback
if ./app 2>&1 | grep -q error; then exit 1; fi
set +o pipefail; ./app bad 2>&1 | grep -q word
curl -sv localhost 2>&1 | grep -q 'HTTP/1.1 200'
docker logs x 2>&1 | grep -q started
pytest 2>&1 | grep -q '2 passed'
pytest -q | tail -1
ruff check . 2>&1 | tee log
npm run build 2>&1 | grep -q 'Compiled successfully'
ls src | grep -q greet
git diff main | grep -q '^+foo'
seq 10 | head -1
./app bad 2>&1 > /dev/null || true
{ ./app bad 2>&1; test $? -ne 0; } | grep -q word
""".strip().splitlines()


HONEST_TEXTS = [text.replace("@", "\n") for text in (*HONEST, *(row[0] for row in HONEST_RUNS))]


def test_nothing_is_said_of_what_may_pass() -> None:
    said = {
        text: [why for why in map(cannot_pass, pipes_of(text)) if why]
        for text in (*MAY_PASS, *HONEST_TEXTS)
    }
    assert {text: why for text, why in said.items() if why} == {}


def test_no_honest_command_is_guarded() -> None:
    readings = {text: read_command(text, parse_shell) for text in HONEST_TEXTS}
    assert [
        text for text, reading in readings.items() if reading.guarded_runner or reading.idle_option
    ] == []


NO_TEST = [
    ('if [ -n "$CI" ]; then pytest; fi', "guarded: it can end with 0 without `pytest`"),
    ('[ -z "$CI" ] || pytest', "guarded: it can end with 0 without `pytest`"),
    ("pytest --co", "vacuous: `pytest --co` checks nothing"),
    ("npx jest --listTests", "vacuous: `jest --listTests` checks nothing"),
    ("go test -list . ./...", "vacuous: `go test -list` checks nothing"),
    ("tox list", "vacuous: `tox list` checks nothing"),
    ("npx eslint --version", "vacuous: `eslint --version` checks nothing"),
    ("git ls-files '*.js' | xargs -0r eslint", "guarded: `xargs -r` ends with 0"),
    ("pytest || true", "masked: "),
    ("pytest | grep -q '1 failed'", "pipe: it passes only where `pytest` ends with 0"),
]


def test_what_can_show_no_test_is_said_and_never_refused(work: GitRepo) -> None:
    done = flow(work, *GOAL, *criteria(command for command, _ in NO_TEST), "--json")
    assert done.status == 0, done
    for number, (_, warning) in enumerate(NO_TEST, 1):
        start = f"AC{number}: {warning}"
        assert any(text.startswith(start) for text in done.json["warnings"]), start


def test_a_hostile_command_is_visible_and_cut(work: GitRepo) -> None:
    (warning, *_) = said(work, f"./x{'y' * 5000}\u202e bad 2>&1 | grep -q word")
    assert len(warning) < 500
    assert "\u202e" not in warning


# --- checks that take Flow's own files in ---------------------------------------------------------

REST = "-- . ':!.flow' ':!.decisions'"
WHOLE_TREE = {
    "make gen && git diff --exit-code": "git diff --exit-code -- . ':!.flow' ':!.decisions'",
    "git -C . diff --quiet HEAD": "git diff --quiet -- . ':!.flow' ':!.decisions'",
    'test -z "$(git status --porcelain)"': "git status --porcelain -- . ':!.flow' ':!.decisions'",
    "prettier --check .": "(.prettierignore)",
    "npx --no-install prettier -c . --cache": "(.prettierignore)",
    "yamllint -s .": "(ignore: in .yamllint)",
    "pnpm exec biome ci": "(files.includes in biome.json)",
}
PART = (
    "git diff --exit-code -- gen", "git diff --exit-code gen", "git diff", "git diff --stat",
    "git diff --exit-code -- . ':!.flow' ':!.decisions'", "git status", "prettier --check src",
    "git diff --exit-code main -- src", "yamllint .github", "prettier --write .", "biome check src",
    "npx", "yarn --silent", "echo git diff --exit-code", "test -z \"$(git status -s docs)\"",
)  # fmt: skip


def test_a_check_that_takes_flows_own_files_in_is_said(work: GitRepo) -> None:
    done = flow(work, *GOAL, *criteria(WHOLE_TREE), "--json")
    assert done.status == 0, done
    for number, remedy in enumerate(WHOLE_TREE.values(), 1):
        start = f"AC{number}: whole tree: it sees Flow's own files, too, and fails for them: "
        (said,) = [text for text in done.json["warnings"] if text.startswith(start)]
        assert remedy in said


def test_a_check_of_a_part_is_not() -> None:
    readings = {command: read_command(command, parse_shell).commands for command in PART}
    assert [text for text, found in readings.items() if any(map(whole_tree_remedy, found))] == []


def test_the_form_that_is_offered_passes_after_an_evaluation(work: GitRepo) -> None:
    whole = "git diff --exit-code"
    criteria = (f"AC1: x :: {whole}", f"AC2: x :: {whole} {REST}")
    flow(work, *GOAL, *(word for text in criteria for word in ("--criterion", text)))
    work.git("add", "-A")
    work.git("commit", "-qm", "goal")
    for first in ("passed", "failed"):
        done = flow(work, "goal", "evaluate", "greet", "--json")
        results = json.loads(done.stdout)["criterion_results"]
        assert [result["outcome"] for result in results] == [first, "passed"]
