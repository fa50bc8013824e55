"""Mutation testing of ``flow/core`` and ``flow/app``: ``python tools/mutate.py [MODULE ...]``.

Changes one place at a time (``mutate_sites`` says which) and runs the tests of ``tests/core`` and
``tests/app`` that reach it; a change that no test notices has survived. Survivors that are known,
with the reason, are in ``mutate_survivors.tsv``; others are listed, and more than one in ten is
exit 1.

Two ways to run a changed module. A function that nothing calls before the tests begin is given its
new code in a fork of a process that has collected them already, which takes milliseconds. What
runs at import (tables, defaults, what builds them) is changed in the source that a fork without
``flow`` imports. Both have a limit of CPU time and of memory, and count as noticed beyond it.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import importlib.machinery
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutate_sites import Finder, Site  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/core", "tests/app")
LEFT_OUT = ("tests/core/test_promise.py",)
"""Runs the type checker in a process of its own, on values no mutant changes."""
KNOWN = ROOT / "tools" / "mutate_survivors.tsv"
BAR = 0.90
CPU_SECONDS = 3
"""For one test, beyond five times what it takes without any change."""
IMPORT_SECONDS = 30
"""CPU time for all tests of a module that is imported afresh."""
WALL_SECONDS = 180
MEMORY = 2 << 30
OPTIONS = (
    "-q",
    "-x",
    "--tb=no",
    "--assert=plain",
    "--capture=no",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:warnings",
    "-m",
    "not slow",
)


class Mutant(NamedTuple):
    """One change of one module."""

    number: int
    module: str
    """Path below the top level."""
    site: Site
    tree: ast.Module

    @property
    def name(self) -> tuple[str, ...]:
        """What a survivor is known by: no line numbers, they move."""
        function = self.site.function.partition(":")[0]
        return (self.module, function, self.site.operator, *self.site.texts)


Cache = type(lru_cache(len))
"""What remembers results: of before a change, where it is not emptied."""
Tell = Callable[[Mutant, str], None]
"""Is told how a mutant ended."""


def mutants_of(modules: Sequence[str]) -> tuple[list[Mutant], Counter[str]]:
    """Every mutant, and the count of texts left out of each module."""
    found: list[Mutant] = []
    texts: Counter[str] = Counter()
    for module in modules:
        tree = ast.parse((ROOT / module).read_text())
        finder = Finder(tree)
        texts[module] = finder.texts
        found += [Mutant(len(found) + n, module, s, tree) for n, s in enumerate(finder.sites)]
    return found, texts


# --- a pool of forks ---------------------------------------------------------------------------


class Pool:
    """Runs a few forks at once and tells how each ended: survived, killed, timeout."""

    def __init__(self, size: int, tell: Tell) -> None:
        self.size, self.tell = size, tell
        self.running: dict[int, tuple[Mutant, float, str]] = {}

    def start(self, mutant: Mutant, work: Callable[[str], int]) -> None:
        """Fork; ``work`` gets a scratch folder and returns 0 where every test passed."""
        while len(self.running) >= self.size:
            self.wait()
        folder = tempfile.mkdtemp(prefix="mutant-")
        pid = os.fork()
        if not pid:
            _confine()
            status = 1
            try:
                status = work(folder)
            finally:
                os._exit(status)
        self.running[pid] = (mutant, time.monotonic() + WALL_SECONDS, folder)

    def wait(self) -> None:
        """Until one fork has ended, or is out of time."""
        while True:
            for pid, (mutant, deadline, folder) in list(self.running.items()):
                done, status = os.waitpid(pid, os.WNOHANG)
                if not done and time.monotonic() > deadline:
                    os.killpg(pid, signal.SIGKILL)
                    done, status = os.waitpid(pid, 0)
                if done:
                    del self.running[pid]
                    shutil.rmtree(folder, ignore_errors=True)
                    ended = os.waitstatus_to_exitcode(status)
                    self.tell(
                        mutant, "survived" if ended == 0 else "timeout" if ended < 0 else "killed"
                    )
                    return
            time.sleep(0.002)

    def drain(self) -> None:
        """Until all have ended."""
        while self.running:
            self.wait()


def _confine() -> None:
    os.setpgid(0, 0)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process when its CPU time is used up


class Stop:
    """A pytest plugin: the first failure ends the process."""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A failure anywhere, set-up and tear-down included, is notice enough."""
        if report.failed:
            os._exit(1)

    def pytest_collectreport(self, report: Any) -> None:
        """So is a test module that cannot be imported."""
        if report.failed:
            os._exit(1)


