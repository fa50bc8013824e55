"""The decision journal: what an append writes, keeps and refuses, on real files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flow.adapters.contracts.formats import parse_yaml
from flow.adapters.journal import store as journal_store
from flow.adapters.journal import text as journal_text
from flow.app.ports import Artifact
from flow.core import layout
from flow.errors import ContractError, InputError, RefusedError
from tests.support.patience import LONG

ROOT = Path(__file__).parents[3]
NOW = "2026-11-21T12:00:00Z"
LATER = "2026-11-22T08:30:00Z"
REL = ".decisions/issue-4.md"
ARTIFACT = Artifact(
    "goal-evaluation",
    {
        "goal_id": "issue-4",
        "result": "incomplete",
        "from": "active",
        "to": "active",
        "reason": "AC1 failed: exit 1",
        "evidence_bundle": ".flow/runs/2026-11-21T120000Z-issue-4",
        "failures": ["AC1", "AC3"],
    },
)
NOTE = Artifact("note", {"count": 1})
at_any_speed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def add(
    root: Path,
    artifact: Artifact = ARTIFACT,
    *,
    rel: str = REL,
    issue: int | None = 4,
    now: str = NOW,
    branch: str | None = "main",
    key: str | None = None,
) -> bool:
    return journal_store.append(
        str(root), rel, artifact, issue=issue, now=now, branch=branch, key=key
    )


def put(root: Path, data: bytes, rel: str = REL) -> Path:
    path = root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def front(data: bytes) -> dict[str, Any]:
    """The front matter as a plain YAML reader sees it."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    found: dict[str, Any] = yaml.safe_load(text.split("---\n", 2)[1])
    return found


def added_lines(old: bytes, new: bytes) -> list[bytes]:
    """The lines of ``new`` that ``old`` does not have; fails where a line of ``old`` is gone."""
    rest = new.splitlines(keepends=True)
    extra = []
    for line in old.splitlines(keepends=True):
        while rest and rest[0] != line:
            extra.append(rest.pop(0))
        assert rest, f"the line {line!r} was changed or moved"
        rest.pop(0)
    return extra + rest


# --- a new journal ------------------------------------------------------------------------------


def test_a_new_journal_is_markdown_under_front_matter(tmp_path: Path) -> None:
    assert add(tmp_path)
    assert (tmp_path / REL).read_text() == (
        "---\n"
        "issue: 4\n"
        'created: "2026-11-21T12:00:00Z"\n'
        "branch: main\n"
        "artifacts:\n"
        "  - type: goal-evaluation\n"
        '    captured_at: "2026-11-21T12:00:00Z"\n'
        "    goal_id: issue-4\n"
        "    result: incomplete\n"
        "    from: active\n"
        "    to: active\n"
        '    reason: "AC1 failed: exit 1"\n'
        "    evidence_bundle: .flow/runs/2026-11-21T120000Z-issue-4\n"
        '    failures: ["AC1", "AC3"]\n'
        "---\n"
        "\n"
        "# Decision journal: issue 4\n"
    )


def test_a_session_journal_has_no_issue_and_no_branch(tmp_path: Path) -> None:
    rel = ".decisions/session-2026-11-21.md"
    add(tmp_path, NOTE, rel=rel, issue=None, branch=None)
    data = (tmp_path / rel).read_bytes()
    assert front(data) == {
        "issue": None,
        "created": NOW,
        "artifacts": [{"type": "note", "captured_at": NOW, "count": 1}],
    }
    assert data.endswith(b"# Decision journal: 2026-11-21\n")


def test_artifacts_follow_one_another_and_the_rest_stays(tmp_path: Path) -> None:
    add(tmp_path)
    first = (tmp_path / REL).read_bytes()
    add(tmp_path, NOTE, now=LATER, issue=99, branch="other")
    second = (tmp_path / REL).read_bytes()
    assert added_lines(first, second) == [
        b"  - type: note\n",
        b'    captured_at: "2026-11-22T08:30:00Z"\n',
        b"    count: 1\n",
    ]
    assert front(second)["issue"] == 4
    assert [a["type"] for a in front(second)["artifacts"]] == ["goal-evaluation", "note"]


@pytest.mark.parametrize(
    "type", ["goal-created", "goal-evaluation", "evidence-captured", "verdict", "contract-amended"]
)
def test_the_artifact_types_flow_writes(tmp_path: Path, type: str) -> None:
    add(tmp_path, Artifact(type, {"goal_id": "g"}))
    assert journal_store.read(str(tmp_path), REL).artifacts[0]["type"] == type


