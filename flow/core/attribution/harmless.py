"""Commands that only look: `flow goal create` may run them to see what is green already.

By their text alone, and on the safe side: whatever bash would take for the start of a command
stands at the start or after ``&&``, ``||`` or ``|``, and each of these words is known to change
nothing. What a quoted text seems to start is checked, too. Nothing is expanded or redirected.
"""

from __future__ import annotations

import re

_WORDS = """
[ [[ : basename cat cmp cut diff dirname egrep false fgrep grep head ls readlink realpath stat
tail test tr true wc
"""
LOOKS = frozenset(_WORDS.split())
"""Programs and builtins that write nothing, whatever their arguments are."""

_TEXT = re.compile(r"[\w ./:,@%+=^*?!'\"|&\[\]-]{1,2000}", re.ASCII)
_SINGLE = re.compile(r"(?<!&)&(?!&)|\|&|&{3}")
_BETWEEN = re.compile(r"&&|\|\||\|")


def harmless(command: str) -> bool:
    """Whether ``command`` consists of nothing but words of :data:`LOOKS` with plain arguments."""
    if not _TEXT.fullmatch(command) or _SINGLE.search(command):
        return False
    for part in _BETWEEN.split(command):
        words = part.split()
        while words and words[0] == "!":
            del words[0]
        if not words or words[0] not in LOOKS:
            return False
    return True
