"""The hash chain as values: entries, heads, and what a walk names."""

from __future__ import annotations

import json

import pytest

from flow.core.chain import entries as chain_entries
from flow.core.chain.walk import Line, WitnessedHead, walk
from flow.core.goal.model import canonical_digest
from flow.startup.json import canonical

RUN = "r1"
FIELDS = {
    "at": "2026-03-01T10:15:00Z",
    "kind": "evidence",
    "goal_id": "g",
    "by": "evaluator",
    "sidecar_sha256": "a" * 64,
    "output_sha256": None,
}


def parse(line):
    try:
        document = json.loads(line)
    except ValueError:
        raise ValueError("is no entry") from None
    return chain_entries.read(document, line)


def entries(count, run_id=RUN, **changed):
    made = []
    for number in range(1, count + 1):
        fields = {**FIELDS, "evidence_id": f"e-{number}", **changed}
        made.append(chain_entries.following(made[-1].head if made else None, run_id, fields))
    return made


def lines_of(made):
    return [chain_entries.line(entry) for entry in made]


def look(lines, *said, ended=True, sought=frozenset()):
    last = len(lines)
    given = [Line(n, text, ended or n < last) for n, text in enumerate(lines, 1)]
    return walk(RUN, "ledger.jsonl", given, parse, said, sought)


def kinds(found):
    return [(finding.kind, finding.entry) for finding in found.findings]


def test_an_entry_is_what_the_format_says():
    (entry,) = entries(1)
    document = json.loads(chain_entries.line(entry))
    assert (
        chain_entries.line(entry)
        == json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    )
    assert entry.seq == 1
    assert entry.prev == chain_entries.genesis(RUN) != chain_entries.genesis("r2")
    assert chain_entries.genesis(RUN) != chain_entries.events_genesis(RUN)
    assert str(entry.head) == f"1:{entry.hash}"
    assert parse(chain_entries.line(entry)) == entry


@pytest.mark.parametrize("text", ["1:" + "a" * 64, "9999999999999999:" + "0" * 64])
def test_a_head_is_read_back(text):
    assert str(chain_entries.head_of(text)) == text


@pytest.mark.parametrize(
    "text",
    [None, 1, True, "", ":", "1:", ":" + "a" * 64, "0:" + "a" * 64, "01:" + "a" * 64, "a" * 64,
     "1:" + "A" * 64, "1:" + "a" * 63, "-1:" + "a" * 64, "\u0661:" + "a" * 64,
     "1:" + "a" * 64 + "\n", "1" * 17 + ":" + "a" * 64],
)  # fmt: skip
def test_what_is_no_head(text):
    assert chain_entries.head_of(text) is None


def broken(change):
    document = json.loads(chain_entries.line(entries(1)[0]))
    change(document)
    bare = {key: value for key, value in document.items() if key != "hash"}
    document["hash"] = canonical_digest(bare) if document.get("hash") != 1 else 1
    return canonical(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("by"),
        lambda d: d.update(more=1),
        lambda d: d.update(seq=0),
        lambda d: d.update(seq=True),
        lambda d: d.update(seq=1.0),
        lambda d: d.update(seq="1"),
        lambda d: d.update(kind="other"),
        lambda d: d.update(kind="dropped"),
        lambda d: d.update(sidecar_sha256=None),
        lambda d: d.update(sidecar_sha256="a" * 63),
        lambda d: d.update(output_sha256="A" * 64),
        lambda d: d.update(output_sha256=[]),
        lambda d: d.update(evidence_id=7),
        lambda d: d.update(prev={}),
        lambda d: d.update(hash=1),
    ],
)
def test_an_entry_of_another_shape_is_none(change):
    with pytest.raises(ValueError, match="is no entry"):
        parse(broken(change))


def test_another_spelling_of_the_same_entry_is_altered():
    line = chain_entries.line(entries(1)[0])
    for other in (line + b" ", line.replace(b":", b": ", 1), json.dumps(json.loads(line)).encode()):
        with pytest.raises(ValueError, match="as Flow writes it"):
            parse(other)
    with pytest.raises(ValueError, match="its hash"):
        parse(line.replace(b"evaluator", b"evaluatos"))
    with pytest.raises(ValueError, match="is no entry"):
        parse(b"[]")


