"""What code, tests and docs refer to is there."""

from __future__ import annotations

import builtins
import re
from functools import cache
from pathlib import Path, PurePath

import pytest

from tests.support import ROOT
from tests.test_house import tracked

SPECIFICATION = Path(ROOT, "docs/reference/specification.md").read_text(encoding="utf-8")
SECTIONS = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", SPECIFICATION, re.M))
STEPS = set(re.findall(r"^(\d+)\. \*\*", SPECIFICATION, re.M))
"""Those of section 3, the only one with steps."""
HAZARDS_PAGE = next(Path(ROOT, "docs").rglob("hazards.md")).read_text(encoding="utf-8")
HAZARDS = set(re.findall(r"^(?:\| |## )([A-Z]\d*)(?: \||\. )", HAZARDS_PAGE, re.M))
DECISIONS = {int(page.name[:4]) for page in Path(ROOT, "docs").rglob("0[0-9][0-9][0-9]-*.md")}
PAGES = [
    *sorted(Path(ROOT).glob("*.md")),
    *sorted(Path(ROOT, "docs").rglob("*.md")),
    *sorted(Path(ROOT, "benchmarks").glob("*.md")),
]


@cache
def functions() -> dict[Path, set[str]]:
    """The functions of each file of the tests."""
    form = re.compile(r"^ *(?:async )?def (\w+)\(", re.M)
    files = Path(ROOT, "tests").rglob("*.py")
    return {path: set(form.findall(path.read_text(encoding="utf-8"))) for path in files}


def missing_tests(text: str) -> list[str]:
    """The tests that a page names and that are not there.

    A file is named by its path (``tests/x/test_y.py``, a pattern), a test by ``path::test``; after
    that both may be named by their name alone. What stands in a code block is the reader's.
    """
    missing, after, tests = [], False, functions()
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        path, _, test = span.partition("::")
        if re.fullmatch(r"tests/[\w./*]+", path):
            found, after = sorted(Path(ROOT).glob(path)), True
            there = any(not test or test in tests.get(file, ()) for file in found)
        elif after and re.fullmatch(r"test_\w+\.py", span):
            there = any(file.name == span for file in tests)
        elif after and re.fullmatch(r"test_\w+", span):
            there = any(span in names for names in tests.values())
        else:
            continue
        missing += [] if there else [span]
    for module in re.findall(r"python -m (tests\.[\w.]+)", text):
        path = Path(ROOT, *module.split("."))
        missing += [] if {path / "__main__.py", path.with_suffix(".py")} & {*tests} else [module]
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    assert missing_tests(page.read_text(encoding="utf-8")) == []


def test_a_test_that_is_gone_would_be_noticed() -> None:
    here = "tests/docs/test_references.py"
    kept = f"`{here}::test_a_test_that_is_gone_would_be_noticed`, `test_references.py`"
    assert missing_tests(kept) == []
    gone = ["tests/nowhere.py", f"{here}::test_a", "test_b", "test_c.py"]
    assert missing_tests(", ".join(f"`{name}`" for name in gone)) == gone
    assert missing_tests("`python -m tests.nowhere`") == ["tests.nowhere"]


FILES = [
    Path(ROOT, name)
    for name in tracked()
    if Path(name).suffix in (".py", ".md", ".sh", ".bash", ".toml", ".json", ".yaml", "")
    and not name.startswith((".flow-example/recorded/", "tests/hostile/corpus/", "tests/docs/"))
]
NUMBERS = r"(\d+(?:\.\d+)?(?:(?:,| and) \d+(?:\.\d+)?)*)"
"""``9.4``, or ``4, 5 and 7``; what follows (``, step 6``) is told apart by its word."""
IDS = r"([A-Z]\d*(?:(?:,| and) [A-Z]\d*\b)*)"
GONE = (
    (r"SPEC sections?\b|SPEC\.md|\bCASES (group |[A-H]\d)", "say SPEC 9.4, HAZARD E68"),
    (r"\bDESIGN\b|\bFINDINGS\.md|\.\./shared\b", "name a page of this repository"),
    (r"\(?\bissue \d+, point", "name the rule, not where it was asked for"),
)
"""What no file refers to."""
WORDS = ("SPEC", "HAZARD", "ADR", "CASES", "DESIGN", "FINDINGS", "../shared", "point")
"""One of them is in each reference, or ``[decision``, however its line is broken."""


