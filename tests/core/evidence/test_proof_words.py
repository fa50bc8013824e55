"""Which files the words of a command name."""

from __future__ import annotations

import random

import pytest

from flow.adapters.attribution.proof_files import _simple_commands
from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution import idle_checkers
from flow.core.attribution.attribute import read_command
from flow.core.boundary.globs import literal_name, literal_pattern
from flow.core.evidence.proof import CUT, Patterns
from flow.core.evidence.proof_tables import ECOSYSTEMS
from flow.core.evidence.proof_words import MOST_PATTERNS, OUTSIDE, PACKAGES, watched
from flow.core.masked_exit import runner_tables

TREE = {
    "Makefile", "run.sh", "ci/test.sh", "tests/test_x.py", "tests/sub/test_y.py", "src/app.py",
    "pkg/mod.py", "pkg/__main__.py", "pkg/sub/__main__.py", "web/package.json", "web/src/a.test.ts",
    ".venv/bin/pytest", ".venv/pyvenv.cfg", "node_modules/.bin/jest", "we[i]rd*.py", "tools/gen.py",
}  # fmt: skip


class Tree:
    """A checkout in memory."""

    def kind(self, path: str) -> str:
        if path in TREE:
            return "file"
        return "folder" if any(name.startswith(f"{path}/") for name in TREE) else ""

    def program(self, name: str) -> str | None:
        return ".venv/bin/pytest" if name == "py.test" else None

    def script(self, folder: str, name: str) -> str | None:
        scripts = {("web", "test"): "jest src", ("web", "ci"): "node gates/all.js"}
        return scripts.get((folder, name))

    def recipes(self, folder: str, words: tuple[str, ...]) -> list[tuple[str, str]]:
        return []

    def shell_script(self, path: str) -> str | None:
        return {"run.sh": "cd web && sh ../tools/deep.sh\n"}.get(path)

    def module_path(self) -> str:
        return "/top/lib:/elsewhere"

    def own_modules(self) -> tuple[str, ...]:
        return ("argparse", "json")

    def inside(self, path: str) -> str | None:
        return path.removeprefix("/top/") if path.startswith("/top/") else None

    def is_file_outside(self, folder: str, path: str) -> bool:
        return path in ("/tmp/check.sh", "~/check.sh", "../check.sh")

    def real(self, path: str) -> str | None:
        return "node_modules/jest/jest.js" if path == "node_modules/.bin/jest" else None