def test_a_whole_chain():
    made = entries(5)
    found = look(
        lines_of(made), WitnessedHead(made[2].head, "somebody"), sought=frozenset({made[0].head})
    )
    assert (found.findings, found.entries, found.head) == ((), 5, made[-1].head)
    assert list(found.stored) == [f"e-{n}" for n in range(1, 6)]
    assert found.seen == {made[0].head}
    assert look([]).head is None


def test_another_runs_chain_is_not_this_ones():
    assert kinds(look(lines_of(entries(3, "r2")))) == [("restored", 1)]


@pytest.mark.parametrize("gone", range(1, 5))
def test_a_missing_entry_is_named(gone):
    made = lines_of(entries(5))
    del made[gone - 1]
    assert kinds(look(made)) == [("missing", gone)]


def test_the_last_entry_missing_is_a_cut_only_a_head_tells():
    made = entries(5)
    lines = lines_of(made)[:3]
    assert kinds(look(lines)) == []
    found = look(
        lines,
        WitnessedHead(made[3].head, "a"),
        WitnessedHead(made[4].head, "b"),
        WitnessedHead(made[4].head, "c"),
    )
    assert kinds(found) == [("cut", 4)]
    assert "ends at entry 3, and entry 5" in found.findings[0].message
    assert "known to b, c" in found.findings[0].message
    assert kinds(look([], WitnessedHead(made[1].head, "a"))) == [("missing", 1)]


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 3), (0, 4), (3, 4)])
def test_reordered_entries_are_named(one, other):
    made = lines_of(entries(5))
    made[one], made[other] = made[other], made[one]
    found = kinds(look(made))
    assert found[0] == ("reordered", one + 1)


def test_an_entry_twice_is_named():
    made = lines_of(entries(3))
    assert kinds(look([*made, made[-1]]))[0] == ("reordered", 3)


def test_an_id_twice_is_named():
    one, two = entries(2, evidence_id="same")
    found = look(lines_of([one, two]))
    assert kinds(found) == [("reordered", 2)]
    assert found.stored["same"].seq == 1


def test_a_replaced_entry_is_named():
    """Somebody writes an entry anew, with a hash that fits: the next one does not follow it."""
    made = entries(4)
    forged = chain_entries.following(
        made[0].head, RUN, {**FIELDS, "evidence_id": "e-2", "by": "caller"}
    )
    found = look(lines_of([made[0], forged, *made[2:]]))
    assert kinds(found) == [("restored", 3)]


def test_a_chain_written_anew_is_told_by_a_head():
    made, other = entries(4), entries(4, by="caller")
    found = look(lines_of(other), WitnessedHead(made[2].head, "the journal"))
    assert kinds(found) == [("restored", 3)]
    assert "another one than the one known to the journal" in found.findings[0].message


@pytest.mark.parametrize("text", [b"", b"junk", None, b"\xff"])
def test_a_line_that_is_no_entry(text):
    made = lines_of(entries(4))
    made[1] = text
    found = look(made)
    assert kinds(found) == [("altered", 2)]
    assert found.entries == 3


def test_the_number_of_an_entry_is_not_guessed_after_a_broken_line():
    made = lines_of(entries(3))
    result = look([b"{", b"[", made[2]])
    assert [(each.entry, each.message) for each in result.findings] == [
        (1, "line 1 (where entry 1 should be) is no entry"),
        (None, "line 2 is no entry"),
    ]


def test_half_a_line_and_a_lost_newline():
    made = lines_of(entries(2))
    assert kinds(look(made, ended=False)) == [("cut", 2)]
    assert kinds(look([made[0], made[1][:50]], ended=False)) == [("cut", 2)]


def test_dropped_outputs():
    one = entries(1, output_sha256="b" * 64)[0]
    gone = {**FIELDS, "kind": "dropped", "evidence_id": "e-1", "output_sha256": "b" * 64}
    dropped = chain_entries.following(one.head, RUN, gone)
    found = look(lines_of([one, dropped]))
    assert (found.findings, found.dropped) == ((), {"e-1"})
    other = chain_entries.following(one.head, RUN, {**gone, "output_sha256": "c" * 64})
    found = look(lines_of([one, other]))
    assert kinds(found) == [("altered", 2)]
    assert found.dropped == frozenset()
