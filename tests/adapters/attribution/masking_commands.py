"""Commands as people write them: ones that can show a failure, and ones that cannot."""

from __future__ import annotations

HONEST = r"""
INSTA_FORCE_PASS=0 cargo test
INSTA_UPDATE=no cargo test
mvn -B -V -q verify
gradle -V test
go test -exec "sudo -E" ./...
timeout 5 ./server || [ $? -eq 124 ]
docker compose up --exit-code-from=sut
cat dist/app.js
echo "$LOG" | sed '/error/q1'
set +o pipefail; pytest | tee log; ! grep -q failed log
pytest
pytest -q tests/
python -m pytest -x --maxfail=1 tests/unit
python3 -m unittest discover -s tests -p 'test_*.py'
pytest -q && ruff check . && mypy src
set -e; pytest; echo done
set -euo pipefail; npm ci; npm test; echo ok
cd backend && pytest -q
(cd frontend && npm test)
pushd api >/dev/null && go test ./... && popd >/dev/null
PYTHONPATH=src pytest -q
env DJANGO_SETTINGS_MODULE=app.test python manage.py test
timeout 300 pytest -q
time make test
nice -n 10 cargo test --workspace
pytest -q 2>&1 | tee test.log
pytest -q 2>&1 | tail -20
go test ./... 2>&1 | grep -v 'no test files'
npm test -- --watchAll=false
npm run lint --if-present
npm run build && test -f dist/index.js
npx jest --ci --coverage
npx vitest run
npx tsc --noEmit
yarn test --ci
pnpm -r test
bun test
deno test --allow-read
go vet ./... && go test -race ./...
test -z "$(gofmt -l .)"
! gofmt -l . | grep .
gofmt -l . && go vet ./...
golint -set_exit_status ./...
cppcheck --error-exitcode=1 src
semgrep --error --config auto
trivy fs --exit-code 1 .
gitleaks detect
go build -o /tmp/app ./cmd/app
cargo fmt --check && cargo clippy -- -D warnings && cargo test
cargo build --release && ./target/release/app --version
make
make -C lib test
for i in 1 2 3; do dd if=/dev/zero bs=1k count=$i; done
for i in 1 2 3; do head -c 100 /dev/urandom | base64; done
make test || exit 1
make lint test
cmake --build build && ctest --test-dir build --output-on-failure
mvn -q verify
./gradlew test
dotnet test --nologo
bundle exec rspec
composer install && vendor/bin/phpunit
mix test
swift test
docker build -t app .
docker run --rm app pytest -q
docker compose run --rm web pytest
docker compose -f test.yml up --build --exit-code-from web
docker-compose up --abort-on-container-exit
docker compose up --wait && pytest
docker compose exec web up
docker compose up -d db && pytest tests/integration; status=$?; docker compose down; exit $status
docker compose up -d && trap 'docker compose down' EXIT && npm run e2e
terraform fmt -check && terraform validate
kubectl apply --dry-run=client -f k8s/
helm lint charts/app
shellcheck scripts/*.sh
bash -n install.sh
bash scripts/check.sh
sh -c 'cd x && make test'
bash -c 'set -o pipefail; pytest | tee log'
bash -e <<'EOF'@pytest@echo done@EOF
bash <<EOF@pytest@EOF
bash run.sh <<'EOF'@pytest || true@EOF
cat <<'EOF' > notes && pytest@pytest || true@EOF
bash <<EOF && pytest@cd $HOME || true@EOF
python - <<'EOF'@print("x") || true@EOF
bash -euo pipefail -c 'pytest | tee log; echo done'
test -f x || exit 1
[ -f README.md ]
[[ -n "$(git log -1 --format=%s)" ]]
[ "$(wc -l < README.md)" -gt 10 ]
test "$(python -c 'import app; print(app.__version__)')" = 1.2.3
grep -q 'version = "1.2' pyproject.toml
! grep -q foo file
! grep -rn 'console.log' src/
! pytest tests/known_broken
if grep -q foo file; then exit 1; fi
if ! make check; then echo 'check failed' >&2; exit 1; fi
cmd || { echo failed; exit 1; }
cmd || (echo failed; exit 1)
cmd && echo ok || exit 1
diff a b | tee out
diff <(sort a) <(sort b)
cmp expected.txt actual.txt
git diff --exit-code
git diff --check
git grep -q diff
git ls-files --error-unmatch diff
test -z "$(git diff --name-only)"
git diff --stat; pytest
git diff --name-only | grep -q src/
git diff $RANGE --exit-code
! git diff --name-only | grep -v '^docs/'
git diff --quiet HEAD -- generated/ || { git diff --stat; exit 1; }
test -z "$(git status --porcelain)"
make test & wait $!
python -m http.server 8000 & pid=$!; sleep 1; curl -sf localhost:8000; rc=$?; kill $pid; exit $rc
npm start & npx wait-on http://localhost:3000 && npx cypress run
trap 'rm -f x' EXIT; cmd
trap 'kill $(jobs -p)' EXIT; ./server & sleep 1; ./client
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT; ./build.sh "$tmp" && ls "$tmp"/app
for i in 1 2 3; do (cd x && pytest) && break; done
for i in 1 2 3; do (pytest) && break; done
for i in 1 2 3; do (cd x && pytest) && exit 0; done; exit 1
pytest || (pytest)
for d in a b; do (cd $d && pytest) || exit 1; done
f() { cd "$1" && pytest; }; f a && f b
rc=0; for d in a b; do (cd $d && pytest) || rc=1; done; exit $rc
for f in *; do sh "$f" || exit 1; done
for f in tests/*.sh; do bash "$f" || { echo "$f failed"; exit 1; }; done
for v in 3.11 3.12; do "python$v" -m pytest -q || exit 1; done
fail=0; for f in *.json; do jq empty "$f" || fail=1; done; exit $fail
rc=0; pytest || rc=1; npm test || rc=1; exit $rc
pytest; rc=$?; rm -rf .cache; exit $rc
pytest > log 2>&1 || { cat log; false; }
pytest || pytest --lf
until curl -sf localhost:8080/health; do sleep 1; done
while ! nc -z localhost 5432; do sleep 1; done
for i in 1 2 3; do curl -sf localhost && exit 0; sleep 1; done; exit 1
while read -r f; do test -f "$f" || exit 1; done < files.txt
find . -name '*.py' -print0 | xargs -0 python -m py_compile
find src -name '*.tmp' | grep -q . && exit 1 || exit 0
ls dist/*.whl
make build; ls dist/app
make; ./run-tests
command -v node >/dev/null && node --test
node --check server.js
node -e "require('./')"
python -c 'import app'
python - <<'EOF'@import app@assert app.ok@EOF
cat <<EOF | python -@print(1)@EOF
curl -sf http://localhost:8080/health
curl -s localhost/api | jq -e '.ok == true'
exists() { test -f "$1" || return 1; }; exists a && exists b
exists() { test -f "$1" || return 1; }; exists a || exit 1; exists b
set -e; exists() { test -f "$1" || return 1; }; exists a; exists b
set -e; t() { pytest "$1" || return 1; }; t a; t b
check() { if ! bash -n "$1"; then return 1; fi; }; check a || exit 1; check b
fails=0; t() { if [ "$1" = "$2" ]; then echo ok; else ((fails++)); fi; }; t a b; t c d; exit $fails
f() { rc=1; }; t() { if [ "$1" = "$2" ]; then echo ok; else f; fi; }; t a b; t c d; exit ${rc:-0}
wait_for() { for i in 1 2 3; do [ -f $1 ] && return 0; sleep 1; done; return 1; }; wait_for a
maybe() { [ -f "$1" ] && cp "$1" out/; }; maybe a; maybe b; ./check
log() { if [ -n "$VERBOSE" ]; then echo "$1"; fi; }; log a; ./x && log b
ensure() { [ -d "$1" ] || mkdir "$1"; }; ensure a; ensure b
c() { grep -q "$1" x || echo bad; }; { c a; c b; } | grep -q bad && exit 1 || exit 0
curl -s http://localhost:8080 | grep -q ok
curl -fsS -o /dev/null http://localhost/health
curl -so /dev/null --fail-with-body https://localhost/health
curl -s --fail "$URL"
curl -s $OPTS http://localhost/health
curl -K checks.curl http://localhost/health
curl -sX POST -H "Authorization: Bearer $T" -d a=b -f http://localhost/
curl --version
curl -s file:///tmp/x
curl -sO https://example.org/x.tgz && tar xzf x.tgz
curl -s localhost/x > x.json; jq -e .ok x.json
test "$(curl -s -o /dev/null -w '%{http_code}' localhost)" = 200
x=$(curl -s localhost) && [ "$x" = ok ]
diff <(curl -s localhost) expected.html
curl -s localhost/reset && pytest
until curl -s localhost; do sleep 1; done; ./check
wget -q --spider http://localhost/health
jq -e . package.json >/dev/null
pytest --cov=src --cov-fail-under=90
coverage run -m pytest && coverage report --fail-under=80
tox -e py312,lint
nox -s tests
uv run pytest -q
poetry run pytest
pre-commit run --all-files
case "$(uname)" in Linux) make linux-test;; *) make test;; esac
check() { pytest -q; }; check
run() { echo "+ $*"; "$@"; }; run pytest && run npm test
export CI=1; npm test
source .venv/bin/activate && pytest
. ./env.sh; pytest
out=$(./app --version) && [[ $out == 1.* ]]
out=$(pytest -q 2>&1) || { echo "$out"; exit 1; }
./app --help | grep -q usage
wc -l < src/main.c | awk '{exit $1 > 500}'
pytest -q --junitxml=report.xml; python scripts/check_report.py report.xml
pytest > out.txt; grep -q '0 failed' out.txt
exec pytest -q
sudo -u postgres psql -c 'select 1'
xvfb-run npm run test:ui
set +e; pytest; code=$?; set -e; [ $code -eq 0 ]
find . -name '*.pyc' -exec rm -f {} \; && pytest
find . -name '*.py' -exec python -m py_compile {} +
find build -name app -exec ls -l {} \;
test -z "$(find . -name '*.orig' -exec echo {} \;)"
find src -name '*.c' -exec clang-format --dry-run -Werror {} +
make -j4 -C build test
make -f ci/main.mk test
make -k test
ruff check --exit-zero . | tee lint.txt | grep -c E501
ruff check --exit-zero . && pytest
script -qec 'pytest -q' /dev/null
timeout 0 pytest
setsid -w pytest
setsid pytest
xargs -r pytest < files.txt
git ls-files '*.sh' | xargs -r shellcheck
coproc ./serve; ./client
echo pytest | bash
printf '%s\n' 'set -e' 'pytest' | bash
echo 'set -e; pytest; echo done' | bash
cat <<EOF | bash@pytest@EOF
[ 1 = 1 ] && pytest
pytest; [ $? = 0 ]
pytest; [ $? -lt 1 ]
pytest; [[ $? == 0 ]] && echo ok
pytest; exit $(($? != 0))
rc=0; pytest || rc=$?; exit $rc
rc=0; for t in a b; do [ $t = b ] && exit $rc; pytest $t || rc=1; done
rc=0; trap 'rc=1' USR1; ./run-and-signal $$; exit $rc
rc=0; pytest || : $((rc=1)); exit $rc
rc=0; f() { rc=1; }; pytest || f; exit $rc
rc=0; trap 'rc=1' ERR; pytest; exit $rc
rc=0; while read -r f; do sh "$f" || rc=1; done < files.txt; exit "$rc"
unset rc; pytest || rc=1; exit ${rc}
docker run --rm app sh -c 'cd x && pytest'
docker run --rm app bash -euo pipefail -c 'pytest | tee log; echo done'
docker run --entrypoint bash app -c 'pytest || true; ./check'
docker run --rm app sh -c 'echo hello'
kubectl exec pod -- bash check.sh
uv run sh -c pytest
eval pytest -q
eval "$(./env.sh)" && pytest
time (pytest)
for f in bin/*.sh; do bash -n "$f" || exit 1; done
set -e; for f in bin/*.sh; do bash -n "$f"; done
set -e; grep -q a f; grep -q b f
for i in 1 2 3; do ./ready && break; sleep 1; done; ./ready
for i in 1 2 3; do ./ready && break; done
for i in 1 2 3; do if ./ready; then exit 0; fi; sleep 1; done; exit 1
until ./ready; do sleep 1; done; ./check
for f in a b; do cp "$f" x; done; ./check
test -d build && rm -r build; pytest
[ -f .env ] && . ./.env; pytest
if [ -f a ]; then ./b; fi
grep -q x f || echo x >> f; ./check
grep -q x f; rc=$?; rm f; exit $rc
for d in */; do [ -f "$d/Makefile" ] || continue; make -C "$d" || exit 1; done
fail=0; for f in *.sh; do bash -n "$f" || fail=1; done; exit $fail
fail=; for f in *.sh; do bash -n "$f" || fail=1; done; [ -z "$fail" ]
n=0; for f in *.sh; do bash -n "$f" || ((n++)); done; ((n == 0))
for f in *.sh; do bash -n "$f" || bad="$bad $f"; done; test -z "$bad"
for f in *.sh; do bash -n "$f" || { echo "$f"; false; } || exit 1; done
bash -n a && bash -n b
trap 'exit 1' ERR; for f in *.sh; do bash -n "$f"; done
set -e; check() { bash -n "$1"; }; check a; check b
check() { bash -n "$1"; }; check a && check b
check() { bash -n "$1" || exit 1; }; check a; check b
ok() { echo "ok $1"; }; die() { echo "$1"; exit 1; }; bash -n a || die a; bash -n b || die b
for p in 8000 8001; do curl -sf localhost:$p || exit 1; done
for c in a b; do docker rm -f $c; done; pytest
server & for i in $(seq 9); do curl -sf :80/ && break; sleep 1; done; curl -sf :80/x | grep -q ok
for f in $(git ls-files '*.sh'); do bash -n "$f" || exit; done
while IFS= read -r f; do bash -n "$f" || exit 1; done < <(git ls-files '*.sh')
./gen; test -f out
test -f out
for f in a b; do echo $f; done
for i in 1 2 3 4 5; do nc -z localhost 80 && break || sleep 1; done; ./check
test -z "$X" || echo x; ./y
[ "$1" = x ]
find . -name x | while read f; do test -f "$f" || exit 1; done
ls *.sh | xargs -n1 bash -n
python3 gen.py && test -s out.txt && grep -q x out.txt
c() { [ -f "$1" ] || { echo missing $1; exit 1; }; }; c a; c b
ok=1; for f in a b; do grep -q x $f || ok=0; done; [ $ok -eq 1 ]
ok=1; for f in a b; do if grep -q x $f; then :; else ok=0; fi; done; [ $ok = 1 ]
count=0; for f in a b; do grep -q x $f && count=$((count+1)); done; [ $count -eq 2 ]
for f in a b; do grep -q x $f && ((c++)); done; [[ $c -eq 2 ]]
for f in a b; do grep -q x "$f" && echo "$f"; done | wc -l | grep -qx 2
! for f in a b; do grep -q x $f && break; done
for f in a b; do grep -q x "$f" || echo "$f"; done | grep -q . && exit 1 || exit 0
test "$(for f in a b; do grep -q x $f || echo $f; done)" = ""
end() { rc=$?; docker compose down; exit $rc; }; trap end EXIT; docker compose up -d && ./smoke.sh
end() { rc=$?; [ $rc -eq 0 ] && echo PASS || echo FAIL; exit $rc; }; trap end EXIT; ./a && ./b
end() { rc=$?; kill $pid; wait $pid; exit $rc; }; trap end EXIT; ./server & pid=$!; npm test
ok() { if [ $? -ne 0 ]; then echo "$1 failed"; exit 1; fi; }; make; ok make; make test; ok test
ok() { [ $? -eq 0 ] || { echo "$1 failed"; exit 1; }; }; ./a; ok a; ./b; ok b
ok() { local rc=$?; if (( rc )); then echo "$1"; exit $rc; fi; }; pytest; ok py; npm test; ok npm
: > bad; for t in t/*.sh; do bash "$t" || echo "$t" >> bad; done; ! [ -s bad ]
: > bad; for t in t/*.sh; do bash "$t" || echo "$t" >> bad; done; ! grep -q . bad
out=$(for t in t/*; do bash "$t" || echo FAIL; done); echo "$out"; ! grep -q FAIL <<< "$out"
for t in t/*; do bash "$t" && echo ok || echo bad; done | sort -u | grep bad && exit 1 || exit 0
./a | sort | grep FAIL && exit 1 || exit 0
make 2>&1 | tee log | grep -i warning && exit 1 || exit 0
! { grep -q y a || grep -q z a; }
grep -q x a; test $? -ne 0
cmp -s a b; [ $? -eq 1 ]
make test | tee log; for s in ${PIPESTATUS[*]}; do [ $s -eq 0 ] || exit 1; done
make test | tee log; [[ "${PIPESTATUS[*]}" == "0 0" ]]
make test | tee log; [ "${PIPESTATUS[*]}" = "0 0" ]
make test | tee log; st=(${PIPESTATUS[*]}); exit ${st[0]}
pytest && [ "$(<VERSION)" = 1 ]
pytest && v=$(< VERSION) && [ "$v" = 1 ]
{ pytest; echo $? > rc; } 2>&1 | tee log; exit $(cat rc)
{ pytest; echo $? > rc; } 2>&1 | tee log; exit "$(<rc)"
{ pytest; echo $? > rc; } 2>&1 | tee log; [ "$(cat rc)" = 0 ]
{ pytest; echo $? > rc; } 2>&1 | tee log; read -r rc < rc; exit $rc
(make test; echo $? > rc) | tee log; rc=$(cat rc); exit $rc
(./run-tests; printf '%s\n' "$?" > .rc) | tee log; exit `cat .rc`
bash -c 'pytest; echo $? > rc' | tee log; exit $(cat rc)
echo 1 > rc; { pytest; echo $? > rc; } | tee log; exit $(cat rc)
pytest; echo $? > rc; exit $(cat rc)
./a; echo $? > rc; docker compose down; test "$(cat rc)" -eq 0
for f in in/*; do ./tool "$f"; done | diff - expected.txt
cat urls | while read -r u; do curl -s "$u"; done | grep -q ok
for t in t/*.sh; do bash "$t" >/dev/null && echo ok; done | grep -c ok | grep -qx 5
./gen-tests.sh; ./run-tests.sh
npm run generate:tests; npm test
make prepare-tests; make test
python3 app.py -c 'os.system("pytest")'
julia -e 'run(`pytest`)'
perl -we 'exit system("pytest") >> 8'
npx eslint --max-warnings 0 .
uv run ruff check .
docker build -t make -i .
uv run python check.py -i
python -I -W ignore check.py
python -m cProfile -o p.prof x.py && python check_prof.py p.prof
cmake --build build -- -v -j4
gdb -batch -return-child-result -ex run --args ./tests
python -c 'import doctest, sys; sys.exit(doctest.testfile("d.txt").failed)'
python -m app make -i
docker compose run --rm app git diff --exit-code
ssh host 'make test'
trivy image --exit-code 1 app
mvn test -Dmaven.test.failure.ignore=false
test -f out.txt && git diff
find . -name '*.pyc' -exec rm -f {} \; && ls dist
cat <(echo 'pytest || true') && pytest
bash <(echo pytest)
git commit -m "$(cat <<'X'@run pytest || true@X@)" && pytest
env -S 'pytest -q'
unset rc; pytest -q; : "${rc:=$?}"; exit $rc
rc=; pytest -q || : "${rc:=$?}"; npm test || : "${rc:=$?}"; exit ${rc:-0}
rc=; make; rc=${rc:-$?}; ls; exit $rc
python -O -c 'import app'
PYTHONOPTIMIZE=0 python -c 'assert ok'
die() { echo no; return 1; }; test -f a || die
die() { echo no; exit 1; }; test -f a || die; test -f b || die
die() { echo no; return 1; }; set -e; test -f a || die; test -f b || die
die() { echo no; return 1; }; test -f a || die || exit 1; test -f b || die
die() { echo no; return 1; }; test -f a || die || exit $?; test -f b || die
check() { test -f a || return 1; test -f b || return 1; }; check
gen() { cd gen || return 1; ./gen.sh; }; gen; ./check
need() { [ -n "$1" ] || return 1; cp "$1" out; }; need "$x"; ./check
need() { [ $# -eq 1 ] || return 1; cp "$1" out; }; need "$x"; ./check
up() { curl -sf localhost || return 1; }; if up; then ./a; else ./b; fi
up() { curl -sf localhost || return 1; }; until up; do sleep 1; done; ./a
rc=0; t() { ./x "$1" || return 1; }; t a || rc=1; t b || rc=1; exit $rc
t() { ./x "$1" || return 1; }; t a; rc=$?; t b || rc=1; exit $rc
set -e; t() { ./x "$1" || return 1; }; t a; t b
trap 'exit 1' ERR; test -f a || false; test -f b
retry() { for i in 1 2 3; do "$@" && return 0; sleep 1; done; return 1; }; retry ./a; ./b
t() { ./x "$1" || { echo "$1" >> bad.txt; return 1; }; }; t a; t b; ! test -s bad.txt
./a || { touch failed; false; }; ./b || { touch failed; false; }; [ ! -e failed ]
n=0; bad() { n=$((n + 1)); }; t() { if ! "$@"; then bad; return 1; fi; }; t ./a; t ./b; exit $n
ok=true; t() { if ! ./x "$1"; then ok=false; return 1; fi; }; t a; t b; $ok
start() { ./server & sleep 1; kill -0 $! || return 1; }; start; pytest
(cd x || exit 1; ./gen); ./check
{ ./server || exit 1; } & ./client
if ! ./a; then exit 1; fi; ./b
for i in 1 2 3; do curl -sf localhost && break; sleep 1; done; pytest
grep -q x f || echo x >> f; pytest
[ -f .env ] && . ./.env; npm test
true
echo ok
""".strip().split("\n")  # "@" stands for a line's end

