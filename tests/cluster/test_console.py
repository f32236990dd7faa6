"""`make watch`, `make logs` and `make tensorboard` of a stack on a cluster."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from console.choice import TO_BE_MADE
from tests.cluster.relay import Relay
from tests.cluster.stacks import ClusterStack, Result, shell_job
from tests.cluster.waiting import until

TRAINER = """
trap 'exit 0' TERM
say() { echo "step $1/100  loss 0.$((9000 - $1 * 10))  accuracy 0.7220  2565 examples/s"; }
case $HOSTNAME in
*-chief-0)
    i=0; until [ -e /tmp/end ]; do i=$((i < 50 ? i + 1 : 50)); say $i; sleep 0.2; done
    say 100; echo "step 100  examples 1000  loss 0.1044  accuracy 0.9740" ;;
*)  i=0; until [ -e /tmp/lost ]; do i=$((i + 1)); echo "line $i"; sleep 0.1; done; exit 138 ;;
esac
"""
BOARD = """
mkdir -p /tmp/pages/tb; echo $HOSTNAME >/tmp/pages/tb/index.html
head -c 3000000 /dev/urandom >/tmp/pages/tb/curves; exec httpd -f -p 6006 -h /tmp/pages
"""


def console(stack: ClusterStack, *arguments: str) -> Result:
    with started(stack, *arguments) as view:
        output, errors = view.communicate(timeout=120)
    return Result(view.returncode, output + errors)


@contextmanager
def started(stack: ClusterStack, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    view = subprocess.Popen(
        [sys.executable, "-u", "-m", "console", *arguments, "--stack", "test"],
        cwd=stack.workspace.path,
        env={**os.environ, "COLUMNS": "160"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield view
    finally:
        view.kill()
        view.communicate()


class Spoken:
    """The lines of a program's output, as they come."""

    def __init__(self, pipe: IO[str] | None) -> None:
        assert pipe is not None
        self._lines: Queue[str] = Queue()
        self._pipe = pipe
        self.thread = Thread(target=self._read, daemon=True)
        self.thread.start()

    def until(self, pattern: str) -> list[str]:
        """The lines up to the first that is like `pattern`."""
        found: list[str] = []
        while not found or not re.fullmatch(pattern, found[-1]):
            try:
                found.append(self._lines.get(timeout=60))
            except Empty:
                raise AssertionError(f"no {pattern} after {found[-20:]}") from None
        return found

    def _read(self) -> None:
        for line in self._pipe:
            self._lines.put(line.rstrip("\n"))


def up(stack: ClusterStack, **sections: Any) -> None:
    stack.configure(**sections)
    done = stack.workspace.up()
    assert done.code == 0, done


def row(table: Result, name: str) -> list[str]:
    """The words of a replica's, job's or service's line."""
    return next(line.split() for line in table.text.splitlines() if line.split()[:1] == [name])


def test_a_job_is_watched_and_its_logs_are_followed_to_its_end(stack: ClusterStack) -> None:
    jobs = {
        "m": shell_job(stack.cluster, TRAINER, chief={}, worker={"replicas": 2}),
        "stuck": shell_job(stack.cluster, "true", image="test.local/absent:1", wait="submitted"),
    }
    up(stack, jobs=jobs)
    stack.configure(jobs={**jobs, "new": shell_job(stack.cluster, "true")})
    node = stack.pods("m")["m-chief-0"]["spec"]["nodeName"]

    def trains() -> bool:
        return "50/100" in console(stack, "watch", "--once").text

    until(trains)
    table = console(stack, "watch", "--once")
    assert table.code == 0, table
    assert row(table, "m") == ["m", "Running"]
    figures = ["50/100", "0.8500", "0.722", "2,565"]
    assert row(table, "chief-0") == ["chief-0", "Running", node, "0", *figures]
    assert row(table, "worker-1") == ["worker-1", "Running", node, "0"]
    assert "stuck Created  chief-0 cannot have its image test.local/absent:1: " in table.text
    assert row(table, "new") == ["new", "Absent", *TO_BE_MADE.split()]
    assert row(table, "training-operator") == ["training-operator", "Ready"]
    assert "tensorboard" not in table.text

    unknown = console(stack, "logs", "--job", "m", "--replica", "worker-2")
    assert unknown.code == 2
    assert "REPLICA=worker-2 of m: choose one of chief-0, worker-0, worker-1" in unknown.text
    stuck = console(stack, "logs", "--job", "stuck", "--no-follow")
    assert (stuck.code, "chief-0 has no log yet: " in stuck.text) == (0, True), stuck

    log = ("logs", "--job", "m", "--replica", "worker-1")
    with started(stack, *log) as view:
        lines, notes = Spoken(view.stdout), Spoken(view.stderr)
        first = lines.until("line 20")
        assert first == [f"line {number}" for number in range(1, 21)]
        stack.kubectl("exec", "m-worker-1", "--", "touch", "/tmp/lost")
        notes.until(re.escape("(worker-1 goes on in a new pod)"))
        assert lines.until("line 1")[-1] == "line 1"
        assert row(console(stack, "watch", "--once"), "worker-1")[3] == "1"
        stack.kubectl("exec", "m-chief-0", "--", "touch", "/tmp/end")
        notes.until(re.escape("(it has succeeded: nothing more will come)"))
        assert view.wait(60) == 0

    until(lambda: list(stack.pods("m")) == ["m-chief-0"])
    chief = console(stack, "logs", "--job", "m")
    assert chief.code == 0, chief
    assert "step 100  examples 1000  loss 0.1044  accuracy 0.9740\n" in chief.text
    table = console(stack, "watch", "--once")
    assert row(table, "m") == ["m", "Succeeded"]
    assert row(table, "chief-0")[4:] == ["100/100", "0.1044", "0.974"]
    assert row(table, "worker-1")[1] == "gone"
    gone = console(stack, *log)
    assert gone.code == 2
    assert "the pod of worker-1 is gone and its log with it, as cleanPodPolicy" in gone.text


