"""docs/evidence-secrets.md: its kinds are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from flow.core.secret_shapes import shapes
from flow.core.secrets import KNOWN
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-secrets.md").read_text(encoding="utf-8")


def test_every_kind_is_told() -> None:
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ")]
    told = [kind for row in rows for kind in re.findall(r"`(\w+)`", row)]
    told.remove("masked")
    assert sorted(told) == sorted({shape.kind for shape in shapes()} | {KNOWN})
