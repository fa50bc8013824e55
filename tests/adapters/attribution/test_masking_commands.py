"""Real-world commands: no false alarm among the honest ones, none of the others escapes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import (
    all_reports,
    answered_no,
    read_command,
    reported_failure,
    skipped_tests,
    vacuous,
)
from flow.core.masked_exit.rules import exits
from flow.core.masked_exit.runner_names import runner_of
from tests.adapters.attribution.masking_commands import HONEST, MASKED
from tests.adapters.attribution.runner_spellings import (
    ALL_AGAIN,
    GUARDED,
    NAMED,
    ONLY_FAILED,
    OTHERS,
    PYTEST,
    RUN_NO_TEST,
    RUN_TESTS,
    STARTED,
)


def why(text: str) -> str:
    node = parse_shell(text.replace("@", "\n"))
    assert node is not None, f"not understood: {text}"
    return exits(node, parse_shell).masked_exit


def test_an_honest_command_is_left_alone() -> None:
    assert [text for text in HONEST if why(text)] == []


def test_a_masked_one_is_told_and_names_what_is_lost() -> None:
    assert [text for text in MASKED if "`" not in why(text)] == []


def test_the_way_out_is_named() -> None:
    for text in ("pytest; ls", "grep -q a x; ls", "for f in *.sh; do bash -n $f; done"):
        assert "`|| exit 1` behind the check" in why(text)
    for text, option in (("curl -s http://a/b", "--fail"), ("git diff -- src", "--exit-code")):
        assert f"(with `{option}` it would show)" in why(text)
    assert "with `" not in why("./check || curl -s http://a/b")


def test_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(HONEST) == len(set(HONEST)) >= 100
    alarms = sum(bool(why(text)) for text in HONEST)
    told = sum(bool(why(text)) for text in MASKED)
    with capsys.disabled():
        print(f"\nmasked: {alarms} false alarms in {len(HONEST)} honest commands,", end=" ")
        print(f"{told} of {len(MASKED)} masked ones told")
    assert (alarms, told) == (0, len(MASKED))


MAKE_RUNS_NO_TEST = """
make -t test
make -kt test
make -tk test
make -Bst test
make -I. -t test
make -j 4 -t test
make test -t
make --touch test
make --tou test
make --to test
make --dry test
make --just test
make --ignore test
make -o test test
make --assume-old=test test
make --old test test
make MAKEFLAGS=-t test
make MAKEFLAGS=t test
make MAKEFLAGS=kt test
make 'MAKEFLAGS=k -t' test
make 'MAKEFLAGS=--tou' test
make 'MAKEFLAGS+= -t' test
make MAKEFLAGS:=-t test
make MAKEFLAGS::=-t test
make MAKEFLAGS?=-t test
make GNUMAKEFLAGS=-t test
MAKEFLAGS=t make test
MAKEFLAGS=-kt make test
GNUMAKEFLAGS=t make test
GNUMAKEFLAGS=--touch make test
env MAKEFLAGS=-t make test
env GNUMAKEFLAGS=-t make test
export MAKEFLAGS=-t; make test
export GNUMAKEFLAGS=-t; make test
MAKEFLAGS=-j4 GNUMAKEFLAGS=-t make test
bash -c 'make --tou test'
make SHELL=/bin/true test
make SHELL:=/bin/true test
make .SHELLFLAGS=-nc test
make --eval=.IGNORE: test
make -E .IGNORE: test
""".strip().splitlines()
"""Each ends with 0 where the recipe is ``false`` (recorded, GNU make 4.3)."""
MAKE_RUNS_IT = """
make -k test
make -kj4 test
make --keep-going test
make --no-print-directory test
make --output-sync=target test
make -Otarget test
make -C lib test
make --directory=lib test
make -j -l 2 test
make MAKEFLAGS=-k test
make MAKEFLAGS=s test
make 'MAKEFLAGS+= -j2' test
MAKEFLAGS=-j4 make test
GNUMAKEFLAGS=--no-print-directory make test
export MAKEFLAGS="-j$(nproc)"; make test
make SHELL=/bin/bash test
make SHELL:=/usr/bin/bash test
make '.SHELLFLAGS=-euo pipefail -c' test
make TOUCH=yes test
make target=-t test
""".strip().splitlines()


def test_make_that_runs_no_recipe_is_masked() -> None:
    assert [text for text in MAKE_RUNS_NO_TEST if "make" not in why(text)] == []


def test_make_that_runs_the_recipe_is_not() -> None:
    assert [text for text in MAKE_RUNS_IT if why(text)] == []


@pytest.mark.needs_tool("make")
@pytest.mark.parametrize("text", [*MAKE_RUNS_NO_TEST, *MAKE_RUNS_IT])
def test_make_itself_agrees(tmp_path: Path, text: str) -> None:
    for folder in (tmp_path, tmp_path / "lib"):
        folder.mkdir(exist_ok=True)
        (folder / "Makefile").write_text("test:\n\t@false\n")
    environ = {name: value for name, value in os.environ.items() if "MAKEFLAGS" not in name}
    ran = subprocess.run(["bash", "-c", text], cwd=tmp_path, env=environ, capture_output=True)
    assert (ran.returncode == 0) == (text in MAKE_RUNS_NO_TEST), ran


OTHER_SPELLINGS = [
    (form, text) for form, more in OTHERS.items() for text in more.strip().splitlines()
]


@pytest.mark.parametrize("text", [*PYTEST, *(text for _, text in OTHER_SPELLINGS)])
def test_a_runner_is_known_in_every_spelling(text: str) -> None:
    assert read_command(text, parse_shell).masked_exit == ""
    told = read_command(f"{text}; ls", parse_shell).masked_exit
    assert "does not reach it" in told


@pytest.mark.parametrize(
    ("form", "text"), [*(("pytest", text) for text in PYTEST), *OTHER_SPELLINGS]
)
def test_its_report_is_asked_for_in_every_spelling(form: str, text: str) -> None:
    assert read_command(text, parse_shell).runners == ((form,) if form else ())


@pytest.mark.parametrize("text", NAMED)
def test_a_runner_that_is_only_named_is_no_runner(text: str) -> None:
    reading = read_command(text, parse_shell)
    assert (reading.masked_exit, reading.runners, reading.guarded_runner) == ("", (), "")


PASSED = ["2 examples, 0 failures", "", "  2 passing (1ms)", "2 tests, 2 passed, 0 failed"]
"""What some of them print all the same."""


@pytest.mark.parametrize("text", RUN_NO_TEST)
def test_a_runner_that_is_told_to_run_no_test_is_vacuous(text: str) -> None:
    shown = vacuous(read_command(text, parse_shell), PASSED, whole=True)
    assert shown is not None
    assert "checks nothing" in shown.reason


def test_other_options_are_no_alarm() -> None:
    assert [text for text in RUN_TESTS if read_command(text, parse_shell).idle_option != ""] == []


def test_a_runner_that_only_repeats_what_failed_before_is_masked() -> None:
    readings = {text: read_command(text, parse_shell).masked_exit for text in ONLY_FAILED}
    assert [text for text, why in readings.items() if not why] == []
    assert "leaves out the tests that passed before" in readings["pytest --lf"]


def test_a_second_try_and_other_orders_are_not() -> None:
    told = {text: read_command(text, parse_shell).masked_exit for text in ALL_AGAIN}
    assert {text for text, why in told.items() if "passed before" in why} == set()


ANSWERS = """
python -c 'from src.calc import add; print(add(2, 2) == 4)'
python3 -Bc 'print(1 == 2)'
poetry run python -c 'print(1 == 2)'
node -p 'require("./a").x === 3'
node -e 'console.log(1 === 2)'
jq '.status == "ok"' r.json
cat r.json | jq .ok
yq .enabled c.yaml
Rscript -e '1 == 2'
python3.11 -Bc 'print(1 == 2)'
bun --print '1 === 2'
php -d x=1 -r 'var_dump(1 == 2);'
""".strip().splitlines()
DECIDED = """
python -c 'import sys; print(1 == 2); sys.exit(f())'
python -c 'print(False); assert works()'
python -c "$CODE"
python check.py
python -E check.py
jq -e '.a, .b' r.json
v=$(jq .debug c.json); echo "$v"; test "$v" = false
jq .debug c.json | grep false
test "$(jq .debug c.json)" = false && echo false
pytest
./app --is-debug
./app -c 'is it'
python -m app -c 'is it'
node app.js -e 'is it'
""".strip().splitlines()


@pytest.mark.parametrize(
    "printed", ["False", "false", "loading\nfalse\n", "[1] FALSE", "bool(false)"]
)
def test_an_answer_that_is_only_printed_is_no_pass(printed: str) -> None:
    lines = printed.split("\n")
    told = {text: answered_no(read_command(text, parse_shell), lines) for text in ANSWERS}
    assert [text for text, why in told.items() if why is None] == []
    assert all(why is not None and why.kind == "masked" for why in told.values())


@pytest.mark.parametrize("text", ["node -e 'console.assert(1 === 2)'", "node check.js", "tsx a.ts"])
@pytest.mark.parametrize("printed", ["Assertion failed", "1\nAssertion failed: add adds\nok"])
def test_nor_is_an_assertion_that_only_prints(text: str, printed: str) -> None:
    told = answered_no(read_command(text, parse_shell), printed.split("\n"))
    assert told is not None
    assert "Assertion failed" in told.reason


def test_nor_is_one_that_python_calls_always_true() -> None:
    line = "<string>:1: SyntaxWarning: assertion is always true, perhaps remove parentheses?"
    told = answered_no(read_command("python -c 'assert (1 == 2, 3)'", parse_shell), [line])
    assert told is not None
    for text in ("pytest -q", "make test", "node --test"):
        assert answered_no(read_command(text, parse_shell), [line, "Assertion failed"]) is None


@pytest.mark.parametrize("printed", ["False", "false"])
def test_where_a_status_decides_a_printed_no_is_no_alarm(printed: str) -> None:
    assert [t for t in DECIDED if answered_no(read_command(t, parse_shell), [printed])] == []
    yes = ("True", "true", "4", "it is false", "")
    readings = [read_command(text, parse_shell) for text in ANSWERS]
    assert [r for r in readings for y in yes if answered_no(r, [y]) is not None] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("python -O check.py", "told"),
        ("env PYTHONOPTIMIZE=2 pytest", "told"),
        ("python -OBm unittest", "told"),
        ("python -W ignore::O check.py -O", ""),
        ("python -m pytest -O", ""),
        ('PYTHONOPTIMIZE="" pytest', ""),
        ("poetry run python -OBc 'assert f(2) == 4'", "masked"),
        ("python -O -c 'import sys; assert x; sys.exit(f())'", "told"),
        ("python -O -m pytest --assert=plain", "masked"),
        ("python -m pytest --assert=plain", ""),
    ],
)
def test_python_without_asserts(text: str, kind: str) -> None:
    reading = read_command(text, parse_shell)
    assert (reading.without_asserts, bool(reading.masked_exit)) == (kind != "", kind == "masked")


NOISE = "a few words to read over\n" * 4000


@pytest.mark.parametrize("text", [f"x=( # {NOISE}; pytest || true", f": '{NOISE}'; pytest || true"])
def test_a_runner_in_a_long_text_that_is_not_understood_is_masked(text: str) -> None:
    """A text may be too long to be parsed (HAZARD I344)."""
    assert parse_shell(text) is None
    assert "is not understood" in read_command(text, parse_shell).masked_exit


def test_a_runner_in_long_code_is_heard() -> None:
    code = "a = 1\n" * 1000 + 'import os; os.system("pytest")'
    assert "pytest" in read_command(f"python -c '{code}'", parse_shell).masked_exit


@pytest.mark.parametrize(
    "line",
    [
        "make: [Makefile:3: lint] Error 1 (ignored)",
        "  ign: IGNORED FAIL code 1 (0.98=setup[0.97]+cmd[0.01] seconds)",
        "  py27: SKIP (0.02 seconds)",
        "nox > Session tests-2.7 skipped: Python interpreter 2.7 not found.",
    ],
)
def test_what_a_builder_ignores_is_told(line: str) -> None:
    """HAZARD I351."""
    reading = read_command("tox", parse_shell)
    told = skipped_tests(reading, ["ok", line], [], whole=True)
    assert told == f"Not everything counted: {line.strip()}.".replace("..", ".")
    assert skipped_tests(reading, ["py312: OK (1.02 seconds)"], [], whole=True) == ""


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("npx jest -u", "-u"),
        ("jest --ci", ""),
        ("pytest --snapshot-update", "--snapshot-update"),
        ("cargo insta test --accept", "--accept"),
        ("python -u -m pytest", ""),
        ("npx playwright test --update-snapshots", "--update-snapshots"),
    ],
)
def test_a_runner_that_accepts_what_differs_is_told(text: str, option: str) -> None:
    """HAZARD I354."""
    told = skipped_tests(read_command(text, parse_shell), ["1 passed"], [], whole=True)
    assert told == (option and f"Not everything counted: {option} accepts results that differ.")


TWICE = ["=== 1 failed in 0.01s ===", "=== 1 passed in 0.01s ==="]
"""What a wrapper prints that runs its command twice, and ends as the second time did."""


@pytest.mark.parametrize(
    "text",
    [
        "scripts/twice.sh pytest",
        "bash twice.sh pytest",
        "$TWICE pytest",
        "python -m twice -m pytest",
    ],
)
def test_of_a_wrapper_every_report_counts(text: str) -> None:
    reading = read_command(text, parse_shell)
    failure = reported_failure(reading, all_reports(reading, TWICE, []))
    assert failure is not None
    assert failure.kind == "masked"
    for words in ("timeout 60 pytest", "uv run --with x pytest"):
        own = read_command(words, parse_shell)
        assert reported_failure(own, all_reports(own, TWICE, [])) is None


@pytest.mark.parametrize("text", GUARDED)
def test_where_nothing_need_start_something_has_to_be_shown(text: str) -> None:
    reading = read_command(text, parse_shell)
    shown = vacuous(reading, [], whole=True)
    assert (reading.masked_exit, shown and shown.kind) == ("", "vacuous")
    assert vacuous(reading, ["2 examples, 0 failures"], whole=True) is None


@pytest.mark.parametrize("text", STARTED)
def test_where_one_of_them_starts_nothing_has_to_be(text: str) -> None:
    reading = read_command(text, parse_shell)
    assert (reading.masked_exit, vacuous(reading, [], whole=True)) == ("", None)


@pytest.mark.parametrize("word", ["xargs", "npx", "uv run", "python -m", "docker run", "other"])
def test_programs_that_start_each_other_cost_no_product(word: str) -> None:
    assert runner_of((*f"{word} ".split() * 300, "pytest")) in ("pytest", "")
