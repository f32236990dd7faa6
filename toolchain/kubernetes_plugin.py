"""Has Pulumi's plugin for Kubernetes where Pulumi looks for it, before the first preview asks."""

import os
import shutil
import subprocess
from pathlib import Path

from toolchain.engine import Engine
from toolchain.go_build import built_programs, module_folder, source_key
from toolchain.places import ROOT, cache, exclusively
from toolchain.ready import PROGRAM, plugin_folder, plugin_version
from toolchain.report import Stop, say, step

MODULE = ROOT / "toolchain" / "pulumi-kubernetes"
_UPSTREAM = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_READ_BY_IT = ("schema.json", "terraform-mapping.json")
_BUILT_FROM = "built-from"
"""A file beside a plugin that was built here; Pulumi's own has none."""


def ensure_kubernetes_plugin(engine: Engine) -> None:
    """Afterwards Pulumi has the plugin, of the version of the Python package. Quick when it had.

    It is fetched as Pulumi itself would, or built where that cannot be. Either way it lies among
    the user's plugins: Pulumi warns at each command of one that it finds on PATH. A fetched one
    that is there already stays.

    Raises Stop when it can be neither fetched nor built.
    """
    if _is_installed(plugin_folder()):
        return
    pulumi = engine.folder / "pulumi"
    offline = os.environ.get("ACK_TRAINING_OFFLINE") == "1"
    if engine.built or offline or not _fetched(pulumi):
        _install(pulumi, _built())


def _is_installed(folder: Path) -> bool:
    # Pulumi lays the mark `.partial` beside what it has not finished.
    if not (folder / PROGRAM).exists() or Path(f"{folder}.partial").exists():
        return False
    try:
        return (folder / _BUILT_FROM).read_text(encoding="utf-8") == _key()
    except FileNotFoundError:
        return True


def _fetched(pulumi: Path) -> bool:
    with step(
        f"Downloading Pulumi's plugin for Kubernetes, {plugin_version()}", "about 20 s, once"
    ):
        ran = _pulumi(pulumi)
    if ran.returncode:
        say("  cannot be had; building it instead")
    return ran.returncode == 0


def _built() -> Path:
    folder = built_programs(MODULE, {PROGRAM: "."}, usually="3 to 6 minutes", ldflags=_stamp())
    if not (folder / _BUILT_FROM).exists():
        with exclusively(cache(), "building Pulumi's plugin for Kubernetes"):
            source = module_folder(MODULE, _UPSTREAM) / "cmd" / PROGRAM
            for name in _READ_BY_IT:
                shutil.copyfile(source / name, folder / name)
            # Last, so that it is there only with all the others.
            (folder / _BUILT_FROM).write_text(_key(), encoding="utf-8")
    return folder


def _install(pulumi: Path, built: Path) -> None:
    ran = _pulumi(pulumi, "--reinstall", "--file", str(built))
    if ran.returncode:
        tail = "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-5:])
        raise Stop(f"pulumi could not install its plugin for Kubernetes:\n{tail}")


def _pulumi(pulumi: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [pulumi, "plugin", "install", "resource", "kubernetes", plugin_version(), *options],
        env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _key() -> str:
    return source_key([MODULE], _stamp())


def _stamp() -> str:
    return f"-X main.version={plugin_version()}"
