"""Lines for people who wait for a debate."""

from __future__ import annotations

import io
from fractions import Fraction

from flow.core.judging.debate.model import Agreement
from flow.render.debate import Progress
from flow.render.screen import Screen


def progress(encoding: str = "utf-8") -> tuple[Progress, io.TextIOWrapper]:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    times = iter([10.0, 12.5, 100.0])
    screen = Screen(unicode=encoding != "ascii")
    return Progress(stream, lambda: next(times), screen), stream


def text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode(stream.encoding)


def test_each_thing_is_one_line() -> None:
    shown, stream = progress()
    shown.asking(2, "claude:opus\x1b", "assessment", 60)
    shown.wrote(2, "assessment", "4.5")
    shown.counted(0, Agreement(Fraction(1), {"a": Fraction(2), "b": Fraction(1)}, ()))
    shown.counted(1, Agreement(Fraction(0), {"a": Fraction(0)}, (1, 3)))
    shown.counted(2, Agreement(Fraction(1, 2), {"a": Fraction(1)}, ()))
    assert text(stream).split("\n") == [
        "  judge 2  assessment: asks claude:opus\\x1b (at most 1 min 0 s)",
        "✓ judge 2  assessment: 4.5/5 (2.5 s)",
        "no consensus before any debate: 1 apart overall; apart on a",
        "no consensus after debate 1: 0 apart overall; not accepted by judge 1, judge 3",
        "consensus after debate 2, 0.5 apart",
        "",
    ]


def test_a_stream_that_lacks_the_marks_and_a_long_reason() -> None:
    shown, stream = progress("ascii")
    shown.silent(1, "debate 1", "no\x1b[2J " + "x" * 500)
    line = text(stream)
    assert line.startswith("? judge 1  debate 1: no usable answer: no\\x1b[2J xxx")
    assert line.endswith("x...\n")
    assert len(line) < 250


def test_a_closed_stream_is_ignored() -> None:
    shown, stream = progress()
    stream.close()
    shown.silent(1, "debate 1", "no")
