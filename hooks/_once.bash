# Sourced by the hooks' scripts where one could not do its work, and has to say so; not run. For bash 3.2 and newer.

# first_today NAME TEXT: TEXT as JSON text into $text; whether NAME has said nothing yet today, which is noted.
first_today() {
    local state=${FLOW_STATE_DIR-} above mark
    state=${state%/}
    above=${state%/*}
    [[ $state == /* ]] || above=${HOME-} state=${HOME-}/.claude/flow-state
    mark=$state/said-$1-$(date +%F)
    text=${2//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//[[:cntrl:]]/?}
    [[ ! -e $mark ]] || return 1
    [[ ! -d ${above:-/} || $state == /.claude/* ]] || (
        umask 077
        set -C
        mkdir -p "$state"
        rm -f "$state"/said-"$1"-*
        : >"$mark"
    ) 2>/dev/null
    return 0
}