def covers(command: str, path: str, cwd: str = "") -> bool:
    found = watched([(command, cwd)], _simple_commands, Tree())  # type: ignore[arg-type]
    return Patterns(found.patterns).first(path.encode()) is not None


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("pytest tests/test_x.py::test_a", "tests/test_x.py"),
        ("pytest tests/test_x.py::test_a -q", "conftest.py"),
        ("pytest tests/test_x.py", "tests/conftest.py"),
        ("pytest tests/test_x.py", "pyproject.toml"),
        ("pytest tests", "tests/data/golden.json"),
        ("pytest", "deep/down/test_z.py"),
        ("pytest -c ci/pytest.ini", "ci/pytest.ini"),
        ("pytest --rootdir=tests", "tests/test_new.py"),
        ("py.test tests", ".venv/bin/pytest"),
        ("uv run pytest tests/test_x.py", ".venv/bin/pytest"),
        (".venv/bin/pytest tests/test_x.py", ".venv/lib/python3.12/site-packages/x.pth"),
        ("python3 -m pkg.mod", "pkg/mod.py"),
        ("python3 -m pkg.sub", "pkg/sub/__main__.py"),
        ("python3 -m unittest tests.test_x", "tests/test_x.py"),
        ("python3 -m unittest tests.test_gone", "tests/test_gone.py"),
        ("python3 tools/gen.py", "tools/gen.py"),
        ("env X=1 timeout 5 python3 tools/gen.py", "tests/test_x.py"),
        ("make test", "Makefile"),
        ("make test", "tests/test_x.py"),
        ("make -f ci/other.mk", "ci/other.mk"),
        ("make test", "mk/included.mk"),
        ("make -C web test", "web/sub/Makefile"),
        ("cd web && npm test", "web/package.json"),
        ("cd web && npm test", "web/src/a.test.ts"),
        ("cd web && npm run ci", "web/gates/all.js"),
        ("npm run ci --prefix web", "web/gates/all.js"),
        ("npm --prefix web run ci", "web/gates/all.js"),
        ("npm --prefix=web run ci", "web/gates/all.js"),
        ("npm -C web run ci", "web/gates/all.js"),
        ("pnpm -C web run ci", "web/gates/all.js"),
        ("pnpm --dir web ci", "web/gates/all.js"),
        ("yarn --cwd web ci", "web/gates/all.js"),
        ("npm --prefix web test", "web/node_modules/.bin/jest"),
        ("npm test -- --prefix web", "src/a.test.ts"),
        ("npx jest", "node_modules/jest/jest.js"),
        ("npx jest", "jest.config.js"),
        ("./run.sh", "run.sh"),
        ("./run.sh", "tests/test_x.py"),
        ("sh tests/all.sh", "tests/other.sh"),
        ("python3 tests/run.py", "tests/test_y.py"),
        ("bash ci/test.sh", "ci/test.sh"),
        ("sh -c 'sh -c \"sh ci/test.sh\"'", "ci/test.sh"),
        (". ci/test.sh", "ci/test.sh"),
        ("source ./run.sh", "run.sh"),
        ("eval 'sh ci/test.sh'", "ci/test.sh"),
        ("for t in ci/*.sh; do sh $t; done", "ci/test.sh"),
        ("for t in tools/*.py; do python3 $t; done", "tools/gen.py"),
        ("$RUNNER", "tests/test_x.py"),
        ("if ! sh run.sh; then exit 1; fi", "run.sh"),
        ("sh run.sh | tee log", "run.sh"),
        ("x=$(sh run.sh)", "run.sh"),
        ("diff expected.txt actual.txt", "expected.txt"),
        ("python3 'we[i]rd*.py'", "we[i]rd*.py"),
        ("go test ./...", "a/b_test.go"),
        ("cargo test", "tests/it.rs"),
        ("bundle exec rspec", "spec/a_spec.rb"),
        ("mvn -q test", "src/test/java/ATest.java"),
        ("dotnet test", "App.Tests/A.cs"),
        ("ctest", "CMakeLists.txt"),
        ("sh run.sh <<<'(", "run.sh"),
        ("pytest /top/tests/test_x.py::test_a", "tests/test_x.py"),
        ("cd web && sh /top/ci/test.sh", "ci/test.sh"),
        ("/top/.venv/bin/pytest tests/test_x.py", ".venv/bin/pytest"),
        ("pytest ./tests/../tests/test_x.py", "tests/test_x.py"),
        ("python3 -m unittest discover -s tests", "tests/test_y.py"),
        ("tox -e py311", "tox.ini"),
        ("tox -e py311", "tests/test_x.py"),
        ("npx vitest run", "a/b.test.ts"),
        ("yarn test", "jest.config.js"),
        ("xargs -n1 sh < list.txt", "tests/test_x.py"),
        ("find tests -name 'test_*' -exec python3 {} \\;", "tests/test_y.py"),
        ("docker run x sh ci/test.sh", "ci/test.sh"),
        ("coverage run -m pytest tests", "tests/test_new.py"),
        ("coverage run -m pytest", ".coveragerc"),
        ("go test ./pkg/...", "pkg/a_test.go"),
        ("just test", "justfile"),
        ("cd / && sh /top/ci/test.sh", "ci/test.sh"),
        ("cd /tmp; cd -; sh run.sh", "run.sh"),
        ("cd /top/ci && sh test.sh", "ci/test.sh"),
        ("cd -P -- ci && sh test.sh", "ci/test.sh"),
        ("(cd web && npm test); sh run.sh", "run.sh"),
        ("pushd web; npm test; popd; sh ci/test.sh", "ci/test.sh"),
        ("env -C ci sh test.sh", "ci/test.sh"),
        ("env --chdir=ci ./test.sh", "ci/test.sh"),
        ("sh run.sh; env", "run.sh"),
        ("sh run.sh; env -C", "run.sh"),
        ('"$PWD/ci/test.sh"', "ci/test.sh"),
        ("sh $(pwd)/ci/test.sh", "ci/test.sh"),
        ("python3 -m pytest tests", "pytest.py"),
        ("python3 -m pytest tests", "pytest/__init__.py"),
        ("python3 -m pytest tests", "_pytest/__init__.py"),
        ("python3 -m green tests", "green.py"),
        ("python3 -m pytest tests", "iniconfig.py"),
        ("PATH=$PWD/bin:$PATH pytest tests", "bin/pytest"),
        ('PATH="bin:$PATH" timeout 60 pytest tests', "bin/pytest"),
        ('export PATH="/top/bin:/usr/bin"; cd tests && pytest', "bin/pytest"),
        ("env PATH=.:$PATH npm test", "npm"),
        ("cd web && npm test", "web/node_modules/.bin/jest"),
        ("npx --no-install vitest run", "node_modules/.bin/vitest"),
        ("cd web && pnpm exec vitest run", "web/node_modules/.bin/vitest"),
        ("cd src && python3 -m unittest", "src/unittest.py"),
        ("python3 tools/gen.py", "tools/unittest/__init__.py"),
        ("PYTHONPATH=src pytest tests", "src/sitecustomize.py"),
        ("PYTHONPATH=src:pkg python3 -m pytest", "pkg/pytest.py"),
        ("export PYTHONPATH=$PWD/src; pytest tests", "src/usercustomize.py"),
        ("PYTHONPATH=src pytest tests", "src/argparse.py"),
        ("PYTHONPATH=src:lib python3 -m pytest", "lib/json/__init__.py"),
        ("env PYTHONPATH=./src python3 -m unittest", "src/unittest.py"),
        ("pytest tests", "lib/sitecustomize.py"),
        ("yarn test", ".yarnrc.yml"),
        ("cd web && yarn test", ".yarnrc.yml"),
        ("npx turbo run test", "turbo.json"),
        ("./mvnw verify", ".mvn/maven.config"),
        ("./gradlew test", "gradle/wrapper/gradle-wrapper.properties"),
        ("bundle exec rspec", ".bundle/config"),
        ("rake test", "rakefile.rb"),
        ("just test", ".justfile"),
        ("task test", "taskfile.yml"),
        ("dotnet test", "global.json"),
        ("mypy src", "mypy.ini"),
        ("python3 -m mypy src", "pyproject.toml"),
        ("ruff check src", "ruff.toml"),
        ("npx eslint src", "eslint.config.mjs"),
        ("npx tsc --noEmit", "tsconfig.json"),
        ("golangci-lint run", ".golangci.yml"),
        ("cargo clippy", "clippy.toml"),
        ("shellcheck run.sh", ".shellcheckrc"),
        ("ansible-lint", ".ansible-lint"),
        ("trivy fs --exit-code 1 .", ".trivyignore"),
        ("gitleaks detect", ".gitleaks.toml"),
        ("swiftlint --strict", ".swiftlint.yml"),
        ("make lint", ".flake8"),
        ("cd web && npx prettier --check .", "web/.prettierignore"),
        ("grep -rn -f patterns.txt src", "patterns.txt"),
        ("mypy --config-file ci/types.ini src", "ci/types.ini"),
        ("pylint --rcfile=ci/lint.rc src", "ci/lint.rc"),
        ("X=top; $X/go", "top/go"),
        ("X=pkg; Y=$X/bin; sh \"$Y/go.sh\"", "pkg/bin/go.sh"),
        ("export X=pkg; sh ${X}/go.sh", "pkg/go.sh"),
        ("cd ci; X=run; cd ..; sh $X.sh", "run.sh"),
        ("X=ci; cd $X && sh test.sh", "ci/test.sh"),
        ("X='tools/gen.py' && python3 \"$X\"", "tools/gen.py"),
        ("for t in test other; do sh ci/$t.sh; done", "ci/other.sh"),
        ("X=(run.sh ci/other.sh); sh \"${X[1]}\"", "ci/other.sh"),
        ("sh ${SCRIPTS:-ci}/go.sh", "ci/go.sh"),
        ("X=ci sh -c 'sh $X/go.sh'", "ci/go.sh"),
        ("sqlite3 :memory: < tools/gen.py", "tools/gen.py"),
        ("cat pkg/mod.py tools/gen.py | sort | python3", "tools/gen.py"),
        ("{ cat pkg/mod.py; } < tools/gen.py", "tools/gen.py"),
        ("while read t; do pytest $t; done < tools/gen.py", "tools/gen.py"),
        ("pytest $(cat tools/gen.py)", "tools/gen.py"),
        ("pytest $(< tools/gen.py)", "tools/gen.py"),
        ("pytest @tools/gen.py", "tools/gen.py"),
        ("NODE_OPTIONS='--no-warnings --require=./tools/gen.py' node --test", "tools/gen.py"),
        ("make test RUNNER=tools/gen.py", "tools/gen.py"),
        ("""python3 -c "exec(open('tools/gen.py').read())\"""", "tools/gen.py"),
        ("""node -e "require('./tools/gen.py')\"""", "tools/gen.py"),
        ("mysql -e 'source tools/gen.py;'", "tools/gen.py"),
        ("""sqlite3 x.db '.read tools/gen.py'""", "tools/gen.py"),
        ("make test RUNNER='python3 tools/gen.py -q'", "tools/gen.py"),
        ("pytest -p tools.gen", "tools/gen.py"),
        ("pytest -ptools.gen tests/test_x.py", "tools/gen.py"),
        ("docker compose run --rm -T app pytest", "tests/test_x.py"),
        ("docker compose run --rm -T app pytest", "conftest.py"),
        ("docker run --rm -v .:/app image make test", "Makefile"),
        ("docker compose run --rm -T app npm --prefix web test", "web/src/a.test.ts"),
        ("docker compose run --rm -T app sh -c 'sh ci/test.sh'", "ci/test.sh"),
        ("tools/with-database 5432 pytest", "tests/test_x.py"),
        ("sh -e run.sh", "tools/deep.sh"),
        ("./run.sh -v", "tools/deep.sh"),
        (". ./run.sh", "tools/deep.sh"),
        ("pytest", "x.egg-info/entry_points.txt"),
        ("cd src && python3 -m pytest", "src/x.dist-info/entry_points.txt"),
        ("just test", ".env"),
        ("pipenv run pytest", ".env"),
        ("bun test", ".env.test"),
        ("direnv exec . pytest", ".envrc"),
        ("mise exec -- pytest", "mise.toml"),
        ("docker compose run --rm app pytest", "docker-compose.yml"),
        ("docker build -t x .", "Dockerfile.test"),
        ("./gradlew test", "app/build.gradle"),
        ("./gradlew test", "buildSrc/build.gradle"),
        ("mvn test", "app/pom.xml"),
        ("cargo test", "crates/a/Cargo.toml"),
        ("cargo test", "crates/a/src/snapshots/a.snap"),
        ("dotnet test", "app/App.csproj"),
        ("npm test", "packages/a/package.json"),
        ("ruff check src", "src/pkg/ruff.toml"),
        ("ruff check src", "src/pkg/.gitignore"),
        ("cd web && npx eslint .", "web/src/a/.eslintrc.json"),
        ("make lint", "src/pkg/.ruff.toml"),
        ("bazel test //...", ".bazelrc"),
        ("bazel test //...", "app/BUILD.bazel"),
        ("bazelisk test //...", "tools/bazel"),
        ("pants test ::", "pants.toml"),
        ("prove -r", ".proverc"),
        ("prove -r", "t/basic.t"),
        ("Rscript -e 'testthat::test_local()'", ".Rprofile"),
        ("dart test", "dart_test.yaml"),
        ("cabal test", "x.cabal"),
        ("rebar3 ct", "rebar.config"),
        ("busted", ".busted"),
        ("dotnet test", "Directory.Packages.props"),
        ("dotnet test", "app/App.vbproj"),
        ("ctest --preset ci", "CMakePresets.json"),
        ("npx vitest run", "tsconfig.json"),
        ("bun test", "tsconfig.base.json"),
        ("sbt test", "project/plugins.sbt"),
        ("lein test", "project.clj"),
        ("vendor/bin/behat", "behat.yml"),
        ("bundle exec cucumber", "config/cucumber.yml"),
        ("robot .", "checks/login.robot"),
        ("shellspec", ".shellspec-local"),
        ("just test", "ci.just"),
        ("mix test", "config/test.exs"),
        ("go test ./...", "~/.config/go/env"),
        ("cargo test", "~/.cargo/config.toml"),
        ("make test", "~/.gradle/init.gradle"),
        ("bazel test //...", "~/.bazelrc"),
        ("pytest", "~/.local/lib/python3.12/site-packages/usercustomize.py"),
        ("npx jest web/src/a.test.ts", "web/src/__snapshots__/a.test.ts.snap"),
        ("pytest tests/test_x.py", "tests/__snapshots__/test_x.ambr"),
        ("npx vitest run", "src/__snapshots__/a.snap"),
        ("shellspec", "spec/support/common.sh"),
        ("prove -r t", "t/basic.t"),
        ("bin/rails test", "config/environments/test.rb"),
        ("bundle exec rake test", "lib/tasks/test.rake"),
        ("terraform test", "checks.tftest.hcl"),
        ("opa test .", "policy/base.rego"),
        ("molecule test", "molecule/default/verify.yml"),
        ("dbt test", "dbt_project.yml"),
        ("xcodebuild test -scheme App", "App.xctestplan"),
        ("act -j test", ".github/workflows/ci.yml"),
        ("./prog | grep -qxFf run.sh", "run.sh"),
        ("git diff --no-index --exit-code run.sh out", "run.sh"),
    ],
)  # fmt: skip
def test_a_command_names(command: str, path: str) -> None:
    assert covers(command, path)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("pytest tests/test_x.py", "src/app.py"),
        ("pytest tests/test_x.py", "tests/test_other.py"),
        ("pytest tests/test_x.py", "package.json"),
        ("pytest tests", "other/test_x.py"),
        ("python3 tests/test_x.py", "tests/test_y.py"),
        ("mypy src", "src/app.py"),
        ("grep -q x src/app.py", "src/app.py"),
        ("test -f src/app.py", "src/app.py"),
        ("cd web && npm test", "tests/test_x.py"),
        ("python3 -c 'import tests.test_x'", "tests/test_x.py"),
        ("""python3 -c "assert open('Makefile').read()\"""", "Makefile"),
        ("cat .git/config .flow/goals/x.goal.yaml", ".flow/goals/x.goal.yaml"),
        ("cat ../outside.py", "outside.py"),
        ("curl https://example.invalid/tests/a.py", "tests/a.py"),
        ("true", "src/app.py"),
        ("cd / && ls", "tests/test_x.py"),
        ("cd .. && pytest", "tests/test_x.py"),
        ("cd /elsewhere && pytest", "tests/test_x.py"),
        ("cd ~ && sh", "pyproject.toml"),
        ("cd // && pytest", "conftest.py"),
        ("python3 -m pytest tests", "src/pytest.py"),
        ("PYTHONPATH=.. pytest tests", "src/pytest.py"),
        ("PYTHONPATH=src jest", "src/pytest.py"),
        ("mypy src", "package.json"),
        ("PATH=$PWD/bin:$PATH pytest tests/test_x.py", "bin/jest"),
        ("PATH=/usr/bin:$PATH pytest tests/test_x.py", "pytest"),
        ("PYTHONPATH=bin pytest tests/test_x.py", "bin/pytest"),
        ("npm test", "node_modules/.bin/other"),
        ("mypy src", "tests/test_x.py"),
        ("shellcheck -f gcc run.sh", "run.sh"),
        ("X=src/app.py; grep -q x $X", "src/app.py"),
        ("X=src; pytest tests/test_x.py $Y", "src/app.py"),
        ("grep -q x < src/app.py", "src/app.py"),
        ("cat src/app.py | sort | grep -q x", "src/app.py"),
        ('test -n "$(cat src/app.py)"', "src/app.py"),
        ("cat src/app.py | sort", "src/app.py"),
        ("pytest tests/test_x.py < /dev/null", "tests/sub/test_y.py"),
        ("PYTHONPATH=src pytest tests/test_x.py", "src/app.py"),
        ("npx @playwright/test", "playwright/test"),
        ("cd web && npx eslint .", "src/.eslintrc.json"),
        ("mypy src", "src/pkg/mypy.ini"),
        ("ruff check src", ".env"),
    ],
)
def test_a_command_does_not_name(command: str, path: str) -> None:
    assert not covers(command, path)


