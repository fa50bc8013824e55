"""One file of compiled modules: what Python would run of the sources as they are, or nothing."""

from __future__ import annotations

import json
import marshal
import os
import py_compile
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from flow.startup import finder
from flow.startup.code_file import CodeFile
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = [f"m{number}" for number in range(30)]
START = """
import sys
sys.path[:0] = [sys.argv[1]]
import flow.startup
sys.modules["flow"].__path__ = [sys.argv[2]]
from flow.startup import finder
finder.install()
code_file = None
if sys.argv[3] == "one":
    from flow.startup import code_file as module
    finder.code_file = code_file = module.CodeFile(sys.argv[4])
told = []
for name in sys.argv[5:]:
    try:
        found = __import__(f"flow.{name}", fromlist=["*"])
        where = found.value.__code__.co_filename
        told.append((name, found.value(), found.__file__, found.__cached__, where))
    except ImportError as error:
        told.append((name, type(error).__name__))
lacked = len(code_file.lacking) if code_file else -1
if code_file:
    code_file.write()
import json
print(json.dumps([told, lacked]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package's folder with the modules :data:`NAMES`, compiled by Python."""
    folder = tmp_path / "pkg"
    folder.mkdir()
    for name in NAMES:
        _write(folder, name, "old", 1_000_000)
        py_compile.compile(str(folder / f"{name}.py"), doraise=True)
    return folder


def _write(folder: Path, name: str, value: str, at: int) -> None:
    path = folder / f"{name}.py"
    path.write_text(f"def value(): return '{name} {value}'\n", "utf-8")
    os.utime(path, (at, at))


def _start(folder: Path, *names: str, way: str = "one", options: str = "") -> tuple[object, int]:
    """What a process sees that imports the modules, and how many of them the file lacked."""
    argv = [sys.executable, "-I", *options.split(), "-c", START, ROOT, folder, way, _file(folder)]
    argv += names or NAMES
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    told, lacked = json.loads(done.stdout)
    return told, lacked


def _file(folder: Path) -> Path:
    return folder / "__pycache__" / "code.pyc"


def _parts(folder: Path) -> list[int]:
    """How many modules each part of the file holds."""
    entries = CodeFile(str(_file(folder)))._entries
    places = [place for _, place, _ in entries.values()]
    return sorted(places.count(place) for place in set(places))


def _without_own_files(folder: Path) -> None:
    for path in (folder / "__pycache__").glob("m*.pyc"):
        path.unlink()


def test_the_second_start_takes_all_from_one_file_and_sees_what_python_sees(folder: Path) -> None:
    told = _start(folder, way="python")[0]
    assert _start(folder) == (told, 30)
    _without_own_files(folder)
    assert _start(folder) == (told, 0)
    assert [*(folder / "__pycache__").iterdir()] == [_file(folder)], "nothing was compiled again"


def _same_size(folder: Path) -> None:
    _write(folder, "m3", "new", 1_000_001)


def _same_time(folder: Path) -> None:
    _write(folder, "m3", "newer", 1_000_000)


def _earlier(folder: Path) -> None:
    _write(folder, "m3", "new", 999_999)


def _gone(folder: Path) -> None:
    (folder / "m3.py").unlink()


def _a_folder(folder: Path) -> None:
    (folder / "m3.py").unlink()
    (folder / "m3.py").mkdir()


def _a_package(folder: Path) -> None:
    (folder / "m3").mkdir()
    (folder / "m3/__init__.py").write_text("def value(): return 'package'\n", "utf-8")


@pytest.mark.parametrize("change", [_same_size, _same_time, _earlier, _gone, _a_folder, _a_package])
def test_what_was_compiled_of_another_source_is_never_run(
    folder: Path, change: Callable[[Path], None]
) -> None:
    _start(folder)
    before = _start(folder)[0]
    change(folder)
    told = _start(folder, way="python")[0]
    assert told != before
    for _ in range(3):
        assert _start(folder)[0] == told
    assert _start(folder)[1] == 0, "what is new is in the file"


