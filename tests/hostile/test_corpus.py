"""Every input that the fuzzer kept, given to its target once more."""

from __future__ import annotations

import os

import pytest

from tests.hostile import fuzz

pytestmark = pytest.mark.smoke

KEPT = [(target, path) for target in fuzz.TARGETS for path in fuzz.inputs(target)]


@pytest.mark.parametrize(
    ("target", "path"), KEPT, ids=[f"{target}/{os.path.basename(path)}" for target, path in KEPT]
)
def test_a_kept_input_ends_in_an_answer_or_the_one_error(target: str, path: str) -> None:
    with open(path, "rb") as file:
        fuzz.once(target, file.read())


def test_every_target_has_inputs() -> None:
    assert {target for target, _ in KEPT} == set(fuzz.TARGETS)
