"""What Flow wrote is read back, and what was made to cost memory is not."""

from __future__ import annotations

import json

import pytest

from flow.adapters.fs import lenient_json


def test_a_large_text_of_commas_and_brackets_is_one_value() -> None:
    text = 'a: [1, {"b": "c"}]\\\n' * 100_000
    assert lenient_json.loads(json.dumps({"text": text}).encode()) == {"text": text}


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"[]," * 500_000 + b"1]",
        b'["' + b'","' * 500_000 + b'"]',
        b"[" * 40 + b'"' + b'\\"' * 1_000_000 + b"\\",
        b"[" + b'",[]' * 500_000,
    ],
)
def test_a_large_document_of_structure_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        lenient_json.loads(data)
