"""Secrets that are known by what stands before them: headers, options, settings, files.

The rows of commands and settings are data like those of :mod:`flow.core.secrets.table`.
"""

from __future__ import annotations

from flow.core.secrets import chance
from flow.core.secrets.shape import SecretShape
from flow.core.secrets.table import ALPHABETS, OPTIONS, SETTINGS, rows
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTE = rb"(?:[\"']|\\[\"']|\\\\[\"']|\\\\\\[\"']|)"
_VALUE = rb"[A-Za-z0-9+/_.~!@#$%^*|?-]"
_NAME = (
    rb"(?:[pP](?i:ass(?:word|wd|phrase|code)|wd|rivate[_-]?key)|[tT](?i:oken)|[cC](?i:redential)"
    rb"|[sS](?i:ecret|(?:igning|hared)[_-]key)|[aA](?i:(?:pi|ccess|ccount|uth)[_-]?key)"
    rb"|[eE](?i:ncryption[_-]key)|[mM](?i:aster[_-]key))"
)


def _headers() -> Iterator[SecretShape]:
    yield SecretShape(
        "jwt",
        (b"eyJ",),
        rb"eyJ(?:(?:hbGciOi|0eXAiOi|raWQiOi|lbmMiOi|jdHkiOi|qa3UiOi|4NXQiOi|4NWMiOi|6aXAiOi)"
        rb"[A-Za-z0-9_-]{8}|[A-Za-z0-9_-]{10,1000}+\.eyJ[A-Za-z0-9_-]{10})",
        ALPHABETS["DOTTED"],
    )
    yield SecretShape(
        "authorization",
        (b"authorization",),
        rb"(?i:authorization)"
        + _QUOTE
        + rb"\s{0,3}+[:=,]\s{0,3}+"
        + _QUOTE
        + rb"(?i:bearer|token|apikey|api-key|ssws|bot|key|bearer:)\s{1,3}+"
        + rb"([A-Za-z0-9._~+/=-]{12,512}+)",
        rb"[A-Za-z0-9_~+/=-]",
        check=chance.header,
        folded=True,
    )
    yield SecretShape(
        "authorization",
        (b"basic ",),
        rb"(?i:basic) {1,3}+([A-Za-z0-9+/_-]{8,512}+={0,2}+)",
        ALPHABETS["BASE64"],
        check=chance.basic,
        folded=True,
    )
    yield SecretShape(
        "authorization",
        (b'"auth"',),
        rb'"auth"\s{0,3}+:\s{0,3}+"([A-Za-z0-9+/]{8,512}+={0,2}+)(?=")',
        ALPHABETS["BASE64"],
        check=chance.basic,
    )
    yield SecretShape(
        "authorization",
        (b"bearer ",),
        rb"(?i:bearer) {1,3}+([A-Za-z0-9._~+/=-]{20,512}+)",
        rb"[A-Za-z0-9_~+/=-]",
        check=chance.random,
        folded=True,
    )
    yield SecretShape(
        "url_password",
        (b"://",),
        rb"://[^\s/@:\"'<>?#\\]{0,128}+:([^\s/@\"'<>?#\\]{1,256}+)(?=@)",
        check=chance.chosen,
    )
    yield SecretShape(
        "assignment",
        (
            *(b"passw", b"passp", b"passc", b"pwd", b"secret", b"token", b"credential"),
            *(b"apikey", b"accesskey", b"accountkey", b"authkey", b"privatekey"),
            *(b"_key", b"-key"),
        ),
        _NAME
        + rb"[A-Za-z0-9_.-]{0,32}+"
        + _QUOTE
        + rb"(?:\s{0,4}+(?::=|=>|=|:)\s{0,4}+| {1,2})"
        + _QUOTE
        + b"("
        + _VALUE
        + rb"{16,256}+={0,2}+)",
        rb"[A-Za-z0-9+/_~$%^*|=-]",
        check=chance.random,
        folded=True,
    )


def _options() -> Iterator[SecretShape]:
    """Passwords on a command line: an option of a program, or ``USER:PASSWORD`` behind one.

    Each byte is looked at behind one program's name only, so that the time stays linear.
    """
    for program, names, form, _source, _date in rows(OPTIONS, 5):
        name = program.replace("~", " ").encode()
        between = b"(?:(?!%b)[^\\n]){0,300}?" % name
        option = b"|".join(
            n.encode().replace(b"~", rb"[ \t]").replace(b"@", rb"[ \t=]") for n in names.split(",")
        )
        user = rb"[^\s:\"'$\\]{0,64}+:" if form == "user" else b""
        yield SecretShape(
            "option",
            (name,),
            b"%b(?<![A-Za-z0-9_]%b)(?=[ \tdais-])" % (name, b"." * len(name))
            + between
            + rb"[ \t](?:%b)[\"']?%b([^\s\"'\\]{3,200}+)" % (option, user),
            check=chance.typed,
        )


def _settings() -> Iterator[SecretShape]:
    """Files and connection strings."""
    for kind, anchors, pattern, check, _source, _date in rows(SETTINGS, 6):
        names = tuple(anchor.encode().replace(b"~", b" ") for anchor in anchors.split(","))
        folded = pattern.startswith("(?i")
        yield SecretShape(
            kind, names, pattern.encode(), check=getattr(chance, check), folded=folded
        )


def shapes() -> Iterator[SecretShape]:
    """All of them."""
    yield from _headers()
    yield from _options()
    yield from _settings()
