"""Which files of a checkout the commands of a goal name, with its scripts read from the disk."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from flow.adapters.attribution.proof_files import watched_files
from flow.core.evidence.proof import Patterns

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "src/add.py": "",
    "tests/test_add.py": "",
    "tests/test_more.py": "",
    "run.sh": "#!/bin/sh\nexit 0\n",
    ".flow/checks/run.sh": "exit 0\n",
    ".flow/goals/greet.goal.yaml": "",
    "ci/test.sh": "exit 0\n",
    "ci/all.sh": "set -e\nsh scripts/check\n",
    "scripts/check": "exit 0 # all\n",
    "justfile": "test:\n  sh scripts/check\n",
    "conftest.py": "pytest_plugins = ['tools.plug']\n",
    "tools/plug.py": "",
    "Makefile": "check:\n\ttrue\ndeep:\n\t@$(MAKE) -C web check\n",
    "web/Makefile": "check: build\n\tsh scripts/run\nbuild:\n\t@true\n",
    "web/scripts/run": "exit 0\n",
    "package.json": '{"version": "1", "scripts": {"test": "sh ci/test.sh"}}\n',
    "pkg/__init__.py": "",
    "pkg/mod.py": "",
    "pyproject.toml": "",
}


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout; its files are as good without git."""
    folder = tmp_path_factory.mktemp("checkout")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("sh tests/../run.sh", "run.sh"),
        ("sh .flow/checks/run.sh", ".flow/checks/run.sh"),
        ("./run.sh", "run.sh"),
        ("sh tools/check; true", "tools/check"),
        ("PYTHONPATH=src pytest tests; true", "src/argparse.py"),
        ("timeout 9 bash -o pipefail check; true", "check"),
        ("python3 -B tools/check; true", "tools/check"),
        ("bash ci/test.sh", "ci/test.sh"),
        ("bash -c 'cd ci && sh test.sh'", "ci/test.sh"),
        ("cd ci && sh test.sh", "ci/test.sh"),
        ("make check", "Makefile"),
        ("make -C . check", "Makefile"),
        ("make -C web build check", "web/scripts/run"),
        ("cd web && make", "web/scripts/run"),
        ("make -j 2 deep", "web/scripts/run"),
        ("npm test || true", "package.json"),
        ("npm run test || true", "ci/test.sh"),
        ("python3 -B -m pkg.mod", "pkg/mod.py"),
        ("PYTHONPATH=src python3 -B tests/test_add.py", "tests/test_add.py"),
        ("PYTHONPATH=src python3 -B -m unittest tests.test_add; true", "tests/test_add.py"),
        ("pytest tests/test_add.py::test_y; true", "tests/test_add.py"),
        ("pytest tests; true", "tests/test_more.py"),
        ("pytest; true", "tests/test_more.py"),
        ("timeout 60 pytest -q; true", "conftest.py"),
        ("pytest tests; true", "tests/conftest.py"),
        ("pytest tests; true", "pytest.ini"),
        ("pytest tests; true", "setup.cfg"),
        ("./run.sh", "tests/test_more.py"),
        ('test -z "$(sh run.sh)"', "run.sh"),
        ("just test; true", "scripts/check"),
        ("tox; true", "tools/plug.py"),
        ("sh ci/all.sh", "scripts/check"),
        ("cat pkg/mod.py | sh -s; true", "pkg/mod.py"),
        ("xargs pytest < pkg/mod.py", "pkg/mod.py"),
        ("scripts/in-container 5 pytest; true", "tests/test_more.py"),
        ("python3 -B -c 'import sys'; ls tests", "tests/test_more.py"),
        ("python3 -m pytest tests", "pytest.py"),
        ("PYTHONPATH=src python3 tests/test_add.py", "src/sitecustomize.py"),
        ("X=tools; $X/check", "tools/check"),
        ("mypy src", "mypy.ini"),
    ],
)
def test_a_command_names(top: Path, command: str, path: str) -> None:
    assert names(top, command, path)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("sh ci/all.sh", "ci/test.sh"),
        ("cat .flow/goals/greet.goal.yaml", ".flow/goals/greet.goal.yaml"),
        ("npm run other", "ci/test.sh"),
        ("make check", "web/scripts/run"),
        ("test -e src/add.py", "src/add.py"),
        ("pytest --junitxml=report.xml tests/test_add.py", "src/add.py"),
    ],
)
def test_a_command_does_not_name(top: Path, command: str, path: str) -> None:
    assert not names(top, command, path)


def names(top: Path, command: str, path: str) -> bool:
    criterion = SimpleNamespace(verification_command=command, evidence_command=None, cwd=None)
    goal = SimpleNamespace(criteria=[criterion])
    watched = watched_files(goal, str(top), {"PATH": "/usr/bin:/bin"})  # type: ignore[arg-type]
    return Patterns(watched.patterns).first(path.encode()) is not None
