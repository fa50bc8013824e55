"""Known secrets: the values of secret-looking variables (SPEC 10, Secrets)."""

from __future__ import annotations

from flow.core.secrets.randomness import random
from flow.startup import re
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEAST = 6
"""Bytes: a shorter value is not searched for, as it would match in ordinary words."""

_WORD = 8
"""Bytes: a shorter value needs more than only letters, or only digits."""

_TELLING = (
    *("TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE"),
    *("PASSCODE", "CREDENTIAL", "CREDENTIALS", "APIKEY", "APIKEYS", "ACCESSKEY", "PRIVATEKEY"),
    *("SECRETKEY", "SSHPASS", "AUTHKEY", "WEBHOOK"),
)
"""Ends of words in a name that mark a secret (``PGPASSWORD``)."""

_WORDS = frozenset({"PASS", "DBPASS", "PW", "PWD", "PASSWRD", "CREDS"})
_KEYS = frozenset(
    {"API", "ACCESS", "ACCOUNT", "AUTH", "ENCRYPTION", "SIGNING", "MASTER", "SHARED", "PRIVATE"}
)
_DOUBTFUL = frozenset(
    {"KEY", "KEYS", "AUTH", "PAT", "COOKIE", "COOKIES", "DSN", "PRIVATE", "JWT", "SESSION"}
    | {"AUTHORIZATION", "BEARER", "SK"}
)
"""Words of a name whose value is a secret only if it looks random."""

_ORDINARY_NAMES = frozenset(
    {"PWD", "OLDPWD", "INIT_CWD", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_TTY", "GPG_AGENT_INFO"}
    | {"SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GIT_ASKPASS", "SUDO_ASKPASS", "XAUTHORITY"}
)
_ORDINARY_ENDS = frozenset(
    {"FILE", "FILENAME", "PATH", "DIR", "DIRECTORY", "SOCK", "SOCKET", "TTL", "EXPIRY", "EXPIRES"}
    | {"EXPIRATION", "LENGTH", "LIMIT", "COUNT", "TYPE", "NAME", "ALGORITHM", "ALG", "REGION"}
    | {"ENDPOINT", "HOST", "PORT", "PROVIDER", "METHOD", "VERSION", "ENABLED", "ISSUER", "MODE"}
)
_ORDINARY_STARTS = frozenset({"MAX", "NUM"})
_COMMON = frozenset(
    b"password passw0rd password1 password123 changeme changeit postgres postgresql root mysql "
    b"mariadb localhost 127.0.0.1 admin administrator default development production testing "
    b"staging disabled enabled required optional undefined anonymous example secret disable "
    b"12345678 123456789 1234567890 00000000 username redacted keychain keyring osxkeychain "
    b"libsecret manager-core wincred security database internal external unlimited "
    b"sha256 sha-256 sha384 sha512 sha-512 base32 base64 utf-16 argon2 pbkdf2 scrypt ed25519 "
    b"x86_64 hs256 rs256 es256 aes128 aes256 md5sum python3 http/1 http/2".split()
)


def values(environ: Mapping[str, str], exists: Callable[[str], bool]) -> tuple[bytes, ...]:
    """The secrets in an environment, each once; ``exists`` answers whether a path exists.

    They are the values of variables with a secret's name, and the passwords of URLs under any name;
    at least 8 bytes long (6 if letters and others are mixed), and no common value (``true``,
    ``localhost``, a path). Of a value with several lines, each line that looks random is a secret,
    too.
    """
    secrets: dict[bytes, None] = {}
    for name, text in environ.items():
        if len(text) < LEAST:
            continue
        if "://" in text and "@" in text:
            password = _url_password(text.encode("utf-8", "surrogateescape"))
            if _is_worth_hiding(password):
                secrets[password] = None
        sure = secret_name(name)
        value = text.strip().encode("utf-8", "surrogateescape") if sure is not False else b""
        if not _is_worth_hiding(value) or _is_path(text.strip(), exists):
            continue
        if not sure and not random(value):
            continue
        lines = [line.strip() for line in value.splitlines()] if b"\n" in value else []
        secrets.update(dict.fromkeys((value, *filter(random, lines))))
    return tuple(secrets)


def secret_name(name: str) -> bool | None:
    """Whether a variable of this name holds a secret; None if its value must decide."""
    if name.upper() in _ORDINARY_NAMES:
        return False
    words = _words_of(name)
    if words[-1] in _ORDINARY_ENDS or words[0] in _ORDINARY_STARTS or "PUBLIC" in words:
        return False
    for before, word in zip(("", *words), words, strict=False):
        bare = word.rstrip("0123456789")
        if bare.endswith(_TELLING) or bare in _WORDS:
            return True
        if bare in ("KEY", "KEYS") and before in _KEYS:
            return True
    return None if _DOUBTFUL.intersection(words) else False


def _words_of(name: str) -> list[str]:
    """The words of a name in capitals: ``npm.authToken`` has three."""
    parted = name.replace(".", "_").replace("-", "_")
    if not (parted.isupper() and parted.replace("_", "").isalpha()):
        letters = zip(" " + parted, parted, strict=False)
        parted = "".join("_" * _begins(*pair) + pair[1] for pair in letters)
    return parted.upper().strip("_").split("_")


def _begins(before: str, letter: str) -> bool:
    return "A" <= letter <= "Z" and ("a" <= before <= "z" or "0" <= before <= "9")


_LETTERS = b"abcdefghijklmnopqrstuvwxyz"


def _url_password(text: bytes) -> bytes:
    match = re.match(rb"[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:]*:([^\s/@]+)@", text)
    return match[1] if match else b""


def _is_worth_hiding(value: bytes) -> bool:
    if len(value) < LEAST or value.lower() in _COMMON:
        return False
    if len(value) < _WORD and (value.isalpha() or not any(c in value.lower() for c in _LETTERS)):
        return False
    return len(set(value)) > 2  # ******** and the like


def _is_path(text: str, exists: Callable[[str], bool]) -> bool:
    if not text.startswith(("/", "~/", "./", "../")) or "\n" in text:
        return False
    return any(exists(part) for part in (text, text.partition(":")[0]))