def test_a_log_goes_on_when_the_api_server_is_back(stack: ClusterStack, tmp_path: Path) -> None:
    """And no line of it is lost or told twice."""
    jobs = {"m": shell_job(stack.cluster, TRAINER, worker={})}
    up(stack, jobs=jobs)
    relay = Relay(stack.cluster.kubeconfig)
    kubeconfig = relay.write_kubeconfig(tmp_path / "relayed")
    stack.configure(jobs=jobs, kubernetes=stack.connection(kubeconfig=str(kubeconfig)))
    with started(stack, "logs", "--job", "m") as view:
        lines, notes = Spoken(view.stdout), Spoken(view.stderr)
        shown = lines.until("line 20")
        relay.cut()
        notes.until(r"\(cluster not reachable since \d\d:\d\d:\d\d – keeps trying\)")
        relay.mend()
        notes.until(re.escape("(the cluster answers again)"))
        last = int(shown[-1].split()[1]) + 50
        shown += lines.until(f"line {last}")
        assert shown == [f"line {number}" for number in range(1, last + 1)]
        view.send_signal(signal.SIGINT)
        assert view.wait(60) == 0
        notes.thread.join(60)
        relay.cut()
    stack.configure(jobs=jobs)


def test_tensorboard_is_brought_to_this_machine(stack: ClusterStack) -> None:
    stack.configure(tensorboard={"pathPrefix": "tb"})
    none = console(stack, "tensorboard")
    assert none.code == 2
    assert f"there is no tensorboard in namespace {stack.namespace}" in none.text
    stack.cluster.kubectl("create", "namespace", stack.namespace)
    stack.cluster.apply(board(stack, "sleep 100000"))
    until(lambda: bool(board_pods(stack)))
    early = console(stack, "tensorboard")
    assert early.code == 2
    assert "tensorboard is not ready: its pod " in early.text
    stack.cluster.apply(board(stack, BOARD))
    stack.kubectl("rollout", "status", "deployment/tensorboard", "--timeout=120s")
    (first,) = board_pods(stack)
    with started(stack, "tensorboard") as view:
        assert view.stdout is not None
        url = view.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/tb/", url)
        assert fetch(url) == f"{first}\n".encode()
        with ThreadPoolExecutor(20) as pool:
            pages = set(pool.map(fetch, [f"{url}curves"] * 20))
        assert [len(page) for page in pages] == [3_000_000]

        port = url.split(":")[2].split("/")[0]
        taken = console(stack, "tensorboard", "--port", port)
        assert (taken.code, len(taken.text.splitlines())) == (2, 1), taken
        assert f"port {port} is taken by another program" in taken.text

        stack.kubectl("delete", "pod", first, "--wait=false")
        until(lambda: fetch(url) not in (b"", f"{first}\n".encode()))
        assert fetch(url) == f"{board_pods(stack)[0]}\n".encode()

        view.send_signal(signal.SIGINT)
        output, errors = view.communicate(timeout=60)
        assert (view.returncode, output) == (0, "")
        assert "Traceback" not in errors
        assert f"(tensorboard has a new pod, {board_pods(stack)[0]})" in errors


def fetch(url: str) -> bytes:
    """The page; empty while there is none."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            found: bytes = answer.read()
            return found
    except (urllib.error.URLError, ConnectionError):
        return b""


def board_pods(stack: ClusterStack) -> list[str]:
    """The pods in TensorBoard's place that are not about to end."""
    found = stack.get("pods", "-l", "app.kubernetes.io/name=tensorboard")["items"]
    return [pod["metadata"]["name"] for pod in found if "deletionTimestamp" not in pod["metadata"]]


def board(stack: ClusterStack, script: str) -> dict[str, Any]:
    """A Deployment in the place of TensorBoard's, which serves pages with a shell's tools."""
    labels = {"app.kubernetes.io/name": "tensorboard"}
    probe = {"periodSeconds": 1, "httpGet": {"path": "/tb/index.html", "port": 6006}}
    container = {
        "name": "tensorboard",
        "image": stack.cluster.busybox,
        "command": ["sh", "-c", script],
        "readinessProbe": probe,
    }
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "tensorboard", "namespace": stack.namespace},
        "spec": {
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
