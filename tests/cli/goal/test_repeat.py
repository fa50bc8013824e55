"""Flaky commands through ``flow`` itself: runs that disagree on the same files are no pass."""

from __future__ import annotations

import json
import os
import re
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from flow import hook
from flow.adapters.contracts import formats
from flow.adapters.process import loop as process_loop
from flow.adapters.verification import supervisor as verification_supervisor
from flow.wiring.confirm_question import confirm_lines
from flow.wiring.context import Context
from tests.support import GitRepo
from tests.support.scene import create, edit, flow, goal_file, meet, run_dir, start, status, step
from tests.support.stops import events, settings, stop

if TYPE_CHECKING:
    from pathlib import Path

EVALUATE = ("goal", "evaluate", "greet", "--json")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file outside the checkout: what lies there is no part of the subject."""
    return tmp_path / "log"


def alternating(log: Path, fails: str = "even") -> str:
    """Exits 0 in every other run, and says which one it is."""
    test = {"even": "n % 2 == 1", "odd": "n % 2 == 0"}[fails]
    return f"echo x >> {log}; n=$(wc -l < {log}); echo this is run $n; (({test}))"


def scripted(log: Path, *codes: int | str) -> str:
    """Does in its n-th run what the n-th code says: an exit status, or a shell text."""
    lines = [f"echo x >> {log}", f"n=$(wc -l < {log})", "echo this is run $n", "case $n in"]
    for number, code in enumerate(codes, 1):
        does = f"exit {code}" if isinstance(code, int) else code
        lines.append(f"{number}) {does} ;;")
    script = log.with_suffix(".sh")
    script.write_text("\n".join([*lines, "esac"]))
    return f"bash {script}"


def runs(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def sidecars(repo: GitRepo) -> dict[str, dict[str, Any]]:
    """Every sidecar of the run by its id."""
    found = {}
    for path in sorted((run_dir(repo) / "evidence").glob("*.evidence.yaml")):
        document = formats.parse_yaml(path.read_bytes(), file=path.name)
        formats.check("evidence", document, file=path.name)
        found[document["metadata"]["id"]] = document["evidence"]
    return dict(sorted(found.items()))


def output(repo: GitRepo, evidence_id: str) -> str:
    return (run_dir(repo) / "evidence" / f"{evidence_id}.txt").read_text()


def ready(repo: GitRepo, command: str, *more: str) -> GitRepo:
    create(start(repo), "greet", *more, criterion=f"AC1: x :: {command}")
    meet(repo)
    return repo


TESTED = """\
import unittest

class Greeting(unittest.TestCase):
    def test_word(self):
        self.assertIn("hello", ["hello"])

    def test_polite(self):
        self.assertIn("please", ["hello"])
