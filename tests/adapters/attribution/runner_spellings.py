"""One runner in many spellings, and commands that only name one."""

from __future__ import annotations

PYTEST = r"""
pytest-3 -q
pytest3
python -mpytest
python -Im pytest
python3 -Bm pytest tests
python3 -W error -X dev -m pytest
python -m pytest.__main__
python -m coverage run --branch -m pytest
python $OPTIONS -m pytest
python .venv/bin/pytest
python -c "import pytest, sys; sys.exit(pytest.main())"
py -3 -m pytest
pypy -m pytest
"$VIRTUAL_ENV/bin/pytest" -q
$HOME/.local/bin/pytest
"$(dirname "$0")/bin/pytest"
${PYTEST:-pytest} -q
"${PYTEST:-.venv/bin/pytest}" -q
$(which pytest)
"$(command -v pytest)" -q
`type -P pytest`
$PYTHON -m pytest
"${PYTHON:-python3}" -m pytest
$SUDO pytest
if true; then pytest; fi
\pytest
/usr/bin/time -f %e pytest
/usr/bin/time -o time.txt pytest
env -i PATH=$PATH pytest
env -S "pytest -q"
env --unset HOME pytest
nice --adjustment 5 pytest
ionice -c 3 pytest
taskset -c 0 pytest
numactl -N 0 pytest
setarch x86_64 -R pytest
unshare -n pytest
prlimit --nofile=1024 pytest
timeout --signal KILL --kill-after 5 60 pytest
stdbuf -o L pytest
sudo --user bob pytest
doas -u bob pytest
runuser -u bob -- pytest
fakeroot pytest
valgrind pytest
perf stat pytest
find . -name 'test_*.py' -exec pytest {} +
mise exec -- pytest
pyenv exec pytest
nix develop -c pytest
pixi run pytest
opentelemetry-instrument pytest
tini -- pytest
./wait-for-it.sh db:5432 -- pytest
scripts/with-database.sh pytest -q
bash scripts/with-database.sh pytest -q
poetry -C sub run pytest
poetry --directory sub run pytest
uv --directory sub run pytest
uv run --with hypothesis pytest
uv run -m pytest
uv tool run pytest
uvx pytest@8
hatch run test:pytest
docker run -h box image pytest
docker compose -f ci.yaml run app pytest
""".strip().splitlines()
"""Each runs pytest, so a pass has to show its report."""
OTHERS = {
    "jest": r"""
npx jest@29
npx --package jest jest
node node_modules/jest/bin/jest.js
node --experimental-vm-modules node_modules/.bin/jest
pnpm jest
yarn jest
""",
    "vitest": r"""
pnpm vitest run
pnpm --filter app exec vitest
node ./node_modules/vitest/vitest.mjs run
""",
    "mocha": r"""
node node_modules/mocha/bin/_mocha
npx ts-mocha test
""",
    "node --test": r"""
tsx --test
nodejs --test
node --import tsx --test
node --test
""",
    "go test": r"""
go -C sub test ./...
gotest ./...
richgo test ./...
""",
    "gotestsum": r"""
go run gotest.tools/gotestsum@latest
go tool gotestsum
""",
    "cargo test": r"""
cargo +nightly test
cargo --manifest-path x/Cargo.toml test
cross test
""",
    "nextest": "cargo +stable nextest run",
    "bun test": "bun --cwd sub test",
    "phpunit": r"""
php vendor/bin/phpunit
php -d memory_limit=-1 vendor/bin/phpunit
php phpunit.phar
""",
    "rspec": r"""
ruby -S rspec
rbenv exec rspec
""",
    "unittest": r"""
python -um unittest
django-admin test
python -m django test
python -c "import unittest; unittest.main(module=None)"
""",
    "": r"""
npm --prefix sub test
npm -w app test
npm run -w app test
npm it
npm test -- --list
npm run test
bun run test
deno task test
yarn workspace app test
yarn workspaces foreach run test
yarn --cwd sub test
yarn test:unit
pnpm --filter app run test:unit
node --run test
make unit-tests
make check-all
make pytest
just test
invoke tests
mvn clean install
mvn surefire:test
./mvnw package
gradle build
gradle testDebugUnitTest
bazel test //...
meson test -C build
ninja -C build test
dune runtest
cmake --build build --target test
hatch run test
pdm run test
pixi run test
tox --list-tests
php artisan test
./run_tests.sh
bash ./run_tests.sh
build/unit_tests
xcodebuild -scheme App test
buck2 test x
""",
}
"""Form of report → commands; with no form only a lost status is told."""
NAMED = r"""
pip install pytest; python -m app
pip3.12 install pytest; ls
$PIP install pytest; ls
$PY -m pip install -q pytest; ls
docker compose exec app pip install pytest; ls
doas apk add pytest; ls
python -m pip install pytest; ls
uv add --dev pytest; ls
uv pip install pytest; ls
uv tool install pytest; ls
uv sync --group test; ls
uv run python scripts/check.py pytest; ls
poetry add pytest; ls
poetry install --with test; ls
npm i -D jest; ls
npm run build; ls dist
pnpm add vitest; ls
cargo install cargo-nextest; ls
cargo build --tests; ls
cargo run --bin x -- test; ls
go install gotest.tools/gotestsum@latest; ls
go run ./cmd/app; ls
apt-get install -y bats; ls
which pytest; ls
command -v pytest; ls
command -V pytest; ls
python -m build test; ls
[ -x "$VIRTUAL_ENV/bin/pytest" ]
ls "$VIRTUAL_ENV/bin/pytest"; ls
grep -rn "go test" .github; ls
git log --grep pytest; ls
echo pytest; ls
docker build -t pytest .; ls
docker compose up -d; ls
kubectl get pods -n test; ls
make build; ls dist
make test-data; ls data
make lint; ls
mvn -q compile; ls
npx create-app --framework jest; ls
python -c "import pytest; print(pytest.__version__)"; ls
node test/server.js; ls
python tests/check_links.py; ls
./scripts/test-data.sh; ls
./scripts/build.sh; ls
cmake -S . -B build; ls
cd tests; ls
touch test; ls
sh -c 'for t in tests/test_*.py; do python3 $t || exit 1; done'
bash -ec 'python3 tests/test_a'
bash -c ./run_tests.sh
"$PWD/tests/a b"; ls
createdb test; ls
! if [ $? -ge 0 ]; then test "$P1" = 0; fi
""".strip().splitlines()
RUN_NO_TEST = r"""
turbo run test --dry-run
npx turbo run test --dry=json
scons -n test
scons --clean test
cargo llvm-cov --no-run
cabal test --dry-run
zig test a.zig --test-no-exec
stestr last
stestr --quiet failing
codeceptjs dry-run
elm-test make
inv -R test
inv test --dry
go-task --dry test
rake -P test
rake --where test
tox -a
tox -av
tox -h
task --status test
hatch test --show
just --usage test
mvn -v test
gradle test -v
npm test -v
rspec --dry-run
bundle exec rspec --dry
mocha --dry-run
npx mocha --dryRun
robot --dryrun tests
python -m robot --DryRun tests
ginkgo -r --dry-run
ginkgo --dryRun
trial -n package
nosetests --collect-only
nosetests --collect
nose2 --collect-only
python -m nose2 --collect-only
cargo test --no-run
go test -c ./...
go test --list . ./...
cargo nextest run --no-run
swift test --list-tests
deno test --no-run
pytest --co -q
pytest --setup-plan
pytest --help
pytest --version
pytest --fixtures src/passes.py
pytest --markers
uv run pytest --collect-only
jest --listTests
tox --notest
tox -l
nox --list
ninja -n test
just --dry-run test
task --dry test
rake -n test
invoke --dry test
bazel test --nobuild //...
mvn -q test -DskipTests
mvn test -Dmaven.test.skip=true
./mvnw -q test -DskipTests
gradle -q test -x test
gradle test --exclude-task test
gradle :app:test -xtest --info
gradle test --tests ParserTest -x test
gradle --exclude-task=test test
gradle test integrationTest -x test -x integrationTest
./gradlew -m test
gradle test --dry-run
gradle test --help
tox --version
timeout 60 rspec --dry-run
"$BIN/rspec" --dry-run
bash -c "rspec --dry-run"
""".strip().splitlines()
"""Each ends with 0, and may report tests that passed, though it has run none."""
RUN_TESTS = r"""
hatch run test -s
yarn test -v
pnpm test -v
mvn -V test
gradle -V test
inv test
rake -v test
tox -e py -v
npm test -- -v
just test -- -n
nox -s tests -- -h
mvn -q package -DskipTests
mvn test -DskipTests=false
gradle build -x test
gradle check -x lint
gradle check -x test
./gradlew -x test check
gradle integrationTest -x test
gradle test integrationTest -x test
cargo test --no-run && cargo test
rspec --dry-run && rspec
pytest --cov=src --cov-report=term
npm test -- --list
go test -run TestOne ./...
trial package
ninja test
./run_tests.sh -n 4
pytest -n 4
rspec --drb
jest --testPathPattern=help
""".strip().splitlines()
ONLY_FAILED = r"""
pytest --lf
pytest -q --last-failed --lfnf=none tests
python -m pytest --sw
poetry run pytest --stepwise --sw-skip
npx jest --onlyFailures
jest -f --ci
rspec --only-failures
bundle exec rspec --next-failure
ctest --test-dir build --rerun-failed --output-on-failure
npx playwright test --last-failed
mix test --failed
prove --state=failed,save
bats --filter-status failed tests
stestr run --failing
robot --rerunfailed output.xml tests
cargo nextest run --rerun latest
for i in 1 2 3; do pytest --lf && break; done; pytest --lf
""".strip().splitlines()
"""Each leaves out what passed in an earlier run, on other files."""
ALL_AGAIN = r"""
pytest || pytest --lf
pytest -x; pytest --lf || pytest
pytest --ff
pytest --failed-first -q
pytest -k lf
pytest --stepwise-reset
jest --findRelatedTests src/a.ts
jest --filter=./filter.js
rspec --fail-fast
ctest --output-on-failure
npx playwright test
mix test --stale
prove --state=all,save
node --test --test-only
node --test --test-name-pattern=x
sbt testQuick
phpunit --order-by=defects
gotestsum --rerun-fails ./...
""".strip().splitlines()
GUARDED = r"""
if [ -n "$CI" ]; then npm test; fi
[ -z "$CI" ] || make test
npm test --if-present
pnpm run --if-present test:unit
git diff --quiet HEAD~1 -- src || ./run_tests.sh
while read -r folder; do make -C "$folder" test || exit 1; done < folders.txt
""".strip().splitlines()
"""Each can end with 0 and have started nothing, and no report is asked of its runner."""
STARTED = r"""
npm test
cd app && make test
case "$(uname)" in Linux) make linux-test;; *) make test;; esac
if [ -f go.mod ]; then ./run_tests.sh; else npm test; fi
for folder in a b; do make -C $folder test || exit 1; done
rc=0; npm test || rc=1; make test || rc=1; exit $rc
run() { "$@"; }; run npm test
npm test & wait $!
bash -c 'npm test'
""".strip().splitlines()
