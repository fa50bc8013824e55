"""Stored cards on a real disk: races, symlinks, hostile files (SPEC 9.3)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.rubrics import score_files
from flow.adapters.user_state.settings import load
from flow.app.judging.scoring import CardHistory
from flow.core.judging.scorecard.model import NAMES
from flow.errors import RefusedError, StorageError
from tests.support import ROOT
from tests.support.patience import LONG

AT = "2026-01-02T03:04:05Z"
LATEST = "20300101-000000"
WHERE = ".flow/scores"


def card(score: float = 8.0, skill: str = "commit", **more: Any) -> dict[str, Any]:
    row = {"score": score, "weight": 0.1, "justification": "words"}
    return {
        "skill": skill,
        "timestamp": AT,
        "dimensions": {name: dict(row) for name in NAMES},
        "composite": score,
        "grade": "B+" if score == 8.0 else "?",
        **more,
    }


def put(top: Path, name: str, text: str | bytes, where: str = WHERE) -> None:
    path = top / where / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def history(top: Path, **more: Any) -> CardHistory:
    return score_files.history(os.fspath(top), WHERE, "commit", **{"latest": LATEST, **more})


# --- where ----------------------------------------------------------------------------------------


def test_the_folder_is_flows_own_by_default(tmp_path: Path, home: Path) -> None:
    assert score_files.folder(str(tmp_path), load(str(tmp_path), str(home))) == ".flow/scores"


def test_a_project_with_the_plugins_folder_has_its_cards_there(tmp_path: Path, home: Path) -> None:
    (tmp_path / "skills/judge/scores").mkdir(parents=True)
    found = score_files.folder(str(tmp_path), load(str(tmp_path), str(home)))
    assert found == "skills/judge/scores"


def test_a_file_of_that_name_is_no_folder(tmp_path: Path, home: Path) -> None:
    put(tmp_path, "scores", "", "skills/judge")
    assert score_files.folder(str(tmp_path), load(str(tmp_path), str(home))) == ".flow/scores"


def test_the_setting_goes_before_both(tmp_path: Path, home: Path) -> None:
    (tmp_path / "skills/judge/scores").mkdir(parents=True)
    text = json.dumps({"judge": {"scoresDir": "quality/cards/"}})
    put(tmp_path, "settings.flow.json", text, ".claude")
    found = score_files.folder(str(tmp_path), load(str(tmp_path), str(home)))
    assert found == "quality/cards"


# --- publishing -----------------------------------------------------------------------------------


def test_a_card_is_published_whole_under_its_skill_and_time(tmp_path: Path) -> None:
    stored = score_files.publish(str(tmp_path), WHERE, card(note="日本"))
    assert stored["file"] == ".flow/scores/commit-20260102-030405.json"
    text = (tmp_path / stored["file"]).read_text(encoding="utf-8")
    assert json.loads(text) == stored
    assert "日本" in text
    assert text.endswith("}\n")
    assert os.listdir(tmp_path / WHERE) == ["commit-20260102-030405.json"]


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    names = [score_files.publish(str(tmp_path), WHERE, card())["file"] for _ in range(3)]
    stem = ".flow/scores/commit-20260102-030405"
    assert names == [f"{stem}.json", f"{stem}-2.json", f"{stem}-3.json"]


@pytest.mark.parametrize("skill", ["../../x", "/etc/passwd", "a\\b", "..", "日本", "-x", ".x"])
def test_no_skill_leads_out_of_the_folder(skill: str, tmp_path: Path) -> None:
    score_files.publish(str(tmp_path), WHERE, card(skill=skill))
    found = [os.path.join(folder, n) for folder, _, names in os.walk(tmp_path) for n in names]
    assert [os.path.dirname(path) for path in found] == [str(tmp_path / WHERE)]
    assert not os.path.basename(found[0]).startswith((".", "-"))


def test_processes_of_one_second_get_names_of_their_own(tmp_path: Path) -> None:
    program = (
        "import json, sys\nfrom flow.adapters.rubrics import score_files\n"
        "card = json.load(sys.stdin)\n"
        "for _ in range(10):\n    score_files.publish(sys.argv[1], sys.argv[2], card)\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), WHERE],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": ROOT},
            text=True,
        )
        for _ in range(4)
    ]
    for number, worker in enumerate(workers):
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(card(by=number)))
        worker.stdin.close()
    assert [worker.wait(10 * LONG) for worker in workers] == [0] * 4
    names = os.listdir(tmp_path / WHERE)
    assert len(names) == 40
    by = [json.loads((tmp_path / WHERE / name).read_text())["by"] for name in names]
    assert sorted(by) == sorted(list(range(4)) * 10)
    assert {f"commit-20260102-030405-{n}.json" for n in range(2, 41)} < set(names)


def test_names_run_out_at_some_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_files, "MOST_NUMBERS", 1)
    score_files.publish(str(tmp_path), WHERE, card())
    with pytest.raises(StorageError, match="in one second"):
        score_files.publish(str(tmp_path), WHERE, card())


@pytest.mark.parametrize("link", [".flow", ".flow/scores"])
def test_a_symlink_on_the_way_is_refused_by_name(link: str, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    top = tmp_path / "top"
    (top / link).parent.mkdir(parents=True)
    (top / link).symlink_to(outside)
    for act in (
        lambda: score_files.publish(str(top), WHERE, card()),
        lambda: score_files.history(str(top), WHERE, "commit", latest=LATEST),
    ):
        with pytest.raises(RefusedError, match="symbolic link") as caught:
            act()
        assert caught.value.fault.file == link
    assert os.listdir(outside) == []


def test_a_link_where_the_card_would_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / WHERE).mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / WHERE / "commit-20260102-030405.json").symlink_to(victim)
    with pytest.raises(RefusedError, match="symbolic link"):
        score_files.publish(str(tmp_path), WHERE, card())
    assert victim.read_text() == "mine"


# --- reading back ---------------------------------------------------------------------------------


def test_nothing_there_is_no_history(tmp_path: Path) -> None:
    assert history(tmp_path) == CardHistory((), ())


def test_cards_come_newest_first_and_only_this_skills(tmp_path: Path) -> None:
    for number, day in enumerate(("01", "03", "02"), 1):
        put(tmp_path, f"commit-202601{day}-000000.json", json.dumps(card(float(number))))
    put(tmp_path, "commit-20260109-000000.json", json.dumps(card(9.0, skill="commit!")))
    put(tmp_path, "other-20260109-000000.json", json.dumps(card(9.0, skill="commit")))
    put(tmp_path, "notes.json", "{}")
    found = history(tmp_path)
    assert [float(c.composite) for c in found.cards] == [2.0, 3.0, 1.0]
    assert history(tmp_path, most=2).cards == found.cards[:2]


HOSTILE: dict[str, str | bytes] = {
    "empty": "",
    "half": '{"skill": "commit", "dim',
    "not utf-8": b"\xff\xfe{}",
    "nan": json.dumps(card(float("nan"))),
    "out of range": json.dumps(card(1e308)),
    "a list": "[]",
    "deep": '{"skill":' + "[" * 5000 + "]" * 5000 + "}",
    "twice": '{"skill": "commit", "skill": "commit"}',
    "large": json.dumps(card(padding="x" * 300_000)),
    "other types": json.dumps({"skill": "commit", "dimensions": {name: [] for name in NAMES}}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_card_is_named_and_left_out(name: str, tmp_path: Path) -> None:
    put(tmp_path, "commit-20260105-000000.json", HOSTILE[name])
    put(tmp_path, "commit-20260101-000000.json", json.dumps(card()))
    found = history(tmp_path)
    assert [c.file for c in found.cards] == ["commit-20260101-000000.json"]
    (warning,) = found.warnings
    assert warning.startswith("commit-20260105-000000.json: ")
    assert warning.endswith(", and does not count")
    assert warning.isprintable()


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / WHERE).mkdir(parents=True)
    os.mkfifo(tmp_path / WHERE / "commit-20260105-000000.json")
    (tmp_path / WHERE / "commit-20260106-000000.json").symlink_to("/dev/zero")
    (tmp_path / WHERE / "commit-20260107-000000.json").mkdir()
    found = history(tmp_path)
    assert found.cards == ()
    assert len(found.warnings) == 3


def test_a_card_of_the_future_does_not_count(tmp_path: Path) -> None:
    put(tmp_path, "commit-20310101-000000.json", json.dumps(card()))
    put(tmp_path, "commit-20300101-000000.json", json.dumps(card()))
    found = history(tmp_path)
    assert [c.file for c in found.cards] == ["commit-20300101-000000.json"]
    assert found.warnings == (
        "commit-20310101-000000.json: is dated in the future, and does not count",
    )


def test_a_doctored_composite_is_computed_anew_and_told(tmp_path: Path) -> None:
    put(tmp_path, "commit-20260101-000000.json", json.dumps(card(composite=10.0)))
    found = history(tmp_path)
    assert float(found.cards[0].composite) == 8.0
    assert "says 10.0 (B+); its scores make 8.00 (B+)" in found.warnings[0]


def test_cards_of_a_plugins_skill_with_and_without_its_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_files, "MOST_OTHERS", 3)

    def named(skill: str) -> list[str]:
        found = score_files.history(os.fspath(tmp_path), WHERE, skill, latest=LATEST)
        assert found.warnings == ()
        return [card.file for card in found.cards]

    for day, skill in enumerate(("p:commit", "commit", "q:commit", "git-commit"), 1):
        name = f"{skill.replace(':', '-')}-2026010{day}-000000.json"
        put(tmp_path, name, json.dumps(card(skill=skill)))
    put(tmp_path, "x-commit-20260106-000000.json", "{")
    bare, first, second = (
        f"{name}-000000.json"
        for name in ("commit-20260102", "p-commit-20260101", "q-commit-20260103")
    )
    assert named("commit") == [second, bare, first]
    assert named("p:commit") == [bare, first]
    assert named("q:commit") == [second, bare]
    assert named("git-commit") == ["git-commit-20260104-000000.json"]
    for number in range(9):  # of other skills no more than some are looked into
        put(tmp_path, f"y-commit-20260107-00000{number}.json", json.dumps(card(skill="y-commit")))
    assert named("commit") == [bare]


def test_older_cards_than_are_read_are_counted(tmp_path: Path) -> None:
    for day in range(1, 8):
        put(tmp_path, f"commit-2026010{day}-000000.json", json.dumps(card()))
    put(tmp_path, "other-20260101-000000.json", json.dumps(card(skill="other")))
    assert (len(history(tmp_path, most=5).cards), history(tmp_path, most=5).older) == (5, 2)
    assert (len(history(tmp_path).cards), history(tmp_path).older) == (7, 0)


def test_reading_is_bounded(tmp_path: Path) -> None:
    for number in range(400):
        put(tmp_path, f"commit-20260105-000000-{number + 2}.json", "[]")
    put(tmp_path, "commit-20260101-000000.json", json.dumps(card()))
    found = history(tmp_path, most=5)
    assert found.cards == ()  # as many are looked at as a history of five is worth
    assert len(found.warnings) == 21
    assert found.warnings[-1] == "and 40 more files that are odd"