@pytest.mark.parametrize("word", ["true", "null", "no", "on", "y", "x", "a-b-9"])
def test_any_word_can_be_a_type(tmp_path: Path, word: str) -> None:
    add(tmp_path, Artifact(word, {word: word}))
    add(tmp_path, NOTE)
    found = journal_store.read(str(tmp_path), REL).artifacts[0]
    assert (found["type"], found[word]) == (word, word)
    assert front((tmp_path / REL).read_bytes())["artifacts"][0] == found


@pytest.mark.parametrize(
    "type", ["", "Goal", "1x", "a b", "a\n", "-a", "a_b", "ä", "a" * 65, "a: b"]
)
def test_other_types_are_refused(tmp_path: Path, type: str) -> None:
    with pytest.raises(InputError):
        add(tmp_path, Artifact(type, {}))
    assert not (tmp_path / REL).exists()


@pytest.mark.parametrize("name", ["type", "captured_at", "key", "", "a b", "a:", "1", "a\nb", "-x"])
def test_field_names_that_are_flows_own_or_none_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        add(tmp_path, Artifact("note", {name: 1}))


@pytest.mark.parametrize("value", [{"a": 1}, [1], [["a"]], [None], 1 << 60, float("nan"), b"x"])
def test_values_a_journal_cannot_hold_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        add(tmp_path, Artifact("note", {"field": value}))
    assert caught.value.fault.key == "field"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"failures": []}, {"failures": "none"}),
        ({"failures": ()}, {"failures": "none"}),
        ({"failures": ["AC1"]}, {"failures": ["AC1"]}),
        ({"failures": "none"}, {"failures": "none"}),
        ({"proves": []}, {"proves": []}),
        ({"source": None}, {}),
        ({"n": 0}, {"n": 0}),
        ({"n": -7}, {"n": -7}),
        ({"ok": True}, {"ok": True}),
        ({"confidence": 0.85}, {"confidence": 0.85}),
        ({"small": 1e-7}, {"small": 1e-7}),
        ({"t": "x\udcff"}, {"t": "x\\udcff"}),
        ({"t": "a\0b"}, {"t": "a\\x00b"}),
    ],
)
def test_how_values_are_written(tmp_path: Path, given: Any, written: Any) -> None:
    add(tmp_path, Artifact("note", given))
    add(tmp_path, NOTE)
    (found, _) = journal_store.read(str(tmp_path), REL).artifacts
    assert found == {"type": "note", "captured_at": NOW, **written}
    assert front((tmp_path / REL).read_bytes())["artifacts"][0] == found


HOSTILE = [
    "---",
    "\n---\nartifacts: []\n",
    '"',
    "'",
    "a: b",
    "- x",
    "# no comment",
    "a # b",
    "[]",
    "{}",
    "*alias",
    "&anchor",
    "!!python/object",
    "|",
    ">",
    "%TAG",
    "@x",
    "`x`",
    "no",
    "Yes",
    "~",
    "1:30",
    "010",
    "0x10",
    "1e5",
    ".inf",
    ".NaN",
    "2026-11-21",
    "=",
    "<<",
    " lead",
    "trail ",
    "",
    "\t",
    "\r\n",
    "\x85",
    "\u2028",
    "\ufeff",
    "\x1b[31m",
    "\u202e",
    "😀",
    "\U0010ffff",
    "\\",
    "\\x41",
    "a\\",
    "null",
    "none",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_text_becomes_structure(tmp_path: Path, value: str) -> None:
    artifact = Artifact("note", {"text": value, "list": [value, value], "end": "x"})
    add(tmp_path, artifact, branch=value)
    add(tmp_path, artifact, key=value)
    assert not add(tmp_path, artifact, key=value)
    data = (tmp_path / REL).read_bytes()
    expected = {"type": "note", "captured_at": NOW, **artifact.fields}
    assert front(data)["artifacts"] == [expected, {**expected, "key": value}]
    assert front(data)["branch"] == value
    assert list(journal_store.read(str(tmp_path), REL).artifacts) == front(data)["artifacts"]


FIELDS = st.dictionaries(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,9}", fullmatch=True).filter(
        lambda name: name not in ("type", "captured_at", "key", "failures")
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    | st.booleans()
    | st.integers(-(1 << 53), 1 << 53)
    | st.floats(-1e12, 1e12)
    | st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
)


