"""The files that test runners read in addition to those that a command names, as data.

Sources: each program's own pages on configuration and test discovery, as read in November 2026
(docs.pytest.org "Configuration" and "Good Integration Practices", docs.python.org "site" and
"unittest", jestjs.io "Configuring Jest", vitest.dev/config, mochajs.org, npm "package.json",
yarnpkg.com "yarnrc", turbo.build, nx.dev, pkg.go.dev/cmd/go "Test packages",
doc.rust-lang.org/cargo "Package Layout", rspec.info, docs.phpunit.de "XML Configuration",
maven.apache.org "Standard Directory Layout", docs.gradle.org "Testing", learn.microsoft.com "dotnet
test", cmake.org "ctest", hexdocs.pm/mix, swift.org/package-manager, bats-core.readthedocs.io,
gnu.org "Makefile Names", bazel.build "Write bazelrc configuration files", pantsbuild.org, perldoc
prove, R "Startup", dart.dev "dart_test.yaml", cabal.readthedocs.io, dune.readthedocs.io,
rebar3.org, docs.robotframework.org, developer.hashicorp.com "terraform test",
conftest.dev, ansible.readthedocs.io "Molecule", docs.getdbt.com, nektosact.com, taskfile.dev,
docs.docker.com "Compose file", direnv.net, mise.jdx.dev, just.systems "dotenv",
packaging.python.org "Entry points"; of linters and type checkers each one's page on its
configuration file).
"""

from __future__ import annotations

from flow.startup.typing import NamedTuple


class Ecosystem(NamedTuple):
    """The programs of one language's tools, and the names of their settings and tests."""

    programs: tuple[str, ...]
    settings: tuple[str, ...]
    """Names of files, searched in each folder up to the top level; with ``**/`` also in those
    below the folder where the program runs, which obeys them for a part of the tree.
    """
    tests: tuple[str, ...]
    """Names of test files, of folders (with ``/``) and of parts of a build, at any depth, for
    commands that name none.
    """


