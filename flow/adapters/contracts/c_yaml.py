"""PyYAML's C parser without the rest of PyYAML, for processes of Flow's own.

Importing ``yaml`` costs two bare interpreter starts, most of it a regular expression and modules
that the C parser never uses; its own module needs the names of tokens, events and nodes, and some
errors. While it is loaded a stand-in for the package offers those. Then the stand-in is taken away:
a later ``import yaml`` in the same process gets the real package, with the same C parser.
"""

from __future__ import annotations

import sys

from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import PathFinder
    from types import ModuleType, SimpleNamespace
else:  # the same as those modules, without importing them
    from _frozen_importlib_external import PathFinder

    ModuleType, SimpleNamespace = type(sys), type(sys.implementation)

_ERRORS = {
    "reader": "ReaderError",
    "scanner": "ScannerError",
    "parser": "ParserError",
    "composer": "ComposerError",
    "constructor": "ConstructorError",
    "emitter": "EmitterError",
    "serializer": "SerializerError",
    "representer": "RepresenterError",
}
"""Modules that the C parser takes one class each from."""


def wanted() -> bool:
    """Whether this process is Flow's own (``bin/`` leaves ``site`` out) and has no PyYAML yet."""
    return bool(sys.flags.no_site) and "yaml" not in sys.modules


def load() -> Any:
    """The class ``CParser``. Raises ImportError if PyYAML is missing or was built without it."""
    if (known := sys.modules.get("yaml._yaml")) is not None:
        return known.CParser
    spec = PathFinder.find_spec("yaml")
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("there is no PyYAML")
    package = ModuleType("yaml")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["yaml"] = package
    try:
        from yaml import error, events, nodes, tokens  # noqa: F401 - as attributes of the package

        for name, error_name in _ERRORS.items():
            kind = type(error_name, (error.MarkedYAMLError,), {"__module__": f"yaml.{name}"})
            setattr(package, name, SimpleNamespace(**{error_name: kind}))
        from yaml._yaml import CParser
    finally:
        del sys.modules["yaml"]
    return CParser


def parser() -> Any:
    """The class ``CParser``, from :func:`load` in Flow's own processes, else from PyYAML itself.

    Raises as :func:`load` does.
    """
    if wanted():
        try:
            return load()
        except AttributeError:  # a PyYAML that needs more of its package than this module offers
            sys.modules.pop("yaml._yaml", None)
    from yaml._yaml import CParser

    return CParser
