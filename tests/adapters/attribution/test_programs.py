"""Which programs a command's warning calls missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flow.adapters.attribution.programs import installed_elsewhere, missing, of_temporary_folder


def test_no_word_of_the_shell_itself_is_called_missing() -> None:
    asked = subprocess.run(
        ["bash", "--norc", "-c", "compgen -b; compgen -k"],
        capture_output=True,
        text=True,
        check=True,
    )
    words = set(asked.stdout.split()) - {"]]", "}"}  # these begin no command
    assert {"coproc", "mapfile", "cd"} <= words
    assert [word for word in sorted(words) if missing([word], "/", "/nonexistent")] == []


def test_a_program_of_no_folder_of_the_path_is_missing() -> None:
    assert missing(["cd", "ls"], "/", "/nonexistent") == "ls"
    assert missing(["cd", "./ls"], "/", "/bin:/usr/bin") == "./ls"


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("PATH=/tmp/x:$PATH pytest", "/tmp/x"),
        ('env PATH="$HOME/bin:/tmp/x:$PATH" pytest', "/tmp/x"),
        ("cd web && bash /tmp/check.sh", "/tmp/check.sh"),
        (". /var/tmp/env.sh; pytest", "/var/tmp/env.sh"),
        ("pytest -q --junitxml=/tmp/x.xml", ""),
        ("pytest > /tmp/log || { cat /tmp/log; exit 1; }", ""),
        ("go build -o /tmp/app . && /tmp/app --version", ""),
        ("bash /tmp/top/check.sh", ""),
        ("PATH=$PWD/bin:$PATH pytest", ""),
    ],
)
def test_programs_of_a_temporary_folder(command: str, place: str) -> None:
    """Outside of the checkout nothing vouches for them (HAZARD I346)."""
    assert of_temporary_folder(command, "/tmp/top") == place


PROJECT = '[project]\nname = "{}"\n'


def checkout(top: Path, name: str = "demo", where: str = "") -> str:
    (top / where / "src/demo").mkdir(parents=True)
    (top / ".git").write_text("gitdir: elsewhere\n")
    (top / where / "pyproject.toml").write_text(PROJECT.format(name))
    return str(top.resolve())


def environment(folder: Path, file: str, text: str) -> str:
    """A Python whose ``site-packages`` has one such file; its ``PATH``."""
    packages = folder / "lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (packages / file).write_text(text)
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(sys.executable)
    return f"{folder}/bin:/usr/bin"


FINDER = "MAPPING: dict[str, str] = {{'demo': '{}/src/demo'}}\nNAMESPACES = {{}}\n"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("__editable__.demo-1.pth", "{}/src\n"),
        ("demo.pth", "import sys\n{}\n"),
        ("__editable___demo_1_finder.py", FINDER),
    ],
)
def test_a_project_that_is_installed_from_another_checkout(
    tmp_path: Path, file: str, text: str
) -> None:
    """Tests of one working tree passed by the code of another (HAZARD I304)."""
    top, other = checkout(tmp_path / "here"), checkout(tmp_path / "other")
    path = environment(tmp_path / "env", file, text.format(other))
    assert installed_elsewhere(top, (), path).startswith(other)
    assert installed_elsewhere(top, (f"{top}/../env/bin/pytest",), "/usr/bin").startswith(other)
    assert installed_elsewhere(other, (), path) == ""


def test_a_package_of_a_repository_with_many(tmp_path: Path) -> None:
    top, other = (checkout(tmp_path / name, where="packages/demo") for name in ("here", "other"))
    path = environment(tmp_path / "env", "demo.pth", f"{other}/packages/demo/src\n")
    assert installed_elsewhere(top, (), path) == f"{other}/packages/demo/src"


@pytest.mark.parametrize("how", ["another project", "no checkout", "pythonpath", "gone", "link"])
def test_what_is_installed_otherwise_is_no_alarm(tmp_path: Path, how: str) -> None:
    top = checkout(tmp_path / "here")
    other = checkout(tmp_path / "other", "else" if how == "another project" else "demo")
    if how == "no checkout":
        (tmp_path / "other/.git").unlink()
    if how == "pythonpath":
        settings = PROJECT.format("demo") + '[tool.pytest]\npythonpath = ["src"]\n'
        (tmp_path / "here/pyproject.toml").write_text(settings)
    if how == "link":
        (tmp_path / "link").symlink_to(top)
        other = str(tmp_path / "link")
    place = f"{other}/none" if how == "gone" else f"{other}/src"
    path = environment(tmp_path / "env", "demo.pth", f"{place}\n")
    assert installed_elsewhere(top, (), path) == ""
