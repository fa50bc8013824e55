"""Choice of the rubric for a skill's execution, and its reason (SPEC 9.3).

A rubric is a Markdown file whose front matter names the skills it is for, exactly or as globs. In
this order: the one that a person asked for; a project's own (``skills/judge/rubrics/rubric-*.md``
and ``.flow/rubrics/*.md``, by file name) whose list has the skill; Flow's, likewise; a project's
that has no list and is named as the skill is; the default one. A project's file with the name of
one of Flow's replaces it.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from flow.adapters.contracts import formats
from flow.adapters.fs import files, inputs, shipped
from flow.app.judging.scoring import ChosenRubric
from flow.core import layout
from flow.core.text.display import names, visible
from flow.core.text.near import did_you_mean
from flow.errors import ContractError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

READY_MADE = ("code", "default", "ops", "research", "writing")
"""The rubrics that come with Flow, ``rubric-<name>.md``."""
DEFAULT = "rubric-default.md"
LIMIT = 64 << 10
"""Most bytes of one rubric."""
MOST_FILES = 1000
MOST_SKILLS = 1000
MOST_PATTERN = 200

_FOLDERS = shipped.folders("scorecard_rubrics", layout.PLUGIN_RUBRICS)
_FRONT = re.compile(r"---[ \t]*\n(?P<yaml>(?:.*\n)*?)---[ \t]*(?:\n|\Z)")


class _Rubric(NamedTuple):
    name: str
    text: str
    skills: tuple[str, ...]
    """Empty if it names none, as in a copy of ``rubric-default.md``."""
    source: str
    file: str


def choose(skill: str | None, named: str | None, top: str | None) -> ChosenRubric:
    """The rubric for ``skill``; ``named`` (``--rubric``) is a name or a path and decides alone.

    Raises :class:`InputError` for an unknown name, :class:`ContractError` for a malformed file,
    :class:`RefusedError` for a symlink in a project's folder.
    """
    if named is not None:
        rubric = _named_rubric(named, top)
        return _chosen(rubric, f"it was asked for: --rubric {visible(named)[:200]}", True)
    own = list(_project(top))
    if skill is not None:
        bare = skill.removeprefix("/")
        for rubric in own:
            pattern = _matching_pattern(bare, rubric.skills)
            if pattern is not None:
                why = f"the project's {rubric.file} names {_shown(bare, pattern)}"
                return _chosen(rubric, why, True)
        for name in READY_MADE:
            rubric = _ready_made(name)
            pattern = _matching_pattern(bare, rubric.skills)
            if pattern is not None:
                mine = next((each for each in own if each.name == rubric.name), rubric)
                whose = "" if mine is rubric else "; the project's own file of that name is used"
                why = f"Flow's {rubric.name} names {_shown(bare, pattern)}{whose}"
                return _chosen(mine, why, True, _passed_over(bare, mine, own))
        alike = _named_alike(bare, own)
        if alike:
            why = f"no rubric names {visible(bare)[:200]}, and {alike[0].file} has its name"
            return _chosen(alike[0], why, True, (_by_name(bare, alike[0]),))
    default = next((each for each in own if each.name == DEFAULT), None) or _ready_made("default")
    why = (
        f"no rubric names {visible(skill.removeprefix('/'))[:200]}"
        if skill is not None
        else "the transcript does not tell which skill ran"
    )
    notes = () if skill is None else _unchosen(skill.removeprefix("/"), own)
    return _chosen(default, f"{why}, so the default one stands in", False, notes)


_REMEDY = "A rubric names its skills in its front matter (skills: [commit]); --rubric takes any."


def _chosen(
    rubric: _Rubric, why: str, recognised: bool, notes: tuple[str, ...] = ()
) -> ChosenRubric:
    return ChosenRubric(rubric.name, rubric.text, why, recognised, rubric.source, notes)


def _by_name(skill: str, rubric: _Rubric) -> str:
    return f"{rubric.file} was chosen for {visible(skill)[:200]} by its name alone. {_REMEDY}"


def _unchosen(skill: str, own: list[_Rubric]) -> tuple[str, ...]:
    """Notes on the project's own rubrics if the default one is used."""
    notes: tuple[str, ...] = ()
    unlisted = [each.file for each in own if not each.skills and each.name != DEFAULT]
    if unlisted:
        notes += (f"Without a list of skills, and named otherwise: {names(unlisted)}. {_REMEDY}",)
    listed = [each.file for each in _named_as(skill, own) if each.skills]
    if listed:
        notes += (f"Named as the skill, but its list has others: {names(listed)}. {_REMEDY}",)
    return notes


