"""Write the report of a goal of the recorded example as ``docs/pictures/report.html``.

``python tools/make_report.py``: run it after a change of the page, or of the example
(``tools/make_example.py``), and look at it. The record is the same each time, so the page is, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tools.make_example import NAMES, RECORDED  # noqa: E402

SAMPLE = ROOT / "docs/pictures/report.html"
GOAL = "usage-page"


def sample(folder: Path) -> str:
    """The page, made in a repository below ``folder`` that has the example's record."""
    home, work = folder / "home", folder / "wordcount"
    home.mkdir()
    for name, recorded in NAMES.items():
        shutil.copytree(RECORDED / recorded, work / name)
    environ = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
    }

    def run(*words: str) -> str:
        done = subprocess.run(
            words, cwd=work, env=environ, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout

    run("git", "init", "-q", "-b", "main")
    return run(sys.executable, "-m", "flow", "report", GOAL, "--output", "-")


def main() -> None:
    """Make it and write it."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    with tempfile.TemporaryDirectory(prefix="flow-report-") as folder:
        text = sample(Path(folder))
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
