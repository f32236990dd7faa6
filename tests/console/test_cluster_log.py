"""The log of a replica on a cluster, by what an API server answers."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cluster.client import Cluster
from cluster.connection import Connection
from cluster.errors import RefusedError
from console.choice import NotFoundError
from console.cluster import log as cluster_log
from console.cluster.log import ClusterLog
from tests.cluster_reading.api_server import Request, api_server, kubeconfig
from tests.cluster_reading.objects import job, pod

RUNNING = {"Running": "m is running."}
OVER = {"Succeeded": "m is completed."}


def line(second: int, text: str) -> str:
    return f"2026-11-30T16:53:{second:02}.000000001Z {text}\n"


def running(uid: str = "1", **made: Any) -> dict[str, Any]:
    return pod(phase="Running", metadata={"uid": uid}, container={"running": True, **made})


class Scene:
    """What the cluster holds: each entry of `looks` from one look at the job to the next, where a
    number is an error's status. `log` is what the pod has written by then."""

    def __init__(self, *looks: tuple[Any, list[Any], str] | int) -> None:
        self._looks = list(looks)
        self._now: tuple[Any, list[Any], str] = (None, [], "")
        self.followed: list[bool] = []

    def __call__(self, request: Request) -> tuple[int, Any]:
        path, _, query = request.path.partition("?")
        if path.endswith("/tfjobs/m"):
            found = self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
            if isinstance(found, int):
                return found, {"message": "the server is shutting down"}
            self._now = found
            return (200, found[0]) if found[0] else (404, {"reason": "NotFound"})
        if path.endswith("/log"):
            self.followed.append("follow=true" in query)
            return 200, self._now[2]
        return 200, {"items": self._now[1] if path.endswith("/pods") else []}


@contextmanager
def log_of(scene: Scene) -> Iterator[ClusterLog]:
    with api_server(scene) as server:
        cluster: Cluster = Connection(content=kubeconfig(server.url)).open()
        yield ClusterLog(cluster, "training", "m", "worker-0")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_log, "_POLL_SECONDS", 0.0)


def followed(scene: Scene) -> list[str]:
    """Lines of the log, and notes in brackets, in the order in which a user sees them."""
    shown: list[str] = []
    with log_of(scene) as log:
        for text in log.follow(lambda note: shown.append(f"({note})")):
            shown.append(text.rstrip("\n"))
    return shown


def test_a_log_is_followed_until_the_job_is_over() -> None:
    first, second = line(1, "a"), line(2, "b")
    scene = Scene(
        (job(conditions=RUNNING), [running()], first),
        (job(conditions=RUNNING), [running()], first + second),
        (job(conditions=OVER), [running()], first + second + line(3, "c")),
    )
    assert followed(scene) == [
        "(following; ctrl-C ends this)",
        "a",
        "b",
        "c",
        "(it has succeeded: nothing more will come)",
    ]
    # A replica may run on where cleanPodPolicy leaves it: that is not waited for.
    assert scene.followed == [True, True, False]


def test_a_new_pod_is_followed_and_told_once() -> None:
    scene = Scene(
        (job(conditions=RUNNING), [running("1")], line(5, "a")),
        (job(conditions=RUNNING), [pod(metadata={"uid": "2"})], ""),
        (job(conditions=RUNNING), [running("2")], line(5, "b")),
        (job(conditions=OVER), [running("2")], line(5, "b")),
    )
    assert followed(scene)[1:] == [
        "a",
        "(worker-0 goes on in a new pod)",
        "(worker-0 has no log yet: ContainerCreating)",
        "b",
        "(it has succeeded: nothing more will come)",
    ]


def test_a_restart_in_place_is_told() -> None:
    scene = Scene(
        (job(conditions=RUNNING), [running()], line(1, "a")),
        (job(conditions=RUNNING), [running(restarts=1)], line(2, "b")),
        (job(conditions=OVER), [running(restarts=1)], line(2, "b")),
    )
    assert followed(scene)[1:4] == ["a", "(worker-0 was started again)", "b"]


def test_what_keeps_a_replica_is_told_once_for_as_long_as_it_lasts() -> None:
    nowhere = pod(unscheduled="0/1 nodes are available: 1 Insufficient cpu.")
    scene = Scene(
        (job(), [nowhere], ""),
        (job(), [nowhere], ""),
        (job(conditions={"Suspended": "m is suspended."}, run={"suspend": True}), [], ""),
        (job(conditions=OVER), [running()], line(1, "a")),
    )
    assert followed(scene)[1:] == [
        "(worker-0 has no log yet: Unschedulable: worker-0 cannot be placed on a node: "
        "0/1 nodes are available: 1 Insufficient cpu)",
        "(worker-0 has no log now: m is suspended)",
        "(worker-0 goes on in a new pod)",
        "a",
        "(it has succeeded: nothing more will come)",
    ]