def _passed_over(skill: str, chosen: _Rubric, own: list[_Rubric]) -> tuple[str, ...]:
    """Notes on the project's own rubrics that are named as the skill but not for it."""
    others = [each.file for each in _named_alike(skill, own) if each.name != chosen.name]
    if not others:
        return ()
    return (f"Named as the skill, and not used for it: {names(others)}. {_REMEDY}",)


def _named_alike(skill: str, own: list[_Rubric]) -> list[_Rubric]:
    """The rubrics of :func:`_named_as` that name no skill."""
    return [rubric for rubric in _named_as(skill, own) if not rubric.skills]


def _named_as(skill: str, own: list[_Rubric]) -> list[_Rubric]:
    """The project's own rubrics whose file is named as the skill is, best first.

    The words of the file's name are words of the skill's, one after the other: ``rubric-deploy.md``
    is for ``deploy`` and, if nothing fits better, for ``deploy-staging``.
    """
    words = _name_words(skill.rpartition(":")[2])
    ranked = []
    for rubric in own:
        stem = _name_words(rubric.name.removesuffix(".md").removeprefix("rubric-"))
        starts = range(len(words) - len(stem) + 1) if stem else ()
        inside = any(words[at : at + len(stem)] == stem for at in starts)
        if rubric.name != DEFAULT and inside:
            ranked.append((-len(stem), rubric))
    return [rubric for _, rubric in sorted(ranked, key=lambda pair: pair[0])]


