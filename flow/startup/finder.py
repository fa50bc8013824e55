"""Imports Flow's own modules without a search, which is half the cost of importing one.

Python looks for a module in every place it knows, through a dozen functions, and a start of Flow
imports about a hundred and fifty. This finder knows the only folder that a module can be in: its
package's. There it takes Python's compiled file, after the same check: the compiled file names this
Python's magic number, and the time and the size that the source has now. Nothing is remembered, so
nothing can be stale. In every other case (nothing compiled, or for another source, another Python,
or checked by hash; an archive) it finds nothing, and Python goes its own way.

The module is loaded here, too, as long as the process has one thread: Python's way there is two
dozen functions, most of them for locks between threads.

Only the starts of a process call :func:`install`.
"""

from __future__ import annotations

import _thread
import sys
from posix import F_OK, O_CLOEXEC, O_RDONLY, access, close, read, stat  # `os` costs more
from posix import open as open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import CodeType
    from types import ModuleType as Module

    from flow.startup.typing import Any

    ModuleType = Module
    MAGIC_NUMBER: bytes
    fix_filename: Callable[[CodeType, str], None]
    read_code: Callable[[memoryview], CodeType]
    _frozen_importlib: Any
    _Found = tuple[CodeType, str, str, str | None]
    """Code, its source, the compiled file; of a package its folder."""
else:  # the same as importlib.machinery, without importing it
    import _frozen_importlib
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
    from _imp import _fix_co_filename as fix_filename
    from marshal import loads as read_code

    ModuleType = type(sys)

    class Module(ModuleType):
        """A module that makes no message for an attribute that it has not.

        Each ``from a import b`` asks ``a`` for its ``__path__``, and drops that message.
        """

        __getattribute__ = object.__getattribute__


BY_TIME_AND_SIZE = MAGIC_NUMBER + bytes(4)
"""First 8 bytes of a compiled file that is checked by its source's time and size."""
_BLOCK = 1 << 16
_FILE_TYPE, _REGULAR = 0o170000, 0o100000
_32_BITS = 0xFFFFFFFF
_SUFFIX = f".{sys.implementation.cache_tag}.pyc"


code_file: Any = None
"""The ``CodeFile`` of this process; code that it lacks is read from a module's own file."""


def install() -> None:
    """Find and load Flow's modules this way in this process from now on."""
    if sys.flags.optimize == 0 and OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, OwnModules)
        sys.modules["__future__"].__class__ = Module  # every module asks it
        if _load_as_python is not None:
            _frozen_importlib._find_and_load = _find_and_load  # what `import` calls


_load_as_python: Callable[[str, Callable[[str], object]], ModuleType]
_load_as_python = getattr(_frozen_importlib, "_find_and_load", None)  # type: ignore[assignment]
"""Python's own function; None in a Python that has another one: then only the finder is Flow's."""


def _find_and_load(name: str, import_: Callable[[str], object]) -> ModuleType:
    """Load the module ``name``, which is not loaded yet; raises the same errors as Python."""
    loaded = sys.modules
    if (
        not name.startswith("flow.")
        or name in loaded  # another thread loads it, or it may not be imported
        or _thread._count()
        or sys.meta_path[0] is not OwnModules
    ):
        return _load_as_python(name, import_)
    parent, _, last = name.rpartition(".")
    if parent not in loaded:
        import_(parent)
        if name in loaded:  # the package imports it
            return loaded[name]
    package = loaded[parent]
    found = _find(last, getattr(package, "__path__", None))
    if found is None:
        return _load_as_python(name, import_)
    module = _load(name, parent, found)
    setattr(package, last, module)
    return module


def _load(name: str, parent: str, found: _Found) -> ModuleType:
    """Load the module that was found, as Python does."""
    loaded = sys.modules
    code, source, compiled, inner = found
    spec = _spec(name, found)
    module = Module(name)
    names = module.__dict__
    names["__spec__"], names["__loader__"] = spec, spec.loader
    names["__file__"], names["__cached__"] = source, compiled
    if inner is None:
        names["__package__"] = parent
    else:
        names["__package__"], names["__path__"] = name, spec.submodule_search_locations
    spec._initializing = True  # type: ignore[attr-defined]  # for the error of a circular import
    loaded[name] = module
    try:
        exec(code, names)  # noqa: S102 - as Python does
    except BaseException:
        loaded.pop(name, None)
        raise
    finally:
        spec._initializing = False  # type: ignore[attr-defined]
    if "__getattr__" in names:
        module.__class__ = ModuleType  # plain modules call ``__getattr__``
    return loaded[name]


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
        module = ModuleType(spec.name)
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
        """The module below the package whose folder is ``path``; None if Python has to look."""
        if not name.startswith("flow."):
            return None
        found = _find(name.rpartition(".")[2], path)
        if found is None:
            return None
        spec = _spec(name, found)
        loader: Any = spec.loader
        loader.code = found[0]
        return spec


def _find(last: str, path: Sequence[str] | None) -> _Found | None:
    """The module ``last`` of a package whose folder is ``path``; None if Python has to look."""
    if path is None or len(path) != 1:
        return None
    folder, inner = path[0], None
    if access(f"{folder}/{last}/__init__.py", F_OK):
        folder = inner = f"{folder}/{last}"
        last = "__init__"
    source = f"{folder}/{last}.py"
    prefix = sys.pycache_prefix
    beside = f"{folder}/__pycache__" if prefix is None else f"{prefix}{folder}"
    compiled = f"{beside}/{last}{_SUFFIX}"
    try:
        code = _code(source, compiled)
    except (OSError, ValueError, EOFError, TypeError):  # not there, or not whole
        return None
    return None if code is None else (code, source, compiled, inner)


def _spec(name: str, found: _Found) -> ModuleSpec:
    _, source, compiled, inner = found
    spec = ModuleSpec(name, _Loader(name, source), origin=source, is_package=inner is not None)
    facts = spec.__dict__  # as the properties `has_location` and `cached` set them, for a sixth
    facts["_set_fileattr"], facts["_cached"] = True, compiled
    if inner is not None:
        spec.submodule_search_locations = [inner]
    return spec


def _code(source: str, compiled: str) -> CodeType | None:
    """The code that was compiled from the present ``source``; None where there is none."""
    now = stat(source)
    if now.st_mode & _FILE_TYPE != _REGULAR:
        return None
    made_of = (int(now.st_mtime) & _32_BITS) | (now.st_size & _32_BITS) << 32
    stamp = made_of.to_bytes(8, "little")
    code = None if code_file is None else code_file.code(source, stamp)
    if code is None:
        descriptor = open_file(compiled, O_RDONLY | O_CLOEXEC)
        try:
            data = block = read(descriptor, _BLOCK)
            while len(block) == _BLOCK:
                block = read(descriptor, _BLOCK)
                data += block
        finally:
            close(descriptor)
        if data[:16] != BY_TIME_AND_SIZE + stamp:
            return None
        code = read_code(memoryview(data)[16:])  # noqa: S302 - as Python does
        if code_file is not None:
            code_file.lacking.append(source)
    fix_filename(code, source)  # it may have been compiled in another place
    return code
