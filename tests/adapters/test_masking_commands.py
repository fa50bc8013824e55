"""Real-world commands: no false alarm among the honest ones, none of the others escapes."""

from __future__ import annotations

import pytest

from flow.adapters.shell_syntax import parse
from flow.core.masking import exits
from tests.adapters.masking_commands import HONEST, MASKED


def why(text: str) -> str:
    node = parse(text.replace("@", "\n"))
    assert node is not None, f"not understood: {text}"
    return exits(node, parse).masked


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_command_is_left_alone(text: str) -> None:
    assert not why(text)


@pytest.mark.parametrize("text", MASKED)
def test_a_masked_one_is_told_and_names_what_is_lost(text: str) -> None:
    assert "`" in why(text)


def test_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(HONEST) == len(set(HONEST)) >= 100
    alarms = sum(bool(why(text)) for text in HONEST)
    told = sum(bool(why(text)) for text in MASKED)
    with capsys.disabled():
        print(f"\nmasked: {alarms} false alarms in {len(HONEST)} honest commands,", end=" ")
        print(f"{told} of {len(MASKED)} masked ones told")
    assert (alarms, told) == (0, len(MASKED))
