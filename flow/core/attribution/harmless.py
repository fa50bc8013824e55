"""Commands that only read: `flow goal create` may run them to see which criteria pass already.

The text alone decides, on the safe side: bash can start a command only at the start or after
``&&``, ``||`` or ``|``, and each word at these places must be known to change nothing. Words inside
quotes are checked, too. Nothing may be expanded or redirected.
"""

from __future__ import annotations

import re

_WORDS = """
[ [[ : basename cat cmp cut diff dirname egrep false fgrep grep head ls readlink realpath stat
tail test tr true wc
"""
READ_ONLY = frozenset(_WORDS.split())
"""Programs and builtins that write nothing, with any arguments."""

_TEXT = re.compile(r"[\w ./:,@%+=^*?!'\"|&\[\]-]{1,2000}", re.ASCII)
_SINGLE = re.compile(r"(?<!&)&(?!&)|\|&|&{3}")
_BETWEEN = re.compile(r"&&|\|\||\|")


def harmless(command: str) -> bool:
    """Whether ``command`` consists only of programs in :data:`READ_ONLY` with plain arguments."""
    if not _TEXT.fullmatch(command) or _SINGLE.search(command):
        return False
    for part in _BETWEEN.split(command):
        words = part.split()
        while words and words[0] == "!":
            del words[0]
        if not words or words[0] not in READ_ONLY:
            return False
    return True
