"""Sign with SSH keys: ``ssh-keygen -Y``, its signature format, its list of allowed signers.

A signature is made for one namespace, so that one made for git or a mail never fits here. Flow
never asks for a key's passphrase: it has no terminal to offer, and an agent holds such keys.
"""

from __future__ import annotations

import binascii
import os

from flow.adapters.fs import inputs, temporary
from flow.adapters.process.environment import clean_environment
from flow.adapters.process.tool import run_tool
from flow.app.exchange.envelopes import Signature, SignatureCheck
from flow.core.text.display import visible
from flow.errors import OutsideError, at_key, in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.adapters.process.tool import ToolResult

NAMESPACE = "evidence@flow.synapti.ai"
PROGRAM = "ssh-keygen"
TIME_LIMIT = 30
MOST_PRINCIPALS = 16
_BEGIN = b"-----BEGIN SSH SIGNATURE-----"
_END = b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_ASKING = ("SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY")


def signer(option: str, environ: Mapping[str, str]) -> Callable[[bytes], Signature]:
    """The key that ``--sign`` names: ``ssh:KEYFILE``."""
    kind, _, path = option.partition(":")
    if kind != "ssh" or not path:
        raise at_key("--sign", option).invalid(
            f"{option!r:.80} is no way to sign",
            "use --sign ssh:KEYFILE, or --key FILE for a key in PEM",
        )
    inputs.check_file(path, "--sign")
    return lambda message: sign(path, message, environ)


def sign(key_file: str, message: bytes, environ: Mapping[str, str]) -> Signature:
    """Sign with a private key file, or by the agent with the key of a public one.

    ``keyid`` is the key's fingerprint. Raises :class:`InputError` if the key cannot be used.
    """
    path = os.path.abspath(key_file)
    result = _ssh_keygen(("-Y", "sign", "-f", path, "-n", NAMESPACE), "/", environ, message)
    armoured = result.stdout
    if result.status or _BEGIN not in armoured:
        error = visible(result.stderr.decode("utf-8", "replace").strip()[-300:])
        fault = "ssh-keygen cannot sign with this key" + (f": {error}" if error else "")
        remedy = "name a private key, or the .pub file of a key that the agent holds"
        if "passphrase" in error:
            remedy = "Flow never asks for a passphrase: ssh-add the key, and name its .pub file"
        raise in_file(key_file, "--sign", key_file).invalid(fault, remedy, code="key")
    blob = _signature_blob(armoured)
    key = public_key(blob) if blob is not None else None
    if key is None:
        raise OutsideError(
            "ssh-keygen printed no signature that can be read",
            code="ssh_keygen",
            remedy="use OpenSSH 8.9 or newer",
        )
    return Signature(fingerprint(key), armoured)


def check(
    message: bytes, signature: Signature, allowed: str | None, environ: Mapping[str, str]
) -> SignatureCheck:
    """Check a signature, by the allowed signers file ``allowed`` or by the key within it alone."""
    blob = _signature_blob(signature.sig)
    key = public_key(blob) if blob is not None else None
    if key is None:
        return SignatureCheck(False, signature.keyid, why="its signature is no SSH signature")
    name = fingerprint(key)
    with temporary.holding(_armoured(blob or b""), "flow-signature-") as file:
        folder = os.path.dirname(file)
        fits = _ssh_keygen(
            ("-Y", "check-novalidate", "-n", NAMESPACE, "-s", file), folder, environ, message
        )
        if fits.status:
            fault = f"the signature by {name} does not fit what is signed here ({_why_unfit(blob)})"
            return SignatureCheck(False, name, why=fault)
        if allowed is None:
            return SignatureCheck(True, name)
        person = _signer_name(message, file, folder, os.path.abspath(allowed), environ)
        return SignatureCheck(True, name, person)


def _signer_name(
    message: bytes, file: str, folder: str, allowed: str, environ: Mapping[str, str]
) -> str | None:
    """The name of the key that made a signature that fits, in the list of allowed signers."""
    answer = _ssh_keygen(
        ("-Y", "find-principals", "-s", file, "-f", allowed), folder, environ, message
    )
    if answer.status:
        return None
    names = answer.stdout.decode("utf-8", "replace").replace("\n", ",").split(",")
    for name in [n.strip() for n in names if n.strip() and not n.startswith("!")][:MOST_PRINCIPALS]:
        arguments = ("-Y", "verify", "-f", allowed, "-I", name, "-n", NAMESPACE, "-s", file)
        if _ssh_keygen(arguments, folder, environ, message).status == 0:
            return name
    return None


def fingerprint(key: bytes) -> str:
    """A public key's fingerprint, as ``ssh-keygen -l`` prints it."""
    digest = binascii.b2a_base64(sha256(key).digest(), newline=False).decode("ascii")
    return f"SHA256:{digest.rstrip('=')}"


def public_key(blob: bytes) -> bytes | None:
    """The public key within a signature; None if it is none."""
    fields = _signature_fields(blob)
    return fields[0] if fields is not None else None


def _why_unfit(blob: bytes | None) -> str:
    """Why a signature does not fit what it was checked with."""
    fields = _signature_fields(blob or b"")
    space = fields[1].decode("utf-8", "replace") if fields else ""
    if space == NAMESPACE:
        return "it was made for other bytes"
    return f"it was made for the namespace {visible(space)[:80]!r}, not {NAMESPACE!r}"


def _signature_fields(blob: bytes) -> list[bytes] | None:
    """Public key and namespace of a signature (PROTOCOL.sshsig of OpenSSH)."""
    if not blob.startswith(_MAGIC + b"\0\0\0\1"):
        return None
    at, fields = len(_MAGIC) + 4, []
    for _ in range(2):
        size = int.from_bytes(blob[at : at + 4], "big")
        at += 4 + size
        if at > len(blob):
            return None
        fields.append(blob[at - size : at])
    return fields


def is_signature(data: bytes) -> bool:
    """Whether ``data`` looks like an SSH signature, with or without its armour."""
    return data.lstrip().startswith(_BEGIN) or data.startswith(_MAGIC)


def _signature_blob(data: bytes) -> bytes | None:
    if data.startswith(_MAGIC):
        return data
    _, begin, rest = data.partition(_BEGIN)
    body, end, _ = rest.partition(_END)
    if not begin or not end:
        return None
    try:
        return binascii.a2b_base64(b"".join(body.split()), strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def _armoured(blob: bytes) -> bytes:
    encoded = binascii.b2a_base64(blob, newline=False)
    lines = [encoded[at : at + 70] for at in range(0, len(encoded), 70)]
    return b"\n".join((_BEGIN, *lines, _END, b""))


def _ssh_keygen(
    arguments: tuple[str, ...], cwd: str, environ: Mapping[str, str], message: bytes
) -> ToolResult:
    env = {k: v for k, v in clean_environment(environ)[0].items() if k not in _ASKING}
    env["SSH_ASKPASS_REQUIRE"] = "never"
    result = run_tool(
        (PROGRAM, *arguments), cwd=cwd, env=env, stdin=message, timeout=TIME_LIMIT, limit=1 << 20
    )
    if result.status in (124, 127) and b"flow: " in result.stderr:
        error = result.stderr.decode("utf-8", "replace").strip()[-300:]
        raise OutsideError(
            error.removeprefix("flow: "),
            code="ssh_keygen",
            remedy="install OpenSSH's client (Debian: openssh-client)",
        )
    return result