def test_a_cluster_that_does_not_answer_for_a_while_is_no_end() -> None:
    scene = Scene(
        (job(conditions=RUNNING), [running()], line(1, "a")),
        503,
        503,
        (job(conditions=OVER), [running()], line(1, "a") + line(2, "b")),
    )
    shown = followed(scene)
    assert shown[1] == "a"
    assert shown[2].startswith("(cluster not to be asked since ")
    assert shown[3].endswith("the server is shutting down)")
    assert shown[4:] == [
        "(the cluster answers again)",
        "b",
        "(it has succeeded: nothing more will come)",
    ]


def test_following_ends_with_a_job_that_is_deleted() -> None:
    scene = Scene((job(conditions=RUNNING), [running()], line(1, "a")), (None, [], ""))
    assert followed(scene)[2:] == ["(it no longer runs: nothing more will come)"]


def test_a_log_that_is_gone_says_where_else_to_look() -> None:
    scene = Scene((job(conditions=OVER), [], ""))
    with log_of(scene) as log, pytest.raises(NotFoundError, match="`make tensorboard`"):
        log.now(lambda _: None)
    with pytest.raises(NotFoundError, match="cleanPodPolicy"):
        followed(scene)


def test_what_a_log_holds_now() -> None:
    scene = Scene((job(conditions=RUNNING), [running()], line(1, "a") + line(1, "a")))
    with log_of(scene) as log:
        assert log.now(lambda _: None) == "a\na\n"
    assert scene.followed == [False]


def test_why_a_log_holds_nothing_now() -> None:
    notes: list[str] = []
    with log_of(Scene((job(), [pod()], ""))) as log:
        assert log.now(notes.append) == ""
    assert notes == ["worker-0 has no log yet: ContainerCreating"]


def test_a_log_that_may_not_be_read_is_an_error() -> None:
    scene = Scene((job(conditions=RUNNING), [running()], ""))

    def answer(request: Request) -> tuple[int, Any]:
        if "/log" in request.path:
            return 403, {"reason": "Forbidden", "message": "may not get pods/log"}
        return scene(request)

    with api_server(answer) as server:
        cluster = Connection(content=kubeconfig(server.url)).open()
        log = ClusterLog(cluster, "training", "m", "worker-0")
        with pytest.raises(RefusedError, match="may not get pods/log"):
            log.now(lambda _: None)


def secretly(**made: Any) -> dict[str, Any]:
    variable = {"name": "V", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    return {**running(**made), "spec": {"containers": [{"name": "tensorflow", "env": [variable]}]}}


def told_with_secret(status: int, secret: dict[str, Any]) -> tuple[str, list[str]]:
    scene = Scene((job(conditions=RUNNING), [secretly()], line(1, "it is corn-4711")))
    notes: list[str] = []

    def answer(request: Request) -> tuple[int, Any]:
        return (status, secret) if "/secrets/s" in request.path else scene(request)

    with api_server(answer) as server:
        cluster = Connection(content=kubeconfig(server.url)).open()
        return ClusterLog(cluster, "training", "m", "worker-0").now(notes.append), notes


def test_secrets_are_hidden() -> None:
    value = base64.b64encode(b"corn-4711").decode()
    assert told_with_secret(200, {"data": {"k": value}}) == ("it is [secret]\n", [])


def test_secrets_that_cannot_be_hidden_are_told_of() -> None:
    text, notes = told_with_secret(403, {"message": "may not get secrets"})
    assert text == "it is corn-4711\n"
    assert notes == ["what Secret s holds is not hidden: it cannot be read"]


def test_what_a_terminal_would_obey_is_not_shown() -> None:
    text = line(1, "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m 1%\r2%")
    with log_of(Scene((job(conditions=RUNNING), [running()], text))) as log:
        assert log.now(lambda _: None) == "\x1b[31mred\x1b[0m 1%\n2%\n"


def test_a_replica_that_has_written_nothing_is_told_of() -> None:
    notes: list[str] = []
    with log_of(Scene((job(conditions=RUNNING), [running()], ""))) as log:
        assert log.now(notes.append) == ""
    assert notes == ["worker-0 has written no line yet"]
    over = Scene(
        (job(conditions=RUNNING), [running()], ""),
        (job(conditions=OVER), [running()], line(1, "a")),
    )
    assert followed(over)[1:3] == ["(worker-0 has written no line yet)", "a"]


def test_the_log_of_a_failed_job_ends_with_the_reason() -> None:
    ended = pod(phase="Failed", container={"ended": {"code": 3}})
    scene = Scene((job(conditions={"Failed": "m has failed."}), [ended], line(1, "a")))
    why = "it has failed: worker-0 failed first, with exit code 3"
    assert followed(scene) == ["a", f"({why}: nothing more will come)"]
    notes: list[str] = []
    with log_of(scene) as log:
        log.now(notes.append)
    assert notes == [why]
