# ruff: noqa: E501  (a row a line)
"""Linters and type checkers that ended with 0 because no file was left for them to check.

Each row of ``IDLE_LINES`` is one line of one program, from a recorded run, its source or one of its
issues, as of November 2026. For programs that print nothing, ``CHECKED_FILES`` has the names of the
files that they search for.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from flow.core.attribution.reading import Attribution
from flow.core.masked_exit.programs import CANNOT_FAIL, FILTERS, TESTS
from flow.core.masked_exit.runner_tables import LAUNCHERS
from flow.core.masked_exit.runner_words import option_values
from flow.core.masked_exit.shell import base_name, in_folders
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class IdleLine(NamedTuple):
    """The line by which a checker reports that it had nothing to check."""

    program: str
    literal: str
    pattern: str
    passes: str
    """The line of a pass. If ``always`` is True, one accompanies each ``pattern``; else it shows
    that files were checked.
    """
    always: bool
    source: str


_PASSED = r"All checks passed!"
_CLEAN = r"0 errors, 0 warnings, 0 (?:informations|notes)\s*"
IDLE_LINES = tuple(
    IdleLine(*row)
    for row in (
        ("ruff", "No Python files found", r"warning: No Python files found under the given path\(s\)", _PASSED, True, "recorded, ruff 0.17"),
        ("ty", "o python files found", r"WARN No python files found under the given path\(s\)", _PASSED, True, "ty: check command"),
        ("black", "No Python files are present", r"No Python files are present to be formatted\. Nothing to do.*", r"\d+ files? (?:would be )?left unchanged\.", False, "black: main, 2026"),
        ("mypy", " in 0 source files", r"Success: no issues found in 0 source files", r"Success: no issues found in [1-9]\d* source files?", False, "mypy: util.py"),
        ("pyright", "No source files found", r"(?:error: )?No source files found\.?", _CLEAN, True, "pyright issues 4723, 6443"),
        ("bandit", "Total lines of code: 0", r"\s*Total lines of code: 0", r"\s*Total lines of code: [1-9]\d*", False, "bandit: text formatter"),
        ("djlint", "inted 0 files", r"(?:Linted|Checked) 0 files.*", r"(?:Linted|Checked) [1-9]\d* files?.*", False, "djlint: output"),
        ("import-linter", "Analyzed 0 files", r"Analyzed 0 files, 0 dependencies\.", r"Analyzed [1-9].*", False, "recorded, import-linter 2"),
        ("rubocop", "0 files inspected", r"0 files inspected, no offenses detected", r"[1-9]\d* files? inspected, .*", False, "rubocop: progress formatter"),
        ("swiftlint", " in 0 files", r"Done linting! Found 0 violations, 0 serious in 0 files\.", r"Done linting! .* in [1-9]\d* files?\.", False, "swiftlint: lint command"),
        ("markdownlint", "Linting: 0 file", r"Linting: 0 file\(s\)", r"Linting: [1-9]\d* file\(s\)", False, "markdownlint-cli2"),
        ("biome", "Checked 0 files", r"Checked 0 files.*", r"Checked [1-9]\d* files?.*", False, "biome: console reporter"),
        ("oxlint", " on 0 files", r"Finished in \S+ on 0 files.*", r"Finished in \S+ on [1-9]\d* files?.*", False, "oxlint: default reporter"),
        ("go", "matched no packages", r"(?:go: )?warning: \".*\" matched no packages", "", False, "staticcheck issue 1173; cmd/go: search"),
        ("vale", " in 0 files", r".* 0 errors, 0 warnings and 0 suggestions in 0 files\.", r".* suggestions? in [1-9]\d* files?\.", False, "vale: CLI output"),
        ("phpstan", "No files found to analyse", r".*\[(?:NOTE|WARNING|ERROR)\] No files found to analyse\.\s*", r" *\[OK\] No errors\s*", True, "phpstan issue 9410"),
        ("phpcs", "No files were checked", r"ERROR: No files were checked\.", "", False, "PHP_CodeSniffer 3.13"),
        ("php-cs-fixer", "Found 0 of 0 files", r"Found 0 of 0 files .*", r"Found \d+ of [1-9]\d* files? .*", False, "php-cs-fixer: text reporter"),
        ("credo", "found no issues", r"0 mods/funs, found no issues\.", r"[1-9]\d* mods/funs, .*", False, "credo: summary"),
        ("ansible-lint", " on 0 files", r"Passed: 0 failure\(s\), 0 warning\(s\) on 0 files.*", r"Passed: .* on [1-9]\d* files?.*", False, "ansible-lint: app"),
        ("nox", " skipped: ", r"nox > Session .* skipped: .*", r"nox > Session .* was successful.*", False, "recorded, nox 2026"),
        ("nox", "No sessions selected", r"nox > No sessions selected after filtering by keyword\.", "", False, "recorded, nox 2026"),
        ("pre-commit", "no files to check", r".+\.\(no files to check\)Skipped", r".+\.(?:Passed|Failed)", False, "pre-commit: commands/run"),
        ("lint-staged", "No staged files ", r"\S+ No staged files (?:found|match any configured task)\.", "", False, "lint-staged 13: messages"),
        ("lefthook", " (skip) no ", r".* \(skip\) no (?:matching (?:staged|push) files|files for inspection)", r"(?:┃|✔️|🥊| *EXECUTE >).*", False, "lefthook 2: controller"),
        ("lychee", "🔍 0 Total", r"🔍 0 Total .*", r"🔍 [1-9]\d* Total .*", False, "lychee: compact stats"),
        ("kubeconform", "Summary: 0 resources", r"Summary: 0 resources found .*", r"Summary: [1-9]\d* resources? found .*", False, "kubeconform: text output"),
        ("compileall", "Can't list ", r"Can't list '.*'", "", False, "recorded, Python 3.13"),
    )
)  # fmt: skip


def idle_checker(lines: Sequence[str]) -> Attribution | None:
    """A vacuous attribution if a checker had nothing to check and none checked files; else None.

    ``lines`` must be all the output: a line that was cut off may report a check.
    """
    for row in IDLE_LINES:
        idle = [ln for ln in lines if row.literal in ln and re.fullmatch(row.pattern, ln)]
        if not idle:
            continue
        passed = sum(1 for line in lines if row.passes and re.fullmatch(row.passes, line))
        if passed <= (len(idle) if row.always else 0):
            return _nothing_to_check(
                row.program, f"had nothing to check ({idle[-1].strip()[:100]})"
            )
    return None


def _nothing_to_check(program: str, why: str) -> Attribution:
    return Attribution("vacuous", f"{program} {why}", program, None, None, "output")


_ONLY_IF_FED = re.compile(r"-[0tpx]*r[0tpx]*|--no-run-if-empty")
_ALWAYS_PRINT = frozenset(("ruff", "mypy", "pyright", "basedpyright", "prettier", "bandit"))
"""Checkers that print a line also if they find nothing, unless an option makes them quiet."""
_QUIET = re.compile(r"-[qs]+|--quiet|--silent|--no-error-summary|--log-?level(?:=.*)?")


def fed_nothing(commands: Sequence[Sequence[str]]) -> Attribution | None:
    """A vacuous attribution for a command that printed nothing, and whose checker would have.

    ``git diff --name-only | xargs -r ruff check`` starts nothing once all is committed.
    """
    for words in commands:
        place = next((n for n, word in enumerate(words) if base_name(word) in _ALWAYS_PRINT), 0)
        options = words[1:place]
        if base_name(words[0]) != "xargs" or not any(map(_ONLY_IF_FED.fullmatch, options)):
            continue
        if place and not any(map(_QUIET.fullmatch, words[place:])):
            name = base_name(words[place])
            return _nothing_to_check(name, "was not started: `xargs -r` was given no file")
    return None


_PYTHON = ("*.py", "*.pyi", "*.pyw", "*.ipynb")
_SCRIPTS = (
    "*.js",
    "*.mjs",
    "*.cjs",
    "*.jsx",
    "*.ts",
    "*.mts",
    "*.cts",
    "*.tsx",
    "*.vue",
    "*.svelte",
    "*.astro",
)
_STYLES = ("*.css", "*.scss", "*.sass", "*.less", "*.sss", "*.vue", "*.svelte", "*.astro", "*.html")
CHECKED_FILES: Mapping[str, tuple[str, ...]] = {
    "flake8": _PYTHON, "pycodestyle": _PYTHON, "pydocstyle": _PYTHON, "pyflakes": _PYTHON,
    "pylint": _PYTHON, "ruff": _PYTHON, "black": _PYTHON, "isort": _PYTHON, "bandit": _PYTHON,
    "vulture": _PYTHON, "pyright": _PYTHON, "basedpyright": _PYTHON, "mypy": _PYTHON,
    "eslint": _SCRIPTS, "oxlint": _SCRIPTS, "standard": _SCRIPTS, "xo": _SCRIPTS, "jshint": _SCRIPTS,
    "stylelint": _STYLES, "gofmt": ("*.go",), "gofumpt": ("*.go",), "goimports": ("*.go",),
    "staticcheck": ("*.go",), "revive": ("*.go",), "yamllint": ("*.yml", "*.yaml", ".yamllint"),
    "ktlint": ("*.kt", "*.kts"), "swiftlint": ("*.swift",), "dart": ("*.dart",),
    "phpcs": ("*.php", "*.inc", "*.js", "*.css"), "phpstan": ("*.php",),
    "rubocop": ("*.rb", "*.rake", "*.gemspec", "*.ru", "[A-Z]*file"),
    "terraform": ("*.tf", "*.tfvars", "*.hcl"), "tflint": ("*.tf",),
}  # fmt: skip
"""Checkers that search folders for files, with the names of the files that they check."""
_SUBCOMMANDS = {
    "ruff": ("check", "format"), "dart": ("analyze",), "terraform": ("fmt",), "phpstan": ("analyse", "analyze"),
}  # fmt: skip
"""For checkers with several subcommands, those that check; such a word is no path."""
GREP = "grep"
_GREPS = (GREP, "egrep", "fgrep")
_GIT_GREP = "git grep"
_GREP_PATTERNS = ("-e", "-f", "--regexp", "--file")
_GREP_VALUES = (
    *_GREP_PATTERNS, "-m", "-A", "-B", "-C", "-d", "-D", "--include", "--exclude", "--exclude-dir",
)  # fmt: skip
_ASKS = ("--version", "--help", "-V", "-h")
_ASKS_OF = {
    "ruff": ("--show-files", "--show-settings"), "mypy": (), "pyright": (),
    "eslint": ("-v", "--print-config", "--env-info", "--init", "--inspect-config"),
    "prettier": ("-v", "--support-info", "--find-config-path", "--file-info"),
    "tsc": ("-v", "--showConfig", "--init", "--all", "--listFilesOnly"), "vue-tsc": ("-v",),
    "stylelint": ("-v", "--print-config"), "biome": (), "ty": (), "lint-imports": (),
    "pylint": ("--list-msgs", "--generate-rcfile", "--generate-toml-config"),
    "isort": ("--show-settings", "--show-files", "--version-number"), "codespell": (),
    "shellcheck": ("--list-optional",), "hadolint": (), "markdownlint": (), "golangci-lint": (),
    "markdownlint-cli2": (), "actionlint": ("-version",), "clang-tidy": ("--list-checks",),
    "cppcheck": ("--doc", "--errorlist"), "sqlfluff": ("rules", "dialects"), "typos": ("--files",),
    "pre-commit": (), "psalm": (), "djlint": (),
}  # fmt: skip
"""Words by which a checker only tells of itself or of its files, further to those of every checker
(each one's help, November 2026).
"""
_BESIDE_CHECKERS = CANNOT_FAIL | FILTERS | {"cd"}
"""Programs that may run beside checkers and check nothing themselves."""
DECIDE = ("exit", "false", *TESTS)
"""Programs that decide by what ``grep`` found."""
_TAKE_MODULES = ("pylint", "staticcheck", "revive")
"""Checkers that take the names of modules or packages for paths."""
_GLOB = re.compile(r"[*?\[{]|\.\.\.")


class SearchedFolders(NamedTuple):
    """The places that a checker searched for files, relative to the command's own folder."""

    program: str
    paths: tuple[str, ...]
    """Files and folders; some of them need not exist."""
    names: tuple[str, ...]
    """Patterns of the names of the files that it checks."""
    otherwise: str = ""
    """The folder that it searched if none of ``paths`` exists; empty if they are surely paths.

    They may be the values of options (``ruff check --select E``) or modules (``pylint pkg``).
    """
    patterns: tuple[str, ...] = ()
    """Patterns of files: a file that one of them matches is named and checked."""


def checkers(commands: Sequence[Sequence[str]]) -> tuple[SearchedFolders, ...]:
    """The checkers that a command consists of; empty if it starts anything else.

    ``commands`` are the words of its simple commands, none of them computed by the shell: a word
    that is not known could name other files.
    """
    searched = []
    beside = any(base_name(words[0]) in DECIDE for words in commands)
    for folder, words in in_folders(commands):
        if base_name(words[0]) in {*_BESIDE_CHECKERS, *DECIDE}:
            continue
        program, given = checker_of(words)
        if program in _GREPS:
            found = _searched_by_grep(folder, given)
        elif program == _GIT_GREP:
            found = _searched_by_git_grep(folder, given)
        elif base_name(words[0]) == "find":
            found = _searched_by_find(folder, words)
        else:
            found = _searched_by_checker(folder, program, given) if program else None
        if found is None or (beside and found.program != GREP):
            return ()
        searched.append(found)
    return tuple(searched)


def _searched_by_checker(folder: str, program: str, given: Sequence[str]) -> SearchedFolders:
    """The places where a linter or type checker looks for the files that it checks."""
    paths = tuple(_without_glob(word) for word in given if not word.startswith("-")) or (".",)
    may_be_values = program in _TAKE_MODULES or all(
        option.startswith("-") and "=" not in option
        for option, word in zip(("", *given), given, strict=False)
        if not word.startswith("-")
    )
    return SearchedFolders(
        program,
        tuple(posixpath.normpath(posixpath.join(folder, path)) for path in paths),
        (*CHECKED_FILES[program], *_further_names(given)),
        posixpath.normpath(folder or ".") if may_be_values else "",
        tuple(posixpath.join(folder, word) for word in given if _names_files(word)),
    )


def _searched_by_grep(folder: str, given: Sequence[str]) -> SearchedFolders | None:
    """The places that ``grep`` searches; None if it may read its input or a computed place.

    With ``!`` in front it passes where it finds nothing, also if there is nothing to search.
    """
    plain, named, option = [], False, ""
    for word in given:
        if option in _GREP_VALUES:
            named = named or option in _GREP_PATTERNS
            option = ""
        elif word.startswith("-") and len(word) > 1:
            option = word
            named = named or word.startswith(("-e", "-f", "--regexp=", "--file="))
        else:
            plain.append(word)
            option = ""
    paths = plain if named else plain[1:]
    if not paths or "-" in paths:
        return None
    names = option_values(given, "", "--include")
    return SearchedFolders(
        GREP,
        tuple(posixpath.normpath(posixpath.join(folder, _without_glob(path))) for path in paths),
        names or ("*",),
        patterns=tuple(posixpath.join(folder, path) for path in paths if _names_files(path)),
    )


def _searched_by_git_grep(folder: str, given: Sequence[str]) -> SearchedFolders | None:
    """The places that ``git grep ... -- PATHS`` searches, which need not exist.

    None if a path has another meaning (``:/src``). A pattern matches in all folders below.
    """
    own = given[given.index("--") + 1 :] if "--" in given else ()
    paths = [path for path in own if not path.startswith((":!", ":^", ":(exclude)"))] or ["."]
    if any(path.startswith(":") for path in paths):
        return None
    found = _searched_by_grep(folder, (GREP, *paths))
    split = (path.rpartition("/") for path in paths if _GLOB.search(path))
    patterns = (posixpath.join(folder, start, "**", name) for start, _, name in split)
    return found and found._replace(patterns=tuple(patterns))


_FIND_PLAIN = ("(", ")", "-o", "-or", "f", "-type", "-print", "-name")
"""Words of ``find`` that leave no file out by anything but its name."""
_FIND_ACTS = ("rm", "echo", "false", "ls", "printf", "mv", "cp", "chmod", "touch")
"""Programs that check nothing, or are not meant to be started: ``-exec false {} +``."""


def _searched_by_find(folder: str, words: Sequence[str]) -> SearchedFolders | None:
    """The places where ``find`` looks for the files of the command in its ``-exec``.

    That is not started where no file has the name. None if other tests leave files out.
    """
    act = next((n for n, word in enumerate(words) if word in ("-exec", "-execdir")), len(words))
    program, option = (*words[act + 1 : act + 3], "", "")[:2]
    if not program or program in _FIND_ACTS or option == "-c":
        return None
    first = next(n for n, word in enumerate(words) if n and word.startswith(("-", "(", "!")))
    names = option_values(words[first:act], "-name", "-name")
    if any(word not in (*_FIND_PLAIN, *names) for word in words[first:act]):
        return None
    paths = words[1:first] or (".",)
    places = tuple(posixpath.normpath(posixpath.join(folder, _without_glob(p))) for p in paths)
    return SearchedFolders(base_name(program), places, names or ("*",))


def _further_names(words: Sequence[str]) -> tuple[str, ...]:
    """Patterns of names by the kinds in ``eslint --ext .md,.json``, ``phpcs --extensions=inc``."""
    values = (*option_values(words, "", "--ext"), *option_values(words, "", "--extensions"))
    kinds = [kind for value in values for kind in value.split(",")]
    return tuple(f"*.{kind.strip().lstrip('.')}" for kind in kinds if kind.strip(" ."))


def _names_files(word: str) -> bool:
    """Whether a word is a pattern of files: ``bin/*`` and ``docs/**/*.md``, but not ``src/**``."""
    last = word.rpartition("/")[2]
    plain = not word.startswith("-") and "..." not in word
    return plain and _GLOB.search(word) is not None and ("**" not in word or bool(last.strip("*")))


def _without_glob(word: str) -> str:
    """A path up to the folder of its first wildcard: ``src`` of ``src/a_*.py`` and ``src/...``."""
    plain = _GLOB.split(word)[0]
    return plain if plain == word else plain.rpartition("/")[0] or "."


def _behind_launcher(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The program that a command starts, perhaps by a launcher, and the words after it."""
    name, rest = base_name(words[0]), tuple(words[1:])
    if name.startswith("python") and rest[:1] == ("-m",) and len(rest) > 1:
        return rest[1], rest[2:]
    if name in LAUNCHERS and name not in CHECKED_FILES:
        needed = LAUNCHERS[name]
        if needed and rest[:1] and rest[0] not in needed:
            return "", ()
        behind = rest[1:] if needed else rest
        return _behind_launcher(behind) if behind and not behind[0].startswith("-") else ("", ())
    return name, rest


def asks_only(commands: Sequence[Sequence[str]]) -> str:
    """A checker and the word by which it only tells of itself; empty if the command does more."""
    asked = ""
    for words in commands:
        if base_name(words[0]) in _BESIDE_CHECKERS:
            continue
        name, rest = _behind_launcher(words)
        own = (*_ASKS, *_ASKS_OF.get(name, ())) if name in CHECKED_FILES or name in _ASKS_OF else ()
        word = next((word for word in rest if word in own), "")
        if not word and name == "ruff" and rest[:1] and rest[0] not in _SUBCOMMANDS["ruff"]:
            word = rest[0]
        if not word:
            return ""
        asked = asked or f"{name} {word}"
    return asked


def checker_of(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The checker that a command starts, and the words after it; empty if it starts none."""
    name, rest = _behind_launcher(words)
    if name in _GREPS:
        return name, rest
    if name == "git" and rest[:1] == ("grep",):
        return _GIT_GREP, rest[1:]
    if name not in CHECKED_FILES:
        return "", ()
    if name in _SUBCOMMANDS:
        return (name, rest[1:]) if rest[:1] and rest[0] in _SUBCOMMANDS[name] else ("", ())
    return name, rest


def is_checked(searched: SearchedFolders, name: str) -> bool:
    """Whether the checker checks files of this name."""
    return any(fnmatchcase(name, pattern) for pattern in searched.names)


def nothing_left(searched: Sequence[SearchedFolders]) -> Attribution:
    """The vacuous attribution of checkers whose searched places hold no file that they check."""
    first = searched[0]
    where = ", ".join(first.paths[:4])
    kinds = ", ".join(first.names[:4])
    return _nothing_to_check(
        first.program, f"had nothing to check: no file like {kinds} is in {where}"
    )
