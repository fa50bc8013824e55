"""Secrets of an environment by the names of its variables; a quick check for texts without any."""

from __future__ import annotations

import os

from flow.core.secrets.plain import is_plain
from flow.core.secrets.values import values
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def secret_values(environ: Mapping[str, str]) -> tuple[bytes, ...]:
    """The values of secret-looking variables; the path of an existing file is none."""
    return values(environ, os.path.exists)


def has_no_secret(text: str, environ: Mapping[str, str]) -> bool:
    """Whether redaction would surely leave the text unchanged; False if a pattern must decide."""
    return not secret_values(environ) and is_plain(text.encode("utf-8", "surrogatepass"))
