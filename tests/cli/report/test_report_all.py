"""``flow report --all`` and ``--bundle``: a folder of pages over a whole fleet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.adapters.inbox.finder import InboxFinder
from tests.support import GitRepo, bundles, run_flow, scene

pytestmark = pytest.mark.needs_tool("git", "bash")


def words(path: Path) -> str:
    """A page's text without its markup."""
    body = path.read_text("utf-8").partition("</style>")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


@pytest.fixture
def fleet(repo: GitRepo, tmp_path: Path) -> list[GitRepo]:
    """Two repositories: in one a goal that is proposed, in the other one that fails."""
    bundles.done(repo)
    other = GitRepo.init(tmp_path / "other")
    scene.create(scene.start(other), "later")
    assert scene.step(other, "goal", "evaluate", "later").status == 1
    return [repo, other]


def test_every_goal_of_the_inbox_has_a_page_beside_the_index(
    fleet: list[GitRepo], tmp_path: Path
) -> None:
    out = tmp_path / "pages"
    done = run_flow("report", "--all", "--output", str(out), cwd=fleet[1].path)
    assert (done.status, done.stdout) == (0, f"{out}/index.html\n"), done.stderr
    names = sorted(path.name for path in out.iterdir())
    assert names == ["index.html", "other-later.html", "repo-greet.html"]
    text = words(out / "index.html")
    assert "1 goal waits for you" in text
    assert "flow goal confirm greet" in text
    assert "greet achieved , as proposed" in words(out / "repo-greet.html")
    assert 'href="index.html"' in (out / "repo-greet.html").read_text("utf-8")
    before = [path.read_bytes() for path in sorted(out.iterdir())]
    run_flow("report", "--all", "--output", str(out), cwd=fleet[1].path)
    assert before == [path.read_bytes() for path in sorted(out.iterdir())]


