"""Signed envelopes (DSSE), and who has signed them."""

from __future__ import annotations

from flow.core.evidence import attestation
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    CheckSignature = Callable[["bytes", "Signature"], "SignatureCheck"]

UNSIGNED = "unsigned: nothing says who made this"
UNKNOWN = (
    "signed, and nothing given here says whose key that is: "
    "name the keys you trust with --allowed-signers or --key"
)


class Signature(NamedTuple):
    """One signature of an envelope. ``keyid`` is a hint without proof."""

    keyid: str
    sig: bytes


class Envelope(NamedTuple):
    """One DSSE envelope, decoded; ``place`` names it for people."""

    place: str
    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]


class SignatureCheck(NamedTuple):
    """Result of checking one signature. ``good`` is None if no key for it is known."""

    good: bool | None
    key: str
    """The key's fingerprint, or the hint in the envelope."""
    who: str | None = None
    """Owner of the key by the caller's own list; None if the list does not have it."""
    why: str = ""


def by_kind(
    is_ssh: Callable[[bytes], bool], ssh: CheckSignature, key_file: CheckSignature | None
) -> CheckSignature:
    """Checks each signature by its kind; without ``key_file`` those of key files stay unchecked."""

    def check(message: bytes, signature: Signature) -> SignatureCheck:
        if is_ssh(signature.sig):
            return ssh(message, signature)
        if key_file is not None:
            return key_file(message, signature)
        why = "not checked: signed by a key file; give --key"
        return SignatureCheck(None, signature.keyid, why=why)

    return check


def signers_of(
    envelopes: Sequence[Envelope],
    signature: Callable[[bytes, Signature], SignatureCheck],
    strict: bool,
    findings: list[str],
    notes: list[str],
) -> list[str]:
    """The signers of every envelope: the key, and its owner if the caller's list has it.

    ``strict`` demands for every envelope a signature of a listed key. Faults are added to
    ``findings``, remarks for a reader to ``notes``.
    """
    everywhere: dict[str, int] = {}
    good = 0
    for envelope in envelopes:
        signed = attestation.pae(envelope.payload_type, envelope.payload)
        seen = [signature(signed, one) for one in envelope.signatures]
        findings += [f"{envelope.place}: {visible(one.why)}" for one in seen if one.good is False]
        if strict:
            findings += _unknown(envelope, seen)
        else:
            notes += {visible(one.why) for one in seen if one.good is None}.difference(notes)
        keys = {_signer_name(one) for one in seen if one.good and (one.who or not strict)}
        good += bool(keys)
        for key in keys:
            everywhere[key] = everywhere.get(key, 0) + 1
    whole = [key for key, count in everywhere.items() if count == len(envelopes)]
    if good == len(envelopes) and not whole:
        findings.append("the envelopes are signed by different keys")
    signed_ones = sum(1 for envelope in envelopes if envelope.signatures)
    if strict:
        return whole
    if not signed_ones:
        notes.append(UNSIGNED)
    elif signed_ones < len(envelopes):
        findings.append(f"only {signed_ones} of {len(envelopes)} envelopes are signed")
    elif whole:
        notes.append(UNKNOWN)
    return whole


def _unknown(envelope: Envelope, seen: Sequence[SignatureCheck]) -> list[str]:
    if not seen:
        return [f"{envelope.place}: {UNSIGNED}"]
    if any(one.good and one.who for one in seen) or all(one.good is False for one in seen):
        return []  # one that does not fit is named already
    keys = ", ".join(visible(one.key) for one in seen)
    return [f"{envelope.place}: signed by {keys}, which the given keys do not name"]


def _signer_name(one: SignatureCheck) -> str:
    key = visible(one.key)
    return f"{visible(one.who)} ({key})" if one.who else key
