"""The name that the journal gives for whoever runs a command."""

from __future__ import annotations

import os
import pwd
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from flow.wiring.context import Context

if TYPE_CHECKING:
    from tests.support import GitRepo


@pytest.mark.parametrize(
    ("environ", "who"),
    [
        ({"USER": "ada", "LOGNAME": "bo"}, "ada"),
        ({"LOGNAME": "bo"}, "bo"),
        ({"USER": "", "LOGNAME": ""}, "cy"),  # a service, a container
        ({}, "cy"),
    ],
)
def test_who_is_asked_of_the_account(
    environ: dict[str, str], who: str, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the tests may have an account without a name."""
    accounts = {os.geteuid(): SimpleNamespace(pw_name="cy")}
    monkeypatch.setattr(pwd, "getpwuid", accounts.__getitem__)
    assert Context(str(repo.path), environ=environ).who == who


def test_an_account_without_a_name_has_a_number(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000_001)
    assert Context(str(repo.path), environ={}).who == "user 4000000001"
