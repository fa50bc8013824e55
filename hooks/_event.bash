# Reads the event, for the hooks' scripts. Sourced, not run; for bash 3.2 and newer.
#
# The beginning of standard input goes into $head, up to the event's folder, which goes into $cwd; at most $most bytes,
# and what comes with them. $whole is set where there was no more. $folder is a pattern whose last group is the folder.

head='' cwd='' whole=''
# Closed: an interpreter in a $( ) would wait for what it prints itself. Not `:`, which a POSIX shell ends with here.
true 3<&0 || exec </dev/null
[[ -t 0 ]] || {
    while
        IFS= read -r -t 10 -n 16384 -d , part || whole=yes
        head+=$part
        [[ -z $whole && ${#part} -lt 16384 && ${#head} -lt $most && $part != *'"cwd"'* && $part != ?*[[{\\]* ]]
    do head+=,; done
    # Without escape, list and inner object each quote begins or ends a text, and the text before a colon is a key.
    if [[ -z $whole && ${#part} -lt 16384 && $part == *'"cwd":'*\"*\" && $head == {* && ${head:1} != *[[{\\]* ]]; then
        head+=, cwd=${part#*'"cwd":'*\"} cwd=${cwd%%\"*}
    else
        . "${BASH_SOURCE[0]%/*}/_folder.bash"
    fi
}
