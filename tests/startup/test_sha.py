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

COUNTS = """
import sys
from flow.startup import sha
values = [b"x" * 1000] * (sha.MUCH // 2000)
for value in values:
    sha.sha256(value)
for _ in values:
    sha.new("sha256", 999)
few = "_hashlib" in sys.modules
for value in values[:9]:
    sha.sha256(value)
print(few, "_hashlib" in sys.modules, sha.sha256(b"x").hexdigest())
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


def told_by(program: str) -> str:
    """What a Python program prints that can import Flow."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {ROOT!r}){program}"],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )
    return done.stdout


def test_openssl_is_taken_once_it_is_loaded() -> None:
    assert told_by(LOADS) == f"True True {hashlib.sha256(b'x').hexdigest()}\n"


def test_openssl_is_loaded_once_small_values_have_taken_as_long() -> None:
    assert told_by(COUNTS) == f"False True {hashlib.sha256(b'x').hexdigest()}\n"


def test_without_openssl_it_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_hashlib", None)  # importing it raises
    monkeypatch.setattr(sha, "_digested", [sha.MUCH])
    for _ in range(2):
        assert sha.sha256(b"x").hexdigest() == hashlib.sha256(b"x").hexdigest()
    assert sha._digested[0] < 0


def test_a_checksum_tells_of_every_byte_and_of_the_order() -> None:
    whole = sha.checksum(b"second", sha.checksum(b"first"))
    assert whole == sha.checksum(b"second", sha.checksum(b"first"))
    others = [
        sha.checksum(b"second"),
        sha.checksum(b"first", sha.checksum(b"second")),
        sha.checksum(b"Second", sha.checksum(b"first")),
        sha.checksum(b"second", sha.checksum(b"")),
    ]
    assert len({whole, *others}) == 5
    assert all(0 <= each < 1 << 63 for each in (whole, *others))