def _cut(keep: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:keep]


def _overwritten(at: int, by: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + by + data[at + len(by) :]


@pytest.mark.parametrize(
    "damage",
    [
        *map(_cut, (0, 5, 12, 19, 25, 200, 3000, 4000, -1)),
        _overwritten(0, b"\0\0\r\n"),  # another Python's
        _overwritten(4, b"all0"),
        _overwritten(8, b"another."),
        _overwritten(16, b"\xff\xff\xff\x7f"),
        _overwritten(28, b"N"),  # no index
        *(_overwritten(at, bytes(600)) for at in (28, 500, 3000, 4000)),
        *(_overwritten(at, b"\xff" * 600) for at in (28, 500, 3000, 4000)),
        lambda _: b"x" * 9000,
    ],
)
def test_a_damaged_or_foreign_file_is_as_none_and_is_made_good(
    folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    _start(folder)
    told = _start(folder)[0]
    good = _file(folder).read_bytes()
    _file(folder).write_bytes(damage(good))
    assert _start(folder)[0] == told
    assert _start(folder) == (told, 0)


@pytest.mark.parametrize(
    "entry", [5, (b"", 0), (b"stamp", [], 9), (None, 1 << 70, 1), (b"", -5, 1 << 40), [{}] * 3]
)
def test_an_index_with_other_content_is_as_none_and_is_made_good(
    folder: Path, entry: object
) -> None:
    _start(folder)
    told = _start(folder)[0]
    source = str(folder / "m3.py")
    if isinstance(entry, tuple) and len(entry) == 3 and entry[0] is None:
        entry = (CodeFile(str(_file(folder)))._entries[source][0], *entry[1:])
    _with_index(_file(folder), {source: entry})
    assert _start(folder)[0] == told
    _start(folder)
    assert _start(folder) == (told, 0)


def _with_index(file: Path, entries: object) -> None:
    """Give the file another index."""
    data = file.read_bytes()
    end = 20 + int.from_bytes(data[16:20], "little")
    index = data[8:16] + marshal.dumps(entries)
    file.write_bytes(data[:16] + len(index).to_bytes(4, "little") + index + data[end:])


def test_a_file_that_another_process_replaces_meanwhile_is_read_no_more(folder: Path) -> None:
    _start(folder)
    path, source = str(_file(folder)), str(folder / "m3.py")
    stamp = CodeFile(path)._entries[source][0]
    assert CodeFile(path).code(source, stamp) is not None
    code_file = CodeFile(path)
    _start(folder, "m0")  # a part is split, and the file written anew
    assert code_file.code(source, stamp) is None
    assert code_file.code(source, b"another.") is None
    assert CodeFile(path).code(source, stamp) is not None


def test_no_descriptor_is_held_for_a_forked_process_to_mistake(folder: Path) -> None:
    _start(folder)
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    code_file = CodeFile(str(_file(folder)))
    assert code_file.code(str(folder / "m3.py"), code_file._entries[str(folder / "m3.py")][0])
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)


def test_starts_that_differ_share_one_file_and_soon_read_little_else(
    folder: Path,
) -> None:
    starts = [NAMES[:20], NAMES[:5] + NAMES[25:], NAMES[10:]]
    for names in starts:
        _start(folder, *names)
    for names in starts:
        _start(folder, *names)
    parts = _parts(folder)
    assert sum(parts) == len(NAMES)
    written = _file(folder).read_bytes()
    for names in starts:
        told, lacked = _start(folder, *names)
        assert lacked == 0
        assert told == _start(folder, *names, way="python")[0]
    assert _file(folder).read_bytes() == written


def test_what_is_new_is_added_and_what_is_removed_left_out(folder: Path) -> None:
    _start(folder)
    _write(folder, "later", "old", 1_000_000)
    py_compile.compile(str(folder / "later.py"), doraise=True)
    (folder / "m7.py").unlink()
    (folder / "__pycache__").joinpath(f"m7.{sys.implementation.cache_tag}.pyc").unlink()
    names = [name for name in NAMES if name != "m7"]
    assert _start(folder, *names, "later")[1] == 1
    assert sum(_parts(folder)) == len(NAMES)
    assert _start(folder, *names, "later")[1] == 0


def test_a_module_that_is_edited_again_and_again_keeps_its_part(folder: Path) -> None:
    _start(folder)
    parts = _parts(folder)
    for number in range(4):
        _write(folder, "m3", f"{number}", 1_000_010 + number)
        _start(folder, way="python")  # compiles
        assert _start(folder)[1] == 1
    assert _parts(folder) == parts


def test_a_folder_that_was_moved_has_tracebacks_with_its_new_name(folder: Path) -> None:
    _start(folder)
    moved = folder.rename(folder.parent / "moved")
    for _ in range(2):
        told = _start(moved)[0]
        assert told == _start(moved, way="python")[0]
        assert str(folder) not in json.dumps(told)
    assert _start(moved)[1] == 0


def test_it_is_not_written_where_python_writes_nothing(folder: Path) -> None:
    _start(folder, options="-B")
    assert not _file(folder).exists()
    if os.geteuid():
        (folder / "__pycache__").chmod(0o500)
        told = _start(folder)[0]
        (folder / "__pycache__").chmod(0o700)
        assert told == _start(folder, way="python")[0]
        assert not _file(folder).exists()


def test_what_is_checked_by_hash_is_left_to_python(folder: Path) -> None:
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(folder / "m3.py"), doraise=True, invalidation_mode=mode)
    assert _start(folder)[1] == 29
    written = _file(folder).read_bytes()
    assert _start(folder)[1] == 0
    assert _file(folder).read_bytes() == written