# --- functions: new code in a process that has collected the tests -----------------------------


class Collected:
    """A pytest plugin: after collection, learn which test reaches which line, then mutate."""

    def __init__(
        self, mutants: Sequence[Mutant], modules: Sequence[str], jobs: int, tell: Tell
    ) -> None:
        self.mutants, self.jobs, self.tell = mutants, jobs, tell
        self.early: set[tuple[str, int]] = set()
        """Lines that ran before the tests did."""
        self.reached: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        self.seconds: dict[int, float] = {}
        self.hits: set[tuple[str, int]] = set()
        self.failed: list[str] = []
        self.files = {str(ROOT / module): module for module in modules}
        self.users: defaultdict[str, set[str]] = defaultdict(set)
        """Module → test files that reach it."""
        self.caches: list[Any] = []

    def trace(self, frame: Any, _event: str, _arg: object) -> Any:
        """A trace function for functions of the mutated modules."""
        file = self.files.get(frame.f_code.co_filename)
        if file is None or frame.f_code.co_name == "<module>":
            return None
        hits = self.hits

        def line(frame: Any, _event: str, _arg: object) -> Any:
            hits.add((file, frame.f_lineno))
            return line

        return line

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notice what fails without any change."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Instead of running the tests once, run them for every mutant."""
        self.early, self.hits = self.hits, set()
        items = session.items
        for number, item in enumerate(items):
            self.hits, began = set(), time.perf_counter()
            sys.settrace(self.trace)
            self._run(items, number)
            sys.settrace(None)
            self.seconds[number] = time.perf_counter() - began
            for place in self.hits:
                self.reached[place].append(number)
                self.users[place[0]].add(str(item.path))
        if self.failed:
            sys.exit(f"fails without any change: {', '.join(self.failed)}")
        print(f"{len(items)} tests, {sum(self.seconds.values()):.0f} s")
        gc.unfreeze()  # what ``tests/conftest.py`` has kept from the collector, it does not list
        live = _live_functions(set(self.files))
        self.caches = [thing for thing in gc.get_objects() if isinstance(thing, Cache)]
        if not live:
            sys.exit("no function of these modules is there to be changed")
        pool = Pool(self.jobs, self.tell)
        gc.freeze()
        self._see_that_they_pass_unchanged(items)
        for mutant in self.mutants:
            lines = range(mutant.site.lines[0], mutant.site.lines[1] + 1)
            places = [(mutant.module, line) for line in lines]
            if not mutant.site.function or any(place in self.early for place in places):
                self.tell(mutant, "early")
                continue
            tests = {number for place in places for number in self.reached[place]}
            if not tests:
                self.tell(mutant, "unreached")
                continue
            chosen = sorted(tests, key=self.seconds.__getitem__)
            pool.start(mutant, partial(self._try, mutant, items, chosen, live))
        pool.drain()
        return True

    def _run(self, items: Sequence[Any], number: int) -> None:
        following = items[number + 1] if number + 1 < len(items) else None
        items[number].config.hook.pytest_runtest_protocol(item=items[number], nextitem=following)

    def _see_that_they_pass_unchanged(self, items: Sequence[Any]) -> None:
        """One test of each file, in a fork: where that alone fails, all would count as killed."""
        quickest: dict[Path, int] = {}
        for number in sorted(self.seconds, key=self.seconds.__getitem__):
            quickest.setdefault(items[number].path, number)
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            status = 1
            try:
                _confine()
                with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
                    self._run_in_fork(items, sorted(quickest.values()), folder)
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(pid, 0)[1]:
            sys.exit("the tests fail in a fork without any change")

    def _try(
        self, mutant: Mutant, items: Sequence[Any], chosen: list[int], live: Any, folder: str
    ) -> int:
        mutant.site.apply()
        file = str(ROOT / mutant.module)
        for code in _codes(compile(mutant.tree, file, "exec")):
            for function in live.get((file, code.co_qualname, code.co_firstlineno), ()):
                function.__code__ = code
        self._run_in_fork(items, chosen, folder)
        return 0

    def _run_in_fork(self, items: Sequence[Any], chosen: Sequence[int], folder: str) -> None:
        """Run these tests; the first failure ends the process."""
        for cache in self.caches:
            if str(cache.__module__).startswith(("flow.core.", "flow.app.", "tests.")):
                cache.cache_clear()
        plugins = items[0].config.pluginmanager
        plugins.register(Stop())
        plugins.get_plugin(str(ROOT / "tests" / "conftest.py")).WORKER = os.getpid()
        items[0].config._tmp_path_factory._basetemp = Path(folder)
        tests = [items[number] for number in chosen]
        for place, number in enumerate(chosen):
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS + 5 * self.seconds[number])
            self._run(tests, place)


