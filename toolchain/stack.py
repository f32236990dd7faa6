"""`make up`, `make preview`, `make destroy`: pulumi with the stack chosen, and made when there is
none."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from toolchain.places import ROOT, STATE
from toolchain.report import Stop, say
from toolchain.wrapper import WRAPPER, write_aside

_LOCAL = "local"


def up(stack: str) -> NoReturn:
    """Makes the stack if there is none, then becomes `pulumi up`, which shows the preview first."""
    consent = _consent("up", stack)
    _ensure(stack)
    _become("up", stack, *consent)


def preview(stack: str) -> NoReturn:
    """Makes the stack if there is none, for a preview is of a stack; nothing else changes."""
    _ensure(stack)
    _become("preview", stack)


def destroy(stack: str) -> NoReturn:
    """Data, checkpoints and exports stay: they are no resources of the stack."""
    consent = _consent("destroy", stack)
    _remove_stale_locks()
    _become("destroy", stack, *consent)


_LOOKS = {
    "up": "`make preview STACK={stack}`",
    "destroy": "`pulumi destroy --preview-only --stack {stack}`",
}
"""Of each command that asks, the one that shows what it would do."""


def _consent(command: str, stack: str) -> list[str]:
    """The local stack costs nothing, so `make up` does not ask. Of others pulumi asks, unless
    YES=1 answers before. Stop where it would ask and no one is there to answer."""
    if stack == _LOCAL or os.environ.get("YES") == "1":
        return ["--yes"]
    if not sys.stdin.isatty() and not _pulumi_asks_nothing():
        look = _LOOKS[command].format(stack=stack)
        raise Stop(
            f"make {command} STACK={stack} asks before it changes anything, and this is no "
            f"terminal to answer on: {look} shows what it would do, and "
            "YES=1 answers yes"
        )
    return []


def _pulumi_asks_nothing() -> bool:
    """https://www.pulumi.com/docs/iac/cli/environment-variables/"""
    return os.environ.get("PULUMI_SKIP_CONFIRMATIONS", "").lower() in ("1", "true")


def _ensure(stack: str) -> None:
    """Afterwards the stack exists. It is what a plain `pulumi up` works on when none was selected
    before; a selection of the user's stays.

    Raises Stop for a stack that has no file.
    """
    _remove_stale_locks()
    file = stack_file(stack, ROOT)
    selected = _pulumi("stack", "--show-name")
    current = selected.stdout.strip() if selected.returncode == 0 else None
    if current == stack:
        return
    options = ["select", stack, "--create"] if current is None else ["init", stack, "--no-select"]
    ran = _pulumi("stack", *options)
    refused = "for new stack: incorrect passphrase" in ran.stderr
    if refused and drop_foreign_salt(file):
        ran = _pulumi("stack", *options)
    if ran.returncode and f"/{stack}' already exists" not in ran.stderr:
        raise Stop(reason(ran.stderr, stack))


def stack_file(stack: str, project: Path) -> Path:
    """Raises Stop for a stack that has no file: most likely a slip of the keyboard."""
    file = project / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        known = ", ".join(known_stacks(project))
        raise Stop(f"there is no {file.name}; the stacks here are {known}")
    return file


def known_stacks(project: Path) -> list[str]:
    """The stacks that have a file, the local one first."""
    files = [file.name for file in project.glob("Pulumi.*.yaml")]
    names = [name.removeprefix("Pulumi.").removesuffix(".yaml") for name in files]
    return sorted(names, key=lambda name: (name != _LOCAL, name))


def _remove_stale_locks() -> None:
    for lock in stale_locks(STATE, socket.gethostname()):
        say(f"Removing the lock of a pulumi that is no longer running: {lock.name}")
        lock.unlink(missing_ok=True)


def _pulumi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [WRAPPER, *arguments, "--non-interactive"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def drop_foreign_salt(file: Path) -> bool:
    """Removes the `encryptionsalt` of another user's stack from a stack file, if it guards nothing.

    Pulumi writes that line when it makes a stack, so it is easily committed; for whoever clones the
    project it only stands in the way. False, and no change, when the file holds secrets.
    """
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("encryptionsalt:")]
    if len(kept) == len(lines) or any("secure:" in line for line in lines):
        return False
    say(f"Removing from {file.name} the encryptionsalt of another user; it encrypts nothing")
    write_aside(file, "".join(kept), file.stat().st_mode & 0o777)
    return True


def reason(output: str, stack: str) -> str:
    """Pulumi's last line, without its prefix; a wrong passphrase explained."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = lines[-1] if lines else "pulumi failed without a word"
    if last.endswith("incorrect passphrase"):
        return (
            f"the secrets in Pulumi.{stack}.yaml were encrypted with another passphrase: set "
            "PULUMI_CONFIG_PASSPHRASE to that one, or set the secrets anew without it"
        )
    return last.removeprefix("ack-training: ").removeprefix("error: ")


def stale_locks(state: Path, hostname: str) -> list[Path]:
    """Locks in the file backend whose pulumi ran on this machine and is gone: killed, or lost in
    a reboot."""
    stale = []
    for file in state.glob(".pulumi/locks/**/*.json"):
        try:
            lock = json.loads(file.read_text(encoding="utf-8"))
            mine = lock["hostname"] == hostname
            gone = not _runs_pulumi(int(lock["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not ours to judge; pulumi says what it thinks of it
        if mine and gone:
            stale.append(file)
    return stale


def _runs_pulumi(pid: int) -> bool:
    if Path("/proc/self/stat").exists():
        try:
            # `pid (name) state …`; a zombie (Z) is one that nobody has collected yet.
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        name, _, rest = stat.partition("(")[2].rpartition(") ")
        return name.startswith("pulumi") and not rest.startswith("Z")
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _become(command: str, stack: str, *options: str) -> NoReturn:
    # Replaces this process, so that ctrl-C and signals reach pulumi itself.
    os.chdir(ROOT)
    os.execv(WRAPPER, [str(WRAPPER), command, "--stack", stack, *options])
