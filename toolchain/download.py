"""Takes pulumi's official release, where it can be reached."""

import hashlib
import http.client
import os
import platform
import shutil
import tarfile
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

from toolchain.places import cache, exclusively, make_folder
from toolchain.report import Stop, say, step

_RELEASES = "https://github.com/pulumi/pulumi/releases/download"
_PROBE_SECONDS = 3.0
_STALL_SECONDS = 60.0
_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def downloaded_engine(version: str) -> Path | None:
    """The folder of the official pulumi, downloaded when it was not before; None where it cannot
    be had.

    ACK_TRAINING_OFFLINE=1 has nothing asked of the network.
    """
    archive = archive_name(version, platform.system(), platform.machine())
    if archive is None:
        return None
    home = cache() / archive.removesuffix(".tar.gz")
    if not (home / "bin" / "pulumi").exists():
        if os.environ.get("ACK_TRAINING_OFFLINE") == "1":
            return None
        sums = _read_quickly(f"{_RELEASES}/v{version}/pulumi-{version}-checksums.txt")
        expected = checksum(sums or "", archive)
        if expected is None:
            return None
        make_folder(cache())
        with exclusively(cache(), "getting pulumi"):
            if not (home / "bin" / "pulumi").exists() and not _fetch(
                version, archive, expected, home
            ):
                return None
    return home / "bin"


def archive_name(version: str, system: str, machine: str) -> str | None:
    """The release file for a machine; None for one that Pulumi releases nothing for."""
    if system not in _SYSTEMS or machine not in _MACHINES:
        return None
    return f"pulumi-v{version}-{_SYSTEMS[system]}-{_MACHINES[machine]}.tar.gz"


def checksum(sums: str, archive: str) -> str | None:
    """The SHA-256 of `archive` in a checksum file, whose lines are `<hex>  <name>`."""
    for line in sums.splitlines():
        words = line.split()
        if len(words) == 2 and words[1].lstrip("*") == archive and len(words[0]) == 64:
            return words[0].lower()
    return None


def _read_quickly(url: str) -> str | None:
    """The text at `url`, or None after three seconds: a name look-up alone may hang for far
    longer offline."""
    answer: list[str] = []

    def ask() -> None:
        try:
            with urllib.request.urlopen(url, timeout=_PROBE_SECONDS) as response:
                answer.append(response.read(1_000_000).decode())
        except (OSError, ValueError, http.client.HTTPException):
            pass  # not reachable: pulumi is built instead

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_PROBE_SECONDS)
    return answer[0] if answer else None


def _fetch(version: str, archive: str, expected: str, home: Path) -> bool:
    """Downloads, verifies and unpacks aside, then renames. False when the transfer broke."""
    for leftover in cache().glob("download-*"):  # of one that was killed; no other is running
        shutil.rmtree(leftover, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix="download-", dir=cache()))
    try:
        with step(f"Downloading pulumi {version}", "about a minute, once"):
            file = aside / archive
            with (
                urllib.request.urlopen(
                    f"{_RELEASES}/v{version}/{archive}", timeout=_STALL_SECONDS
                ) as response,
                file.open("wb") as out,
            ):
                shutil.copyfileobj(response, out)
            with file.open("rb") as read:
                actual = hashlib.file_digest(read, "sha256").hexdigest()
            if actual != expected:
                raise Stop(
                    f"{archive} is damaged: SHA-256 {actual}, released was {expected}; run again"
                )
            unpack(file, aside / "bin")
            file.unlink()
            os.replace(aside, home)
    except (OSError, http.client.HTTPException, tarfile.TarError) as error:
        reason = str(error) or type(error).__name__
        say(f"  the download broke off ({reason}); building pulumi instead")
        return False
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return True


def unpack(archive: Path, folder: Path) -> None:
    """Writes the release's programs (`pulumi/<name>`) into `folder`, and nothing outside it."""
    folder.mkdir()
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = member.name.removeprefix("./").split("/")
            source = tar.extractfile(member) if member.isfile() else None
            if (
                source is None
                or len(parts) != 2
                or parts[0] != "pulumi"
                or parts[1] in ("", ".", "..")
            ):
                continue
            target = folder / parts[1]
            with target.open("wb") as out:
                shutil.copyfileobj(source, out)
            target.chmod(0o755)
