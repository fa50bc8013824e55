"""Flow's own finder: what Python would find, or nothing; never what a file was before."""

from __future__ import annotations

import importlib
import os
import py_compile
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import TYPE_CHECKING

import pytest

from flow.startup import finder
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

SOURCE = "VALUE = 'old'\n"
SHOW = """
import sys
sys.path[:0] = [sys.argv[1]]
import flow.startup
sys.modules["flow"].__path__ = [sys.argv[2]]  # the finder is Flow's, what it finds is the test's
from flow.startup import finder
finder.install()
import flow.one
print(flow.one.VALUE, type(flow.one.__spec__.loader).__name__, flow.one.__file__)
print(flow.one.value.__code__.co_filename if hasattr(flow.one, "value") else "")
"""


IMPORTED = """
import json, os, sys, threading
sys.path[:0] = [sys.argv[1]]
import flow.startup
sys.modules["flow"].__path__ = [sys.argv[2]]
from flow.startup import finder
here, loads = [], finder._load
finder._load = lambda name, *more: here.append(name) or loads(name, *more)
if sys.argv[3] == "ours":
    finder.install()
if sys.argv[4] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
told = []
for name in sys.argv[5:]:
    before = set(sys.modules)
    try:
        module = __import__(name, fromlist=["*"])
    except Exception as error:
        told.append([name, type(error).__name__, str(error)])
    else:
        spec = module.__spec__
        names = ("name", "origin", "cached", "parent", "has_location", "_initializing")
        loader = [module.__loader__ is spec.loader, spec.loader.name, spec.loader.path]
        told.append([name, sorted(vars(module)), *(getattr(spec, each) for each in names), *loader])
        told += [spec.submodule_search_locations, getattr(module, "__path__", None)]
        told += [module.__name__, module.__package__, module.__file__, module.__cached__]
    told.append(sorted(set(sys.modules) - before))
    told.append(sorted(key for key in vars(sys.modules["flow"]) if not key.startswith("_")))
print(json.dumps(told))
print(*here)
sys.stdout.flush()
os._exit(0)
"""
MODULES = {
    "one.py": "import os\nVALUE = 1\n",
    "inner/__init__.py": '"""Has text."""\nfrom flow.inner import deep\n',
    "inner/deep.py": "from flow.one import VALUE\n",
    "broken.py": "import flow.one\nraise ValueError('broken')\n",
    "nested.py": "import flow.broken\n",
    "first.py": "import flow.second\nVALUE = 1\n",
    "second.py": "from flow.first import VALUE\n",
    "other.py": "import sys, flow.one\nsys.modules[__name__] = flow.one\n",
    "lazy.py": "def __getattr__(name):\n    return {'made': 1}.get(name) or name.no\n",
    "asks.py": "from flow.lazy import made\nfrom flow import lazy\n"
    "GOOD = lazy.made, getattr(lazy, 'other', None)\nfrom flow.one import NOTHING\n",
    "gone.py": "import sys\ndel sys.modules[__name__]\n",
}
ORDERS = [
    *("flow.one", "flow.inner", "flow.inner.deep", "flow.inner.none", "flow.one.none"),
    *("flow.broken", "flow.nested", "flow.first", "flow.second", "flow.other", "flow.gone"),
    *("flow.lazy", "flow.asks"),
    *("flow.none", "flow.one flow.inner.deep flow.one", "flow.broken flow.broken"),
]


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A folder with :data:`MODULES`, compiled by Python."""
    for name, text in MODULES.items():
        path = tmp_path / "pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, text, 1_000_000)
        py_compile.compile(str(path), doraise=True)
    return tmp_path / "pkg"


def _imported(folder: Path, order: str, way: str, threads: str = "alone") -> list[str]:
    """What a process sees that imports the modules so, and which the finder loaded itself."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTED, ROOT, folder, way, threads, *order.split()],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_loaded_is_as_python_loads_it(modules: Path, order: str) -> None:
    told, here = _imported(modules, order, "ours")
    assert _imported(modules, order, "python") == [told, ""]
    assert here or "none" in order