KNOWN = {
    *(name for name in runner_tables.ALONE if name not in ("runtests", "xctest", "newman")),
    *runner_tables.WITH,
    *idle_checkers.CHECKED_FILES,
    *(
        row.program
        for row in idle_checkers.IDLE_LINES
        if row.program not in ("compileall", "credo")
    ),
}
"""Programs that Flow knows by name and that have settings; credo is a task of mix."""


def test_every_runner_and_checker_that_is_known_has_its_settings_watched() -> None:
    listed = {name for tools in ECOSYSTEMS.values() for name in tools.programs}
    assert KNOWN - listed == set()


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("commitlint --from main", ".commitlintrc.json"),
        ("npx size-limit", ".size-limit.json"),
        ("cd web && npx --yes madge --circular src", "web/.madgerc"),
        ("uv run tach check", "tach.toml"),
        ("uvx interrogates src", "interrogates.ini"),
        ("python3 -m linter src", ".linterignore"),
        ("stylua --check .", ".styluaignore"),
        ("jake check", "Jakefile.js"),
        ("node_modules/.bin/madge src", ".madgerc"),
        ("spago test", "test/Main_test.rb"),
        ("spago test", "package.json"),
        ("sh -c 'spectral lint api.yaml'", ".spectral.yaml"),
    ],
)
def test_the_settings_of_a_program_that_is_not_known_have_its_name(command: str, path: str) -> None:
    assert covers(command, path)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("calc 2 2", "calc.py"),
        ("./calc 2 2", "calc.toml"),
        ("cp a b", "cp.toml"),
        ("python3 -m unittest", "unittest.toml"),
        ("python3 -m pkg.mod", "pkg.toml"),
        ("python3 -m pkg", "pkg.json"),
        ("grep -q x y", ".greprc"),
        ("git diff --exit-code", ".gitignore"),
        ("npx size-limit", "src/size-limit.json"),
        ("spectral lint api.yaml", "package.json"),
    ],
)
def test_nothing_else_is_named_by_a_programs_name(command: str, path: str) -> None:
    assert not covers(command, path)