def _live_functions(files: set[str]) -> dict[tuple[str, str, int], list[types.FunctionType]]:
    found = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in files:
            code = thing.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(thing)
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def run_functions(
    mutants: Sequence[Mutant], modules: Sequence[str], jobs: int, results: Path
) -> dict[str, list[str]]:
    """In a fork, so that this process never imports ``flow``.

    Appends how each mutant ended to ``results``; returns the test files that reach each module.
    """
    import pytest

    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            plugin = Collected(mutants, modules, jobs, partial(_append, results))
            sys.settrace(plugin.trace)
            status = pytest.main([*OPTIONS, *_tests()], plugins=[plugin])
            users = {module: sorted(files) for module, files in plugin.users.items()}
            results.with_suffix(".users").write_text(json.dumps(users))
        finally:
            sys.stdout.flush()
            os._exit(status)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        sys.exit("the tests do not pass, or cannot be collected")
    found: dict[str, list[str]] = json.loads(results.with_suffix(".users").read_text())
    return found


def _append(results: Path, mutant: Mutant, how: str) -> None:
    with results.open("a") as out:
        print(json.dumps([mutant.number, how]), file=out)


def _ended(results: Path) -> dict[int, str]:
    if not results.exists():
        return {}
    return dict(json.loads(line) for line in results.read_text().splitlines())


# --- what runs at import: a changed source -----------------------------------------------------


def run_imports(
    mutants: Sequence[Mutant],
    jobs: int,
    users: dict[str, list[str]],
    tell: Tell,
) -> None:
    """Import the changed module afresh for each mutant."""
    pool = Pool(jobs, tell)
    concerned = {module: _concerned(module, users) for module in {m.module for m in mutants}}
    for mutant in mutants:
        near, far = concerned[mutant.module]
        pool.start(mutant, partial(_import_and_test, mutant, near, far))
    pool.drain()