@at_any_speed
@given(FIELDS, FIELDS, st.sampled_from(["\n", "\r\n"]))
def test_every_value_comes_back_from_every_reader(one: Any, other: Any, newline: str) -> None:
    """The strict reader, PyYAML's own, and Flow's reader of its own form all agree."""
    entries = [{"type": "a", **one}, {"type": "b", **other}]
    text = journal_text.front_matter(4, NOW, "main", entries[0], newline)
    text = text.removesuffix(f"---{newline}") + journal_text.block_item(entries[1], 2, newline)
    strict = parse_yaml(text.encode(), file="journal")
    assert strict["artifacts"] == entries
    assert yaml.safe_load(text)["artifacts"] == entries
    known = journal_text.canonical(text.removeprefix(f"---{newline}"))
    if known is not None:  # floats with many digits are for YAML
        assert journal_text.same(known.document(), strict)
        assert journal_text.same([*known.document()["artifacts"]], entries)


@at_any_speed
@given(FIELDS)
def test_bracket_entries_come_back_too(fields: Any) -> None:
    text = f"a: [{journal_text.flow_item(fields)}]\n"
    assert parse_yaml(text.encode(), file="journal")["a"] == [fields]


CANONICAL_PIECES = st.sampled_from(
    [
        "issue: 4\n",
        "issue: null\n",
        "issue: 04\n",
        'created: "x"\n',
        "created: 2026-11-21\n",
        "branch: main\n",
        "branch: no\n",
        "on: x\n",
        "artifacts:\n",
        "artifacts: []\n",
        "  - type: a\n",
        "  - type: a: b\n",
        "  - type: [x]\n",
        '  - type: ["x"]\n',
        "    to: active\n",
        "    no: active\n",
        '    "no": active\n',
        '    "not": active\n',
        '    "Null": active\n',
        '"on": x\n',
        "    type: again\n",
        '    t: "\\u00e9\\U0001f600\\x1b\\n"\n',
        '    t: "\\ud800"\n',
        '    t: "\\x00"\n',
        '    t: "\\/"\n',
        "    n: 12.5\n",
        "    n: -0\n",
        "    n: 99999999999999999999\n",
        "   odd: 1\n",
        "# comment\n",
        "\n",
        "  # comment\n",
        "      more\n",
        "...\n",
        "    k: x y\n",
        "    k: .inf\n",
        "    k: .Inf.x\n",
        "    crlf: x\r\n",
    ]
)


@at_any_speed
@given(st.lists(CANONICAL_PIECES, max_size=9).map("".join))
def test_what_is_taken_for_flows_own_form_is_yaml_that_means_the_same(text: str) -> None:
    known = journal_text.canonical(text)
    if known is not None:
        assert journal_text.same(known.document(), parse_yaml(text.encode(), file="journal"))


def test_flows_own_form_is_recognised(tmp_path: Path, monkeypatch: Any) -> None:
    """A journal only Flow wrote needs no YAML reader, however it grows."""
    add(tmp_path, key="k0")
    monkeypatch.setattr(journal_store, "_front_document", lambda *_: pytest.fail("parsed as YAML"))
    add(tmp_path, key="k1")
    assert not add(tmp_path, key="k1")
    assert len(journal_store.read(str(tmp_path), REL).artifacts) == 2


# --- once only ----------------------------------------------------------------------------------


def test_a_key_makes_an_append_happen_once(tmp_path: Path) -> None:
    assert add(tmp_path, key="turn-1")
    data = (tmp_path / REL).read_bytes()
    assert not add(tmp_path, NOTE, key="turn-1", now=LATER)
    assert (tmp_path / REL).read_bytes() == data
    assert add(tmp_path, key="turn-2")
    assert add(tmp_path, key=None)
    assert add(tmp_path, key=None)
    keys = [a.get("key") for a in journal_store.read(str(tmp_path), REL).artifacts]
    assert keys == ["turn-1", "turn-2", None, None]


