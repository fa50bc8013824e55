"""Patterns of the files that a command's words name, or its runner reads in addition. Pure.

The words come from the shell's grammar; ``Disk`` answers questions about paths.
"""

from __future__ import annotations

import itertools
import posixpath
import re

from flow.core.boundary.globs import Globs, literal_pattern, path_bytes, why_not
from flow.core.evidence.proof import ABOVE, CUT, HOME
from flow.core.evidence.proof_tables import (
    ECOSYSTEMS,
    EXAMINERS,
    HOME_SETTINGS,
    PROJECT_RUNNERS,
    RULE_OPTIONS,
    RUNNER_MODULES,
    SITE,
    TEST_FOLDERS,
    TOOL_FOLDERS,
)
from flow.core.layout import written_by_flow
from flow.core.masked_exit.programs import FILTERS, LOOKS, MAKES, SEARCHERS, shell_text
from flow.core.masked_exit.runner_names import runner_of, started, starts_runners
from flow.core.masked_exit.runner_tables import LAUNCHERS, MODULES
from flow.core.masked_exit.runner_words import operands, package_script
from flow.core.masked_exit.shell import base_name, has_wildcard, plain_words
from flow.startup.functools import cache
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MOST_PATTERNS = 4000
"""Patterns of one goal, at most; the rest is left out, with a warning."""

OUTSIDE = "the commands name files outside the checkout, which are not watched"
PACKAGES = "of installed packages only the programs are watched"
_MOST_NAMED = 5
"""Files outside, and folders of packages, that are named, at most."""
_LONGEST = 400
_SUFFIX = re.compile(r"[^/.][^/]*\.[A-Za-z][A-Za-z0-9]{0,9}$")
_STRANGE = re.compile(r"[\s\"'`$(){}<>|;&\x00]|://")
_BETWEEN_WORDS = re.compile(r"[\s\"'`(){}<>|;,]+")
_CODE_FILE = re.compile(r"\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl|php|lua|R|sql)$")
"""Files that code in a command runs; any other that it opens is most likely the work."""
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "source", ".")
_NODE_TOOLS = ("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx")
"""Programs that start another one from ``node_modules/.bin``."""
_OWN_PROGRAMS = ("node_modules/.bin",)
_TOOL_ENDS = tuple(f"/{folder}" for folder in TOOL_FOLDERS)
_PYTHON = re.compile(r"python[0-9.]*$|pypy[0-9.]*$")
_DEEPEST = 3
_LONGEST_VARIED = 8192
"""Characters: in a longer text no variable is replaced by its value."""
_MOST_VALUES = 40
"""Variants of one command by its variables' values, at most."""
_MOST_VARIANTS = 400
"""Variants of all commands of a goal and the scripts that they call, at most."""
_ASSIGNED = re.compile(r"(?<![\w$])([A-Za-z_]\w*)=[\"']?([\w./+@%*?-]{1,400})(?=[\"'\s;&|)]|$)")
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*):?[-=]([\w./+@%*?-]{1,400})\}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s([^;\n]*)")
_ARRAY = re.compile(r"(?<![\w$])([A-Za-z_]\w*)=\(([^()]*)\)")
_USED = re.compile(
    r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:\[[^\]{}]{0,20}\])?(?::?[-=][^{}]{0,400})?\})"
)
_SEARCHED = re.compile(r"\bPYTHONPATH=[\"']?([^\s\"';&|]{1,1000})")
_PROGRAMS_IN = re.compile(r"(?<![\w$])PATH=[\"']?([^\s\"';&|]{1,1000})")
_WRITTEN = re.compile(r"^--?\w*(?:out|xml|log|report|cov)", re.IGNORECASE)
"""Options whose value is a file that the program writes."""
_HERE = re.compile(r"^(?:\$PWD|\$\{PWD\}|\$\(pwd\))(?:/|$)")
_OUTSIDE = ".."
"""The folder of commands that run outside the checkout."""
_SINGLE = Globs(
    (name for each in ECOSYSTEMS.values() for name in each.tests if not name.endswith("/")),
    anchored=False,
)