def _concerned(module: str, users: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Test files that may notice a change of ``module``: the nearest one, and the others.

    Those that mention it, or reach it or a module that imports it.
    """
    stem, reach = Path(module).stem, {*users.get(module, ())}
    dotted = module.removesuffix(".py").replace("/", ".")
    for user, files in users.items():  # a module of tables is reached through who imports them
        if dotted in (ROOT / user).read_text():
            reach.update(files)
    found = [path for path in _tests() if path in reach or stem in Path(path).read_text()]
    found.sort(
        key=lambda path: (
            stem not in os.path.basename(path),
            path not in reach,
            len(path),
        )
    )
    return found[:1], found[1:]


def _import_and_test(mutant: Mutant, near: list[str], far: list[str], folder: str) -> int:
    import pytest

    signal.setitimer(signal.ITIMER_PROF, IMPORT_SECONDS)
    mutant.site.apply()
    file = str(ROOT / mutant.module)
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return compile(mutant.tree, path, "exec") if path == file else plain(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    for tests in filter(None, (near, far)):  # what concerns the module most is collected alone
        for name in [n for n in sys.modules if n.startswith(("flow", "tests"))]:
            del sys.modules[name]
        options = [*OPTIONS, f"--basetemp={folder}/{len(tests)}"]
        if pytest.main([*options, *tests], plugins=[Stop()]):
            return 1
    return 0


def _tests() -> list[str]:
    found = [str(path) for tests in TESTS for path in sorted((ROOT / tests).rglob("test_*.py"))]
    return [path for path in found if os.path.relpath(path, ROOT) not in LEFT_OUT]


def _prepare() -> None:
    """Load what the forks share, and make hypothesis answer the same every time."""
    import hypothesis
    import pytest  # noqa: F401
    import transitions  # noqa: F401

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutate",
        phases=phases,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("mutate")
    os.nice(max(0, 10 - os.nice(0)))


# --- the report --------------------------------------------------------------------------------


def known_survivors() -> dict[tuple[str, ...], str]:
    """Mutant name → reason."""
    if not KNOWN.exists():
        return {}
    rows = (line.split("\t") for line in KNOWN.read_text().splitlines()[1:])
    return {tuple(row[1:]): row[0] for row in rows}


def report(mutants: Sequence[Mutant], ended: dict[int, str], texts: Counter[str]) -> int:
    """Print the table and the survivors that are not known; 1 where the bar is missed."""
    known = known_survivors()
    by_module: defaultdict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    new = []
    for mutant in mutants:
        how = ended[mutant.number]
        by_module[mutant.module][how] += 1
        if how in ("survived", "unreached"):
            reason = known.get(mutant.name)
            reasons[reason or "not looked at"] += 1
            if reason is None:
                new.append((mutant, how))
    print(
        "\n| module | mutants | killed | of these by a limit | survived | score | texts left out |"
    )
    print("|---|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for module, count in sorted(by_module.items()):
        total += count
        print(_row(f"`{module}`", count, texts[module]))
    print(_row("all", total, sum(texts.values())))
    print(
        "\nsurvivors by reason:", ", ".join(f"{r} {n}" for r, n in reasons.most_common()) or "none"
    )
    for mutant, how in new:
        place = f"{mutant.module}:{mutant.site.lines[0]}"
        print(f"{place} [{mutant.site.operator}, {how}] {' → '.join(mutant.site.texts)}")
    return 0 if _score(total) > BAR else 1


def _score(count: Counter[str]) -> float:
    return (count["killed"] + count["timeout"]) / max(count.total(), 1)


def _row(name: str, count: Counter[str], texts: int) -> str:
    killed = count["killed"] + count["timeout"]
    return (
        f"| {name} | {count.total()} | {killed} | {count['timeout']} "
        f"| {count.total() - killed} | {_score(count):.1%} | {texts} |"
    )


def main() -> int:
    """Mutate, test, report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="paths below the top level; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="how many forks at once")
    parser.add_argument("--results", type=Path, help="keep results there, and go on where they end")
    parser.add_argument(
        "--survivors", type=Path, help="write the survivors as TSV for the known ones"
    )
    wanted = parser.parse_args()
    if wanted.results:
        wanted.results = wanted.results.absolute()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    modules = wanted.modules or sorted(
        str(path.relative_to(ROOT))
        for part in ("core", "app")
        for path in (ROOT / "flow" / part).rglob("*.py")
    )
    mutants, texts = mutants_of(modules)
    print(f"{len(mutants)} mutants in {len(modules)} modules", flush=True)
    _prepare()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        results: Path = wanted.results or Path(folder) / "results.jsonl"
        known = _ended(results)
        left = [m for m in mutants if known.get(m.number, "early") == "early"]
        users = run_functions(left, modules, wanted.jobs, results)
        ended = _ended(results)
        early = [mutant for mutant in mutants if ended[mutant.number] == "early"]
        print(f"{len(early)} of them run at import", flush=True)
        run_imports(early, wanted.jobs, users, partial(_append, results))
        ended = _ended(results)
    if wanted.survivors:
        rows = [
            "\t".join(("", *mutant.name))
            for mutant in mutants
            if ended[mutant.number] in ("survived", "unreached")
        ]
        wanted.survivors.write_text(
            "\n".join(["reason\tmodule\tfunction\toperator\told\tnew", *rows]) + "\n"
        )
    return report(mutants, ended, texts)


if __name__ == "__main__":
    sys.exit(main())
