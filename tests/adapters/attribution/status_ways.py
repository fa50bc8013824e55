"""Ways for a runner's status through a command, sorted by what bash itself made of each.

Each was run with a ``pytest`` that fails (and ``jest``, where it is there, that does not, and the
other way round): of ``LOST`` the command ended with 0, of ``KEPT`` it did not, and with 0 where both
passed. A line's end is written as "⏎".
"""

# ruff: noqa: E501  (a command a line)

from __future__ import annotations

LOST = r"""
! while read line; do command pytest; done <<< x
set -n; pytest
set -e -o noexec; pytest
bash -nc 'pytest'
bash +e -c 'pytest; ls'
x=; : ${x:=0}; pytest || exit $x
pytest; rc=$?; printf -v rc 0; exit $rc
rc=1; declare -n other=rc; pytest; other=0; exit $rc
trap 'echo x; exit' EXIT; pytest; ls
set +o pipefail; echo x | pytest | cat
f() { pytest; }; g() { ls; }; f; g
awk -F: 'BEGIN { system("pytest") }'
pytest || true
pytest || :
pytest || echo failed
pytest || exit 0
pytest || { echo x; }
pytest || (echo x)
pytest && echo ok || echo no
pytest; true
pytest; :
pytest; echo done
pytest; exit 0
pytest; ls
pytest; date
pytest; make -v
pytest; git --version
pytest; python3 -c 'pass'
pytest; sleep 0
pytest; cd /
pytest; [ -d / ]
pytest; test -n x
pytest; test -z "$NOPE"
pytest; x=1
pytest; x=$?
pytest; x=$?; exit 0
pytest; x=$?; echo $x
pytest; exit $((0))
pytest; exit $(($? - $?))
pytest; exit $(($? * 0))
pytest; exit $(($? & 0))
pytest; exit $(($? > 1))
pytest; exit $(( $? ? 0 : 1 ))
pytest; exit $((! $?))
pytest; exit $(echo 0)
pytest; exit ${NOPE:-0}
pytest; [ $? -ge 0 ]
pytest; [ $? -lt 2 ]
pytest; [ $? -le 1 ]
pytest; [[ $? -lt 255 ]]
pytest; [[ $? == [01] ]]
pytest; (( $? < 9 ))
pytest; let "$? < 9"
pytest; let 1
for x in $(pytest); do echo $x; done
for x in a `pytest` b; do echo $x; done
set -e; for x in $(pytest); do echo $x; done
case $(pytest) in *) ;; esac
case "$(pytest)" in *failed*) exit 1;; esac
set -e; case $(pytest) in *) echo ok;; esac
cat <<E⏎$(pytest)⏎E
cat <<E && echo ok⏎a $(pytest) b⏎E
pytest; case $? in 0) ;; *) ;; esac
pytest; case $? in 0|1) ;; *) exit 1;; esac
pytest; case $? in [01]) ;; *) exit 1;; esac
pytest; case $? in 2) exit 1;; esac
pytest; if [ $? -gt 1 ]; then exit 1; fi
pytest; if [ $? -ne 0 ]; then echo no; fi
pytest &
pytest & wait
pytest & sleep 0.1
pytest & true; wait
pytest & p=$!; wait $p; echo ok
pytest & p=$!; kill $p 2>/dev/null; true
pytest & wait $! || true
(pytest &)
(pytest) &
{ pytest; } & wait
(pytest); true
(pytest) || true
(pytest; true)
(pytest || true)
(exit 0; pytest)
{ pytest; true; }
{ pytest || :; }
! pytest || true
! pytest; true
if pytest; then :; fi
if pytest; then echo ok; else echo no; fi
if ! pytest; then echo no; fi
if pytest; then :; elif true; then :; fi
if pytest; then exit 0; fi; exit 0
if false; then pytest; fi
if true; then pytest; true; fi
while pytest; do break; done
while ! pytest; do break; done
until pytest; do break; done
while true; do pytest; break; done
while true; do pytest || break; exit 0; done
for i in 1 2; do pytest; true; done
for i in 1 2; do pytest || true; done
for i in 1 2; do pytest && break; sleep 0; done
for i in 1 2; do pytest || continue; done
for i in 1 2; do pytest || break; done
for i in; do pytest; done
for ((i=0;i<2;i++)); do pytest; echo; done
n=0; until pytest; do n=$((n+1)); [ $n -ge 2 ] && break; done
n=0; until pytest; do n=$((n+1)); [ $n -ge 2 ] && exit 0; done
case x in x) pytest; true;; esac
case x in y) pytest;; esac
case x in x) pytest || :;; *) ;; esac
f() { pytest; true; }; f
f() { pytest || true; }; f
f() { pytest; return 0; }; f
f() { pytest; }; f || true
f() { pytest; }; f; true
f() { pytest; echo; }; set -e; f || exit 1
f() { pytest; echo; }; set -e; if f; then :; else exit 1; fi
f() { set -e; pytest; echo; }; f && true
f() { local x=$(pytest); }; f
f() { "$@" || true; }; f pytest
f() { "$@"; true; }; f pytest
f() { $@; :; }; f pytest
f() { eval "$*" || true; }; f pytest
f() { "$@"; local rc=$?; echo $rc; }; f pytest
f() { for i in 1 2; do "$@" && return 0; sleep 0; done; }; f pytest
f() { shift; "$@" || :; }; f x pytest
trap 'exit 0' EXIT; pytest
trap 'rc=$?; echo; exit 0' EXIT; pytest
trap 'exit 0' ERR; pytest
trap 'echo failed' ERR; pytest; true
trap f EXIT; f() { exit 0; }; pytest
trap 'pytest' EXIT; true
trap pytest EXIT; exit 0
set -e; pytest || true
set -e; pytest && true; true
set -e; pytest && echo; echo
set -e; ! pytest; true
set -e; if pytest; then :; fi
set -e; pytest & wait
set -e; (pytest; echo) || true
set -e; (pytest; echo) && true
set -e; { pytest; echo; } && true
set -e; x=$(pytest; echo)
set -e; export x=$(pytest); echo
set -e; echo $(pytest)
set -e; set +e; pytest; echo
set +e; pytest; echo
set -e; set +o pipefail; pytest | cat
set +o pipefail; pytest | cat
set +o pipefail; pytest | tail -1
set +o pipefail; pytest | true
set +o pipefail; pytest |& tee /dev/null
pytest | cat; true
pytest | cat || true
{ pytest; true; } | cat
(pytest || true) | cat
pytest | cat; exit ${PIPESTATUS[1]}
x=$(pytest; true)
x=$(pytest || true)
x=$(pytest); echo $x
x=`pytest`; true
export X=$(pytest)
declare X=$(pytest)
readonly X=$(pytest)
X=$(pytest) true
echo "$(pytest)"
echo $(pytest) > /dev/null
: $(pytest)
: `pytest`
true "$(pytest)"
cat <(pytest)
cat < <(pytest)
while read -r l; do :; done < <(pytest)
(exec pytest); true
exec true; pytest
eval 'pytest || true'
eval "pytest; true"
eval pytest '||' true
x='pytest || true'; eval "$x"
x='pytest'; $x || true
bash -c 'pytest || true'
bash -c 'pytest; true'
bash -c 'pytest | cat'
bash -c "pytest" || true
bash -c "pytest"; true
bash -ec 'pytest || true'
bash -c 'bash -c "pytest"; true'
bash -c 'trap "exit 0" EXIT; pytest'
bash -c 'pytest' &
bash -c "pytest $NOPE || true"
bash -c "pytest $NOPE; exit 0"
sh -c 'pytest; :'
sh -c 'pytest | cat'
echo 'pytest; true' | bash
echo 'pytest || true' | bash
printf 'pytest\ntrue\n' | bash
bash <<< 'pytest; true'
bash <<< 'pytest || true'
bash <<'E'⏎pytest⏎true⏎E
bash <<'E'⏎pytest || true⏎E
bash -s <<'E'⏎pytest⏎exit 0⏎E
sh <<E⏎pytest | cat⏎E
cat <<'E' | bash⏎pytest⏎echo⏎E
source /dev/stdin <<< 'pytest || true'
. /dev/stdin <<'E'⏎pytest⏎true⏎E
env X=1 pytest || true
env -u X pytest; true
nice pytest; true
nohup pytest; true
timeout 9 pytest || true
timeout 9 pytest; :
time pytest || true
time { pytest; true; }
command pytest || true
"pytest"; true
setsid pytest; true
setsid -f pytest
stdbuf -o0 pytest || :
xargs pytest < /dev/null || true
echo a | xargs pytest || true
echo a | xargs -I{} sh -c 'pytest || true'
echo a | xargs -I{} bash -c 'pytest; true'
find /dev/null -exec pytest {} \;
find /dev/null -exec pytest {} \; -quit
find /dev/null -exec sh -c 'pytest || true' \;
find /dev/null -exec sh -c 'pytest || true' _ {} +
find /dev/null -exec pytest {} \; ; true
flock lock -c 'pytest || true'
flock lock sh -c 'pytest; true'
script -qc 'pytest' /dev/null
script -qec 'pytest || true' /dev/null
python3 -c 'import os; os.system("pytest")'
python3 -c 'import subprocess; subprocess.run(["pytest"])'
python3 -c 'import subprocess; subprocess.call("pytest")'
python3 <<'E'⏎import os⏎os.system("pytest")⏎E
perl -e 'system("pytest")'
awk 'BEGIN { system("pytest") }'
node -e 'require("child_process").spawnSync("pytest")'
coproc pytest
coproc pytest; wait
exit 0; pytest
true || pytest
false && pytest || true
pytest && true || true
pytest || jest
jest || pytest
pytest || { echo; exit 0; }
pytest || (exit 0)
pytest && exit 0 || exit 0
rc=0; pytest || rc=1; true
rc=0; pytest || rc=0; exit $rc
rc=0; (pytest || rc=1); exit $rc
rc=0; pytest || rc=1; rc=0; exit $rc
rc=0; pytest; rc=$((rc&$?)); exit $rc
rc=0; pytest || : ${rc:=1}; exit $rc
rc=; pytest || rc=1; [ -n "$rc" ]; true
ok=true; pytest || ok=false; echo $ok
ok=yes; pytest || ok=no; if [ "$ok" = nope ]; then exit 1; fi
ok=yes; pytest || ok=no; case $ok in nope) exit 1;; esac
fail=(); pytest || fail+=(x); echo ${#fail[@]}
fail=""; pytest || fail="$fail x"; echo "$fail"
pytest; rc=$?; true; exit 0
pytest; rc=$?; rc=0; exit $rc
pytest; rc=$?; [ $rc -ne 0 ] && echo bad; true
pytest; rc=$?; if (( rc > 5 )); then exit $rc; fi
pytest; rc=$?; sh -c 'exit 0'
pytest; a=$?; jest; b=$?; exit $((a*b))
pytest; a=$?; jest; b=$?; exit $((a&&b))
pytest; a=$?; jest; b=$?; exit $b
pytest; a=$?; jest; b=$?; [ $a -eq 0 ] || [ $b -eq 0 ]
pytest; a=$?; jest; b=$?; [[ $a == 0 || $b == 0 ]]
pytest; jest
jest; pytest
rc=0; true | { pytest || rc=1; }; exit $rc
pytest > log; cat log
pytest > log; rm -f log
pytest 2> /dev/null || true
pytest < /dev/null || true
pytest <<< x; true
pytest <<E || true⏎x⏎E
[ -d /nope ] && pytest; true
[ -d / ] && pytest || true
echo start; pytest; echo done
pushd / >/dev/null && pytest; popd >/dev/null
(cd / && pytest) ; cd /
cd / && pytest; cd -
set -u; pytest; :
umask 022; pytest; umask
pytest || # comment⏎true
{ pytest; } || { true; }
[[ 1 ]] && pytest || [[ 1 ]]
pytest || [[ 1 ]]
pytest || ((1))
pytest || test 1
pytest || [ 1 = 1 ]
pytest || [ $? -eq 1 ]
pytest || false || true
pytest && false || true
function f { pytest; true; }; f
f() ( pytest; true ); f
f() { pytest; } ; g() { f || true; }; g
f() { pytest; } ; g() { f; }; g &
f() { return 0; pytest; }; f
f() { pytest; exit 0; }; f
f() { trap 'return 0' ERR; pytest; }; f
jobs; pytest; jobs
pytest & jest & wait
pytest & a=$!; jest & b=$!; wait $a $b
pytest & a=$!; jest & b=$!; wait $a; wait $b
pytest & disown; true
for p in 1; do pytest & done; wait
pytest; printf 'x' > /dev/null
pytest; printf -v x y
pytest; read x < /dev/null; true
pytest; type ls
pytest; hash -r
pytest; unset x
pytest; rc=$?; unset rc; exit $rc
pytest; rc=$?; exit ${nope:-0}
pytest; a=(0 $?); exit $a
pytest || kill -0 $$
pytest || kill -CONT $$
trap 'rm -f x; exit 0' EXIT; pytest
pytest; export x=1
pytest; declare x
pytest; set -- a
pytest; eval true
pytest; eval :
pytest; source /dev/null
pytest; . /dev/null
pytest; command true
pytest; builtin :
pytest; exec true
pytest; /bin/true
pytest; $(true)
pytest; `true`
pytest; (:)
pytest; { :; }
pytest; if true; then :; fi
pytest; while false; do :; done
pytest; until true; do :; done
pytest; for x in; do :; done
pytest; for x in a; do :; done
pytest; case a in a) ;; esac
pytest; [[ a == a ]]
pytest; (( 1 ))
pytest; f() { :; }
pytest; true &
pytest; true | true
pytest; ! false
pytest; trap - EXIT
pytest; time true
pytest; coproc true
""".strip().split("\n")

