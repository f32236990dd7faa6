"""The images that every test cluster can use, and that of the training operator."""

import re
import subprocess
from pathlib import Path

from toolchain.cluster.oci import Image, write_archive
from toolchain.cluster.programs import program, training_operator

BUSYBOX = "test.local/busybox:1"
"""A shell, small programs and `getent`; sleeps when a pod names no command."""

TRAINING_OPERATOR = "ghcr.io/kubeflow/training-v1/training-operator:v1-93c5489"
"""As the operator's own manifests name it."""

_USERS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"


def busybox_archive(archive: Path) -> Path:
    """Writes the image of BUSYBOX; it also holds a pod's namespaces open."""
    busybox = Path(program("busybox"))
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split() if name not in ("busybox", "getent")]
    programs = {"bin/busybox": busybox, "bin/getent": Path(program("getent"))}
    libraries = {file for each in programs.values() for file in _libraries(each)}
    image = Image(
        entrypoint=(),
        command=("sleep", "2147483647"),
        programs=programs | {str(file).lstrip("/"): file for file in libraries},
        files={
            "etc/passwd": _USERS,
            "etc/group": "root:x:0:\nnobody:x:65534:\n",
            "etc/nsswitch.conf": "hosts: files dns\n",
        },
        folders=("bin", "etc", "proc", "root", "sys", "tmp", "dev"),
        links={f"bin/{name}": "busybox" for name in names},
    )
    return write_archive(image, archive)


def _libraries(program_file: Path) -> list[Path]:
    """The shared libraries of a program, and what loads them; none of a static one."""
    listed = subprocess.run(["ldd", program_file], capture_output=True, text=True, check=False)
    return [Path(found) for found in re.findall(r"(/\S+) \(0x", listed.stdout)]


def training_operator_archive(archive: Path) -> Path:
    """Writes the image of TRAINING_OPERATOR, building the program when it was not before."""
    image = Image(
        entrypoint=("/manager",),
        programs={"manager": training_operator()},
        files={"etc/passwd": _USERS},
        folders=("etc", "tmp"),
    )
    return write_archive(image, archive)