@pytest.mark.parametrize(
    ("command", "outside"),
    [
        ("bash /tmp/check.sh", "/tmp/check.sh"),
        ("sqlite3 x.db < ~/check.sh", "~/check.sh"),
        ("pytest --config-file=../check.sh", "../check.sh"),
        ("bash /tmp/other.sh", ""),
        ("grep -q x /tmp/check.sh", ""),
        ("pytest --junitxml=/tmp/check.sh", ""),
        ("sh /top/run.sh", ""),
    ],
)
def test_a_file_outside_is_said_to_be_out_of_sight(command: str, outside: str) -> None:
    found = watched([(command, "")], _simple_commands, Tree())  # type: ignore[arg-type]
    assert found.gap == (f"{OUTSIDE}: {outside}" if outside else "")


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        (".venv/bin/pytest tests", ".venv"),
        ("py.test", ".venv"),
        ("uv run pytest", ".venv"),
        ("npx jest && .venv/bin/pytest", "node_modules, .venv"),
        ("cd web && ../node_modules/.bin/jest", "node_modules"),
        ("pytest", ""),
        ("npm test", ""),
        ("bash run.sh", ""),
    ],
)
def test_installed_packages_are_said_to_be_out_of_sight(command: str, folders: str) -> None:
    found = watched([(command, "")], _simple_commands, Tree())  # type: ignore[arg-type]
    assert found.gap == (f"{PACKAGES}: {folders}" if folders else "")


