"""Which rubric a skill is judged by: the whole rule as a table, and broken files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.adapters.rubrics import scorecard_rubrics
from flow.adapters.rubrics.scorecard_rubrics import READY_MADE, choose
from flow.core.judging.scorecard.model import NAMES
from flow.core.untrusted.fences import FencedPart, fence
from flow.errors import ContractError, InputError, RefusedError, StorageError
from tests.support import ROOT

PLUGIN, OWN = "skills/judge/rubrics", ".flow/rubrics"


def rubric(*skills: str, text: str = "Own words.") -> str:
    """A project's rubric."""
    names = "".join(f"  - '{skill}'\n" for skill in skills)
    return f"---\ndomain: Own\nskills:\n{names}---\n{text}\n"


def write(top: Path, rel: str, text: str | bytes) -> Path:
    path = top / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("skill", "name"),
    [
        ("commit", "code"),
        ("/commit", "code"),
        ("acme:commit", "code"),
        ("code-review", "code"),
        ("Refactorer", "code"),
        ("tdd", "code"),
        ("deep-research", "research"),
        ("Explore", "research"),
        ("Plan", "research"),
        ("write-docs", "writing"),
        ("readme", "writing"),
        ("changelog-writer", "writing"),
        ("deploy", "ops"),
        ("k8s-rollout", "ops"),
        ("devops", "ops"),
        ("terraform-plan", "ops"),
        ("commitment", None),
        ("knit", None),
        ("goal", None),
        (None, None),
    ],
)
def test_the_ready_made_one_for_a_skill(skill: str | None, name: str | None) -> None:
    found = choose(skill, None, None)
    assert found.name == f"rubric-{name or 'default'}.md"
    assert found.recognised is (name is not None)
    assert found.source == "flow"
    if name is None:
        assert "the default one stands in" in found.why
        assert skill is None or skill in found.why
    else:
        assert found.why.startswith(f"Flow's rubric-{name}.md names ")


@pytest.mark.parametrize(
    ("files", "skill", "name", "text", "recognised", "source"),
    [
        # a project's own goes first, whatever its name
        (
            {f"{OWN}/rubric-zoo.md": ["commit"]},
            "commit",
            "rubric-zoo.md",
            "rubric-zoo",
            True,
            "project",
        ),
        ({f"{OWN}/zoo.md": ["com*"]}, "commit", "zoo.md", "zoo", True, "project"),
        (
            {f"{PLUGIN}/rubric-zoo.md": ["commit"]},
            "commit",
            "rubric-zoo.md",
            "skills",
            True,
            "project",
        ),
        # the first match by file name wins, over both folders
        (
            {f"{OWN}/rubric-b.md": ["knit"], f"{PLUGIN}/rubric-c.md": ["knit"]},
            *("knit", "rubric-b.md", "rubric-b", True, "project"),
        ),
        (
            {f"{OWN}/rubric-c.md": ["knit"], f"{PLUGIN}/rubric-b.md": ["k*"]},
            *("knit", "rubric-b.md", "skills", True, "project"),
        ),
        (
            {f"{OWN}/rubric-b.md": ["knit"], f"{PLUGIN}/rubric-b.md": ["knit"]},
            *("knit", "rubric-b.md", "skills", True, "project"),
        ),
        # another skill's changes nothing
        ({f"{OWN}/rubric-zoo.md": ["sew"]}, "commit", "rubric-code.md", "", True, "flow"),
        ({f"{OWN}/rubric-zoo.md": ["sew"]}, "knit", "rubric-default.md", "", False, "flow"),
        ({f"{OWN}/rubric-zoo.md": []}, "knit", "rubric-default.md", "", False, "flow"),
        ({f"{PLUGIN}/other.md": ["commit"]}, "commit", "rubric-code.md", "", True, "flow"),
        ({f"{OWN}/house.yaml": ["commit"]}, "commit", "rubric-code.md", "", True, "flow"),
        # a project's file stands in for Flow's of the same name
        ({f"{OWN}/rubric-code.md": []}, "commit", "rubric-code.md", "rubric-code", True, "project"),
        (
            {f"{OWN}/rubric-default.md": []},
            *("knit", "rubric-default.md", "rubric-default", False, "project"),
        ),
        (
            {f"{OWN}/rubric-default.md": ["*"]},
            *("knit", "rubric-default.md", "rubric-default", True, "project"),
        ),
        # names: letter case, prefix, exact
        ({f"{OWN}/z.md": ["KNIT"]}, "knit", "z.md", "z", True, "project"),
        ({f"{OWN}/z.md": ["wool:knit"]}, "wool:knit", "z.md", "z", True, "project"),
        ({f"{OWN}/z.md": ["knit"]}, "wool:knit", "z.md", "z", True, "project"),
        ({f"{OWN}/z.md": ["wool:knit"]}, "knit", "rubric-default.md", "", False, "flow"),
        ({f"{OWN}/z.md": ["[kK]nit"]}, "knit", "z.md", "z", True, "project"),
        ({f"{OWN}/z.md": ["knit"]}, None, "rubric-default.md", "", False, "flow"),
    ],
)
def test_a_projects_own(
    files: dict[str, list[str]],
    skill: str | None,
    name: str,
    text: str,
    recognised: bool,
    source: str,
    tmp_path: Path,
) -> None:
    for rel, skills in files.items():
        words = rel if rel.startswith("skills") else Path(rel).stem
        write(tmp_path, rel, rubric(*skills, text=f"{words} says.") if skills else f"{words} says.")
    found = choose(skill, None, str(tmp_path))
    assert (found.name, found.recognised, found.source) == (name, recognised, source)
    assert found.text.startswith(text)
    assert "---" not in found.text.splitlines()[0]
    if source == "project" and recognised and "own file of that name" not in found.why:
        assert found.why.startswith("the project's ")


