"""Wheels of the packages installed here, so that a test can install them without a network."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def build_wheelhouse(folder: Path, requirements: list[str]) -> Path:
    """Pack each of ``requirements``, and what it requires itself, into a wheel in ``folder``."""
    folder.mkdir(parents=True)
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
        pack(found, folder)
        waiting += [
            name_of(text) for text in found.requires or () if not re.search(r";.*\bextra\b", text)
        ]
    return folder


def name_of(requirement: str) -> str:
    """The distribution's name, as an index compares it."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def pack(found: metadata.Distribution, folder: Path) -> None:
    """One installed distribution as a wheel, from the list of its files."""
    tags = re.findall(r"^Tag: (.+)$", found.read_text("WHEEL") or "", re.M)
    pythons, abis, platforms = (
        ".".join(sorted({tag.split("-")[part] for tag in tags})) for part in range(3)
    )
    stem = f"{found.name.replace('-', '_')}-{found.version}"
    record = None
    lines = []
    with zipfile.ZipFile(folder / f"{stem}-{pythons}-{abis}-{platforms}.whl", "w") as wheel:
        for file in found.files or ():
            name = file.as_posix()
            if name.endswith("dist-info/RECORD"):
                record = name
                continue
            if name.startswith("..") or "__pycache__" in name:
                continue
            if name.endswith(("/INSTALLER", "/REQUESTED", "/direct_url.json")):
                continue
            content = file.read_binary()
            digest = (
                base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            )
            lines.append(f"{name},sha256={digest},{len(content)}")
            wheel.writestr(name, content)
        assert record, found.name
        wheel.writestr(record, "\n".join([*lines, f"{record},,", ""]))


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
