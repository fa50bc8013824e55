"""``flow report`` at the command line."""

from __future__ import annotations

import pytest

from tests.support import GitRepo, run_flow


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    repo.commit("start", **{"src/a": "x\n"})
    command = "AC1: <b>bold</b> :: echo '<script>' && exit 3"
    done = run_flow(
        *("goal", "create", "greet", "--outcome", "o", "--criterion", command), cwd=repo.path
    )
    assert done.status == 0, done.stderr
    run_flow("goal", "evaluate", "greet", cwd=repo.path)
    return repo


def test_the_page_goes_to_stdout_or_to_a_file(work: GitRepo) -> None:
    shown = run_flow("report", "greet", cwd=work.path)
    assert shown.status == 0, shown.stderr
    assert shown.stdout.startswith("<!doctype html>")
    assert "&lt;script&gt;" in shown.stdout
    assert "<script>" not in shown.stdout
    written = run_flow("report", "--output", "page.html", cwd=work.path)
    assert written.status == 0, written.stderr
    assert work.read("page.html") == shown.stdout


def test_json_is_the_record_behind_the_page(work: GitRepo) -> None:
    document = run_flow("report", "greet", "--json", cwd=work.path).json
    assert document["status"]["goal_id"] == "greet"
    assert document["verdict"]["verdict"] == "not_achieved"
    (row,) = document["evidence"]
    assert row["output_end"] == "<script>\n"
    assert [event["type"] for event in document["events"]] == ["created", "evidence", "evaluated"]


def test_a_link_in_the_pages_place_is_not_followed(work: GitRepo) -> None:
    work.write("kept", "mine\n")
    (work.path / "page.html").symlink_to("kept")
    done = run_flow("report", "greet", "--output", "page.html", "--json", cwd=work.path)
    assert (done.status, done.json["error"]["code"]) == (5, "storage")
    assert work.read("kept") == "mine\n"


def test_no_such_goal(work: GitRepo) -> None:
    done = run_flow("report", "nope", "--json", cwd=work.path)
    assert (done.status, done.json["error"]["code"]) == (2, "not_found")