@pytest.mark.parametrize("style", ["comment", "flow", "canonical"])
def test_a_key_is_found_in_every_layout(tmp_path: Path, style: str) -> None:
    text = {
        "comment": "---\n# mine\nartifacts:\n- {type: a, key: k1}\n---\n",
        "flow": "---\nartifacts: [{type: a, key: 'k1'}]\n---\n",
        "canonical": "---\nartifacts:\n  - type: a\n    key: k1\n---\n",
    }[style]
    path = put(tmp_path, text.encode())
    assert not add(tmp_path, key="k1")
    assert path.read_bytes() == text.encode()
    assert add(tmp_path, key="k")


def test_a_key_in_the_body_or_in_another_field_does_not_count(tmp_path: Path) -> None:
    put(tmp_path, b"---\nartifacts:\n  - type: a\n    note: k1\n---\n    key: k1\n")
    assert add(tmp_path, key="k1")


# --- front matter above a body ------------------------------------------------------------------


BODIES = [
    b"",
    b"\n",
    b"# Notes\n\nText\n",
    b"no final newline",
    b"crlf\r\nlines\r\n",
    b"old mac\rlines\r",
    b"text\n---\nartifacts: []\n---\nmore\n",
    b"--- a title\n",
    b" ---\nindented\n",
    b"----\n",
    b"-- -\n",
    b"\n---\nissue: 9\n---\n",
    b"\xef\xbb\xbf# with a byte order mark\n",
    b"not \xff UTF-8 \xc3\n",
    b"nul \x00 byte\n",
    b"trailing spaces  \n\n\n\n",
    b"...\n",
    "Grüße 漢字\u2028\n".encode(),
]


@pytest.mark.parametrize("body", BODIES)
def test_front_matter_goes_above_a_body_that_stays_byte_for_byte(
    tmp_path: Path, body: bytes
) -> None:
    path = put(tmp_path, body)
    add(tmp_path)
    data = path.read_bytes()
    assert data.endswith(body)
    head = data[: len(data) - len(body)]
    newline = b"\r\n" if b"\r\n" in body else b"\n"
    assert head.startswith(b"---" + newline)
    assert head.endswith(newline + b"---" + newline)
    assert head.count(b"\n") == head.count(newline)
    assert front(head)["artifacts"][0]["goal_id"] == "issue-4"
    assert front(head)["issue"] == 4
    add(tmp_path, NOTE)
    again = path.read_bytes()
    assert again.endswith(body)
    assert len(front(again[: len(again) - len(body)])["artifacts"]) == 2


# --- front matter that people wrote -------------------------------------------------------------


