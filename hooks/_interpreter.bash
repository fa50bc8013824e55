# Sourced by the hooks' scripts before they start the interpreter, not run. For bash 3.2 and newer.
#
# Each script finds this file through symlinks by the same two lines. Nothing before this file can say them once, and
# a test holds them alike.

LC_ALL=$locale

# $root: Flow's folder, by the way the script was started on.
root=${BASH_SOURCE[0]}
case $root in
    */hooks/scripts/../_interpreter.bash) root=${root%/hooks/scripts/../*} ;;
    */hooks/_interpreter.bash) root=${root%/hooks/*} ;;
    *) root=${root%/*}/.. ;;
esac
. "$root/bin/_start.bash"
