"""Bundles on disk: DSSE envelopes, one JSON object a line (in-toto's bundle format)."""

from __future__ import annotations

import binascii
import json

from flow.adapters.contracts import formats
from flow.app.exchange.envelopes import Envelope, Signature
from flow.errors import ContractError, Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMIT = 96 << 20
"""Most bytes of a bundle."""
MOST_ENVELOPES = 2_000
MOST_SIGNATURES = 16
SIGNATURE_LIMIT = 1 << 16


def bundle_text(envelopes: Iterable[Envelope]) -> str:
    """The bundle's text: one envelope a line."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    return "".join(f"{encode(document(envelope))}\n" for envelope in envelopes)


def document(envelope: Envelope) -> dict[str, Any]:
    """An envelope as JSON holds it."""
    return {
        "payloadType": envelope.payload_type,
        "payload": _encoded(envelope.payload),
        "signatures": [{"keyid": s.keyid, "sig": _encoded(s.sig)} for s in envelope.signatures],
    }


def read_bundle(data: bytes, file: str) -> tuple[Envelope, ...]:
    """The envelopes of a bundle. :class:`ContractError` names every line that is none."""
    envelopes: list[Envelope] = []
    faults: list[Fault] = []
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not lines:
        remedy = "name a bundle that flow evidence export wrote"
        raise in_file(file).corrupt("holds no envelope", remedy)
    if len(lines) > MOST_ENVELOPES:
        raise in_file(file).corrupt(f"holds more than {MOST_ENVELOPES} envelopes", "split it")
    for number, line in lines:
        try:
            envelopes.append(_envelope(line, file, f"line {number}"))
        except ContractError as error:
            faults += error.faults[:20]
    if faults:
        raise ContractError(faults[:100])
    return tuple(envelopes)


def decode_base64(value: str, place: str, file: str = "bundle") -> bytes:
    """The bytes of strict base64; :class:`ContractError` otherwise."""
    try:
        return binascii.a2b_base64(value.encode("ascii"), strict_mode=True)
    except (binascii.Error, ValueError):
        raise in_file(file, place).corrupt("is not base64", "export the bundle again") from None


def strict_json(data: bytes, file: str) -> Any:
    """Parse strict JSON of at most a bundle's size."""
    return formats.parse_json(data, file=file, what="JSON document", limit=LIMIT)


def _envelope(line: bytes, file: str, place: str) -> Envelope:
    try:
        document = strict_json(line, file)
    except ContractError as error:
        for fault in error.faults:
            fault.key = f"{place}{_within_line(fault.key or '')}"
        raise
    if not isinstance(document, dict):
        raise in_file(file, place).corrupt("is no DSSE envelope", "each line has to be one")
    kind, body, signatures = (document.get(k) for k in ("payloadType", "payload", "signatures"))
    if not isinstance(kind, str) or not isinstance(body, str) or len(kind) > 200:
        raise in_file(file, place).corrupt(
            "has no payloadType and payload", "each line has to be an envelope"
        )
    if not isinstance(signatures, list) or len(signatures) > MOST_SIGNATURES:
        raise in_file(file, place).corrupt(
            f"has no list of at most {MOST_SIGNATURES} signatures", "export it again"
        )
    payload = decode_base64(body, f"{place}: payload", file)
    return Envelope(place, kind, payload, tuple(_signatures(signatures, file, place)))


def _within_line(key: str) -> str:
    """The place ``key`` of a fault in one line's JSON, behind the place of that line."""
    return key.removeprefix("line 1") if key.startswith("line 1,") else f": {key}" if key else ""


def _signatures(signatures: Sequence[Any], file: str, place: str) -> Iterable[Signature]:
    for number, row in enumerate(signatures):
        where = f"{place}: signatures[{number}]"
        sig = row.get("sig") if isinstance(row, dict) else None
        keyid = row.get("keyid", "") if isinstance(row, dict) else None
        if not isinstance(sig, str) or not isinstance(keyid, str) or len(keyid) > 200:
            raise in_file(file, where).corrupt(
                "is no signature", "it needs sig, and may have keyid"
            )
        if len(sig) > SIGNATURE_LIMIT:
            raise in_file(file, where).corrupt(
                f"is longer than {SIGNATURE_LIMIT}", "export it again"
            )
        yield Signature(keyid, decode_base64(sig, where, file))


def _encoded(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")