LAUNCHED = """
import json, os, sys
sys.path.append(sys.argv[1] + "/bin")
sys.argv[1:] = ["", "hook", *sys.argv[2:]]
opened = []
sys.addaudithook(lambda name, values: opened.append(values[0]) if name == "open" else None)
import _launch
_launch.main()
files = [path for path in opened if str(path).endswith(".pyc") and "/flow/" in path]
os.write(2, json.dumps([len(files), sum("code-hook" in path for path in files)]).encode())
os._exit(0)
"""


def test_a_hook_opens_one_file_for_a_dozen_modules(tmp_path: Path) -> None:
    """Its first start has Python compile, its second one writes the file."""
    (tmp_path / ".flow/goals").mkdir(parents=True)
    event = json.dumps({"session_id": "one", "cwd": str(tmp_path), "hook_event_name": "Stop"})
    opened = []
    for _ in range(4):
        argv = [sys.executable, "-I", "-S", "-X", f"pycache_prefix={tmp_path}/cache", "-c"]
        done = subprocess.run(
            [*argv, LAUNCHED, ROOT, "stop", "--", event],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "FLOW_STATE_DIR": str(tmp_path / "state")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert json.loads(done.stdout)["decision"] == "approve"
        opened.append(json.loads(done.stderr))
    assert opened[1][0] > 80
    files, code_file = opened[3]
    assert code_file > 2
    assert files < 30
    [written] = (tmp_path / "cache").glob("**/code-hook.*")
    assert written.parent == tmp_path / f"cache{ROOT}/flow/startup"


def test_the_finder_asks_a_code_file_for_the_source_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(folder / "__pycache__")
    asked: list[tuple[str, bytes]] = []

    class Nothing:
        def code(self, source: str, stamp: bytes) -> None:
            asked.append((source, stamp))

    monkeypatch.setattr(finder, "code_file", Nothing())
    assert finder.OwnModules.find_spec("flow.m3", [str(folder)]) is None
    found = (folder / "m3.py").stat()
    numbers = int(found.st_mtime), found.st_size
    stamp = b"".join(number.to_bytes(4, "little") for number in numbers)
    assert asked == [(str(folder / "m3.py"), stamp)]
