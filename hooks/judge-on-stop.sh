#!/bin/bash -p
# Auto mode at a stop of Claude Code: tells what was scored since the last stop, and has the skills' runs
# that ended scored in a process of their own. Answers with one JSON object and exits with 0, always; it never
# keeps the agent from stopping.
#
# It runs after every turn, so where no settings file speaks of autoJudge it answers by itself, without an
# interpreter. Else it starts `flow hook judge` (flow/hook.py), which decides. For bash 3.2 and newer.

self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done
locale=${LC_ALL-} LC_ALL=C

# answer [MESSAGE]: let the agent stop. MESSAGE is JSON text already.
answer() {
    trap - EXIT
    printf '{%s}\n' "${1:+\"systemMessage\":\"Flow: $1\"}"
    exit 0
}

folder='"cwd"[[:space:]]*:[[:space:]]*"([^"\]*)"'

# speaks FILE: whether it is there and could turn auto mode on. One that cannot be read could; an escape
# could stand for a letter.
speaks() {
    [[ -e $1 || -L $1 ]] || return 1
    [[ -f $1 ]] || return 0
    grep -qsE 'autoJudge|\\u' <"$1" 2>/dev/null
    [[ $? != 1 ]]
}

# speaks_above FOLDER: whether a settings file in it or in a folder above it does.
speaks_above() {
    local above=$1 name
    while :; do
        for name in .claude/settings.flow.local.json .claude/settings.flow.json judge-config.json; do
            speaks "$above/$name" && return 0
        done
        [[ $above == */* ]] || return 1
        above=${above%/*}
    done
}

trap answer EXIT # a shell that can start no process ends at once
trap : INT # the interpreter ends what it does and answers; without it this shell would be gone
[[ -z ${CLAUDE_HOOK_GOAL_JUDGE_MODE-} ]] || answer # a judge's own session
most=65536
{
    . "${self%/*}/_event.bash"
    [[ -z $cwd ]] || cd -P "$cwd"
} 2>/dev/null
named=${cwd:-$PWD}
[[ ${HOME-} == /* ]] && speaks "$HOME/.claude/settings.flow.json" ||
    speaks_above "$named" || { [[ $PWD != "$named" ]] && speaks_above "$PWD"; } || answer

. "${self%/*}/_interpreter.bash"
out=$(flow_start hook judge -- "$head")
status=$?
[[ $status != 130 ]] || answer
flow_named "$root"
# say_once TEXT: tell the user why Flow did nothing; once a day is enough.
say_once() {
    . "$root/hooks/_once.bash"
    first_today judge "$1" || answer
    answer "$text"
}

[[ $status == 0 && $out == '{'*'}' ]] || say_once "autoJudge is on, but Flow cannot run; prepare it once with: \
$flow_named doctor"
trap - EXIT
printf '%s\n' "$out"
exit 0
