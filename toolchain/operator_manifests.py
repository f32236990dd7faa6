"""Has upstream's manifests of the training operator in this user's cache, as upstream released
them."""

import hashlib
import http.client
import os
import shutil
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from toolchain.go_build import module_folder
from toolchain.places import ROOT, cache, exclusively, make_folder
from toolchain.report import Stop, say, step
from toolchain.versions import read_versions

MODULE = ROOT / "toolchain" / "operator"
_UPSTREAM = "github.com/kubeflow/training-operator"
_ARCHIVE = "https://github.com/kubeflow/trainer/archive/refs/tags/v{}.tar.gz"
_STALL_SECONDS = 10.0

FILES = (
    "base/crds/kubeflow.org_tfjobs.yaml",
    "base/deployment.yaml",
    "base/rbac/cluster-role-binding.yaml",
    "base/rbac/role.yaml",
    "base/rbac/service-account.yaml",
    "base/service.yaml",
    "base/webhook/manifests.yaml",
    "base/webhook/patch.yaml",
    "overlays/standalone/kustomization.yaml",
)
"""What is read of upstream's folder `manifests`."""

_REMEDY = (
    "a stack that installs the operator needs the path of upstream's folder `manifests` in its "
    "config, or Go or github.com here"
)


def operator_manifests(stack: str) -> Path:
    """The folder that has FILES, for the program of `stack`; Stop tells how to get it."""
    folder = _home() / "manifests"
    if not folder.is_dir():
        raise Stop(f"{_wish()}: run `make setup STACK={stack}`")
    return folder


def ensure_operator_manifests() -> None:
    """Afterwards the cache has the manifests, whole and unchanged. Quick when it had.

    Where they cannot be had, it says what to do and nothing is raised: the stack may be one that
    brings its own or installs no operator.
    """
    if _is_released(_home() / "manifests"):
        return
    make_folder(cache())
    with exclusively(cache(), "getting the training operator's manifests"):
        if not _is_released(_home() / "manifests"):
            # Damaged ones must not be used, also where there are no others.
            shutil.rmtree(_home(), ignore_errors=True)
            try:
                _get()
            except Stop as stop:
                say(f"  {stop}")


def digest(folder: Path) -> str:
    """The SHA-256 over the names and contents of FILES in `folder`."""
    whole = hashlib.sha256()
    for name in FILES:
        content = (folder / name).read_bytes()
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _get() -> None:
    """Laid aside and renamed, so that whatever lies there is whole. Raises Stop when no source has
    them."""
    for leftover in cache().glob("manifests-*"):  # of one that was killed; no other is running
        shutil.rmtree(leftover, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix="manifests-", dir=cache()))
    reasons = []
    try:
        with step(f"Getting {_wish()}", "some seconds, once"):
            for source, lay in _SOURCES.items():
                folder = aside / lay.__name__ / "manifests"
                try:
                    lay(folder)
                    if not _is_released(folder):
                        raise Stop("has other files than were released")
                except (OSError, http.client.HTTPException, tarfile.TarError, Stop) as error:
                    first_line = str(error).partition("\n")[0] or type(error).__name__
                    reasons.append(f"{source}: {first_line}")
                    continue
                os.replace(folder.parent, _home())
                return
            raise Stop(f"they cannot be had ({'; '.join(reasons)}): {_REMEDY}")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _lay_from_module(folder: Path) -> None:
    if shutil.which("go") is None:
        raise Stop("there is no Go on PATH")
    source = module_folder(MODULE, _UPSTREAM) / "manifests"
    for name in FILES:
        _write(folder / name, (source / name).read_bytes())


def _lay_from_archive(folder: Path) -> None:
    if os.environ.get("ACK_TRAINING_OFFLINE") == "1":
        raise Stop("ACK_TRAINING_OFFLINE is set")
    with (
        urllib.request.urlopen(_ARCHIVE.format(_version()), timeout=_STALL_SECONDS) as response,
        tarfile.open(fileobj=response, mode="r|gz") as archive,
    ):
        for name, content in _members(archive):
            _write(folder / name, content)


_SOURCES: dict[str, Callable[[Path], None]] = {
    "the Go module proxy": _lay_from_module,
    "github.com": _lay_from_archive,
}


def _members(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    """FILES in an archive of upstream's repository, whose one folder is named as it likes."""
    for member in archive:
        name = member.name.partition("/manifests/")[2]
        file = archive.extractfile(member) if name in FILES and member.isfile() else None
        if file and member.name.count("/") == name.count("/") + 2:
            yield name, file.read()


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _is_released(folder: Path) -> bool:
    try:
        return digest(folder) == read_versions().files["training-operator-manifests"]
    except OSError:
        return False


def _home() -> Path:
    return cache() / f"training-operator-{_version()}"


def _wish() -> str:
    return f"the manifests of training operator {_version()}"


def _version() -> str:
    return read_versions().modules[_UPSTREAM]
