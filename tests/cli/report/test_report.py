"""``flow report`` at the command line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.support import GitRepo, run_flow
from tests.support.made_once.replay import replay_flow


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    repo.commit("start", **{"src/a": "x\n"})
    command = "AC1: <b>bold</b> :: echo '<script>' && exit 3"
    done = replay_flow(
        *("goal", "create", "greet", "--outcome", "o", "--criterion", command), cwd=repo.path
    )
    assert done.status == 0, done.stderr
    replay_flow("goal", "evaluate", "greet", cwd=repo.path)
    return repo


def test_the_page_goes_to_the_cache_a_file_or_standard_output(work: GitRepo) -> None:
    told = run_flow("report", "greet", cwd=work.path)
    assert told.status == 0, told.stderr
    (path,) = told.stdout.splitlines()
    assert path.endswith(f"/cache/reports/{work.path.name}-greet.html")
    text = Path(path).read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    shown = run_flow("report", "greet", "--output", "-", cwd=work.path)
    assert (shown.status, shown.stdout) == (0, text)
    written = run_flow("report", "--output", "page.html", cwd=work.path)
    assert (written.status, written.stdout) == (0, "page.html\n")
    # the new file is a change of the working tree, so that the evidence is stale
    assert "stale" in work.read("page.html")


def test_checkouts_of_one_name_have_a_page_each(work: GitRepo, tmp_path: Path) -> None:
    def page(checkout: Path) -> tuple[str, str]:
        (path,) = run_flow("report", "greet", cwd=checkout).stdout.splitlines()
        return path, Path(path).read_text("utf-8")

    other = GitRepo.init(tmp_path / "elsewhere" / work.path.name)
    other.commit("start", **{"src/a": "x\n"})
    words = ("--outcome", "the other's", "--criterion", "AC1: x :: true", "--draft")
    assert run_flow("goal", "create", "greet", *words, cwd=other.path).status == 0
    first, second = page(work.path), page(other.path)
    assert first[0].endswith(f"/{work.path.name}-greet.html")
    assert Path(second[0]).name.startswith(f"{work.path.name}-greet-")
    assert "other&#x27;s" in second[1]
    assert (page(work.path), page(other.path)) == (first, second)
    assert "reports" not in run_flow("doctor", cwd=work.path).stdout
    os.rename(work.path, tmp_path / "gone")
    assert page(other.path)[0] == first[0]


@pytest.mark.parametrize("content", ["<p>mine</p>", "x" * 5_000, "flow report"])
def test_a_file_of_somebody_else_s_is_not_overwritten(work: GitRepo, content: str) -> None:
    work.write("notes.html", content)
    done = run_flow("report", "greet", "--output", "notes.html", cwd=work.path)
    assert (done.status, done.stdout) == (2, "")
    assert "notes.html" in done.stderr
    assert work.read("notes.html") == content
    for content in ("", run_flow("report", "greet", "--output", "-", cwd=work.path).stdout):
        work.write("notes.html", content)  # as mktemp makes it, and a page of before
        assert run_flow("report", "greet", "--output", "notes.html", cwd=work.path).status == 0


@pytest.mark.parametrize(
    ("name", "page"),
    [
        (b"new\nline\x1b[31m", "new-line-31m-greet.html"),
        (b"a b\xff c", "a-b-c-greet.html"),
        ("\u202eevil".encode(), "-evil-greet.html"),
        (b"n" * 250, f"{'n' * 120}-greet.html"),
        ("é".encode() * 100, f"{'é' * 60}-greet.html"),
        (b"my.app_2", "my.app_2-greet.html"),
    ],
)
def test_the_path_that_is_said_is_the_page_s_whatever_the_checkout_is_called(
    tmp_path: Path, name: bytes, page: str
) -> None:
    repo = GitRepo.init(tmp_path / os.fsdecode(name))
    repo.commit("start", **{"src/a": "x\n"})
    words = ("--outcome", "o", "--criterion", "AC1: x :: true", "--draft")
    assert run_flow("goal", "create", "greet", *words, cwd=repo.path).status == 0
    path = run_flow("report", "greet", cwd=repo.path).stdout.removesuffix("\n")
    assert os.path.basename(path) == page
    assert Path(path).read_text("utf-8").startswith("<!doctype html>")


def test_the_same_record_is_the_same_page_byte_for_byte(work: GitRepo) -> None:
    first, second = (run_flow("report", "greet", "--output", "-", cwd=work.path) for _ in "ab")
    assert first.stdout == second.stdout
    assert str(work.path) not in first.stdout


def test_a_file_whose_name_is_not_utf_8_has_one_row(repo: GitRepo) -> None:
    repo.commit("start", **{"src/a": "x\n"})
    words = ("--outcome", "o", "--criterion", "AC1: x :: true", "--allow", "src/**")
    assert run_flow("goal", "create", "greet", *words, cwd=repo.path).status == 0
    for folder in ("", "src/"):
        repo.write(folder + os.fsdecode(b"b\xff.txt"), "x")
    run_flow("goal", "evaluate", "greet", cwd=repo.path)
    page = run_flow("report", "greet", "--output", "-", cwd=repo.path).stdout
    files = page.partition('<section id="files"')[2].partition("</section>")[0]
    rows = re.findall(r'aria-label="(\w+)".*?<code>(.*?)</code></th>', files)
    assert rows == [("outside", "b\\xff.txt"), ("inside", "src/b\\xff.txt")]
    assert "<code>src/**</code></td>" in files
    assert "was outside" not in files


def test_open_starts_the_browser_with_the_page(
    work: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    done = run_flow("report", "greet", "--open", cwd=work.path)
    assert (done.status, [f"file://{done.stdout.strip()}"]) == (0, opened)
    odd = tmp_path / "a b#c?d%20.html"
    assert run_flow("report", "--open", "--output", str(odd), cwd=work.path).status == 0
    assert opened[1] == f"file://{tmp_path}/a%20b%23c%3Fd%2520.html"
    monkeypatch.setattr("webbrowser.open", lambda _url: False)
    done = run_flow("report", "greet", "--open", cwd=work.path)
    assert done.status == 0
    assert "no browser could be started" in done.stderr
    refused = run_flow("report", "greet", "--open", "--output", "-", cwd=work.path)
    assert refused.status == 2


def test_standard_output_takes_a_page_or_a_document(work: GitRepo) -> None:
    both = run_flow("report", "greet", "--json", "--output", "-", cwd=work.path)
    assert (both.status, both.json["error"]["code"]) == (2, "usage")


def test_the_page_tells_the_whole_way_of_a_goal(work: GitRepo) -> None:
    amended = ("goal", "amend", "greet", "--criterion", "AC1: it passes :: true # <i>", "--yes")
    run_flow(*amended, "--by", "R. Owner", "--reason", "it could not pass", cwd=work.path)
    run_flow("goal", "evaluate", "greet", cwd=work.path)
    text = run_flow("report", "greet", "--output", "-", cwd=work.path).stdout
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))
    for mark in ("AC1, turn 1: failed, exit 3", "AC1, turn 2: "):
        assert f'aria-label="{mark}' in text
    assert "R. Owner amended the contract it could not pass" in words
    assert "since turn 2" in words or "failed at turn 1" in words
    assert re.search(r"whole: \d+ entries, head \d+:[0-9a-f]{12}", words)
    assert "What is not proved" in words


def test_an_altered_output_is_a_damaged_record(work: GitRepo) -> None:
    (output,) = work.path.glob(".flow/runs/*/evidence/*.txt")
    output.write_text("all is well\n")
    text = run_flow("report", "greet", "--output", "-", cwd=work.path).stdout
    assert "record damaged" in text
    assert "flow evidence verify greet" in text


@pytest.mark.parametrize("source", ["somebody", "command"])
def test_a_verdict_that_somebody_changed_proves_nothing(work: GitRepo, source: str) -> None:
    (file,) = work.path.glob(".flow/runs/*/last-verdict.json")
    verdict = json.loads(file.read_text("utf-8"))
    verdict["source"] = source
    verdict["criterion_results"][0] |= {"status": "pass", "outcome": "passed", "exit_code": 0}
    file.write_text(json.dumps(verdict))
    text = run_flow("report", "greet", "--output", "-", cwd=work.path).stdout
    assert 'aria-label="AC1, turn 1: failed, exit 3' in text
    assert "proved, exit 0" not in text


def test_a_draft_has_a_page_too(repo: GitRepo) -> None:
    repo.commit("start", **{"src/a": "x\n"})
    words = ("goal", "create", "later", "--outcome", "o", "--criterion", "AC1: x :: true")
    assert run_flow(*words, "--draft", cwd=repo.path).status == 0
    text = run_flow("report", "later", "--output", "-", cwd=repo.path).stdout
    assert "flow goal activate later" in text


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
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_input")
    assert work.read("kept") == "mine\n"


def test_no_such_goal(work: GitRepo) -> None:
    done = run_flow("report", "nope", "--json", cwd=work.path)
    assert (done.status, done.json["error"]["code"]) == (2, "not_found")
