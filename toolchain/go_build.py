"""Builds programs from the pinned Go modules under toolchain/ into this user's cache."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolchain.places import cache, exclusively, make_folder
from toolchain.report import Stop, duration, say
from toolchain.versions import parse_version, read_versions


def built_programs(
    module: Path, programs: Mapping[str, str], *, usually: str, ldflags: str = ""
) -> Path:
    """The folder that has `programs` (name: Go package), built from `module`. What is missing is
    built, one program at a time on this machine; each is kept as soon as it is done.

    `usually` is how long one takes, for the message. Raises Stop when there is no Go or a build
    fails.
    """
    folder = cache() / source_key([module], ldflags) / "bin"
    for name, package in programs.items():
        if (folder / name).exists():
            continue
        go = find_go(name)
        make_folder(folder)
        with exclusively(cache(), f"building {name} or another program"):
            if not (folder / name).exists():
                say(f"Building {name} from source (usually {usually}, once)…")
                start = time.monotonic()
                _build(go, module, package, ldflags, folder / name)
                say(f"  built {name} in {duration(time.monotonic() - start)}")
    return folder


def source_key(modules: Iterable[Path], ldflags: str = "") -> str:
    """Names what is built: the sources' content, what is stamped into them, and the kind of
    machine (a home may be shared by several)."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()}{ldflags}".encode())
    for module in modules:
        for file in sorted(module.iterdir()):
            if file.suffix in (".go", ".mod", ".sum") and not file.name.endswith("_test.go"):
                digest.update(f"{module.name}/{file.name}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def find_go(program: str, instead: str = "") -> str:
    """The `go` on PATH; Stop says what to install when it is missing or too old.

    `instead` is what else would do in place of Go, as in `Pulumi (address)`.
    """
    minimum = read_versions().programs["go-minimum"]
    wish = f"install Go {minimum} or later (https://go.dev/dl)" + (instead and f" or {instead}")
    go = shutil.which("go")
    if go is None:
        raise Stop(f"{program} is not installed and must be built, which needs Go: {wish}")
    # GOTOOLCHAIN=local here too: otherwise an older Go would answer for a newer one that it
    # downloads.
    ran = subprocess.run(
        [go, "env", "GOVERSION"],
        env={**os.environ, "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    version = ran.stdout.strip()
    if ran.returncode or parse_version(version) < parse_version(minimum):
        raise Stop(f"{program} must be built, and {go} is {version or 'broken'}: {wish}")
    return go


def go_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Has Go build for this machine, from exactly what go.sum names, with no word of the machine
    in the result."""
    dropped = ("GOOS", "GOARCH", "GOWORK", "GOBIN")
    environment = {key: value for key, value in base.items() if key not in dropped}
    return environment | {
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "-mod=readonly -trimpath -buildvcs=false",
    }


def run_go(command: list[str], module: Path) -> str:
    """What `command` prints in the folder `module`; Stop with its last lines when it fails."""
    ran = subprocess.run(
        command,
        cwd=module,
        env=go_environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        tail = "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-20:])
        raise Stop(f"`go {' '.join(command[1:3])}` failed in {module}:\n{tail}")
    return ran.stdout


def module_folder(module: Path, dependency: str) -> Path:
    """Where the sources of a dependency of `module` lie, downloaded when they did not before."""
    go = find_go(dependency)
    run_go([go, "mod", "download", dependency], module)
    return Path(run_go([go, "list", "-m", "-f", "{{.Dir}}", dependency], module).strip())


def remove_leftovers() -> None:
    """Of builds that were killed. Only for who holds the cache: then no other is running."""
    for leftover in cache().glob("building-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _build(go: str, module: Path, package: str, ldflags: str, target: Path) -> None:
    """Built aside and renamed, so that whatever lies at `target` is whole."""
    remove_leftovers()
    aside = Path(tempfile.mkdtemp(prefix="building-", dir=cache()))
    try:
        flags = f"-s -w {ldflags}".strip()
        run_go([go, "build", "-ldflags", flags, "-o", str(aside / "program"), package], module)
        os.replace(aside / "program", target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
