"""Make the virtual environment that the scripts of this folder start Flow in.

It is made once, from the `dependencies` in pyproject.toml, and again when those change: in
`.venv-flow` of the checkout, or in the user's cache where the checkout is read-only. That folder
holds

    lock        held while one is made; a second caller waits for the first
    venv        the environment, put in place whole
    new-N       one being made by process N; what a killed one left is removed

Flow itself is not installed there: _start.py takes it from the checkout. Only the standard library
is used here, and nothing of the package.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LOCK_SECONDS = 900
"""How long to wait for another caller that is preparing."""

IMPORT_NAMES = {"pyyaml": "yaml", "gitpython": "git"}
"""Distributions whose module has another name."""

DROPPED = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_PYTHON")
"""They would put packages elsewhere. Index, certificate and proxy are the user's choice."""


class CannotPrepare(Exception):
    """Why there is no environment, and what to do, in one line."""


def prepare(root: str, name: str) -> str:
    """Make the environment of checkout ``root`` unless another caller just did; return its folder.

    ``name`` is the command that tells about it on stderr. Raises :class:`CannotPrepare`.
    """

    def say(text: str) -> None:
        sys.stderr.write(f"{name}: {text}\n")

    folder = os.path.join(root, ".venv-flow")
    writable = os.access(root, os.W_OK) and (
        not os.path.isdir(folder) or os.access(folder, os.W_OK | os.X_OK)
    )
    if not writable:
        folder = cache_folder(root)
    venv = os.path.join(folder, "venv")
    if up_to_date(root, venv):
        return venv
    try:
        make_folder(folder)
        with locked(os.path.join(folder, "lock"), say):
            if up_to_date(root, venv):
                return venv
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            say(
                f"preparing its packages for Python {version} in {folder} (needed once"
                + (")" if writable else f"; {root} is read-only)")
            )
            began = time.monotonic()
            build(root, folder, say)
            say(f"prepared in {time.monotonic() - began:.0f} s")
    except OSError as error:
        raise CannotPrepare(
            f"cannot write {error.filename or folder}: {error.strerror}; make room or make it "
            "writable, or set FLOW_PYTHON to an interpreter that has the packages"
        ) from error
    return venv