LAYOUTS = [
    "issue: 4\n",
    "",
    "# only a comment\n",
    "artifacts:\n",
    "artifacts:   # to come\n",
    "artifacts:\n  # none yet\n",
    "artifacts:\n\nissue: 4\n",
    "issue: 4\nartifacts:\n- type: a\n- type: b\n",
    "artifacts:\n  - type: a\n    captured_at: 2026-01-01T00:00:00Z\nissue: 4\nx: {y: [1, 2]}\n",
    "artifacts:\n      - type: a\n        note: deep\nowner: me\n",
    "artifacts:\n  - type: a # why\n\n  # about b\n  - type: b\n\n# the end\nissue: 4\n",
    "artifacts:\n  -\n    type: a\n",
    "artifacts:\n  - {type: a, note: 'x ] y'}\n",
    "artifacts:\n  - type: a\n    note: |\n      # text\n      - text\n\n      end\nissue: 4\n",
    "artifacts:\n  - type: a\n    note: |+\n      kept\n\n\nissue: 4\n",
    "artifacts:\n  - type: a\n    note: >-\n      folded\n      # text\n",
    'artifacts:\n  - type: a\n    note: "one\n      # two\n      - three"\n',
    "artifacts:\n  - type: a\n    note: plain\n      over lines\nissue: 4\n",
    "note: |\n  artifacts:\n    - type: fake\nartifacts:\n  - type: a\n",
    "note: 'quoted\n  artifacts: []\n  text'\nartifacts:\n  - type: a\n",
    '"artifacts":\n  - type: a\n',
    "'artifacts' :\n  - type: a\n",
    "artifacts_old:\n  - type: x\nartifacts:\n  - type: a\nartifactsb: 1\n",
    "issue: 4\nnote: |+\n  kept\n\n\n",
    "issue: 4\nnote: |\n  text\n# after\n",
    "  issue: 4\n  artifacts:\n    - type: a\n  owner: me\n",
    "  issue: 4\n  owner: me\n",
    "  issue: 4\n  artifacts:\n  - type: a\n",
    "artifacts:\n  - type: a\n    list:\n      - x\n      - y\n    map:\n      k: v\n",
    "artifacts:\n  - just a text\n  - 5\n",
    "artifacts:\n  - type: a\n   # oddly indented\n",
    "date: 2026-11-21\nflag: no\nnumber: 010\nartifacts:\n  - type: a\n",
]
BRACKETS = [
    "artifacts: []\n",
    "artifacts: [ ]   # none\nissue: 4\n",
    "artifacts:\n  []\n",
    "artifacts: [\n]\n",
    "artifacts: [{type: a}]\n",
    "artifacts: [{type: a}, ]\n",
    "artifacts: [{type: a, note: ']'}, {type: b, l: [x, y]}]  # two ] here\nissue: 4\n",
    "artifacts: [\n  {type: a}, # why ]\n  {type: b}\n]\nissue: 4\n",
    "artifacts: [\n  {type: a},\n  {type: b},\n  ]\n",
    "artifacts:\n  [{type: a}]\nx: [1]\n",
    'issue: 4\n\'artifacts\': [{"type": "a"}]\n',
]
BODY = "body\n---\nartifacts: x\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("text", LAYOUTS, ids=range(len(LAYOUTS)))
def test_an_append_adds_lines_and_changes_none(tmp_path: Path, text: str, newline: str) -> None:
    old = f"---\n{text}---\n{BODY}".replace("\n", newline).encode()
    before = (
        parse_yaml(old.split(b"---", 2)[1], file="x") if text.strip("# \n") and ":" in text else {}
    )
    path = put(tmp_path, old)
    assert add(tmp_path, key="k1")
    new = path.read_bytes()
    extra = added_lines(old, new)
    assert new.endswith(BODY.replace("\n", newline).encode())
    assert all(line.endswith(newline.encode()) for line in extra)
    after = parse_yaml(new[3:].split(f"{newline}---{newline}".encode(), 1)[0], file="x")
    *kept, last = after.pop("artifacts")
    assert kept == (before.pop("artifacts", None) or [])
    assert after == before
    assert last == {"type": ARTIFACT.type, "captured_at": NOW, **ARTIFACT.fields, "key": "k1"}
    assert not add(tmp_path, key="k1")
    assert add(tmp_path, NOTE, key="k2")
    assert [a.get("key") for a in journal_store.read(str(tmp_path), REL).artifacts][-2:] == [
        "k1",
        "k2",
    ]


@pytest.mark.parametrize("text", BRACKETS, ids=range(len(BRACKETS)))
def test_a_list_in_brackets_grows_and_the_rest_stays(tmp_path: Path, text: str) -> None:
    old = f"---\n{text}---\n{BODY}".encode()
    before = parse_yaml(text.encode(), file="x")
    path = put(tmp_path, old)
    assert add(tmp_path, key="k1")
    assert add(tmp_path, NOTE, key="k2")
    new = path.read_bytes()
    assert new.endswith(b"\n---\n" + BODY.encode())
    after = parse_yaml(new[4:].split(b"\n---\n", 1)[0] + b"\n", file="x")
    *kept, one, two = after.pop("artifacts")
    assert kept == before.pop("artifacts")
    assert after == before
    assert (one["key"], two["key"]) == ("k1", "k2")
    assert one["reason"] == ARTIFACT.fields["reason"]
    for comment in ("# none", "# two ] here", "# why ]"):
        assert (comment.encode() in new) == (comment.encode() in old)


@pytest.mark.parametrize(
    "data",
    [
        b"---\r\nissue: 4\r\nartifacts:\r\n  - type: a\r\n---\r\nbody",
        b"--- \nissue: 4\n---\t\nbody",
        b"\xef\xbb\xbf---\nissue: 4\n---\nbody",
        b"---\nissue: 4\n---",
        b"---\n---\n",
        b"---\n---",
        b"---\nissue: 4\n---\nnot \xff UTF-8",
    ],
)
def test_the_opening_and_closing_lines_and_the_body_stay(tmp_path: Path, data: bytes) -> None:
    path = put(tmp_path, data)
    add(tmp_path)
    assert added_lines(data, path.read_bytes())
    assert len(journal_store.read(str(tmp_path), REL).artifacts) == (2 if b"type: a" in data else 1)


