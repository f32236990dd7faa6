"""`python -m toolchain setup|setup-dev|up|preview|destroy|lock [STACK]`; the Makefile calls this
through run.sh."""

import sys
from collections.abc import Callable, Sequence

from toolchain import locks, stack
from toolchain.engine import ensure_engine
from toolchain.places import ROOT, exclusively
from toolchain.platforms import ensure_platform
from toolchain.report import Stop
from toolchain.venv import DEV, KUBERNETES, LOCAL, Group, ensure_venv
from toolchain.wrapper import ensure_passphrase, write_wrapper

_STACK_COMMANDS: dict[str, Callable[[str], object]] = {
    "up": stack.up,
    "preview": stack.preview,
    "destroy": stack.destroy,
}


def set_up(groups: Sequence[Group]) -> None:
    """Afterwards `.venv` has the packages and a `pulumi` that works. Quick when nothing is
    missing."""
    ensure_platform()
    with exclusively(ROOT / "toolchain", "setting up this checkout"):
        # pulumi first: without Go the user should not wait for the packages to learn it.
        engine = ensure_engine()
        ensure_venv(groups)
        ensure_passphrase()
        write_wrapper(engine.folder, fetches_plugins=not engine.built)


def main(arguments: Sequence[str]) -> int:
    command, *rest = arguments or ["setup"]
    try:
        if command == "lock":
            locks.write_locks()
        elif command in _STACK_COMMANDS:
            set_up([LOCAL])
            _STACK_COMMANDS[command](rest[0] if rest else "local")
        elif command in ("setup", "setup-dev"):
            set_up([LOCAL, KUBERNETES, DEV] if command == "setup-dev" else [LOCAL])
        else:
            raise Stop(f"no command {command}: setup, setup-dev, up, preview, destroy or lock")
    except Stop as stop:
        print(f"ack-training: {stop}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ack-training: stopped; run it again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
