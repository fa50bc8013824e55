"""Commands as real projects write them, and what they print where all is well.

Outputs of runners that were at hand are recorded (``recorded``: here or in ``tests/core/attribution/runners``);
the others are the lines that the runner's documentation or source gives for a run that passed.
"""

# ruff: noqa: E501  (a row a line)

from __future__ import annotations

from pathlib import Path

RUNNERS = Path(__file__).parent / "runners"


def recorded(name: str) -> str:
    """What a recorded run printed."""
    return (RUNNERS / f"{name}.txt").read_text().split("\n", 2)[2]


PYTEST = recorded("pytest/passed")
QUIET = recorded("pytest/passed-quiet")
UNITTEST = recorded("unittest/pass")
JEST = recorded("jest/pass")
VITEST = recorded("vitest/pass")
MOCHA = recorded("mocha/pass")
CARGO = recorded("cargo/passed")
GO = recorded("go/passed")
NODE = "✔ adds (1.7ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 143.3\n"
NODE_TAP = "TAP version 13\n# Subtest: adds\nok 1 - adds\n  ---\n  duration_ms: 1.0\n  ...\n1..1\n# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 134.4\n"
CTEST = "Test project /b\n    Start 1: a\n1/1 Test #1: a ......   Passed    0.01 sec\n\n100% tests passed, 0 tests failed out of 1\n\nTotal Test time (real) =   0.01 sec\n"
SCRIPT = "\n> app@1.0.0 test\n> jest\n\n"
RSPEC = (
    "..\n\nFinished in 0.00276 seconds (files took 0.07 seconds to load)\n2 examples, 0 failures\n"
)
PHPUNIT = "PHPUnit 11.0.0 by Sebastian Bergmann and contributors.\n\n..  2 / 2 (100%)\n\nTime: 00:00.006, Memory: 8.00 MB\n\nOK (2 tests, 3 assertions)\n"
MVN = "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.05 s -- in x.ATest\n[INFO] \n[INFO] Results:\n[INFO] \n[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS\n"
GRADLE = "\nBUILD SUCCESSFUL in 2s\n3 actionable tasks: 3 executed\n"
DOTNET = "Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 5 ms - t.dll (net8.0)\n"
MIX = "...\nFinished in 0.02 seconds (0.00s async, 0.02s sync)\n1 doctest, 2 tests, 0 failures\n\nRandomized with seed 0\n"
BATS = "1..2\nok 1 adds\nok 2 later # skip not yet\n"
DENO = "running 1 test from ./a_test.ts\nadds ... ok (1ms)\n\nok | 1 passed | 0 failed (12ms)\n"
BUN = "bun test v1.1.0\n\na.test.ts:\n(pass) adds\n\n 1 pass\n 0 fail\n 1 expect() calls\nRan 1 tests across 1 files. [12.00ms]\n"
SWIFT = "Test Suite 'All tests' passed at 2026-01-01 00:00:00.000.\n\t Executed 3 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds\n"
PLAYWRIGHT = "\nRunning 3 tests using 2 workers\n\n  1 flaky\n    [chromium] › a.spec.ts:3:1 › x\n  2 passed (2.1s)\n"

PNPM_BOTH = """Scope: 2 of 3 workspace projects
packages/a test$ vitest run
packages/b test$ vitest run
packages/b test: \x1b[1m\x1b[46m RUN \x1b[49m\x1b[22m \x1b[36mv4.1.12 \x1b[39m
packages/a test: \x1b[1m\x1b[46m RUN \x1b[49m\x1b[22m \x1b[36mv4.1.12 \x1b[39m
packages/b test: \x1b[2m Test Files \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m
packages/a test: \x1b[2m Test Files \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m
packages/b test: \x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m
packages/b test: Done
packages/a test: \x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m
packages/a test: Done
"""
TURBO_BOTH = """• Running test in 2 packages
a:test: cache miss, executing 1234
a:test: > a@1.0.0 test
a:test: > vitest run
a:test:
b:test: > b@1.0.0 test
b:test: > jest
a:test:  Test Files  1 passed (1)
b:test: Test Suites: 1 passed, 1 total
a:test:       Tests  1 passed (1)
b:test: Tests:       1 passed, 1 total

 Tasks:    2 successful, 2 total
Cached:    0 cached, 2 total
"""

