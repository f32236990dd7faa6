"""Writes `.venv/bin/pulumi`, which makes plain `pulumi` work once `.venv` is active, and the
passphrase it names."""

import os
import secrets
import shlex
import tempfile
from pathlib import Path

from toolchain.places import ROOT, STATE, VENV, file_backend, make_folder, passphrase_file
from toolchain.report import Stop

WRAPPER = VENV / "bin" / "pulumi"
_MARK = "# The pulumi of an ack-training checkout."

# A user who is logged in to a Pulumi backend, in any of the ways Pulumi knows, keeps it.
# PULUMI_CONFIG_PASSPHRASE may be set and empty: that too is a choice.
_TEXT = """\
#!/bin/sh
{mark} Written by `make setup`; run that again instead of editing this.
root={root}
engine={engine}
passphrase={passphrase}

here=$(CDPATH= cd -P -- "$(dirname -- "$0")/../.." && pwd -P)
if [ "$here" != "$(CDPATH= cd -P -- "$root" 2>/dev/null && pwd -P)" ]; then
    echo "ack-training: this checkout was moved or copied from $root: run 'make setup' in $here" >&2
    exit 1
fi
if [ ! -x "$engine/pulumi" ]; then
    echo "ack-training: pulumi is gone from $engine: run 'make setup' in $root" >&2
    exit 1
fi
# As in run.sh: each Python that is started from here must find its own modules.
unset PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONPLATLIBDIR PYTHONSAFEPATH PYTHONSTARTUP
PATH="$root/.venv/bin:$engine:$PATH"
PULUMI_SKIP_UPDATE_CHECK=true
export PATH PULUMI_SKIP_UPDATE_CHECK
# Pulumi, its plugins and the program talk over gRPC on this machine: a proxy has no part in it, and
# gRPC, unlike others, does not except this machine by itself.
loopback="127.0.0.1,localhost,::1"
no_grpc_proxy="$loopback${{no_grpc_proxy:+,$no_grpc_proxy}}"
no_proxy="$loopback${{no_proxy:+,$no_proxy}}${{NO_PROXY:+,$NO_PROXY}}"
NO_PROXY=$no_proxy
export no_grpc_proxy no_proxy NO_PROXY
{plugins}
has_backend() {{
    # Pulumi goes by the system's word on the user's home, and by HOME only where there is none.
    home=${{HOME:-}}
    if user=$(id -un 2>/dev/null); then eval "home=~$user"; fi
    credentials="${{PULUMI_HOME:-$home/.pulumi}}/credentials.json"
    [ -n "${{PULUMI_BACKEND_URL:-}}${{PULUMI_ACCESS_TOKEN:-}}" ] ||
        grep -q '"current": *"[^"]' "$credentials" 2>/dev/null ||
        grep -q '^backend:' "$root/Pulumi.yaml" 2>/dev/null
}}
if ! has_backend; then
    mkdir -p "$root/.pulumi-state" || exit 1
    PULUMI_BACKEND_URL={url}
    export PULUMI_BACKEND_URL
    if [ -z "${{PULUMI_CONFIG_PASSPHRASE+set}}${{PULUMI_CONFIG_PASSPHRASE_FILE:-}}" ]; then
        if [ ! -r "$passphrase" ]; then
            echo "ack-training: {lost}" >&2
            exit 1
        fi
        PULUMI_CONFIG_PASSPHRASE_FILE=$passphrase
        export PULUMI_CONFIG_PASSPHRASE_FILE
    fi
fi
exec "$engine/pulumi" "$@"
"""
_LOST = (
    "$passphrase is missing, and the stacks in $root/.pulumi-state need it: put it back, "
    "or set PULUMI_CONFIG_PASSPHRASE"
)
# Without this a built engine, for which no plugins can be fetched, would try to at each command.
_NO_PLUGINS = "export PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"


def write_wrapper(engine: Path, *, fetches_plugins: bool) -> None:
    """Afterwards `.venv/bin/pulumi` starts the pulumi in `engine`."""
    text = wrapper_text(ROOT, engine, passphrase_file(), "" if fetches_plugins else _NO_PLUGINS)
    if not (WRAPPER.exists() and WRAPPER.read_text(encoding="utf-8") == text):
        write_aside(WRAPPER, text, 0o755)


def wrapper_text(root: Path, engine: Path, passphrase: Path, plugins: str) -> str:
    return _TEXT.format(
        mark=_MARK,
        root=shlex.quote(str(root)),
        engine=shlex.quote(str(engine)),
        passphrase=shlex.quote(str(passphrase)),
        url=shlex.quote(file_backend(root / STATE.name)),
        plugins=plugins,
        lost=_LOST,
    )


def is_wrapper(pulumi: Path) -> bool:
    try:
        with pulumi.open("rb") as file:
            return _MARK.encode() in file.read(200)
    except OSError:
        return False


def ensure_passphrase() -> None:
    """Makes the passphrase of the file backend, once. Never when stacks exist: they have one
    already, and a new one could not read them; the wrapper tells that it is lost, if the user has
    no other backend."""
    file = passphrase_file()
    if file.exists() or any(STATE.glob(".pulumi/stacks/**/*.json")):
        return
    make_folder(file.parent, 0o700)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".new-") as new:  # mode 0600
        new.write(secrets.token_urlsafe(32))
        new.flush()
        try:
            os.link(new.name, file)  # fails when another set-up was quicker, and never overwrites
        except FileExistsError:
            pass
        except OSError as error:
            raise Stop(f"cannot write {file}: {error.strerror}") from error


def write_aside(path: Path, text: str, mode: int) -> None:
    """Written under another name and renamed: whoever reads `path` sees the old text or the new."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as new:
        new.write(text)
    os.chmod(new.name, mode)
    os.replace(new.name, path)
