"""``flow report --all``: the pages of scorecards and debates, and what is left out of them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.judging.scorecard.model import DIMENSIONS, composite, grade, stored
from tests.cli.report.test_report_all import words
from tests.render.page.test_goal_page import EVIL, Tags
from tests.support import GitRepo, bundles, run_flow
from tests.support.debate_judge import DebateJudges, reply

if TYPE_CHECKING:
    from tests.support.made_once.stage import Stage

pytestmark = pytest.mark.needs_tool("git", "bash")
SCORES = ".flow/scores"


def card(skill: str, day: int, low: float = 8.0, text: str = "as asked") -> dict[str, Any]:
    """A stored card whose adherence is ``low`` and the others 8."""
    scores = {d.name: Decimal(str(low if d.name == "adherence" else 8.0)) for d in DIMENSIONS}
    exact = composite(scores)
    return {
        "skill": skill,
        "timestamp": f"2026-03-{day:02d}T10:15:00Z",
        "dimensions": {
            d.name: {
                "score": float(scores[d.name]),
                "weight": float(d.weight),
                "justification": f"{d.name}: {text}",
                "evidence": [f"{text} was run"],
            }
            for d in DIMENSIONS
        },
        "composite": float(stored(exact)),
        "grade": grade(exact),
        "criticalIssues": [f"Adherence {low}/10: {text}"] if low < 5 else [],
        "recommendations": [f"Adherence: {text}, next time"],
        "rubricUsed": "rubric-code.md",
        "transcriptPath": "run.md",
        "judge": {"name": f"a judge {text}", "ballots": 3, "ballotsAsked": 3},
    }


def store(repo: GitRepo, name: str, document: Any) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    repo.write(f"{SCORES}/{name}", text)


def report(repo: GitRepo, out: Path, *more: str) -> Any:
    done = run_flow("report", "--all", "--json", "--output", str(out), *more, cwd=repo.path)
    assert (done.status, done.stderr) == (0, "")
    return done.json


@pytest.fixture
def scored(stage: Stage) -> GitRepo:
    """A checkout with a goal, three cards of one skill and one of another."""
    repo = stage.repo

    def make() -> None:
        bundles.done(GitRepo.init(repo.path))
        for day, low in ((1, 8.0), (2, 9.0), (3, 4.5)):
            store(repo, f"implement-202603{day:02d}-101500.json", card("implement", day, low))
        store(repo, "docs-20260301-101500.json", card("docs", 1))

    stage.begin(make)
    return repo


def test_every_skill_has_a_page_that_the_index_leads_to(scored: GitRepo, tmp_path: Path) -> None:
    out = tmp_path / "pages"
    judged = report(scored, out)["judged"]
    pages = {row["name"]: row["page"] for row in judged}
    assert pages == {
        "docs": "repo-scorecards-docs.html",
        "implement": "repo-scorecards-implement.html",
    }
    index = words(out / "index.html")
    assert index.index("Waits for you") < index.index("Scorecards and debates 2")
    assert "implement repo/main 7.48, B scorecards: Adherence 4.5/10: as asked" in index
    assert 'href="repo-scorecards-implement.html"' in (out / "index.html").read_text("utf-8")
    page = out / pages["implement"]
    text = words(page)
    assert "7.48 B of 10" in text
    assert "Adherence 4.5/10: as asked" in text
    assert "4.5 −4.0" in text  # of 8 and 9
    assert "mean of the 2 cards before it" in text
    assert "their composite: 8.08" in text
    assert "Adherence: as asked, next time" in text
    assert "3 of 3 asked; each score is their median" in text
    assert len(set(re.findall(r"implement-2026030\d", text))) == 3
    raw = page.read_text("utf-8")
    assert "Figures so far, of 10: 2026-03-01 8, 2026-03-02 8.15, 2026-03-03 7.48" in raw
    assert raw.count('class="f-no"') == 2  # the bar of what is below 5, and the mark's own
    before = [path.read_bytes() for path in sorted(out.iterdir())]
    report(scored, out)
    assert before == [path.read_bytes() for path in sorted(out.iterdir())]


def test_a_skill_whose_cards_are_gone_loses_its_page(scored: GitRepo, tmp_path: Path) -> None:
    out = tmp_path / "pages"
    report(scored, out)
    (scored.path / SCORES / "docs-20260301-101500.json").unlink()
    report(scored, out)
    names = ["index.html", "repo-greet.html", "repo-scorecards-implement.html"]
    assert sorted(path.name for path in out.iterdir()) == names


NO_CARDS = [
    "{",
    "[]",
    "null",
    '{"skill": 7}',
    '{"skill": "odd"}',
    "[" * 5000,
    " " * 300_000,
    "\udcff",
    json.dumps({**card("odd", 1), "dimensions": {}}),
    json.dumps({**card("odd", 1), "composite": "10"}),
    json.dumps({**card("odd", 1), "skill": ""}),
    json.dumps({**card("odd", 1), "skill": "x" * 201}),
    json.dumps({**card("odd", 1), "skill": "another"}),
    json.dumps(card("odd", 1)).replace('"score": 8.0', '"score": NaN', 1),
    json.dumps(card("odd", 1)).replace('"score": 8.0', '"score": 1e999', 1),
]


def test_what_is_no_card_is_a_row_without_a_page(scored: GitRepo, tmp_path: Path) -> None:
    path = scored.path / SCORES / "odd-20260301-101500.json"
    for text in NO_CARDS:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        rows = {row["name"]: row["page"] for row in report(scored, tmp_path / "pages")["judged"]}
        assert rows["left out"] is None, text[:80]
        assert "odd" not in rows
        assert path.name in words(tmp_path / "pages/index.html")


def test_links_and_folders_among_the_cards_are_left_out(scored: GitRepo, tmp_path: Path) -> None:
    folder, secret = scored.path / SCORES, tmp_path / "card.json"
    secret.write_text(json.dumps(card("linked", 1)))
    (folder / "linked-20260301-101500.json").symlink_to(secret)
    (folder / "folder-20260301-101500.json").mkdir()
    names = [row["name"] for row in report(scored, tmp_path / "pages")["judged"]]
    assert names == ["docs", "implement", "left out", "left out"]
    for file in folder.glob("[di]*.json"):
        file.unlink()
    folder.rename(scored.path / "cards")
    folder.symlink_to(scored.path / "cards")
    (row,) = report(scored, tmp_path / "pages")["judged"]
    assert (row["name"], row["page"]) == ("left out", None)


def test_no_text_of_a_card_becomes_markup_or_a_path(scored: GitRepo, tmp_path: Path) -> None:
    plain, evil = tmp_path / "plain", tmp_path / "evil"
    report(scored, plain)
    skill = "../../x/<b>"
    store(scored, "x-b-20260301-101500.json", card(skill, 1, 4.5, EVIL))
    (row,) = [row for row in report(scored, evil)["judged"] if row["name"] == skill]
    assert row["page"] == "repo-scorecards-x-b.html"
    assert sorted(path.name for path in evil.iterdir() if path.name not in row["page"]) == sorted(
        path.name for path in plain.iterdir()
    )
    tags = Tags((evil / row["page"]).read_text("utf-8"))
    assert set(tags.names) <= set(
        Tags((plain / "repo-scorecards-implement.html").read_text()).names
    )
    assert "script" not in tags.names


def test_the_configured_folder_counts(scored: GitRepo, tmp_path: Path) -> None:
    plugin = scored.path / "skills/judge/scores"
    plugin.mkdir(parents=True)
    (plugin / "own-20260301-101500.json").write_text(json.dumps(card("own", 1)))
    assert [row["name"] for row in report(scored, tmp_path / "pages")["judged"]] == ["own"]


# --- debates ------------------------------------------------------------------------------------

FIRST, SECOND = "return db.all();", "// limits live in the middleware"


@pytest.fixture
def debated(stage: Stage) -> GitRepo:
    """A checkout in which three judges debated a file and came to agree."""
    repo = stage.repo

    def make() -> None:
        bundles.done(GitRepo.init(repo.path))
        repo.write("src/users.ts", f"  {SECOND}\n  {FIRST}\n")
        judges = DebateJudges(stage.folder / "the-judges", stage.home, timeoutSeconds=300)
        judges.says(
            {
                "assess": reply({"security": 3, "docs": 4}, FIRST),
                "2/assess": reply({"security": 5, "docs": 4}, FIRST, recommendation="fail"),
                "debate 1": reply({"security": 4, "docs": 4}, FIRST, SECOND),
                "3/debate 1": reply({"security": 4, "docs": 4}, FIRST),
            }
        )
        words = ("--task", "a *REST* API_", "--criteria", "security:2,docs:1")
        done = run_flow("judge", "debate", "--solution", "src/users.ts", *words, cwd=repo.path)
        assert done.status == 0, done.stderr

    stage.begin(make)
    return repo


def one_debate(repo: GitRepo, out: Path) -> tuple[dict[str, Any], str]:
    """The row of the only debate, and the words on its page."""
    (row,) = report(repo, out)["judged"]
    return row, words(out / row["page"]) if row["page"] else ""


def test_a_debate_has_a_page_with_its_judges_side_by_side(debated: GitRepo, tmp_path: Path) -> None:
    row, text = one_debate(debated, tmp_path / "pages")
    assert (row["kind"], row["page"].startswith("repo-debate-users-src-")) == ("debate", True)
    index = words(tmp_path / "pages/index.html")
    assert "4.00 of 5 debate: consensus: pass" in index
    assert "Debate: src/users.ts “a *REST* API_”" in text
    assert "Result Pass the median of 3 judges" in text
    assert "Consensus after 1 round of debate" in text
    assert "Spread 0.00 was 1.33 before any debate" in text
    assert "security 66.7 % Judge 1 3 → 4 Judge 2 5 → 4 Judge 3 3 → 4 4.00" in text
    assert "Judge 2 Fail → Pass security 5 → 4" in text
    assert SECOND in text
    assert text.count("conformity : no new quote") == 1
    assert "short all judges" in text
    assert ".1.md" in text
    assert "not known as what Flow wrote" not in text
    before = (tmp_path / "pages" / row["page"]).read_bytes()
    one_debate(debated, tmp_path / "pages")
    assert before == (tmp_path / "pages" / row["page"]).read_bytes()


def test_a_report_that_somebody_changed_is_named(debated: GitRepo, tmp_path: Path) -> None:
    folder, out = debated.path / ".specs/reports", tmp_path / "pages"
    first, second, third = sorted(folder.iterdir())
    first.write_text(first.read_text().replace('"score": 4', '"score": 2'))
    _, text = one_debate(debated, out)
    assert f"{first.name} is not known as what Flow wrote on this machine" in text
    assert "No consensus" in text
    first.write_text("no report")
    _, text = one_debate(debated, out)
    assert f"{first.name} is left out: it has no structured part" in text
    assert "No consensus" in text
    first.unlink()
    _, text = one_debate(debated, out)
    assert "A person decides" in text
    assert "a report is missing, or is not what Flow wrote" in text
    second.unlink()
    second.symlink_to(third)
    third.write_bytes(b"\xff")
    row, _ = one_debate(debated, out)
    assert (row["name"], row["page"]) == ("left out", None)
    assert third.name.removesuffix(".3.md") in words(out / "index.html")


HOSTILE = [
    ('"score": 4', '"score": NaN'),
    ('"score": 4', '"score": 1e999'),
    ('"score": 4', '"score": "4"'),
    ('"name": "docs"', '"name": "security"'),
    ('"name": "docs"', '"name": 7'),
    ('"round": 1', '"round": 9'),
    ('"judge": 1', '"judge": true'),
    ('"judge": 1', '"judge": 2'),
    ('"strengths": [', '"strengths": [[], '),
    ('"verification": [', '"verification": [{}, '),
    ('"recommendation": "pass"', '"recommendation": []'),
    ('"shares": [', '"shares": [{"number": 1, "text": ""}'),
    ("{", "[" * 9000),
]


def test_a_hostile_report_is_left_out(debated: GitRepo, tmp_path: Path) -> None:
    first = min((debated.path / ".specs/reports").iterdir())
    text = first.read_text()
    for there, hostile in HOSTILE:
        assert there in text
        first.write_text(text.replace(there, hostile))
        row, page = one_debate(debated, tmp_path / "pages")
        assert row["page"], hostile
        assert f"{first.name} is left out: its part" in page, hostile
