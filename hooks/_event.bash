# What the hooks' scripts share. Sourced, not run; for bash 3.2 and newer.
#
# Each script finds this file through symlinks by the same two lines. Nothing before this file can say them once, and
# a test holds them alike.

# $root: Flow's folder, by the way the script was started on.
root=${BASH_SOURCE[0]}
case $root in
    */hooks/scripts/../_event.bash) root=${root%/hooks/scripts/../*} ;;
    */hooks/_event.bash) root=${root%/hooks/*} ;;
    *) root=${root%/*}/.. ;;
esac

# The beginning of an event up to one of its own keys: plain members only. A key inside another value, or in a text, is
# never met; behind an object, a list or an escape the interpreter has to look.
top_level=$'^(\xef\xbb\xbf)?[[:space:]]*\\{([[:space:]]*"[^"\\]*"[[:space:]]*:[[:space:]]*'
top_level+='("[^"\]*"|-?[0-9][0-9.eE+-]*|true|false|null)[[:space:]]*,)*[[:space:]]*'

# read_event PATTERN BYTES: the beginning of standard input into $head, up to the event's folder, which is the last
# group of PATTERN and goes into $cwd; at most so many BYTES, and what comes with them. $whole is set where there was
# no more.
read_event() {
    local LC_ALL=C part
    head='' cwd='' whole=''
    [[ ! -t 0 ]] || return
    while ((${#head} < $2)); do
        IFS= read -r -t 10 -n 16384 -d , part || {
            whole=yes
            head+=$part
            [[ $head =~ $1 ]] && cwd=${BASH_REMATCH[${#BASH_REMATCH[@]} - 1]}
            return
        }
        head+=$part
        ((${#part} < 16384)) || continue # in the middle of a long text: no comma was met
        head+=,
        if [[ $part == *\"* && $head =~ $1 ]]; then
            cwd=${BASH_REMATCH[${#BASH_REMATCH[@]} - 1]}
            return
        fi
    done
}

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
