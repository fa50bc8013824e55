"""Files of cases that people have labelled, for ``flow judge calibrate``."""

from __future__ import annotations

import os

from flow.adapters.contracts import formats
from flow.adapters.fs import files, inputs
from flow.core.judging.rubric.calibration_cases import cases_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.core.judging.rubric.calibration_cases import Case

LIMIT = 16 << 20
"""Most bytes of a file of cases in JSON or JSON Lines; YAML has its own limit of 1 MiB."""
SUBJECT_LIMIT = 8 << 20
"""Most bytes of the file that a case names as its subject."""


def read_cases(path: str) -> tuple[Case, ...]:
    """The cases in a YAML, JSON or JSON Lines file; :class:`ContractError` with every fault."""
    data = inputs.read(path, "--cases", limit=LIMIT)
    document: Any
    if path.endswith((".jsonl", ".ndjson")):
        document = [
            formats.parse_json(line, file=f"{path}:{number}", what="case")
            for number, line in enumerate(data.split(b"\n"), 1)
            if line.strip()
        ]
    elif path.endswith(".json"):
        document = formats.parse_json(data, file=path, what="file of cases", limit=LIMIT)
    else:
        document = formats.parse_yaml(data, file=path, what="file of cases")
    return cases_of(document, path)


def read_subject(cases_path: str, name: str) -> bytes:
    """The file ``name`` below the folder of the file of cases, through no link.

    No path leads out of it: the file of cases may have come with a checkout.
    """
    folder = os.path.dirname(os.path.abspath(cases_path))
    return files.read_bytes(folder, name, limit=SUBJECT_LIMIT)