def _name_words(name: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", name.lower()) if word]


def _shown(skill: str, pattern: str) -> str:
    name = visible(skill)[:200]
    return name if pattern == skill else f"{name} (as {visible(pattern)})"


def _matching_pattern(skill: str, patterns: tuple[str, ...]) -> str | None:
    """The first pattern that names the skill, with or without the prefix of its plugin."""
    forms = (skill.lower(), skill.rpartition(":")[2].lower())
    for pattern in patterns:
        if any(fnmatchcase(form, pattern.lower()) for form in forms):
            return pattern
    return None


# --- their places -------------------------------------------------------------------------------


def _named_rubric(named: str, top: str | None) -> _Rubric:
    """The rubric that a person named: by its name, else by the path of a file."""
    if "/" not in named:
        wanted = {named, f"{named}.md", f"rubric-{named}.md"}
        for rubric in _project(top, wanted):
            return rubric
        for name in READY_MADE:
            if f"rubric-{name}.md" in wanted:
                return _ready_made(name)
    if "/" in named or os.path.lexists(named):
        data = inputs.read(named, "rubric", limit=LIMIT)
        return _read_rubric(data, os.path.basename(named), named, "file")
    own = [
        visible(name.removesuffix(".md").removeprefix("rubric-")) for name, _ in _rubric_files(top)
    ]
    every = list(dict.fromkeys((*own, *READY_MADE)))
    names_here = list(dict.fromkeys((*own[:20], *READY_MADE)))
    raise at_key("rubric", named).not_found(
        f"there is no rubric {named!r:.80} for scorecards{did_you_mean(named, every)}",
        f"use one of {', '.join(names_here)}, or the path of a Markdown file",
    )


def _project(top: str | None, wanted: set[str] | None = None) -> Iterator[_Rubric]:
    """A project's own rubrics by file name; ``wanted`` are the only names to read."""
    for name, rel in _rubric_files(top):
        if wanted is None or name in wanted:
            data = files.read_optional(top or "", rel, limit=LIMIT)
            if data is not None:
                yield _read_rubric(data, name, rel, "project")


def _rubric_files(top: str | None) -> list[tuple[str, str]]:
    """Name and path of each file that may be a project's own rubric."""
    if top is None:
        return []
    by_name = [
        (name, number, f"{folder}/{name}")
        for number, folder in enumerate((layout.PLUGIN_RUBRICS, layout.RUBRICS))
        for name in files.names(top, folder, suffix=".md", limit=MOST_FILES)
        if folder != layout.PLUGIN_RUBRICS or name.startswith("rubric-")
    ]
    return [(name, rel) for name, _, rel in sorted(by_name)]


def never_used(top: str) -> tuple[str, ...]:
    """A sentence for each file beside a project's rubrics of scorecards that is never used.

    In ``.flow/rubrics`` that is a second Markdown file of one name only; the others there are
    reported by :func:`flow.adapters.rubrics.rubric_files.never_used`.
    """
    unused = []
    for name in files.names(top, layout.PLUGIN_RUBRICS, suffix="", limit=MOST_FILES):
        if not name.startswith(("rubric-", ".")) or (name[0] != "." and not name.endswith(".md")):
            path = visible(f"{layout.PLUGIN_RUBRICS}/{name}")
            unused.append(f"{path} is never used: a rubric of scorecards is rubric-<name>.md")
    first: dict[str, str] = {}
    for rubric in _project(top):
        before = first.setdefault(rubric.name, rubric.file)
        if before != rubric.file and not rubric.skills:
            unused.append(
                f"{rubric.file} is never used: {before} comes first, and it names no skill"
            )
    return tuple(unused)


def _ready_made(name: str) -> _Rubric:
    file = f"rubric-{name}.md"
    path = shipped.find(_FOLDERS, file, f"the rubric {file}")
    return _read_rubric(inputs.read(path, "rubric", limit=LIMIT), file, path, "flow")


# --- files -------------------------------------------------------------------------------------


def _read_rubric(data: bytes, name: str, file: str, source: str) -> _Rubric:
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _broken(file, f"is not UTF-8 text (byte {error.start})", "save it as UTF-8") from None
    skills: tuple[str, ...] = ()
    if re.match(r"---[ \t]*$", text, re.MULTILINE):
        front = _FRONT.match(text)
        if front is None:
            raise _broken(file, "its front matter has no end", "end it with a line ---")
        skills = _skills(front["yaml"], file)
        text = text[front.end() :]
    if not text.strip():
        raise _broken(file, "holds no rubric", "write what each dimension looks like at 3, 5, 7, 9")
    return _Rubric(visible(name), text.strip("\n") + "\n", skills, source, visible(file))


def _skills(front: str, file: str) -> tuple[str, ...]:
    """The skills that a front matter names."""
    if not front.strip():
        return ()
    document = formats.parse_yaml(front.encode(), file=file, what="rubric's front matter")
    if "skills" not in document:
        return ()
    skills = document["skills"]
    remedy = 'write it as a list of names: skills: [commit, "*-docs"]'
    if not isinstance(skills, list) or len(skills) > MOST_SKILLS:
        raise _broken(file, "is not a list of names of skills", remedy, "skills")
    for number, skill in enumerate(skills):
        if not isinstance(skill, str) or not 0 < len(skill.strip()) <= MOST_PATTERN:
            why = f"{skill!r:.80} is no name of a skill"
            raise _broken(file, why, remedy, f"skills[{number}]")
    return tuple(skill.strip() for skill in skills)


def _broken(file: str, why: str, remedy: str, key: str | None = None) -> ContractError:
    return in_file(file, key).corrupt(why, remedy)