def unresolved(text: str) -> list[str]:
    """The references to the specification, the hazards and decisions that lead nowhere.

    ``SPEC 9.4``, ``SPEC 3, step 6``, ``HAZARD E68`` and ``HAZARD E`` (a subject), ``ADR 33``. In
    pages a decision is a link, ``[decision 33](0033-vouching.md)``.
    """
    if not any(word in text for word in WORDS) and "[decision" not in text.lower():
        return []
    text = re.sub(r"\n *(#|//)? *(?=\S)", " ", text)  # a reference may be broken at a line's end
    missing = []
    for numbers, step in re.findall(rf"\bSPEC {NUMBERS}(?:, steps? (\d+))?", text):
        missing += [f"SPEC {n}" for n in re.findall(r"[\d.]+", numbers) if n not in SECTIONS]
        missing += [f"SPEC {numbers}, step {step}"] if step and step not in STEPS else []
    for names in re.findall(rf"\bHAZARD {IDS}", text):
        missing += [f"HAZARD {n}" for n in re.findall(r"[A-Z]\d*", names) if n not in HAZARDS]
    missing += [f"ADR {n}" for n in re.findall(r"\bADR (\d+)\b", text) if int(n) not in DECISIONS]
    for number, page in re.findall(r"\[decision (\d+)\]\([\w./-]*?(\d{4})-", text, re.I):
        missing += [f"[decision {number}]({page}-...)"] if int(number) != int(page) else []
    for form, remedy in GONE:
        missing += [f"{found.group()}: {remedy}" for found in re.finditer(form, text)]
    return missing


def pages_in(text: str) -> set[str]:
    if ".md" not in text:
        return set()
    return set(re.findall(r"(?<![\w./*-])(?:docs|benchmarks)/[\w./-]+\.md\b", text))


@pytest.mark.parametrize("folder", sorted({file.relative_to(ROOT).parts[0] for file in FILES}))
def test_every_reference_leads_somewhere(folder: str) -> None:
    found: dict[str, list[str]] = {}
    for file in FILES:
        name = file.relative_to(ROOT)
        if name.parts[0] == folder:
            text = file.read_text(encoding="utf-8")
            nowhere = unresolved(text)
            if folder not in ("tests", ".flow-example"):  # they make pages of their own
                nowhere += [page for page in pages_in(text) if not Path(ROOT, page).is_file()]
            found |= {str(name): nowhere} if nowhere else {}
    assert found == {}


def test_every_section_that_the_specification_names_is_there() -> None:
    named = re.findall(rf"\bsections? {NUMBERS}", SPECIFICATION)
    named += re.findall(r"(?<![\d.])(?:9|17)\.\d+(?![\d.]*\d|\w)", SPECIFICATION)
    numbers = {number for text in named for number in re.findall(r"[\d.]+", text)}
    assert numbers - SECTIONS - {"12", "16"} == set()  # the head says that these come later


@pytest.mark.parametrize(
    "text",
    ["SPEC 9.9", "(SPEC 4 and 12.1)", "SPEC 3, step 9", "HAZARD E99", "HAZARD G84, Q1", "ADR 45",
     "see SPEC\n    99.", "[decision 7](adr/0008-one-checkout.md)",
     "SPEC section 4", "CASES group E", "(issue 5, point 7)"],
)  # fmt: skip
def test_a_reference_that_leads_nowhere_would_be_noticed(text: str) -> None:
    assert unresolved(text) != []


def test_references_that_lead_somewhere() -> None:
    text = "SPEC 9.4, SPEC 3, step 6, and 9.1; SPEC 10, HAZARD E64; HAZARD A and B; (SPEC 17.3)."
    assert unresolved(f"{text} ADR 33 [decision 7](0007-supervisor.md)") == []
    assert pages_in("``docs/nowhere.md``, tests/docs/a.md") == {"docs/nowhere.md"}


MODULES = [PurePath(name) for name in tracked() if name.endswith(".py")]
ENDS = {"/".join(m.parts[start:]) for m in MODULES for start in range(len(m.parts))}


def is_module(name: str) -> bool:
    """Whether a module's path ends like this; it may be a pattern."""
    return name in ENDS or ("*" in name and any(module.match(name) for module in MODULES))


