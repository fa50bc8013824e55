"""An error built from its place says the same as one built word by word."""

from __future__ import annotations

import pytest

from flow import errors
from flow.errors import at_key, in_file

PLACE = in_file("a.yaml", "spec.x", 7)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (PLACE.corrupt("is bad", "fix it"), errors.ContractError, "invalid_file"),
        (PLACE.invalid("is bad", "fix it"), errors.InputError, "invalid_input"),
        (PLACE.invalid("is bad", "fix it", code="too_large"), errors.InputError, "too_large"),
        (PLACE.not_found("is bad", "fix it"), errors.InputError, "not_found"),
        (PLACE.wrong_state("is bad", "fix it"), errors.StateError, "wrong_state"),
        (PLACE.wrong_state("is bad", "fix it", code="moved"), errors.StateError, "moved"),
        (PLACE.stale("is bad", "fix it"), errors.StaleProposal, "stale_proposal"),
        (PLACE.refused("is bad", "fix it"), errors.RefusedError, "refused"),
        (PLACE.refused("is bad", "fix it", code="exists"), errors.RefusedError, "exists"),
        (PLACE.storage("is bad", "fix it"), errors.StorageError, "storage"),
        (PLACE.git("is bad", "fix it", code="no_base"), errors.GitError, "no_base"),
    ],
)
def test_each_kind_names_file_key_value_and_remedy(
    error: errors.FlowError, kind: type[errors.FlowError], code: str
) -> None:
    assert type(error) is kind
    assert str(error) == "a.yaml: spec.x: is bad (fix it)"
    assert error.to_dict() == {
        "code": code,
        "message": "is bad",
        "file": "a.yaml",
        "key": "spec.x",
        "value": "7",
        "remedy": "fix it",
    }


@pytest.mark.parametrize(
    ("value", "written"),
    [(True, "true"), (["a", {"b": None}], '["a", {"b": null}]'), (0.5, "0.5"), ("x", "x")],
)
def test_a_value_is_told_as_a_file_has_it(value: object, written: str) -> None:
    assert in_file("a.yaml", "x", value).corrupt("is bad").to_dict()["value"] == written


def test_a_key_of_the_call_has_no_file() -> None:
    error = at_key("--commit", "x").invalid("names no commit")
    assert (error.fault.file, error.fault.key, error.fault.value) == (None, "--commit", "x")
    assert str(error) == "--commit: names no commit"