@pytest.mark.parametrize(
    ("asked", "name", "source"),
    [
        ("ops", "rubric-ops.md", "flow"),
        ("rubric-ops", "rubric-ops.md", "flow"),
        ("rubric-ops.md", "rubric-ops.md", "flow"),
        ("default", "rubric-default.md", "flow"),
        ("zoo", "rubric-zoo.md", "project"),
        ("rubric-zoo.md", "rubric-zoo.md", "project"),
        ("house", "house.md", "project"),
        ("research", "rubric-research.md", "project"),
        ("./notes/mine.md", "mine.md", "file"),
        ("mine-here.md", "mine-here.md", "file"),
    ],
)
def test_what_was_asked_for_decides_alone(
    asked: str, name: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, f"{OWN}/rubric-zoo.md", rubric("sew"))
    write(tmp_path, f"{PLUGIN}/rubric-research.md", rubric("sew"))
    write(tmp_path, f"{OWN}/house.md", "House words.")
    write(tmp_path, "notes/mine.md", rubric("sew", text="Mine."))
    write(tmp_path, "mine-here.md", "Here.")
    monkeypatch.chdir(tmp_path)
    found = choose("commit", asked, str(tmp_path))
    assert (found.name, found.source, found.recognised) == (name, source, True)
    assert found.why == f"it was asked for: --rubric {asked}"


