"""Counts what is in a text."""


def lines(text: str) -> int:
    """How many lines ``text`` has, a last one without an end included."""
    return len(text.splitlines())


def words(text: str) -> int:
    """How many words ``text`` has; a word is what stands between white space or hyphens."""
    return len(text.replace("-", " - ").split())
