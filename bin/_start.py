"""What _start.bash starts, with the arguments VENV NAME ARGUMENT... Not a command."""

import sys

if sys.version_info < (3, 11):  # a $FLOW_PYTHON; nothing newer than Python 3.6 up to here
    name, found = sys.argv[2], f"{sys.executable} is Python {sys.version.split()[0]}"
    sys.stderr.write(f"{name}: cannot start: {found}; Flow needs 3.11 or newer\n")
    sys.exit(5 if name == "flow" else 2)

sys.path.append(__file__.rpartition("/")[0])
try:
    import _launch  # compiled once, unlike this file

    status = _launch.main()
    _launch.leave(status)
except KeyboardInterrupt:  # while it starts; whoever runs takes it from there
    sys.stderr.write(f"{sys.argv[2]}: interrupted\n")
    status = 130
except Exception as error:  # noqa: BLE001  # no memory or descriptor, half an installation
    name, found = sys.argv[2], f"{type(error).__name__}: {error}"
    sys.stderr.write(f"{name}: cannot start: {found}\n")
    status = 5 if name == "flow" else 2
sys.exit(status)
