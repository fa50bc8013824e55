"""What stands below a verdict: why each criterion did not pass, and the line that helps."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from flow.adapters.attribution.failures import RecordedOutputs
from flow.adapters.ledger.reader import FileRecords
from flow.app.verdict_details import OutputEnd
from flow.core.evidence.model import Evidence
from tests.support import GitRepo, scene
from tests.support.scene import flow, step


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.start(repo)


def goal(work: GitRepo, *criteria: str, name: str = "greet") -> None:
    words = [word for text in criteria for word in ("--criterion", text)]
    done = step(work, "goal", "create", name, "--outcome", "x", "--allow", "src/**", *words)
    assert done.status == 0, done.stderr


def evaluate(work: GitRepo, *more: str) -> list[str]:
    return flow(work, "goal", "evaluate", "--no-input", *more).stdout.splitlines()


def evaluated(work: GitRepo) -> None:
    """The same, where it only leads to what a test looks at."""
    step(work, "goal", "evaluate", "--no-input")


def block(lines: list[str], name: str) -> list[str]:
    """The lines below a criterion's rule."""
    start = next(at for at, line in enumerate(lines) if line.startswith(f"── {name}  "))
    below = lines[start + 1 :]
    end = next(at for at, line in enumerate(below) if not line or line.startswith("── "))
    return below[:end]


def test_the_last_lines_of_each_required_criterion_that_did_not_pass(work: GitRepo) -> None:
    goal(work, "AC1: counts :: seq 40; exit 3", "AC2: fine :: echo fine", "AC3: quiet :: exit 4")
    lines = evaluate(work)
    assert block(lines, "AC1") == [str(number) for number in range(26, 41)]
    assert next(line for line in lines if "── AC1" in line).endswith(" last 15 of 40")
    assert block(lines, "AC3") == ["it printed nothing"]
    assert "fine" not in lines
    assert lines[-1] == "more   flow evidence show AC1 --goal greet"


def test_output_is_plain_and_hostile_text_is_visible(work: GitRepo) -> None:
    script = r"printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\n\033]0;owned\007t\302\205x\n'; exit 1"
    goal(work, f"AC1: says :: {script}")
    assert block(evaluate(work), "AC1") == ["red", "100%", r"\x1b]0;owned\x07t\x85x"]


def test_secrets_stay_redacted_as_they_are_stored(work: GitRepo) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"  # no secret: it only looks like one
    goal(work, f'AC1: says :: echo {token[:9]}"{token[9:]}"; exit 1')
    shown = "\n".join(block(evaluate(work), "AC1"))
    assert "masked" in shown
    assert token not in shown


def test_output_is_chosen(work: GitRepo) -> None:
    goal(work, "AC1: a :: echo one; exit 1", "AC2: b :: echo two", "AC3: c :: echo three")
    shown = {"failed": {"one"}, "all": {"one", "two", "three"}, "none": set()}
    for option, texts in shown.items():
        assert {"one", "two", "three"} & set(evaluate(work, "--output", option)) == texts, option


def test_a_program_gets_no_output(work: GitRepo) -> None:
    goal(work, "AC1: a :: echo one-line; exit 1")
    assert "one-line\\n" not in json.dumps(flow(work, "goal", "evaluate", "--json").json)


def test_a_criterion_that_was_proved_before_says_so(work: GitRepo) -> None:
    goal(work, "AC1: a :: test ! -e src/broken")
    evaluated(work)
    work.write("src/broken", "")
    assert re.match(r"^✗ AC1  a  exit 1, proved before +\S+ s$", evaluate(work)[2])
    shown = flow(work, "verdict", "show").stdout
    assert "exit 1, proved before" in shown  # the record knows it, too


def test_reused_evidence_shows_its_stored_output(work: GitRepo) -> None:
    goal(work, "AC1: a :: echo stored; exit 1")
    evaluated(work)
    lines = evaluate(work, "--reuse")
    assert ", reused" in lines[2]
    assert block(lines, "AC1") == ["stored"]


def test_a_masked_command_comes_with_the_line_that_would_let_it_fail(work: GitRepo) -> None:
    ends = ("|| true", "|| :", "; true", "|| echo failed", "; exit 0", " || exit 0")
    names = [f"AC{number}" for number, _ in enumerate(ends, 1)]
    bare = "it's fine :: grep -q please src/greet.txt"
    goal(work, *(f"{name}: {bare} {end}" for name, end in zip(names, ends, strict=True)))
    lines = evaluate(work)
    edits = []
    for name in names:
        said = block(lines, name)
        assert said[0].endswith("This would let it show:")
        words = shlex.split(said[1])
        assert words[:4] == ["flow", "goal", "amend", "greet"]
        assert words[5] == f"{name}: {bare}"
        edits += words[4:]
    amended = flow(work, "goal", "amend", "greet", *edits, "--yes")
    assert amended.status == 0, amended.stderr
    rows = [line for line in evaluate(work) if re.match(r"^✗ AC\d  it's fine  exit 1", line)]
    assert len(rows) == len(ends)


