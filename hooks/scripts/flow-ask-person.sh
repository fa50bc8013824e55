#!/bin/bash -p
# The PreToolUse hook: asks a person before a tool call that only a person may allow.
#
# It runs before every call of Bash and of the tools that write files. Nearly all of them have
# nothing to do with Flow; about those it says nothing, and starts no interpreter. Else it starts
# `flow hook pre-tool-use` (flow/hook.py), which decides. For bash 3.2 (macOS) and newer.

self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done
locale=${LC_ALL-} LC_ALL=C

# ask_anyway: the question where Flow cannot look at the call.
ask_anyway() {
    trap - EXIT
    . "${self%/*}/../_interpreter.bash"
    flow_named "$root"
    flow_named=${flow_named//\\/\\\\}
    printf '%s%s%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",' \
        '"permissionDecisionReason":"Run this? It may have to do with Flow, and Flow cannot start to look at it; ' \
        "prepare Flow once with: ${flow_named//\"/\\\"} doctor\"}}"
    exit 0
}

trap ask_anyway EXIT # a shell that can start no process ends at once, wherever it is
event=
# `read` takes it byte by byte, which for most calls is less work than another process.
if IFS= read -r -d '' -n 8192 event; then event+=$(cat); fi 2>/dev/null

# $look: set where the call may have to do with Flow. A pattern is dear: plain text that it needs is looked for first.
most=65536 look= file= state=${FLOW_STATE_DIR-} # bytes that patterns look at
head=${event:0:most}
before=${head%%'"tool_input":'*}
given=${head:${#before}}
if [[ -z $given ]]; then # not as a host writes it
    if [[ $head =~ \"tool_input\"[[:space:]]*:(.*) ]]; then given=${BASH_REMATCH[1]}
    elif [[ $event == *flow* ]]; then look=yes; fi
fi
[[ $head != *'"cwd"'*/.[cf]l* || ! $head =~ \"cwd\"[[:space:]]*:[[:space:]]*\"[^\"]*/\.(flow|claude) ]] || look=yes
names='"(file_path|notebook_path)"[[:space:]]*:[[:space:]]*"([^"\]*)"'
# With a command it is a call of Bash, whatever it names.
[[ $given != *_path\"* || $given =~ \"command\"[[:space:]]*: || ! $given =~ $names ]] || file=yes path=${BASH_REMATCH[2]}

if [[ -z $look$file ]]; then
    ((${#event} <= most)) || given+=${event:most}
    given=${given%\"tool_use_id\"*}
    quotes="([\"'\\\$]|\\\\n)*" # the shell takes them out of fl''ow
    spelled="f${quotes}l${quotes}o${quotes}w"
    if [[ $given == *'\u00'* || (-n $state && ($given == *"$state"* || $given == *FLOW_STATE_DIR*)) ]]; then
        look=yes
    elif [[ $given != *flow* && $given != *.claude* ]]; then
        ((${#given} > most)) || [[ $given != *f* || ! $given =~ $spelled ]] || look=yes
    else
        word="(^|[^A-Za-z0-9_]|\\\\[nrtbf])$spelled([^A-Za-z0-9_/]|\$)|\\.$spelled|\\.claude"
        word+="|m$spelled|$spelled/__main__" # python3 -mflow
        glued='flow.*(goal|trust|lifecycle|verdict)'
        ((${#given} <= most)) && [[ ! $given =~ $word && ! $given =~ $glued ]] || look=yes
    fi
fi
[[ -n $look$file ]] || { trap - EXIT; exit 0; }

if [[ -z $look ]]; then
    own='*.[Ff][Ll][Oo][Ww]*' claude='*.[Cc][Ll][Aa][Uu][Dd][Ee]*' # in either case: macOS
    [[ $path == /* && $path != $own && $path != $claude && ! -L $path ]] || look=yes
    path=${path%/*}
    [[ $state != /* ]] || ! cd -P "$state" 2>/dev/null || state=$PWD
    until [[ -n $look ]] || cd -P "${path:-/}" 2>/dev/null; do # where a link leads to
        [[ $path == *[!/]* && $path != */..* ]] || look=yes
        path=${path%/*}
    done
    [[ -n $look || $PWD == $own || $PWD == $claude || $PWD/ == "${state:-/dev/null}"/* ]] || { trap - EXIT; exit 0; }
fi

. "${self%/*}/../_interpreter.bash"
out=$(flow_start hook pre-tool-use <<<"$event") && [[ -z $out || $out == '{'*'}' ]] || ask_anyway
trap - EXIT
[[ -z $out ]] || printf '%s\n' "$out"
exit 0
