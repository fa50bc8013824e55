"""Interpreters that read the first of their files: which words these are (HAZARD I160)."""

from __future__ import annotations

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import read_command
from flow.core.attribution.first_files import script_of

SEVERAL = """
bash -n a.sh b.sh
bash -eu -o pipefail -n a.sh b.sh
timeout 60 dash -n a.sh b.sh
bash -c 'sh -n a.sh b.sh'
node --check a.js b.js
node -r ./x -c a.js b.js
perl -wc a.pl b.pl
find . -name '*.sh' -exec bash -n {} +
find . -not -path './web/*' -exec bash {} +
git ls-files '*.sh' | xargs bash -n
git ls-files '*.py' | xargs -P 4 python3.13
ls | xargs -n 2 node --check
"""
"""Several files in any case."""
PATTERNS = {
    "bash -n *.sh": [("bash -n", "*.sh")],
    "bash -n a.sh *.sh": [],
    "bash tests/*.sh": [("bash", "tests/*.sh")],
    "cd web && node test/*.js": [("node", "web/test/*.js")],
    "python3 -W error tests/*.py -v": [("python3", "tests/*.py")],
    "ruby -Itest test/*.rb; php tests/*.php": [("ruby", "test/*.rb"), ("php", "tests/*.php")],
}
"""Several files where the patterns match several; beside another name they are in any case."""
ONE_OR_ALL = """
bash -n a.sh
bash -n "$f"
bash -n "$D/a.sh" "$E"
bash a.sh b.sh
bash run *.sh
bash -c 'cat "$@"' x *.sh
bash -s a.sh b.sh
node --test *.js
node --test-reporter=tap --test a.js b.js
node -e 1 *.js
node --check a.js
python3 -m py_compile *.py
python3 -c 0 *.py
python3 tools/check.py *.py
perl -ne print *.pl
perl -pi -e s/a/b/ *.pl
perl -v
php -l a.php
find . -name '*.sh' -exec bash -n {} ;
find . -name '*.sh' -exec bash tools/check {} +
find . -name '*.sh' -exec shellcheck {} +
find . -name '*.sh'
git ls-files '*.sh' | xargs -n1 bash -n
git ls-files '*.sh' | xargs -0 -L 1 bash -n
git ls-files '*.sh' | xargs -I{} bash -n {}
git ls-files '*.sh' | xargs --max-args=1 bash -n
git ls-files '*.sh' | xargs bash tools/check
git ls-files '*.sh' | xargs bash "$CHECK"
git ls-files '*.sh' | xargs shellcheck
"""


@pytest.mark.parametrize("command", SEVERAL.strip().splitlines())
def test_several_files(command: str) -> None:
    reading = read_command(command, parse_shell)
    assert "reads only the first of its files" in reading.masked_exit
    assert not reading.first_only


@pytest.mark.parametrize("command", PATTERNS)
def test_patterns_of_files(command: str) -> None:
    reading = read_command(command, parse_shell)
    assert [*reading.first_only] == PATTERNS[command]
    assert bool(reading.masked_exit) is not bool(reading.first_only)


@pytest.mark.parametrize("command", ONE_OR_ALL.strip().splitlines())
def test_one_file_or_all_of_them(command: str) -> None:
    reading = read_command(command.replace(" ;", " \\; && test -e x"), parse_shell)
    assert not reading.first_only
    assert "reads only" not in reading.masked_exit


def test_an_interpreter_without_a_file_runs_no_script() -> None:
    assert script_of(("python3",)) == ("", "")
    assert script_of(("python3", "-u", "x.py")) == ("python3", "x.py")