class Disk(Protocol):
    """The files below the top level; every path is relative to it."""

    def kind(self, path: str) -> Literal["file", "folder", ""]:
        """The kind of a path; empty if nothing exists there."""

    def program(self, name: str) -> str | None:
        """The path of the program ``name``; None if it is not below the top level."""

    def script(self, folder: str, name: str) -> str | None:
        """The text of a script in the folder's ``package.json``; None if there is none."""

    def recipes(self, folder: str, words: Sequence[str]) -> Iterable[tuple[str, str]]:
        """The commands that a make with these words runs, each with its folder."""

    def shell_script(self, path: str) -> str | None:
        """The text of a script for a shell; None if the file is none, or too long."""

    def module_path(self) -> str:
        """The user's own ``PYTHONPATH``."""

    def own_modules(self) -> Iterable[str]:
        """Python's own modules that one of the same name in ``PYTHONPATH`` replaces."""

    def inside(self, path: str) -> str | None:
        """An absolute path, relative to the top level; None if it is outside."""

    def is_file_outside(self, folder: str, path: str) -> bool:
        """Whether a path that leads outside is a file there, and not the system's."""

    def real(self, path: str) -> str | None:
        """The target of a symlink; None if it is outside the top level or the same path."""


class Watched(NamedTuple):
    """Patterns (as in a ``.gitignore``) of the files that commands depend on."""

    patterns: tuple[str, ...]
    gap: str = ""
    """Reason that some of these files are not watched; empty: all are."""


def watched(
    commands: Iterable[tuple[str, str]],
    words_of: Callable[[str], Iterable[tuple[str | None, ...]]],
    disk: Disk,
) -> Watched:
    """The patterns for ``commands``, each (text, its folder)."""
    finder = _ProofFinder(words_of, disk)
    for text, folder in commands:
        finder.add_command(text, posixpath.normpath(folder or "."), 0)
    named = (
        *finder.patterns,
        *finder.settings,
        *itertools.islice(finder.replaced(), MOST_PATTERNS + 1),
    )
    patterns = tuple(dict.fromkeys(named))
    unseen = ((OUTSIDE, finder.outside), (PACKAGES, finder.packages))
    gaps = [f"{why}: {', '.join(list(names)[:_MOST_NAMED])}" for why, names in unseen if names]
    gap = CUT if len(patterns) > MOST_PATTERNS else "; ".join(gaps)
    return Watched(patterns[:MOST_PATTERNS], gap)