def test_every_checkout_is_looked_for_once(
    fleet: list[GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    repositories = InboxFinder.repositories

    def counted(finder: InboxFinder) -> object:
        looks.append(finder)
        return repositories(finder)

    monkeypatch.setattr(InboxFinder, "repositories", counted)
    done = run_flow("report", "--all", "--output", str(tmp_path / "pages"), cwd=fleet[1].path)
    assert (done.status, len(looks)) == (0, 1), done.stderr


def test_what_the_inbox_leaves_out_has_no_page(fleet: list[GitRepo], tmp_path: Path) -> None:
    def pages(*more: str) -> list[str]:
        out = tmp_path / "pages"
        done = run_flow("report", "--all", "--output", str(out), *more, cwd=fleet[1].path)
        assert done.status == 0, done.stderr
        return sorted(path.name for path in out.iterdir() if path.name != "index.html")

    top = fleet[0].path
    assert pages() == ["other-later.html", "repo-greet.html"]
    assert pages("--repo", str(top)) == ["repo-greet.html"]
    assert pages("--exclude", "rep*") == ["other-later.html"]
    bundles.close(fleet[0])
    assert pages("--since", "2w") == ["other-later.html", "repo-greet.html"]
    assert pages("--since", "0m") == ["other-later.html"]
    for wrong in (("--since", "soon"), ("--repo", str(tmp_path / "none"))):
        assert run_flow("report", "--all", *wrong, cwd=top).status == 2
    for option in (("--repo", "."), ("--exclude", "x"), ("--since", "1d")):
        assert run_flow("report", "greet", *option, cwd=top).status == 2
        assert run_flow("report", "--bundle", "x", *option, cwd=top).status == 2


def test_only_pages_of_its_own_are_removed(fleet: list[GitRepo], tmp_path: Path) -> None:
    out, top = tmp_path / "pages", fleet[1].path
    write = ("report", "--all", "--output", str(out))
    assert run_flow(*write, cwd=top).status == 0
    page = out / "repo-greet.html"
    (tmp_path / "elsewhere.html").write_bytes(page.read_bytes())
    (out / "a-copy.html").write_bytes(page.read_bytes())
    (out / "linked.html").symlink_to(page)
    (out / "folder.html").mkdir()
    (out / "notes.html").write_text("<p>mine</p>")
    (out / "notes.txt").write_text("mine")
    assert (
        run_flow("report", "greet", "--output", str(out / "one.html"), cwd=fleet[0].path).status
        == 0
    )
    assert run_flow(*write, "--exclude", "repo", cwd=top).status == 0
    kept = ["a-copy.html", "folder.html", "index.html", "linked.html", "notes.html", "notes.txt"]
    assert sorted(path.name for path in out.iterdir()) == [*kept, "one.html", "other-later.html"]
    page.symlink_to(tmp_path / "elsewhere.html")
    assert run_flow(*write, "--exclude", "repo", cwd=top).status == 0
    assert page.is_symlink()


def test_a_page_of_somebody_else_s_is_not_overwritten(fleet: list[GitRepo], tmp_path: Path) -> None:
    out, top = tmp_path / "site", fleet[1].path
    out.mkdir()
    (out / "index.html").write_text("<h1>mine</h1>")
    (out / "repo-greet.html").write_text("<h1>mine too</h1>")
    done = run_flow("report", "--all", "--output", str(out), cwd=top)
    assert (done.status, done.stdout) == (2, "")
    assert f"{out}/index.html" in done.stderr
    assert sorted(p.name for p in out.iterdir()) == ["index.html", "repo-greet.html"]
    (out / "index.html").unlink()
    for _ in range(2):
        assert run_flow("report", "--all", "--output", str(out), cwd=top).status == 0
        names = ["index.html", "other-later.html", "repo-greet-2.html", "repo-greet.html"]
        assert sorted(p.name for p in out.iterdir()) == names
    assert (out / "repo-greet.html").read_text() == "<h1>mine too</h1>"


def test_a_bundle_s_page_stays(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    bundle, out = tmp_path / "a.bundle", tmp_path / "pages"
    bundles.export(repo, bundle)
    write = ("report", "--output", str(out))
    assert run_flow(*write, "--bundle", str(bundle), cwd=repo.path).status == 0
    assert run_flow(*write, "--all", cwd=repo.path).status == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "a-greet.html", "index.html", "repo-greet.html",
    ]  # fmt: skip
    assert run_flow(*write, "--bundle", str(bundle), cwd=repo.path).status == 0
    assert (out / "repo-greet.html").exists()


def test_a_file_is_no_folder_to_write(fleet: list[GitRepo]) -> None:
    fleet[0].write("notes.txt", "mine\n")
    done = scene.flow(fleet[0], "report", "--all", "--output", "notes.txt", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--output")
    assert fleet[0].read("notes.txt") == "mine\n"


def test_without_a_folder_it_lies_in_the_cache(fleet: list[GitRepo]) -> None:
    done = run_flow("report", "--all", "--json", cwd=fleet[0].path)
    assert done.status == 0, done.stderr
    assert done.json["output"].endswith("/cache/reports/all/index.html")
    pages = {row["goal_id"]: row["page"] for row in done.json["goals"]}
    assert pages == {"greet": "repo-greet.html", "later": "other-later.html"}


def test_bundles_of_other_machines_are_read_without_any_repository(
    repo: GitRepo, tmp_path: Path
) -> None:
    bundles.close(bundles.done(repo))
    bundle, out, elsewhere = tmp_path / "a.bundle", tmp_path / "pages", tmp_path / "elsewhere"
    elsewhere.mkdir()
    export = ("evidence", "export", "greet", "--output", str(bundle), "--with-outputs")
    assert run_flow(*export, cwd=repo.path).status == 0
    done = run_flow("report", "--bundle", str(bundle), "--output", str(out), cwd=elsewhere)
    assert done.status == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["a-greet.html", "index.html"]
    assert "achieved, as its bundle says" in words(out / "index.html")
    text = words(out / "a-greet.html")
    assert "greet achieved , as its bundle says" in text
    assert "flow evidence verify --bundle a.bundle" in text
    assert "AC1, turn 1: proved, exit 0" in (out / "a-greet.html").read_text("utf-8")
    assert re.search(r"head \d+:[0-9a-f]{12}", text)


def test_an_altered_bundle_is_a_damaged_record(repo: GitRepo, tmp_path: Path) -> None:
    bundles.done(repo)
    bundle, out = tmp_path / "a.bundle", tmp_path / "pages"
    bundles.export(repo, bundle)
    bundles.change(bundle, bundles.TEST_RESULT, lambda s: s["predicate"].update(result="FAILED"))
    done = run_flow("report", "--bundle", str(bundle), "--output", str(out), cwd=repo.path)
    assert done.status == 0, done.stderr
    assert "record damaged" in words(out / "a-greet.html")
    assert "Cannot be looked at" in words(out / "index.html")


def test_a_bundle_that_cannot_be_read_has_a_row_beside_the_others(
    repo: GitRepo, tmp_path: Path
) -> None:
    bundles.done(repo)
    bundle, out = tmp_path / "a.bundle", tmp_path / "pages"
    bundles.export(repo, bundle)
    plain = tmp_path / "b\x1b[31m.bundle"
    plain.write_text("no bundle\n")
    gone = tmp_path / "c.bundle"
    write = ("report", "--output", str(out), "--bundle")
    done = run_flow(*write, str(plain), str(bundle), str(gone), cwd=repo.path)
    assert (done.status, done.stdout) == (2, f"{out}/index.html\n")
    assert sorted(path.name for path in out.iterdir()) == ["a-greet.html", "index.html"]
    told = done.stderr.splitlines()
    assert len(told) == 2
    assert "b\\x1b[31m.bundle" in told[0]
    assert "c.bundle" in told[1]
    text = words(out / "index.html")
    assert "Cannot be looked at 2" in text
    assert text.count("a bundle") == text.count("cannot be read: ") == 2
    again = run_flow(*write, str(bundle), str(gone), "--json", cwd=repo.path)
    assert again.status == 2
    assert again.json["goals"][-1]["section"] == "broken"
    assert [error["code"] for error in again.json["unreadable"]] == ["not_found"]
    assert again.stderr == ""
    beside = run_flow("report", "--output", str(out), "--all", "--bundle", str(gone), cwd=repo.path)
    assert beside.status == 2
    assert (out / "repo-greet.html").exists()


def test_nothing_is_written_where_no_bundle_can_be_read(repo: GitRepo, tmp_path: Path) -> None:
    out, plain = tmp_path / "pages", tmp_path / "plain"
    plain.write_text("no bundle\n")
    done = run_flow("report", "--output", str(out), "--bundle", str(plain), cwd=repo.path)
    assert (done.status, done.stdout) == (2, "")
    assert not list(out.iterdir())


def test_a_file_that_is_no_bundle_and_a_call_that_names_a_goal_are_refused(
    fleet: list[GitRepo], tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no bundle\n")
    top = fleet[0].path
    assert run_flow("report", "--bundle", str(plain), cwd=top).status == 2
    assert run_flow("report", "greet", "--all", cwd=top).status == 2
    assert run_flow("report", "--all", "--output", "-", cwd=top).status == 2
    refused = run_flow("report", "--all", "--output", ".flow/pages", cwd=top)
    assert refused.status == 2
    assert not (top / ".flow/pages").exists()
