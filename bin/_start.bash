# Sourced by the scripts of this folder; not a command. For bash 3.2 (macOS) and newer.
#
# The scripts begin with `#!/bin/bash -p`: unlike `env bash` it obeys neither BASH_ENV nor functions
# from the environment. Where there is no /bin/bash (NixOS), call `bash -p bin/flow`, or install the
# package. Every start passes here, so nothing on the usual way forks.

# flow_start NAME ARGUMENT...: replace this shell by Flow's interpreter, running NAME.
#
# The interpreter is $FLOW_PYTHON, else the one of the virtual environment that _prepare.py makes: in
# the checkout, or in the user's cache where the checkout is read-only. It runs isolated (-I) and without
# `site` (-S), so that neither PYTHON* variables nor files of the working directory are imported.
flow_start() {
    local root=${BASH_SOURCE[0]%/*}/.. venv
    shopt -s execfail
    unset __PYVENV_LAUNCHER__
    case $OSTYPE in
        msys* | cygwin* | win32*) flow_cannot_start "$1" "native Windows is not supported; use WSL" ;;
    esac
    if [[ -n ${FLOW_PYTHON-} ]]; then
        [[ $FLOW_PYTHON == /* && -f $FLOW_PYTHON && -x $FLOW_PYTHON ]] ||
            flow_cannot_start "$1" "FLOW_PYTHON=$FLOW_PYTHON is not the absolute path of an interpreter"
        exec "$FLOW_PYTHON" -I -S -X utf8 "$root/bin/_start.py" "" "$@"
        flow_cannot_start "$1" "FLOW_PYTHON=$FLOW_PYTHON cannot be started"
    fi
    venv=$root/.venv-flow/venv
    [[ -x $venv/bin/python || -w $root ]] || venv=$(flow_cache "$root")/venv
    if [[ -x $venv/bin/python ]]; then
        exec "$venv/bin/python" -I -S -X utf8 "$root/bin/_start.py" "$venv" "$@"
    fi
    . "$root/bin/_find-python.bash"
    flow_find_python
    [[ -n $flow_python ]] || flow_cannot_start "$1" "no Python 3.11 or newer was found on PATH;" \
        "install one, or set FLOW_PYTHON to its absolute path"
    exec "$flow_python" -I -S -X utf8 "$root/bin/_start.py" "$venv" "$@"
    flow_cannot_start "$1" "$flow_python cannot be started"
}

# flow_cache ROOT: print the folder that stands in for .venv-flow (cache_folder of _prepare.py).
flow_cache() {
    local LC_ALL=C base=${XDG_CACHE_HOME-} key
    if [[ $base != /* ]]; then
        [[ ${HOME-} == /* ]] || unset HOME # then bash takes the home from the user database
        base=~/.cache
    fi
    key=$(CDPATH='' cd -P "$1" && pwd -P)
    key=${key//[^A-Za-z0-9]/-}
    ((${#key} <= 100)) || key=${key:${#key}-100}
    printf '%s\n' "$base/flow/checkout$key"
}

# flow_named ROOT: set flow_named to the command there, for somebody to copy: quoted where it has to be.
flow_named() {
    case $1 in
        *\'*) printf -v flow_named %q "$1/bin/flow" ;;
        *[!A-Za-z0-9/._+-]*) flow_named="'$1/bin/flow'" ;;
        *) flow_named=$1/bin/flow ;;
    esac
}

# flow_cannot_start NAME WORD...: one line on stderr, and the status for "something outside failed".
flow_cannot_start() {
    local name=$1
    shift
    printf '%s: cannot start: %s\n' "$name" "$*" >&2
    [[ $name == flow ]] && exit 5
    exit 2
}