def cache_folder(root: str) -> str:
    """The folder that stands in for a read-only checkout's (flow_cache of _start.bash)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not base.startswith("/"):
        home = os.environ.get("HOME", "")
        if not home.startswith("/"):
            import pwd

            home = pwd.getpwuid(os.getuid()).pw_dir
        base = os.path.join(home, ".cache")
    key = re.sub(rb"[^A-Za-z0-9]", b"-", os.fsencode(root)).decode("ascii")
    return os.path.join(base, "flow", "checkout" + key[-100:])


def requirements(pyproject: bytes) -> list[str]:
    """``project.dependencies``; each is ``name>=version``."""
    found: list[str] = tomllib.loads(pyproject.decode("utf-8"))["project"]["dependencies"]
    return found


def missing(wanted: Sequence[str], path: Sequence[str]) -> list[str]:
    """The requirements that no package on ``path`` meets."""
    lacking = []
    for requirement in wanted:
        name, _, lowest = requirement.partition(">=")
        found = next(iter(metadata.distributions(name=name, path=list(path))), None)
        if found is None or release(found.version) < release(lowest):
            lacking.append(requirement)
    return lacking


def release(version: str) -> list[int]:
    """The numbers a version begins with, trailing zeros left out."""
    match = re.match(r"[0-9.]*", version)
    numbers = [int(part) for part in match[0].split(".") if part] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def up_to_date(root: str, venv: str) -> bool:
    """Whether ``venv`` has what pyproject.toml asks for.

    Rewrites the note where only other parts of that file changed.
    """
    note = os.path.join(venv, f"ready-{sys.implementation.cache_tag}")
    try:
        with open(note, "rb") as file:
            folders, _, copy = file.read().partition(b"\n\n")
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            wanted = file.read()
        if not os.access(os.path.join(venv, "bin", "python"), os.X_OK):
            return False
        if copy != wanted:
            if requirements(copy) != requirements(wanted):
                return False
            write_note(note, folders, wanted)
    except (OSError, ValueError, LookupError):
        return False
    return True


def write_note(note: str, folders: bytes, pyproject: bytes) -> None:
    """Say that the environment is complete; whole or not at all."""
    draft = f"{note}.{os.getpid()}"
    with open(draft, "wb") as file:
        file.write(folders + b"\n\n" + pyproject)
    os.replace(draft, note)


def make_folder(folder: str) -> None:
    """Make ``folder`` with a .gitignore that keeps it out of every repository."""
    os.makedirs(folder, exist_ok=True)
    ignore = os.path.join(folder, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="ascii") as file:
            file.write("*\n")


@contextlib.contextmanager
def locked(path: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file; the system frees it when a holder dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        told = False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise CannotPrepare(
                        f"another process has been preparing for {LOCK_SECONDS} s and holds "
                        f"{path}; end it and try again"
                    ) from None
                if not told:
                    say("waiting for another process that is preparing")
                    told = True
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def build(root: str, folder: str, say: Callable[[str], None]) -> None:
    """Make a new environment beside the old one and put it in its place."""
    for name in os.listdir(folder):
        if name.startswith(("new-", "old-")):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    new = os.path.join(folder, f"new-{os.getpid()}")
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            pyproject = file.read()
        packages = install(new, requirements(pyproject), say)
        note = os.path.join(new, f"ready-{sys.implementation.cache_tag}")
        write_note(note, os.fsencode("\n".join(packages)), pyproject)
        if os.access(os.path.join(root, "flow"), os.W_OK):
            run(f"{new}/bin/python", "-m", "compileall", "-q", os.path.join(root, "flow"))
        venv = os.path.join(folder, "venv")
        if os.path.lexists(venv):
            os.rename(venv, os.path.join(folder, f"old-{os.getpid()}"))
        os.rename(new, venv)
    finally:
        for name in (f"new-{os.getpid()}", f"old-{os.getpid()}"):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def install(new: str, wanted: list[str], say: Callable[[str], None]) -> list[str]:
    """Make the environment ``new`` with the packages; return their folders, relative to it.

    Where pip cannot get them, the interpreter's own packages serve if they are all there.
    """
    base = getattr(sys, "_base_executable", None) or sys.executable
    problem = pip_install(base, new, wanted)
    if problem is None:
        code = (
            "import sysconfig as s; places = {'base': '.', 'platbase': '.'}; "
            "print(*{s.get_path(name, vars=places) for name in ('purelib', 'platlib')}, sep='\\n')"
        )
        folders = run(f"{new}/bin/python", "-c", code)[1].splitlines()
        packages = [os.path.normpath(folder) for folder in folders]
        status, output = run(f"{new}/bin/python", "-c", f"import {modules(wanted)}")
        if status == 0:
            return packages
        problem = f"the packages do not load ({last_line(output)})"
    owner = base if sys.executable.startswith(os.path.dirname(new)) else sys.executable
    code = "import site; print(*site.getsitepackages(), sep='\\n')"
    own = run(owner, "-c", code)[1].splitlines()
    if not missing(wanted, own):
        code = f"import sys; sys.path += {own!r}; import {modules(wanted)}"
        shutil.rmtree(new, ignore_errors=True)
        whole = run(base, "-S", "-c", code)[0] == 0
        if whole and run(base, "-m", "venv", "--without-pip", new)[0] == 0:
            say(f"{problem}; using the packages of {owner}")
            return own
    raise CannotPrepare(
        f"{problem}; or set FLOW_PYTHON to an interpreter that has {', '.join(wanted)}"
    )


def pip_install(base: str, new: str, wanted: list[str]) -> str | None:
    """Make ``new`` and fill it with pip; what went wrong and its remedy, or None."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if run(base, "-c", "import venv, ensurepip")[0] == 0:
        status, output = run(base, "-m", "venv", new)
        pip = [f"{new}/bin/python", "-m", "pip"]
    elif run(base, "-c", "import venv, pip")[0] == 0:
        status, output = run(base, "-m", "venv", "--without-pip", new)
        pip = [base, "-m", "pip", "--python", f"{new}/bin/python"]
    else:
        return (
            f"{base} has no venv module; install it (Debian and Ubuntu: "
            f"apt install python{version}-venv)"
        )
    if status != 0:
        return f"{base} -m venv failed ({last_line(output)})"
    status, output = run(
        *pip, "install", "--quiet", "--no-input", "--prefer-binary",
        "--disable-pip-version-check", *wanted,
    )  # fmt: skip
    if status != 0:
        return (
            f"pip could not install the packages ({last_line(output)}); connect to the network "
            "for this first start, or set PIP_INDEX_URL or PIP_FIND_LINKS to a place that has them"
        )
    return None


def modules(wanted: Sequence[str]) -> str:
    """The requirements' modules, as an import statement lists them."""
    names = [requirement.partition(">=")[0].lower() for requirement in wanted]
    return ", ".join(IMPORT_NAMES.get(name, name.replace("-", "_")) for name in names)


def run(python: str, *arguments: str) -> tuple[int, str]:
    """Run ``python`` isolated; its exit status, and what it printed."""
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PYTHON") and key not in DROPPED
    }
    environ.setdefault("PIP_RETRIES", "2")  # five tries in vain take a quarter of a minute
    environ["GIT_PYTHON_REFRESH"] = "quiet"
    done = subprocess.run(
        [python, "-I", *arguments],
        env=environ,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stdout


def last_line(output: str) -> str:
    """The line of ``output`` that says most: the last error, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR:", "Error:"))]
    return "".join(
        character if character.isprintable() else "?"
        for character in (errors or lines or ["no output"])[-1].removeprefix("ERROR: ")[:300]
    )