def test_no_form_is_offered_that_is_not_known_to_work(work: GitRepo) -> None:
    goal(work, "AC1: a :: grep -q x src/greet.txt; ls", "AC2: a :: (grep -q x a || true)")
    lines = evaluate(work)
    assert block(lines, "AC2")
    assert not any("This would let it show" in line for line in lines)


def test_the_line_to_type_names_the_goal_off_a_terminal(work: GitRepo) -> None:
    goal(work, "AC1: a :: exit 1")
    assert "next   work on AC1, then: flow goal evaluate greet" in evaluate(work)


def test_files_outside_come_with_lines_that_do_it(work: GitRepo) -> None:
    goal(work, "AC1: a :: true")
    work.write("odd name.txt", "x")
    lines = evaluate(work)
    assert "  ⊘ odd name.txt  new  remove:   rm 'odd name.txt'" in lines
    assert "or     flow goal amend greet --allow 'odd name.txt'" in lines


# --- evidence show ------------------------------------------------------------------------------


def test_the_line_for_more_works_beside_another_goal(work: GitRepo) -> None:
    goal(work, "AC1: a :: exit 1")
    goal(work, "AC1: b :: exit 1", name="other")
    label, *more = shlex.split(evaluate(work, "other")[-1])
    assert label == "more"
    shown = flow(work, *more[1:])
    assert (shown.status, shown.stdout.splitlines()[0][:21]) == (0, "✗ AC1  failed, exit 1")
    small = flow(work, "evidence", "show", "ac1", "--goal", "other").stderr
    line = re.search(r"capital ones: flow (.*)\)", small)
    assert line is not None
    assert flow(work, *shlex.split(line[1])).status == 0


def test_a_criterion_names_its_newest_evidence(work: GitRepo) -> None:
    goal(work, "AC1: a :: cat src/greet.txt; exit 1")
    evaluated(work)
    work.write("src/greet.txt", "second\n")
    evaluated(work)
    shown = flow(work, "evidence", "show", "AC1").stdout.splitlines()
    assert re.match(r"^✗ AC1  failed, exit 1  ", shown[0])
    assert shown[2].startswith("── cat src/greet.txt; exit 1 ─")
    assert shown[3:6] == ["second", "", "evidence evidence-ac1-eval-2"]
    assert shown[-1] == "more     flow evidence show AC1 --details"
    details = flow(work, "evidence", "show", "AC1", "--details").stdout
    assert "\nmetadata:\n  id: evidence-ac1-eval-2\n" in details
    document = flow(work, "evidence", "show", "AC1", "--json").json
    assert document["metadata"]["id"] == "evidence-ac1-eval-2"
    assert flow(work, "evidence", "show", "evidence-ac1-eval-1").stdout != "\n".join(shown)


def test_a_tenth_turn_is_newer_than_a_ninth(work: GitRepo) -> None:
    goal(work, "AC1: a :: exit 1")
    text = scene.goal_file(work)
    turns = text.replace("turns_evaluated: 0", "turns_evaluated: 8")
    assert turns != text
    work.write(".flow/goals/greet.goal.yaml", turns)
    for _ in range(2):
        evaluate(work)
    assert "evidence evidence-ac1-eval-10" in flow(work, "evidence", "show", "AC1").stdout


def test_a_criterion_without_evidence_is_told(work: GitRepo) -> None:
    goal(work, "AC1: a :: exit 1")
    done = flow(work, "evidence", "show", "AC1")
    assert (done.status, "has no evidence about AC1 yet" in done.stderr) == (2, True)
    done = flow(work, "evidence", "show", "AC7")
    assert (done.status, done.stdout) == (2, "")
    assert "has no criterion AC7 (its criteria: AC1)" in done.stderr
    evaluated(work)
    run_id = scene.run_dir(work).name
    done = flow(work, "evidence", "show", "AC7", "--run-id", run_id)
    assert "has no criterion AC7 (its criteria: AC1)" in done.stderr
    odd = flow(work, "evidence", "show", "a!")
    assert "is not an evidence id" in odd.stderr
    (work.path / ".flow/goals/greet.goal.yaml").write_text("kind: [")
    done = flow(work, "evidence", "show", "AC7", "--run-id", run_id)
    assert (done.status, "has no evidence about AC7 yet" in done.stderr) == (2, True)


