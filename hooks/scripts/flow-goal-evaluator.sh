#!/bin/bash -p
# The Stop hook: answers the host's JSON with one JSON object and exits with 0, always.
#
# It runs after every turn, so where no goals are it answers by itself, without an interpreter.
# Else it starts `flow hook stop` (flow/hook.py), which decides. Options are passed on.
# For bash 3.2 (macOS) and newer.

self=${BASH_SOURCE[0]}
while [[ -L $self ]]; do
    link=$(readlink "$self")
    [[ $link == /* || $self != */* ]] || link=${self%/*}/$link
    self=$link
done
[[ $self == /* ]] || self=./$self
case $self in
    */hooks/scripts/*) root=${self%/hooks/scripts/*} ;;
    *) root=${self%/*}/../.. ;;
esac

# answer REASON [MESSAGE]: let the agent stop, in the words of the host. Both are JSON text already.
answer() {
    case " $options " in
        *' --host codex '* | *' --host=codex '* | *' --host cursor '* | *' --host=cursor '*)
            printf '{}\n'
            ;;
        *' --host gemini '* | *' --host=gemini '*)
            printf '{"decision":"allow"%s}\n' "${2:+,\"systemMessage\":\"$2\"}"
            ;;
        *)
            printf '{"decision":"approve","reason":"%s"%s}\n' "$1" "${2:+,\"systemMessage\":\"$2\"}"
            ;;
    esac
    exit 0
}

# read_event: the beginning of standard input into $head, up to the event's folder, which goes into $cwd.
# $whole is set where there was no more.
read_event() {
    local LC_ALL=C part
    head='' cwd='' whole=''
    [[ ! -t 0 ]] || return
    while ((${#head} < 16384)); do
        IFS= read -r -t 10 -d , part || {
            whole=yes
            head+=$part
            [[ $head =~ $folder ]] && cwd=${BASH_REMATCH[2]}
            return
        }
        head+=$part,
        if [[ $part == *\"* && $head =~ $folder ]]; then
            cwd=${BASH_REMATCH[2]}
            return
        fi
    done
}
folder='("cwd"[[:space:]]*:|"workspace_roots"[[:space:]]*:[[:space:]]*\[)[[:space:]]*"([^"\]*)"'

# goals_above FOLDER: whether it or a folder above it has .flow/goals.
goals_above() {
    local above=$1
    while :; do
        [[ -e $above/.flow/goals || -L $above/.flow/goals || -L $above/.flow ]] && return 0
        [[ $above == */* ]] || return 1
        above=${above%/*}
    done
}

# say_once TEXT: let the agent stop, and tell the user why Flow did nothing; once a day is enough.
say_once() {
    local state=${FLOW_STATE_DIR-} mark text=$1
    [[ $state == /* ]] || state=${HOME-}/.claude/flow-state
    mark=$state/said-hook-$(date +%F)
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//[[:cntrl:]]/?}
    [[ $state == /.claude/* || ! -d ${state%/.claude/*} ]] && answer "$text" "Flow: $text"
    [[ ! -e $mark ]] || answer "$text"
    (
        umask 077
        set -C
        mkdir -p "$state"
        rm -f "$state"/said-hook-*
        : >"$mark"
    ) 2>/dev/null
    answer "$text" "Flow: $text"
}

options=$*
[[ -z ${CLAUDE_HOOK_GOAL_JUDGE_MODE-} ]] || answer 'this is the session of a judge'
read_event 2>/dev/null
if [[ -n $cwd || (-n $whole && $head != *'"cwd"'* && $head != *'"workspace_roots"'*) ]]; then
    # Without a folder in the event it is about the working directory. With one that cannot be read
    # here (an escaped character, far behind), the interpreter finds out.
    here=$PWD
    [[ -z $cwd ]] || cd -P "$cwd" 2>/dev/null
    goals_above "${cwd:-$here}" || goals_above "$PWD" || answer 'there are no goals here'
fi

. "$root/bin/_start.bash"
out=$(flow_start hook stop "$@" -- "$head")
[[ $? == 0 && $out == '{'*'}' ]] || say_once "the Stop hook cannot run, so nothing was checked; \
prepare Flow once with: $root/bin/flow doctor"
printf '%s\n' "$out"
exit 0