def test_files_outside_and_packages_are_both_said() -> None:
    command = "bash /tmp/check.sh && .venv/bin/pytest"
    found = watched([(command, "")], _simple_commands, Tree())  # type: ignore[arg-type]
    assert found.gap == f"{OUTSIDE}: /tmp/check.sh; {PACKAGES}: .venv"


def test_a_folder_of_its_own_is_where_a_command_looks() -> None:
    assert covers("npm test", "web/src/b.test.ts", cwd="web")
    assert covers("npm test", "package.json", cwd="web")


def test_patterns_are_bounded_and_that_is_said() -> None:
    """Those of settings are left out first."""
    commands = [(f"sh d{n}/e/f/x.sh", "") for n in range(200)]
    found = watched(commands, _simple_commands, Tree())  # type: ignore[arg-type]
    assert found.gap == CUT
    assert len(found.patterns) == MOST_PATTERNS
    assert {f"d{n}/e/f/x.sh" for n in range(200)} < {*found.patterns}


def test_many_runners_search_a_long_python_path_once() -> None:
    asked: list[str] = []

    class Counting(Tree):
        def own_modules(self) -> tuple[str, ...]:
            asked.append("own modules")
            return super().own_modules()

    folders = ":".join(f"lib{number}" for number in range(100))
    text = f"export PYTHONPATH={folders}\n" + "python3 -m pytest a\n" * 30
    found = watched([(text, "")], _simple_commands, Counting())  # type: ignore[arg-type]
    assert asked == ["own modules"]
    assert "lib99/json.py" in found.patterns