KEPT = r"""
timeout 60 pytest || exit $?
timeout 60 pytest || { [ $? -eq 124 ] && echo slow; exit 1; }
timeout 60 pytest; rc=$?; case $rc in 0) exit 0;; *) exit 1;; esac
pytest || rc=1; exit ${rc:-0}
pytest || rc=$?; exit "${rc:-0}"
trap 'rm -f x; exit' EXIT; pytest
n=1; trap 'n=2' ERR; pytest || exit $n
pytest || [ a = 'b*' ]
pytest || [ 1 -gt 2 ]
set -e; shopt -s inherit_errexit; x=$(pytest; echo x)
trap 'rm -f x; exit' EXIT; pytest; exit
case $(pytest > /dev/null; echo $?) in 0) ;; *) exit 1;; esac
case "$(pytest >&2; echo $?)" in 0) echo ok;; *) exit 1;; esac
for x in $(echo a b); do pytest || exit 1; done
case "$(uname)" in Nope) ;; *) pytest;; esac
cat <<E && pytest⏎$(date)⏎E
cat <<'E' && pytest⏎$(pytest)⏎E
pytest; exit $(($? != 0))
pytest; exit $(( $? ? 1 : 0 ))
pytest; exit $?
pytest; exit "$?"
pytest; [ $? -eq 0 ]
pytest; [ $? -lt 1 ]
pytest; [[ $? == 0 ]]
pytest; (( $? == 0 ))
pytest; case $? in 0) ;; *) exit 1;; esac
pytest; if [ $? -ne 0 ]; then exit 1; fi
pytest & wait $!
pytest & p=$!; wait $p
pytest & p=$!; wait $p; rc=$?; exit $rc
(pytest); rc=$?; exit $rc
(pytest)
{ pytest; }
! ! pytest
if ! pytest; then exit 1; fi
if pytest; then :; else exit 1; fi
if pytest; then :; else false; fi
if pytest; then exit 0; fi; exit 1
if true; then pytest; fi
while true; do pytest && exit 0; exit 1; done
for i in 1 2; do pytest || exit 1; done
for i in 1 2; do pytest && break; done
for i in 1 2; do pytest && exit 0; done; exit 1
for ((i=0;i<2;i++)); do pytest || exit 1; done
n=0; until pytest; do n=$((n+1)); [ $n -ge 2 ] && exit 1; done
case x in x) pytest;; esac
f() { pytest; }; f
f() { pytest; return $?; }; f
f() { pytest || return 1; echo ok; }; f
f() { pytest; echo; }; set -e; f
f() { local x; x=$(pytest); }; f
f() { "$@"; }; f pytest
f() { $@; }; f pytest
f() { eval "$@"; }; f pytest
f() { "$@"; return; }; f pytest
f() { "$@"; local rc=$?; echo $rc; return $rc; }; f pytest
f() { for i in 1 2; do "$@" && return 0; done; return 1; }; f pytest
f() { for i in 1 2; do "$@" && return 0; done; }; f pytest
f() { shift; "$@"; }; f x pytest
trap 'true' EXIT; pytest
trap 'rc=$?; exit $rc' EXIT; pytest
trap 'exit' EXIT; pytest
trap 'true' ERR; pytest
trap 'exit 1' ERR; pytest; true
trap f EXIT; f() { echo; }; pytest
set -e; pytest
set -e; pytest; true
set -e; pytest; echo
set -e; pytest & wait $!; echo
set -e; (pytest; echo)
set -e; x=$(pytest); echo
set -e; pytest | cat
set -e; { pytest; echo; } | cat
set +o pipefail; cat /dev/null | pytest
set -o pipefail; pytest | cat
pytest | cat
pytest | true
pytest | tee /dev/null
pytest 2>&1 | tail -1
pytest | sed s/a/b/
true | pytest
pytest | jest
pytest | cat; exit ${PIPESTATUS[0]}
x=$(pytest)
x=$(pytest) || exit 1; echo ok
x=$(pytest) && echo ok
x=`pytest`
test "$(pytest; echo $?)" = 0
pytest > >(cat)
pytest | xargs -r true
exec pytest
exec pytest || true
(exec pytest)
exec 3>&1; pytest
eval pytest
eval "pytest"
x='pytest'; $x
bash -c pytest
bash -c 'pytest'
bash -c 'pytest; exit $?'
bash -ec 'pytest; true'
bash -o pipefail -c 'pytest | cat'
bash -c 'set -o pipefail; pytest | cat'
bash -c 'exec pytest'
bash -c "pytest $NOPE"
sh -c 'pytest'
sh -ec 'pytest; :'
echo 'pytest' | bash
bash <<< 'pytest'
bash <<'E'⏎pytest⏎E
bash -e <<'E'⏎pytest⏎true⏎E
source /dev/stdin <<< 'pytest'
env pytest
env X=1 pytest
nice pytest
nohup pytest
timeout 9 pytest
time pytest
time (pytest)
command pytest
builtin true; pytest
\pytest
'pytest'
setsid -w pytest
stdbuf -o0 pytest
xargs pytest < /dev/null
echo a | xargs pytest
echo a | xargs -I{} sh -c 'pytest'
find /dev/null -exec pytest {} +
find /dev/null -exec sh -c 'pytest' _ {} +
flock lock pytest
flock lock -c 'pytest'
script -qec 'pytest' /dev/null
perl -e 'exit(system("pytest") ? 1 : 0)'
perl -e 'system("pytest") == 0 or die'
awk 'BEGIN { exit system("pytest") }'
node -e 'require("child_process").execSync("pytest")'
coproc pytest; wait $!
true && pytest
pytest && true
pytest && jest
jest && pytest
pytest || false
pytest || exit 1
pytest || exit 3
pytest || { echo; exit 1; }
pytest || (exit 1)
pytest || return 1
pytest || kill -TERM $$
pytest && exit 0; exit 1
pytest || exit $?
pytest || exit
pytest; exit
pytest; (exit $?)
rc=0; pytest || rc=1; exit $rc
rc=0; pytest || rc=$?; exit $rc
rc=0; pytest || ((rc++)); exit $rc
rc=0; pytest || ((rc+=1)); exit $rc
rc=0; pytest || let rc+=1; exit $rc
rc=0; pytest || rc=$((rc+1)); exit $rc
rc=0; pytest; rc=$((rc|$?)); exit $rc
rc=0; pytest; ((rc+=$?)); exit $rc
rc=0; pytest; ((rc|=$?)); jest; ((rc|=$?)); exit $rc
rc=0; pytest || : $((rc=1)); exit $rc
unset rc; pytest || rc=1; exit $rc
rc=; pytest || rc=1; exit $rc
rc=; pytest || rc=1; [ -z "$rc" ]
rc=; pytest || rc=1; [ "$rc" ] && exit 1; exit 0
ok=true; pytest || ok=false; $ok
ok=true; pytest || ok=false; [ $ok = true ]
ok=yes; pytest || ok=no; if [ "$ok" = no ]; then exit 1; fi
ok=yes; pytest || ok=no; case $ok in no) exit 1;; esac
fail=(); pytest || fail+=(x); [ ${#fail[@]} -eq 0 ]
fail=(); pytest || fail+=(x); if [ ${#fail[@]} -gt 0 ]; then exit 1; fi
fail=""; pytest || fail="$fail x"; test -z "$fail"
fail=""; pytest || fail="$fail x"; [ -n "$fail" ] && exit 1; exit 0
pytest; rc=$?; true; exit $rc
pytest; rc=$?; [ $rc -eq 0 ]
pytest; rc=$?; [ $rc -eq 0 ] || exit 1
pytest; rc=$?; [ $rc -ne 0 ] && exit $rc; true
pytest; rc=$?; if [ $rc -ne 0 ]; then exit $rc; fi
pytest; rc=$?; if (( rc )); then exit $rc; fi
pytest; rc=$?; (( rc == 0 ))
pytest; rc=$?; (exit $rc)
pytest; rc=$?; bash -c "exit $rc"
pytest; a=$?; jest; b=$?; exit $((a+b))
pytest; a=$?; jest; b=$?; exit $((a||b))
pytest; a=$?; jest; b=$?; [ $a -eq 0 ] && [ $b -eq 0 ]
pytest; a=$?; jest; b=$?; [[ $a == 0 && $b == 0 ]]
pytest; a=$?; jest; b=$?; [ $a -eq 0 -a $b -eq 0 ]
shopt -s lastpipe; true | pytest
shopt -s lastpipe; set +o pipefail; rc=0; true | { pytest || rc=1; }; exit $rc
pytest > log || { cat log; exit 1; }
pytest > log; rc=$?; cat log; exit $rc
pytest > log && cat log
pytest < /dev/null
pytest <<E⏎x⏎E
[ -d / ] && pytest
pytest && [ -d / ]
ls / > /dev/null && pytest && ls / >/dev/null
echo start && pytest && echo done
echo start; pytest && echo done
true; pytest
pushd / >/dev/null && pytest && popd >/dev/null
(cd / && pytest)
exec 2>&1; pytest
set -x; pytest
ulimit -n 100; pytest
pytest;
pytest # comment
{ pytest; } && { true; }
(((1))) && pytest
pytest || ((0))
pytest || [ $? -eq 5 ]
function f { pytest; }; f
function f { pytest; }; f | cat
f() ( pytest ); f
f() { pytest; } ; g() { f; }; g
f() { pytest; exit; }; f
make() { pytest; }; make
wait; pytest
pytest & a=$!; jest & b=$!; wait $a && wait $b
pytest & a=$!; jest & b=$!; rc=0; wait $a || rc=1; wait $b || rc=1; exit $rc
pytest & wait -n
pids=; for p in 1 2; do pytest & pids="$pids $!"; done; for p in $pids; do wait $p || exit 1; done
pids=; for p in 1 2; do pytest & pids="$pids $!"; done; for p in $pids; do wait $p; done
""".strip().split("\n")