HONEST_RUNS = (
    # (command, what it prints, where that is from)
    ("pytest", PYTEST, "recorded"),
    ("pytest -q", QUIET, "recorded"),
    ("pytest -qq", "..                                                         [100%]\n", "recorded"),
    ("pytest -qq -o console_output_style=count", "..x                        [3/3]\n", "recorded"),
    ("python -m pytest -x --maxfail=1 tests/unit", PYTEST, "recorded"),
    ("python3 -W error -m pytest -q", QUIET, "recorded"),
    ("pytest -q --color=yes", recorded("pytest/passed-colour"), "recorded"),
    ("pytest", recorded("pytest/some-skipped"), "recorded"),
    ("pytest -p xdist -n 4 -q", "..\n2 passed, 1 rerun, 3 subtests passed in 1.20s\n", "pytest-rerunfailures, pytest-subtests"),
    ("python -m unittest discover -s tests", UNITTEST, "recorded"),
    ("python -m unittest -v", recorded("unittest/class-verbose"), "recorded"),
    ("python -m unittest", recorded("unittest/some-skipped"), "recorded"),
    ("python manage.py test --parallel 4", "Creating test database for alias 'default'...\n" + UNITTEST + "Destroying test database for alias 'default'...\n", "django"),
    ("coverage run -m pytest -q && coverage report --fail-under=90", QUIET + "TOTAL    10    0   100%\n", "recorded"),
    ("python -m coverage run -m unittest && python -m coverage report", UNITTEST, "recorded"),
    ("tox -e py312", QUIET + "  py312: OK (1.00 seconds)\n  congratulations :) (1.10 seconds)\n", "tox"),
    ("tox run-parallel -q", "  py312: OK (1.00 seconds)\n", "tox"),
    ("nox -s tests", "nox > Running session tests\n" + PYTEST + "nox > Session tests was successful.\n", "nox"),
    ("poetry run pytest -q", QUIET, "recorded"),
    ("uv run pytest -q", QUIET, "recorded"),
    ("uv run --with hypothesis --extra dev pytest -q", QUIET, "recorded"),
    ("hatch test", PYTEST, "recorded"),
    ("pdm run pytest", PYTEST, "recorded"),
    ("npm test", SCRIPT + JEST, "recorded"),
    ("npm test", "\n> app@1.0.0 test\n> ./check.sh\n\nall good\n", "npm"),
    ("npm run -s test", JEST, "recorded"),
    ("npm run test:unit -- --ci", JEST, "recorded"),
    ("npm run lint && npm test", SCRIPT + MOCHA, "recorded"),
    ("npm ci && npm run build && npm test -- --watchAll=false", SCRIPT + JEST, "recorded"),
    ("pnpm test", SCRIPT + VITEST, "recorded"),
    ("pnpm -r test", SCRIPT + VITEST, "recorded"),
    ("pnpm -r test", PNPM_BOTH, "recorded, pnpm 9"),
    ("npx turbo run test", TURBO_BOTH, "turbo"),
    ("pnpm exec vitest run", VITEST, "recorded"),
    ("yarn test --ci", JEST, "recorded"),
    ("yarn jest --ci", JEST, "recorded"),
    ("yarn workspaces foreach -A run test", JEST, "recorded"),
    ("npx jest --ci --coverage", JEST + "Ran all test suites.\n", "recorded"),
    ("npx vitest run", VITEST, "recorded"),
    ("npx --no-install mocha", MOCHA, "recorded"),
    ("npx mocha --reporter tap", "1..2\nok 1 a\nok 2 b\n# tests 2\n# pass 2\n# fail 0\n", "mocha"),
    ("npx nyc mocha", MOCHA, "recorded"),
    ("npx playwright test", PLAYWRIGHT, "playwright"),
    ("npx cypress run", "  (Run Finished)\n\n  2 passing (1s)\n\n    ✔  All specs passed!                        00:01        2        2        -        -        -  \n", "cypress"),
    ("npx ava", "  ✔ adds\n  ─\n\n  1 test passed\n", "ava"),
    ("npx tap", "# { total: 3, pass: 3 }\n# time=200ms\n", "node-tap"),
    ("npx karma start --single-run", "Chrome Headless: Executed 3 of 3 SUCCESS (0.01 secs / 0.002 secs)\n", "karma"),
    ("node --test", NODE, "recorded"),
    ("node --test --test-reporter=tap", NODE_TAP, "recorded"),
    ("cross-env CI=1 jest", JEST, "recorded"),
    ("CI=1 npx turbo run test", JEST, "recorded"),
    ("make", "cc -o app main.c\n", "make"),
    ("task test", 'task: Task "build" is up to date\ntask: [test] pytest -q\n' + QUIET, "go-task"),
    ("./smoke.sh", "Host:     localhost\nTimeout:  30\nSkipped:  2\nall is well\n", "made up"),
    ("meson test -C out", "1/1 adds        OK              0.01s\n\nOk:                 1   \nFail:               0   \n", "meson"),
    ("crystal spec", "..\n\nFinished in 2.1 milliseconds\n2 examples, 0 failures, 0 errors, 0 pending\n", "crystal"),
    ("npx jasmine", "Started\n..\n\n2 specs, 0 failures\nFinished in 0.01 seconds\n", "jasmine"),
    ("make test", "python -m pytest -q\n" + QUIET, "recorded"),
    ("make -s check", "all good\n", "make"),
    ("make -C lib -j4 test", CTEST, "recorded"),
    ("make lint test V=1", CARGO, "recorded"),
    ("cargo test", CARGO, "recorded"),
    ("cargo test -q", recorded("cargo/passed-quiet"), "recorded"),
    ("cargo test --workspace --all-features -- --test-threads=1", CARGO, "recorded"),
    ("cargo fmt --check && cargo clippy -- -D warnings && cargo test", CARGO, "recorded"),
    ("cargo nextest run", "    Starting 3 tests across 1 binary\n     Summary [   0.010s] 3 tests run: 3 passed, 0 skipped\n", "nextest"),
    ("cargo nextest run --workspace", "     Summary [   1.010s] 3 tests run: 3 passed (1 slow, 1 flaky), 2 skipped\n", "nextest"),
    ("go test ./...", GO, "recorded"),
    ("go test ./...", recorded("go/mixed"), "recorded"),
    ("go test -v ./...", recorded("go/passed-verbose"), "recorded"),
    ("go test ./...", recorded("go/passed-cached"), "recorded"),
    ("go test -json ./...", recorded("go/json-passed"), "recorded"),
    ("go vet ./... && go test -race -cover ./...", recorded("go/cover-passed"), "recorded"),
    ("go test ./... 2>&1 | grep -v 'no test files'", GO, "recorded"),
    ("gotestsum -- ./...", "✓  x (3ms)\n\nDONE 3 tests, 1 skipped in 0.100s\n", "gotestsum"),
    ("ginkgo -r", "Ran 3 of 3 Specs in 0.001 seconds\nSUCCESS! -- 3 Passed | 0 Failed | 0 Pending | 0 Skipped\nPASS\n", "ginkgo"),
    ("./gradlew test", GRADLE, "gradle"),
    ("./gradlew -q test", "", "gradle"),
    ("gradle :app:test --info", GRADLE, "gradle"),
    ("mvn -q test", "", "maven"),
    ("mvn -B verify", MVN, "surefire"),
    ("./mvnw -q -DskipITs verify", "", "maven"),
    ("sbt test", "[info] Passed: Total 3, Failed 0, Errors 0, Passed 3\n[success] Total time: 1 s\n", "sbt"),
    ("dotnet test --nologo", DOTNET, "vstest"),
    ("dotnet test", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.0s\nBuild succeeded in 2.0s\n", "dotnet 9"),
    ("cmake --build build && ctest --test-dir build --output-on-failure", CTEST, "recorded"),
    ("vendor/bin/phpunit", PHPUNIT, "phpunit"),
    ("composer install && vendor/bin/phpunit --testdox", PHPUNIT, "phpunit"),
    ("vendor/bin/phpunit", "OK, but some tests were skipped!\nTests: 3, Assertions: 2, Skipped: 1.\n", "phpunit"),
    ("vendor/bin/pest", "\n  Tests:    1 skipped, 2 passed (2 assertions)\n  Duration: 0.05s\n", "pest"),
    ("bundle exec rspec", RSPEC, "rspec"),
    ("bin/rails test", "2 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n", "minitest"),
    ("bundle exec rake test", "2 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n", "minitest"),
    ("mix test", MIX, "ex_unit"),
    ("mix deps.get && mix test --cover", MIX, "ex_unit"),
    ("bats test/", BATS, "bats-core"),
    ("bats --pretty test/", " ✓ adds\n - later (skipped)\n\n2 tests, 0 failures, 1 skipped\n", "bats-core"),
    ("shellspec", "Running: /bin/sh\n..\n\nFinished in 0.1 seconds\n2 examples, 0 failures\n", "shellspec"),
    ("prove -lr t", "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=3,  0 wallclock secs\nResult: PASS\n", "prove"),
    ("deno test --allow-read", DENO, "deno"),
    ("bun test", BUN, "bun"),
    ("swift test", SWIFT, "XCTest"),
    ("swift test", "Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds\n✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.\n", "swift-testing"),
    ("flutter test", "00:01 +3: All tests passed!\n", "dart test"),
    ("lein test", "Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.\n", "clojure.test"),
    ("behave", "1 feature passed, 0 failed, 0 skipped\n3 scenarios passed, 0 failed, 0 skipped\n", "behave"),
    ("trial app", "Ran 3 tests in 0.100s\n\nPASSED (successes=3)\n", "twisted"),
    ("docker run --rm app pytest -q", QUIET, "recorded"),
    ("docker compose run --rm web pytest -q", QUIET, "recorded"),
    ("docker compose run --rm web npm test", SCRIPT + JEST, "recorded"),
    ("docker compose up -d db && pytest -q; rc=$?; docker compose down; exit $rc", QUIET, "recorded"),
    ("kubectl exec deploy/app -- pytest -q", QUIET, "recorded"),
    ("set -e\nnpm ci\nnpm test\necho done", SCRIPT + JEST + "done\n", "recorded"),
    ("set -euo pipefail; pip install -e . >/dev/null; pytest -q; ruff check .", QUIET, "recorded"),
    ("pytest -q; rc=$?; docker compose down; exit $rc", QUIET, "recorded"),
    ("pytest -q; rc=$?; docker compose down; exit \"$rc\"", QUIET, "recorded"),
    ("pytest -q; rc=$?; rm -rf tmp; if [ $rc -ne 0 ]; then exit $rc; fi", QUIET, "recorded"),
    ("pytest -q; rc=$?; make clean; (exit $rc)", QUIET, "recorded"),
    ("trap 'docker compose down' EXIT; pytest -q", QUIET, "recorded"),
    ("trap 'rc=$?; docker compose down; exit $rc' EXIT; pytest -q", QUIET, "recorded"),
    ("cleanup() { docker compose down; }; trap cleanup EXIT; npm run e2e && pytest -q", QUIET, "recorded"),
    ("cd backend && pytest -q", QUIET, "recorded"),
    ("(cd frontend && npm test) && (cd backend && pytest -q)", SCRIPT + JEST + QUIET, "recorded"),
    ("ruff check . && mypy src && pytest -q", "All checks passed!\n" + QUIET, "recorded"),
    ("if ! pytest -q; then exit 1; fi", QUIET, "recorded"),
    ("if ! pytest -q; then echo 'tests failed' >&2; exit 1; fi; echo ok", QUIET + "ok\n", "recorded"),
    ("if pytest -q; then echo ok; else exit 1; fi", QUIET + "ok\n", "recorded"),
    ("pytest -q || exit 1", QUIET, "recorded"),
    ("pytest -q || { echo failed; exit 1; }; echo ok", QUIET + "ok\n", "recorded"),
    ("pytest -q && npm test && go test ./...", QUIET + SCRIPT + JEST + GO, "recorded"),
    ("timeout 60 pytest -q", QUIET, "recorded"),
    ("timeout --signal=KILL 5m go test ./...", GO, "recorded"),
    ("env X=1 pytest -q", QUIET, "recorded"),
    ("X=1 Y=2 pytest -q", QUIET, "recorded"),
    ("xvfb-run -a pytest -q", QUIET, "recorded"),
    ("xvfb-run --auto-servernum npm run test:e2e", SCRIPT + PLAYWRIGHT, "playwright"),
    ("time pytest -q", QUIET + "\nreal\t0m1.0s\n", "recorded"),
    ("nice -n 10 cargo test", CARGO, "recorded"),
    ("bash -c 'cd x && pytest -q'", QUIET, "recorded"),
    ("bash -c \"cd x && pytest -q $ARGS\"", QUIET, "recorded"),
    ("bash -euo pipefail -c 'pytest -q | tee log; echo done'", QUIET + "done\n", "recorded"),
    ("sh -ec 'npm ci; npm test; echo ok'", SCRIPT + JEST + "ok\n", "recorded"),
    ("test \"$(cat VERSION)\" = 1.2.3", "", "bash"),
    ("test \"$(git status --porcelain)\" = ''", "", "bash"),
    ("[ \"$(wc -l < README.md)\" -gt 10 ]", "", "bash"),
    ("grep -q 'x = 1' src/a.py", "", "grep"),
    ("! grep -rn 'console.log' src", "", "grep"),
    ("git ls-files '*.py' | xargs grep -L licence | wc -l | grep -qx 0", "", "grep"),
    ("cat src/*.py | grep -c def | grep -vq '^0$'", "", "grep"),
    ("pytest -q | tee test.log", QUIET, "recorded"),
    ("pytest -q 2>&1 | tail -20", QUIET, "recorded"),
    ("jest 2>&1 | grep '^Tests:'", "Tests:       1 skipped, 2 passed, 3 total\n", "recorded, jest 30"),
    ("npx vitest run | grep Tests", "      Tests  1 passed (1)\n", "recorded, vitest 4"),
    ("python -m unittest 2>&1 | tail -3", "Ran 2 tests in 0.000s\n\nOK\n", "recorded"),
    ("pytest -q --junitxml=report.xml", QUIET, "recorded"),
    ("source .venv/bin/activate && pytest -q", QUIET, "recorded"),
    (". ./env.sh; pytest -q", QUIET, "recorded"),
    ("export CI=1; npm test", SCRIPT + JEST, "recorded"),
    ("for d in api web; do (cd $d && npm test) || exit 1; done", SCRIPT + JEST + SCRIPT + JEST, "recorded"),
    ("for v in 3.11 3.12; do \"python$v\" -m pytest -q || exit 1; done", QUIET + QUIET, "recorded"),
    ("set -e; for d in api web; do make -C $d test; done", QUIET + QUIET, "recorded"),
    ("rc=0; pytest -q || rc=1; npm test || rc=1; exit $rc", QUIET + SCRIPT + JEST, "recorded"),
    ("rc=0; pytest -q || rc=$?; npm test || rc=$?; exit $rc", QUIET + SCRIPT + JEST, "recorded"),
    ("pytest -q; a=$?; npm test; b=$?; exit $((a + b))", QUIET + SCRIPT + JEST, "recorded"),
    ("pytest -q; a=$?; npm test; b=$?; exit $(( a || b ))", QUIET + SCRIPT + JEST, "recorded"),
    ("pytest -q; a=$?; npm test; b=$?; [ $a -eq 0 ] && [ $b -eq 0 ]", QUIET + SCRIPT + JEST, "recorded"),
    ("pytest -q & a=$!; npm test & b=$!; wait $a && wait $b", QUIET + SCRIPT + JEST, "recorded"),
    ("set -e; pytest -q & a=$!; npm test & b=$!; wait $a; wait $b", QUIET + SCRIPT + JEST, "recorded"),
    ("pids=(); for d in a b; do pytest -q $d & pids+=($!); done; for p in \"${pids[@]}\"; do wait $p || exit 1; done", QUIET + QUIET, "recorded"),
    ("./serve & pid=$!; trap 'kill $pid' EXIT; sleep 1; pytest -q tests/e2e", QUIET, "recorded"),
    ("./serve & pid=$!; sleep 1; pytest -q tests/e2e; rc=$?; kill $pid; wait $pid; exit $rc", QUIET, "recorded"),
    ("retry() { for i in 1 2 3; do \"$@\" && return 0; sleep 1; done; return 1; }; retry pytest -q", QUIET, "recorded"),
    ("for i in 1 2 3; do pytest -q && exit 0; sleep 1; done; exit 1", QUIET, "recorded"),
    ("for i in 1 2 3; do pytest -q && break; done", QUIET, "recorded"),
    ("pytest -q || pytest -q --lf", recorded("pytest/failed") + QUIET, "recorded"),
    ("run() { echo \"+ $*\"; \"$@\"; }; run pytest -q && run npm test", QUIET + SCRIPT + JEST, "recorded"),
    ("case \"$(uname)\" in Darwin) npx jest;; *) pytest -q;; esac", QUIET, "recorded"),
    ("failed=(); pytest -q || failed+=(py); npm test || failed+=(js); [ ${#failed[@]} -eq 0 ]", QUIET + SCRIPT + JEST, "recorded"),
    ("ok=true; pytest -q || ok=false; npm test || ok=false; $ok", QUIET + SCRIPT + JEST, "recorded"),
    ("python -c 'import pytest, sys; sys.exit(pytest.main([\"-q\"]))'", QUIET, "recorded"),
    ("! pytest -q tests/known_broken", recorded("pytest/failed"), "recorded"),
    ("pytest -q && echo PASS || { echo FAIL; exit 1; }", QUIET + "PASS\n", "recorded"),
    ("pytest -q; code=$?; [ $code -eq 0 ] || echo failed; exit $code", QUIET, "recorded"),
    ("mkdir -p out && pytest -q > out/log 2>&1; rc=$?; cat out/log; exit $rc", QUIET, "recorded"),
    ("pytest -q > log 2>&1 || { cat log; exit 1; }; tail -1 log", "2 passed in 0.01s\n", "recorded"),
    ("exec pytest -q", QUIET, "recorded"),
    ("npm start & S=$!; trap \"kill $S\" EXIT; npx wait-on tcp:3000 && npx playwright test", PLAYWRIGHT, "playwright"),
    ("n=$(pytest --collect-only -q | grep -c ::); [ \"$n\" -gt 1 ] && pytest -q", QUIET, "recorded"),
    ("pytest -q | tee log; exit ${PIPESTATUS[0]}", QUIET, "recorded"),
    ("out=$(pytest -q 2>&1); rc=$?; echo \"$out\"; exit $rc", QUIET, "recorded"),
    ("failed=''; for d in a b; do pytest $d || failed=\"$failed $d\"; done; if [ -n \"$failed\" ]; then exit 1; fi", QUIET, "recorded"),
    ("fail=0; for d in a b; do if ! pytest $d; then fail=1; fi; done; exit $fail", QUIET, "recorded"),
    ("exec 2>&1; pytest -q", QUIET, "recorded"),
)  # fmt: skip
