"""``.flow-example/recorded``: what the script makes, whole, and no goal of this repository's."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from difflib import unified_diff
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from flow.adapters.contracts import formats, schemas
from flow.adapters.journal import store as journal_store
from flow.adapters.process.child import fork_to
from flow.adapters.process.tool import ToolResult
from flow.adapters.rubrics import rubric_files
from flow.cli import stage
from tests.support import ROOT, run, run_flow
from tests.test_house import tracked
from tools import make_example

pytestmark = pytest.mark.needs_tool("git", "bash")
EXAMPLE = Path(ROOT, ".flow-example")
RECORDED = EXAMPLE / "recorded"
FILES = {
    path.relative_to(RECORDED).as_posix(): path.read_bytes()
    for path in sorted(RECORDED.rglob("*"))
    if path.is_file()
}
GOALS = {
    "count-lines": "achieved",
    "hyphens": "blocked",
    "unique-words": "waiting_for_user",
    "usage-page": "achieved",
}
AGAIN = "run: python tools/make_example.py"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout of its own, with the record under the names that Flow gives its files."""
    top = tmp_path / "copy"
    for name, content in FILES.items():
        path = top / f".{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    subprocess.run(["git", "init", "-q", "-b", "main", top], check=True, timeout=60)
    return top


class InForks(make_example.Recorder):
    """Commands after the first are forks of this process: to start them takes half of the time."""

    def _start_flow(self, arguments: tuple[str, ...], *, merged: bool = False) -> ToolResult:
        if not self.steps:
            return super()._start_flow(arguments, merged=merged)
        now, answer = self._later(), Path(self.folder, "answer")

        def command() -> int:
            os.environ.clear()
            make_example.hold_still(now)
            ran = run_flow(*arguments, cwd=self.project, env=self.env)
            answer.write_text(ran.stdout + ran.stderr * merged)
            return ran.status

        status = os.waitstatus_to_exitcode(os.waitpid(fork_to(command), 0)[1])
        return ToolResult(status, answer.read_bytes(), b"")


@pytest.mark.slow
def test_what_is_tracked_is_what_the_script_makes(tmp_path: Path) -> None:
    """The story of the four goals is played to its end in a folder of another name."""
    (folder := tmp_path / "another place").mkdir()
    made = make_example.make(str(folder), kind=InForks)
    assert sorted(made) == sorted(FILES), AGAIN
    different = [name for name in made if made[name] != FILES[name]]
    assert different == [], f"{AGAIN}\n{_difference(different[0], made)}"


def test_the_whole_life_is_there() -> None:
    statuses = {}
    for name, content in FILES.items():
        if name.startswith("flow/goals/"):
            goal = formats.parse_yaml(content, file=name)
            statuses[goal["metadata"]["id"]] = goal["lifecycle"]["status"]
    assert statuses == GOALS
    events = {goal: [row["type"] for row in _rows(goal, "events.jsonl")] for goal in GOALS}
    assert all(types[0] == "created" for types in events.values())
    assert events["count-lines"][-1] == events["usage-page"][-1] == "confirmed"
    for goal in GOALS:
        entries = _rows(goal, "ledger.jsonl")
        sidecars = [name for name in FILES if goal in name and name.endswith(".evidence.yaml")]
        assert len(entries) == len(sidecars) > 1
        assert any(f"goal_id: {goal}" in FILES[name].decode() for name in _named("decisions/"))
    judged = [
        formats.parse_yaml(FILES[name], file=name)["evidence"]
        for name in _named("flow/runs/")
        if name.endswith(".evidence.yaml") and "usage-page/evidence/evidence-judge" in name
    ]
    passed = [report["judgement"]["rubrics"][0]["passed"] for report in judged]
    assert (passed, [report["proves"] for report in judged]) == ([False, True], [[], ["AC2"]])


