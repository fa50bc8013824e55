"""Variables that change the meaning of a check (SPEC 3), as data of 2026.

A variable of the user's own shell that leaves tests out, starts others, or hides their failure, is
taken out of a criterion's command: the same contract must have the same meaning everywhere. A
variable with some harmless values stays if its value is one of them, and the evidence names it.
Variables that only give a place (``CARGO_HOME``, ``GOPATH``, ``PYTHONPATH``) are left alone.
"""

# ruff: noqa: E501  (a row a line)

from __future__ import annotations

from flow.core.attribution.rules import matches_whole
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping


class Variable(NamedTuple):
    """One variable, or a pattern of names.

    ``stays`` are patterns of words with ``*`` for any characters: with those alone it stays, and
    the evidence names it; with those of ``quiet`` alone it stays unnamed.
    """

    name: str
    why: str
    source: str
    stays: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()


VARIABLES = tuple(
    Variable(*row)
    for row in (
        ("MAKEFLAGS", "options of make: -n, -t and -i run nothing or hide failures", "GNU make manual, 5.7.3"),
        ("GNUMAKEFLAGS", "as MAKEFLAGS", "GNU make manual, 5.7.3"),
        ("MFLAGS", "as MAKEFLAGS", "GNU make manual, 5.7.3"),
        ("MAKEFILES", "makefiles that are read first", "GNU make manual, 3.4"),
        ("PYTEST_ADDOPTS", "options of pytest: -k, --co", "pytest: reference, environment variables"),
        ("PYTEST_PLUGINS", "modules that may select tests", "pytest: reference, environment variables"),
        ("PYTHONOPTIMIZE", "takes every assert out", "python: using, cmdline"),
        ("PYTHONINSPECT", "an interpreter that ends with another status", "python: using, cmdline"),
        ("PYTHONSTARTUP", "code that runs first", "python: using, cmdline"),
        ("GOFLAGS", "options of go: -run, -exec, -skip", "go help environment", ("-mod=*", "-modcacherw", "-buildvcs=*", "-trimpath", "-p=*", "-count=1", "-race", "-tags=*", "-v", "-insecure")),
        ("GOENV", "a file with GOFLAGS", "go help environment", (), ("off",)),
        ("NODE_OPTIONS", "options of node: --require, --test-name-pattern", "node: CLI, NODE_OPTIONS", ("--max-old-space-size=*", "--max_old_space_size=*", "--max-semi-space-size=*", "--experimental-vm-modules", "--openssl-legacy-provider", "--enable-source-maps", "--no-warnings", "--trace-warnings", "--trace-deprecation", "--no-deprecation", "--dns-result-order=*", "--use-system-ca", "--use-openssl-ca", "--use-bundled-ca", "--no-experimental-*", "--experimental-strip-types")),
        ("NODE_TEST_CONTEXT", "node --test then reports to a parent", "node: test runner source"),
        ("CARGO_TARGET_*_RUNNER", "a program that starts the tests, or not", "cargo: environment variables"),
        ("CARGO_ALIAS_*", "other meanings for cargo's commands", "cargo: configuration"),
        ("CARGO_PROFILE_*_DEBUG_ASSERTIONS", "takes debug assertions out", "cargo: profiles"),
        ("CARGO_PROFILE_*_OVERFLOW_CHECKS", "takes overflow checks out", "cargo: profiles"),
        ("CARGO_BUILD_RUSTC*", "another compiler", "cargo: configuration", ("*sccache", "*ccache")),
        ("RUSTC", "another compiler", "cargo: environment variables"),
        ("RUSTC_WORKSPACE_WRAPPER", "a program around the compiler", "cargo: environment variables", ("*sccache", "*clippy-driver")),
        ("RUSTC_WRAPPER", "a program around the compiler", "cargo: environment variables", ("*sccache", "*ccache")),
        ("RUSTFLAGS", "flags that leave code out", "cargo: environment variables", ("-D", "warnings", "-Dwarnings", "-C", "target-cpu=*", "-Ctarget-cpu=*", "link-arg=*", "-Clink-arg=*", "linker=*", "-Clinker=*", "-L*", "-Zsanitizer=*", "-Cinstrument-coverage", "instrument-coverage", "debuginfo=*", "-Cdebuginfo=*")),
        ("CARGO_ENCODED_RUSTFLAGS", "as RUSTFLAGS", "cargo: environment variables"),
        ("NEXTEST_NO_TESTS", "no test is a pass", "nextest: environment variables"),
        ("NEXTEST_FILTER*", "selects tests", "nextest: environment variables"),
        ("NEXTEST_PROFILE", "another set of rules", "nextest: environment variables", ("ci", "default")),
        ("MAVEN_ARGS", "options of mvn: -DskipTests, -fn", "maven: configuring", ("-B", "--batch-mode", "-ntp", "--no-transfer-progress", "-q", "-e", "-T*", "-o", "-Dstyle.color=*")),
        ("MAVEN_OPTS", "properties of mvn: skipTests", "maven: configuring", ("-X*", "-Dmaven.repo.local=*", "-Dmaven.wagon.*", "-Dhttp*", "-Djava.*", "-ea", "-D*logger*")),
        ("GRADLE_OPTS", "properties of gradle", "gradle: build environment", ("-X*", "-Dorg.gradle.*", "-Dhttp*", "-Djava.*", "-Dfile.encoding=*", '"-X*"')),
        ("JAVA_TOOL_OPTIONS", "agents and properties", "JVM TI", ("-X*", "-Djava.*", "-Dhttp*", "-Dfile.encoding=*", "-Duser.*")),
        ("_JAVA_OPTIONS", "agents and properties", "OpenJDK", ("-X*", "-Djava.*", "-Dhttp*", "-Dfile.encoding=*", "-Duser.*")),
        ("JDK_JAVA_OPTIONS", "agents and properties", "the java command", ("-X*", "-Djava.*", "-Dhttp*", "-Dfile.encoding=*", "-Duser.*")),
        ("VSTest*", "properties of dotnet test: a filter", "vstest: MSBuild properties"),
        ("RUBYOPT", "code that runs first", "ruby(1)", ("-rbundler/setup", "-W*", "-w", "--yjit", "--jit", "-r*/bundler/setup")),
        ("SPEC_OPTS", "options of rspec: --dry-run", "rspec-core: configuration"),
        ("TESTOPTS", "options of rake's tests", "rake: TestTask"),
        ("PERL5OPT", "code that runs first", "perlrun", ("-W*", "-w")),
        ("PERL5DB", "a debugger", "perlrun"),
        ("MOCHA_OPTIONS", "options of mocha: --grep", "mocha: configuring"),
        ("npm_config_script_shell", "the shell of scripts", "npm: config"),
        ("npm_config_ignore_scripts", "leaves scripts out", "npm: config"),
        ("npm_config_if_present", "no script is a pass", "npm: config"),
        ("npm_config_dry_run", "does nothing", "npm: config"),
        ("npm_config_node_options", "as NODE_OPTIONS", "npm: config"),
        ("npm_config_usage", "prints the usage and runs nothing", "npm: config"),
        ("npm_config_userconfig", "a file with these settings", "npm: config", ("*",)),
        ("npm_config_globalconfig", "a file with these settings", "npm: config", ("*",)),
        ("npm_config_workspace", "runs another package's script", "npm: config"),
        ("npm_config_workspaces", "runs other packages' scripts", "npm: config"),
        ("BUN_OPTIONS", "options of bun: --test-name-pattern", "bun: environment variables"),
        ("SKIP", "leaves hooks of pre-commit out", "pre-commit: temporarily disabling hooks"),
        ("PRE_COMMIT_ALLOW_NO_CONFIG", "no configuration is a pass", "pre-commit: commands/run"),
        ("SHELLCHECK_OPTS", "options of shellcheck: --exclude", "shellcheck(1)"),
        ("SCONSFLAGS", "options of scons: -n", "scons(1)"),
        ("RAKEOPT", "options of rake: -n", "rake: Application#handle_options"),
        ("JUST_DRY_RUN", "runs nothing", "just --help"),
        ("INVOKE_RUN_DRY", "runs nothing", "invoke: configuration"),
        ("INVOKE_RUN_WARN", "a failure is a warning", "invoke: configuration"),
        ("TF_CLI_ARGS*", "options of terraform: -filter", "terraform: environment variables"),
        ("ANT_ARGS", "options of ant", "ant: running"),
        ("ANT_OPTS", "properties of ant", "ant: running", ("-X*", "-Dhttp*", "-Djava.*")),
        ("SBT_OPTS", "commands and properties of sbt", "sbt: command line reference", ("-X*", "-Dsbt.color=*", "-Dhttp*", "-Djava.*", "-Dfile.encoding=*")),
        ("JAVA_OPTS", "properties of gradle, sbt and others", "gradle: build environment", ("-X*", "-Djava.*", "-Dhttp*", "-Dfile.encoding=*", "-Duser.*")),
        ("DOTNET_STARTUP_HOOKS", "code that runs first", "dotnet: host startup hook"),
        ("LUA_INIT*", "code that runs first", "lua(1)"),
        ("ROBOT_OPTIONS", "options of robot: --dryrun", "robot framework: user guide"),
        ("BATS_NO_FAIL_FOCUS_RUN", "a part of the tests is a pass", "bats-core: writing tests"),
        ("HARNESS_PERL_SWITCHES", "code that runs first", "Test::Harness"),
        ("TOX_OVERRIDE", "another configuration", "tox: environment variables", (), ("*.passenv+=*",)),
        ("TOX_SKIP_ENV", "leaves environments out", "tox: configuration"),
        ("TOXENV", "selects environments", "tox: configuration", ("*",)),
        ("NOXSESSION", "selects sessions", "nox: configuration", ("*",)),
        ("CTEST_NO_TESTS_ACTION", "no test is a pass", "ctest(1)"),
        ("GTEST_FILTER", "selects tests", "googletest: advanced"),
        ("GTEST_TOTAL_SHARDS", "runs a part", "googletest: advanced"),
        ("GTEST_SHARD_INDEX", "runs a part", "googletest: advanced"),
        ("INSTA_FORCE_PASS", "a snapshot that differs is a pass", "insta: settings", (), ("0",)),
        ("INSTA_UPDATE", "accepts snapshots that differ", "insta: settings", (), ("auto", "new", "no")),
        ("MDTEST_UPDATE_SNAPSHOTS", "accepts snapshots that differ", "ruff: contributing", (), ("0",)),
        ("UPDATE_EXPECT", "accepts results that differ", "expect-test: README", (), ("0",)),
        ("TRYBUILD", "accepts messages that differ", "trybuild: README", (), ("wip",)),
        ("PROPTEST_CASES", "how many cases a test tries, perhaps none", "proptest: configuration", tuple(f"{n}*" for n in range(1, 10))),
        ("QUICKCHECK_TESTS", "how many cases a test tries, perhaps none", "quickcheck: README", tuple(f"{n}*" for n in range(1, 10))),
        ("LEFTHOOK", "0 runs no hook", "lefthook: configuration", (), ("1", "true", "verbose")),
        ("LEFTHOOK_EXCLUDE", "leaves commands out", "lefthook: configuration"),
        ("HADOLINT_NOFAIL", "a finding is a pass", "hadolint: configure"),
        ("RIPGREP_CONFIG_PATH", "a file with options of rg: --glob", "ripgrep: guide", ("*",)),
        ("GREP_OPTIONS", "options of an old grep", "grep(1)"),
        ("ERL_FLAGS", "code that runs first", "erl(1)"),
        ("ELIXIR_ERL_OPTIONS", "code that runs first", "elixir(1)"),
        ("POSIXLY_CORRECT", "another bash", "bash(1)"),
    )
)  # fmt: skip
_EXACT = {variable.name.lower(): variable for variable in VARIABLES if "*" not in variable.name}
_PATTERNS = tuple(variable for variable in VARIABLES if "*" in variable.name)


