"""Questions about every criterion of a goal cost one reading of the record, not one each."""

from __future__ import annotations

import os

import pytest

from flow.adapters.chain import event_log
from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.contracts import formats
from flow.adapters.ledger import evidence_store, gc, reader
from flow.adapters.ledger.reader import FileRecords
from flow.core import layout
from tests.support import ledger_scene as scene
from tests.support.pace import assert_linear, count

RUN = scene.RUN
SIZES = (30, 60, 120)


class Checkout:
    """A checkout with a sidecar of each of ``size`` criteria."""

    def __init__(self, folder, size):
        self.top, state = str(folder / f"top-{size}"), folder / f"state-{size}"
        os.makedirs(self.top)
        state.mkdir(mode=0o700)
        scene.start(self.top)
        self.heads = PinnedHeads(str(state), self.top)
        self.names = [f"evidence-ac{number}-eval-1" for number in range(1, size + 1)]
        self.writing = self.session()
        for name in self.names:
            raw = scene.raw(self.top, b"")
            evidence_store.record(
                self.writing, scene.document(name), raw, suffix=True, now=scene.NOW
            )

    def session(self):
        return RunRecord(self.top, lambda: self.heads)

    def counted(self, session):
        """How many sidecars count, asked one by one as a status does."""
        records = FileRecords(session)
        refs = [layout.evidence_file(RUN, name) for name in self.names]
        return sum(records.counted(ref) is not None for ref in refs)

    def measured(self, session):
        """How many sidecars are found by their criterion."""
        records = FileRecords(session)
        return sum(
            len(list(records.measured(RUN, f"AC{number}")))
            for number in range(1, len(self.names) + 1)
        )


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("growth")
    return {size: Checkout(folder, size) for size in SIZES}


@pytest.mark.parametrize("question", ["counted", "measured"])
@pytest.mark.parametrize("kept", [False, True])
def test_of_every_criterion(checkouts, question, kept):
    work = {}
    for size, checkout in checkouts.items():
        if kept:
            checkout.writing.commit(RUN)
        session = checkout.session() if kept else checkout.writing
        ask = getattr(checkout, question)
        ask(session)  # so that what is imported, and kept of other files, is the same at every size
        answer, work[size] = count(ask, session)
        assert answer == size
    assert_linear(work)


def test_of_dropped_outputs(tmp_path):
    work = {}
    for size in SIZES:
        checkout = Checkout(tmp_path, size)
        gc.drop(checkout.writing.run(RUN), by="somebody", now=scene.NOW)
        checkout.writing.commit(RUN)
        checkout.counted(checkout.session())
        answer, work[size] = count(checkout.counted, checkout.session())
        assert answer == size
    assert_linear(work)


def test_a_sidecar_is_parsed_once(checkouts, monkeypatch):
    checkout = checkouts[SIZES[-1]]
    monkeypatch.setattr(reader, "_sidecars", {})
    checkout.writing.commit(RUN)
    parsed, read = [], formats.read_evidence
    monkeypatch.setattr(
        formats, "read_evidence", lambda *words, **how: parsed.append(1) or read(*words, **how)
    )
    for _ in range(2):
        checkout.counted(checkout.session())
    assert len(parsed) == SIZES[-1]


RECORDED = b'{"seq":3,"type":"evidence","goal_id":"g","evidence_id":"x","prev":"p"}'


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (RECORDED, ("x", "evidence")),
        (RECORDED.replace(b'"goal', b'"d":{"evidence_id":"y"},"goal'), ("x", "evidence")),
        (RECORDED.replace(b'"evidence",', b'"evidence-discounted",'), ("x", reader.DISCOUNTED)),
        (
            RECORDED.replace(b'"evidence",', b'"evidence\\u002ddiscounted",'),
            ("x", reader.DISCOUNTED),
        ),
        (RECORDED.replace(b'"g"', b'"g","type":"evidence-discounted"'), ("x", reader.DISCOUNTED)),
        (RECORDED.replace(b'"evidence",', b'"approved",'), None),
        (RECORDED.replace(b'"x"', b'"\\u0078"'), ("x", "evidence")),
        (RECORDED.replace(b'"evidence_id"', b'"id"'), None),
        (RECORDED[:-9], None),
        (RECORDED[1:], None),
    ],
)
def test_what_an_event_says_of_a_sidecar(line, told):
    assert reader._recorded_or_discounted(line) == told


class TestNothingStale:
    """What was read once is read anew where the file is not as it was."""

    @pytest.fixture
    def checkout(self, tmp_path):
        return Checkout(tmp_path, 3)

    def test_a_discount_that_comes_between_two_questions(self, checkout):
        session = checkout.writing
        assert checkout.counted(session) == 3
        for number, name in enumerate(checkout.names, 1):
            fields = {"evidence_id": name}
            kind = reader.DISCOUNTED
            event_log.append(checkout.top, RUN, scene.GOAL, kind, fields, at=scene.NOW)
            assert checkout.counted(session) == 3 - number

    def test_it_is_seen_by_the_very_records_that_were_asked_before(self, checkout):
        records = FileRecords(checkout.writing)
        ref = layout.evidence_file(RUN, checkout.names[0])
        assert records.counted(ref) is not None
        fields = {"evidence_id": checkout.names[0]}
        event_log.append(checkout.top, RUN, scene.GOAL, reader.DISCOUNTED, fields, at=scene.NOW)
        assert records.counted(ref) is None

    @pytest.mark.parametrize("how", ["cut", "replaced", "written over", "gone"])
    def test_an_entry_of_ones_own_that_is_not_in_the_ledger_any_more(self, checkout, how):
        session = checkout.writing
        assert checkout.counted(session) == 3
        path = f"{checkout.top}/{layout.ledger_file(RUN)}"
        with open(path, "rb") as file:
            data = file.read()
        last = data.rstrip(b"\n").rfind(b"\n") + 1
        altered = data[:last] + data[last:].replace(b"evidence-ac3", b"evidence-ac9")
        if how == "cut":
            os.truncate(path, last)
        elif how == "written over":
            with open(path, "r+b") as file:
                file.write(altered)
        else:
            os.unlink(path)
            if how == "replaced":
                with open(path, "wb") as file:
                    file.write(altered)
        assert checkout.counted(session) == (0 if how == "gone" else 2)