BROKEN = [
    ("---\nissue: 4\n", "line 1"),
    ("---", "line 1"),
    ("---\nissue: 4\n--- x\nbody\n", "line 1"),
    ("---\nissue: 4\n ---\n", "line 1"),
    ("---\nissue: [4\n---\n", "line"),
    ("---\nissue: 4\n bad indent: x\n---\n", "line 3"),
    ("---\nissue: 4\nissue: 5\n---\n", "line 3"),
    ("---\nartifacts:\n  - type: a\nartifacts:\n  - type: b\n---\n", "line 4"),
    ("---\nissue: 4\nartifacts:\n  - type: a\n    to: p\n    to: q\n---\n", "line 6"),
    ("---\nissue: 4\nartifacts: none\n---\n", "line 3"),
    ("---\nartifacts: {type: a}\n---\n", "line 2"),
    ("---\nissue: 4\nartifacts:\n  type: a\n---\n", "line 3"),
    ("---\nartifacts: 5\n---\n", "line 2"),
    ("---\njust text\n---\n", None),
    ("---\n- a\n- b\n---\n", None),
    ("---\nissue: &x 4\nother: *x\n---\n", "line"),
    ("---\nissue: !!int 4\n---\n", "line 2"),
    ("---\nissue: 4\n...\nother: 5\n---\n", None),
    ("---\nissue: 4\n\tx: 5\n---\n", "line 3"),
    ("---\nissue: 'open\n---\n", "line"),
    ("---\nn: 99999999999999999999\n---\n", "line 2"),
    ("---\n{issue: 4}\n---\n", None),
    ("---\nartifacts: null\n---\n", None),
    ("---\nartifacts: ~\n---\n", None),
    ("---\nissue: 4\nx: \xff\n---\n", "line 3"),
    ("---\nissue: 4\n\n# c\nx: \x07\n---\n", "line 5"),
    ("---\n" + "[" * 900 + "\n---\n", None),
]


@pytest.mark.parametrize(("text", "place"), BROKEN, ids=range(len(BROKEN)))
def test_broken_front_matter_is_refused_and_the_file_untouched(
    tmp_path: Path, text: str, place: str | None
) -> None:
    data = text.encode("latin-1")
    path = put(tmp_path, data)
    stamp = path.stat()
    for call in (
        lambda: add(tmp_path),
        lambda: journal_store.check(str(tmp_path), REL, ARTIFACT, now=NOW),
    ):
        with pytest.raises(RefusedError) as caught:
            call()
        assert caught.value.code == "broken_journal"
        assert caught.value.helper_code == 2
        assert caught.value.fault.file == REL
        assert caught.value.fault.remedy
        assert place is None or place in str(caught.value)
    assert path.read_bytes() == data
    assert path.stat().st_mtime_ns == stamp.st_mtime_ns
    assert os.listdir(path.parent) == ["issue-4.md"]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16_is_refused(tmp_path: Path, mark: bytes) -> None:
    put(tmp_path, mark + "---\nissue: 4\n---\n".encode("utf-16-le"))
    with pytest.raises(RefusedError, match="UTF-16") as caught:
        add(tmp_path)
    assert caught.value.code == "broken_journal"


def test_check_writes_nothing(tmp_path: Path) -> None:
    journal_store.check(str(tmp_path), REL, ARTIFACT, now=NOW)
    assert os.listdir(tmp_path) == []
    put(tmp_path, b"text")
    journal_store.check(str(tmp_path), REL, ARTIFACT, now=NOW)
    assert (tmp_path / REL).read_bytes() == b"text"
    with pytest.raises(InputError):
        journal_store.check(str(tmp_path), REL, Artifact("Bad", {}), now=NOW)


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "folder", "fifo", "dangling"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "elsewhere.md"
    folder = tmp_path / ".decisions"
    if kind == "folder":
        (tmp_path / "real").mkdir()
        folder.symlink_to(tmp_path / "real")
    else:
        folder.mkdir()
        if kind == "file":
            target.write_text("theirs")
        if kind == "fifo":
            os.mkfifo(tmp_path / REL)
        else:
            (tmp_path / REL).symlink_to(target)
    with pytest.raises(RefusedError) as caught:
        add(tmp_path)
    assert caught.value.code == "unsafe_path"
    assert not target.exists() or target.read_text() == "theirs"


