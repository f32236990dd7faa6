"""Builds pulumi and this project's Python language host from the pinned Go modules under
toolchain/."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolchain.places import ROOT, cache, exclusively, make_folder
from toolchain.report import Stop, step
from toolchain.versions import parse_version, read_versions

ENGINE = ROOT / "toolchain" / "pulumi"
HOST = ROOT / "toolchain" / "languagehost"
_SCRIPTS = ("python/cmd/pulumi-language-python-exec", "python/dist/pulumi-resource-pulumi-python")


def built_engine() -> Path:
    """The folder of a built pulumi; builds it when this user's cache does not have it yet."""
    home = cache() / source_key([ENGINE, HOST])
    if not (home / "bin" / "pulumi").exists():
        go = find_go()
        make_folder(cache())
        with exclusively(cache(), "building pulumi"):
            if not (home / "bin" / "pulumi").exists():
                _build(go, home)
    return home / "bin"


def source_key(modules: Iterable[Path]) -> str:
    """Names what is built: the sources' content and the kind of machine (a home may be shared by
    several)."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()}".encode())
    for module in modules:
        for file in sorted(module.iterdir()):
            if file.suffix in (".go", ".mod", ".sum") and not file.name.endswith("_test.go"):
                digest.update(f"{module.name}/{file.name}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def find_go() -> str:
    """The `go` on PATH; Stop says what to install when it is missing or too old."""
    minimum = read_versions().programs["go-minimum"]
    wish = f"install Go {minimum} or later (https://go.dev/dl) or Pulumi (https://www.pulumi.com/docs/install)"
    go = shutil.which("go")
    if go is None:
        raise Stop(f"pulumi is not installed and must be built, which needs Go: {wish}")
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
        raise Stop(f"pulumi must be built, and {go} is {version or 'broken'}: {wish}")
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


def _build(go: str, home: Path) -> None:
    """Built aside and renamed, so that whatever lies at `home` is whole."""
    for leftover in cache().glob("building-*"):  # of a build that was killed; no other is running
        shutil.rmtree(leftover, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix="building-", dir=cache()))
    try:
        out = aside / "bin"
        out.mkdir()
        version = read_versions().programs["pulumi"]
        with step("Downloading the sources of pulumi", "about a minute, once; 2 GB of disk"):
            for module in (ENGINE, HOST):
                _go([go, "mod", "download"], module)
        with step("Building pulumi from source", "usually 4 to 6 minutes, once"):
            stamp = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}"
            package = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
            _go(
                [go, "build", "-ldflags", f"-s -w {stamp}", "-o", str(out / "pulumi"), package],
                ENGINE,
            )
        with step("Building the Python language host", "about half a minute, once"):
            host = str(out / "pulumi-language-python")
            _go([go, "build", "-ldflags", "-s -w", "-o", host, "."], HOST)
            _lay_scripts(go, out)
        os.replace(aside, home)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _lay_scripts(go: str, out: Path) -> None:
    """The host starts these scripts of Pulumi's SDK; they must lie beside it, as files, or each
    command warns."""
    sdk = _go([go, "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"], HOST).strip()
    for script in _SCRIPTS:
        target = out / Path(script).name
        shutil.copyfile(Path(sdk) / script, target)
        target.chmod(0o755)


def _go(command: list[str], module: Path) -> str:
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
        raise Stop(f"`go {' '.join(command[1:3])}` failed in {module.relative_to(ROOT)}:\n{tail}")
    return ran.stdout
