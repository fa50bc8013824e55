"""Flow's benchmarks: ``python benchmarks/run.py [--quick] [--only SCENE] [--no-write]``.

Every figure is a ratio: both sides are measured in turns, in the same run, and the medians
compared. All of it happens in a temporary folder with a home and a trust ledger of its own. The
table is printed, and written to ``benchmarks/RESULTS.md`` (not with ``--quick`` or ``--only``).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # `-I` leaves it out

import place
import scenes
import timing

HEAD = (
    "| figure | measured | base | ratio | middle half | aim | met |\n|---|---|---|---|---|---|---|"
)


def main() -> int:
    """Measure and print; returns 0, or 1 where an aim was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller sizes")
    parser.add_argument("--only", action="append", choices=sorted(scenes.SCENES), help="a scene")
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    scenes.prepared()
    if os.path.realpath(sys.prefix) != os.path.realpath(
        os.path.dirname(os.path.dirname(place.PYTHON))
    ):
        os.execv(place.PYTHON, [place.PYTHON, "-I", os.path.abspath(__file__), *sys.argv[1:]])
    scenes.import_flow()
    scale = scenes.QUICK if options.quick else scenes.FULL
    began = time.strftime("%Y-%m-%d", time.gmtime())
    print(HEAD, flush=True)
    rows, missed = [HEAD], 0
    start = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="flow-bench-", ignore_cleanup_errors=True) as top:
        for name in options.only or scenes.SCENES:
            folder = _new_folder(os.path.realpath(top))
            for figure in scenes.SCENES[name](place.Place(folder), scale):
                missed += figure.met == "NO"
                rows.append(_row(figure))
                print(rows[-1], flush=True)
            os.chdir(start)
            shutil.rmtree(folder, ignore_errors=True)
    text = f"{_description(began, scale)}\n{chr(10).join(rows)}\n"
    print(f"\n{_description(began, scale)}")
    if not (options.quick or options.only or options.no_write):
        with open(
            os.path.join(place.ROOT, "benchmarks", "RESULTS.md"), "w", encoding="utf-8"
        ) as file:
            file.write(text)
    return 1 if missed else 0


def _new_folder(top: str) -> str:
    """The one of several new folders in which files are created fastest.

    Without a journal ext4 passes over all inodes near by that were deleted in the last minutes,
    each time a file is created: up to 1 ms. So what another scene or program deleted would be
    measured. The folders are spread over the disk, by their names.
    """
    with contextlib.suppress(OSError):  # there is no such program
        subprocess.run(["chattr", "+T", top], check=False, capture_output=True)
    folders = [tempfile.mkdtemp(dir=top) for _ in range(32)]
    return min(folders, key=timing.creating)


def _row(figure: scenes.Figure) -> str:
    cells = (
        f"{figure.scene}: {figure.name}",
        figure.measured,
        figure.base,
        figure.shown,
        figure.spread,
        figure.aim,
        figure.met,
    )
    return f"| {' | '.join(cells)} |"


def _description(day: str, scale: scenes.Scale) -> str:
    from flow.version import __version__

    lines = [
        "# Benchmarks",
        "",
        "Written by `python benchmarks/run.py`. Every ratio compares the medians of two things",
        f"measured in turns in the same run ({scale.rounds} rounds for a cold start). The middle",
        "half is that of the ratios round by round. Flow is started by `bin/flow` and the helpers;",
        "the base of a cold start is the same interpreter.",
        "",
        "| | |",
        "|---|---|",
        f"| Flow | {__version__}, commit {_commit()} |",
        f"| day | {day} |",
        f"| processor | {_processor()}, {os.cpu_count()} cores |",
        f"| memory | {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB |",
        f"| system | {platform.system()} {platform.release()}, {platform.machine()} |",
        f"| file system of the temporary folder | {_file_system()} |",
        f"| Python | {platform.python_version()} |",
        f"| git | {_first_line('git', '--version')} |",
        f"| load average at the end | {', '.join(f'{load:.1f}' for load in os.getloadavg())} |",
        "",
    ]
    return "\n".join(lines)


def _commit() -> str:
    short = _first_line("git", "-C", place.ROOT, "rev-parse", "--short", "HEAD") or "unknown"
    changed = _first_line("git", "-C", place.ROOT, "status", "--porcelain", "--", "flow", "bin")
    return f"{short} with changes" if changed else short


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = [_first_line("sysctl", "-n", "machdep.cpu.brand_string")]
    return next((name for name in names if name), platform.processor() or "unknown")


def _file_system() -> str:
    lines = _lines("df", "-PT", tempfile.gettempdir())
    return lines[-1].split()[1] if len(lines) > 1 else "unknown"


def _first_line(*argv: str) -> str:
    return next(iter(_lines(*argv)), "")


def _lines(*argv: str) -> list[str]:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    sys.exit(main())
