"""A port of this machine that leads to a pod, without a cluster."""

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import pytest
from websocket import WebSocket, WebSocketException

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.port_forward import Carried, carry
from console.choice import NotFoundError
from console.cluster.forward import Forward, listen

Pod = Callable[[Any], None]
PORT = b"\x76\x17"


def joined() -> tuple[Any, Any]:
    """Both ends of a web socket, after the handshake."""
    ends = []
    for end in socket.socketpair():
        ends.append(WebSocket(enable_multithread=True))
        ends[-1].sock, ends[-1].connected = end, True
    return ends[0], ends[1]


def begin(remote: Any) -> None:
    """What the kubelet sends first: the port's number, for bytes and for errors."""
    remote.send_binary(b"\x00" + PORT)
    remote.send_binary(b"\x01" + PORT)


def answers(body: bytes) -> Pod:
    """A pod that answers one HTTP request."""

    def pod(remote: Any) -> None:
        begin(remote)
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += remote.recv()[1:]
        head = b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        for at in range(0, len(head + body), 4096):
            remote.send_binary(b"\x00" + (head + body)[at : at + 4096])
        remote.send_close()

    return pod


def fails(remote: Any) -> None:
    """A pod in which nothing listens."""
    begin(remote)
    remote.send_binary(b"\x01connection refused\n")
    remote.send_close()


@contextmanager
def beside(remote: Any, pod: Pod) -> Iterator[None]:
    thread = threading.Thread(target=pod, args=(remote,), daemon=True)
    thread.start()
    yield
    thread.join(60)
    remote.shutdown()


def carried(pod: Pod, says: bytes) -> tuple[Carried, bytes]:
    """How a connection to the pod ends that says so much, and what it is answered."""
    here, local = socket.socketpair()
    near, far = joined()

    def lead() -> Carried:
        with local:
            found = carry(local, near)
        near.shutdown()
        return found

    with here, beside(far, pod), ThreadPoolExecutor() as pool:
        here.sendall(says)
        ending = pool.submit(lead)
        heard = b""
        while piece := here.recv(65536):
            heard += piece
        return ending.result(60), heard


def test_bytes_go_both_ways() -> None:
    body = bytes(range(256)) * 4000
    found, heard = carried(answers(body), b"GET / HTTP/1.0\r\n\r\n")
    assert found == Carried(answered=True, failure="")
    assert heard.partition(b"\r\n\r\n")[2] == body


def test_what_fails_in_the_pod_is_told() -> None:
    found, heard = carried(fails, b"GET / HTTP/1.0\r\n\r\n")
    assert found == Carried(answered=False, failure="connection refused")
    assert heard == b""


def test_a_connection_that_breaks_is_told() -> None:
    def breaks(remote: Any) -> None:
        begin(remote)
        # A frame that announces more than there is.
        remote.sock.sendall(b"\x82\x7d")
        remote.sock.shutdown(socket.SHUT_WR)

    found, _ = carried(breaks, b"x")
    assert not found.answered


class FakeCluster:
    """One Deployment whose pods are `pods` by name; those that are None are not ready."""

    name = "cluster dev"

    def __init__(self, **pods: Pod | None) -> None:
        self.pods = pods
        self.threads: list[threading.Thread] = []

    def get(self, path: str, **query: str) -> dict[str, Any]:
        labels = {"app": "board"}
        if "/deployments/" in path:
            if not self.pods:
                raise RefusedError("not found", 404, "NotFound")
            return {"spec": {"selector": {"matchLabels": labels}}}
        if path.endswith("/events"):
            return {"items": []}
        assert query == {"labelSelector": "app=board"}
        return {"items": [self._pod(name, labels) for name in self.pods]}

    def web_socket(self, path: str, protocol: str, **query: int) -> Any:
        assert (protocol, query) == ("v4.channel.k8s.io", {"ports": 6006})
        pod = self.pods.get(path.split("/")[-2])
        if pod is None:
            raise RefusedError("no such pod", 404, "NotFound")
        near, far = joined()
        self.threads.append(threading.Thread(target=self._serve, args=(pod, far), daemon=True))
        self.threads[-1].start()
        return near

    def _serve(self, pod: Pod, far: Any) -> None:
        try:
            pod(far)
        except (OSError, WebSocketException):
            pass
        finally:
            far.shutdown()

    def _pod(self, name: str, labels: dict[str, str]) -> dict[str, Any]:
        ready = "True" if self.pods[name] else "False"
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
        metadata = {"name": name, "uid": name, "labels": labels}
        return {"metadata": metadata, "spec": {"nodeName": "n1"}, "status": status}


@contextmanager
def forwarding(cluster: FakeCluster) -> Iterator[str]:
    """The URL of a forward."""
    forward = Forward(cast(Cluster, cluster), "training", "board", 6006)

    def serve() -> None:
        with pytest.raises(OSError):
            forward.serve(server)

    with listen(None) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        # Closing alone would not wake the thread.
        server.shutdown(socket.SHUT_RDWR)
        thread.join(60)
    for each in cluster.threads:
        each.join(60)


def fetch(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_many_connections_at_once() -> None:
    body = b"x" * 100_000
    with forwarding(FakeCluster(a=answers(body))) as url, ThreadPoolExecutor(24) as pool:
        assert set(pool.map(fetch, [url] * 24)) == {(200, body)}


def test_a_pod_in_the_place_of_another_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster(a=answers(b"a"))
    with forwarding(cluster) as url:
        assert fetch(url) == (200, b"a")
        cluster.pods = {"b": answers(b"b")}
        assert fetch(url) == (200, b"b")
        assert fetch(url) == (200, b"b")
    assert capsys.readouterr().err.count("(board has a new pod, b)\n") == 1


def test_a_browser_is_told_why_there_is_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster(a=answers(b"a"))
    with forwarding(cluster) as url:
        cluster.pods = {"a": None}
        assert fetch(url) == (502, b"board is not ready: its pod does not answer yet")
        assert fetch(url) == (502, b"board is not ready: its pod does not answer yet")
        cluster.pods = {"a": fails}
        assert fetch(url) == (502, b"board does not answer: connection refused")
        cluster.pods = {"a": answers(b"a")}
        assert fetch(url) == (200, b"a")
    assert capsys.readouterr().err.count("(board is not ready") == 1


@pytest.mark.parametrize(
    ("pods", "why"),
    [({}, "there is no board in namespace training"), ({"a": None}, "board is not ready: its pod")],
)
def test_why_nothing_can_be_forwarded(pods: dict[str, Pod | None], why: str) -> None:
    forward = Forward(cast(Cluster, FakeCluster(**pods)), "training", "board", 6006)
    with pytest.raises(NotFoundError, match=why):
        forward.choose()


def test_it_listens_on_this_machine_alone() -> None:
    with listen(None) as server:
        assert server.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_passed_over_unless_it_was_asked_for() -> None:
    with listen(None) as first:
        port = first.getsockname()[1]
        with listen(None) as second:
            assert second.getsockname()[1] != port
        with pytest.raises(NotFoundError, match=f"port {port} is taken by another program"):
            listen(port)
