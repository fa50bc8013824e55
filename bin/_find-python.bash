# Sourced by _start.bash on the first start only; not a command. For bash 3.2 and newer.

# flow_find_python: set flow_python to a real interpreter of Python 3.11 or newer, else to nothing.
#
# Only absolute folders of PATH count. A shim (pyenv, asdf) is asked for the interpreter behind it, from
# the root folder, where no .python-version of a checkout speaks. One that can make a virtual
# environment is preferred to one that cannot.
flow_find_python() {
    local IFS=: folder name found spare=
    local places=${PATH-}:/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin
    local probe='
import sys
from importlib.machinery import PathFinder
if sys.version_info < (3, 11) or not sys.executable:
    sys.exit(1)
parts = [PathFinder.find_spec(name) for name in ("venv", "ensurepip")]
print(("whole:" if all(parts) else "part:") + sys.executable)
'
    flow_python=
    set -f # folders of PATH are names, not patterns
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        for folder in $places; do
            [[ $folder == /* && -f $folder/$name && -x $folder/$name ]] || continue
            # macOS has a stand-in there that opens a window until the developer tools are installed.
            if [[ $OSTYPE == darwin* && $folder/$name == /usr/bin/python3 ]]; then
                xcode-select -p >/dev/null 2>&1 || continue
            fi
            found=$(cd / && "$folder/$name" -I -S -c "$probe" 2>/dev/null </dev/null) || continue
            case $found in
                whole:/*)
                    flow_python=${found#whole:}
                    break 2
                    ;;
                part:/*) [[ -n $spare ]] || spare=${found#part:} ;;
            esac
        done
    done
    set +f
    [[ -n $flow_python ]] || flow_python=$spare
}
