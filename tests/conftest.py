"""What holds for every test: an environment of its own, and nothing written outside its folder."""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from flow.adapters.verification.variables import VARIABLES
from flow.core.tool_calls.speaker import AGENT_VARIABLES, SESSION_VARIABLES
from tests.support import GitRepo, effort, heap, small_process
from tests.support.guard import Guard, stamp
from tests.support.made_once import replay
from tests.support.made_once.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

STRIPPED = (
    "BASH_FUNC_",
    "GIT_",
    "FLOW_",
    "XDG_",
    "CLAUDE",
    "ANTHROPIC_",
    "OPENAI_",
    "CODEX_",
    "GEMINI_",
    "CURSOR_",
)
"""What an outer git call, an agent or a developer's shell could bring into a test."""
STRIPPED_NAMES = (
    *("BASH_ENV", "BASHOPTS", "CDPATH", "ENV", "LD_PRELOAD", "POSIXLY_CORRECT", "SHELLOPTS"),
    *("CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LANGUAGE", "LINES", "NO_COLOR"),
    *("PY_COLORS", "PYTEST_ADDOPTS"),
    *(variable.name for variable in VARIABLES if "*" not in variable.name),
    *("PYTHONDEVMODE", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONWARNINGS"),
)
AWAY = frozenset(
    (*STRIPPED_NAMES, *SESSION_VARIABLES, *(variable.name for variable in AGENT_VARIABLES))
)
"""Those and what an agent's shell has: in a test nobody speaks from one unless the test says so."""
PROXIES = ("all_proxy", "http_proxy", "https_proxy", "no_proxy")
"""What would send loopback elsewhere, in small letters."""
TESTS_DEPTH = len(Path(__file__).parent.parts)
INSIDE = ("adapters", "app", "core", "render", "test_house.py", "test_support.py", "wiring")
"""What ``--fast`` runs, but for tests marked ``slow``; of the others those marked ``smoke``."""
LONGEST_FIRST = ("faults", "test_growth.py", "e2e", "docs")
"""What has tests that take many seconds: at the end one worker would wait for another's."""
GIT_CONFIG = b"""\
[user]
\tname = A Tester
\temail = tester@example.org
[init]
\tdefaultBranch = main
\tdefaultObjectFormat = sha1
\tdefaultRefFormat = files
[commit]
\tgpgsign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
REPLAYED = ("api", "cli", "helpers", "hook", "plugin")
"""Where tests ask Flow as its callers do, with nothing that an earlier test left in the process."""
IN_CI = os.environ.get("CI") == "true"

hypothesis_settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
    ],
)
"""The same examples each time and no clock, in CI or not; a profile of the command line goes first.
"""
hypothesis_settings.load_profile("same")
hypothesis_settings.register_profile(
    "others", hypothesis_settings.get_profile("same"), derandomize=False, print_blob=True
)
"""With ``--long``: other examples each time."""

WORKER = os.getpid()
_numbers = itertools.count()
guard = Guard(os.path.expanduser("~"), os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""Made before HOME is changed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """How much is run: see ``bin/check --help``."""
    parser.addoption("--long", action="store_true", help="the long form of every test")
    parser.addoption("--fast", action="store_true", help="the quick tests, and some of the outside")


def sync_nothing(file: int) -> None:
    """In place of ``os.fsync``: what a power cut leaves no test can see, and the disk takes long.

    Tests of what is synced, and when, watch the calls; processes of their own sync as ever.
    """
    os.fstat(file)  # one that is not open is an error all the same


def pytest_configure(config: pytest.Config) -> None:
    """Clean what this process has inherited before any test module is imported."""
    if not config.getoption("--long"):
        os.fsync = sync_nothing
    gc.disable()  # until all is collected: it would look through the same tests again and again
    effort.choose(config.getoption("--long"))
    if config.getoption("--long"):
        hypothesis_settings.load_profile("others")
    for name in list(os.environ):
        if name.startswith(STRIPPED) or name in AWAY or name.lower() in PROXIES:
            del os.environ[name]
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.setdefault("HOME", os.path.expanduser("~"))
    os.umask(0o022)  # with another one ``flow doctor`` rightly names what the tests make
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:  # as of nohup, or of a job in the background
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Let ``--fast`` not even import files from the outside in which it runs nothing."""
    if not config.getoption("--fast") or collection_path.suffix != ".py":
        return None
    outside = collection_path.parts[TESTS_DEPTH] not in INSIDE
    return (outside and b"pytest.mark.smoke" not in collection_path.read_bytes()) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the chosen form does not run."""
    fast, long = config.getoption("--fast"), config.getoption("--long")

    def wanted(item: pytest.Item) -> bool:
        if item.get_closest_marker("long") and not long:
            return False
        if not fast or item.get_closest_marker("smoke"):
            return True
        return item.path.parts[TESTS_DEPTH] in INSIDE and not item.get_closest_marker("slow")

    left_out = [item for item in items if not wanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item)]
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = longest_first(items, workers)


def pytest_collection_finish() -> None:
    """Let the tests themselves, which all stay, cost the garbage collector and forks little."""
    heap.settle()
    gc.enable()
    small_process.lend(unless=replay.differs)


def longest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Give each worker's share, which is a slice, some long files to begin with.

    Tests of a file stay together: they share what was built for them.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long = [path for path in files if path.parts[TESTS_DEPTH] in LONGEST_FIRST]
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, path in enumerate(long):
        shares[number % workers] += files.pop(path)
    for tests in files.values():
        min(shares, key=len).extend(tests)
    return [item for share in shares for item in share]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker tell of a test once, and not six times: that costs as much as most tests do.

    Only the call's report counts where nothing else failed or was left out. Who asks for more
    (each name, durations, a report of its own) gets all that pytest tells.
    """
    if os.getpid() != WORKER:  # a child of a test came back from it, and would run the others, too
        os._exit(1)
    option = item.config.option
    if not hasattr(item.config, "workerinput") or option.verbose > 0 or option.xmlpath:
        return None
    if option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("homes"))


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A folder for this test alone. pytest's own looks through all before it for its number.

    Where steps are put back it has the same name for each test, and another one afterwards.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    base = tmp_path_factory.getbasetemp()
    kept = base / f"{name}-{next(_numbers)}"
    folder = base / "now" if replays(request) else kept
    make_folder(str(folder), str(kept))
    yield folder
    if folder != kept:
        folder.rename(kept)


