"""Finds Flow's own modules without a search, which is half of what importing one costs.

Python looks for a module in every place it knows, through a dozen functions, and a start of Flow
imports about a hundred and fifty. This finder knows the only folder that a module can be in: its
package's. There it takes what Python has compiled, after the same check: the compiled file names
this Python's magic number, and the time and the size that the source has now. Nothing is
remembered, so nothing can be stale. In every other case (nothing compiled, or for another source,
another Python, or checked by hash; an archive) it finds nothing, and Python goes its own way.

Only the starts of a process call :func:`install`.
"""

from __future__ import annotations

import sys
from posix import F_OK, O_CLOEXEC, O_RDONLY, access, close, read, stat  # `os` costs more
from posix import open as open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import CodeType, ModuleType

    from flow.startup.typing import Any

    Module: type[ModuleType]
    MAGIC_NUMBER: bytes
    fix_filename: Callable[[CodeType, str], None]
    read_code: Callable[[memoryview], CodeType]
else:  # what importlib.machinery offers, and uses, without importing it
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
    from _imp import _fix_co_filename as fix_filename
    from marshal import loads as read_code

    Module = type(sys)

_BY_TIME_AND_SIZE = MAGIC_NUMBER + bytes(4)
"""How a compiled file begins that is checked by its source's time and size."""
_BLOCK = 1 << 16
_FILE_TYPE, _REGULAR = 0o170000, 0o100000


def install() -> None:
    """From here on this process finds Flow's modules so."""
    if sys.flags.optimize == 0 and OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, OwnModules)


def import_module(name: str) -> Any:
    """``importlib.import_module`` without loading ``importlib``."""
    __import__(name)
    return sys.modules[name]


class _Loader(SourceFileLoader):
    """Python's own loader, with the code that was found already."""

    code: CodeType | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module that knows its files, so that Python does not ask for them in vain.

        Each such question costs as much as finding the file.
        """
        module = Module(spec.name)
        names = module.__dict__
        names["__file__"], names["__cached__"] = spec.origin, spec.cached
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        """The code; Python looks for it where a module is loaded again."""
        code, self.code = self.code, None
        return super().get_code(fullname) if code is None else code


class OwnModules:
    """Flow's finder in ``sys.meta_path``."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module below the package whose folder is ``path``; None where Python has to look."""
        if not name.startswith("flow.") or path is None or len(path) != 1:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        inner = f"{folder}/{last}"
        is_package = access(f"{inner}/__init__.py", F_OK)
        if is_package:
            folder, last = inner, "__init__"
        source = f"{folder}/{last}.py"
        prefix = sys.pycache_prefix
        beside = f"{folder}/__pycache__" if prefix is None else f"{prefix}{folder}"
        compiled = f"{beside}/{last}.{sys.implementation.cache_tag}.pyc"
        try:
            code = _code(source, compiled)
        except (OSError, ValueError, EOFError, TypeError):  # not there, or not whole
            return None
        if code is None:
            return None
        loader = _Loader(name, source)
        loader.code = code
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        spec.has_location, spec.cached = True, compiled
        if is_package:
            spec.submodule_search_locations = [inner]
        return spec


def _code(source: str, compiled: str) -> CodeType | None:
    """What ``compiled`` holds; None where it is not of ``source`` as it is now."""
    now = stat(source)
    if now.st_mode & _FILE_TYPE != _REGULAR:
        return None
    descriptor = open_file(compiled, O_RDONLY | O_CLOEXEC)
    try:
        data = block = read(descriptor, _BLOCK)
        while len(block) == _BLOCK:
            block = read(descriptor, _BLOCK)
            data += block
    finally:
        close(descriptor)
    made_of = _in_32_bits(int(now.st_mtime)) + _in_32_bits(now.st_size)
    if data[:16] != _BY_TIME_AND_SIZE + made_of:
        return None
    code = read_code(memoryview(data)[16:])  # noqa: S302 - as Python does
    fix_filename(code, source)  # it may have been compiled in another place
    return code


def _in_32_bits(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")
