"""Which program a call names: this Flow, by whatever way, or another one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.adapters.process.called_program import is_own
from tests.support import ROOT


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_checkouts_own_is_this_flow_also_by_a_link(tmp_path: Path) -> None:
    own = os.path.join(ROOT, "bin/flow")
    assert is_own(own)
    os.symlink(own, tmp_path / "flow")
    assert is_own(str(tmp_path / "flow"))


def test_the_one_on_the_path_and_the_plugins_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = program(tmp_path / "path/flow")
    plugins = program(tmp_path / "plugin/bin/flow")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    monkeypatch.delenv("CLAUDE_PLUGIN_ROOT", raising=False)
    assert not is_own(str(on_path))
    assert not is_own(str(plugins))
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", str(tmp_path / "plugin"))
    assert is_own(str(on_path))
    assert is_own(str(plugins))
    assert not is_own(str(program(tmp_path / "other/flow")))