def test_the_hybrid_goal_has_a_command_and_a_rubric() -> None:
    text = (EXAMPLE / "goals" / "usage-page.goal.yaml").read_bytes()
    goal = formats.parse_yaml(text, file="usage-page.goal.yaml")
    command, fuzzy = goal["objective"]["acceptance_criteria"]
    assert goal["evaluator"]["type"] == "hybrid"
    assert "verification_command" in command
    assert "verification_command" not in fuzzy
    assert (EXAMPLE / "rubrics" / f"{fuzzy['rubric']}.yaml").is_file()


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_valid(name: str, tmp_path: Path) -> None:
    content = FILES[name]
    last = name.rpartition("/")[2]
    if last.endswith(".goal.yaml"):
        assert formats.read_goal(content, file=name)[1] == ()
    elif last.endswith(".evidence.yaml"):
        assert formats.read_evidence(content, file=name)[1] == ()
        sidecar = formats.parse_yaml(content, file=name)["evidence"]
        if "output_ref" in sidecar:
            assert f"{name.rpartition('/')[0]}/{sidecar['output_ref']}" in FILES
    elif last == "last-verdict.json":
        _valid("verdict", json.loads(content))
    elif last == "baseline.json":
        _valid("run", json.loads(content), "baseline")
    elif last in ("events.jsonl", "ledger.jsonl"):
        kind = "event" if last == "events.jsonl" else "entry"
        for line in content.splitlines():
            _valid("run", json.loads(line), kind)
    elif name.startswith("flow/rubrics/"):
        assert rubric_files.read(content, name).warnings == ()
        assert content == (EXAMPLE / "rubrics" / last).read_bytes()
    elif name.startswith("decisions/"):
        assert journal_store.parse(content, name).artifacts
    else:  # what a command printed: its digest is in its sidecar
        assert re.fullmatch(r"flow/runs/[^/]+/evidence/evidence-[a-z0-9-]+\.txt", name)


def test_every_chain_holds_and_a_changed_byte_is_named(copy: Path) -> None:
    ran = run_flow("evidence", "verify", cwd=copy)
    assert ran.status == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("intact  ") == len(GOALS)
    (output,) = copy.glob(".flow/runs/*unique-words/evidence/evidence-ac2-eval-1.txt")
    output.write_bytes(output.read_bytes().replace(b"FAILED", b"PASSED"))
    ran = run_flow("evidence", "verify", cwd=copy)
    assert ran.status != 0
    assert "evidence-ac2-eval-1" in ran.stdout


@pytest.mark.parametrize(("goal", "status"), GOALS.items())
def test_flow_reads_each_goal(copy: Path, goal: str, status: str) -> None:
    ran = run_flow("goal", "status", goal, "--json", cwd=copy)
    assert (ran.status, ran.json["status"]) == (0, status), ran.stderr
    for command, words in (
        ("goal inspect", "evidence-ac1-eval-1"),
        ("goal history", "±  flow-demo created it; base "),
        ("verdict show", f" {goal}  "),
        ("report", goal),
    ):
        ran = run_flow(*command.split(), goal, cwd=copy)
        assert ran.status == 0, ran.stdout + ran.stderr
        assert words in ran.stdout


