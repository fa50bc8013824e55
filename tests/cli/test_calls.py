"""How ``flow`` is called: commands, options, help, ``--json`` at any place, and wrong calls."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from flow.cli import main, manual
from flow.cli.parser import Parser
from flow.cli.parsing import CommandSpec
from flow.cli.parsing import command_of as named_command
from flow.errors import FlowError
from tests.support import ROOT, GitRepo, run, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = [
    ["init"],
    *(["goal", name] for name in (
        "create", "activate", "evaluate", "confirm", "status", "list", "history", "inspect",
        "pause", "resume", "approve", "amend", "rebase", "clear", "claim", "wait", "forget",
        "baseline", "watch",
    )),
    *(
        ["evidence", name]
        for name in ("record", "list", "show", "verify", "head", "export", "import")
    ),
    *(["verdict", name] for name in ("record", "show")),
    *(["journal", name] for name in ("record", "show")),
    *(["trust", name] for name in ("record", "check", "list", "revoke")),
    *(
        ["judge", name]
        for name in ("run", "scorecard", "debate", "rubrics", "calibrate", "history")
    ),
    *(["config", name] for name in ("list", "get", "set", "unset")),
    ["inbox"], ["inbox", "forget"],
    ["schema"], ["report"],
    ["doctor"],
    ["gc"],
    ["demo"],
]  # fmt: skip


def test_the_list_above_is_whole() -> None:
    found: list[list[str]] = []
    for name in main.COMMANDS:
        module = import_module(f"flow.cli.{name}")
        found += [[name]] if hasattr(module, "COMMAND") else []
        found += [[name, sub] for sub in getattr(module, "COMMANDS", ())]
    assert sorted(found) == sorted(COMMANDS)


def command_of(words: list[str]) -> CommandSpec:
    module = import_module(f"flow.cli.{words[0]}")
    command: CommandSpec = module.COMMAND if len(words) == 1 else named_command(module, words[1])
    return command


ODD = ("", "x", "3", "manual", "a b", "-", "--", "-x", "-1", "--json", "--nonsense", "--i", "x=y")
"""Words that stand where anything may stand."""


def calls_of(parser: Parser) -> Iterator[list[str]]:
    """Calls of a command, right and wrong ones: each argument alone, beside another, twice."""
    forms: list[list[str]] = [[], ["some-goal"], ["a", "b"], ["a", "b", "c"]]
    for action in parser._actions:
        values = [*(action.choices or ()), *ODD]
        for option in action.option_strings:
            forms += [[option], *([option, value] for value in values)]
            forms += [[f"{option}={value}"] for value in values]
            forms += [[option[:-1]], [option, "x", option, "y"]]
    required = [
        word
        for action in parser._actions
        if action.required
        for word in (*action.option_strings[:1], str(next(iter(action.choices or "7"))))
    ]
    positionals = [each for each in parser._get_positional_actions() if each.nargs != "?"]
    for form in forms:
        yield form
        for before in (required, required + ["a"] * len(positionals), ["a"] * len(positionals)):
            yield [*before, *form]
            yield [*form, *before]
    yield from ([*one, *two] for one in forms[4::9] for two in forms[4::13])


def read_by(parser: Parser, words: list[str]) -> dict[str, object] | None:
    try:
        parsed = vars(parser.parse(words))
    except FlowError:
        return None
    return {key: value for key, value in parsed.items() if key not in ("json", "help")}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_read_without_the_parser_is_what_the_parser_reads(words: list[str]) -> None:
    command = command_of(words)
    parser = Parser("flow", command)
    for given in map(list, dict.fromkeys(map(tuple, calls_of(parser)))):
        plain = command.plain_arguments(given)
        if plain is not None:
            assert vars(plain) == read_by(parser, given), given


@pytest.mark.parametrize(
    "words",
    [
        "goal status",
        "goal status greet",
        "goal list",
        "goal list --all-branches",
        "goal evaluate",
        "goal evaluate greet --no-input --only AC1 --only=AC2,AC3",
        "goal confirm greet --proposal 0123 --by me",
        "goal create greet --outcome o --criterion a::b --criterion c",
        "evidence verify",
    ],
)
def test_the_calls_that_are_typed_most_need_no_parser(words: str) -> None:
    group, name, *given = words.split()
    command = command_of([group, name])
    plain = command.plain_arguments(given)
    assert plain is not None
    assert vars(plain) == read_by(Parser("flow", command), given)
    for wrong in (["--help"], ["--nonsense"], ["--", "x"], ["a", "b", "c"]):
        assert command.plain_arguments([*given, *wrong]) is None


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_tells_about_itself(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--help", "-h"):
        assert main.run([*words, option]) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith(f"usage: flow {' '.join(words)}")
        assert "--json" in shown.out
        assert max(map(len, shown.out.splitlines())) <= 80
        assert shown.err == ""
    assert main.run([*words, "--json", "--help"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["help"]


def example_lines(words: list[str]) -> list[str]:
    """The lines below "example:" of a command's help, each as it is typed."""
    _, _, block = (
        Parser(f"flow {' '.join(words)}", command_of(words)).format_help().rpartition("example")
    )
    lines = block.partition(":\n")[2].replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines]