"""


def test_a_failing_test_that_is_taken_out_of_the_work_is_told(repo: GitRepo) -> None:
    repo.commit("work", **{"src/work.py": TESTED})
    ready(repo, "cd src && python3 -B -m unittest work")
    assert flow(repo, *EVALUATE).status == 1
    repo.write("src/work.py", TESTED[: TESTED.index("\n    def test_polite")])
    for _ in range(2):  # of the second one the sidecar before tells it
        done = flow(repo, *EVALUATE)
        assert done.status == 0
        assert (
            "AC1: fewer tests: 1 ran, and 2 did before (evidence-ac1-eval-1)."
            in (done.json["warnings"])
        )
        repo.write("src/more.py", "")
    assert sidecars(repo)["evidence-ac1-eval-3"]["tests"] == {
        "ran": 1,
        "most": 2,
        "most_in": "evidence-ac1-eval-1",
    }
    assert "fewer tests" in "\n".join(confirm_lines(Context(str(repo.path)), "greet"))
    repo.write("src/work.py", TESTED.replace('"please", ["hello"]', '"please", ["please"]'))
    done = flow(repo, *EVALUATE)
    assert done.status == 0
    assert not done.json["warnings"]
    assert sidecars(repo)["evidence-ac1-eval-4"]["tests"] == {"ran": 2}


def test_so_is_one_that_only_the_base_had(repo: GitRepo) -> None:
    repo.commit("work", **{"src/work.py": TESTED})
    ready(repo, "cd src && python3 -B -m unittest work")
    assert flow(repo, "goal", "baseline", "greet").status == 0
    repo.write("src/work.py", TESTED[: TESTED.index("\n    def test_polite")])
    done = flow(repo, *EVALUATE)
    assert done.status == 0
    assert "AC1: fewer tests: 1 ran, and 2 did before (evidence-ac1-base)." in done.json["warnings"]


def test_the_attack_it_is_for(repo: GitRepo, log: Path) -> None:
    """A command that passes every other time: once it was achieved, now it is inconclusive."""
    ready(repo, alternating(log))
    done = flow(repo, *EVALUATE, "--repeat", "3")
    assert done.status == 1
    assert runs(log) == 3
    (row,) = done.json["criterion_results"]
    assert (row["outcome"], row["status"]) == ("inconclusive", "evidence_collected")
    assert row["reason"] == "flaky: passed 2 of 3 runs, failed 1"
    assert done.json["verdict"] == "not_achieved"
    assert "passed 2 of 3 runs" in done.json["reason"]
    assert done.json["proposed_transition"] is None
    assert status(repo) == "active"

    found = sidecars(repo)  # every run is kept
    assert list(found) == [
        "evidence-ac1-eval-1", "evidence-ac1-eval-1-run-1", "evidence-ac1-eval-1-run-2",
    ]  # fmt: skip
    last = found["evidence-ac1-eval-1"]
    assert row["evidence_ref"].endswith("/evidence-ac1-eval-1.evidence.yaml")
    assert last["outcome"] == "inconclusive"
    assert last["reason"] == "flaky: passed 2 of 3 runs, failed 1"
    assert last["proves"] == ["AC1"]
    assert last["repeat"] == {
        "criterion": "AC1", "run": 3, "runs": 3,
        "passed": 2, "failed": 1, "inconclusive": 0, "flaky": True,
        "others": ["evidence-ac1-eval-1-run-1", "evidence-ac1-eval-1-run-2"],
    }  # fmt: skip
    for number, outcome in ((1, "passed"), (2, "failed")):
        one = found[f"evidence-ac1-eval-1-run-{number}"]
        assert (one["outcome"], one["proves"]) == (outcome, [])
        assert one["repeat"] == {"criterion": "AC1", "run": number, "runs": 3}
        assert f"this is run {number}\n" == output(repo, f"evidence-ac1-eval-1-run-{number}")
    assert output(repo, "evidence-ac1-eval-1") == "this is run 3\n"
    assert len(events(repo, "evidence")) == 3


AGREE = [
    ((0, 0, 0), "passed", "pass", "", (3, 0, 0)),
    ((1, 2, 3), "failed", "fail", "", (0, 3, 0)),
    (
        (127, 127, 127), "inconclusive", "evidence_collected",
        "a command was not found (exit 127)", (0, 0, 3),
    ),
    (
        (0, 1, 126), "inconclusive", "evidence_collected",
        "flaky: passed 1 of 3 runs, failed 1, inconclusive 1", (1, 1, 1),
    ),
]  # fmt: skip
"""Each other cell is in ``tests/core/evidence/test_repeat.py``."""


def test_what_three_runs_come_to(repo: GitRepo, tmp_path: Path) -> None:
    logs = [tmp_path / f"log{number}" for number, _ in enumerate(AGREE)]
    first, *rest = [scripted(log, *codes) for log, (codes, *_) in zip(logs, AGREE, strict=True)]
    more = [f"AC{number}: x :: {command}" for number, command in enumerate(rest, 2)]
    ready(repo, first, *(word for text in more for word in ("--criterion", text)))
    done = flow(repo, *EVALUATE, "--repeat", "3")
    assert done.status == 1
    bodies = sidecars(repo)
    for number, (codes, outcome, state, reason, counts) in enumerate(AGREE, 1):
        row = done.json["criterion_results"][number - 1]
        assert (row["outcome"], row["status"], row["reason"] or "") == (outcome, state, reason)
        told = bodies[f"evidence-ac{number}-eval-1"]["repeat"]
        assert (told["passed"], told["failed"], told["inconclusive"]) == counts
        assert told["flaky"] is (codes == (0, 1, 126))
    assert [runs(log) for log in logs] == [3] * len(AGREE)


def test_the_contract_says_how_often_and_the_flag_asks_for_no_less(
    repo: GitRepo, log: Path
) -> None:
    ready(repo, f"echo x >> {log}")
    edit(repo, ("evaluator:\n", "evaluator:\n  repeat: 2\n"))
    before = 0
    for turn, (flag, times) in enumerate(([(), 2], [("--repeat", "1"), 2], [("--repeat", "3"), 3])):
        done = flow(repo, *EVALUATE, *flag)
        assert (done.status, runs(log) - before) == (0, times)
        assert sidecars(repo)[f"evidence-ac1-eval-{turn + 1}"]["repeat"]["runs"] == times
        before += times


FORGOTTEN = {
    "its results": lambda text: re.sub(
        r"\n +(evidence_ref|last_evaluated_at|last_result):.*", "", text
    ).replace("status: fail", "status: pending"),
    "its status": lambda text: text.replace("status: fail", "status: pass"),
}


@pytest.mark.parametrize("how", [*FORGOTTEN, "another run", "more asked for"])
def test_a_failure_that_the_goal_file_forgot_is_known(repo: GitRepo, log: Path, how: str) -> None:
    """Its results are no part of the contract; and a run may have another name."""
    ready(repo, alternating(log, "odd"))
    assert step(repo, *EVALUATE).json["criterion_results"][0]["outcome"] == "failed"
    if how in FORGOTTEN:
        path = repo.path / ".flow/goals/greet.goal.yaml"
        path.write_text(FORGOTTEN[how](path.read_text()))
    if how == "more asked for":  # an amendment that needs nobody's yes
        text = goal_file(repo)
        more = text.replace("constraints:", "constraints:\n  denied_paths: [secret.txt]")
        repo.write("../new.yaml", more)
        done = flow(repo, "goal", "amend", "greet", "--file", "../new.yaml")
        assert done.status == 0, done
    done = flow(repo, *EVALUATE, *(("--run-id", "r2") if how == "another run" else ()))
    row = done.json["criterion_results"][0]
    assert (row["outcome"], row["reason"]) == (
        "inconclusive",
        "flaky: passed 1 of 2 runs, failed 1",
    )


def test_an_older_pass_does_not_stand_for_a_newer_failure(
    repo: GitRepo, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """On the same files; the goal file is made to name the older one."""
    ready(repo, scripted(log, 0, 1, 0, 1))
    assert step(repo, *EVALUATE).json["verdict"] == "achieved"
    before = goal_file(repo)
    assert flow(repo, *EVALUATE).json["verdict"] == "not_achieved"
    repo.write(".flow/goals/greet.goal.yaml", before)
    answer = stop(repo, capfd)
    assert runs(log) == 4
    assert "flaky: passed 1 of 2 runs, failed 1" in json.dumps(answer)


def test_how_often_is_bounded(repo: GitRepo) -> None:
    create(start(repo))
    for times in ("0", "-1", "1001", "two", "1.5", ""):
        done = flow(repo, *EVALUATE, "--repeat", times)
        assert (done.status, done.json["error"]["code"]) == (2, "usage")
    text = goal_file(repo)
    for times in ("0", "1001", '"two"'):
        repeat = text.replace("evaluator:\n", f"evaluator:\n  repeat: {times}\n")
        repo.write(".flow/goals/greet.goal.yaml", repeat)
        done = flow(repo, *EVALUATE)
        assert (done.status, "evaluator.repeat" in json.dumps(done.json["error"])) == (2, True)


def test_a_command_never_runs_beside_itself(repo: GitRepo, tmp_path: Path) -> None:
    """Others run beside it where ``--jobs`` says so."""
    once = f"mkdir {tmp_path}/%s || exit 9; sleep 0.1; rmdir {tmp_path}/%s"
    start(repo)
    words = [f"AC{n}: x :: {once % (f'a{n}', f'a{n}')}" for n in (1, 2)]
    create(repo, "greet", "--criterion", words[1], criterion=words[0])
    done = flow(repo, *EVALUATE, "--repeat", "3", "--jobs", "4")
    assert done.status == 0
    assert [row["outcome"] for row in done.json["criterion_results"]] == ["passed"] * 2
    assert len(sidecars(repo)) == 6


class Hang:
    """A step of :func:`scripted` that takes an hour, by the clocks that were told of it."""

    def __init__(self, log: Path) -> None:
        self.began = log.with_suffix(".late")
        self.step = f"touch {self.began}; echo late; sleep 3600"

    def monotonic(self) -> float:
        return time.monotonic() + 3600 * self.began.exists()


def test_each_run_has_the_time_limit_for_itself(
    repo: GitRepo, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = Hang(log)
    later = SimpleNamespace(monotonic=hang.monotonic)
    for module in (process_loop, verification_supervisor):
        monkeypatch.setattr(module, "time", later)
    ready(repo, scripted(log, 0, hang.step, 0))
    done = flow(repo, *EVALUATE, "--repeat", "3", "--timeout", "600")
    (row,) = done.json["criterion_results"]
    assert row["reason"] == "flaky: passed 2 of 3 runs, inconclusive 1"
    assert sidecars(repo)["evidence-ac1-eval-1-run-2"]["result"] == "timeout"


def test_no_other_run_makes_good_what_one_must_not_do(repo: GitRepo, log: Path) -> None:
    """A run that changes HEAD has failed, and so has all of it."""
    commit = "git commit -q --allow-empty -m sneaky"
    ready(repo, scripted(log, 0, commit, 0))
    done = flow(repo, *EVALUATE, "--repeat", "3")
    (row,) = done.json["criterion_results"]
    assert row["outcome"] == "failed"
    assert row["reason"] == "it changed HEAD, which only Flow or a person may change"


def test_a_vacuous_run_among_passes_is_no_pass(repo: GitRepo, log: Path) -> None:
    report = "<testsuite><testcase><skipped/></testcase></testsuite>"
    script = log.with_suffix(".sh")
    script.write_text(f"echo x >> {log}\n[ $(wc -l < {log}) = 2 ] && echo '{report}' || echo ok\n")
    ready(repo, f"bash {script}")
    done = flow(repo, *EVALUATE, "--repeat", "2")
    (row,) = done.json["criterion_results"]
    assert row["reason"] == "flaky: passed 1 of 2 runs, inconclusive 1"
    body = sidecars(repo)["evidence-ac1-eval-1"]
    assert "attribution" not in body  # of the last run alone


def test_what_it_looks_like(repo: GitRepo, log: Path) -> None:
    ready(repo, alternating(log))
    done = flow(repo, "goal", "evaluate", "greet", "--repeat", "2")
    assert re.search(r"^◐ AC1  x  flaky: 1 of 2 passed  \S+ s$", done.stdout, re.M)
    assert re.search(r"^── AC1  flaky: .*\npassed 1 of 2 runs, failed 1$", done.stdout, re.M)
    assert re.fullmatch(r"\[1/1\] AC1 undecided, exit 1, flaky, \S+ s\n", done.stderr)


# --- the same files, another evaluation ------------------------------------------------------


def test_two_evaluations_that_disagree_are_both_kept_and_flaky(repo: GitRepo, log: Path) -> None:
    """HAZARD E68. Asking again until it passes does not make it a pass."""
    ready(repo, alternating(log, fails="odd"))
    assert step(repo, *EVALUATE).status == 1
    second = flow(repo, *EVALUATE)
    (row,) = second.json["criterion_results"]
    assert (second.status, row["outcome"]) == (1, "inconclusive")
    assert row["reason"] == "flaky: passed 1 of 2 runs, failed 1"
    assert runs(log) == 3
    assert list(sidecars(repo)) == [
        "evidence-ac1-eval-1", "evidence-ac1-eval-2", "evidence-ac1-eval-2-run-1",
    ]  # fmt: skip
    assert sidecars(repo)["evidence-ac1-eval-1"]["outcome"] == "failed"


def test_it_takes_as_many_passes_as_there_were_runs(repo: GitRepo, log: Path) -> None:
    ready(repo, scripted(log, 0, 0, 1, 0, 0, 0))
    step(repo, *EVALUATE, "--repeat", "3")
    done = flow(repo, *EVALUATE)
    assert (done.status, runs(log)) == (0, 6)
    (row,) = done.json["criterion_results"]
    assert row["outcome"] == "passed"
    told = [text for text in row["limitations"] if text.startswith("flaky: ")]
    (text,) = told
    assert text == (
        "flaky: on the same files it was flaky before (evidence-ac1-eval-1); "
        "3 runs in a row have passed now."
    )
    assert f"AC1: {told[0]}" in done.json["warnings"]
    assert told[0] in sidecars(repo)["evidence-ac1-eval-2"]["limitations"]


def test_what_changed_outside_the_files_is_told_and_passes_where_it_was_put_right(
    repo: GitRepo, log: Path, tmp_path: Path
) -> None:
    """A service that was down, or is now: an honest second evaluation works.

    A failure that stays runs once, and what rests on more than files is not doubted.
    """
    up, down, stays, other = (tmp_path / name for name in ("up", "down", "stays", "other"))
    down.touch()
    commands = (f"test -e {down}", f"echo x >> {stays}; exit 1", scripted(other, 1, 0))
    more = [f"AC{number}: x :: {command}" for number, command in enumerate(commands, 2)]
    ready(repo, f"test -e {up}", *(word for text in more for word in ("--criterion", text)))
    text = goal_file(repo)
    at = text.rindex("verification_command:")
    hermetic = f"{text[:at]}hermetic: false\n      {text[at:]}"
    repo.write(".flow/goals/greet.goal.yaml", hermetic)
    assert step(repo, "trust", "record", "greet", "--yes").status == 0
    assert step(repo, *EVALUATE).status == 1
    up.touch()
    down.unlink()
    done = flow(repo, *EVALUATE)
    assert (done.status, runs(stays), runs(other)) == (1, 2, 2)
    rows = done.json["criterion_results"]
    assert [row["outcome"] for row in rows] == ["passed", "failed", "failed", "passed"]
    first, second = [text for text in done.json["warnings"] if "flaky" in text]
    assert first.startswith("AC1: flaky: on the same files it was failed before")
    assert second == "AC2: flaky: on the same files it was passed before (evidence-ac2-eval-1)."
    assert second.removeprefix("AC2: ") in rows[1]["limitations"]
    assert sidecars(repo)["evidence-ac1-eval-2"]["repeat"]["passed"] == 2
    count = len(sidecars(repo))
    third = flow(repo, *EVALUATE)
    assert len(sidecars(repo)) == count + 4  # once is enough again
    assert not [text for text in third.json["warnings"] if text.startswith("AC1: flaky")]


def test_other_files_are_another_matter(repo: GitRepo, log: Path) -> None:
    ready(repo, scripted(log, 1, 0))
    assert step(repo, *EVALUATE).status == 1
    repo.write("src/greet.txt", "please, please\n")
    done = flow(repo, *EVALUATE)
    assert (done.status, runs(log)) == (0, 2)
    assert not [text for text in done.json["warnings"] if "flaky" in text]


def test_another_command_is_another_matter(repo: GitRepo, log: Path) -> None:
    ready(repo, scripted(log, 1, 0))
    assert step(repo, *EVALUATE).status == 1
    edit(repo, ("bash ", "bash -e "))
    done = flow(repo, *EVALUATE)
    assert (done.status, runs(log)) == (0, 2)


def test_one_run_of_several_never_stands_for_the_criterion(
    repo: GitRepo, log: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The goal's file is edited to name the run that passed; the hook does not take it."""
    settings(home, stopHookEnforcement="evaluator-loop")
    ready(repo, scripted(log, 0, 1, 1))
    step(repo, *EVALUATE, "--repeat", "2")
    text = goal_file(repo)
    assert "evidence-ac1-eval-1.evidence.yaml" in text
    forged = text.replace("eval-1.evidence.yaml", "eval-1-run-1.evidence.yaml")
    repo.write(".flow/goals/greet.goal.yaml", forged)
    answer = stop(repo, capfd)
    assert runs(log) == 3
    assert answer["decision"] == "block"
    assert "AC1" in answer["reason"]


