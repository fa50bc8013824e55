"""The wheel: what is in it, and that it works where only it and its packages are installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from flow.helpers.table import HELPERS
from tests.support import ROOT, GitRepo, run, run_helper, scene
from tests.support.wheelhouse import link_packages
from tests.test_house import tracked

pytestmark = pytest.mark.slow
OTHERS = [
    f"-pno:{name}" for name in ("anyio", "cacheprovider", "hypothesispytest", "pytest_cov", "xdist")
]
"""Plugins of pytest that would take the longest to load."""
SCHEMAS = ("evidence", "goal", "run", "verdict")
SCORED = ("code", "default", "ops", "research", "writing")
COUNTED = re.compile(r"\[\d+/\d+\] ")
"""A line of a command's progress."""
RUBRICS = ("accessibility", "code-quality", "documentation", "security", "test-coverage")


def build(source: str | Path, folder: Path, *kinds: str) -> dict[str, Path]:
    """Build ``kinds`` (``wheel``, ``sdist``) of ``source``, by suffix; with no network."""
    argv = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    argv += [word for kind in kinds for word in ("-t", kind)]
    done = subprocess.run(argv, cwd=source, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return {file.suffix: file for file in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What is built from the checkout."""
    return build(ROOT, tmp_path_factory.mktemp("built") / "dist", "wheel", "sdist")


@pytest.fixture(scope="module")
def wheel(built: dict[str, Path]) -> Path:
    """A wheel built from the checkout."""
    return built[".whl"]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment that has the wheel and what it requires."""
    with open(f"{ROOT}/pyproject.toml", "rb") as file:
        wanted: list[str] = tomllib.load(file)["project"]["dependencies"]
    venv = tmp_path_factory.mktemp("installed") / "venv"
    make = [sys.executable, "-I", "-m", "venv", "--without-pip", venv]
    subprocess.run(make, check=True, timeout=120)
    (site,) = venv.glob("lib/python*/site-packages")
    link_packages(site, wanted)  # pip looks whether they are what the wheel requires
    base = getattr(sys, "_base_executable", sys.executable)  # to put pip there, too, takes long
    pip = [base, "-I", "-m", "pip", "--python", str(venv / "bin/python"), "install", "--quiet"]
    options = ["--disable-pip-version-check", "--no-compile", "--no-index"]
    subprocess.run([*pip, *options, str(wheel)], check=True, timeout=120)
    return venv / "bin"


def test_wheel_holds_the_package_the_schemas_and_the_example(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in SCHEMAS:
            schema = archive.read(f"flow/_data/schemas/v1/{name}.schema.json")
            assert schema == Path(f"{ROOT}/schemas/v1/{name}.schema.json").read_bytes()
    rubrics = {name for name in names if name.startswith("flow/_data/rubrics/")}
    assert rubrics == {f"flow/_data/rubrics/{name}.yaml" for name in RUBRICS}
    scored = {name for name in names if name.startswith("flow/_data/scorecard_rubrics/")}
    assert scored == {f"flow/_data/scorecard_rubrics/rubric-{name}.md" for name in SCORED}
    assert {"flow/py.typed", "flow/__main__.py", "flow/core/goal/lifecycle.py"} <= names
    example = {name for name in names if name.startswith("flow/_data/example/")}
    tracked = [
        os.path.relpath(os.path.join(folder, name), f"{ROOT}/.flow-example")
        for folder, _, files in os.walk(f"{ROOT}/.flow-example")
        for name in files
        if "__pycache__" not in folder and not name.endswith(".pyc")
    ]
    assert tracked
    assert {f"flow/_data/example/{name}" for name in tracked} == example
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"flow"}
    assert not [name for name in names if "__pycache__" in name]


def test_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = message_from_bytes(archive.read(file))
        points = archive.read(file.replace("METADATA", "entry_points.txt")).decode()
        assert archive.read(file.replace("METADATA", "licenses/LICENSE")).startswith(b"MIT License")
    assert fields["Name"] == "flow-goal"
    assert fields["License-Expression"] == "MIT"
    assert "flow = flow.__main__:main" in points
    scripts = [line for line in points.splitlines() if ".sh = flow.__main__:helper" in line]
    assert sorted(line.partition(" ")[0] for line in scripts) == helpers()
    assert "[pytest11]\nflow.pytest_plugin = flow.pytest_plugin" in points
    runtime = [text for text in fields.get_all("Requires-Dist", []) if "extra" not in text]
    assert len(runtime) == 7
    assert all("<" not in text and "==" not in text for text in runtime)
    extras = {"anthropic", "dev", "fast", "openai", "sign", "watch"}
    assert set(fields.get_all("Provides-Extra", [])) == extras
    signing = [text for text in fields.get_all("Requires-Dist", []) if "extra == 'sign'" in text]
    assert [text.split(">=")[0] for text in signing] == ["cryptography", "securesystemslib"]


def test_source_distribution_builds_the_same_wheel(built: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(built[".gz"]) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
        archive.extractall(tmp_path / "unpacked", **safely)
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    for name in tracked():  # the tests, the plugin's files, every page that another one links to
        assert (unpacked / name).is_file(), name
    again = build(unpacked, tmp_path / "again", "wheel")[".whl"]
    with zipfile.ZipFile(built[".whl"]) as one, zipfile.ZipFile(again) as two:
        assert set(one.namelist()) == set(two.namelist())


def test_installed_command_works_from_any_folder(installed: Path, tmp_path: Path) -> None:
    found = run([installed / "flow", "--version"], cwd=tmp_path)
    assert found.status == 0, found.stderr
    for argv in ([installed / "flow"], [installed / "python", "-m", "flow"]):
        found = run([*argv, "schema", "goal"], cwd=tmp_path)
        assert (found.status, found.stderr) == (0, "")
        assert found.stdout == Path(f"{ROOT}/schemas/v1/goal.schema.json").read_text("utf-8")


def helpers() -> list[str]:
    """The helpers of a checkout, by the names of their scripts."""
    return sorted(file.name for file in Path(ROOT, "bin").glob("*.sh"))


@pytest.mark.parametrize("name", helpers())
def test_installed_helpers_answer_as_those_of_a_checkout(
    installed: Path, repo: GitRepo, name: str
) -> None:
    assert name.removesuffix(".sh") in HELPERS
    for words in (("--help",), ("--no-such-option",), ()):
        beside = run([installed / name, *words], cwd=repo.path)
        checkout = run_helper(name.removesuffix(".sh"), *words, cwd=repo.path)
        assert (beside.status, beside.stdout, beside.stderr) == (
            checkout.status,
            checkout.stdout,
            checkout.stderr,
        )


def test_installed_helpers_do_their_work(installed: Path, repo: GitRepo) -> None:
    active = installed / "flow-active-goal.sh"
    scene.start(repo)
    assert run([active, "--id"], cwd=repo.path).status == 1
    scene.create(repo)
    assert run([active, "--id"], cwd=repo.path).stdout == "greet\n"
    scene.create(repo, "other")
    assert run([active, "--id"], cwd=repo.path).status == 3
    journal = ("--issue", "7", "--type", "decision-summary", "--metadata", "a=b,c")
    assert run([installed / "journal-record.sh", *journal], cwd=repo.path).status == 0
    assert "decision-summary" in repo.read(".decisions/issue-7.md")


def test_installed_rubrics_are_there(installed: Path, tmp_path: Path) -> None:
    found = run([installed / "flow", "judge", "rubrics", "--json"], cwd=tmp_path)
    assert found.status == 0, found.stderr
    rows = found.json["rubrics"]
    assert sorted(row["name"] for row in rows) == list(RUBRICS)
    assert all("_data/rubrics" in row["file"] for row in rows)


def test_installed_rubrics_of_scorecards_are_there(installed: Path, tmp_path: Path) -> None:
    code = (
        "from flow.adapters.rubrics import scorecard_rubrics as r\n"
        "print([r.choose(None, name, None).source for name in r.READY_MADE], r.__file__)"
    )
    found = run([installed / "python", "-I", "-c", code], cwd=tmp_path)
    assert found.status == 0, found.stderr
    assert found.stdout.startswith(str(["flow"] * len(SCORED)))
    assert str(installed.parent) in found.stdout


def test_installed_plugin_is_found_by_pytest(installed: Path, tmp_path: Path) -> None:
    """With the metadata beside it, pytest loads it by its entry point."""
    (site,) = installed.parent.glob("lib/python*/site-packages")
    test = "def test_it(judge, request):\n    assert callable(judge)\n"
    (tmp_path / "test_it.py").write_text(test)
    env = {"PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": None}
    for more in ([], ["-p", "flow.pytest_plugin"]):
        argv = [sys.executable, "-m", "pytest", "-q", *OTHERS, *more, "test_it.py"]
        found = run(argv, cwd=tmp_path, env=env)
        assert found.status == 0, found.stdout + found.stderr
        assert "1 passed" in found.stdout


@pytest.mark.needs_tool("git")
def test_installed_demo_tells_its_story_whatever_surrounds_it(
    installed: Path, tmp_path: Path, home: Path
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.flow.json").write_text(
        '{"flow": {"goals": {"denied_paths": ["*"]}}}'
    )
    (home / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgsign = true\n")
    outer = tmp_path / "outer"
    outer.mkdir()
    env = {"TMPDIR": str(tmp_path), "GIT_DIR": str(outer), "GIT_INDEX_FILE": "x"}
    found = run([installed / "flow", "demo", "--all"], cwd=outer, env=env)
    story = found.stdout
    assert found.status == 0, story + found.stderr
    assert "NOT AS TOLD" not in story
    places = [
        story.index(words)
        for words in (
            "$ flow goal create --file goals/count-lines.goal.yaml",
            "$ flow goal evaluate count-lines --output none\n",
            "[exit 1]",
            "Somebody does the work.",
            "it is stale, and nothing can be confirmed.",
            "[exit 2]",
            "confirmed by the demo on your behalf",
            "count-lines is achieved",
            "|| true",
            "unique-words is active.",
            "[exit 3]",
            "hyphens is blocked.",
            "usage-page is achieved.",
            "COMPOSITE: 8.75/10 — Grade: A-",
            "consensus after debate 1",
            "**Pass**",
            "unique-words is waiting_for_user.",
            "Everything went as told",
        )
    ]
    assert places == sorted(places)
    third = story.index("== 3. ")
    assert "tests/test_hyphens.py" in story[third : story.index("hyphens is blocked.")]
    assert "masked" in story[:third]
    told = [line for line in story[: story.index("== 4. ")].splitlines() if not COUNTED.match(line)]
    assert len(told) <= 138  # of which some are a traceback, whose lines depend on Python
    assert list(tmp_path.iterdir()) == [outer], "the folder is removed"
    assert not (home / "flow-state").exists(), "the user's own trust ledger is left alone"


def test_installed_package_is_typed(installed: Path, tmp_path: Path) -> None:
    """As far as the function's own line: mypy would look through all of Flow behind it."""
    script = tmp_path / "use.py"
    script.write_text("import flow\nreveal_type(flow.evaluate)\n")
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        "[mypy]\n[mypy-flow.*]\nfollow_imports = skip\n"
        "[mypy-flow,flow.api]\nfollow_imports = normal\n"
    )
    argv = [sys.executable, "-m", "mypy", "--config-file", str(settings)]
    argv += ["--cache-dir", os.devnull, "--python-executable", str(installed / "python")]
    found = run([*argv, str(script)], cwd=tmp_path)
    assert "missing library stubs" not in found.stdout
    assert 'Revealed type is "def (goal_id: str, ' in found.stdout, found.stdout