def test_a_literal_pattern_names_its_path() -> None:
    for path in ("a/b.py", "we[i]rd*.py", "back\\slash", "q?"):
        assert literal_name(literal_pattern(path)) == path
        assert Patterns([literal_pattern(path)]).first(path.encode()) is not None
        assert Patterns([literal_pattern(path)]).first(f"{path}/below".encode()) is not None
    assert literal_name("a/*.py") is None
    assert Patterns(["a/b"]).enters(b"a")
    assert not Patterns([])


WORDS = [
    "cd",
    "/",
    "..",
    "//",
    "/tmp",
    "~",
    "-",
    "pytest",
    "xargs",
    "env",
    "-C",
    "ci",
    "sh",
    "-c",
    "$X",
    '"$PWD/run.sh"',
    "pushd",
    "popd",
    "make",
    "find",
    ".",
    "-exec",
    "{}",
    "+",
    "npx",
    "uv",
    "run",
    "npm",
    "test",
    "go",
    "timeout",
    "5",
    "sudo",
    "python",
    "-m",
    "-mpytest",
    "-W",
    "[",
    "]",
    "!",
    "eval",
    "trap",
    "EXIT",
    "bash",
    "<<<",
    "a=b",
    "X=ci",
    "X=$X/a",
    "for X in a b; do",
    "${X:-ci}/a",
    "../../..",
    "/../..",
    "ci/../..",
    "*.py",
    "**",
    "[a-",
    "docker",
    "ssh",
    "--",
    "=",
    "''",
]
SIGNS = ["; ", " && ", " || ", " | ", " & ", "\n", " ", " ", " ", " "]


def test_no_text_breaks_the_search_or_the_reading() -> None:
    chance = random.Random(7)
    for _ in range(400):
        text = "".join(
            chance.choice(WORDS) + chance.choice(SIGNS) for _ in range(chance.randint(1, 14))
        )
        watched([(text, "")], _simple_commands, Tree())  # type: ignore[arg-type]
        read_command(text, parse_shell)


def test_makes_in_recipes_are_followed_once() -> None:
    asked = []

    class Circle(Tree):
        def recipes(self, folder: str, words: tuple[str, ...]) -> list[tuple[str, str]]:
            asked.append(words)
            return [(folder, f"make x{n}; sh run.sh") for n in range(9)]

    found = watched([("make", "")], _simple_commands, Circle())  # type: ignore[arg-type]
    assert Patterns(found.patterns).first(b"run.sh") is not None
    assert len(asked) == 1 + 9 + 9