def test_the_hook_doubts_what_was_flaky(
    repo: GitRepo, log: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings(home, stopHookEnforcement="evaluator-loop")
    ready(repo, scripted(log, 0, 1, 0, 0, 1))
    step(repo, *EVALUATE, "--repeat", "3")
    answer = stop(repo, capfd)
    assert runs(log) == 5  # it failed in the second of the three that it needed
    assert answer["decision"] == "approve"
    assert "inconclusive: AC1 (flaky: passed 1 of 2 runs, failed 1)" in json.dumps(answer)


def test_the_hook_repeats_as_the_contract_says(
    repo: GitRepo, log: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings(home, stopHookEnforcement="block")
    ready(repo, scripted(log, 0, 0, 0))
    edit(repo, ("evaluator:\n", "evaluator:\n  repeat: 3\n"))
    assert stop(repo, capfd)["decision"] == "approve"
    assert runs(log) == 3
    assert stop(repo, capfd)["decision"] == "approve"
    assert runs(log) == 3  # unchanged work is not run again
    assert events(repo, "stop")[-1]["reused"] == ["AC1"]


def test_runs_that_the_hook_has_no_time_for_decide_nothing(
    repo: GitRepo,
    log: Path,
    home: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings(home, stopHookEnforcement="evaluator-loop", hookTimeoutSeconds=600)
    hang = Hang(log)
    monkeypatch.setattr(hook, "monotonic", hang.monotonic)
    ready(repo, scripted(log, 0, hang.step, 0))
    edit(repo, ("evaluator:\n", "evaluator:\n  repeat: 3\n"))
    answer = stop(repo, capfd)
    assert "not reached in the hook's time: AC1" in json.dumps(answer)
    assert list(sidecars(repo)) == ["evidence-ac1-eval-1-run-1"]
    assert status(repo) == "active"


def test_python_can_ask_for_it(repo: GitRepo, log: Path) -> None:
    from flow import evaluate

    ready(repo, alternating(log))
    found = evaluate("greet", cwd=os.fspath(repo.path), repeat=2)
    assert found.criterion_results[0].reason == "flaky: passed 1 of 2 runs, failed 1"
