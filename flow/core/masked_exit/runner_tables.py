"""Programs that run tests, that run other programs, or only name them: data of November 2026.

Sources: each program's own pages on its command line (docs.pytest.org, docs.python.org "Command
line", npm help, pnpm.io, yarnpkg.com, bun.sh, docs.deno.com, go help, doc.rust-lang.org
"cargo", maven.apache.org "Lifecycle", docs.gradle.org, bazel.build, mesonbuild.com, dune.build,
docs.astral.sh "uv", nx.dev, turborepo.com), and the manual pages of util-linux and coreutils.
"""

from __future__ import annotations

ALONE = {
    "pytest": "pytest", "py.test": "pytest", "nosetests": "unittest", "nose2": "unittest",
    "green": "", "trial": "trial", "stestr": "stestr", "tox": "", "nox": "",
    "jest": "jest", "vitest": "vitest", "mocha": "mocha", "_mocha": "mocha", "ava": "ava",
    "tap": "tap", "karma": "karma", "rspec": "rspec", "phpunit": "phpunit", "pest": "pest",
    "bats": "bats", "ctest": "ctest", "shellspec": "rspec", "prove": "prove",
    "gotestsum": "gotestsum", "ginkgo": "ginkgo", "behave": "behave", "robot": "robot",
    "busted": "busted", "cucumber-js": "cucumber", "cargo-nextest": "nextest",
    "paratest": "phpunit", "ts-mocha": "mocha", "electron-mocha": "mocha", "pabot": "", "ward": "",
    "zope-testrunner": "", "pytest-watch": "", "ptw": "", "jasmine": "", "web-test-runner": "",
    "wtr": "", "testcafe": "", "codeceptjs": "", "elm-test": "", "codecept": "", "behat": "",
    "phpspec": "", "xctest": "", "kaocha": "", "cucumber": "cucumber", "newman": "", "avocado": "",
    "lit": "", "llvm-lit": "", "runtests": "", "shunit2": "", "cram": "", "gotest": "go test",
    "run-s": "", "run-p": "", "npm-run-all": "",
}  # fmt: skip
"""Programs that are a test runner, and their report form. Empty: no report is required, since they
start others or print no known form.
"""
CERTAIN = frozenset(
    (
        "pytest", "py.test", "nosetests", "nose2", "stestr", "jest", "vitest", "mocha", "rspec",
        "phpunit", "ctest", "gotestsum", "ginkgo", "cucumber-js", "cargo-nextest", "shellspec",
    )
)  # fmt: skip
"""Those of them whose name has no other meaning: any program that gets it as a word runs them."""
WITH = {
    "go": {"test": "go test"},
    "richgo": {"test": "go test"},
    "cargo": {
        "test": "cargo test", "t": "cargo test", "nextest": "nextest", "tarpaulin": "",
        "llvm-cov": "", "miri": "", "hack": "", "careful": "", "insta": "",
    },
    "cross": {"test": "cargo test"},
    "dotnet": {"test": "dotnet test", "vstest": "dotnet test"},
    "mix": {"test": "mix test", "coveralls": "mix test"},
    "swift": {"test": "swift test"},
    "deno": {"test": "deno test"},
    "bun": {"test": "bun test"},
    "dart": {"test": "dart test"},
    "flutter": {"test": "dart test"},
    "lein": {"test": "lein test"},
    "playwright": {"test": "playwright"},
    "cypress": {"run": "cypress"},
    "rails": {"test": "minitest", "test:all": "minitest", "spec": ""},
    "npm": {"test": "", "t": "", "tst": "", "it": "", "cit": "", "install-test": ""},
    "pnpm": {"test": "", "t": ""},
    "yarn": {"test": ""}, "composer": {"test": ""}, "hatch": {"test": ""}, "rye": {"test": ""},
    "artisan": {"test": ""}, "sail": {"test": ""}, "setup.py": {"test": ""},
    "make": {}, "gmake": {}, "bmake": {}, "remake": {}, "just": {}, "task": {}, "go-task": {},
    "invoke": {}, "inv": {}, "mage": {}, "ninja": {}, "scons": {}, "ant": {}, "rake": {},
    "cmake": {}, "xcodebuild": {"test": ""},
    "mvn": {
        "test": "", "verify": "", "install": "", "package": "", "deploy": "",
        "integration-test": "", "surefire:test": "", "failsafe:verify": "",
    },
    "gradle": {"test": "", "check": "", "build": ""},
    "sbt": {"test": "", "testOnly": "", "testQuick": "", "+test": ""},
    "django-admin": {"test": "unittest"},
    "ng": {"test": "", "e2e": ""},
    "bazel": {"test": "", "coverage": ""},
    "bazelisk": {"test": "", "coverage": ""},
    "dune": {"test": "", "runtest": ""},
    "cabal": {"test": "", "v2-test": ""},
    "zig": {"test": ""},
    "crystal": {"spec": ""},
    "rebar3": {"eunit": "", "ct": ""},
}  # fmt: skip
"""Programs that run tests with one of these words, and their report form; any program in none of
these tables does so with the word ``test``.
"""
SAME = {
    "mvnw": "mvn", "mvnd": "mvn", "gradlew": "gradle", "inv": "invoke", "go-task": "task",
}  # fmt: skip
"""Other names of programs in :data:`WITH`."""
BUILDERS = frozenset(
    (
        "make", "gmake", "bmake", "remake", "just", "task", "go-task", "invoke", "inv", "mage",
        "ninja", "scons", "ant", "rake", "mvn", "gradle", "sbt", "cmake",
    )
)  # fmt: skip
"""Programs that take several targets, in any order; any name of a test may be one."""
SCRIPTS = frozenset(("npm", "pnpm", "yarn", "bun", "deno", "composer", "lerna", "nx", "turbo"))
"""Programs that run a project's scripts by name, at least after one of ``RUN_WORDS``."""
RUN_WORDS = frozenset(("run", "run-script", "task", "run-many"))
TEST_WORDS = frozenset(
    ("test", "tests", "unittest", "unittests", "pytest", "spec", "specs", "jest", "vitest", "e2e")
)
"""Words in the name of a target or script that runs tests."""
PREPARES = frozenset(
    (
        "data", "db", "deps", "dependencies", "env", "fixture", "fixtures", "image", "images",
        "setup", "build", "clean", "install", "requirements", "up", "down", "server", "compile",
        "lint", "format", "fmt", "types", "docker",
    )
)  # fmt: skip
"""Other words in such a name, if the target or script prepares something for tests or changes them.
"""
MAKES_READY = frozenset(("gen", "generate", "prepare", "create", "seed", "fetch", "download"))
"""First words of such a name that do so, too: ``gen-tests.sh``, but not ``test:download``."""
MODULES = {
    "pytest": "pytest", "unittest": "unittest", "nose2": "unittest", "nose": "unittest", "tox": "",
    "nox": "", "stestr": "stestr", "behave": "behave", "robot": "robot", "green": "", "ward": "",
    "doctest": "", "trial": "trial", "twisted.trial": "trial", "testtools": "", "zope": "",
}  # fmt: skip
"""Modules of Python that run tests, by their first name or the full one."""
LAUNCHERS = {
    "npx": (), "pnpx": (), "bunx": (), "uvx": (), "pipx": ("run",), "poetry": ("run",),
    "pipenv": ("run",), "uv": ("run",), "hatch": ("run",), "rye": ("run",), "pdm": ("run",),
    "pixi": ("run",), "bundle": ("exec",), "yarn": ("run", "exec", "dlx"),
    "pnpm": ("run", "exec", "dlx"), "npm": ("run", "exec", "x"), "bun": ("run", "x"),
    "mise": ("exec", "x", "run"), "asdf": ("exec",), "pyenv": ("exec",), "rbenv": ("exec",),
    "opam": ("exec",), "rustup": ("run",), "devbox": ("run",), "composer": ("exec", "run"),
    "go": ("run", "tool"), "deno": ("run", "task"),
}  # fmt: skip
"""Programs that run the first program in their words, and the word required before it."""
CARRIERS = {
    "docker": ("run", "exec"), "podman": ("run", "exec"), "docker-compose": ("run", "exec"),
    "nerdctl": ("run", "exec"), "podman-compose": ("run", "exec"),
    "kubectl": ("exec", "run"), "oc": ("exec", "run"), "ssh": (), "xargs": (), "parallel": (),
    "flock": (), "coverage": ("run",), "slipcover": (), "direnv": ("exec",), "conda": ("run",),
    "mamba": ("run",), "micromamba": ("run",), "cross-env": (), "dotenv": (), "nyc": (), "c8": (),
    "doppler": ("run",), "op": ("run",), "dbus-run-session": (), "dbus-launch": (), "strace": (),
    "ltrace": (), "perf": ("stat", "record"), "valgrind": (), "gdb": ("--args",),
    "faketime": (), "retry": (), "tmux": (), "screen": (), "ionice": (), "taskset": (), "chrt": (),
    "numactl": (), "setarch": (), "prlimit": (), "unshare": (), "nsenter": (), "chroot": (),
    "fakeroot": (), "proot": (), "firejail": (), "bwrap": (), "systemd-run": (), "doas": (),
    "gosu": (), "su-exec": (), "runuser": (), "catchsegv": (), "caffeinate": (), "gtimeout": (),
    "watch": (), "entr": (), "find": ("-exec", "-execdir", "-ok", "-okdir"), "tini": (),
    "dumb-init": (), "nix": ("-c", "--command"), "toolbox": ("run",), "distrobox": ("enter",),
    "lxc": ("exec",), "wsl": (), "limactl": ("shell",), "sudo": (), "time": (), "env": (),
    "nice": (), "timeout": (), "stdbuf": (), "py-spy": ("record",), "viztracer": (),
    "ddtrace-run": (), "opentelemetry-instrument": (), "aws-vault": ("exec",),
    "chamber": ("exec",), "infisical": ("run",), "sail": (), "concurrently": (),
}  # fmt: skip
"""Programs that run the command at the end of their words and exit with its status, and the word
required before it, if any.
"""
INTERPRETERS = ("node", "nodejs", "tsx", "ts-node", "php", "ruby", "perl", "jruby")
"""Programs that run the script that is their first operand."""
CODE_OPTIONS = {
    **dict.fromkeys(
        ("node", "nodejs", "tsx", "ts-node", "bun"), r"(?:-pe?|-e|--eval|--print)(?:=(.*))?"
    ),
    **dict.fromkeys(("ruby", "jruby"), r"-[acnlpsSvwW\d]*e(.*)"), "deno": "eval()",
    "perl": r"-[acfnlpsStTuUwWX\d]*[eE](.*)", "php": "-r(.*)", "lua": "-e(.*)", "Rscript": "-e()",
    "julia": "(?:-[eE]|--eval|--print)(?:=(.*))?", "elixir": "(?:-e|--eval)()",
    **dict.fromkeys(("awk", "gawk", "mawk"), ""),
}  # fmt: skip
"""Interpreters, with the pattern of the option before their code, which may hold the code itself
(Python's: ``runner_words.python_option``). Empty: the code is the first operand.
"""
_SHOWS = """
[ [[ (( ag ack awk basename black brew cat cd chmod chown cmp code codespell comm command cp curl
cut date diff dirname du echo egrep eslint eval exit export false fgrep file find flake8 gawk gem
git gofmt grep hadolint hash head help install isort jq kill killall ld ldd let ln local ls lsof
man mkdir mv mypy nano open pgrep pip pip3 pkill popd prettier printf ps pushd pylint pyright
read readlink realpath return rg rm rsync ruff scp sed service set shellcheck shift sleep sort
source . stat systemctl tail tar tee test touch tr trap tree true tsc type umask unalias unset unzip
vi vim wait wc wget whereis which whoami yamllint yq zgrep zip : apk apt apt-get cpan cpanm
dnf luarocks nvm pacman snap yum zypper ansible aws az gcloud gh glab helm hg svn
createdb dropdb mongosh mysql mysqladmin ping psql sqlite3 vagrant conftest
"""
NAMES_ONLY = frozenset(_SHOWS.split())
"""Programs for which the name of a runner is a text, a file or a package."""
KEYWORDS = frozenset(("then", "do", "else", "if", "elif", "while", "until", "{", "!"))
"""Words of the shell that its grammar may take for a program (after ``! if``)."""
VALUED = frozenset(
    (
        "--prefix", "-C", "-w", "--workspace", "--manifest-path", "--config", "--cwd", "--filter",
        "-F", "--dir", "--directory", "--project", "-p", "--package", "--color", "-Z", "-f",
        "--file", "--with", "--from", "--spec", "--python", "--extra", "--group", "--env-file",
        "--with-requirements", "--with-editable", "--only-group", "-e", "--env", "--toolchain",
        "--loglevel", "--userconfig", "--makefile",
    )
)  # fmt: skip
"""Options of these programs whose value is the next word."""
INSTALLS = frozenset(("install", "uninstall", "add", "download"))
"""Words behind which the name of a runner is a package's (``$PIP install pytest``)."""
NAMING = frozenset(("--name", "-n", "-t", "--tag", "-e", "--env", "-w", "-l", "--network", "-p"))
"""Options of carriers whose value is a word, not a command."""
