"""``flow.startup.re``: as ``re``, which most starts never load."""

from __future__ import annotations

import re
import subprocess
import sys

from flow.startup import re as own
from tests.support import ROOT


def test_text_is_escaped_as_re_escapes_it() -> None:
    data = bytes(range(256))
    text = "".join(map(chr, range(400))) + "\u2028😀"
    assert own.escape(data) == re.escape(data)
    assert own.escape(text) == re.escape(text)
    assert own.compile is re.compile


def test_escaping_loads_nothing() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from flow.startup import re; "
    code += "print(re.escape(b'a-b'), 're' in sys.modules, re.search, 're' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, ROOT],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("b'a\\\\-b' False <function")
    assert done.stdout.endswith(" True\n")