@pytest.mark.parametrize("asked", ["nothing", "./nothing.md", "", "../x.md", "a\0b", "a/\0"])
def test_what_is_not_there_is_an_error(asked: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        choose("commit", asked, str(tmp_path))
    assert caught.value.exit_code == 2


def test_where_a_rubric_is_not_there_those_that_are_get_named(tmp_path: Path) -> None:
    write(tmp_path, ".flow/rubrics/rubric-mine.md", "Mine.")
    write(tmp_path, ".flow/rubrics/house.md", "House.")
    with pytest.raises(InputError) as caught:
        choose("commit", "nothing", str(tmp_path))
    known = "house, mine, code, default, ops, research, writing"
    assert caught.value.fault.remedy == f"use one of {known}, or the path of a Markdown file"


BROKEN = {
    "no end": (b"---\nskills: [commit]\nWords.\n", "has no end"),
    "no YAML": (b"---\nskills: [commit\n---\nWords.\n", "rubric-x.md"),
    "a list": (b"---\n- commit\n---\nWords.\n", "rubric-x.md"),
    "a word": (b"---\nskills: commit\n---\nWords.\n", "not a list of names"),
    "a number": (b"---\nskills: [1]\n---\nWords.\n", "no name of a skill"),
    "an empty name": (b"---\nskills: ['']\n---\nWords.\n", "no name of a skill"),
    "a long name": (b"---\nskills: ['" + b"x" * 300 + b"']\n---\nWords.\n", "no name of a skill"),
    "a key twice": (b"---\nskills: [a]\nskills: [b]\n---\nWords.\n", "rubric-x.md"),
    "an alias": (b"---\na: &a [x]\nskills: *a\n---\nWords.\n", "rubric-x.md"),
    "no text": (b"---\nskills: [commit]\n---\n\n", "holds no rubric"),
    "empty": (b"", "holds no rubric"),
    "no UTF-8": (b"caf\xe9", "is not UTF-8"),
    "too large": (b"x" * (1 << 17), "larger than"),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("folder", [PLUGIN, OWN])
def test_a_malformed_rubric_is_a_clear_error(what: str, folder: str, tmp_path: Path) -> None:
    data, said = BROKEN[what]
    write(tmp_path, f"{folder}/rubric-x.md", data)
    with pytest.raises(ContractError) as caught:
        choose("commit", None, str(tmp_path))
    assert said in str(caught.value)
    assert f"{folder}/rubric-x.md" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("front", ["", "domain: X\n", "\n", "skills: []\n", "more: {a: [1]}\n"])
def test_a_front_matter_that_names_no_skill_is_fine(front: str, tmp_path: Path) -> None:
    write(tmp_path, f"{OWN}/rubric-x.md", f"---\n{front}---\nWords.\n")
    assert choose("commit", None, str(tmp_path)).name == "rubric-code.md"
    assert choose("commit", "x", str(tmp_path)).text == "Words.\n"


def test_windows_line_ends_and_a_mark_of_byte_order_are_read(tmp_path: Path) -> None:
    text = "\ufeff" + rubric("knit").replace("\n", "\r\n")
    write(tmp_path, f"{OWN}/rubric-x.md", text)
    assert choose("knit", None, str(tmp_path)).text == "Own words.\n"


def test_a_rule_in_the_text_is_no_front_matter(tmp_path: Path) -> None:
    write(tmp_path, f"{OWN}/rubric-x.md", "Words.\n\n---\n\nMore.\n")
    assert choose(None, "x", str(tmp_path)).text == "Words.\n\n---\n\nMore.\n"


def test_links_are_refused_by_name(tmp_path: Path) -> None:
    away = write(tmp_path, "away.md", rubric("commit"))
    (tmp_path / OWN).mkdir(parents=True)
    (tmp_path / OWN / "rubric-x.md").symlink_to(away)
    with pytest.raises(RefusedError, match=r"rubric-x\.md|symlink|regular"):
        choose("commit", None, str(tmp_path))


def test_an_installation_without_rubrics_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorecard_rubrics, "_FOLDERS", (str(tmp_path),))
    with pytest.raises(StorageError, match="missing from this installation"):
        choose("commit", None, None)


@pytest.mark.parametrize("name", READY_MADE)
def test_a_ready_made_rubric_shows_each_dimension_at_3_5_7_and_9(name: str) -> None:
    text = choose(None, name, None).text
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0].lower() for section in sections] == list(NAMES)
    for section in sections:
        cells = re.findall(r"^\| (\d) \| (.+) \|$", section, flags=re.MULTILINE)
        assert [score for score, _ in cells] == ["3", "5", "7", "9"]
        assert len({words for _, words in cells}) == 4
        assert all(len(words) > 15 for _, words in cells)


@pytest.mark.parametrize("name", READY_MADE)
def test_a_judge_is_given_a_ready_made_rubric_as_it_is(name: str) -> None:
    text = choose(None, name, None).text
    made = fence(FencedPart("rubric", text), "nonce", limit=40_000)
    assert (made.reports, made.left_out) == ((), 0)


def test_the_domains_differ_and_name_skills_that_no_other_has() -> None:
    found = {name: choose(None, name, None).text for name in READY_MADE}
    for dimension in NAMES[:-1]:
        cells = [
            text.lower().split(f"## {dimension}")[1].split("## ")[0] for text in found.values()
        ]
        assert len(set(cells)) == len(READY_MADE)
    named: list[str] = []
    for name in READY_MADE:
        front = Path(ROOT, PLUGIN, f"rubric-{name}.md").read_text().split("---\n")[1]
        named += re.findall(r"^  - (.+)$", front, flags=re.MULTILINE)
    assert len(named) == len(set(named)) > 80


# --- by the file's name, as last resort ----------------------------------------------------------

BARE = "# Own words\n\nWhat is good here.\n"
NO_LIST = "---\ndomain: Own\n---\n" + BARE