@pytest.mark.parametrize("words", [*COMMANDS, ["hook", "pre-push"]], ids=" ".join)
def test_every_command_has_an_example_that_it_takes(words: list[str]) -> None:
    lines = example_lines(words)
    assert lines
    prog = ["flow", *words]
    for line in lines:
        typed = shlex.split(line)
        assert typed[: len(prog)] == prog
        Parser(" ".join(prog), command_of(words)).parse(typed[len(prog) :])


def test_no_example_is_of_a_command_that_is_gone() -> None:
    commands = [f"flow {' '.join(words)}" for words in [*COMMANDS, ["hook", "pre-push"]]]
    assert sorted(manual.EXAMPLES) == sorted(commands)


GROUPS = [name for name in main.COMMANDS if [name] not in COMMANDS]


@pytest.mark.parametrize(
    "words",
    [
        *([], ["--help"], ["-h"], ["help"]),
        *([group, *rest] for group in GROUPS for rest in ([], ["--help"], ["-h"], ["help"])),
    ],
    ids=lambda words: " ".join(words) or "flow",
)
def test_a_group_alone_prints_its_help(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(words) == 0
    shown = capsys.readouterr()
    group = words[0] if words and words[0] in GROUPS else None
    assert shown.err == ""
    assert max(map(len, shown.out.splitlines())) <= 80
    commands = import_module(f"flow.cli.{group}").COMMANDS if group else main.COMMANDS
    assert [name for name in commands if f"\n  {name} " not in shown.out] == []
    assert main.run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"help": shown.out.rstrip("\n")}