def test_what_the_readme_says_to_look_around(tmp_path: Path, home: Path) -> None:
    text = (EXAMPLE / "README.md").read_text("utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    script = block.replace("/path/to/look", shlex.quote(str(tmp_path / "look")))
    env = {**os.environ, "PATH": f"{ROOT}/bin:{os.environ['PATH']}", "FLOW_PYTHON": sys.executable}
    ran = run(["bash", "-euc", script], cwd=ROOT, env=env)
    assert ran.status == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("intact  ") == len(GOALS)
    assert (tmp_path / "look" / "usage-page.html").is_file()


def test_the_readme_has_a_line_for_each_file() -> None:
    text = (EXAMPLE / "README.md").read_text("utf-8")
    run = ""
    patterns = []
    for line in text[text.index("### The files") :].splitlines():
        if line.startswith("`flow/runs/"):
            run = line.split("`")[1]
        elif line.startswith("| `"):
            patterns.append(line.split("`")[1].replace("RUN", run, 1))
            assert line.count("|") == 4, line
            assert all(cell.strip() for cell in line.split("|")[1:-1]), line
    rows = {name: [p for p in patterns if fnmatchcase(name, p)] for name in FILES}
    assert {name: found for name, found in rows.items() if len(found) != 1} == {}
    assert {p for p in patterns if not any(fnmatchcase(name, p) for name in FILES)} == set()


def test_flow_in_this_repository_does_not_see_it(home: Path) -> None:
    for folder in (Path(ROOT), EXAMPLE, RECORDED, RECORDED / "flow", RECORDED / "flow" / "goals"):
        ran = run_flow("goal", "list", "--json", cwd=folder)
        assert ran.status == 0, ran.stderr
        assert not {row["goal_id"] for row in ran.json["goals"]} & GOALS.keys()
        ran = run_flow("goal", "status", "usage-page", "--json", cwd=folder)
        assert ran.status == 2
        assert ran.json["error"]["code"] == "not_found"


def test_no_name_in_it_is_one_that_flow_or_a_host_looks_for() -> None:
    parts = {part for name in _example() for part in name.split("/")[1:]}
    assert {part for part in parts if part.startswith(".")} == {".gitignore"}


def test_git_tracks_every_byte_of_it() -> None:
    there = {f".flow-example/recorded/{name}" for name in FILES}
    assert there <= set(_example()), "ignored by git"
    argv = ["git", "check-attr", "--stdin", "text"]
    names = "\n".join(_example())
    found = subprocess.run(argv, cwd=ROOT, input=names, capture_output=True, text=True, timeout=60)
    assert {line.rpartition(": ")[2] for line in found.stdout.splitlines()} == {"unset"}


PLACE = re.compile(r"(?<![\w.*~>:/-])/(?:bin|etc|home|opt|private|root|tmp|usr|var|Users|work)\b")


def test_it_names_no_place_and_nobody() -> None:
    for name, content in FILES.items():
        text = content.decode("utf-8")
        assert not PLACE.search(text), name
        assert "@" not in text, name
        for key in ("by", "confirmed_by", "agent"):
            said = set(re.findall(rf'\b{key}"?: ?"?([\w-]+)', text))
            assert said <= {"flow-demo", "evaluator", "command", "judge"}, name
    assert PLACE.search('File "/tmp/x.py"')


def test_it_is_small() -> None:
    assert 0 < sum(map(len, FILES.values())) < 128 * 1024


def test_the_demo_plays_with_these_files(tmp_path: Path) -> None:
    there = stage.Stage(str(tmp_path / "demo"), tell=lambda _: None)
    assert stage.example_folder() == str(EXAMPLE)
    there.set_up()
    project = Path(there.project)
    for name in GOALS:
        goal = f"goals/{name}.goal.yaml"
        assert (project / goal).read_bytes() == (EXAMPLE / goal).read_bytes()
    assert not list(project.glob(".flow/[!r]*")), "it starts with no goal and no run"
    assert not (project / "recorded").exists()


def _example() -> list[str]:
    return [name for name in tracked() if name.startswith(".flow-example/")]


def _named(start: str) -> list[str]:
    return [name for name in FILES if name.startswith(start)]


def _difference(name: str, made: dict[str, bytes]) -> str:
    before, after = FILES[name].decode().splitlines(), made[name].decode().splitlines()
    return "\n".join(unified_diff(before, after, name, "now", lineterm="", n=1))


def _rows(goal: str, file: str) -> list[dict[str, Any]]:
    (name,) = [name for name in FILES if name.endswith(f"-{goal}/{file}")]
    return [json.loads(line) for line in FILES[name].splitlines()]


def _valid(schema: str, document: Any, part: str | None = None) -> None:
    whole = schemas.load(schema)
    rule = whole if part is None else {"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]}
    assert [fault.message for fault in Draft202012Validator(rule).iter_errors(document)] == []
