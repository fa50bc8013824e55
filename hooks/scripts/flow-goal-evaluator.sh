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
root=${self%/*}/../..

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
read_event() {
    local LC_ALL=C part
    head='' cwd=''
    [[ ! -t 0 ]] || return
    while ((${#head} < 16384)); do
        IFS= read -r -t 10 -d , part || {
            head+=$part
            [[ $head =~ $pattern ]] && cwd=${BASH_REMATCH[1]}
            return
        }
        head+=$part,
        if [[ $part == *\"* && $head =~ $pattern ]]; then
            cwd=${BASH_REMATCH[1]}
            return
        fi
    done
}
pattern='"cwd"[[:space:]]*:[[:space:]]*"([^"\]*)"'

# goals_above FOLDER: whether it or a folder above it has .flow/goals.
goals_above() {
    local folder=$1
    while :; do
        [[ -e $folder/.flow/goals || -L $folder/.flow/goals || -L $folder/.flow ]] && return 0
        [[ $folder == */* ]] || return 1
        folder=${folder%/*}
    done
}

# say_once TEXT: let the agent stop, and tell the user why Flow did nothing; once a day is enough.
say_once() {
    local folder=${FLOW_STATE_DIR-} mark text=$1
    [[ $folder == /* ]] || folder=${HOME:-/nonexistent}/.claude/flow-state
    mark=$folder/said-hook-$(date +%F)
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//[[:cntrl:]]/?}
    [[ ! -e $mark ]] || answer "$text"
    (
        umask 077
        set -C
        mkdir -p "$folder"
        rm -f "$folder"/said-hook-*
        : >"$mark"
    ) 2>/dev/null
    answer "$text" "Flow: $text"
}

options=$*
[[ -z ${CLAUDE_HOOK_GOAL_JUDGE_MODE-} ]] || answer 'this is the session of a judge'
read_event 2>/dev/null
if [[ $head != *'"cwd"'* || -n $cwd ]]; then
    # Without a folder in the event it is about the working directory. With one that cannot be read
    # here (an escaped character), the interpreter finds out.
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