def _entry_of(name: str) -> Variable | None:
    """The entry of a variable, or None. Case does not matter for npm's own, as for npm itself."""
    variable = _EXACT.get(name.lower())
    if variable is not None and (variable.name == name or variable.name.startswith("npm_")):
        return variable
    return next((entry for entry in _PATTERNS if matches_whole(entry.name, name)), None)


def removed_and_named(environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The names that a command does not get, and those that it gets and the evidence names."""
    removed: list[str] = []
    named: list[str] = []
    for name, value in environ.items():
        variable = _entry_of(name)
        if variable is None or not value.strip():
            continue
        words = value.replace(";", " ").split()
        if _consists(words, variable.quiet):
            continue
        (named if _consists(words, variable.stays) else removed).append(name)
    return removed, sorted(named)


def untranslate_messages(env: MutableMapping[str, str]) -> list[str]:
    """Make programs print untranslated messages; returns the names of removed variables.

    A make that ran nothing is recognised by its words. The rest of the locale (characters, order,
    figures) stays.
    """
    locale = env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "C"
    language = locale.partition(".")[0].partition("_")[0]
    if not env.get("LANGUAGE") and language in ("C", "POSIX", "en"):
        return []
    removed = ["LANGUAGE"]
    if env.get("LC_ALL"):
        env["LANG"] = env["LC_ALL"]
        removed += [name for name in env if name.startswith("LC_")]
    removed = [name for name in removed if env.pop(name, "")]
    env["LC_MESSAGES"] = "C"
    return removed


def _consists(words: list[str], forms: tuple[str, ...]) -> bool:
    return all(any(matches_whole(form, word) for form in forms) for word in words)


def limitation(names: list[str]) -> str:
    """The sentence of the evidence for variables that stayed."""
    verb = "was" if len(names) == 1 else "were"
    return f"{', '.join(names)} {verb} set, which can change what a check does."