def test_a_journal_has_a_size_limit(tmp_path: Path, monkeypatch: Any) -> None:
    add(tmp_path)
    size = (tmp_path / REL).stat().st_size
    monkeypatch.setattr(journal_store, "LIMIT", size + 50)
    data = (tmp_path / REL).read_bytes()
    with pytest.raises(ContractError, match="larger"):
        add(tmp_path)
    monkeypatch.setattr(journal_store, "LIMIT", size - 1)
    with pytest.raises(ContractError, match="larger"):
        add(tmp_path)
    assert (tmp_path / REL).read_bytes() == data


def test_many_artifacts_and_more_than_a_megabyte(tmp_path: Path) -> None:
    add(tmp_path, key="first")
    path = tmp_path / REL
    head, item, tail = path.read_text().partition("  - type")
    item, end, tail = (item + tail).partition("---\n")
    path.write_text(head + item * 5000 + end + tail)
    assert path.stat().st_size > 1 << 20
    assert add(tmp_path, NOTE, key="last")
    assert not add(tmp_path, NOTE, key="last")
    assert not add(tmp_path, NOTE, key="first")
    found = journal_store.read(str(tmp_path), REL)
    assert len(found.artifacts) == 5001
    assert found.artifacts[-1]["key"] == "last"


def test_more_than_a_megabyte_with_lines_of_another_hand_is_refused(tmp_path: Path) -> None:
    text = "---\n# mine\nartifacts:\n" + "  - type: a\n" * 100_000 + "---\n"
    path = put(tmp_path, text.encode())
    with pytest.raises(RefusedError, match="1048576") as caught:
        add(tmp_path)
    assert caught.value.code == "broken_journal"
    assert path.read_text() == text