def make_folder(folder: str, kept: str) -> None:
    """Make a test's folder; one that a test before could not put away is put away for it.

    So a test that goes wrong in its end does not take all that follow it along.
    """
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        os.rename(folder, f"{kept}-before")
        os.mkdir(folder, 0o700)


def replays(request: pytest.FixtureRequest) -> bool:
    """Whether steps that lead to its scene may be put back: see ``support/made_once/replay.py``."""
    return request.path.parts[TESTS_DEPTH] in REPLAYED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Look at the real home and the project after the test and all it undoes."""
    try:
        return (yield)
    finally:
        if problems := guard.changes():
            pytest.fail("; ".join(problems), pytrace=False)


@pytest.fixture(autouse=True)
def home(
    _homes: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home with git's identity in it and nothing else, beside ``tmp_path``.

    That is in its ``.gitconfig``, not in ``GIT_*`` variables, which Flow removes. A test that
    leaves it as it was, as most do, leaves it to the next one.
    """
    folder = f"{_homes}/now"
    if look_at(folder) != _made.get(folder):
        make_folder(folder, f"{_homes}/{next(_numbers)}")
        file = os.open(f"{folder}/.gitconfig", os.O_WRONLY | os.O_CREAT, 0o666)
        os.write(file, GIT_CONFIG)
        os.close(file)
        _made[folder] = look_at(folder)
    monkeypatch.setenv("HOME", folder)
    monkeypatch.setenv("FLOW_STATE_DIR", f"{folder}/flow-state")
    # A criterion's pytest needs none of the plugins here; to load them takes longer than it does.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    if not replays(request):
        yield Path(folder)
        return
    beside = request.getfixturevalue("tmp_path")
    with replay.places(beside, Path(folder), monkeypatch=monkeypatch):
        yield Path(folder)


_made: dict[str, object] = {}
"""A home as it was made."""


def look_at(home: str) -> object:
    """What changes in a home that a test has used."""
    try:
        return (os.listdir(home), stamp(home), stamp(f"{home}/.gitconfig"))
    except OSError:
        return ()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """An empty repository on the branch ``main``, in a folder of ``tmp_path``."""
    return GitRepo.init(tmp_path / "repo")


@pytest.fixture(scope="module")
def _stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"), GIT_CONFIG)


@pytest.fixture
def stage(_stage: Stage, home: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Where the scenes of a module are put back; the test's home and Flow's own folder lie there.

    Nothing is there before :meth:`Stage.begin`.
    """
    monkeypatch.setenv("HOME", str(_stage.home))
    monkeypatch.setenv("FLOW_STATE_DIR", str(_stage.own))
    return _stage


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out a test whose programs are missing; in CI that is a failure."""
    guard.begin()
    # Coverage holds a lock while it takes down a thread's lines. A process that is forked just
    # then by another thread (the judges of a debate) waits for it for ever: no thread is traced.
    threading.settrace(None)  # type: ignore[arg-type]
    for marker in item.iter_markers("needs_tool"):
        for name in marker.args:
            if shutil.which(name) is None:
                if IN_CI:
                    pytest.fail(f"needs {name}, and CI must leave nothing out", pytrace=False)
                pytest.skip(f"needs {name}")


def left_out_by_choice(config: pytest.Config) -> list[str]:
    """What the chosen form does not run, a line for each kind; nothing with ``--long``."""
    if config.getoption("--long"):
        return []
    lines = ["without --long: tests marked long, and the long form of those that have a short one"]
    if config.getoption("--fast"):
        tests = Path(__file__).parent
        own = {path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py")}
        names = ", ".join(sorted(own - set(INSIDE)))
        lines.append(f"--fast: in {', '.join(INSIDE)}: tests marked slow")
        lines.append(f"--fast: all but tests marked smoke in {names}")
    return lines


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what was left out, by choice or for want of a program, and what the harnesses tried."""
    told = [
        str(text)
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == "summary"
    ]
    if told:
        terminalreporter.section("harnesses")
        for line in sorted(told):
            terminalreporter.write_line(line)
    left_out = [
        f"{report.nodeid}: {report.longrepr[2].removeprefix('Skipped: ')}"
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple) and "needs " in report.longrepr[2]
    ]
    if left_out:
        terminalreporter.section("left out for want of a program")
        for line in left_out:
            terminalreporter.write_line(line)
    if by_choice := left_out_by_choice(config):
        terminalreporter.section("left out by choice")
        for line in by_choice:
            terminalreporter.write_line(line)
