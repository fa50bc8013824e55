#!/bin/bash -p
# The PreToolUse hook: asks a person before a tool call that only a person may allow.
#
# It runs before every call of Bash and of the tools that write files. Nearly all of them have
# nothing to do with Flow; about those it says nothing, and starts no interpreter. Else it starts
# `flow hook pre-tool-use` (flow/hook.py), which decides. For bash 3.2 (macOS) and newer.

self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done

# ask_anyway: the question where Flow cannot look at the call.
ask_anyway() {
    trap - EXIT
    . "${self%/*}/../_event.bash"
    . "$root/bin/_start.bash"
    flow_named "$root"
    flow_named=${flow_named//\\/\\\\}
    printf '%s%s%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",' \
        '"permissionDecisionReason":"Run this? It may have to do with Flow, and Flow cannot start to look at it; ' \
        "prepare Flow once with: ${flow_named//\"/\\\"} doctor\"}}"
    exit 0
}

trap ask_anyway EXIT # a shell that can start no process ends at once, wherever it is
LC_ALL=C
event=
# `read` takes it byte by byte, which for most calls is less work than another process.
if IFS= read -r -d '' -n 8192 event; then event+=$(cat); fi 2>/dev/null
most=65536 # bytes that patterns look at

# settled: whether the call has certainly nothing to do with Flow.
settled() {
    local head=${event:0:most} given path state=${FLOW_STATE_DIR-}
    local input='"tool_input"[[:space:]]*:[[:space:]]*(.*)'
    local own='*.[Ff][Ll][Oo][Ww]*' claude='*.[Cc][Ll][Aa][Uu][Dd][Ee]*' # in either case: macOS
    local names='"(file_path|notebook_path)"[[:space:]]*:[[:space:]]*"([^"\]*)"'
    local quotes="([\"'\\\$]|\\\\n)*" # the shell takes them out of fl''ow
    local spelled="f${quotes}l${quotes}o${quotes}w"
    local word="(^|[^A-Za-z0-9_]|\\\\[nrtbf])$spelled([^A-Za-z0-9_/]|\$)|\\.$spelled|\\.claude"
    word+="|m$spelled|$spelled/__main__" # python3 -mflow
    local glued='flow.*(goal|trust|lifecycle|verdict)'
    [[ $head =~ \"cwd\"[[:space:]]*:[[:space:]]*\"[^\"]*/\.(flow|claude) ]] && return 1
    [[ $head =~ $input ]] || {
        [[ $event != *flow* ]] # an event of another form
        return
    }
    given=${BASH_REMATCH[1]}
    if [[ $given =~ $names ]]; then
        path=${BASH_REMATCH[2]}
        [[ $state != /* ]] || ! cd -P "$state" 2>/dev/null || state=$PWD
        [[ $path == /* && $path != $own && $path != $claude && ! -L $path ]] || return 1
        path=${path%/*}
        until cd -P "${path:-/}" 2>/dev/null; do # where a link leads to
            [[ $path == *[!/]* && $path != */..* ]] || return 1
            path=${path%/*}
        done
        [[ $PWD != $own && $PWD != $claude && $PWD/ != "${state:-/dev/null}"/* ]]
        return
    fi
    [[ -z $state || $given != *"$state"* && $given != *FLOW_STATE_DIR* ]] || return 1
    ((${#event} <= most)) || given+=${event:most}
    given=${given%\"tool_use_id\"*}
    [[ $given != *'\u00'* ]] || return 1
    [[ $given == *flow* || $given == *.claude* ]] || {
        ((${#given} > most)) || [[ ! $given =~ $spelled ]]
        return
    }
    ((${#given} <= most)) || return 1
    [[ ! $given =~ $word && ! $given =~ $glued ]]
}

settled && trap - EXIT && exit 0

. "${self%/*}/../_event.bash"
. "$root/bin/_start.bash"
out=$(flow_start hook pre-tool-use <<<"$event") && [[ -z $out || $out == '{'*'}' ]] || ask_anyway
trap - EXIT
[[ -z $out ]] || printf '%s\n' "$out"
exit 0
