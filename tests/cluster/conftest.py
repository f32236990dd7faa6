"""One cluster for all tests here; where it cannot be had they are skipped, but not in CI."""

import os
import platform
import secrets
import shutil
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest

from tests.cluster.handle import Cluster, given_cluster
from tests.cluster.replica_image import NEEDED, replica_image
from tests.cluster.reservation import reserved_place
from tests.cluster.stacks import ClusterStack, stack_on
from toolchain.cluster.lifecycle import down, up
from toolchain.cluster.programs import cluster_programs, ensure_machine
from toolchain.cluster.stock_images import BUSYBOX, TRAINING_OPERATOR, training_operator_archive
from toolchain.report import Stop

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.cluster)
    # Before the operator comes, which then stays: those that need a cluster without one.
    items.sort(key=lambda item: "operated" in getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, where a skipped test is one that nobody misses, a skip is a failure."""
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    here = item.path.is_relative_to(_HERE)
    if skipped and here and must_run(os.environ, platform.system(), os.geteuid()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
        report.outcome = "failed"
        report.longrepr = f"{reason}\n(this is CI, as root on Linux: no test may be skipped)"
    return report


def must_run(environment: Mapping[str, str], system: str, user: int) -> bool:
    own = not environment.get("KUBECONFIG")
    return own and environment.get("CI") == "true" and system == "Linux" and user == 0


def pytest_report_header() -> str:
    given = os.environ.get("KUBECONFIG")
    return f"cluster: that of KUBECONFIG={given}" if given else "cluster: one of this machine's own"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster of KUBECONFIG; without that, one of real programs on this machine."""
    given = given_cluster()
    if given:
        yield given
        return
    ensure_own_cluster_can_run()
    with reserved_place() as place:
        down(place)  # of a test run that was killed
        up(place)
        kubectl = cluster_programs()["kubectl"]
        try:
            yield Cluster(place.kubeconfig, kubectl, BUSYBOX, place)
        finally:
            down(place)


def ensure_own_cluster_can_run() -> None:
    """Skips the test on a machine that cannot run a cluster."""
    try:
        ensure_machine()
    except Stop as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def images(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The images of a stack are in the cluster: the training operator's and the replicas' own. A
    cluster that was given has them from a registry."""
    if cluster.place is None:
        return
    operator = training_operator_archive(tmp_path_factory.mktemp("images") / "operator.tar")
    cluster.import_image(operator, [TRAINING_OPERATOR])
    replica = replica_image()
    cluster.import_image(replica.archive, [replica.name])


@pytest.fixture(scope="session")
def operated(
    cluster: Cluster, images: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """The cluster with a training operator, which a stack of its own installed."""
    with stack_on(cluster, tmp_path_factory.mktemp("operator") / "project") as stack:
        stack.configure(operator={"install": True})
        up = stack.workspace.up()
        assert up.code == 0, up
        yield cluster


@pytest.fixture
def stack(operated: Cluster, tmp_path: Path) -> Iterator[ClusterStack]:
    """A stack on a cluster whose operator is another stack's."""
    with stack_on(operated, tmp_path / "a project") as stack:
        yield stack


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"ack-training-test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def image_tools() -> None:
    """What builds, copies and keeps images: programs of Debian's packages."""
    programs = (*NEEDED, "docker-registry", "skopeo")
    missing = [program for program in programs if shutil.which(program) is None]
    if missing or os.geteuid():
        pytest.skip(f"needs {', '.join(missing)}" if missing else "needs root")
