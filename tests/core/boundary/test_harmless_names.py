"""What commands may leave behind: what real tools write, and nothing that steers a later run."""

from __future__ import annotations

import pytest

from flow.core.boundary.harmless_names import is_harmless

HARMLESS = """
__pycache__/a.cpython-311.pyc
src/pkg/__pycache__/a.pyc
tests/__pycache__/conftest.cpython-311-pytest-8.3.4.pyc
.pytest_cache/v/cache/lastfailed
.pytest_cache/README.md
.pytest_cache/CACHEDIR.TAG
.mypy_cache/3.11/os/__init__.data.json
.ruff_cache/0.8.0/1234
.hypothesis/unicode_data/15.0.0/charmap.json.gz
.coverage
.coverage.host.1234.xyz
coverage.xml
coverage.json
htmlcov/index.html
htmlcov/coverage_html_cb_6fb7b396.js
.tox/py311/lib/python3.11/site-packages/_virtualenv.pth
.tox/py311/bin/python
.nox/tests/lib/python3.11/site-packages/sitecustomize.py
pkg.egg-info/PKG-INFO
src/pkg.egg-info/entry_points.txt
build/lib/pkg/mod.py
build/lib/pkg/test_mod.py
build/temp.linux-x86_64-cpython-311/mod.o
dist/pkg-1.0-py3-none-any.whl
.testmondata
node_modules/.cache/babel-loader/ab12.json
node_modules/.vite/vitest/results.json
.nyc_output/processinfo/index.json
coverage/lcov.info
coverage/lcov-report/prettify.js
coverage/coverage-final.json
dist/index.js
dist/package.json
packages/a/dist/index.d.ts
.next/server/app/page.js
test-results/.last-run.json
test-results/login/trace.zip
playwright-report/index.html
junit.xml
reports/junit.xml
src/__snapshots__/app.test.js.snap
tsconfig.tsbuildinfo
.eslintcache
npm-debug.log
target/debug/deps/app-1234
target/debug/build/x/out/bindings.rs
target/debug/.fingerprint/app/invoked.timestamp
Cargo.lock
target/classes/App.class
target/surefire-reports/TEST-com.acme.AppTest.xml
target/generated-sources/annotations/A.java
target/jacoco.exec
build/test-results/test/TEST-AppTest.xml
build/classes/java/main/App.class
.gradle/8.5/checksums/checksums.lock
App.class
coverage.out
c.out
cover.html
cpu.prof
main.o
lib/libx.a
build/CMakeFiles/app.dir/main.c.o
build/app
CMakeFiles/progress.marks
cmake-build-debug/CMakeCache.txt
main.gcda
obj/Debug/net8.0/app.dll
_build/default/lib/app/ebin/app.beam
.phpunit.result.cache
.dart_tool/package_config.json
run.log
out.txt
notes.txt
output.json
results.json
bench-results.json
report.md
test.db
screenshot.png
timings.csv
server.pid
nohup.out
"""

STEERING = """
conftest.py
tests/conftest.py
src/deep/conftest.py
Conftest.py
conftest.pyc
conftest.cpython-311-x86_64-linux-gnu.so
sitecustomize.py
sitecustomize.pyc
usercustomize.py
evil.pth
src/evil.pth
build/conftest.py
target/conftest.py
target/test_ok.py
htmlcov/test_ok.py
coverage/sitecustomize.py
out/main_test.go
json.py
json.pyc
json.so
src/json.cpython-311-x86_64-linux-gnu.so
test_ok.py
tests/test_ok.py
main_test.go
app.test.js
index.mjs
types.ts
Foo.java
foo.rs
foo.c
foo.h
foo.rb
foo.php
foo.pl
foo.lua
run.sh
run
bin/pytest
script.bash
Makefile
makefile
GNUmakefile
rules.mk
main.d
Dockerfile
Rakefile
justfile
CMakeLists.txt
CMakeCache.txt.in
requirements.txt
dev-requirements.txt
constraints.txt
pytest.ini
.pytest.ini
tox.ini
setup.cfg
setup.py
pyproject.toml
.coveragerc
.pylintrc
.flake8
mypy.ini
noxfile.py
package.json
package-lock.json
packages/a/package.json
tsconfig.json
tsconfig.test.json
jsconfig.json
.mocharc.json
.mocharc.yml
.mocharc.cjs
jest.config.js
jest.config.json
test.config.json
vitest.config.ts
babel.config.json
.babelrc
.swcrc
.npmrc
.yarnrc.yml
.env
.envrc
.cargo/config.toml
.cargo/config
Cargo.toml
build.rs
rust-toolchain.toml
go.mod
go.work
go.sum
pom.xml
build.xml
phpunit.xml
settings.xml
testng.xml
build.gradle
gradle.properties
settings.gradle.kts
app.jar
node_modules/left-pad/index.js
node_modules/.bin/jest
uv.lock
yarn.lock
data.pkl
.github/workflows/ci.yml
.vscode/settings.json
.claude/settings.flow.json
.claude/settings.flow.local.json
.claude/report.json
.flow/rubrics/login.md
.flow/rubrics/report.json
.flow/rubrics/__pycache__/x
.flow/runners.yaml
.flow/defaults.goal.yaml
.flow/goals/other.goal.yaml
skills/judge/rubrics/login.md
skills/judge/rubrics/results.json
skills/judge/judge-config.json
other.goal.yaml
CLAUDE.md
AGENTS.md
made
"""


def test_what_tools_leave_is_harmless() -> None:
    assert [path for path in HARMLESS.split() if not is_harmless(path, "100644")] == []


@pytest.mark.parametrize("mode", ["100644", "100755", "120000"])
def test_what_could_steer_a_run_is_not(mode: str) -> None:
    assert [path for path in STEERING.split() if is_harmless(path, mode)] == []


def test_programs_and_nested_repositories_count_but_where_builds_write() -> None:
    for path, mode, harmless in (
        ("run.log", "100755", False),
        ("app", "100755", False),
        ("pkg/pkg.test", "100755", True),
        ("target/debug/app", "100755", True),
        ("dep", "040000", False),
        ("build/_deps/dep", "040000", True),
        ("bazel-out", "120000", True),
        ("bazel-out", "100644", False),
        ("server.sock", "socket", True),
        ("pipe", "fifo", True),
    ):
        assert is_harmless(path, mode) is harmless, (path, mode)
