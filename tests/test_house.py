"""The house rules that no linter knows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import flow
from tests.support import ROOT, run

PROJECT: dict[str, Any] = tomllib.loads(Path(f"{ROOT}/pyproject.toml").read_text("utf-8"))


def tracked() -> list[str]:
    """The files of the checkout that git tracks or would."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, timeout=60)
    names = sorted(set(os.fsdecode(done.stdout).split("\0")) - {""})
    return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]


def test_dependencies_have_a_lower_bound_and_nothing_else() -> None:
    """bin/_prepare.py and ``bin/check --lowest`` read them in this form."""
    for requirement in PROJECT["project"]["dependencies"]:
        assert re.fullmatch(r"[a-z0-9-]+>=[0-9]+(\.[0-9]+)*", requirement), requirement


def test_the_manifest_of_the_plugin_has_the_packages_version() -> None:
    manifest = json.loads(Path(f"{ROOT}/.claude-plugin/plugin.json").read_text("utf-8"))
    assert manifest["version"] == flow.__version__
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "flow/version.py"


@pytest.mark.needs_tool("claude")
def test_the_repository_is_a_valid_plugin(tmp_path: Path) -> None:
    for what in (".", ".claude-plugin/plugin.json"):
        found = run(["claude", "plugin", "validate", "--strict", what], cwd=ROOT)
        assert found.status == 0, found.stdout + found.stderr


TOP_LEVEL = """
.ci .claude-plugin .editorconfig .flow-example .gitattributes .gitignore .pre-commit-config.yaml
CHANGELOG.md CONTRIBUTING.md LICENSE README.md agents benchmarks bin commands docs flow hooks
pyproject.toml references rubrics schemas skills tests tools
""".split()


def test_nothing_else_lies_at_the_top() -> None:
    """What a trial or a tool left there is easily committed along. Your own files may lie there."""
    committed = run(["git", "ls-files", "-z"], cwd=ROOT).stdout.split("\0")
    assert {name.partition("/")[0] for name in committed} - {*TOP_LEVEL, ""} == set()


def test_ci_runs_what_a_contributor_runs() -> None:
    text = Path(f"{ROOT}/.ci/run").read_text("utf-8")
    assert "bin/check" in text
    assert os.access(f"{ROOT}/.ci/run", os.X_OK)


def test_the_import_rules_have_one_owner_each() -> None:
    """A contract is only as good as its exceptions: each names one owner."""
    owners = {
        contract["name"]: {text.split(" -> ")[0] for text in contract["ignore_imports"]}
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if contract["name"].endswith(" one owner")
    }
    contracts = owners.pop("YAML and JSON Schema have one owner")
    assert all(name.startswith("flow.adapters.contracts.") for name in contracts)
    assert owners == {
        "transitions has one owner": {"flow.core.goal.lifecycle"},
        "filelock has one owner": {"flow.adapters.fs.locks"},
        "watchfiles has one owner": {"flow.adapters.fs.watching"},
        "ahocorasick_rs has one owner": {"flow.adapters.process.many_strings"},
        "subprocess has one owner": {"flow.adapters.process.tool"},
        "git has one owner": {"flow.adapters.git.repository"},
        "the shell parser has one owner": {"flow.adapters.attribution.shell_syntax"},
        "signing with key files has one owner": {"flow.adapters.exchange.key_files"},
    }


def test_no_file_names_a_place_of_one_machine() -> None:
    """Nor is any file left unfinished."""
    places = re.compile(
        r"/(?:root|home/\w+|work|opt/wheels|Users/\w+)/\S|pypi\.org|npmjs\.(?:org|com)"
    )
    marks = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    found = []
    for name in tracked():
        try:
            text = Path(ROOT, name).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{name}:{number}: {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), 1)
            if (places.search(line) and name != "tests/test_house.py") or marks.search(line)
        ]
    assert not found
