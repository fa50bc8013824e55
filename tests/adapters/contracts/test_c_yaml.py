"""The C parser without the rest of PyYAML says what the whole package says."""

from __future__ import annotations

import sys

import pytest
import yaml

from tests.support import ROOT, run

TEXTS = {
    "plain": "a: [1, two, {b: 'c'}]\nd: |\n  text\n",
    "anchor": "a: &x 1\nb: *x\n",
    "tag": "!!set {a}\n",
    "syntax": "a: [1\nb: {",
    "tab": "a:\n\t- b\n",
    "escape": 'a: "\\xZZ"\n',
    "empty": "",
    "two": "a: 1\n---\nb: 2\n",
}
SCRIPT = """
import sys
sys.path[:0] = {path!r}
from flow.adapters.contracts import c_yaml as contracts_cyaml
assert contracts_cyaml.wanted()
parser = contracts_cyaml.parser()
assert "yaml" not in sys.modules and "yaml.reader" not in sys.modules
try:
    events = parser({text!r})
    while (event := events.get_event()) is not None:
        print(event, event.start_mark.index, event.end_mark.index)
except Exception as error:
    print(type(error).__name__, error)
assert contracts_cyaml.parser() is parser
from flow.adapters.contracts.formats import parse_yaml
parse_yaml(b"a: 1", file="x")
assert "yaml" not in sys.modules
import yaml
assert yaml.load("a: [1, 2]", Loader=yaml.CSafeLoader) == dict(a=[1, 2])
assert yaml.safe_load("a: 010") == dict(a=8)
try:
    yaml.load("a: [", Loader=yaml.CSafeLoader)
except yaml.YAMLError:
    pass
else:
    sys.exit("no error")
"""


def said(text: str) -> str:
    """What the whole package's C parser says."""
    lines = []
    try:
        parser = yaml.CLoader(text)
        while (event := parser.get_event()) is not None:
            start, end = event.start_mark, event.end_mark
            assert start is not None
            assert end is not None
            lines.append(f"{event} {start.index} {end.index}")
    except yaml.YAMLError as error:
        lines.append(f"{type(error).__name__} {error}")
    return "\n".join([*lines, ""])


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without its C parser")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_it_says_the_same(text: str, tmp_path: object) -> None:
    path = [ROOT, *(entry for entry in sys.path if "site-packages" in entry)]
    script = SCRIPT.format(path=path, text=text)
    ran = run([sys.executable, "-I", "-S", "-c", script], cwd=str(tmp_path))
    assert ran.status == 0, ran.stderr
    assert ran.stdout == said(text)


def test_a_process_of_somebody_else_gets_the_whole_package() -> None:
    from flow.adapters.contracts import c_yaml

    assert not c_yaml.wanted()
    assert c_yaml.parser().__module__ == "yaml._yaml"
