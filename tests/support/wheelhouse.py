"""The packages installed here, and stand-ins for them, where a test has no network."""

from __future__ import annotations

import re
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def link_packages(site: Path, requirements: list[str]) -> None:
    """Have ``requirements``, and what they require themselves, in ``site``: links to what is here.

    What is compiled here already is used from there.
    """
    waiting = [name_of(requirement) for requirement in requirements]
    done: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # one that this platform or version does not need
        for part in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            (site / part).symlink_to(str(found.locate_file(part)))
        waiting += [
            name_of(text) for text in found.requires or () if not re.search(r";.*\bextra\b", text)
        ]


def name_of(requirement: str) -> str:
    """The distribution's name, as an index compares it."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def stand_ins(folder: Path, requirements: list[str], modules: Mapping[str, str]) -> Path:
    """In the place of each of ``requirements``: a wheel of its name with one empty module.

    What installs them does the same work as with the real ones, in a fraction of the time.
    ``modules`` are the import names that differ from the distribution's.
    """
    folder.mkdir(parents=True)
    for requirement in requirements:
        name = name_of(requirement)
        stem = name.replace("-", "_")
        version = metadata.version(name)
        about = f"{stem}-{version}.dist-info"
        tag = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        files = {
            f"{modules.get(name, stem)}/__init__.py": "",
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{about}/WHEEL": tag,
        }
        record = "".join(f"{path},,\n" for path in (*files, f"{about}/RECORD"))
        with zipfile.ZipFile(folder / f"{stem}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in {**files, f"{about}/RECORD": record}.items():
                wheel.writestr(path, text)
    return folder
