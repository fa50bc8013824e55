"""Stored scorecards: one JSON file for each, published once and never changed (SPEC 9.3).

The folder is in the checkout, where anyone can write: reading is bounded, and a file without the
form of Flow's cards is named and left out.
"""

from __future__ import annotations

import json
import os
import time

from flow.adapters.contracts.check import accepts
from flow.adapters.contracts.strict_json import read_json
from flow.adapters.fs import files
from flow.app.judging.scoring import MOST_CARDS, CardHistory
from flow.core import layout
from flow.core.judging.common.question import Unusable
from flow.core.judging.scorecard import history as past
from flow.core.settings import DEFAULT
from flow.core.text.display import visible
from flow.errors import FlowError, RefusedError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.judging.scorecard.history import CardFile, PastCard
    from flow.core.settings import LoadedSettings

CARD_LIMIT = 1 << 18
"""Most bytes of a stored card that are read."""
MOST_FILES = 100_000
"""Most files in the folder."""
MOST_OTHERS = 200
"""Most files of other skills, with names that end alike, that are read in vain."""
MOST_NUMBERS = 1_000
"""Most cards of one skill in one second."""
MOST_SKILLS = 100
"""Most skills of one folder that are listed."""
MOST_SHOWN = 20
"""Most cards of a skill whose composites a report shows."""
MOST_TRIED = 5
"""Newest files of one name that are read to find its skill."""
DAY = 86_400
LOCK = f"{layout.LOCKS}/scores.lock"
_WARNINGS = 20


def folder(top: str, loaded: LoadedSettings) -> str:
    """The folder of cards: ``judge.scoresDir``, else ``skills/judge/scores`` if it exists."""
    if loaded.origins["judge.scoresDir"] != DEFAULT:
        return loaded.settings.scores_dir
    if os.path.isdir(os.path.join(top, *layout.PLUGIN_SCORES.split("/"))):
        return layout.PLUGIN_SCORES
    return layout.SCORES


def publish(
    top: str,
    where: str,
    card: Mapping[str, Any],
    announce: Callable[[str, bytes], None] = lambda *_: None,
) -> dict[str, Any]:
    """Write a card under the next free name and return it with ``file``, that name.

    If several processes write in one second, each gets a name of its own. ``announce`` gets the
    file's path and bytes before it is written. Raises :class:`RefusedError` for a symlink on the
    way and :class:`StorageError` for the disk.
    """
    for number in range(1, MOST_NUMBERS + 1):
        rel = f"{where}/{past.file_name(card['skill'], card['timestamp'], number)}"
        named = {**card, "file": rel}
        data = (json.dumps(named, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
        announce(rel, data)
        try:
            files.publish_new(top, rel, data)
        except RefusedError as error:
            if error.code != "exists":
                raise
            continue
        return named
    raise in_file(where).storage(
        f"there are {MOST_NUMBERS} cards of {card['skill']} in one second", "move old cards away"
    )


def history(
    top: str,
    where: str,
    skill: str,
    *,
    latest: str | None = None,
    most: int = MOST_CARDS,
    without: str | None = None,
) -> CardHistory:
    """The newest cards of ``skill``, at most ``most``; ``latest`` is the last stamp that counts.

    Without it a card from the future counts for a day: clocks are set back at times. Cards of the
    execution ``without`` are left out: an execution is not compared with itself. Raises
    :class:`RefusedError` if the folder is reached through a symlink.
    """
    latest = latest or time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() + DAY))
    named = past.newest_first(files.names(top, where, suffix=".json", limit=MOST_FILES), skill)
    search = _CardSearch(lambda file: _read_card(top, where, file, skill), latest, without)
    older = 0
    for at, file in enumerate(named):
        if len(search.cards) == most or search.tried == 2 * most + 50:
            older = sum(past.named_as(file, skill) for file in named[at:])
            break
        if past.named_as(file, skill):
            search.take(file)
        else:
            search.take_other(file)
    warnings = search.warnings
    more = len(warnings) - _WARNINGS
    if more > 0:
        warnings[_WARNINGS:] = [f"and {more} more files that are odd"]
    return CardHistory(tuple(search.cards), tuple(warnings), older)


class _CardSearch:
    """The cards of one skill found so far; ``latest`` and ``without`` as in :func:`history`."""

    def __init__(
        self,
        read: Callable[[CardFile], PastCard | Unusable | None],
        latest: str,
        without: str | None,
    ) -> None:
        self._read, self._latest, self._without = read, latest, without
        self.cards: list[PastCard] = []
        self.warnings: list[str] = []
        self.tried = 0
        """Files of the skill's own name that were looked at."""
        self._others = 0

    def take(self, file: CardFile) -> None:
        """Take the card of a file that has the skill's own name."""
        self.tried += 1
        if file.stamp > self._latest:
            self.warnings.append(f"{file.name}: is dated in the future, and does not count")
            return
        card = self._read(file)
        if isinstance(card, Unusable):
            self.warnings.append(f"{file.name}: {card.reason}, and does not count")
        elif card is not None and self._is_wanted(card):
            self.cards.append(card)
            if card.remark:
                self.warnings.append(f"{file.name}: {card.remark}")

    def take_other(self, file: CardFile) -> None:
        """Take it if it is of another plugin's skill of that name, not of one that ends alike."""
        card = None
        if self._others < MOST_OTHERS and file.stamp <= self._latest:
            card = self._read(file)
        if not isinstance(card, past.PastCard):
            self._others += 1
        elif self._is_wanted(card):
            self.cards.append(card)

    def _is_wanted(self, card: PastCard) -> bool:
        return self._without is None or card.execution != self._without


