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
    # Closed: an interpreter in a $( ) would wait for what it prints itself. Not `:`, which a POSIX shell ends with here.
    true 3<&0 || exec </dev/null
    while ((${#head} < $2)); do
        IFS= read -r -t 10 -n 16384 -d , part || {
            whole=yes
            head+=$part
            find_folder "$1"
            return
        }
        head+=$part
        ((${#part} < 16384)) || continue # in the middle of a long text: no comma was met
        head+=,
        [[ $part != *\"* ]] || ! find_folder "$1" || return
    done
}

# find_folder PATTERN: the event's folder from $head into $cwd; whether it is there. A pattern costs half of all that a
# hook does, and is not asked where what stands before the folder has no escape, list or inner object: then each quote
# begins or ends a text, and the text before a colon is a key.
find_folder() {
    local before after
    if [[ $head == *'"cwd"'* ]]; then
        before=${head%%\"cwd\"*}
        after=${head#*\"cwd\"}
        if [[ $before == {* && ($after == :\"*\"* || $after == ': "'*\"*) ]]; then
            after=${after#*\"}
            after=${after%%\"*}
            [[ ${before:1}$after == *[[{\\]* ]] || {
                cwd=$after
                return
            }
        fi
    elif [[ $head != *'"workspace_roots"'* ]]; then
        return 1
    fi
    [[ $head =~ $1 ]] && cwd=${BASH_REMATCH[${#BASH_REMATCH[@]} - 1]}
}