def test_parallel_appends_are_all_kept(tmp_path: Path) -> None:
    code = """
import sys
from flow.adapters.journal import store as journal
from flow.app.ports import Artifact
from tests.support.patience import patient_locks
patient_locks()
root, name = sys.argv[1:]
for number in range(15):
    journal.append(root, ".decisions/issue-4.md", Artifact("note", {"by": name}), issue=4,
                   now="2026-11-21T12:00:00Z", branch=None, key=f"{name}-{number}")
    journal.append(root, ".decisions/issue-4.md", Artifact("note", {"by": name}), issue=4,
                   now="2026-11-21T12:00:00Z", branch=None, key=f"shared-{number}")
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), f"p{number}"], cwd=ROOT)
        for number in range(4)
    ]
    assert [process.wait(timeout=10 * LONG) for process in started] == [0] * 4
    keys = [artifact["key"] for artifact in journal_store.read(str(tmp_path), REL).artifacts]
    assert sorted(keys) == sorted(
        [f"p{n}-{k}" for n in range(4) for k in range(15)] + [f"shared-{k}" for k in range(15)]
    )


# --- reading ------------------------------------------------------------------------------------


def test_read_gives_the_parts(tmp_path: Path) -> None:
    put(
        tmp_path,
        b"---\nowner: me # note\nissue: 4\n"
        b"artifacts:\n- type: a\n  when: 2026-01-01\n---\n# Title\nx\xff\n",
    )
    found = journal_store.read(str(tmp_path), REL)
    assert found.front == {"owner": "me", "issue": 4}
    assert found.artifacts == ({"type": "a", "when": "2026-01-01"},)
    assert found.body == "# Title\nx\\xff\n"
    assert found.warnings == ()


def test_read_without_front_matter(tmp_path: Path) -> None:
    put(tmp_path, b"only text\n")
    found = journal_store.read(str(tmp_path), REL)
    assert (found.front, found.artifacts, found.body) == ({}, (), "only text\n")
    assert found.warnings


def test_read_leaves_out_what_is_no_artifact_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, b"---\nartifacts:\n- text\n- type: a\n- {no_type: 1}\n- type: 5\n---\n")
    found = journal_store.read(str(tmp_path), REL)
    assert found.artifacts == ({"type": "a"},)
    assert len(found.warnings) == 3


def test_read_of_an_absent_journal(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        journal_store.read(str(tmp_path), REL)
    assert caught.value.code == "not_found"


def test_read_of_a_broken_one(tmp_path: Path) -> None:
    put(tmp_path, b"---\nissue: 4\nissue: 5\n---\n")
    with pytest.raises(RefusedError) as caught:
        journal_store.read(str(tmp_path), REL)
    assert caught.value.code == "broken_journal"


# --- paths and metadata -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "issue", "folder", "expected"),
    [
        (None, 4, ".decisions", ".decisions/issue-4.md"),
        (None, None, ".decisions", ".decisions/goal-greet.md"),
        (None, 4, "docs/log", "docs/log/issue-4.md"),
        ("", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/mine.md", 4, ".decisions", ".decisions/mine.md"),
        ("./.decisions/./mine.md", 4, ".decisions", ".decisions/mine.md"),
        (".decisions/sub/mine.md", None, ".decisions", ".decisions/sub/mine.md"),
        ("docs/log/mine.md", 4, "docs/log", "docs/log/mine.md"),
        ("docs/mine.md", 4, "docs/log", "docs/log/issue-4.md"),
        ("docs/log", 4, "docs/log", "docs/log/issue-4.md"),
        ("src/app.py", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/x.py", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/../src/x.md", 4, ".decisions", ".decisions/issue-4.md"),
        ("../.decisions/x.md", 4, ".decisions", ".decisions/issue-4.md"),
        ("/.decisions/x.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions//x.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/x.md/", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions-x/x.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/x\n.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/x\0.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/\u202ex.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/\udcff.md", 4, ".decisions", ".decisions/issue-4.md"),
        (".decisions/" + "x" * 238 + ".md", 4, ".decisions", ".decisions/issue-4.md"),
    ],
)
def test_where_a_journal_lies(
    own: str | None, issue: int | None, folder: str, expected: str
) -> None:
    assert layout.journal_path(own, issue, "greet", folder) == expected


def test_the_longest_name_works(tmp_path: Path) -> None:
    rel = ".decisions/" + "x" * 237 + ".md"
    assert layout.journal_path(rel, 4, "greet") == rel
    assert add(tmp_path, rel=rel)


@pytest.mark.parametrize(
    ("pairs", "fields"),
    [
        ([], {}),
        (["goal_id=issue-4"], {"goal_id": "issue-4"}),
        (["a=1", "b=x"], {"a": 1, "b": "x"}),
        (["n=007"], {"n": 7}),
        (["n=-7"], {"n": "-7"}),
        (["n=1.5"], {"n": "1.5"}),
        (["n=٣"], {"n": "٣"}),
        (["n=9007199254740992"], {"n": 1 << 53}),
        (["n=9007199254740993"], {"n": "9007199254740993"}),
        (["n=" + "9" * 6000], {"n": "9" * 6000}),
        (["failures=AC1,AC2"], {"failures": ["AC1", "AC2"]}),
        (["failures=AC1, AC2,"], {"failures": ["AC1", "AC2"]}),
        (["failures=none"], {"failures": "none"}),
        (["failures=,"], {"failures": []}),
        (["ids=1,2"], {"ids": ["1", "2"]}),
        (["reason=a=b"], {"reason": "a=b"}),
        (["empty="], {"empty": ""}),
        (["flag=true"], {"flag": "true"}),
    ],
)
def test_metadata_pairs(tmp_path: Path, pairs: list[str], fields: dict[str, Any]) -> None:
    assert journal_store.metadata_from_pairs(pairs) == fields
    add(tmp_path, Artifact("note", journal_store.metadata_from_pairs(pairs)))


@pytest.mark.parametrize(
    "pairs",
    [
        ["novalue"],
        ["=x"],
        ["a b=x"],
        ["1a=x"],
        ["ä=x"],
        ["a\n=x"],
        ["type=x"],
        ["captured_at=x"],
        ["key=x"],
        ["a=1", "a=2"],
        ["a" * 65 + "=x"],
    ],
)
def test_bad_metadata_is_refused(pairs: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        journal_store.metadata_from_pairs(pairs)
    assert caught.value.helper_code == 1
    assert caught.value.fault.remedy


def test_appending_to_flows_own_form_loads_no_yaml(tmp_path: Path) -> None:
    """Start-up time: the helpers that append must not pay for a parser they do not need."""
    code = """
import sys
from flow.adapters.journal import store as journal
from flow.app.ports import Artifact
for key in ("a", "b"):
    journal.append(sys.argv[1], ".decisions/issue-4.md", Artifact("note", {"n": 1}), issue=4,
                   now="2026-11-21T12:00:00Z", branch="main", key=key)
heavy = {"yaml", "jsonschema", "filelock", "dataclasses", "subprocess", "datetime", "pathlib"}
print(sorted(heavy & set(sys.modules)))
"""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG,
    )
    assert found.stdout == "[]\n"