def skills(top: str, where: str) -> tuple[list[str], list[str]]:
    """The skills that have cards in the folder, sorted, and why some are left out.

    A skill counts if a card names it and its file's name does so, too. Of the files of one name a
    few of the newest are read. Raises as :func:`history` does.
    """
    by_stem: dict[str, list[CardFile]] = {}
    for name in files.names(top, where, suffix=".json", limit=MOST_FILES):
        if (file := past.read_name(name)) is not None:
            by_stem.setdefault(file.stem, []).append(file)
    named: set[str] = set()
    left_out = [f"{len(by_stem) - MOST_SKILLS} more skills"] if len(by_stem) > MOST_SKILLS else []
    for stem in sorted(by_stem)[:MOST_SKILLS]:
        newest = sorted(by_stem[stem], key=lambda file: (file.stamp, file.number), reverse=True)
        told = [_told_skill(top, where, file) for file in newest[:MOST_TRIED]]
        own = {skill for skill in told if skill is not None and past.file_stem(skill) == stem}
        named |= own
        if not own:
            left_out.append(f"{newest[0].name}: is not a scorecard (flow schema scorecard)")
    return sorted(named), left_out


def _told_skill(top: str, where: str, file: CardFile) -> str | None:
    """The skill that a card names; None if the file is no card."""
    try:
        data = files.read_bytes(top, f"{where}/{file.name}", limit=CARD_LIMIT)
        document = read_json(data, file=file.name, what="scorecard", limit=CARD_LIMIT)
        skill = past.skill_name(document["skill"]) if accepts("scorecard", document)[0] else None
    except FlowError:
        return None
    return skill


def stored_card(
    top: str, where: str, skill: str, name: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A stored card of ``skill`` as it is in its file, and warnings on its oddities.

    ``name`` is its file's name, with ``.json`` or without, or a path that ends in it. Raises
    :class:`InputError` if there is no such card, :class:`ContractError` for a file that is none.
    """
    base = f"{name.rpartition('/')[2].removesuffix('.json')}.json"
    file = past.read_name(base)
    rel = f"{where}/{base}"
    data = files.read_optional(top, rel, limit=CARD_LIMIT) if file is not None else None
    if file is None or data is None:
        raise in_file(where, "card", name).not_found(
            f"there is no card {visible(name)[:80]!r} of {skill}",
            f"take a name that `flow judge history {skill}` shows",
        )
    document = read_json(data, file=rel, what="scorecard", limit=CARD_LIMIT)
    card = past.read_card(document, file, skill)
    if card is None:
        raise in_file(rel, "card", name).invalid(
            f"{visible(base)} is no card of {skill}, but of {visible(document['skill'])[:80]}",
            "name that skill",
        )
    if isinstance(card, past.PastCard) and not accepts("scorecard", document)[0]:
        card = Unusable("is not a scorecard (flow schema scorecard)")
    if isinstance(card, Unusable):
        raise in_file(rel).corrupt(card.reason, "it does not count; score again")
    return document, ((f"{base}: {card.remark}",) if card.remark else ())


def _read_card(top: str, where: str, file: CardFile, skill: str) -> PastCard | Unusable | None:
    try:
        data = files.read_bytes(top, f"{where}/{file.name}", limit=CARD_LIMIT)
        document = read_json(data, file=file.name, what="scorecard", limit=CARD_LIMIT)
    except FlowError as error:
        return Unusable(f"cannot be read: {error.faults[0].message}")
    return past.read_card(document, file, skill)


def shown_card(top: str, settings: LoadedSettings, path: str, skill: str) -> Mapping[str, Any]:
    """A scorecard for a report; empty if it is not there, or is none of the skill."""
    try:
        return stored_card(top, folder(top, settings), skill, path)[0]
    except FlowError:
        return {}


def composites(top: str, settings: LoadedSettings, skill: str) -> Sequence[tuple[str, float]]:
    """(day, composite) of the newest cards of the skill, oldest first; none if unreadable."""
    try:  # no stamp is above "9": cards that are dated in the future are shown, too
        cards = history(top, folder(top, settings), skill, latest="9", most=MOST_SHOWN).cards
    except FlowError:
        return ()
    return [(each.timestamp[:10], float(each.composite)) for each in reversed(cards)]
