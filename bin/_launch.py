"""Run one of Flow's entries, isolated. Not a command; _start.py calls it.

The command line is ``_start.py VENV NAME ARGUMENT...``. VENV is the virtual environment, ready or
not; empty: the interpreter has the packages itself. What only a first start needs: _prepare.py.
"""

from __future__ import annotations

import gc
import os
import sys


def main() -> int:
    """Put Flow and its packages on the path, and call the entry. Returns its exit status."""
    gc.set_threshold(200_000)  # what a start makes is needed: looking for garbage is in vain
    venv, name, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(here)
    venv = venv and os.path.realpath(venv)
    # `flow` is found once; then its folder leaves the path, so that nothing beside it is imported.
    sys.path[-1] = root
    from flow.startup import finder

    sys.path[-1] = here
    finder.install()
    from flow.startup import ctrl_c

    ctrl_c.settle()
    packages = ready(root, venv)
    if packages is None and name == "hook":  # an agent waits: the hook says what prepares it
        return cannot_start(name, "the virtual environment is not prepared")
    if packages is None:
        return prepare_and_restart(here, root, name)
    del sys.path[-1]
    ctrl_c.own()
    if not venv:
        lacking = use_own_packages(here, root)
        if lacking:
            why = f"FLOW_PYTHON={sys.executable} lacks {', '.join(lacking)}; install them there"
            return cannot_start(name, why)
    elif not venv.startswith(root + "/"):  # a read-only checkout
        sys.pycache_prefix = os.path.dirname(venv) + "/pycache"
    sys.path += packages
    sys.argv[:] = [name, *arguments]
    if name == "flow":
        from flow.__main__ import main as flow_main

        return flow_main()
    if name == "hook":
        from flow.startup.code_file import use

        code_file = use(name)
        from flow.hook import run as run_hook

        status = run_hook(arguments)
        code_file.write()
        return status
    from flow.helpers import main as helper_main

    return helper_main(name, arguments)


def leave(status: int) -> None:
    """End the process at once, with what was printed; returns where a stream does not take it.

    An interpreter that ends first looks through every object and then takes each apart, which is a
    tenth of a short start. Flow needs nothing of it: files and locks are closed where they are
    used.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # the caller closed it
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(status)


def ready(root: str, venv: str) -> list[str] | None:
    """The folders of the packages; None where they are not what pyproject.toml asks for.

    The note in the environment is those folders, an empty line, and a copy of pyproject.toml.
    """
    if not venv:
        return []
    try:
        with open(f"{venv}/ready-{sys.implementation.cache_tag}", "rb") as file:
            folders, _, copy = file.read().partition(b"\n\n")
        with open(f"{root}/pyproject.toml", "rb") as file:
            if file.read() != copy:
                return None
    except OSError:
        return None
    if not os.access(f"{venv}/bin/python", os.X_OK):  # its interpreter was removed
        return None
    return [os.path.join(venv, os.fsdecode(folder)) for folder in folders.split(b"\n")]


def prepare_and_restart(here: str, root: str, name: str) -> int:
    """Make the environment and start again in it; returns only where that fails."""
    import _prepare

    try:
        venv = _prepare.prepare(root, name)
        python = f"{venv}/bin/python"
        options = ["-I", "-S", "-X", "utf8", os.path.join(here, "_start.py")]
        os.execv(python, [python, *options, venv, *sys.argv[2:]])
    except _prepare.CannotPrepare as error:
        return cannot_start(name, str(error))
    except OSError as error:
        return cannot_start(name, f"{error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        return 130


def use_own_packages(here: str, root: str) -> list[str]:
    """Put the packages of $FLOW_PYTHON itself on the path; the requirements they do not meet."""
    import site

    site.main()
    with open(f"{root}/pyproject.toml", "rb") as file:
        pyproject = file.read()
    if are_there(requirements(pyproject), sys.path):
        return []
    sys.path.insert(0, here)
    import _prepare

    del sys.path[0]
    return _prepare.missing(_prepare.requirements(pyproject), sys.path)


def requirements(pyproject: bytes) -> list[str]:
    """``project.dependencies``, as they stand: a parser takes longer to load than Flow does."""
    block = pyproject.partition(b"\ndependencies = [\n")[2].partition(b"\n]")[0]
    return block.decode("utf-8").split('"')[1::2]


def are_there(wanted: list[str], path: list[str]) -> bool:
    """Whether the names of the packages' folders show all of ``wanted``; else look closer."""
    found: dict[str, str] = {}
    for folder in path:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for entry in names:
            if entry.endswith(".dist-info"):
                name, _, version = entry[: -len(".dist-info")].rpartition("-")
                found.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
    try:
        for requirement in wanted:
            name, _, lowest = requirement.partition(">=")
            here, least = found[name].split("."), lowest.split(".")
            if [int(part) for part in here] < [int(part) for part in least]:
                return False
    except (KeyError, ValueError):  # it is not there, or has another form
        return False
    return bool(wanted)


def cannot_start(name: str, why: str) -> int:
    """Say why in one line; the status for "something outside failed"."""
    sys.stderr.write(f"{name}: cannot start: {why}\n")
    return 5 if name == "flow" else 2