STRICTER = r"""
timeout 60 pytest || [ $? -eq 124 ]
timeout -k 5 60 pytest -q || test $? -eq 124
timeout 60 pytest; rc=$?; [ $rc -eq 0 ] || [ $rc -eq 124 ]
timeout 60 pytest; rc=$?; case $rc in 0|124) exit 0;; *) exit 1;; esac
for i in 1 2; do pytest; done
pytest || [ $? -ne 1 ]
pytest tests || pytest tests/empty
pytest || pytest --deselect=tests/test_bad.py
trap 'exit 0' DEBUG; pytest
trap 'exit 0' CHLD; pytest
trap 'exit 0' SIGCHLD; pytest
trap 'exit 0' TERM; pytest || kill $$
parallel 'pytest {} || true' ::: a b
fish -c 'pytest; true'
tmux new-session -d pytest
select x in a; do pytest; break; done < /dev/null
""".strip().split("\n")
"""Told although a runner that always ends with 1 is heard: one that fails at the first turn only, or
with pytest's 2, is not; and a text that is not understood."""

NOT_RUN = r"""
[ -d / ] || pytest
[ -d /nope ] && pytest; ls
f() { pytest; }; ls
test -z "$NOPE" || pytest
if [ -n "$NOPE" ]; then pytest; fi
""".strip().split("\n")
"""The runner may not be started: its report is what is missing there."""
