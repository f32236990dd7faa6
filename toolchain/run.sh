#!/bin/sh
# Runs `python -m toolchain ARGS` with the first Python on PATH that this project can use ($PYTHON goes first).
# Prints one line and ends with 1 when there is none. POSIX sh: nothing else can be presumed here.
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
lowest=$(sed -n 's/^python-minimum = "\(.*\)".*/\1/p' "$root/versions.toml")
highest=$(sed -n 's/^python-maximum = "\(.*\)".*/\1/p' "$root/versions.toml")

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

found=
no_venv=
for candidate in ${PYTHON:+"$PYTHON"} python3 "python$highest" python3.12 "python$lowest" python; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    version=$("$candidate" -I -c "$probe" "$lowest" "$highest" 2>/dev/null)
    case $? in
    0)
        cd "$root" || exit 1
        exec "$candidate" -B -m toolchain "$@"
        ;;
    3) found="${found:+$found, }$candidate is $version" ;;
    4) no_venv=$version ;;
    esac
done
if [ -n "$no_venv" ]; then
    minor=${no_venv%.*}
    echo "ack-training: Python $no_venv lacks the venv module: install it (Debian, Ubuntu: apt-get install python$minor-venv)." >&2
else
    echo "ack-training: needs Python $lowest to $highest${found:+ ($found)}: install one of them, or name it: make PYTHON=/path/to/python" >&2
fi
exit 1
