"""A bundle as a file, to be checked away from its repository."""

from __future__ import annotations

import os

from flow.adapters.contracts import formats
from flow.adapters.exchange import dsse, key_files, ssh_keys
from flow.adapters.fs import inputs
from flow.app.exchange import bundle, envelopes
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.exchange.bundle import BundleReport


def check_bundle(path: str, allowed: str | None, keys: Sequence[str]) -> BundleReport:
    """Check a bundle, by the keys that the caller trusts if any are given.

    Needs no repository. Raises :class:`InputError` for a file that is no bundle at all.
    """
    data = inputs.read(path, "--bundle", limit=dsse.LIMIT)
    if allowed is not None:
        inputs.check_file(allowed, "--allowed-signers")
    signature = envelopes.by_kind(
        ssh_keys.is_signature,
        lambda message, signed: ssh_keys.check(message, signed, allowed, os.environ),
        key_files.checker(keys) if keys else None,
    )
    name = "standard input" if path == "-" else os.path.basename(path)
    readers = bundle.Readers(
        json=dsse.strict_json,
        base64=dsse.decode_base64,
        goal=lambda goal, file: formats.read_goal(goal, file=file)[0],
        evidence=lambda sidecar, file: formats.read_evidence(sidecar, file=file)[0],
    )
    strict = allowed is not None or bool(keys)
    return bundle.check_bundle(dsse.read_bundle(data, name), readers, signature, strict=strict)
