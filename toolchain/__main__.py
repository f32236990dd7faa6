"""`python -m toolchain setup|setup-dev|up|preview|destroy|lock [STACK]`; the Makefile calls this
through run.sh."""

import sys
from collections.abc import Callable, Sequence

from toolchain import locks, stack
from toolchain.engine import ensure_engine
from toolchain.kubernetes_plugin import ensure_kubernetes_plugin
from toolchain.needs import EVERYTHING, Needs, needs_of_checkout, needs_of_stack
from toolchain.operator_manifests import ensure_operator_manifests
from toolchain.places import ROOT, exclusively
from toolchain.platforms import ensure_platform
from toolchain.report import Stop, exit_code_of
from toolchain.venv import LOCAL, ensure_venv
from toolchain.wrapper import ensure_passphrase, write_wrapper

_STACK_COMMANDS: dict[str, Callable[[str], object]] = {
    "up": stack.up,
    "preview": stack.preview,
    "destroy": stack.destroy,
}


def set_up(needs: Needs) -> None:
    """Afterwards `.venv` has the packages and a `pulumi` that works, and there is what else is
    needed. Quick when nothing is missing."""
    if LOCAL in needs.groups:
        ensure_platform()
    with exclusively(ROOT / "toolchain", "setting up this checkout"):
        # pulumi first: without Go the user should not wait for the packages to learn it.
        engine = ensure_engine()
        if needs.cluster:
            ensure_kubernetes_plugin(engine)
            ensure_operator_manifests()
        ensure_venv(needs.groups)
        ensure_passphrase()
        write_wrapper(engine.folder, fetches_plugins=not engine.built)


def needs_of(command: str, name: str) -> Needs:
    """What `command` on the stack `name` needs, "" for none in particular."""
    if command == "setup-dev":
        return EVERYTHING
    # A stack can be destroyed that has no file any more.
    lost = command == "destroy" and name not in stack.known_stacks(ROOT)
    return needs_of_checkout(ROOT) if lost or not name else needs_of_stack(name, ROOT)


def main(arguments: Sequence[str]) -> int:
    command, name = [*arguments, "", ""][:2]
    return exit_code_of(lambda: _run(command, name), "run it again to go on")


def _run(command: str, name: str) -> int:
    if command == "lock":
        locks.write_locks()
    elif command in _STACK_COMMANDS:
        name = name or "local"
        set_up(needs_of(command, name))
        _STACK_COMMANDS[command](name)
    elif command in ("setup", "setup-dev"):
        set_up(needs_of(command, name))
    else:
        raise Stop(f"no command {command}: setup, setup-dev, up, preview, destroy or lock")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
