"""The cache of parsed goals: used where it can be relied on, and never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.contracts import formats
from flow.errors import ContractError
from tests.adapters.contracts.samples import GOAL, SMALL_GOAL

FILE = "goals/issue-4.goal.yaml"
DATA = formats.dump_yaml(GOAL).encode()


@pytest.fixture
def folder(tmp_path: Any) -> str:
    return str(tmp_path / "goals")


def entries(folder: str) -> list[str]:
    return sorted(os.listdir(folder))


def read(folder: str, data: bytes = DATA, **options: Any) -> Any:
    return formats.read_goal(data, file=FILE, cache_dir=folder, **options)


def spoil(folder: str, text: str) -> None:
    (name,) = entries(folder)
    with open(os.path.join(folder, name), "w") as stream:
        stream.write(text)


def test_the_second_reading_needs_no_yaml(folder: str) -> None:
    assert read(folder) == read(folder)
    program = (
        "import sys; from flow.adapters.contracts import formats as contracts;"
        f"contracts.read_goal({DATA!r}, file='x', cache_dir={folder!r});"
        "print([m for m in ('yaml', 'jsonschema') if m in sys.modules])"
    )
    for code in ("yaml" if not entries(folder) else "", program):
        if code:
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            assert done.stdout == "[]\n", done.stderr


def test_the_folder_and_its_entries_are_the_users_own(folder: str) -> None:
    read(folder)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    (name,) = entries(folder)
    assert os.stat(os.path.join(folder, name)).st_mode & 0o777 == 0o600


def test_an_entry_is_used(folder: str) -> None:
    read(folder)
    (name,) = entries(folder)
    changed = {**GOAL, "objective": {**GOAL["objective"], "outcome": "From the cache."}}
    body = json.dumps({"document": changed, "warnings": []}).encode()
    spoil(folder, (contracts_cache._entry_header(name, body) + b"\n" + body).decode())
    assert read(folder)[0].outcome == "From the cache."


def test_warnings_come_back_with_the_files_present_name(folder: str) -> None:
    data = DATA.replace(b"must_pass: true", b"must_pass: true\n      mustpas: true")
    first = read(folder, data)[1]
    assert read(folder, data)[1] == first != ()
    assert formats.read_goal(data, file="other", cache_dir=folder)[1][0].startswith("other: ")


def test_another_text_is_another_entry(folder: str) -> None:
    read(folder)
    assert read(folder, formats.dump_yaml(SMALL_GOAL).encode())[0].id == "small"
    assert read(folder, DATA + b"# more\n")[0].id == "issue-4"
    assert len(entries(folder)) == 3


def test_a_faulty_goal_is_refused_each_time_and_not_kept(folder: str) -> None:
    for _ in range(2):
        with pytest.raises(ContractError):
            read(folder, DATA.replace(b"AC1", b"ac1"))
    assert not os.path.exists(folder) or entries(folder) == []


def test_the_name_is_checked_on_a_cached_goal_too(folder: str) -> None:
    read(folder)
    with pytest.raises(ContractError, match="is not the id in the file's name"):
        read(folder, expect_id="other")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        "NAME",
        "NAME\n",
        f"NAME {'0' * 64}\nBODY",
        "NAME DIGEST BODY",
        "NAME DIGEST\nBODY ",
        "NAME DIGEST\n",
        "other.goal.json DIGEST\nBODY",
    ],
)
def test_what_is_no_whole_entry_is_ignored(folder: str, text: str) -> None:
    read(folder)
    changed = {**GOAL, "objective": {**GOAL["objective"], "outcome": "Changed."}}
    body = json.dumps({"document": changed, "warnings": []})
    name, digest = contracts_cache._entry_header(entries(folder)[0], body.encode()).decode().split()
    text = text.replace("NAME", name).replace("DIGEST", digest).replace("BODY", body)
    spoil(folder, text)
    assert read(folder)[0].document == GOAL


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702, 0o777])
def test_a_folder_that_others_can_enter_is_not_used(folder: str, mode: int) -> None:
    read(folder)
    (name,) = entries(folder)
    poisoned = {**GOAL, "objective": {**GOAL["objective"], "outcome": "Poisoned."}}
    body = json.dumps({"document": poisoned, "warnings": []}).encode()
    spoil(folder, (contracts_cache._entry_header(name, body) + b"\n" + body).decode())
    os.chmod(folder, mode)
    assert read(folder)[0].outcome == GOAL["objective"]["outcome"]


def test_a_symlink_for_the_folder_or_the_entry_is_not_followed(tmp_path: Any, folder: str) -> None:
    read(folder)
    os.symlink(folder, tmp_path / "link")
    assert not contracts_cache.private(str(tmp_path / "link"))
    (name,) = entries(folder)
    os.rename(os.path.join(folder, name), tmp_path / "moved")
    os.symlink(tmp_path / "moved", os.path.join(folder, name))
    assert contracts_cache.load_checked(folder, DATA) is None


def test_a_fifo_in_the_place_of_an_entry_does_not_hang(folder: str) -> None:
    read(folder)
    (name,) = entries(folder)
    os.unlink(os.path.join(folder, name))
    os.mkfifo(os.path.join(folder, name))
    assert read(folder)[0].id == "issue-4"


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/dev/null"])
def test_a_folder_that_cannot_be_made_is_done_without(path: str) -> None:
    assert read(path)[0].id == "issue-4"


def test_another_version_or_schema_trusts_no_older_check(folder: str, monkeypatch: Any) -> None:
    from flow.adapters.contracts import schemas

    read(folder)
    monkeypatch.setattr(contracts_cache, "__version__", "999")
    assert contracts_cache.load_checked(folder, DATA) is None
    monkeypatch.undo()
    assert contracts_cache.load_checked(folder, DATA) is not None
    monkeypatch.setattr(contracts_cache, "_reader_ids", {})
    text = schemas.text
    monkeypatch.setattr(schemas, "text", lambda name: text(name) + " ")
    assert contracts_cache.load_checked(folder, DATA) is None


def test_the_number_of_entries_is_bounded(folder: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(contracts_cache, "MOST", 8)
    monkeypatch.setattr(contracts_cache, "LISTING_SHARE", 4)
    for number in range(200):
        read(folder, DATA + b"# %d\n" % number)
        assert len(entries(folder)) <= 8 + 40  # a look comes with every fourth text, on average
    assert contracts_cache.load_checked(folder, DATA + b"# 199\n") is not None


def test_more_texts_than_a_repository_has_goals_are_kept_at_once(folder: str) -> None:
    """Each of them is read at every look: one less, and every look would parse them all anew."""
    texts = [DATA + b"# %d\n" % number for number in range(600)]
    for text in texts:
        contracts_cache.store_checked(folder, text, GOAL, [])
    assert all(contracts_cache.load_checked(folder, text) is not None for text in texts)


def test_few_stores_list_the_folder(folder: str, monkeypatch: Any) -> None:
    looks: list[str] = []
    monkeypatch.setattr(contracts_cache, "_drop_older_half", looks.append)
    for number in range(600):
        contracts_cache.store_checked(folder, DATA + b"# %d\n" % number, GOAL, [])
    assert 0 < len(looks) < 30
