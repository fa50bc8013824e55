"""Which shell texts are one plain ``flow goal confirm``, and which may run it elsewhere."""

from __future__ import annotations

import pytest

from flow.core.tool_calls.confirm_line import ConfirmCall, confirm_call, confirm_line

C = "flow goal confirm g --proposal abcdef123456"


def own(path: str) -> bool:
    return path == "/own/bin/flow"


@pytest.mark.parametrize(
    "text",
    [
        C,
        f"\n {C}\t\n",
        f"{C} --json",
        "flow goal confirm --proposal=abcdef123456 g",
        "'flow' \"goal\" confirm g --reason 'a; b && c > $d'",
        'flow goal confirm g --reason "a; \\"b\\" \\$c"',
        "flow goal confirm",
        "/own/bin/flow goal confirm g",
        '"/own/bin/flow" goal confirm g',
        '"${CLAUDE_PLUGIN_ROOT}/bin/flow" goal confirm g',
    ],
)
def test_one_plain_command(text: str) -> None:
    line = confirm_line(text, own)
    assert line.alone[:2] == ("goal", "confirm")
    assert line.stays


@pytest.mark.parametrize(
    "more",
    [
        *("; ls", "\nls", " | tail", " || ls", " && ls", " &", " # x", " 2>&1", " > /dev/null"),
        *(" h", " --unknown", " --confirm", " --help", " --reason"),
    ],
)
def test_more_than_one_plain_command_in_the_same_place(more: str) -> None:
    assert confirm_line(C + more, own) == ((), True)


@pytest.mark.parametrize(
    "more",
    [
        *(" $X", " `x`", " *", " ?", " [a]", " ~", " {a,b}", " \\x", " \rls", " \u00a0x", " \x00"),
        *(' "$X"', ' "`x`"', " 'x", ' "x', ' "\\n"', " > x", " < x", " <<< x", " !x"),
    ],
)
def test_what_the_shell_computes_is_not_plain(more: str) -> None:
    assert confirm_line(C + more, own) == ((), False)


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f"ls -la; cat x | head; {C}", True),
        (f"# why\n{C}", True),
        (f"echo a 2>&1; {C}; cd x", True),
        (f"{C} | head", True),
        (f"{C} | git switch x", False),
        (f"{C} & git switch x", False),
        (f"echo x > .git/HEAD; {C}", False),
        (f"printf -v PATH x; {C}", False),
        (f"unknown; {C}", False),
        (f"cat $(x); {C}", False),
        (f"if true; then {C}; fi", False),
        (f"X=1 {C}", False),
        (f"timeout 9 {C}", False),
        (f"/other/bin/{C}", False),
        (f"own/bin/{C}", False),
        (f"{C}; {C}", False),
        ("bash -c 'flow goal confirm g'", False),
        ("nothing of it", False),
    ],
)
def test_what_comes_beside_it(text: str, stays: bool) -> None:
    assert confirm_line(text, own) == ((), stays)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("", (None, None, True)),
        ("g", ("g", None, True)),
        ("--proposal p g", ("g", "p", True)),
        ("g --proposal=p --json", ("g", "p", True)),
        ("g --proposal p --proposal q", ("g", "q", True)),
        ("--reason g", (None, None, True)),
        ("g --proposal", ("g", "", False)),
        ("g h", ("g", None, False)),
        ("g --prop p", ("g", None, False)),
    ],
)
def test_what_its_words_name(words: str, call: tuple[str | None, str | None, bool]) -> None:
    assert confirm_call(["goal", "confirm", *words.split()]) == ConfirmCall(*call)