class _ProofFinder:
    """Collects the patterns of one goal."""

    def __init__(
        self, words_of: Callable[[str], Iterable[tuple[str | None, ...]]], disk: Disk
    ) -> None:
        self._words_of = words_of
        self._disk = disk
        self._start = "."
        self._searched_for_programs: list[str] = []
        self._variants_left = _MOST_VARIANTS
        self._followed: set[tuple[str, str, int]] = set()
        self.patterns: list[str] = []
        self.settings: dict[str, None] = {}
        self.outside: dict[str, None] = {}
        self.packages: dict[str, None] = {}
        """The folders of installed packages whose programs the commands start."""
        self.searched: dict[str, None] = {}
        """The folders in ``PYTHONPATH``, as the starts of patterns."""

    def add_command(self, text: str, folder: str, depth: int) -> None:
        """Add everything that a command's text names, relative to ``folder``."""
        self._start = folder if not depth else self._start
        varied = _with_values(text)[: self._variants_left]
        self._variants_left -= len(varied)
        for variant in (text, *varied):
            self._add_variant(variant, folder, depth)

    def _add_variant(self, text: str, folder: str, depth: int) -> None:
        """Add everything that the text names, with its variables as they are."""
        here = folder
        computed = False
        values = (self._disk.module_path(), *_SEARCHED.findall(text))
        searched = [_HERE.sub("", path) for value in values for path in value.split(":")]
        given = [path for value in _PROGRAMS_IN.findall(text) for path in value.split(":")]
        outer = self._searched_for_programs
        self._searched_for_programs = [*outer, *(_HERE.sub("", p) or "." for p in given)]
        for words in self._words_of(text):
            plain = plain_words(words)
            if plain and base_name(plain[0] or "") in ("cd", "pushd"):
                here = self._entered_folder(here, plain[1:])
                continue
            place = self._entered_folder(here, _chosen_folder(words))
            for each in dict.fromkeys(filter(None, (plain, started(plain).words))):
                computed = computed or _computed(each)
                self._add_started(each, place, depth, searched)
        # Loop lists and texts inside texts: only words that look like tests count, unless the shell
        # computes its program.
        others = tuple(
            word for word in re.split(r"[\s\"'`$(){}<>|;&=]+", text[:65536]) if "/" in word
        )
        name = "sh" if computed else "ls"
        self._add_simple_command((name, *others[:200]), name, here)
        self._searched_for_programs = outer

    def _add_started(
        self, words: tuple[str | None, ...], folder: str, depth: int, searched: Iterable[str]
    ) -> None:
        """Add what a program names that runs in ``folder``; ``searched`` is its module path."""
        name = base_name(words[0] or "")
        if depth < _DEEPEST:
            self._follow_inner(name, words, folder, depth)
        self._add_simple_command(words, name, folder)
        self._add_shims(next(filter(None, words), ""), folder, self._searched_for_programs)
        for word in words[1:4] if name in _NODE_TOOLS else ():
            if word is not None and starts_runners(word):
                self._add_shims(word, folder, _OWN_PROGRAMS)
        if "python" in self._ecosystems(words, name):
            self._add_shadowing_modules(words, folder, searched)

    def _entered_folder(self, folder: str, words: tuple[str | None, ...]) -> str:
        """The folder that ``cd WORDS`` leads to from ``folder``; ``..`` for any place outside.

        A target that the shell computes is unknown; ``folder`` is returned.
        """
        given = [word for word in words if word is None or word[:1] != "-"]
        if not given or given[0] is None:
            return folder
        return self._place(folder, given[0]) or _OUTSIDE

    def _follow_inner(
        self, name: str, words: tuple[str | None, ...], folder: str, depth: int
    ) -> None:
        """Follow commands inside another one: ``bash -c TEXT``, those of its project's files."""
        given = [word for word in words[1:] if word is not None]
        text = shell_text(words)
        if text is not None:
            self._add_variant(text, folder, depth + 1)
        if name == "eval":
            self._add_variant(" ".join(given), folder, depth + 1)
        if name in MAKES:
            for place, recipe in self._disk.recipes(folder, (name, *given)):
                self._follow_text(posixpath.normpath(place), recipe, depth)
        script = _script_of(words, name) if name in _SHELLS else words[0]
        own = name in _SHELLS or ("/" in (script or "") and not _runs_scripts(name))
        path = self._place(folder, script) if script and own else None
        if path is not None:
            self._follow_text(folder, self._disk.shell_script(path) or "", depth)
        called = package_script(words)
        place = (
            self._entered_folder(folder, (called.folder,)) if called and called.folder else folder
        )
        body = self._disk.script(place, called.name) if called is not None else None
        if body is not None:
            outer = self._searched_for_programs
            self._searched_for_programs = [*outer, *_OWN_PROGRAMS]
            self.add_command(body, place, depth + 1)
            self._searched_for_programs = outer

    def _follow_text(self, folder: str, text: str, depth: int) -> None:
        """Follow a recipe or script, once however often it is called."""
        followed = (folder, text, depth)
        if text and followed not in self._followed:
            self._followed.add(followed)
            self.add_command(text, folder, depth + 1)

    def _add_simple_command(self, words: tuple[str | None, ...], name: str, folder: str) -> None:
        """Add a program, the files among its words, and what it reads in addition."""
        tools = self._ecosystems(words, name)
        runner = bool(runner_of(words))
        self._add_program(words[0] or "", folder)
        files, folders = self._operands(words, name, folder, runner=runner)
        for path in files:
            self._add_file(path)
            if _one_test(path):
                beside = posixpath.join(posixpath.dirname(path), "__snapshots__")
                self.patterns.append(literal_pattern(beside))
        inside = [path for path in folders if path != "."]
        for path in inside:
            if runner or posixpath.basename(path) in TEST_FOLDERS:
                self._add_tests(path, tools)
            if posixpath.basename(path) in TEST_FOLDERS or _below_tests(path):
                self.patterns.append(literal_pattern(path))
        tests = [path for path in files if _test_like(path)]
        scripts = [path for path in files if not _one_test(path)]
        own = name in PROJECT_RUNNERS or (bool(scripts) and _runs_scripts(name))
        own = own or _computed(words)
        own = own or ("/" in (words[0] or "") and not tools and self._is_inside(words[0], folder))
        named_alike = self._named_alike(words, name, folder)
        if (own and not _PYTHON.match(name)) or (runner and not tools):
            tools = tuple(ECOSYSTEMS)
        if own or (runner and not tests and not inside):
            self._add_tests(folder, tools)
        places = (*map(posixpath.dirname, files), *inside)
        self._add_settings(folder, places, tools, named_alike)
        if "python" in tools:
            self._add_site(words[0] or "", folder)

    def _named_alike(self, words: tuple[str | None, ...], name: str, folder: str) -> list[str]:
        """The usual settings of a program that no table has, and of one that a launcher starts."""
        place = posixpath.dirname(words[0] or "")
        names = [name] if not place or f"/{place}".endswith(_TOOL_ENDS) else []
        modules = [after or "" for word, after in itertools.pairwise(words) if word == "-m"]
        names += [module for module in modules if not self._module_files(module, folder)]
        if name in LAUNCHERS:
            begun = (word for word, _ in operands(words[1:]) if word not in LAUNCHERS[name])
            names.append(next(begun, ""))
        others = [each for each in names if _NAME.fullmatch(each) and each not in _IN_TABLES]
        return [form.format(n, n[0].upper() + n[0], n[1:]) for n in others for form in _ALIKE]

    def _is_inside(self, program: str | None, folder: str) -> bool:
        """Whether a program with a path is in the checkout."""
        path = self._place(folder, program or "")
        return path is not None and self._disk.kind(path) != "folder"

    def _ecosystems(self, words: tuple[str | None, ...], name: str) -> tuple[str, ...]:
        names = {name, *(base_name(word) for word in words[:4] if word)}
        names = {"python" if _PYTHON.match(each) else each for each in names}
        if names.intersection(MAKES):
            return tuple(ECOSYSTEMS)
        return tuple(key for key, tools in ECOSYSTEMS.items() if names & set(tools.programs))

    def _add_program(self, program: str, folder: str) -> None:
        """Add the program itself, if it is in the checkout."""
        if "/" in program:
            path = self._place(folder, program)
        else:
            path = self._disk.program(program) if program else None
        if path is not None:
            self._add_file(path)

    def _add_shims(self, program: str, folder: str, places: Iterable[str]) -> None:
        """Add the files, existing or not, that the command's own ``PATH`` finds as the program."""
        if "/" in program or not program or _STRANGE.search(program):
            return
        for start in places:
            place = self._place(folder, start) if not _STRANGE.search(start) else None
            if place is not None and place != _OUTSIDE:
                self._add_file(posixpath.normpath(f"{place}/{program}"))

    def _operands(
        self, words: tuple[str | None, ...], name: str, folder: str, *, runner: bool
    ) -> tuple[list[str], list[str]]:
        """The (files, folders) that the words after the program name."""
        files: list[str] = []
        folders: list[str] = []
        examines = name in EXAMINERS and not runner and "--no-index" not in words
        script = _script_of(words, name)
        previous = ""
        for word in words[1:]:
            if word is None:
                continue
            dotted = runner and "." in word and re.fullmatch(r"[\w.]+", word) is not None
            if dotted or (previous == "-m" and _PYTHON.match(name)):
                files += self._module_files(word, folder)
            if runner and (previous == "-p" or re.match(r"-p\w", word)):  # pytest's plugins
                files += self._module_files(word.removeprefix("-p"), folder)
            rules = word.partition("=")[0] in RULE_OPTIONS or previous in RULE_OPTIONS
            rules = rules or (name in SEARCHERS and re.fullmatch(r"-\w*f", previous) is not None)
            previous = word
            for path in self._candidates(word, folder):
                kind = self._disk.kind(path)
                if kind == "folder":
                    folders.append(path)
                elif examines and not rules and not _test_like(path):
                    continue
                elif kind == "file" or word == script or _named_anew(path, runner=runner):
                    files.append(path)
            if not examines:
                self._add_tool(word, folder)
                self._note_outside(word, folder)
        return files, folders

    def _note_outside(self, word: str, folder: str) -> None:
        """Note a word that names a file outside the checkout: it is read, and not watched."""
        path = word.rpartition("=")[2]
        leads_out = path.startswith(("/", "~/", "../")) and self._place(folder, path) is None
        if leads_out and not _WRITTEN.search(word) and self._disk.is_file_outside(folder, path):
            self.outside[path] = None

    def _candidates(self, word: str, folder: str) -> Iterator[str]:
        """The paths that a word may mean: ``tests/a.py::test_b``, ``--config=x``, ``a.py:12``."""
        if word.startswith("-") or _VARIABLE.match(word):
            _, sign, word = word.partition("=")
            if not sign:
                return
        if " " in word or "(" in word:  # make RUNNER='sh tools/run', node -e "require('./a.js')"
            parts = _BETWEEN_WORDS.split(word[:_LONGEST_VARIED])
            for part in parts if "(" not in word else filter(_CODE_FILE.search, parts):
                yield from self._candidates(part, folder)
            return
        if word.startswith("@"):  # pytest's file of arguments, node's package
            word = word[1:]
            path = self._place(folder, word)
            if path is None or self._disk.kind(path) != "file":
                return
        word = word.split("::", 1)[0]
        word = re.sub(r":\d+$", "", word)
        if not word or len(word) > _LONGEST or _STRANGE.search(word):
            return
        path = self._place(folder, word)
        if path is not None:
            yield path

    def _place(self, folder: str, word: str) -> str | None:
        """``word`` as a path from the top level; None if it leads outside or into Flow's folder."""
        inside = self._disk.inside(word) if word.startswith("/") else None
        if inside is not None:
            return joined_path(".", inside)
        path = joined_path(folder, word)
        if folder != self._start and (path is None or not self._disk.kind(path)):
            # After ``(cd web; ...)`` and ``popd``, commands run in the former folder.
            first = joined_path(self._start, word)
            return first if first is not None and self._disk.kind(first) == "file" else path
        return path

    def _module_files(self, word: str, folder: str) -> list[str]:
        """The existing file of a dotted name, or of the longest start of it."""
        parts = word.split(".")
        if not all(part.isidentifier() for part in parts):
            return []
        for count in range(len(parts), 0, -1):
            for start in ("", "src"):
                stem = posixpath.normpath(posixpath.join(folder, start, *parts[:count]))
                for path in (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py"):
                    if self._disk.kind(path) == "file":
                        return [path]
        if len(parts) > 1 and parts[-1].startswith("test"):
            return [posixpath.normpath(posixpath.join(folder, *parts) + ".py")]
        return []

    def _add_shadowing_modules(
        self, words: tuple[str | None, ...], folder: str, searched: Iterable[str]
    ) -> None:
        """Add the files, existing or not, that would replace a runner's own modules.

        Python searches for them in the current folder with ``-m``, beside a script, and in
        ``PYTHONPATH``.
        """
        given = [word for word in words[1:] if word is not None]
        named = [after for word, after in itertools.pairwise(given) if word == "-m"]
        scripts = [posixpath.dirname(word) for word in given if word.endswith(".py")]
        places = [self._place(folder, path or ".") for path in ("", *scripts, *searched)]
        for place in dict.fromkeys(places):
            if place is None or place == _OUTSIDE:
                continue
            start = "" if place == "." else f"{literal_pattern(place)}/"
            for module in (*RUNNER_MODULES, *named):
                if module.isidentifier():
                    self.patterns += (f"{start}{module}.py", f"{start}{module}/__init__.py")
        for path in searched:
            place = self._place(folder, path) if path else None
            if place is not None and place != _OUTSIDE:
                start = "" if place == "." else f"{literal_pattern(place)}/"
                self.searched[start] = None

    def replaced(self) -> Iterator[str]:
        """Files that would take the place of Python's own modules; the first to be left out."""
        own = list(self._disk.own_modules()) if self.searched else []
        for start in self.searched:
            for module in own:
                yield from (f"{start}{module}.py", f"{start}{module}/__init__.py")

    def _add_tool(self, word: str, folder: str) -> None:
        """Add a program that a launcher starts, if the project has its own copy."""
        if "/" in word or word.startswith(("-", ".")) or len(word) > 80 or _STRANGE.search(word):
            return
        for place in TOOL_FOLDERS:
            path = posixpath.normpath(posixpath.join(folder, place, word))
            if self._disk.kind(path) == "file":
                self._add_file(path)

    def _add_file(self, path: str) -> None:
        there = self._disk.kind(path) == "file"
        self.patterns.append(literal_pattern(path) if there or not has_wildcard(path) else path)
        folder = posixpath.dirname(path)
        if there and f"/{folder}".endswith(_TOOL_ENDS):
            self.packages[posixpath.dirname(folder)] = None
        real = self._disk.real(path)
        if real is not None:
            self.patterns.append(literal_pattern(real))

    def _add_tests(self, folder: str, tools: Iterable[str]) -> None:
        """Add the test files that a runner finds by itself below ``folder``."""
        if folder == _OUTSIDE:
            return
        start = "" if folder == "." else f"{literal_pattern(folder)}/"
        for tool in tools:
            self.patterns += [f"{start}**/{name}" for name in ECOSYSTEMS[tool].tests]

    def _add_settings(
        self, folder: str, inside: Iterable[str], tools: Iterable[str], named_alike: Iterable[str]
    ) -> None:
        """Add the runner's settings in its ``folder``, in those ``inside`` it, and above them.

        Also those above the checkout, where many runners search on, and in the user's home folder.
        ``named_alike`` are settings of programs that no table has.
        """
        if len(self.settings) > MOST_PATTERNS:
            return  # a later one is left out
        for tool in tools:
            self.settings.update(_outer_settings(tool))
        chain: dict[str, None] = {}
        for start in (folder, *inside):
            if start == _OUTSIDE:
                continue
            place = start
            while place not in ("", "."):
                chain[place] = None
                place = posixpath.dirname(place)
            chain["."] = None
        for place in chain:
            prefix = "" if place == "." else f"{literal_pattern(place)}/"
            self.settings |= {prefix + name: None for name in named_alike}
            for tool in tools:
                self.settings |= {
                    prefix + name: None
                    for name in ECOSYSTEMS[tool].settings
                    if place == folder or not name.startswith("**/")
                }

    def _add_site(self, program: str, folder: str) -> None:
        """Add the files that Python runs at its start, in an environment inside the checkout."""
        folder = "." if folder == _OUTSIDE else folder
        places = [posixpath.join(folder, name) for name in (".venv", "venv", "env")]
        path = self._place(folder, program) if "/" in program else self._disk.program(program)
        if path is not None:
            places.append(posixpath.dirname(posixpath.dirname(path)))
        for place in dict.fromkeys(map(posixpath.normpath, places)):
            if place != "." and self._disk.kind(posixpath.join(place, "pyvenv.cfg")) == "file":
                start = literal_pattern(place)
                self.patterns += [f"{start}/lib/*/site-packages/{name}" for name in SITE]
                self.patterns.append(f"{start}/pyvenv.cfg")


_NAME = re.compile(r"[a-z][\w+-]{1,30}")
_ALIKE = (
    ".{0}[.ir]*", "{0}.conf*", "{0}.toml", "{0}.json*", "{0}.y*ml", "{0}.ini", "{0}.cfg", "{0}.xml",
    "[{1}]{2}file*",
)  # fmt: skip
"""Names that programs give to their settings: ``.knip.json``, ``.yapfignore``, ``Gulpfile.js``."""
_IN_TABLES = frozenset(
    itertools.chain(
        EXAMINERS, FILTERS, LOOKS, LAUNCHERS, MODULES, *(e.programs for e in ECOSYSTEMS.values())
    )
)


@cache
def _outer_settings(tool: str) -> dict[str, None]:
    """The settings of a tool in the user's home folder and above the checkout."""
    home = HOME_SETTINGS.get(tool, ())
    names = (*ECOSYSTEMS[tool].settings, *(name.removeprefix(HOME) for name in home))
    plain = (name for name in names if not has_wildcard(name) and name[-1] != "/")
    return dict.fromkeys((*home, *(ABOVE + name for name in plain)))


def _with_values(text: str, depth: int = _DEEPEST) -> list[str]:
    """``text`` with its variables replaced by their values, one text per value.

    Only values in the text itself count (``X=tools; $X/run``, ``for t in a b; do tools/$t; done``,
    ``${X:-tools}/run``). If several variables have several values, the first text has the first
    value of each, the second text the second, and so on.
    """
    if "$" not in text or len(text) > _LONGEST_VARIED or not depth:
        return []
    values: dict[str, dict[str, None]] = {}
    for name, value in (*_ASSIGNED.findall(text), *_DEFAULT.findall(text)):
        values.setdefault(name, {})[value] = None
    for name, listed in (*_LOOP.findall(text), *_ARRAY.findall(text)):
        values.setdefault(name, {}).update((word.strip("\"'"), None) for word in listed.split())
    texts: list[str] = []
    for number in range(min(max(map(len, values.values()), default=0), _MOST_VALUES)):
        chosen = {
            name: list(held)[min(number, len(held) - 1)] for name, held in values.items() if held
        }
        varied = _USED.sub(_value_of(chosen), text)
        if varied != text:
            texts += [varied, *_with_values(varied, depth - 1)]
        if len(texts) >= _MOST_VALUES:
            break
    return list(dict.fromkeys(texts))[:_MOST_VALUES]


def _value_of(chosen: dict[str, str]) -> Callable[[re.Match[str]], str]:
    """The replacement of a variable's use: its value, or the use itself if it has none."""
    return lambda use: chosen.get(use[1] or use[2], use[0])


def _chosen_folder(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The folder in which ``env -C DIR`` runs a command."""
    names = [base_name(word or "") for word in words]
    behind = words[names.index("env") + 1 :] if "env" in names else ()
    for place, option in enumerate(behind):
        if option in ("-C", "--chdir"):
            return behind[place + 1 :][:1]
        if option is not None and option.startswith("--chdir="):
            return (option.partition("=")[2],)
    return ()


def joined_path(folder: str, word: str) -> str | None:
    """``word`` as a path below the top level; None if it leads outside or to a file of Flow's."""
    if word.startswith(("/", "~")):
        return None
    path = posixpath.normpath(posixpath.join(folder, word))
    first = path.split("/", 1)[0]
    if first in ("..", ".git") or written_by_flow(path):
        return None
    if has_wildcard(path) and why_not(path) is not None:
        return None
    return path


def _named_anew(path: str, *, runner: bool) -> bool:
    """Whether the word of a missing path was meant as a path."""
    plain = _SUFFIX.search(path) is not None
    return plain if not has_wildcard(path) else runner or "/" in path


def _test_like(path: str) -> bool:
    name = posixpath.basename(path).lower()
    return "test" in name or "spec" in name or _below_tests(path)


def _one_test(path: str) -> bool:
    """Whether the path looks like a single test, not a script that may run several."""
    name = path.rpartition("/")[2]
    return _SINGLE.first(path_bytes(name)) is not None


def _below_tests(path: str) -> bool:
    return any(part in TEST_FOLDERS for part in path.split("/")[:-1])


def _computed(words: tuple[str | None, ...]) -> bool:
    """Whether the shell computes the name of the program or script that runs."""
    if not words or words[0] is None:
        return True
    given = words[1:]
    if base_name(words[0]) in ("xargs", "parallel"):
        return any(_runs_scripts(base_name(word)) for word in given if word)
    return _runs_scripts(base_name(words[0])) and None in given and "-c" not in given


def _script_of(words: tuple[str | None, ...], name: str) -> str | None:
    """The script that an interpreter runs, under any name; None if it runs none."""
    if not _runs_scripts(name):
        return None
    code = ("-c",) if name in _SHELLS else ("-c", "-m", "-e", "--eval")
    for option, word in itertools.pairwise(words):
        if option in code or word is None:
            return None
        if not word.startswith(("-", "+")) and option not in ("-o", "+o", "-O", "+O"):
            return word
    return None


def _runs_scripts(name: str) -> bool:
    """Whether the program runs a file of the project, which may run anything."""
    return name in _SHELLS or bool(_PYTHON.match(name)) or name in (
        "node", "deno", "bun", "ruby", "perl", "php", "tsx", "ts-node", "Rscript", "lua",
    )  # fmt: skip
