#!/bin/bash -p
# The Stop hook: answers the host's JSON with one JSON object and exits with 0, always.
#
# It runs after every turn, so where no goals are it answers by itself, without an interpreter.
# Else it starts `flow hook stop` (flow/hook.py), which decides. Options are passed on.
# For bash 3.2 (macOS) and newer.

self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done
locale=${LC_ALL-} LC_ALL=C

# answer REASON [MESSAGE]: let the agent stop, in the words of the host. Both are JSON text already.
answer() {
    trap - EXIT
    case " $options " in
        *' --host'[\ =]codex' '* | *' --host'[\ =]cursor' '*) printf '{}\n' ;;
        *' --host'[\ =]gemini' '*) printf '{"decision":"allow"%s}\n' "${2:+,\"systemMessage\":\"$2\"}" ;;
        *) printf '{"decision":"approve","reason":"%s"%s}\n' "$1" "${2:+,\"systemMessage\":\"$2\"}" ;;
    esac
    exit 0
}

trap : INT # the interpreter ends what it does and answers; without it this shell would be gone
# A shell that can start no process ends at once.
trap 'ended="the Stop hook was interrupted before it was done"; answer "$ended" "Flow: $ended"' EXIT
options=$*
here=$PWD most=16384
folder='("cwd"[[:space:]]*:|"workspace_roots"[[:space:]]*:[[:space:]]*\[)[[:space:]]*"([^"\]*)"'
{
    . "${self%/*}/../_event.bash"
    [[ -z $cwd ]] || cd -P "$cwd"
} 2>/dev/null
# Without a folder in the event it is about the working directory. With one that cannot be read
# here (an escaped character, far behind), the interpreter finds out.
if [[ -n $cwd || (-n $whole && $head != *'"cwd"'* && $head != *'"workspace_roots"'*) ]]; then
    state=${HOME-}/.claude/flow-state other=
    [[ ${FLOW_STATE_DIR-} != /* ]] || other=${FLOW_STATE_DIR%/}
    above=${cwd:-$here} behind=
    [[ $PWD == "$above" ]] || behind=$PWD # where links lead to
    # A folder has goals in .flow/goals, or had some that Flow still works for: for those the user's
    # state folder has a file named by the checkout's path. A session that Flow kept working for a goal
    # has one, too, in whatever checkout that was.
    until [[ -L $above/.flow ||
        (-e $above/.flow && (-e $above/.flow/goals || -L $above/.flow/goals)) ||
        -e $state/checkouts$above/:flow/goals.json ||
        (-n $other && -e $other/checkouts$above/:flow/goals.json) ]]; do
        if [[ $above == */* ]]; then
            above=${above%/*}
        elif [[ -n $behind ]]; then
            above=$behind behind=
        elif [[ (-d $state/checkouts/:sessions || (-n $other && -d $other/checkouts/:sessions)) &&
            $head =~ \"(session_id|conversation_id)\"[[:space:]]*:[[:space:]]*\"([A-Za-z0-9_-][A-Za-z0-9._-]*)\" &&
            (-e $state/checkouts/:sessions/${BASH_REMATCH[2]} ||
            (-n $other && -e $other/checkouts/:sessions/${BASH_REMATCH[2]})) ]]; then
            break
        else
            answer 'there are no goals here'
        fi
    done
fi
# A judge works in a folder of its own; where goals are, somebody else may have set this.
[[ -z ${CLAUDE_HOOK_GOAL_JUDGE_MODE-} ]] || answer 'this is the session of a judge' \
    'Flow: no goal is judged, as CLAUDE_HOOK_GOAL_JUDGE_MODE is set: this is the session of a judge'

. "${self%/*}/../_interpreter.bash"
out=$(flow_start hook stop "$@" -- "$head")
status=$?
[[ $status != 130 ]] || exit
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
