"""Builds pulumi and this project's Python language host from the pinned Go modules under
toolchain/."""

import os
import shutil
import tempfile
from pathlib import Path

from toolchain.go_build import find_go, remove_leftovers, run_go, source_key
from toolchain.places import ROOT, cache, exclusively, make_folder
from toolchain.report import step
from toolchain.versions import read_versions

ENGINE = ROOT / "toolchain" / "pulumi"
HOST = ROOT / "toolchain" / "languagehost"
_SCRIPTS = ("python/cmd/pulumi-language-python-exec", "python/dist/pulumi-resource-pulumi-python")


def built_engine() -> Path:
    """The folder of a built pulumi; builds it when this user's cache does not have it yet."""
    home = cache() / source_key([ENGINE, HOST])
    if not (home / "bin" / "pulumi").exists():
        go = find_go("pulumi", "Pulumi (https://www.pulumi.com/docs/install)")
        make_folder(cache())
        with exclusively(cache(), "building pulumi"):
            if not (home / "bin" / "pulumi").exists():
                _build(go, home)
    return home / "bin"


def _build(go: str, home: Path) -> None:
    """Built aside and renamed, so that whatever lies at `home` is whole."""
    remove_leftovers()
    aside = Path(tempfile.mkdtemp(prefix="building-", dir=cache()))
    try:
        out = aside / "bin"
        out.mkdir()
        version = read_versions().programs["pulumi"]
        with step("Downloading the sources of pulumi", "about a minute, once; 2 GB of disk"):
            for module in (ENGINE, HOST):
                run_go([go, "mod", "download"], module)
        with step("Building pulumi from source", "usually 4 to 6 minutes, once"):
            stamp = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}"
            package = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
            run_go(
                [go, "build", "-ldflags", f"-s -w {stamp}", "-o", str(out / "pulumi"), package],
                ENGINE,
            )
        with step("Building the Python language host", "about half a minute, once"):
            host = str(out / "pulumi-language-python")
            run_go([go, "build", "-ldflags", "-s -w", "-o", host, "."], HOST)
            _lay_scripts(go, out)
        os.replace(aside, home)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _lay_scripts(go: str, out: Path) -> None:
    """The host starts these scripts of Pulumi's SDK; they must lie beside it, as files, or each
    command warns."""
    sdk = run_go(
        [go, "list", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"], HOST
    ).strip()
    for script in _SCRIPTS:
        target = out / Path(script).name
        shutil.copyfile(Path(sdk) / script, target)
        target.chmod(0o755)