def modules_in(text: str) -> list[str]:
    """The modules that a page names by the end of their paths: ``core/decision/decide.py``."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    found = []
    for name in re.findall(r"`([\w/.*{},-]+\.py)`", text):
        start, _, rest = name.partition("{")
        words, _, end = rest.partition("}")
        found += [f"{start}{word}{end}" for word in words.split(",")]
    return found


MAINTAINERS = [page for page in PAGES if {"maintainers", "adr"} & set(page.parts)]
OTHERS = {"argparse.py", "yaml.py", "sitecustomize.py", "conftest.py"}
"""Names of files that others bring along."""


@pytest.mark.parametrize("page", MAINTAINERS, ids=lambda page: page.name)
def test_the_modules_that_a_page_for_maintainers_names_exist(page: Path) -> None:
    named = modules_in(page.read_text(encoding="utf-8"))
    assert {name for name in named if not is_module(name)} <= OTHERS


ROLE = re.compile(r":(?:class|func|data|meth|mod|attr|exc):`~?([\w.]+)`")
NAME = re.compile(r"^\s*(?:(?:async )?def |class |)(\w+)(?=[(:]| [:=])", re.M)
SEVERAL = re.compile(r"^((?:\w+, )+\w+) = ", re.M)
IMPORTED = re.compile(r"\bimport (?:\([^)]*\)|[\w, .]+)", re.M)
CODE = {
    ".".join(path.with_suffix("").parts): Path(ROOT, path).read_text(encoding="utf-8")
    for path in MODULES
    if path.parts[0] == "flow"
}


def is_there(module: str) -> bool:
    return module in CODE or f"{module}.__init__" in CODE


def names_in(module: str) -> set[str]:
    text = CODE.get(module) or CODE[f"{module}.__init__"]
    together = re.findall(r"\w+", " ".join(SEVERAL.findall(text)))
    return {*NAME.findall(text), *re.findall(r" import \w+ as (\w+)", text), *together}


@cache
def all_names() -> set[str]:
    """The names that Flow defines anywhere, and Python's own."""
    return set(dir(builtins)).union(*map(names_in, CODE))


def unknown_names(text: str) -> list[str]:
    """The modules, classes and functions that docstrings name by a role and that are not there.

    ``:func:`flow.core.x.f```, or a name that the module has or imports; a class's own by its name.
    """
    local = set(re.findall(r"\w+", " ".join(IMPORTED.findall(text)))) | {*NAME.findall(text)}
    missing = []
    for name in ROLE.findall(text):
        parts = name.split(".")
        if parts[0] != "flow":
            there = all_names() if len(parts) == 1 else local
            missing += [] if parts[0] in there | local else [name]
            continue
        size = next(n for n in range(len(parts), 0, -1) if is_there(".".join(parts[:n])))
        inside = names_in(".".join(parts[:size]))
        missing += [] if inside.issuperset(parts[size:]) else [name]
    return missing


def test_the_names_in_docstrings_are_there() -> None:
    unknown = {module: unknown_names(text) for module, text in CODE.items()}
    assert {module: names for module, names in unknown.items() if names} == {}


def test_a_name_that_is_gone_would_be_noticed() -> None:
    gone = ["flow.core.goal.model.Gaol", "flow.core.gaol", "entries.read", "Gaol"]
    there = ["flow.core.goal.model.Goal", "flow.core.goal.model", "Goal", "KeyboardInterrupt"]
    text = "".join(f":class:`~{name}`" for name in (*gone, *there))
    assert unknown_names(text) == gone


def test_where_a_rule_is_names_what_is_there() -> None:
    text = Path(ROOT, "docs/maintainers/architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`(flow/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 15
    for module, name in named:
        code = Path(ROOT, module).read_text(encoding="utf-8")
        assert re.search(rf"^\s*(def {name}\(|class {name}\b|{name}\b.*=)", code, re.M), (
            module,
            name,
        )


def test_every_hazard_has_one_row_and_a_test() -> None:
    text = Path(ROOT, "docs/maintainers/hazards.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z])(\d+) \|(.*)\|$", text, re.M)
    numbers = [int(number) for _, number, _ in rows]
    assert len(set(numbers)) == len(numbers)
    subjects = re.findall(r"^## ([A-Z])\. ", text, re.M)
    assert [subject for subject, _, _ in rows] == sorted(subject for subject, _, _ in rows)
    assert {subject for subject, _, _ in rows} == set(subjects)
    untested = [f"{subject}{number}" for subject, number, row in rows if "`tests/" not in row]
    assert untested == []


def test_every_decision_says_its_status_and_what_replaced_it() -> None:
    folder = next(Path(ROOT, "docs").rglob("0001-intent-file.md")).parent
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        number = int(page.name[:4])
        assert text.startswith(f"# {number}. "), page.name
        status = text.split("\n\n")[1]
        assert re.match("Status: (accepted|superseded by )", status), page.name
        if status.startswith("Status: superseded"):
            assert re.search(r"\(\d{4}-[\w-]+\.md\)", status), page.name