ECOSYSTEMS: dict[str, Ecosystem] = {
    "python": Ecosystem(
        (
            "pytest", "py.test", "python", "python3", "pypy", "pypy3", "tox", "nox", "nose2",
            "nosetests", "stestr", "coverage", "hatch", "poetry", "pdm", "uv", "uvx", "rye",
            "pipenv", "pipx", "trial", "ward", "behave", "robot", "pabot", "green", "doit",
            "zope-testrunner", "pytest-watch", "ptw", "django-admin", "setup.py", "avocado", "lit",
            "llvm-lit",
        ),
        (
            "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini",
            "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py", ".coveragerc",
            "sitecustomize.py", "usercustomize.py", "*.pth", "unittest.cfg", "nose2.cfg",
            ".stestr.conf", "behave.ini", ".env", "*.egg-info/entry_points.txt",
            "src/*.egg-info/entry_points.txt", "*.dist-info/entry_points.txt", "uv.toml",
            "hatch.toml", "pdm.toml", "poetry.toml", "robot.toml", "dodo.py", "lit.cfg*",
        ),
        (
            "test_*.py", "*_test.py", "tests.py", "conftest.py", "tests/", "test/", "*.robot",
            "*.feature", "features/",
        ),
    ),
    "javascript": Ecosystem(
        (
            "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node", "deno", "jest", "vitest",
            "mocha", "ava", "tap", "karma", "playwright", "cypress", "jasmine", "tsx", "ts-node",
            "ng", "nx", "turbo", "lerna", "wtr", "web-test-runner", "testcafe", "codeceptjs",
            "wdio", "nyc", "c8", "ts-mocha", "cucumber-js", "_mocha", "electron-mocha", "run-s",
            "run-p", "npm-run-all", "react-scripts", "vue-cli-service", "craco", "lint-staged",
            "gulp", "grunt", "knip",
        ),
        (
            "package.json", "jest.config.*", "jest.setup.*", "vitest.config.*", "vite.config.*",
            ".mocharc*", "ava.config.*", ".taprc", "karma.conf.*", "playwright.config.*",
            "cypress.config.*", "babel.config.*", ".babelrc*", ".npmrc", "deno.json*",
            "bunfig.toml", "jasmine.json", ".yarnrc*", "turbo.json", "nx.json", "lerna.json",
            "pnpm-workspace.yaml", ".env*", "tsconfig*.json", ".swcrc", "vitest.workspace.*",
            "import_map.json", "web-test-runner.config.*", "wdio.conf.*", "codecept.conf.*",
            ".testcaferc*", ".nycrc*", ".c8rc*", "angular.json", "project.json", "cucumber.*",
            ".lintstagedrc*", "lint-staged.config.*", "[Gg]ulpfile*", "[Gg]runtfile*", "knip.*",
            ".knip.*",
        ),
        (
            "*.test.*", "*.spec.*", "__tests__/", "__mocks__/", "tests/", "test/", "e2e/",
            "cypress/", "__snapshots__/", "*.snap", "package.json", "jest.config.*",
            "vitest.config.*", ".mocharc*",
        ),
    ),
    "go": Ecosystem(
        ("go", "gotestsum", "ginkgo", "gotest", "richgo", "mage"),
        ("go.mod", "go.work", "magefile.go", "magefiles/"),
        ("*_test.go", "testdata/"),
    ),
    "rust": Ecosystem(
        ("cargo", "cargo-nextest", "cross"),
        (
            "Cargo.toml", "Cross.toml", "build.rs", ".cargo/", "rust-toolchain*",
            ".config/nextest.toml",
        ),
        ("tests/", "snapshots/", "Cargo.toml", "build.rs"),
    ),
    "ruby": Ecosystem(
        ("ruby", "rspec", "rake", "bundle", "rails", "minitest", "cucumber"),
        (
            ".rspec", ".rspec-local", ".bundle/", "[Rr]akefile*", "Gemfile", "spec_helper.rb",
            "rails_helper.rb", "test_helper.rb", "cucumber.y*ml", "config/cucumber.y*ml",
            "config/environments/", "lib/tasks/", "rakelib/",
        ),
        ("*_spec.rb", "*_test.rb", "test_*.rb", "spec/", "test/", "features/"),
    ),
    "php": Ecosystem(
        (
            "php", "phpunit", "pest", "composer", "paratest", "behat", "codecept", "phpspec",
            "artisan", "sail",
        ),
        (
            "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json", "Pest.php",
            "behat.*", "codeception.*", "phpspec.*", ".env.testing",
        ),
        ("*Test.php", "*Spec.php", "tests/", "spec/", "features/"),
    ),
    "jvm": Ecosystem(
        (
            "mvn", "mvnw", "mvnd", "gradle", "gradlew", "sbt", "ant", "lein", "clojure", "clj",
            "kaocha",
        ),
        (
            "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
            "settings.gradle.kts", "gradle.properties", "gradle/", "buildSrc/", ".mvn/",
            "*.sbt", "project/", "build.xml", "project.clj", "deps.edn", "tests.edn", "testng.xml",
        ),
        (
            "*Test.java", "*Tests.java", "*IT.java", "*Test.kt", "*Spec.kt", "*Spec.groovy",
            "*Spec.scala", "*Test.scala", "*Suite.scala", "*_test.clj", "test/", "pom.xml",
            "build.gradle", "build.gradle.kts",
        ),
    ),
    "dotnet": Ecosystem(
        ("dotnet",),
        (
            "global.json", "*.csproj", "*.fsproj", "*.vbproj", "*.runsettings", "Directory.*.props",
            "Directory.*.targets", "*.sln", "*.slnx", "*.slnf", "[Nn]u[Gg]et.[Cc]onfig",
            "xunit.runner.json", "testconfig.json", ".config/dotnet-tools.json",
        ),
        (
            "*Test.cs", "*Tests.cs", "*Test.fs", "*Tests.fs", "*.Tests/", "*.csproj", "*.fsproj",
            "*.vbproj", "Directory.*.props", "Directory.*.targets",
        ),
    ),
    "c": Ecosystem(
        ("ctest", "cmake", "meson", "ninja", "scons"),
        (
            "CMakeLists.txt", "CTestTestfile.cmake", "CTestCustom.cmake", "CTestConfig.cmake",
            "CMakePresets.json", "CMakeUserPresets.json", "cmake/", "meson.build", "meson.options",
            "meson_options.txt", "SConstruct", "SConscript",
        ),
        ("tests/", "test/", "CMakeLists.txt", "meson.build", "SConscript"),
    ),
    "make": Ecosystem(
        (
            "make", "gmake", "bmake", "remake", "just", "task", "go-task", "invoke", "inv",
            "earthly", "lefthook",
        ),
        (
            "Makefile", "makefile", "GNUmakefile", "*.mk", "[Jj]ustfile", ".justfile", "*.just",
            "[Tt]askfile.*", ".taskrc*", "tasks.py", "Earthfile", ".env", "lefthook*", ".lefthook*",
        ),
        ("Makefile", "makefile", "GNUmakefile", "*.mk", "*.just", "[Tt]askfile.*"),
    ),
    "bazel": Ecosystem(
        ("bazel", "bazelisk", "buck2", "pants"),
        (
            ".bazelrc", "user.bazelrc", ".bazelversion", ".bazelignore", "tools/bazel",
            "MODULE.bazel", "WORKSPACE*", "BUILD", "BUILD.bazel", ".buckconfig", "BUCK",
            "pants.toml", ".pants.rc",
        ),
        ("BUILD", "BUILD.bazel", "*.bzl", "BUCK"),
    ),
    "elixir": Ecosystem(
        ("mix",), ("mix.exs", ".formatter.exs", ".credo.exs", "config/", "coveralls.json"),
        ("*_test.exs", "test/"),
    ),
    "erlang": Ecosystem(
        ("rebar3",), ("rebar.config*",), ("*_SUITE.erl", "*_tests.erl", "test/")
    ),
    "dart": Ecosystem(
        ("dart", "flutter"), ("pubspec.yaml", "dart_test.yaml", "analysis_options.yaml"),
        ("*_test.dart", "test/", "integration_test/"),
    ),
    "haskell": Ecosystem(
        ("cabal", "stack"), ("*.cabal", "cabal.project*", "stack.yaml", "package.yaml"),
        ("*Spec.hs", "test/", "tests/"),
    ),
    "ocaml": Ecosystem(("dune",), ("dune-project", "dune-workspace", "dune"), ("test/", "dune")),
    "perl": Ecosystem(
        ("prove", "perl"), (".proverc", "Makefile.PL", "Build.PL", "cpanfile"),
        ("*.t", "t/", "xt/"),
    ),
    "lua": Ecosystem(("busted",), (".busted",), ("*_spec.lua", "spec/")),
    "crystal": Ecosystem(("crystal",), ("shard.yml",), ("*_spec.cr", "spec/")),
    "zig": Ecosystem(("zig",), ("build.zig", "build.zig.zon"), ()),
    "r": Ecosystem(
        ("Rscript", "R"), (".Rprofile", ".Renviron", "DESCRIPTION"), ("test-*.R", "tests/")
    ),
    "julia": Ecosystem(("julia",), ("Project.toml",), ("runtests.jl", "test/")),
    "swift": Ecosystem(
        ("swift", "xcodebuild"), ("Package.swift", "*.xctestplan", "*.xcconfig"),
        ("*Tests.swift", "Tests/", "*.xctestplan", "*.xcscheme"),
    ),
    "elm": Ecosystem(("elm-test",), ("elm.json",), ("tests/",)),
    "solidity": Ecosystem(
        ("forge", "hardhat", "truffle"),
        ("foundry.toml", "remappings.txt", "hardhat.config.*", "truffle-config.js"),
        ("*.t.sol", "test/"),
    ),
    "nim": Ecosystem(("nimble", "nim"), ("*.nimble", "*.nims", "nim.cfg"), ("tests/",)),
    "gleam": Ecosystem(("gleam",), ("gleam.toml",), ("test/",)),
    "infrastructure": Ecosystem(
        (
            "terraform", "tofu", "terragrunt", "opa", "conftest", "molecule", "kitchen", "inspec",
            "goss", "dgoss", "dbt", "act",
        ),
        (
            "terragrunt.hcl", "conftest.toml", "policy/", "molecule/", ".config/molecule/",
            "kitchen.y*ml", ".kitchen.y*ml", "goss.y*ml", "inspec.yml", "controls/",
            "dbt_project.yml", "profiles.yml", ".github/workflows/", ".actrc",
        ),
        ("*.tftest.hcl", "*.tftest.json", "*_test.rego", "controls/", "tests/", "test/"),
    ),
    "shell": Ecosystem(
        ("bats", "shellspec", "shunit2", "cram", "bash", "sh", "dash", "zsh", "ksh"),
        (".shellspec", ".shellspec-local", ".cramrc"),
        ("*.bats", "*_spec.sh", "*_test.sh", "test_*.sh", "tests/", "test/", "spec/"),
    ),
    "containers": Ecosystem(
        ("docker", "docker-compose", "podman", "podman-compose", "nerdctl"),
        (
            "Dockerfile*", "Containerfile*", "compose*.y*ml", "docker-compose*.y*ml",
            ".dockerignore", ".env",
        ), (),
    ),
    "environments": Ecosystem(
        (
            "direnv", "dotenv", "mise", "asdf", "pyenv", "rbenv", "nix", "nix-shell", "devbox",
            "pixi",
        ),
        (
            ".env*", "mise.toml", ".mise.toml", ".tool-versions", ".python-version",
            ".ruby-version", "flake.nix", "flake.lock", "shell.nix", "default.nix", "devbox.json",
            "pixi.toml",
        ), (),
    ),
    "mypy": Ecosystem(
        ("mypy", "dmypy"), ("mypy.ini", ".mypy.ini", "setup.cfg", "pyproject.toml"), ()
    ),
    "pyright": Ecosystem(
        ("pyright", "basedpyright", "ty", "pyrefly"),
        ("pyrightconfig.json", "ty.toml", "pyrefly.toml", "pyproject.toml"), (),
    ),
    "python linters": Ecosystem(
        (
            "ruff", "flake8", "pylint", "black", "isort", "bandit", "pydocstyle", "lint-imports",
            "pycodestyle", "pyflakes", "vulture", "yapf", "autopep8", "docformatter", "interrogate",
            "deptry", "import-linter", "semgrep",
        ),
        (
            "ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "pylintrc", "pylintrc.toml",
            ".pylintrc.toml", ".isort.cfg", ".bandit", ".pydocstyle*", ".importlinter", "tox.ini",
            ".style.yapf", ".yapfignore", ".semgrep*",
            "setup.cfg", "pyproject.toml", "**/ruff.toml", "**/.ruff.toml", "**/pyproject.toml",
            "**/.gitignore",
        ), (),
    ),
    "javascript linters": Ecosystem(
        (
            "eslint", "prettier", "tsc", "vue-tsc", "biome", "stylelint", "oxlint", "xo",
            "standard", "jshint",
        ),
        (
            ".eslintrc*", "eslint.config.*", ".eslintignore", ".prettierrc*", "prettier.config.*",
            ".prettierignore", ".jshint*", "tsconfig*.json", "biome.json*", ".stylelintrc*",
            "stylelint.config.*", ".stylelintignore", ".oxlintrc.json", ".editorconfig",
            "package.json", "**/.eslintrc*", "**/.prettierrc*", "**/.editorconfig",
            "**/biome.json*", "**/.stylelintrc*", "**/.oxlintrc.json", "**/.gitignore",
        ), (),
    ),
    "go linters": Ecosystem(
        ("golangci-lint", "staticcheck", "revive", "gofmt", "gofumpt", "goimports"),
        (".golangci.*", "staticcheck.conf", "revive.toml", "go.mod"), (),
    ),
    "rust linters": Ecosystem(
        ("cargo", "rustfmt", "clippy-driver"),
        ("clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "deny.toml"), (),
    ),
    "ruby linters": Ecosystem(
        ("rubocop", "standardrb", "srb"),
        (".rubocop*", ".standard.yml", "sorbet/config", "**/.rubocop*"), (),
    ),
    "php linters": Ecosystem(
        ("phpstan", "psalm", "phpcs", "php-cs-fixer"),
        ("phpstan*.neon*", "psalm.xml*", "phpcs.xml*", ".phpcs.xml*", ".php-cs-fixer*"), (),
    ),
    "c linters": Ecosystem(
        ("clang-tidy", "clang-format", "cppcheck"),
        (".clang-tidy", ".clang-format", "**/.clang-tidy", "**/.clang-format"), (),
    ),
    "text linters": Ecosystem(
        (
            "shellcheck", "hadolint", "markdownlint", "markdownlint-cli2", "yamllint", "codespell",
            "actionlint", "vale", "tflint", "sqlfluff", "buf", "typos", "pre-commit",
            "ansible-lint", "cspell", "dprint", "gitleaks", "trivy", "checkov", "swiftlint",
            "ktlint", "djlint", "lychee", "kubeconform",
        ),
        (
            ".shellcheckrc", ".hadolint.y*ml", ".markdownlint*", ".yamllint*", ".codespellrc",
            ".github/actionlint.y*ml", ".vale.ini", ".tflint.hcl", ".sqlfluff*", "buf.yaml",
            "typos.toml", "_typos.toml", ".typos.toml", ".pre-commit-config.yaml", "setup.cfg",
            "pyproject.toml", ".ansible-lint*", ".config/ansible-lint.y*ml", ".cspell.*",
            "cspell.*", "dprint.json*", ".gitleaks.toml", ".gitleaksignore", "trivy.yaml",
            ".trivyignore*", "lychee.toml", ".lychee*", ".checkov.y*ml", ".swiftlint.yml",
            ".editorconfig", ".djlintrc",
            "**/.shellcheckrc", "**/.markdownlint*", "**/.editorconfig",
        ), (),
    ),
}  # fmt: skip

HOME_SETTINGS: dict[str, tuple[str, ...]] = {
    "go": ("~/.config/go/env", "~/Library/Application Support/go/env"),
    "rust": ("~/.cargo/config.toml", "~/.cargo/config"),
    "javascript": ("~/.npmrc", "~/.yarnrc.yml"),
    "jvm": (
        "~/.mavenrc", "~/.m2/settings.xml", "~/.gradle/init.gradle", "~/.gradle/init.gradle.kts",
        "~/.gradle/gradle.properties",
    ),
    "ruby": ("~/.rspec", "~/.config/rspec/options", "~/.rake"),
    "perl": ("~/.proverc",),
    "r": ("~/.Rprofile", "~/.Renviron"),
    "bazel": ("~/.bazelrc",),
    "python": tuple(
        f"~/.local/lib/python3.{minor}/site-packages/usercustomize.py" for minor in range(9, 16)
    ),
}  # fmt: skip
"""Settings in the user's home folder that change what every check means: ``go env -w
GOFLAGS=-run=x``, a ``runner`` of cargo, npm's ``script-shell``. The keys are those of
:data:`ECOSYSTEMS`.
"""

PROJECT_RUNNERS = frozenset(
    (
        "make", "gmake", "just", "task", "invoke", "npm", "pnpm", "yarn", "bun", "tox", "nox",
        "hatch", "poetry", "pdm", "rye", "composer", "rake", "ninja", "meson", "cmake", "bazel",
    )
)  # fmt: skip
"""Programs that run commands from the project's own files: their words do not name the tests."""

EXAMINERS = frozenset(
    (
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "test", "[", "[[", "((", "ls",
        "stat", "file", "wc", "cat", "head", "tail", "find", "mypy", "pyright", "ruff", "flake8",
        "black", "isort", "pylint", "bandit", "eslint", "prettier", "tsc", "gofmt", "shellcheck",
        "hadolint", "markdownlint", "yamllint", "codespell", "rustfmt", "clang-format", "echo",
        "printf", "rm", "mkdir", "touch", "cd", "pushd", "popd", "export", "git",
    )
)  # fmt: skip
"""Programs that examine their operands, which are the work itself; only a test among them counts.
"""

RULE_OPTIONS = frozenset(
    (
        "--config", "--config-file", "--config-path", "--rcfile", "--file", "--ignore-path",
        "--ignore-file", "--exclude-from", "--project", "--settings-path", "--settings",
    )
)  # fmt: skip
"""Options of examiners whose value is a file of rules, not of the work."""

TEST_FOLDERS = frozenset(
    (
        "tests", "test", "spec", "specs", "__tests__", "__mocks__", "e2e", "testing", "Tests",
        "testdata", "fixtures", "ci", "checks", "t", "xt", "features", "cypress", "__snapshots__",
    )
)  # fmt: skip
"""Names of folders that count with all their content if a command names them."""

TOOL_FOLDERS = (".venv/bin", "venv/bin", "env/bin", ".tox", "node_modules/.bin", "vendor/bin")
"""Folders with a project's own copies of programs; git ignores most of them."""

RUNNER_MODULES = (
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "unittest",
    "coverage",
    "sitecustomize",
    "usercustomize",
)
"""Modules of Python's runners and those that they import (pytest 9), and those that Python imports
at its start: a file of this name in a folder that is searched earlier replaces the module.
"""

SITE = ("*.pth", "sitecustomize.py", "usercustomize.py")
"""Files that Python runs at its start, in the ``site-packages`` of an environment."""

HARMLESS_KEYS: dict[str, frozenset[str]] = {
    "pyproject.toml": frozenset(
        f"project.{key}"
        for key in (
            "version", "description", "readme", "authors", "maintainers", "keywords", "urls",
            "classifiers", "license", "license-files",
        )
    ),
    "package.json": frozenset(
        (
            "version", "description", "author", "contributors", "keywords", "homepage", "bugs",
            "license", "repository", "funding",
        )
    ),
}  # fmt: skip
"""Keys of a settings file that no test run reads."""