NAMED = [  # files without a list of skills, the skill, the file that is chosen
    ([f"{PLUGIN}/rubric-knit.md"], "knit", "rubric-knit.md"),
    ([f"{OWN}/rubric-knit.md"], "/Knit", "rubric-knit.md"),
    ([f"{OWN}/knit.md"], "acme:knit", "knit.md"),
    ([f"{OWN}/rubric-knit.md"], "knit-socks", "rubric-knit.md"),
    (
        [f"{OWN}/rubric-knit.md", f"{OWN}/rubric-knit-socks.md"],
        "knit-socks",
        "rubric-knit-socks.md",
    ),
    ([f"{OWN}/rubric-socks.md", f"{OWN}/rubric-knit.md"], "knit_socks", "rubric-knit.md"),
    ([f"{OWN}/rubric-knit-socks.md"], "knit", None),
    ([f"{OWN}/rubric-knit.md"], "knitting", None),
    ([f"{OWN}/rubric-socks-knit.md"], "knit-socks", None),
    ([f"{OWN}/rubric-.md"], "knit", None),
    ([f"{OWN}/rubric-knit.md"], "sew", None),
    ([f"{OWN}/rubric-default.md"], "default", None),
    ([f"{OWN}/rubric-knit.md"], None, None),
]


@pytest.mark.parametrize(("paths", "skill", "chosen"), NAMED)
@pytest.mark.parametrize(
    "text", [BARE, NO_LIST, "---\n---\n" + BARE, "---\nskills: []\n---\n" + BARE]
)
def test_a_file_without_a_list_is_chosen_by_its_name(
    paths: list[str], skill: str | None, chosen: str | None, text: str, tmp_path: Path
) -> None:
    for path in paths:
        write(tmp_path, path, text)
    found = choose(skill, None, str(tmp_path))
    assert found.name == (chosen or "rubric-default.md")
    assert found.recognised is (chosen is not None)
    if chosen is not None:
        assert found.why.endswith(f"{chosen} has its name")
        [note] = found.notes
        assert "by its name alone" in note
        assert "front matter (skills: [commit])" in note
    elif skill is not None and "default" not in paths[0]:
        assert found.notes[0].startswith("Without a list of skills, and named otherwise: ")
    else:
        assert found.notes == ()


def test_a_list_is_stronger_than_a_name_and_says_so(tmp_path: Path) -> None:
    write(tmp_path, f"{PLUGIN}/rubric-commit.md", BARE)
    found = choose("commit", None, str(tmp_path))
    assert (found.name, found.source) == ("rubric-code.md", "flow")
    [note] = found.notes
    assert note.startswith(f"Named as the skill, and not used for it: {PLUGIN}/rubric-commit.md.")
    write(tmp_path, f"{OWN}/zoo.md", rubric("commit"))
    assert choose("commit", None, str(tmp_path)).name == "zoo.md"


def test_a_list_without_the_skill_is_not_for_it_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, f"{OWN}/rubric-knit.md", rubric("sew"))
    found = choose("knit", None, str(tmp_path))
    [note] = found.notes
    assert found.name == "rubric-default.md"
    assert note.startswith(f"Named as the skill, but its list has others: {OWN}/rubric-knit.md. ")
    assert choose("weave", None, str(tmp_path)).notes == ()


def test_a_copy_of_the_default_one_is_chosen_by_its_name(tmp_path: Path) -> None:
    ready_made = Path(__file__).parents[3] / PLUGIN / "rubric-default.md"
    write(tmp_path, f"{PLUGIN}/rubric-knit.md", ready_made.read_text(encoding="utf-8"))
    found = choose("knit", None, str(tmp_path))
    assert (found.name, found.source) == ("rubric-knit.md", "project")


def test_what_nothing_leads_to_is_said(tmp_path: Path) -> None:
    for name in ("rubric-a.md", "own.md", "rubric-b.txt", ".keep"):
        write(tmp_path, f"{PLUGIN}/{name}", BARE)
    for name in ("rubric-a.md", "own.md", "house.yaml"):
        write(tmp_path, f"{OWN}/{name}", BARE)
    assert scorecard_rubrics.never_used(str(tmp_path)) == (
        f"{PLUGIN}/own.md is never used: a rubric of scorecards is rubric-<name>.md",
        f"{PLUGIN}/rubric-b.txt is never used: a rubric of scorecards is rubric-<name>.md",
        f"{OWN}/rubric-a.md is never used: {PLUGIN}/rubric-a.md comes first, and it names no skill",
    )
    assert scorecard_rubrics.never_used(str(tmp_path / "nowhere")) == ()
