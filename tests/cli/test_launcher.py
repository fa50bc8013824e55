"""``bin/``: finding or preparing an interpreter, and starting isolated.

Each test has a copy of ``bin/`` in a folder of its own, with a small ``flow`` package in place of
the real one that tells how it was started. Packages come from wheels packed here, not a network.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import ROOT, Ran, run
from tests.support.wheelhouse import stand_ins

if TYPE_CHECKING:
    from collections.abc import Iterator

HELPERS = (
    "flow-active-goal",
    "flow-goal-record",
    "flow-goal-trust",
    "flow-record-evidence",
    "flow-record-verdict",
    "journal-record",
)
SYSTEM = "/usr/bin:/bin"
"""Where bash's own tools are; the interpreter is added by each test."""

STAND_IN = {
    "__init__.py": "",
    "startup/__init__.py": "",
    "startup/ctrl_c.py": "def own(): pass\ndef settle(): pass",
    "startup/finder.py": "def install(): pass",
    "part.py": "",
    "__main__.py": """
import json, os, sys

def main():
    if sys.argv[1:2] == ["exit"]:
        return int(sys.argv[2])
    if sys.argv[1:2] == ["all"]:
        import difflib, hashlib, importlib.metadata, logging, subprocess, tempfile, typing
    import filelock, git, jsonschema, transitions, yaml
    import flow.part
    print(json.dumps({
        "argv": sys.argv, "python": sys.executable, "path": sys.path, "yaml": yaml.__file__,
        "flow": flow.part.__file__, "stdin": sys.stdin.read(), "utf8": sys.flags.utf8_mode,
        "from": sorted({getattr(m, "__file__", None) or "" for m in sys.modules.values()}),
    }))
    return 0
""",
    "helpers.py": """
import json

def main(name, argv):
    print(json.dumps([name, argv]))
    return 3
""",
}
"""A ``flow`` that loads every package and tells how it was started."""


def interpreter() -> str:
    """The real interpreter behind the one that runs the tests."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def dependencies() -> list[str]:
    with open(f"{ROOT}/pyproject.toml", "rb") as file:
        wanted: list[str] = tomllib.load(file)["project"]["dependencies"]
    return wanted


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stand-ins of Flow's dependencies: what is in them makes no difference to the launcher."""
    names = {"gitpython": "git", "pyyaml": "yaml"}
    return stand_ins(tmp_path_factory.mktemp("wheels") / "house", dependencies(), names)


