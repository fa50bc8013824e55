"""docs/evidence-export.md: every attack that it shows is caught."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-export.md").read_text(encoding="utf-8")


def test_its_attacks_are_caught() -> None:
    statuses = re.findall(r'echo "exit \$\?"\n(?:(?!\$ )[^\n]*\n)*?exit (\d+)\n', PAGE)
    assert statuses == ["1", "1", "1", "2"]
