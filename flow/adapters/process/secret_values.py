"""The secrets that an environment shows by the names of its variables, and texts without any."""

from __future__ import annotations

import os

from flow.core.secrets.plain import is_plain
from flow.core.secrets.values import values
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def secret_values(environ: Mapping[str, str]) -> tuple[bytes, ...]:
    """The values of secret-looking variables; a path that is there is none."""
    return values(environ, os.path.exists)


def has_no_secret(text: str, environ: Mapping[str, str]) -> bool:
    """Whether redaction would surely leave the text as it is; False where a pattern must tell."""
    return not secret_values(environ) and is_plain(text.encode("utf-8", "surrogatepass"))
