"""Finding and following the log of a replica."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from console.choice import NotFoundError
from console.local.log import find
from supervisor import client
from supervisor.spec import Replica, Spec
from tests.cluster.waiting import until

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    for replica in ("chief-0", "worker-0", "worker-1"):
        log = tmp_path / "jobs/mnist/logs" / f"{replica}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{replica} says hello\n")
    return tmp_path


@pytest.mark.parametrize(
    ("job", "replica", "found"),
    [
        ("mnist", "worker-1", "worker-1"),
        ("mnist", "chief", "chief-0"),
        ("mnist", None, "chief-0"),
        (None, None, "chief-0"),
    ],
)
def test_a_log_is_found(state: Path, job: str | None, replica: str | None, found: str) -> None:
    assert find(state, job, replica) == state / f"jobs/mnist/logs/{found}.log"


@pytest.mark.parametrize(
    ("job", "replica", "named"), [("other", None, "mnist"), ("mnist", "ps-0", "chief-0, worker-0")]
)
def test_what_is_not_there_is_told_with_what_is(
    state: Path, job: str, replica: str | None, named: str
) -> None:
    with pytest.raises(NotFoundError, match=named):
        find(state, job, replica)


def test_nothing_has_run_yet(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nothing has run yet"):
        find(tmp_path, None, None)


def running(state: Path) -> Spec:
    return Spec(
        kind="job",
        name="mnist",
        generation="g",
        working_directory=str(state),
        replicas=[Replica(role="chief", index=0, command=["sleep", "1000"])],
    )


def test_following_ends_with_the_job(state: Path) -> None:
    log = state / "jobs/mnist/logs/chief-0.log"
    process = following(log)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "chief-0 says hello\n")
    assert "(it no longer runs: nothing more will come)" in errors


def following(log: Path) -> subprocess.Popen[str]:
    code = (
        "import sys; from console.logs import follow; from console.local.log import LocalLog; "
        f"from pathlib import Path; sys.exit(follow(LocalLog(Path({str(log)!r}))))"
    )
    return subprocess.Popen(
        [sys.executable, "-u", "-c", code],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_following_shows_what_is_added_and_goes_on_after_rotation(tmp_path: Path) -> None:
    client.launch(running(tmp_path), {}, tmp_path)
    log = tmp_path / "logs/chief-0.log"
    # The supervisor writes a line of its own into a log that it finds filled.
    until(lambda: client.observe(tmp_path).state == "Running")
    log.write_text("first line\n")
    process = following(log)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "first line\n"
        with log.open("a") as more:
            more.write("second line\n")
        assert process.stdout.readline() == "second line\n"
        log.rename(tmp_path / "logs/chief-0.log.1")
        time.sleep(0.5)
        log.write_text("new\n")
        assert process.stdout.readline() == "new\n"
        client.stop(tmp_path, 0)
        _, errors = process.communicate(timeout=60)
        assert "(it has stopped: nothing more will come)" in errors
    finally:
        process.kill()
        process.communicate()
        client.stop(tmp_path, 0)