def test_beside_another_thread_python_loads_with_its_locks(modules: Path) -> None:
    told, here = _imported(modules, "flow.inner", "ours", "threads")
    assert [told, here] == _imported(modules, "flow.inner", "python", "threads")
    assert _imported(modules, "flow.inner", "ours")[1] == "flow.inner flow.inner.deep flow.one"


def of_python(name: str, folder: str) -> tuple[object, ...]:
    """What Python's own search finds."""
    spec = PathFinder.find_spec(name, [folder])
    return _facts(spec)


def python_module(spec: ModuleSpec) -> ModuleType:
    """The empty module that Python makes of a spec."""
    loader = SourceFileLoader(spec.name, str(spec.origin))
    facts = ModuleSpec(spec.name, loader, origin=spec.origin)
    facts.submodule_search_locations = spec.submodule_search_locations
    facts.has_location, facts.cached = True, spec.cached
    return importlib.util.module_from_spec(facts)


def _facts(spec: object) -> tuple[object, ...]:
    names = ("name", "origin", "cached", "parent", "has_location", "submodule_search_locations")
    return tuple(getattr(spec, name, None) for name in names)


def test_every_module_of_flow_is_found_as_python_finds_it() -> None:
    found = 0
    for folder, names, files in os.walk(os.path.join(ROOT, "flow")):
        names[:] = [name for name in names if name != "__pycache__"]
        package = os.path.relpath(folder, ROOT).replace("/", ".")
        inner = [name for name in names if os.path.exists(f"{folder}/{name}/__init__.py")]
        for name in [*inner, *(file[:-3] for file in files if file.endswith(".py"))]:
            whole = f"{package}.{name}"
            spec = finder.OwnModules.find_spec(whole, [folder])
            if spec is not None:  # compiled already
                found += 1
                assert _facts(spec) == of_python(whole, folder)
                assert spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                assert (module.__file__, module.__cached__) == (spec.origin, spec.cached)
                assert sorted(vars(module)) == sorted(vars(python_module(spec)))
                ours = spec.loader.get_code(whole)  # type: ignore[attr-defined]
                again = spec.loader.get_code(whole)  # type: ignore[attr-defined]
                assert ours == again
    assert found > 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package's folder with the module ``one``, compiled by Python."""
    folder = tmp_path / "pkg"
    folder.mkdir()
    _write(folder / "one.py", SOURCE, 1_000_000)
    py_compile.compile(str(folder / "one.py"), doraise=True)
    return folder


def _write(path: Path, text: str, at: int) -> None:
    path.write_text(text, "utf-8")
    os.utime(path, (at, at))


def _compiled(folder: Path) -> Path:
    return folder / "__pycache__" / f"one.{sys.implementation.cache_tag}.pyc"


def _found(folder: Path, name: str = "flow.one") -> str:
    """``VALUE`` of what the finder finds; ``nothing``."""
    spec = finder.OwnModules.find_spec(name, [str(folder)])
    if spec is None:
        return "nothing"
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return str(module.VALUE)


def _same_size(folder: Path) -> None:
    _write(folder / "one.py", SOURCE.replace("old", "new"), 1_000_001)


def _same_time(folder: Path) -> None:
    _write(folder / "one.py", SOURCE.replace("old", "newer"), 1_000_000)


def _earlier(folder: Path) -> None:
    _write(folder / "one.py", SOURCE.replace("old", "new"), 999_999)


def _gone(folder: Path) -> None:
    (folder / "one.py").unlink()


def _a_folder(folder: Path) -> None:
    (folder / "one.py").unlink()
    (folder / "one.py").mkdir()


def _uncompiled(folder: Path) -> None:
    _compiled(folder).unlink()


def _by_hash(folder: Path) -> None:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(folder / "one.py"), doraise=True, invalidation_mode=mode)


def _cut(keep: int) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        path = _compiled(folder)
        path.write_bytes(path.read_bytes()[:keep])

    return cut


def _other_python(folder: Path) -> None:
    path = _compiled(folder)
    path.write_bytes(b"\0\0\r\n" + path.read_bytes()[4:])


def _no_code(folder: Path) -> None:
    path = _compiled(folder)
    path.write_bytes(path.read_bytes()[:16] + b"N")


def _garbage(folder: Path) -> None:
    path = _compiled(folder)
    path.write_bytes(path.read_bytes()[:16] + b"\xff" * 40)


@pytest.mark.parametrize(
    "change",
    [
        *(_same_size, _same_time, _earlier, _gone, _a_folder, _uncompiled, _by_hash),
        *(_cut(0), _cut(10), _cut(16), _cut(30), _other_python, _no_code, _garbage),
    ],
)
def test_what_is_not_compiled_of_the_source_as_it_is_is_left_to_python(
    folder: Path, change: Callable[[Path], None]
) -> None:
    assert _found(folder) == "old"
    change(folder)
    assert _found(folder) == "nothing"


def test_a_package_goes_before_a_module_of_its_name(folder: Path) -> None:
    (folder / "one").mkdir()
    assert _found(folder) == "old", "a folder without __init__.py is no package"
    _write(folder / "one" / "__init__.py", "VALUE = 'package'\n", 1_000_000)
    assert _found(folder) == "nothing"
    py_compile.compile(str(folder / "one" / "__init__.py"), doraise=True)
    assert _found(folder) == "package"
    spec = finder.OwnModules.find_spec("flow.one", [str(folder)])
    assert _facts(spec) == of_python("flow.one", str(folder))


def test_what_is_not_below_flow_is_not_looked_for(folder: Path) -> None:
    assert _found(folder, "one") == "nothing"
    assert _found(folder, "flower.one") == "nothing"
    assert finder.OwnModules.find_spec("flow.one", None) is None
    assert finder.OwnModules.find_spec("flow.one", [str(folder), str(folder)]) is None


def test_compiled_files_in_a_folder_of_their_own_are_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    assert _found(folder) == "nothing"
    py_compile.compile(str(folder / "one.py"), doraise=True)
    assert _found(folder) == "old"
    spec = finder.OwnModules.find_spec("flow.one", [str(folder)])
    assert _facts(spec) == of_python("flow.one", str(folder))


def _started(folder: Path, *options: str) -> list[str]:
    """What a process that installed the finder imports as ``flow.one``, by which loader, from."""
    done = subprocess.run(
        [sys.executable, "-I", *options, "-c", SHOW, ROOT, folder],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


def test_a_process_sees_every_change_of_a_source(folder: Path) -> None:
    path = f"{folder}/one.py"
    with open(f"{ROOT}/flow/startup/finder.py", encoding="utf-8") as file:
        assert "class _Loader" in file.read()
    shutil.copytree(f"{ROOT}/flow/startup", folder / "startup")
    _started(folder)  # compiles
    assert _started(folder)[0] == f"old _Loader {path}"
    _same_size(folder)
    assert _started(folder)[0] == f"new SourceFileLoader {path}", "Python compiled it"
    assert _started(folder)[0] == f"new _Loader {path}"
    assert _started(folder, "-O")[0] == f"new SourceFileLoader {path}"


def test_a_traceback_names_the_file_where_it_is_now(folder: Path, tmp_path: Path) -> None:
    _write(folder / "one.py", "VALUE = 1\ndef value(): pass\n", 1_000_000)
    py_compile.compile(str(folder / "one.py"), doraise=True)
    shutil.copytree(f"{ROOT}/flow/startup", folder / "startup")
    moved = tmp_path / "moved"
    folder.rename(moved)
    first, second = _started(moved)
    assert (first, second) == (f"1 _Loader {moved}/one.py", f"{moved}/one.py")
