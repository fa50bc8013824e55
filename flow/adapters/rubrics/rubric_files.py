"""Sources of rubrics: a project's ``.flow/rubrics``, Flow's own ones, a file that is named."""

from __future__ import annotations

import os
from hashlib import sha256

from flow.adapters.contracts import formats
from flow.adapters.fs import files, inputs, shipped
from flow.adapters.rubrics import scorecard_rubrics
from flow.app.judging.rubric_calls import LoadedRubric
from flow.core import layout
from flow.core.goal import ids
from flow.core.judging.rubric import files as rubric_format
from flow.core.judging.rubric.files import READY_MADE
from flow.core.text.display import visible
from flow.core.text.near import did_you_mean
from flow.errors import FlowError, in_file

ENDS = layout.RUBRIC_SUFFIXES
FILES_LIMIT = 10_000
"""Most rubrics of a project that are listed."""

_FOLDERS = shipped.folders("rubrics", "rubrics")


class RubricFolder:
    """The rubrics available below the top level ``top``; None outside of any checkout."""

    def __init__(self, top: str | None) -> None:
        self._top = top

    def find(self, name: str) -> LoadedRubric:
        """The rubric of this name: the project's own, else Flow's.

        Raises :class:`InputError` (``not_found``) if there is none, :class:`ContractError` with
        every fault of its file, :class:`RefusedError` for a symlink.
        """
        ids.rubric_name(name)
        rel = f"{layout.RUBRICS}/{name}"
        for end in ENDS if self._top is not None else ():
            data = files.read_optional(self._top or "", f"{rel}{end}")
            if data is not None:
                return read(data, f"{rel}{end}", name=name, origin="project")
        if name in READY_MADE:
            return ready_made(name)
        raise in_file(f"{rel}{ENDS[0]}", "rubric", name).not_found(
            f"there is no rubric {name!r:.80}{did_you_mean(name, self.names())}",
            f"write that file, or use one of {', '.join(self.names(most=20))}",
        )

    def find_or_read(self, named: str) -> LoadedRubric:
        """The rubric that a person named: by its name, or by the path of a YAML or JSON file."""
        if "/" in named or named.endswith(ENDS):
            return read(inputs.read(named, "rubric"), named)
        return self.find(named)

    def read_path(self, path: os.PathLike[str]) -> LoadedRubric:
        """The rubric in the file at ``path``."""
        name = os.fsdecode(path)
        return read(inputs.read(name, "rubric"), name)

    def names(self, most: int | None = None) -> tuple[str, ...]:
        """The names of all rubrics, the project's own first; at most ``most`` of them."""
        own = () if self._top is None else project_names(self._top)
        return tuple(dict.fromkeys([*own, *READY_MADE][:most]))

    def never_used(self) -> list[str]:
        """Sentences on files beside the project's rubrics and scorecards' that are never used."""
        if self._top is None:
            return []
        unused = list(never_used(self._top))
        try:
            unused += scorecard_rubrics.never_used(self._top)
        except FlowError as error:
            unused += [str(fault) for fault in error.faults]
        return unused


def ready_made(name: str) -> LoadedRubric:
    """One of Flow's own rubrics; :class:`StorageError` if this installation lacks it."""
    path = shipped.find(_FOLDERS, name + ENDS[0], f"the rubric {name}")
    return read(inputs.read(path, "rubric"), path, name=name, origin="flow")


def project_names(top: str) -> tuple[str, ...]:
    """The names of a project's own rubrics, sorted."""
    stems = {os.path.splitext(file)[0] for file in _rubric_paths(top) if file.endswith(ENDS)}
    return tuple(sorted(stem for stem in stems if ids.RUBRIC_NAME.fits(stem)))


def never_used(top: str) -> tuple[str, ...]:
    """A sentence for each file beside a project's rubrics that no name leads to.

    Markdown files are rubrics of scorecards, and skipped here.
    """
    unused = []
    first: dict[str, str] = {}
    for file in sorted(_rubric_paths(top), key=lambda file: (_suffix_rank(file), file)):
        stem, end = os.path.splitext(file)
        if end == ".md" or file.startswith("."):
            continue
        path = visible(f"{layout.RUBRICS}/{file}")
        if end not in ENDS:
            unused.append(f"{path} is never used: a rubric's file ends in {', '.join(ENDS)}")
        elif not ids.RUBRIC_NAME.fits(stem):
            unused.append(f"{path} is never used: its name is not that of a rubric")
        elif stem in first:
            unused.append(f"{path} is never used: {first[stem]} comes first")
        else:
            first[stem] = file
    return tuple(unused)


def _rubric_paths(top: str) -> list[str]:
    return files.names(top, layout.RUBRICS, suffix="", limit=FILES_LIMIT)


def _suffix_rank(file: str) -> int:
    """Rank of the file's ending among those that a rubric may have."""
    end = os.path.splitext(file)[1]
    return ENDS.index(end) if end in ENDS else len(ENDS)


def read(data: bytes, file: str, *, name: str | None = None, origin: str = "file") -> LoadedRubric:
    """The rubric in a file's bytes; :class:`ContractError` with every fault.

    A name that ends in ``.json`` is read as JSON, any other as YAML.
    """
    if file.endswith(".json"):
        document = formats.parse_json(data, file=file, what="rubric")
    else:
        document = formats.parse_yaml(data, file=file, what="rubric")
    rubric, warnings = rubric_format.read_rubric(document, file)
    stem = os.path.basename(file).rpartition(".")[0]
    return LoadedRubric(name or stem, rubric, origin, file, sha256(data).hexdigest(), warnings)
