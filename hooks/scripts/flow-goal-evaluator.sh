#!/bin/bash -p
# The Stop hook: answers the host's JSON with one JSON object and exits with 0, always.
#
# It runs after every turn, so where no goals are it answers by itself, without an interpreter.
# Else it starts `flow hook stop` (flow/hook.py), which decides. Options are passed on.
# For bash 3.2 (macOS) and newer.

self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done
. "${self%/*}/../_event.bash"

# answer REASON [MESSAGE]: let the agent stop, in the words of the host. Both are JSON text already.
answer() {
    trap - EXIT
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

folder=$top_level'("cwd"[[:space:]]*:|"workspace_roots"[[:space:]]*:[[:space:]]*\[)[[:space:]]*"([^"\]*)"'

# goals_above FOLDER: whether it or a folder above it has .flow/goals, or had goals that Flow still works for: for
# those the user's state folder has a file named by the checkout's path.
goals_above() {
    local above=$1
    while :; do
        [[ -L $above/.flow ||
            (-e $above/.flow && (-e $above/.flow/goals || -L $above/.flow/goals)) ||
            -e $state/checkouts$above/:flow/goals.json ||
            (-n $other && -e $other/checkouts$above/:flow/goals.json) ]] && return 0
        [[ $above == */* ]] || return 1
        above=${above%/*}
    done
}

# works_elsewhere: whether Flow kept the event's session working for a goal, in whatever checkout that was.
works_elsewhere() {
    [[ -d $state/checkouts/:sessions || (-n $other && -d $other/checkouts/:sessions) ]] || return 1
    local id='"(session_id|conversation_id)"[[:space:]]*:[[:space:]]*"([A-Za-z0-9_-][A-Za-z0-9._-]*)"'
    [[ $head =~ $id ]] || return 1
    id=${BASH_REMATCH[2]}
    [[ -e $state/checkouts/:sessions/$id || (-n $other && -e $other/checkouts/:sessions/$id) ]]
}

state=${HOME-}/.claude/flow-state other=
[[ ${FLOW_STATE_DIR-} != /* ]] || other=${FLOW_STATE_DIR%/}
trap : INT # the interpreter ends what it does and answers; without it this shell would be gone
ended='the Stop hook was interrupted before it was done'
options=$*
trap 'answer "$ended" "Flow: $ended"' EXIT # a shell that can start no process ends at once
here=$PWD
{
    read_event "$folder" 16384
    [[ -z $cwd ]] || cd -P "$cwd"
} 2>/dev/null
if [[ -n $cwd || (-n $whole && $head != *'"cwd"'* && $head != *'"workspace_roots"'*) ]]; then
    # Without a folder in the event it is about the working directory. With one that cannot be read
    # here (an escaped character, far behind), the interpreter finds out.
    named=${cwd:-$here}
    goals_above "$named" || { [[ $PWD != "$named" ]] && goals_above "$PWD"; } || works_elsewhere ||
        answer 'there are no goals here'
fi
# A judge works in a folder of its own; where goals are, somebody else may have set this.
[[ -z ${CLAUDE_HOOK_GOAL_JUDGE_MODE-} ]] || answer 'this is the session of a judge' \
    'Flow: no goal is judged, as CLAUDE_HOOK_GOAL_JUDGE_MODE is set: this is the session of a judge'

. "$root/bin/_start.bash"
out=$(flow_start hook stop "$@" -- "$head")
status=$?
[[ $status != 130 ]] || answer "$ended" "Flow: $ended"
flow_named "$root"
# say_once TEXT: let the agent stop, and tell the user why Flow did nothing; once a day is enough.
say_once() {
    . "$root/hooks/_once.bash"
    first_today hook "$1" || answer "$text"
    answer "$text" "Flow: $text"
}

[[ $status == 0 && $out == '{'*'}' ]] || say_once "the Stop hook cannot run, so nothing was checked; \
prepare Flow once with: $flow_named doctor"
trap - EXIT
printf '%s\n' "$out"
exit 0
