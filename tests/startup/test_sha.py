"""Digests are the same whoever makes them, and OpenSSL makes them once it is loaded."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from flow.startup import sha
from tests.support import ROOT
from tests.support.patience import LONG

LOADS = """
import sys
from flow.startup.sha import new, sha256
before = type(sha256())
new("sha256", 1 << 20)
print("_hashlib" in sys.modules, type(sha256()) is not before, sha256(b"x").hexdigest())
"""


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 99])
@pytest.mark.parametrize("loaded", [False, True])
def test_a_digest_is_that_of_hashlib(
    data: bytes, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not loaded:
        monkeypatch.delitem(sys.modules, "_hashlib", raising=False)
    made = sha.sha256(data)
    made.update(b"more")
    assert made.hexdigest() == hashlib.sha256(data + b"more").hexdigest()
    assert sha.sha256().hexdigest() == hashlib.sha256().hexdigest()


def test_openssl_is_taken_once_it_is_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {ROOT!r}){LOADS}"],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )
    assert done.stdout == f"True True {hashlib.sha256(b'x').hexdigest()}\n"