@pytest.mark.parametrize(("words", "prefix"), [([], "goal "), (["goal"], "")])
def test_help_begins_with_the_four_commands_of_every_day(
    words: list[str], prefix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(words) == 0
    block = capsys.readouterr().out.partition("every day:\n")[2].partition("\n\n")[0]
    shown = [line.removeprefix(f"  {prefix}").split()[0] for line in block.splitlines()]
    assert shown == ["create", "evaluate", "status", "confirm"]


def test_every_command_is_in_a_subject(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["goal"]):
        main.run(words)
        assert "\nmore:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        *(["hook"], ["hook", "-h"], ["hook", "help"]),
        *(["help", name] for name in main.ELSEWHERE),
        *([name, "--help"] for name in main.ELSEWHERE),
    ],
    ids=" ".join,
)
def test_what_a_host_starts_tells_about_itself(
    words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    from flow.__main__ import run as run_flow

    assert run_flow(words) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert max(map(len, shown.out.splitlines())) <= 80
    name = next(word for word in words if word in main.ELSEWHERE)
    lines = re.split(r"^examples?:\n", shown.out, flags=re.M)[1].splitlines()
    assert lines
    assert all(shlex.split(line)[:2] == ["flow", name] for line in lines)


def test_a_command_of_the_hook_that_is_nearly_right(capsys: pytest.CaptureFixture[str]) -> None:
    from flow.__main__ import run as run_flow

    assert run_flow(["hook", "pre-tol-use"]) == 2
    assert "; did you mean pre-tool-use?" in capsys.readouterr().err


def test_help_before_a_command_is_the_commands_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "goal", "evaluate"], ["help", "schema"], ["help", "goal"]):
        assert main.run(words) == 0
        asked = capsys.readouterr().out
        assert main.run([*words[1:], "--help"]) == 0
        assert capsys.readouterr().out == asked


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    from flow.version import __version__

    assert main.run([option]) == 0
    assert capsys.readouterr().out == f"flow {__version__}\n"
    assert main.run([option, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": __version__}


def test_a_wrong_argument_is_named_as_other_errors_name_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["goal", "evaluate", "a", "--jobs", "two"]
    assert main.run(words) == 2
    told = capsys.readouterr().err
    assert told.startswith("flow: --jobs: 'two' is not a number of jobs")
    assert told.endswith("(see flow goal evaluate --help)\n")
    assert main.run([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["key"], error["value"]) == ("--jobs", "two")


REFUSED_VALUES = [
    (["goal", "evaluate", "a"], "--trigger", "whim"),
    (["goal", "evaluate", "a"], "--timeout", "-1"),
    (["goal", "evaluate", "a"], "--only", " , "),
    (["goal", "create", "a"], "--issue", "0"),
    (["inbox"], "--since", "7x"),
    (["init"], "--host", "nope"),
    (["goal", "wait", "a", "--until", "true"], "--timeout", "3"),
    (["schema"], "NAME", "nonsense"),
]


@pytest.mark.parametrize(("words", "key", "value"), REFUSED_VALUES)
def test_the_value_that_is_refused_has_its_place_in_the_document(
    words: list[str],
    key: str,
    value: str,
    repo: GitRepo,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = f"{key}={value}" if key.startswith("-") else value
    with contextlib.chdir(repo.path):
        assert main.run([*words, given, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["key"], error["value"]) == (key, value)


WRONG = [
    ["nonsense"],
    ["goal", "nonsense"],
    ["goal", "evaluate"],
    ["goal", "evaluate", "a", "b"],
    ["goal", "evaluate", "a", "--nonsense"],
    ["goal", "evaluate", "a", "--repeat", "0"],
    ["goal", "evaluate", "a", "--repeat", "1001"],
    ["goal", "evaluate", "a", "--repeat", "x"],
    ["goal", "evaluate", "a", "--confirm", "--no-input"],
    ["goal", "evaluate", "a", "--confirm", "--dry-run"],
    ["goal", "evaluate", "a", "--confirm", "--only", "AC1"],
    ["goal", "evaluate", "a", "--trigger", "whim"],
    ["goal", "evaluate", "a", "--jobs", "0"],
    ["goal", "evaluate", "a", "--jobs", "-1"],
    ["goal", "evaluate", "a", "--jobs", "two"],
    ["goal", "evaluate", "a", "--timeout", "0"],
    ["goal", "evaluate", "a", "--timeout", "nan"],
    ["goal", "evaluate", "a", "--timeout", "inf"],
    ["goal", "evaluate", "a", "--run-id", "../x"],
    ["goal", "evaluate", "../a"],
    ["goal", "evaluate", "A"],
    ["goal", "create"],
    ["goal", "create", "a", "--file", "f"],
    ["goal", "create", "--file", "f", "--outcome", "o"],
    ["goal", "create", "a", "--issue", "0"],
    ["goal", "confirm", "a"],
    ["goal", "approve", "a", "AC1"],
    ["goal", "approve", "a", "AC1", "--by", "me"],
    ["goal", "amend", "a"],
    ["goal", "amend", "--file", "f"],
    ["evidence", "record", "--run-id", "r"],
    ["evidence", "show"],
    ["evidence", "list", "a", "--run-id", "r"],
    ["evidence", "verify", "a", "--goal", "a"],
    ["evidence", "verify", "../a"],
    ["evidence", "verify", "--forget"],
    ["evidence", "verify", "a", "--forget", "--against", "HEAD"],
    ["evidence", "verify", "--yes"],
    ["evidence", "head", "a", "--run-id", "a"],
    ["gc", "--older-than", "-1"],
    ["gc", "--keep", "x"],
    ["verdict", "record", "--run-id", "r"],
    ["verdict", "show", "a", "--run-id", "r"],
    ["journal", "record", "--issue", "x", "--type", "t"],
    ["journal", "show", "--issue", "1", "--goal", "a"],
    ["trust", "record", "a", "--goal-file", "f"],
    ["trust", "revoke"],
    ["config", "list", "extra"],
    ["schema"],
    ["schema", "nonsense"],
    ["judge", "debate"],
    ["judge", "debate", "--solution", "x"],
    ["judge", "debate", "--task", "x"],
    ["judge", "run"],
    ["judge", "run", "--rubric", "security"],
    ["judge", "run", "--subject", "f"],
    ["judge", "run", "a", "--rubric", "security", "--subject", "f"],
    ["judge", "run", "a", "--subject", "f"],
    ["judge", "run", "--rubric", "security", "--subject", "-", "--subject", "f"],
    ["judge", "run", "--rubric", "security", "--subject", "f", "--samples", "0"],
    ["judge", "run", "--rubric", "../x", "--subject", "f"],
    ["judge", "rubrics", "nonsense"],
    ["judge", "calibrate"],
    ["judge", "calibrate", "--cases", "missing.yaml"],
    ["judge", "history", "a", "b"],
    ["judge", "history", ""],
    ["judge", "scorecard"],
    ["judge", "scorecard", "a", "b"],
    ["judge", "scorecard", "a", "--file", "missing.jsonl"],
    ["judge", "scorecard", "a", "--samples", "0"],
    ["goal", "amend", "a", "--file", "f"],
    ["goal", "claim"],
    ["goal", "claim", "a", "--session", ""],
    ["goal", "claim", "a", "--session", "x\ny"],
    ["goal", "forget"],
    ["goal", "forget", "../a"],
    ["goal", "wait"],
    ["goal", "wait", "a"],
    ["goal", "wait", "a", "--until", " "],
    ["goal", "wait", "a", "--until", "true", "--every", "0"],
    ["goal", "baseline", "a"],
    ["evidence", "verify", "--key", "k.pub"],
    ["evidence", "verify", "a", "--bundle", "missing.jsonl"],
    ["evidence", "verify", "--bundle", "missing.jsonl"],
    ["evidence", "export"],
    ["evidence", "export", "a", "--format", "xml"],
    ["evidence", "export", "a", "--sign", "gpg:key"],
    ["evidence", "export", "a", "--sign", "ssh:"],
    ["evidence", "export", "a", "--sign", "ssh:missing"],
    ["evidence", "export", "a", "--key", "missing.pem"],
    ["evidence", "export", "a", "--format", "statements", "--sign", "ssh:k"],
    ["evidence", "export", "a", "--resource-uri", "no uri"],
    ["evidence", "import"],
    ["evidence", "import", "missing.xml", "--goal", "a"],
    ["evidence", "import", "f", "--format", "xunit"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_call_is_exit_2_in_words_and_in_json(
    words: list[str], repo: GitRepo, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.chdir(repo.path):
        assert main.run(words) == 2
        told = capsys.readouterr()
        assert main.run([*words, "--json"]) == 2
    assert told.out == ""
    assert told.err.startswith("flow: ")
    assert told.err.count("\n") == 1
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert {"code", "message", "file", "key", "value", "remedy"} <= set(error)
    assert error["remedy"]
    assert shown.err == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["goal", "evalute"], "flow goal evaluate"),
        (["evaluate"], "flow goal evaluate"),
        (["evalute"], "flow goal evaluate"),
        (["show"], "flow evidence show or flow verdict show or flow journal show"),
        (["goal", "docter"], "flow doctor"),
        (["goal", "init"], "flow init"),
        (["gaol"], "flow goal"),
        (["stauts"], "flow goal status"),
        (["--josn"], "--json"),
        (["--verison"], "--version"),
        (["goal", "--halp"], "--help"),
    ],
)
def test_what_was_meant_is_named_across_groups(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(words) == 2
    assert f"; did you mean {meant}?" in capsys.readouterr().err


MEANT = (
    (["goal", "evaluate", "--ouput", "all"], "--output"),
    (["goal", "list", "--status", "actve"], "active"),
    (["goal", "evaluate", "--onyl=AC1"], "--only"),
    (["evidence", "export", "--ouput", "f"], "--output"),
    (["goal", "evaluate", "--trigger", "manul"], "manual"),
    (["evidence", "export", "--format", "dsee"], "dsse"),
    (["init", "--host", "cloud"], "claude"),
    (["schema", "goall"], "goal"),
    (["goal", "status", "geet"], "greet"),
    (["trust", "check", "greeet"], "greet"),
    (["evidence", "list", "gret"], "greet"),
    (["evidence", "verify", "gret"], "greet"),
    (["evidence", "head", "gret"], "greet"),
    (["goal", "evaluate", "--only", "ac1"], "AC1"),
    (["goal", "evaluate", "--only", "A1"], "AC1"),
    (["goal", "approve", "A2", "--note", "n"], "AC2"),
    (["goal", "approve", "protekted", "--note", "n"], "protected"),
    (["evidence", "import", "report.xml", "--proves", "C1"], "AC1"),
    (["evidence", "show", "evidence-ac1-evol-1"], "evidence-ac1-eval-1"),
    (["judge", "run", "--rubric", "documentaion", "--subject", "src/greet.txt"],
     "documentation"),
    (["judge", "run", "--rubric", "Securty", "--subject", "src/greet.txt"], "security"),
    (["judge", "scorecard", "--rubric", "reserch", "--file", "src/greet.txt"], "research"),
    (["config", "get", "stopHokEnforcement"], "flow.goals.stopHookEnforcement"),
    (["config", "set", "Jobs", "2"], "flow.goals.jobs"),
)  # fmt: skip


@pytest.fixture
def evaluated(repo: GitRepo) -> GitRepo:
    """A goal with evidence; no call that is refused changes anything in it."""
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.step(repo, "goal", "evaluate", "--no-judge")
    return repo


def test_what_was_meant_is_named_for_every_kind_of_name(evaluated: GitRepo) -> None:
    evaluated.write("report.xml", '<testsuite tests="1"><testcase name="a"/></testsuite>')
    for words, meant in MEANT:
        done = scene.flow(evaluated, *words)
        assert done.status == 2, words
        assert done.stderr.count("\n") == 1
        assert f"; did you mean {meant}?" in done.stderr
        error = scene.flow(evaluated, *words, "--json").json["error"]
        assert f"; did you mean {meant}?" in error["message"]


def test_what_is_like_nothing_or_has_another_number_is_only_refused(evaluated: GitRepo) -> None:
    for words in (
        ["goal", "evaluate", "--only", "AC3"],
        ["evidence", "show", "evidence-ac1-eval-9"],
        ["goal", "status", "zzz"],
        ["goal", "evaluate", "--zzzzzz"],
        ["schema", "zzz"],
        ["goal", "status", "x" * 64],
    ):
        done = scene.flow(evaluated, *words)
        assert done.status == 2, words
        assert "did you mean" not in done.stderr


def test_a_word_like_no_command_is_only_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["xyzzy"]) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "goal", "list"],
        ["goal", "--json", "list"],
        ["goal", "list", "--json"],
        ["goal", "list", "--json", "--json"],
    ],
)
def test_json_at_any_place(words: list[str], repo: GitRepo) -> None:
    done = scene.flow(repo, *words)
    assert done.status == 0
    assert (done.json["goals"], done.json["unreadable"]) == ([], [])


def test_options_may_stand_around_the_other_words(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    words = ["--by", "Reader", "AC2", "--json", "--note", "read it", "--yes"]
    done = scene.flow(repo, "goal", "approve", "greet", *words)
    assert done.status == 0, done
    listed = scene.flow(repo, "evidence", "list", "--json", "greet")
    assert [row["type"] for row in listed.json["evidence"]] == ["human_approval"]


def test_words_after_two_hyphens_are_no_options(repo: GitRepo) -> None:
    done = scene.flow(repo, "goal", "status", "--", "--json")
    assert done.status == 2
    assert "'--json' is not a goal id" in done.stderr


@pytest.mark.parametrize("folder", [".", "src", "src/deep"])
def test_from_any_folder(folder: str, repo: GitRepo) -> None:
    scene.start(repo).write("src/deep/x")
    scene.create(repo)
    done = scene.flow(repo, "goal", "status", "--json", cwd=repo.path / folder)
    assert (done.status, done.json["goal_id"]) == (0, "greet")


def test_from_a_linked_worktree(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    repo.commit("the goal")
    repo.git("worktree", "add", "-q", "-b", "other", "../linked")
    linked = repo.path.parent / "linked"
    done = scene.flow(repo, "goal", "status", "greet", "--json", cwd=linked)
    assert done.status == 0
    assert done.json["trusted"] is True  # the same repository
    wrong = scene.flow(repo, "goal", "evaluate", "greet", "--json", cwd=linked)
    assert (wrong.status, wrong.json["error"]["code"]) == (2, "wrong_branch")


def test_outside_a_repository(tmp_path: object, repo: GitRepo) -> None:
    outside = repo.path.parent / "outside"
    outside.mkdir()
    done = scene.flow(repo, "goal", "list", "--json", cwd=outside)
    assert (done.status, done.json["error"]["code"]) == (2, "no_repository")
    assert "git init" in done.json["error"]["remedy"]


def test_as_a_module(repo: GitRepo) -> None:
    done = run([sys.executable, "-m", "flow", "--version"], cwd=repo.path, env={"PYTHONPATH": ROOT})
    assert (done.status, done.stdout[:5]) == (0, "flow ")


def test_only_the_parser_that_is_needed_is_loaded(repo: GitRepo) -> None:
    scene.start(repo)
    code = (
        "import sys; before = set(sys.modules)  # a *.pth file of the environment may load some\n"
        "from flow.cli.main import run; code = run(['goal', 'list'])\n"
        "slow = {'rich', 'dataclasses', 'pathlib', 'subprocess', 'transitions', 'filelock', 'git',"
        " 'jsonschema', 'flow.cli.goal.evaluate', 'flow.cli.goal.move', 'flow.cli.trust'}\n"
        "sys.exit(code or ' '.join(slow & (set(sys.modules) - before)) or 0)"
    )
    done = run([sys.executable, "-c", code], cwd=repo.path, env={"PYTHONPATH": ROOT})
    assert done.status == 0, done.stderr
