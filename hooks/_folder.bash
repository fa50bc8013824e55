# Goes on where an event is not plain up to its folder. Sourced by _event.bash, not run.

# The beginning of an event up to one of its own keys: plain members only. A key inside another value, or in a text, is
# never met; behind an object, a list or an escape the interpreter has to look.
top_level=$'^(\xef\xbb\xbf)?[[:space:]]*\\{([[:space:]]*"[^"\\]*"[[:space:]]*:[[:space:]]*'
top_level+='("[^"\]*"|-?[0-9][0-9.eE+-]*|true|false|null)[[:space:]]*,)*[[:space:]]*'

while :; do
    [[ -n $whole ]] || ((${#part} == 16384)) || head+=, # else in the middle of a long text: no comma was met
    if [[ -n $whole || ($head == *, && $part == *\"*) ]] &&
        [[ ($head == *'"cwd"'* || $head == *'"workspace_roots"'*) && $head =~ $top_level$folder ]]; then
        cwd=${BASH_REMATCH[${#BASH_REMATCH[@]} - 1]}
        break
    fi
    [[ -z $whole ]] && ((${#head} < most)) || break
    IFS= read -r -t 10 -n 16384 -d , part || whole=yes
    head+=$part
done