def test_evidence_that_cannot_be_read_is_told_and_not_taken_for_a_misspelt_id(
    work: GitRepo,
) -> None:
    goal(work, "AC1: a :: exit 1")
    evaluated(work), evaluated(work)
    (broken,) = scene.run_dir(work).glob("evidence/evidence-ac1-eval-2.evidence.yaml")
    broken.write_text("kind: [")
    done = flow(work, "evidence", "show", "evidence-ac1-eval-2")
    assert done.status == 2
    assert f"{broken.name}: is there and cannot be used: line " in done.stderr
    assert "did you mean" not in done.stderr
    older = flow(work, "evidence", "show", "AC1")
    assert "evidence evidence-ac1-eval-1" in older.stdout
    assert f"{broken.name}: line " in older.stderr
    (told,) = flow(work, "evidence", "show", "AC1", "--json").json["warnings"]
    assert broken.name in told
    broken.unlink()
    misspelt = flow(work, "evidence", "show", "evidence-ac1-eval-2")
    assert "no usable evidence evidence-ac1-eval-2" in misspelt.stderr
    (other,) = scene.run_dir(work).glob("evidence/evidence-ac1-eval-1.evidence.yaml")
    other.write_text("kind: [")
    for name in ("AC1", "evidence-ac1-eval-2"):
        none = flow(work, "evidence", "show", name)
        assert (none.status, none.stdout) == (2, "")
        assert (
            f"what cannot be read may be it: .flow/runs/{scene.run_dir(work).name}" in none.stderr
        )
        assert f"{other.name}: line " in none.stderr


# --- every active goal --------------------------------------------------------------------------


def test_all_active_goals_are_evaluated_and_the_worst_exit_counts(work: GitRepo) -> None:
    goal(work, "AC1: a :: true", name="fine")
    goal(work, "AC1: a :: exit 1", name="broken")
    done = flow(work, "goal", "evaluate", "--all")
    assert done.status == 1
    heads = [line.split("  ")[0] for line in done.stdout.splitlines() if "  turn 1" in line]
    assert sorted(heads) == ["✓ fine", "✗ broken"]
    document = flow(work, "goal", "evaluate", "--all", "--json").json
    assert document["schema"] == 1
    assert {item["goal_id"]: item["verdict"] for item in document["items"]} == {
        "fine": "achieved",
        "broken": "not_achieved",
    }


def test_a_goal_that_cannot_be_read_is_named_and_fails_all(work: GitRepo) -> None:
    goal(work, "AC1: a :: true", name="fine")
    work.write(".flow/goals/odd.goal.yaml", "{")
    done = flow(work, "goal", "evaluate", "--all")
    assert done.status == 2
    assert "odd.goal.yaml" in done.stderr
    assert "✓ fine" in done.stdout
    document = flow(work, "goal", "evaluate", "--all", "--json").json
    assert "error" in document["items"][0]


def test_without_an_active_goal_there_is_no_result(work: GitRepo) -> None:
    assert flow(work, "goal", "evaluate", "--all").status == 2


@pytest.mark.parametrize("more", [["greet"], ["--confirm"], ["--run-id", "r"]])
def test_what_means_one_goal_does_not_go_with_all(work: GitRepo, more: list[str]) -> None:
    goal(work, "AC1: a :: true")
    assert flow(work, "goal", "evaluate", "--all", *more).status == 2


def test_what_a_command_printed_that_passed_is_read_only_where_it_is_shown(
    work: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[str] = []
    real = RecordedOutputs.end

    def end(outputs: RecordedOutputs, path: str) -> OutputEnd | None:
        ends.append(path.rpartition("/")[2].split("-")[1])
        return real(outputs, path)

    monkeypatch.setattr(RecordedOutputs, "end", end)
    goal(work, "AC1: says :: echo this; exit 1", "AC2: fine :: echo that")
    assert "that" not in evaluate(work)
    assert ends == ["ac1"]
    assert block(evaluate(work, "--output", "all"), "AC2") == ["that"]
    assert ends == ["ac1", "ac1", "ac2"]


def test_the_evidence_of_a_row_that_is_not_shown_is_not_read(
    work: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str] = []
    real = FileRecords.evidence_named

    def evidence_named(records: FileRecords, run_id: str, evidence_id: str) -> Evidence | None:
        named.append(evidence_id.split("-")[1])
        return real(records, run_id, evidence_id)

    monkeypatch.setattr(FileRecords, "evidence_named", evidence_named)
    monkeypatch.setattr("flow.render.text.MANY_ROWS", 2)
    goal(work, "AC1: a :: true", "AC2: b :: true", "AC3: c :: true", "AC4: d :: exit 3")
    lines = evaluate(work)
    assert [line.split()[1] for line in lines if line.startswith(("✓", "✗"))][1:] == ["AC4", "AC1"]
    assert named == ["ac1", "ac4"]
    named.clear()
    evaluate(work, "--output", "all")
    assert named == ["ac1", "ac2", "ac3", "ac4"]
