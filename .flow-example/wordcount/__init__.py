"""Counts what is in a text."""


def words(text: str) -> int:
    """How many words ``text`` has; a word is what stands between white space."""
    return len(text.split())