MASKED = r"""
for d in a b; do (cd $d && pytest); done
for d in a b; do (cd $d && ./check.sh); done
for d in a b; do bash -c "cd $d && ./check.sh"; done
for d in a b; do (cd $d && pytest | tee log); done
f() { cd "$1" && pytest; }; f a; f b
pytest; bash -c 'cd b && pytest'
INSTA_FORCE_PASS=1 cargo nextest run
export INSTA_FORCE_PASS=1; cargo test
env INSTA_FORCE_PASS=1 INSTA_UPDATE=always cargo test --workspace
go test -exec true ./...
go test -exec=/bin/true ./...
bazel test --run_under=true //...
npm test --script-shell=/bin/true
just --shell true test
timeout 60 go test ./... || [ $? -eq 124 ]
find tests -name 'test_*.py' -exec $PYTHON -m pytest {} \;
pytest || true
pytest -q || :
pytest; true
pytest; exit 0
pytest &
pytest & wait
pytest || echo failed
pytest || echo 'tests failed' >&2
pytest -q 2>/dev/null || /bin/true
pytest || command true
pytest && echo ok || echo failed
pytest; echo "exit code: $?"
pytest; echo done; exit $?
pytest || [ 1 -nt 2 ]
pytest || exit 0
(pytest) || exit 0
(pytest || true) && true
{ pytest; true; }
set +e; pytest; echo done
set -e; set +e; pytest; true
set +o pipefail; pytest | tail -5
set +o pipefail; pytest 2>&1 | tee log
set +o pipefail; make lint | sed s/a/b/
mvn -V test; ls
if pytest; then :; fi
if pytest; then echo ok; else echo failed; fi
if ! pytest; then echo failed; fi
bash -c 'pytest || true'
bash -c 'pytest | tee log'
sh -c "pytest; exit 0"
bash -lc 'pytest; true'
bash <<< 'pytest || true'
bash -e -s <<'EOF'@pytest || true@EOF
sh <<EOF@pytest | tail -5@EOF
eval "pytest || true"
trap 'exit 0' EXIT; pytest
trap 'exit 0' ERR; pytest
export OUT=$(pytest)
echo "$(pytest)"
f() { pytest || true; }; f
run() { "$@" || true; }; run pytest
f() { pytest; return 0; }; f
pytest > log 2>&1; cat log
pytest > log 2>&1; tail -5 log
pytest; rm -rf .pytest_cache
pytest; ls
pytest; docker compose down
npm test; pkill -f server
if npm test; then npm run deploy; fi
make test &> out; wc -l out
exit 0; pytest
for i in 1 2 3; do curl -sf localhost && break; sleep 1; done
! pytest || true
time pytest || true
timeout 60 pytest || true
pytest ||@true
pytest <<EOF || true@x@EOF
[ -f x ] || true
npm run build; exit 256
case $x in a) pytest || true;; *) true;; esac
(set +o pipefail; pytest | cat)
docker run --rm app sh -c 'pytest || true'
docker compose run web bash -c "pytest; exit 0"
kubectl exec pod -- sh -c 'pytest | tee log'
uv run bash -c 'pytest; true'
poetry run sh -c 'pytest || echo failed'
coproc pytest
coproc pytest -q; wait
pytest; [ 1 = 1 ]
pytest; [[ 1 == 1 ]]
pytest; [ -n "x" ]
pytest; [ -z '' ]
pytest; [ $? ]
pytest; [ $? -ge 0 ]
pytest; test 1 -eq 1
pytest; test 2 -gt 1
pytest; ((1))
pytest; let 1
pytest || [ 1 = 1 ]
pytest; exit $((0))
pytest; exit $((1-1))
pytest; exit $(($? * 0))
pytest || exit $((0))
x=0; pytest; exit $x
pytest; rc=0; exit "$rc"
pytest; echo done; rc=$?; exit ${rc}
rc=0; (pytest || rc=1); exit $rc
rc=0; cat list | while read f; do pytest $f || rc=1; done; exit $rc
find tests -name 'test_*.py' -exec pytest {} \;
find . -name '*.sh' -exec bash -n {} \;
find . -name '*.sh' -exec sh -c 'shellcheck "$1"' _ {} ';'
cd src && find . -name '*_test.py' -execdir python -m pytest {} \;
echo 'pytest || true' | bash
echo 'pytest; exit 0' | bash -s
printf '%s\n' 'pytest | tee log' | sh
printf 'pytest || true\n' | bash
eval pytest '||' true
time (pytest || true)
setsid -f pytest
setsid --fork pytest
make -i test
make -ki test
make test --ignore-errors
make -n test
make --dry-run test
ruff check --exit-zero .
flake8 --exit-zero src
pylint --exit-zero src; echo done
golangci-lint run --issues-exit-code 0
gitleaks detect --exit-code 0
trivy fs --exit-code=0 .
newman run api.json --suppress-exit-code
k6 run --no-thresholds load.js
lit --ignore-fail tests
vale --no-exit docs
checkov -d . --soft-fail
clang-format --dry-run src/a.c
exists() { test -f "$1"; }; exists a; exists b
exists() { test -f "$1" || { echo "no $1"; return 1; }; }; exists a; exists b
exists() { if test -f "$1"; then return 0; else return 1; fi; }; exists a; exists b
exists() { if [ ! -f "$1" ]; then echo "no $1"; return 1; fi; }; exists a; exists b
no() { [ -e "$1" ] && return 1; return 0; }; no a; no b
check() { if ! bash -n "$1"; then return 1; fi; }; check a; check b
has() { grep -q "$1" x && echo "ok $1" || { echo "no $1"; return 1; }; }; has a; has b
same() { [ "$1" = "$2" ] || return 1; }; same "$(./a)" 1; same "$(./b)" 2
curl http://localhost/health
curl -sS localhost:8080
curl -s -o f -H 'Accept: x/y' --max-time 5 https://localhost/f
curl -sXf http://localhost
curl --silent "$URL"
curl -s "http://localhost:$PORT/health"
curl -s -H "Authorization: Bearer $T" --header "X: $Y" http://localhost
curl -s localhost | head -1
curl -s localhost > out.html
curl -w '%{http_code}' localhost; echo
timeout 5 curl localhost && echo up
./check || curl -d failed http://hooks.example/x
x=$(curl -s localhost); echo "$x"
wget -q --spider http://a; wget -q --spider http://b
git diff -- src
git diff --stat
git --no-pager -c core.pager=cat -C sub diff
git --no-pager diff HEAD -- generated
make generated && git diff -- generated || true
sqlfluff lint --nofail src
mix credo --mute-exit-status
gofmt -l .
goimports -l cmd; echo done
golint ./...
cppcheck --enable=all src
docker compose -f test.yml up --build
docker-compose up web
docker compose up && echo fine
semgrep scan --config auto
script -qc 'pytest' /dev/null
! pytest; true
pytest && true || true
timeout 0 pytest || true
xargs -r pytest < files.txt || true
pytest -q; ruff check .
pytest; exit $(( $? > 1 ))
rc=0; pytest; read -r rc < status; exit $rc
rc=0; pytest || : ${rc:=1}; exit $rc
shopt -s lastpipe; rc=0; pytest | while read -r f; do grep -q FAIL <<< "$f" && rc=1; done; exit $rc
for f in bin/*.sh; do bash -n "$f"; done
for f in conf/*.json; do python3 -m json.tool "$f" > /dev/null; done
find bin -name "*.sh" | while read -r f; do bash -n "$f"; done
for f in bin/*.sh; do test -s "$f"; done
for w in nosuch x; do grep -q "$w" src/a.py; done
check() { bash -n "$1"; }; check bin/a.sh; check bin/z.sh
bash -n bin/a.sh; bash -n bin/z.sh
grep -q nosuch src/a.py; grep -q x src/a.py
test -f nosuch; test -f src/a.py
for d in lib src; do (cd $d && python3 -c "import a"); done
for f in *.sh; do bash -n "$f" && echo "$f ok"; done
for f in *.sh; do shellcheck "$f"; done
for f in *.py; do python3 -m py_compile "$f"; done && echo ok
bash -c 'for f in *.sh; do shellcheck "$f"; done'
while read -r f; do shellcheck "$f"; done < files.txt
cat list | while read -r f; do node --check "$f"; done
for i in 1 2 3; do ./check; done
for f in *.sh; do if ! bash -n "$f"; then echo "bad $f"; fi; done
[ -f a ]@[ -f b ]
[[ -f a ]]; echo ok
for d in a b; do make -C $d; done
for f in *.sh; do timeout 5 bash "$f"; done
test -d build; ls build
cmp -s a b; cmp -s c d
for f in a b; do [ -f "$f" ] && grep -q x "$f"; done
for f in a b; do diff $f $f.orig; done
! grep -q a f; ! grep -q b f
for f in *.py; do ! grep -q print "$f"; done
pytest | tee log | tail -5 || true
pytest | cat | cat || exit 0
go test ./... 2>&1 | tee out | grep -v skip || :
test -f x && pytest | tee log | tail || true
echo 'pytest || true' | bash | tee log
cat <<E | sh | tee log | tail@pytest; exit 0@E
pytest <<E | tee log | tail || true@x@E
f() { [ $? -ge 0 ]; }; pytest; f x
f() { if [ $? -ne 0 ]; then echo "$1 failed"; fi; }; make test; f tests
on_exit() { rc=$?; docker compose down; exit 0; }; trap on_exit EXIT; pytest
for f in *.sh; do shellcheck "$f"; done && ! grep -rq print src
grep -q a f; test $? -ge 0
pytest <<E || true | cat@x@E
make test | tee log; [[ "${PIPESTATUS[*]}" == *0 ]]
make test | tee log; [ "${PIPESTATUS[1]}" = 0 ]
make test | tee log; for s in ${PIPESTATUS[*]}; do [ $s -eq 0 ]; done
make test | tee log; st=(${PIPESTATUS[*]}); exit ${st[1]}
{ pytest; echo $? > rc; } | tee log; exit $(cat rc2)
{ pytest; ls; echo $? > rc; } | tee log; exit $(cat rc)
{ pytest; echo $? > rc; echo 0 > rc; } | tee log; exit $(cat rc)
{ pytest; echo $? > rc; } | tee log; [ "$(cat rc)" -ge 0 ]
{ pytest; echo $? > rc; } | tee log; test -n "$(<rc)"
{ pytest; echo $? > rc; } | tee log; ls > rc; exit $(cat rc)
pytest; echo $(<log)
for f in *.sh; do shellcheck "$f"; done | tee log
for f in *.sh; do shellcheck "$f"; done 2>&1 | sort -u | tail -3
find . -name '*.sh' | while read -r f; do shellcheck "$f"; done | tee log
npm run test:download; ls
python3 -Bc 'import os; os.system("pytest")'
perl -we 'system("pytest")'
perl -e'system("pytest")'
ruby3.2 -e 'system("rspec")'
lua -e 'os.execute("pytest")'
node --eval='require("child_process").spawn("jest")'
ts-node -e 'spawn("jest")'
die() { echo no; return 1; }; test -f a || die; test -f b || die
die() { echo no; return 1; }; ./a || die; ./b || die
die() { echo no >&2; false; }; for f in a b; do test -f $f || die; done
die() { return 1; }; ls a || die; ls b || die
die() { return 1; }; ./a | grep -q x || die; ./b
die() { return 1; }; out=$(./a) || die; ./b
die() { return 1; }; [ "$(./a)" = 1 ] || die; [ "$(./b)" = 2 ] || die
die() { echo "$1"; return 1; }; bad() { die "$1"; }; bash -n a || bad a; bash -n b || bad b
test -f a || { echo no; false; }; test -f b || { echo no; false; }
test -f a || (echo no; exit 1); test -f b || (echo no; exit 1)
if ! test -f a; then false; fi; if ! test -f b; then false; fi
if [ -e x ]; then echo bad; false; fi; ./b
if ./a; then :; else false; fi; ./b
[ -e x ] && false; ./b
f() { if ! test -f a; then return 1; fi; }; g() { if ! test -f b; then return 1; fi; }; f; g
check() { ./a || return 1; }; check; ls
./a || { touch failed; false; }; ./b
f() { test -f a || exit 1; }; (f); ls x
bash -c 'test -f a || exit 1'; ls x
test -f a || return 1; test -f b
x=$(./a || exit 1); ./b "$x"
bash -c 'test -f a || false; test -f b'
uv run ruff check --exit-zero .
poetry run make -i test
python -m flake8 --exit-zero src
docker run --rm app make -n test
uv run python -c 'import os; os.system("pytest")'
go tool staticcheck -fail none ./...
npx -y cspell --no-exit-code .
cd src && flake8 --exit-zero .
python -i check.py
python3 -Bi -c 'assert f()'
python -m cProfile -m pytest
python -m trace --count -C out check.py
uv run python -m pdb -c continue check.py
cmake --build build --target test -- -n
cmake --build build -- -i
gdb -batch -ex run --args ./tests
python -c 'import doctest; doctest.testfile("d.txt")'
mkdir -p out && gofmt -l . > out/x
cd x && bash -c 'ruff check --exit-zero .'
ruff check --fix-only src
scons -i test
invoke -w test
trivy fs .
mvn test -Dmaven.test.failure.ignore=TRUE
eval "$(echo 'pytest -q; true')"
source <(echo 'pytest -q; true')
bash <(printf '%s' 'pytest -q; true')
bash -c "$(cat <<'X'@pytest -q; true@X@)"
perl <<'X'@system("pytest");@X
node - <<'X'@require("child_process").spawnSync("jest")@X
env -S 'bash -c "pytest; ls"'
grep -q a x; pytest
pytest -q; : "${rc:=$?}"; exit $rc
rc=; pytest; ls; : "${rc:=$?}"; exit $rc
rc=1; pytest; unset rc; exit $rc
test -f a; npm test
! grep -rn print src; make test
for f in *.sh; do bash -n "$f"; done; pytest
""".strip().split("\n")
