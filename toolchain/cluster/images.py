"""Brings images from archives into a cluster: nothing can be pulled there."""

import hashlib
import json
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from toolchain.cluster.configuration import SOCKET
from toolchain.cluster.place import Place
from toolchain.cluster.processes import node_process
from toolchain.cluster.programs import environment, program
from toolchain.report import Stop


def import_image(place: Place, archive: Path, names: Sequence[str]) -> bool:
    """Afterwards pods can use the OCI archive's image under each of `names`, which are complete
    (`registry/path:tag`). False, and no change, when they could already.

    A pod must not ask for it with `imagePullPolicy: Always`.
    """
    digest, own_name = archived(archive)
    present = image_digests(_ctr(place, ["images", "list"]))
    missing = [name for name in names if present.get(name) != digest]
    if not missing:
        return False
    first = own_name or missing[0]
    naming = [] if own_name else ["--index-name", first]
    with archive.open("rb") as content:
        _ctr(place, ["images", "import", *naming, "-"], content)
    for name in missing:
        if name != first:
            _ctr(place, ["images", "tag", "--force", first, name])
    got = image_digests(_ctr(place, ["images", "list"]))
    if any(got.get(name) != digest for name in names):
        raise Stop(f"{archive} was imported and is not there as {', '.join(names)}")
    return True


def archived(archive: Path) -> tuple[str, str]:
    """The digest under which containerd lists the archive's image, and the name that the archive
    itself gives it, as buildah's do; "" where it gives none."""
    index = _index(archive)
    manifests = json.loads(index)["manifests"]
    name = str(manifests[0].get("annotations", {}).get("org.opencontainers.image.ref.name", ""))
    if len(manifests) == 1 and name:
        # A named manifest is the image; without a name it is the index, which names all else.
        return str(manifests[0]["digest"]), name
    return f"sha256:{hashlib.sha256(index).hexdigest()}", ""


def _index(archive: Path) -> bytes:
    try:
        with tarfile.open(archive) as tar:
            index = next(one for one in tar if one.name.removeprefix("./") == "index.json")
            content = tar.extractfile(index)
            if content is not None:
                return content.read()
    except OSError as error:
        raise Stop(f"cannot read {archive}: {error.strerror}") from error
    except (tarfile.TarError, StopIteration):
        pass
    raise Stop(f"{archive} is no OCI archive: it has no index.json (`buildah push … oci-archive:`)")


def image_digests(listing: str) -> dict[str, str]:
    """The digest of each image that `ctr images list` tells of: REF TYPE DIGEST SIZE …"""
    rows = [line.split() for line in listing.splitlines()[1:]]
    return {row[0]: row[2] for row in rows if len(row) > 2}


def _ctr(place: Place, arguments: Sequence[str], content: IO[bytes] | None = None) -> str:
    # The socket lies in the node's own /run.
    inside = [program("nsenter"), "--target", str(node_process(place)), "--mount"]
    ran = subprocess.run(
        [*inside, program("ctr"), f"--address={SOCKET}", "--namespace=k8s.io", *arguments],
        env=environment(),
        stdin=content or subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Stop(f"ctr {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout
