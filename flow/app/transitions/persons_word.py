"""A person's word: who approves or confirms, where that name comes from, and their note."""

from __future__ import annotations

from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_LIMIT = 200
"""Characters of a person's name."""
NOTE_LIMIT = 4000
"""Characters of a note."""


class PersonsWord(NamedTuple):
    """A person's name and note for an approval, a confirmation and the like."""

    by: str
    by_from: str | None = None
    """Source of the name ``by``; None if the caller gave the name."""
    note: str = ""

    def checked(self) -> PersonsWord:
        """The word itself. Raises :class:`InputError` for a note that is too long."""
        if len(self.note) > NOTE_LIMIT:
            raise at_key("--note", self.note).invalid(
                f"a note has at most {NOTE_LIMIT:,} characters, this one {len(self.note):,}",
                "say it in fewer words, and name where the rest is",
            )
        return self

    @property
    def name_fields(self) -> dict[str, str]:
        """The source of the name, as a record has it."""
        return {"by_from": self.by_from} if self.by_from else {}

    @property
    def fields(self) -> dict[str, str]:
        """Origin of the name and the note, as a record has them; what is empty is left out."""
        return {**self.name_fields, **({"note": self.note} if self.note else {})}


class SpeakingPort(Protocol):
    """Interface for finding the name of the person who speaks."""

    @property
    def who(self) -> str:
        """The account's name."""

    def configured_name(self) -> str:
        """Git's ``user.name``; empty if there is none."""


def persons_word(port: SpeakingPort, named: str | None, note: str = "") -> PersonsWord:
    """The person's name and note, which blanks alone are none; see :func:`persons_name`."""
    name = persons_name(named, port.who, port.configured_name)
    return PersonsWord(*name, note.strip()).checked()


def persons_name(
    named: str | None, account: str, configured: Callable[[], str]
) -> tuple[str, str | None]:
    """The person's name, and its source; None as source if the caller ``named`` the person.

    Otherwise it is the ``configured`` name of git, else the ``account``'s. Raises
    :class:`InputError` for a name that cannot be shown in a line.
    """
    if named is not None:
        if not named.strip() or not named.isprintable() or len(named) > NAME_LIMIT:
            raise at_key("--by", named).invalid(
                "--by is empty, too long or cannot be shown in a line",
                f"say who approves or confirms, in at most {NAME_LIMIT} printable characters",
            )
        return named, None
    name = configured().strip()
    if name and name.isprintable() and len(name) <= NAME_LIMIT:
        return name, "git user.name"
    return account, "account"