@pytest.fixture(scope="session")
def site(wheels: Path) -> Path:
    """What is in the wheels, as pip unpacks it."""
    folder = wheels.with_name("site")
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def make_checkout(folder: Path) -> Path:
    """A copy of what ``bin/`` needs, with the stand-in package."""
    shutil.copytree(f"{ROOT}/bin", folder / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(f"{ROOT}/pyproject.toml", folder)
    (folder / "flow" / "startup").mkdir(parents=True)
    for name, text in STAND_IN.items():
        (folder / "flow" / name).write_text(text)
    return folder


def lame(checkout: Path, imports: str, more: str = "") -> None:
    """Have ``checkout`` prepared by an interpreter that fails where it is to do ``imports``."""
    program = checkout.with_name("lame")
    program.write_text(
        f"""#!/bin/sh
case "$*" in
    *"{imports}"*) exit 1 ;;
    {more}
esac
exec {interpreter()} "$@"
"""
    )
    program.chmod(0o755)
    preparer = checkout / "bin/_prepare.py"
    text = preparer.read_text()
    line = 'base = getattr(sys, "_base_executable", None) or sys.executable'
    assert line in text
    preparer.write_text(text.replace(line, f"base = {str(program)!r}"))


def without_ensurepip(checkout: Path, pip: str = "") -> Path:
    """Have ``checkout`` prepared with the interpreter's own pip, which is there already.

    To put pip into each environment first takes most of the time that preparing one takes. ``pip``
    is what the shell does instead where pip itself is not the point: that takes most of the rest.
    """
    lame(checkout, "import venv, ensurepip", f"*' -m pip --python '*) {pip} ;;" if pip else "")
    return checkout


def put_there(site: Path) -> str:
    """In place of pip: copy what it would unpack."""
    return f"exec cp -R '{site}/.' \"${{5%/bin/python}}\"/lib/python*/site-packages"


def hanging(checkout: Path, site: Path) -> Path:
    """Have the first preparation hang where pip is to begin; the file is there from then on.

    The new environment is half made then, and stays so until the hanging one is ended.
    """
    hangs = checkout.with_name("hangs")
    once = f"[ -e '{hangs}' ] || {{ touch '{hangs}'; exec sleep 600; }}"
    without_ensurepip(checkout, f"{once}; {put_there(site)}")
    return hangs


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout, whose path has spaces."""
    return make_checkout(tmp_path / "a check out")


@pytest.fixture
def env(tmp_path: Path, wheels: Path) -> dict[str, str | None]:
    """The interpreter as ``python3`` on a short PATH, and the wheels instead of an index."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "python3").symlink_to(interpreter())
    return {
        "PATH": f"{folder}:{SYSTEM}",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_INDEX_URL": None,
        "PIP_EXTRA_INDEX_URL": None,
        "PIP_CONFIG_FILE": os.devnull,
    }


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """A checkout with its environment, for tests that do not change it."""
    folder = make_checkout(tmp_path_factory.mktemp("prepared") / "flow root")
    without_ensurepip(folder, put_there(site))
    env = {"PATH": f"{os.path.dirname(interpreter())}:{SYSTEM}", "HOME": str(folder)}
    found = run([folder / "bin/flow", "exit", "0"], cwd=folder, env=env)
    assert found.status == 0, found.stderr
    return folder


def report(found: Ran) -> dict[str, Any]:
    """What the stand-in told; the start must have gone well and quietly."""
    assert (found.status, found.stderr) == (0, "")
    told: dict[str, Any] = found.json
    return told


def one_line(found: Ran, name: str) -> str:
    """The only line on stderr."""
    lines = found.stderr.splitlines()
    assert len(lines) == 1, found.stderr
    assert lines[0].startswith(f"{name}: cannot start: ")
    assert found.stdout == ""
    return lines[0]


# --- the first start ---


@pytest.mark.slow
def test_first_starts_prepare_once_and_say_so_and_the_next_is_quiet(
    checkout: Path, env: dict[str, str | None], tmp_path: Path
) -> None:
    """Three at once, of which one prepares."""
    environment = {**os.environ, **env}
    started = [
        subprocess.Popen(
            [checkout / "bin" / script, "one", "two words"],
            cwd=tmp_path,
            env={name: value for name, value in environment.items() if value is not None},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for script in ("flow", "journal-record.sh", "flow")
    ]
    told, said = zip(*(each.communicate("typed", timeout=600) for each in started), strict=True)
    assert [process.returncode for process in started] == [0, 3, 0], said
    waits = r"[\w-]+: waiting for another process that is preparing\n"
    assert re.fullmatch(
        r"(flow|journal-record): preparing its packages for Python 3\.\d+ in "
        rf"{checkout}/\.venv-flow \(needed once\)\n"
        r"\1: prepared in \d+ s\n",
        re.sub(waits, "", "".join(said)),
    )
    first = json.loads(told[0])
    assert first["argv"] == ["flow", "one", "two words"]
    assert first["stdin"] == "typed"
    assert first["yaml"].startswith(f"{checkout}/.venv-flow/venv/")
    assert first["python"] == f"{checkout}/.venv-flow/venv/bin/python"
    assert sorted(os.listdir(checkout / ".venv-flow")) == [".gitignore", "lock", "venv"]
    assert (checkout / "flow/__pycache__").is_dir()

    second = report(run([checkout / "bin/flow"], cwd=tmp_path, env=env))
    assert second["yaml"] == first["yaml"]

    # Another part of pyproject.toml: nothing is prepared. Other dependencies: prepared anew, here
    # with the interpreter's own pip.
    text = (checkout / "pyproject.toml").read_text()
    (checkout / "pyproject.toml").write_text(text + "\n# a comment\n")
    report(run([checkout / "bin/flow"], cwd=tmp_path, env=env))
    (checkout / "pyproject.toml").write_text(re.sub(r'\n    "pyyaml>=[^"]*",', "", text))
    without_ensurepip(checkout)
    changed = run([checkout / "bin/flow", "exit", "0"], cwd=tmp_path, env=env)
    assert "preparing its packages" in changed.stderr
    assert changed.status == 0
    for name in ("pip", "yaml"):
        assert not list((checkout / ".venv-flow/venv").glob(f"lib/python*/site-packages/{name}"))
    assert sorted(os.listdir(checkout / ".venv-flow")) == [".gitignore", "lock", "venv"]


@pytest.mark.slow
def test_a_start_killed_while_preparing_is_made_good_by_the_next(
    checkout: Path, env: dict[str, str | None], tmp_path: Path, site: Path
) -> None:
    """And an interrupt leaves nothing half made."""
    hangs = hanging(checkout, site)
    environment = {**os.environ, **env}

    def end_by(number: signal.Signals) -> tuple[int, str, str]:
        process = subprocess.Popen(
            [checkout / "bin/flow"],
            cwd=tmp_path,
            env={name: value for name, value in environment.items() if value is not None},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        wait_for(hangs)
        assert list(checkout.glob(".venv-flow/new-*/bin/python"))
        os.killpg(process.pid, number)
        out, said = process.communicate(timeout=60)
        hangs.unlink()
        return process.returncode, out, said

    status, out, said = end_by(signal.SIGINT)
    assert (status, out) == (130, "")
    assert len(said.splitlines()) == 1, said
    assert sorted(os.listdir(checkout / ".venv-flow")) == [".gitignore", "lock"]

    assert end_by(signal.SIGKILL)[0] == -signal.SIGKILL
    assert list(checkout.glob(".venv-flow/new-*"))
    assert not (checkout / ".venv-flow/venv").exists()
    hangs.touch()
    found = run([checkout / "bin/flow"], cwd=tmp_path, env=env)
    assert found.status == 0, found.stderr
    assert sorted(os.listdir(checkout / ".venv-flow")) == [".gitignore", "lock", "venv"]


@pytest.mark.slow
def test_an_environment_whose_interpreter_was_removed_is_made_anew(
    prepared: Path, env: dict[str, str | None], tmp_path: Path
) -> None:
    checkout = tmp_path / "copy"
    shutil.copytree(prepared, checkout, symlinks=True)
    for name in os.listdir(checkout / ".venv-flow/venv/bin"):
        if name.startswith("python"):
            (checkout / ".venv-flow/venv/bin" / name).unlink()
    (checkout / ".venv-flow/venv/bin/python").symlink_to(tmp_path / "removed/python3.11")
    found = run([checkout / "bin/flow"], cwd=tmp_path, env=env)
    assert found.status == 0, found.stderr
    assert "preparing its packages" in found.stderr
    assert report(run([checkout / "bin/flow"], cwd=tmp_path, env=env))


@pytest.mark.slow
def test_without_a_network_it_says_so_and_leaves_nothing_half_made(
    checkout: Path, env: dict[str, str | None], tmp_path: Path
) -> None:
    env = {**env, "PIP_NO_INDEX": None, "PIP_FIND_LINKS": None, "PIP_RETRIES": "0"}
    env["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
    without_ensurepip(checkout)
    found = run([checkout / "bin/flow-record-verdict.sh"], cwd=tmp_path, env=env)
    assert (found.status, found.stdout) == (2, "")
    preparing, problem = found.stderr.splitlines()
    assert preparing.startswith("flow-record-verdict: preparing its packages")
    assert problem.startswith(
        "flow-record-verdict: cannot start: pip could not install the packages ("
    )
    assert "connect to the network" in problem
    assert "PIP_FIND_LINKS" in problem
    assert "FLOW_PYTHON" in problem
    assert sorted(os.listdir(checkout / ".venv-flow")) == [".gitignore", "lock"]


@pytest.mark.slow
def test_without_a_network_the_packages_of_the_interpreter_itself_serve(
    checkout: Path, env: dict[str, str | None], tmp_path: Path, site: Path
) -> None:
    """As where the distribution or an active environment has them all."""
    own = tmp_path / "own"
    make_environment(own, site)
    without_ensurepip(checkout, "exit 1")
    env = {**env, "PATH": f"{own}/bin:{SYSTEM}", "PIP_FIND_LINKS": None}
    first = run([checkout / "bin/flow"], cwd=tmp_path, env=env)
    assert first.status == 0, first.stderr
    assert f"using the packages of {own}/bin/python" in first.stderr
    assert first.json["yaml"].startswith(f"{own}/lib/")
    second = report(run([checkout / "bin/flow"], cwd=tmp_path, env=env))
    assert second["yaml"] == first.json["yaml"]


def make_environment(folder: Path, packages: Path) -> None:
    """A virtual environment of somebody's own, with the packages."""
    subprocess.run(
        [interpreter(), "-I", "-m", "venv", "--without-pip", folder], check=True, timeout=120
    )
    (site,) = folder.glob("lib/python*/site-packages")
    shutil.copytree(packages, site, dirs_exist_ok=True)


def test_no_python_is_one_line(checkout: Path, tmp_path: Path) -> None:
    """The usual places are looked at besides PATH, so they are hidden by an edit here."""
    finder = checkout / "bin/_find-python.bash"
    finder.write_text(re.sub(r":/opt/homebrew/bin\S*", "", finder.read_text()))
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text("#!/bin/sh\nexit 1\n")  # an older Python fails the probe like this
    (old / "python3").chmod(0o755)
    (tmp_path / "python3").symlink_to(interpreter())  # must not be found through a relative folder
    env = {"PATH": f"{old}:.::bin"}
    problem = one_line(run([checkout / "bin/flow"], cwd=tmp_path, env=env), "flow")
    assert "no Python 3.11 or newer was found" in problem
    assert "FLOW_PYTHON" in problem
    assert run([checkout / "bin/flow"], cwd=tmp_path, env=env).status == 5
    for name in HELPERS:
        found = run([checkout / f"bin/{name}.sh", "--help"], cwd=tmp_path, env=env)
        one_line(found, name)
        assert found.status == 2


@pytest.mark.slow
def test_no_venv_module_names_the_package_to_install(
    checkout: Path, env: dict[str, str | None], tmp_path: Path
) -> None:
    """Debian's python3 without python3-venv: simulated by an interpreter that finds neither."""
    lame(checkout, "import venv, ")
    found = run([checkout / "bin/flow-goal-trust.sh"], cwd=tmp_path, env=env)
    assert found.status == 2
    assert "has no venv module; install it (Debian and Ubuntu: apt install python3." in found.stderr
    assert not (checkout / ".venv-flow/venv").exists()


# --- $FLOW_PYTHON ---


def test_flow_python_is_used_with_its_own_packages(checkout: Path, tmp_path: Path) -> None:
    told = report(run([checkout / "bin/flow"], cwd=tmp_path, env={"FLOW_PYTHON": sys.executable}))
    assert told["python"] == sys.executable
    assert told["flow"] == str(checkout / "flow/part.py")
    assert not (checkout / ".venv-flow").exists()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("python3", "FLOW_PYTHON=python3 is not the absolute path of an interpreter"),
        ("/no/such/python", "FLOW_PYTHON=/no/such/python is not the absolute path"),
        ("/usr/bin", "FLOW_PYTHON=/usr/bin is not the absolute path"),
    ],
)
def test_flow_python_that_cannot_be_used(
    checkout: Path, tmp_path: Path, value: str, why: str
) -> None:
    for script, status in (("flow", 5), ("journal-record.sh", 2)):
        found = run([checkout / "bin" / script], cwd=tmp_path, env={"FLOW_PYTHON": value})
        assert why in one_line(found, script.removesuffix(".sh"))
        assert found.status == status


@pytest.mark.slow
def test_flow_python_without_the_packages_names_them(checkout: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    make = [interpreter(), "-I", "-m", "venv", "--without-pip", str(bare)]
    subprocess.run(make, check=True, timeout=120)
    env = {"FLOW_PYTHON": f"{bare}/bin/python"}
    found = run([checkout / "bin/flow-record-verdict.sh"], cwd=tmp_path, env=env)
    problem = one_line(found, "flow-record-verdict")
    assert "lacks filelock>=" in problem
    assert "pyyaml>=" in problem
    assert found.status == 2


def test_the_quick_look_at_the_packages_finds_what_the_thorough_one_finds(tmp_path: Path) -> None:
    def part(name: str) -> Any:
        spec = spec_from_file_location(name, f"{ROOT}/bin/{name}.py")
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    launch, prepare = part("_launch"), part("_prepare")
    text = Path(ROOT, "pyproject.toml").read_bytes()
    assert launch.requirements(text) == prepare.requirements(text) == dependencies()
    assert launch.are_there(dependencies(), sys.path)
    assert prepare.missing(dependencies(), sys.path) == []

    folders = [str(tmp_path / name) for name in ("none", "first", "second")]
    for folder, name, version in (
        (1, "Some_Package", "1.10"),
        (1, "old", "1.9"),
        (2, "old", "2.0"),
        (2, "early", "2.0rc1"),
    ):
        about = Path(folders[folder], f"{name}-{version}.dist-info")
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    for wanted, quick, thorough in (
        (["some-package>=1.9"], True, True),
        (["some-package>=1.9", "old>=1.9"], True, True),
        (["some-package>=1.9", "old>=1.10"], False, False),
        (["some-package>=1.9", "absent>=1"], False, False),
        (["early>=1.0"], False, True),
    ):
        assert launch.are_there(wanted, folders) == quick
        assert (prepare.missing(wanted, folders) == []) == thorough
    assert not launch.are_there([], folders)


# --- a read-only checkout ---


def unprivileged(*argv: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """``argv``, so started that permission bits hold for root too."""
    if os.geteuid() != 0:
        return list(argv)
    drop = "-dac_override,-dac_read_search,-fowner"
    return ["setpriv", "--bounding-set", drop, "--inh-caps", "-all", *argv]


@pytest.fixture
def read_only(checkout: Path, site: Path) -> Iterator[Path]:
    """A checkout that nobody may write to."""
    without_ensurepip(checkout, put_there(site))
    folders = [checkout, *(path for path in checkout.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield checkout
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.needs_tool(*(["setpriv"] if os.geteuid() == 0 else []))
def test_read_only_checkout_prepares_in_the_users_cache(
    read_only: Path, env: dict[str, str | None], tmp_path: Path, home: Path
) -> None:
    """Below the home, as XDG_CACHE_HOME is relative: see the test of both that name the folder."""
    env["XDG_CACHE_HOME"] = "cache"
    folder = home / ".cache"
    first = run(unprivileged(read_only / "bin/flow"), cwd=tmp_path, env=env)
    assert first.status == 0, first.stderr
    assert (
        f"preparing its packages for Python 3.{sys.version_info[1]} in {folder}/flow/"
        in first.stderr
    )
    assert f"{read_only} is read-only" in first.stderr
    assert first.json["yaml"].startswith(f"{folder}/flow/checkout")
    assert not (read_only / ".venv-flow").exists()
    assert not (tmp_path / "cache").exists()
    # The shell finds what Python made, from any folder and through a symlink.
    (tmp_path / "link").symlink_to(read_only / "bin")
    for start in (read_only / "bin/flow", tmp_path / "link/flow", "bin/flow"):
        again = report(run(unprivileged(start), cwd=read_only, env=env))
        assert again["yaml"] == first.json["yaml"]


@pytest.mark.slow
@pytest.mark.needs_tool(*(["setpriv"] if os.geteuid() == 0 else []))
def test_a_read_only_checkout_that_was_prepared_before_is_used_as_it_is(
    prepared: Path, tmp_path: Path, home: Path
) -> None:
    checkout = tmp_path / "installed"
    shutil.copytree(prepared, checkout, symlinks=True)
    folders = [checkout, *(path for path in checkout.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        told = report(run(unprivileged(checkout / "bin/flow"), cwd=tmp_path, env={"PATH": SYSTEM}))
        assert told["yaml"].startswith(f"{checkout}/.venv-flow/venv/")
        assert not (home / ".cache").exists()
    finally:
        for folder in folders:
            folder.chmod(0o755)


# --- every start ---


@pytest.mark.parametrize("name", HELPERS)
def test_helpers_pass_their_name_and_arguments(prepared: Path, tmp_path: Path, name: str) -> None:
    arguments = ["--goal-file", "a b", "", "*", "--help"]
    found = run([prepared / f"bin/{name}.sh", *arguments], cwd=tmp_path)
    assert (found.status, found.json, found.stderr) == (3, [name, arguments], "")


def test_exit_status_and_stdin_pass_through(prepared: Path, tmp_path: Path) -> None:
    assert run([prepared / "bin/flow", "exit", "3"], cwd=tmp_path).status == 3
    told = report(run([prepared / "bin/flow"], cwd=tmp_path, input="line\n" * 3))
    assert told["stdin"] == "line\n" * 3


def test_hostile_working_directory_and_environment_are_not_imported(
    prepared: Path, tmp_path: Path, home: Path
) -> None:
    """HAZARD C32. Every module that is loaded at a start has a namesake here that would tell."""
    told = report(run([prepared / "bin/flow", "all"], cwd=tmp_path))
    names = {Path(file).stem for file in told["from"] if file}
    names |= {"flow", "site", "sitecustomize", "usercustomize", "_prepare", "_launch", "encodings"}
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in names - {"__init__"}:
        (trap / f"{name}.py").write_text(
            f"open({str(tmp_path / 'sprung')!r}, 'w').write({name!r})\n"
        )
    (trap / "flow").mkdir()
    shutil.copy(trap / "flow.py", trap / "flow/__init__.py")
    (trap / "pyvenv.cfg").write_text(f"home = {trap}\n")
    (trap / "profile").write_text(f"echo sprung > {tmp_path / 'sprung'}\n")
    user = home / f".local/lib/python3.{sys.version_info[1]}/site-packages"
    user.mkdir(parents=True)
    shutil.copy(trap / "usercustomize.py", user)
    env = {
        "PYTHONPATH": f".:{trap}",
        "PYTHONSTARTUP": f"{trap}/yaml.py",
        "PYTHONHOME": str(trap),
        "PYTHONINSPECT": "1",
        "BASH_ENV": f"{trap}/profile",
        "ENV": f"{trap}/profile",
        "CDPATH": str(trap),
        "SHELLOPTS": "noexec",
        "BASH_FUNC_exec%%": f"() {{ echo > {tmp_path / 'sprung'}; }}",
        "PATH": f".:{os.environ['PATH']}",
    }
    for start in (prepared / "bin/flow", os.path.relpath(prepared / "bin/flow", trap)):
        told = report(run([start, "all"], cwd=trap, env=env))
        assert told["flow"] == str(prepared / "flow/part.py")
        assert not [folder for folder in told["path"] if folder.startswith(str(trap))]
    assert run([prepared / "bin/journal-record.sh"], cwd=trap, env=env).status == 3
    assert not (tmp_path / "sprung").exists()


def test_files_at_the_top_of_the_checkout_are_not_imported(prepared: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "copy"
    shutil.copytree(prepared, checkout, symlinks=True)
    for name in ("yaml", "json", "sitecustomize", "site", "os", "filelock"):
        (checkout / f"{name}.py").write_text("raise SystemExit('sprung')\n")
    told = report(run([checkout / "bin/flow"], cwd=checkout))
    assert str(checkout) not in told["path"]
    told = report(run([checkout / "bin/flow"], cwd=checkout, env={"FLOW_PYTHON": sys.executable}))
    assert str(checkout) not in told["path"]


def test_through_symlinks(prepared: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/absolute").symlink_to(prepared / "bin/flow")
    (tmp_path / "far/chain").symlink_to("absolute")
    (tmp_path / "up").symlink_to("far/chain")
    (tmp_path / "folder").symlink_to(prepared / "bin")
    (tmp_path / "relative").symlink_to(os.path.relpath(prepared / "bin/flow", tmp_path))
    for start in ("./up", "far/chain", "folder/flow", "./relative", tmp_path / "up"):
        told = report(run([start], cwd=tmp_path))
        assert told["flow"] == str(prepared / "flow/part.py")
    path = {"PATH": f"{tmp_path}/far:{os.environ['PATH']}"}
    assert report(run(["bash", "-p", "-c", "chain"], cwd="/", env=path))
    assert report(run(["bash", "flow"], cwd=prepared / "bin"))


@pytest.mark.parametrize("home_value", [None, "", "relative"])
def test_home_unset_or_useless(prepared: Path, tmp_path: Path, home_value: str | None) -> None:
    report(run([prepared / "bin/flow"], cwd=tmp_path, env={"HOME": home_value}))


CACHE_FOLDERS = """
import itertools, os, sys
sys.path.append(sys.argv[1])
import _prepare
homes, caches = (None, "", "relative", "/somewhere/~/x"), (None, "rel", "/the cache")
for values in itertools.product(homes, caches):
    for name, value in zip(("HOME", "XDG_CACHE_HOME"), values):
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    print(_prepare.cache_folder(sys.argv[2]))
"""


def test_shell_and_python_agree_where_the_cache_is(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / ("with ünïcode & spaces " + "x" * 90))
    argv = [interpreter(), "-I", "-X", "utf8", "-c", CACHE_FOLDERS, str(root / "bin"), str(root)]
    python = run(argv, cwd=tmp_path).stdout.splitlines()
    script = f'. "{root}/bin/_start.bash"; flow_cache "{root}/bin/.."'
    homes, caches = (None, "", "relative", "/somewhere/~/x"), (None, "rel", "/the cache")
    own = pwd.getpwuid(os.getuid()).pw_dir
    for told, (home, cache) in zip(python, product(homes, caches), strict=True):
        env = {"HOME": home, "XDG_CACHE_HOME": cache}
        shell = run(["bash", "-p", "-c", script], cwd=tmp_path, env=env)
        assert (shell.status, shell.stdout, shell.stderr) == (0, f"{told}\n", "")
        base = (
            "/the cache" if cache == "/the cache" else f"{home if home == homes[3] else own}/.cache"
        )
        assert told.startswith(f"{base}/flow/checkout")
        assert len(os.path.basename(told)) < 120


def test_working_directory_that_is_gone(prepared: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd '{gone}' && rmdir '{gone}' && exec '{prepared}/bin/flow' exit 4"
    assert run(["bash", "-c", script], cwd=tmp_path).status == 4


def test_utf8_whatever_the_locale(prepared: Path, tmp_path: Path) -> None:
    for locale in ("C", "POSIX", "C.UTF-8", None):
        told = report(run([prepared / "bin/flow", "é✓"], cwd=tmp_path, env={"LC_ALL": locale}))
        assert told["argv"] == ["flow", "é✓"]
        assert told["utf8"] == 1


@pytest.mark.parametrize("system", ["msys", "cygwin"])
def test_native_windows_is_refused(prepared: Path, tmp_path: Path, system: str) -> None:
    script = f'OSTYPE={system}; . "{prepared}/bin/_start.bash"; flow_start flow-goal-trust check'
    found = run(["bash", "-p", "-c", script], cwd=tmp_path)
    assert "native Windows is not supported; use WSL" in one_line(found, "flow-goal-trust")
    assert found.status == 2


@pytest.mark.needs_tool("strace")
def test_the_usual_start_makes_no_process(prepared: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    trace = ["strace", "-f", "-o", str(log), "-e", "trace=fork,vfork,clone,clone3,execve"]
    found = run([*trace, prepared / "bin/flow-active-goal.sh"], cwd=tmp_path)
    assert found.status == 3, found.stderr
    calls = [line.split(None, 1)[1] for line in log.read_text().splitlines()]
    assert [call.split("(")[0] for call in calls if not call.startswith("+++")] == ["execve"] * 2


def test_every_script_is_as_it_should_be() -> None:
    scripts = {f"{name}.sh" for name in HELPERS} | {"flow", "check"}
    for entry in os.scandir(f"{ROOT}/bin"):
        if not entry.is_file():
            continue
        executable = os.access(entry.path, os.X_OK)
        assert executable == (entry.name in scripts), entry.name
        with open(entry.path, encoding="utf-8") as file:
            text = file.read()
        if executable:
            assert text.startswith("#!/bin/bash -p\n"), entry.name
        if entry.name.endswith((".sh", ".bash")) or executable:
            done = subprocess.run(["bash", "-n", entry.path], capture_output=True, timeout=60)
            assert (done.returncode, done.stderr) == (0, b"")
            # What bash 3.2, which macOS has, does not know.
            assert not re.search(
                r"declare -A|local -n|mapfile|readarray|\$\{[a-z_]+(,,|\^\^|@)"
                r"|\|&|&>>|coproc|\[\[ -v",
                text,
            ), entry.name


@pytest.mark.parametrize(("script", "status"), [("flow", 5), ("flow-active-goal.sh", 2)])
def test_half_an_installation_is_one_line(tmp_path: Path, script: str, status: int) -> None:
    shutil.copytree(os.path.join(ROOT, "bin"), tmp_path / "bin")
    shutil.copy(os.path.join(ROOT, "pyproject.toml"), tmp_path)
    done = run([tmp_path / "bin" / script], cwd=tmp_path, env={"FLOW_PYTHON": sys.executable})
    assert (done.status, done.stdout) == (status, "")
    assert done.stderr.splitlines() == [
        f"{script.removesuffix('.sh')}: cannot start: ModuleNotFoundError: No module named 'flow'"
    ]


LEAVING = """
import sys
sys.path.append(sys.argv[1])
import _launch
class Last:
    def __del__(self):
        print("taken apart")
last = Last()
print("told at the end", end="")
_launch.leave(7)
sys.exit(7)
"""


def test_a_process_ends_with_all_that_it_printed_and_is_not_taken_apart(tmp_path: Path) -> None:
    leaving = [interpreter(), "-I", "-S", "-c", LEAVING, f"{ROOT}/bin"]
    done = run(leaving, cwd=tmp_path)
    assert (done.status, done.stdout, done.stderr) == (7, "told at the end", "")
    closed = run(["bash", "-c", 'exec "$@" >&-', "bash", *leaving], cwd=tmp_path)
    assert (closed.status, closed.stdout) == (7, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_what_could_not_be_printed_at_the_end_is_no_success(tmp_path: Path) -> None:
    leaving = [interpreter(), "-I", "-S", "-c", LEAVING.replace("7", "0"), f"{ROOT}/bin"]
    done = run(["bash", "-c", 'exec "$@" >/dev/full', "bash", *leaving], cwd=tmp_path)
    assert done.status == 120
    assert "No space left" in done.stderr
