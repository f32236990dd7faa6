"""The CPU image as `make image` really builds it: what is in it, and that replicas, TensorBoard and
the dataset's job can run in it as any user with a root file system that is read-only."""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.replica_image import ReplicaImage, replica_image
from tests.cluster.unpacked_image import UnpackedImage
from toolchain.image_tag import image_tag
from toolchain.places import ROOT

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.tensorflow,
    pytest.mark.timeout(1800),
    pytest.mark.usefixtures("image_tools"),
]

PACKAGES = "opt/ack-training"
MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def built(image_tools: None) -> ReplicaImage:
    return replica_image()


@pytest.fixture(scope="module")
def image(built: ReplicaImage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnpackedImage]:
    folder = tmp_path_factory.mktemp("image")
    yield UnpackedImage(built.archive, folder)
    # pytest would keep it for some runs more, and it is large.
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a pod of the dataset's job is given of this project."""
    code = tmp_path_factory.mktemp("code")
    shutil.copytree(ROOT / "workloads" / "datasets", code / "workloads" / "datasets")
    code.chmod(0o755)
    return code


def test_its_name_is_the_one_that_a_stack_computes(
    built: ReplicaImage, image: UnpackedImage
) -> None:
    assert image.name == built.name == f"docker.io/library/ack-training-cpu:{image_tag('cpu')}"


def test_a_container_is_started_with(image: UnpackedImage) -> None:
    config = image.config
    assert config["User"] == "65532:65532"
    assert (config.get("Entrypoint"), config["Cmd"]) == (None, ["python"])
    assert config["WorkingDir"] == "/tmp"
    assert {"HOME=/tmp", "PYTHONDONTWRITEBYTECODE=1"} <= set(config["Env"])
    labels = {
        key.removeprefix("org.opencontainers.image."): v for key, v in config["Labels"].items()
    }
    assert (labels["title"], labels["version"]) == ("ack-training-cpu", image_tag("cpu"))


def test_nothing_of_the_machine_that_built_it_is_in_it(image: UnpackedImage) -> None:
    for trace in ("etc/pip.conf", "run/secrets", "root/.cache", "opt/pip", "opt/requirements.txt"):
        assert not (image.root / trace).exists()
    for text in (str(image.config), image.history):
        assert "://" not in text
        assert str(Path.home()) not in text


def test_it_is_no_larger_than_it_need_be(image: UnpackedImage) -> None:
    base, packages = image.layers
    print(f"base {base / MEBIBYTE:.0f} MiB, packages {packages / MEBIBYTE:.0f} MiB compressed")
    assert packages < 400 * MEBIBYTE
    assert not list((image.root / PACKAGES).glob("lib/python*/site-packages/pip"))
    for compiler in ("gcc", "cc", "c++", "clang", "make"):
        assert not list(image.root.glob(f"usr/*bin/{compiler}*"))


def test_all_that_was_added_is_roots_and_others_only_read_it(image: UnpackedImage) -> None:
    found = [image.root / PACKAGES, *(image.root / PACKAGES).rglob("*")]
    assert len(found) > 5000
    states = {path: path.lstat() for path in found if not path.is_symlink()}
    assert {(state.st_uid, state.st_gid) for state in states.values()} == {(0, 0)}
    writable = [path for path, state in states.items() if state.st_mode & 0o022]
    privileged = [path for path, state in states.items() if state.st_mode & 0o7000]
    assert (writable, privileged) == ([], [])


def test_every_module_is_compiled(image: UnpackedImage) -> None:
    """Nobody could do it later, and an import of TensorFlow compiles thousands. Python compares
    the time of a source, which a layer rounds, unless it is told not to."""
    sources = list((image.root / PACKAGES).rglob("*.py"))
    assert len(sources) > 3000
    unchecked = struct.pack("<I", 1)
    for source in sources:
        (compiled,) = (source.parent / "__pycache__").glob(f"{source.stem}.cpython-*[0-9].pyc")
        assert compiled.read_bytes()[4:8] == unchecked, source


@pytest.mark.parametrize("user", [65532, 12345])
def test_replicas_and_the_datasets_job_run_in_it(
    image: UnpackedImage, code: Path, user: int
) -> None:
    program = """
import errno, getpass, os, pathlib
import keras, numpy, tensorflow
from workloads.datasets.mnist_sample import fill
assert int(tensorflow.reduce_sum(tensorflow.ones([3]))) == 3
assert getpass.getuser() and os.path.expanduser("~") == "/tmp"
assert "was written" in fill(pathlib.Path("/tmp/mnist"))
try:
    pathlib.Path("/opt/x").touch()
except OSError as error:
    print(os.getuid(), errno.errorcode[error.errno], tensorflow.__version__)
"""
    ran = image.run(["python", "-W", "error", "-c", program], user, code)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[:2] == [str(user), "EROFS"]


def test_tensorboard_runs_in_it(image: UnpackedImage, code: Path) -> None:
    for command in (["python", "-m", "tensorboard.main"], ["tensorboard"]):
        ran = image.run([*command, "--version"], 65532, code)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.split()[-1].startswith("2.")


def test_it_is_not_built_again(built: ReplicaImage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert replica_image() == built
