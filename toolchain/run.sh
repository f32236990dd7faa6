#!/bin/sh
# Runs `python -m toolchain ARGS` with $PYTHON, or without it with the first Python on PATH that this project can use.
# Prints one line and ends with 1 when there is none. POSIX sh: nothing else can be presumed here.
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
lowest=$(sed -n 's/^python-minimum = "\(.*\)".*/\1/p' "$root/versions.toml")
highest=$(sed -n 's/^python-maximum = "\(.*\)".*/\1/p' "$root/versions.toml")

# These lead a Python to another one's modules, or away from the folder it is started in. Of all that is started from
# here, Pulumi and the jobs among it, each must find its own; a job's env key is the place to set one for a program.
unset PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONPLATLIBDIR PYTHONSAFEPATH PYTHONSTARTUP

# Exit code 0: usable. 3: a version that is not ours, printed. 4: ours, without the venv module.
probe='
import sys
version = sys.version_info[:2]
ours = [tuple(int(part) for part in text.split(".")) for text in sys.argv[1:3]]
print(".".join(str(part) for part in sys.version_info[:3]))
if not ours[0] <= version <= ours[1]:
    sys.exit(3)
try:
    import ensurepip, venv
except ImportError:
    sys.exit(4)
'

usable=
found=
no_venv=
try() {
    command -v "$1" >/dev/null 2>&1 || return 0
    version=$("$1" -I -c "$probe" "$lowest" "$highest" 2>/dev/null)
    case $? in
    # Also a program that is no Python may end with 0.
    0) [ -z "$version" ] || usable=$1 ;;
    3) found="${found:+$found, }$1 is $version" ;;
    4) no_venv=$version ;;
    esac
}

if [ -n "${PYTHON:-}" ]; then
    # The user's choice, and no other in its place: another version would have .venv made anew.
    try "$PYTHON"
    problem="PYTHON=$PYTHON is no program that runs Python: needs Python $lowest to $highest"
    [ -z "$found" ] || problem="PYTHON=$found: needs Python $lowest to $highest"
else
    for candidate in python3 "python$highest" python3.12 "python$lowest" python; do
        try "$candidate"
        [ -z "$usable" ] || break
    done
    problem="needs Python $lowest to $highest${found:+ ($found)}: install one of them, or name it: make PYTHON=/path/to/python"
fi
if [ -n "$usable" ]; then
    cd "$root" || exit 1
    exec "$usable" -B -m toolchain "$@"
fi
if [ -n "$no_venv" ]; then
    problem="Python $no_venv lacks the venv module: install it (Debian, Ubuntu: apt-get install python${no_venv%.*}-venv)."
fi
echo "ack-training: $problem" >&2
exit 1
