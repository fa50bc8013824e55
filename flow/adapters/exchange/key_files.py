"""Sign with a key file in PEM (Ed25519, ECDSA, RSA), by ``securesystemslib``.

Only the extra ``sign`` installs it. Key ids are that library's, so that its DSSE envelopes verify.
"""

from __future__ import annotations

from flow.adapters.fs import inputs
from flow.app.exchange.envelopes import Signature, SignatureCheck
from flow.errors import InputError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT = 1 << 16
"""Most bytes of a key file."""
INSTALL = "pip install securesystemslib cryptography, or sign with an SSH key: --sign ssh:KEYFILE"


def signer(path: str) -> Callable[[bytes], Signature]:
    """A signer with the private key in ``path``; :class:`InputError` if it cannot be used."""
    library = _library()
    data = inputs.read(path, "--key", limit=LIMIT)
    serialization = library["serialization"]
    try:
        key = serialization.load_pem_private_key(data, password=None)
        crypto = library["CryptoSigner"](key)
    except TypeError as error:  # the library raises it for an encrypted key
        raise _refused(path, "is protected by a passphrase, which Flow never asks for") from error
    except (ValueError, library["Unsupported"]) as error:
        raise _refused(path, "is no private key in PEM of a kind that can sign here") from error

    def sign(message: bytes) -> Signature:
        signature = crypto.sign(message)
        return Signature(signature.keyid, bytes.fromhex(signature.signature))

    return sign


def checker(paths: Sequence[str]) -> Callable[[bytes, Signature], SignatureCheck]:
    """A checker of signatures by the public keys in ``paths``."""
    library = _library()
    keys = [(path, _public_key(path, library)) for path in paths]

    def check(message: bytes, signature: Signature) -> SignatureCheck:
        for path, key in keys:
            signed = library["Signature"](key.keyid, signature.sig.hex())
            try:
                key.verify_signature(signed, message)
            except (library["Unverified"], library["Failed"]):
                continue
            return SignatureCheck(True, key.keyid, path)
        if any(key.keyid == signature.keyid for _, key in keys):
            fault = "the signature does not fit what is signed here"
            return SignatureCheck(False, signature.keyid, why=fault)
        unknown = "no key that was given made this signature"
        return SignatureCheck(None, signature.keyid, why=unknown)

    return check


def _public_key(path: str, library: dict[str, Any]) -> Any:
    data = inputs.read(path, "--key", limit=LIMIT)
    try:
        return library["SSlibKey"].from_crypto(library["serialization"].load_pem_public_key(data))
    except (ValueError, library["Unsupported"]) as error:
        raise _refused(path, "is no public key in PEM of a kind that can be checked") from error


def _refused(path: str, fault: str) -> InputError:
    return in_file(path, "--key", path).invalid(
        fault, "name a PEM file with an Ed25519 or ECDSA key", code="key"
    )


def _library() -> dict[str, Any]:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from securesystemslib import signer as keys
        from securesystemslib.exceptions import UnverifiedSignatureError, VerificationError
    except ImportError as error:
        raise at_key("--key").invalid(
            "key files need securesystemslib and cryptography, which are not installed here",
            INSTALL,
            code="missing_extra",
        ) from error
    exported: dict[str, Any] = vars(keys)  # re-exported without saying so
    return {
        **{name: exported[name] for name in ("CryptoSigner", "SSlibKey", "Signature")},
        "serialization": serialization,
        "Unsupported": UnsupportedAlgorithm,
        "Unverified": UnverifiedSignatureError,
        "Failed": VerificationError,
    }
