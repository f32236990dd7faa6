"""What replicas write is told without what their secret variables hold."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cluster.client import Cluster
from cluster.connection import Connection
from cluster.failure import failure_text
from cluster.masks import Masks
from cluster.seen import PodSeen
from cluster.verdict import judge
from tests.cluster_reading.api_server import Request, api_server, kubeconfig
from tests.cluster_reading.objects import Object, job, pod, seen

TOKEN, LINES = "corn-4711/Rettich", "first line\nsecond line"
FAILED = {"Failed": "m has failed."}


def reading(name: str, key: str) -> Object:
    return {"name": "V", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}


def failed(*env: Object, **container: Any) -> Object:
    spec = {"containers": [{"name": "tensorflow", "env": list(env), **container}]}
    return pod(phase="Failed", container={"ended": {"code": 3}}, spec=spec)


class Server:
    """Has the Secrets `held`, and one log. Each request for a Secret is counted."""

    def __init__(self, log: str = "", **held: dict[str, str]) -> None:
        self.log, self.held, self.status = log, held, 404
        self.asked = 0

    def __call__(self, request: Request) -> tuple[int, Any]:
        name = request.path.rpartition("/")[2]
        if "/secrets/" not in request.path:
            return 200, self.log
        self.asked += 1
        if name not in self.held:
            return self.status, {"message": "no"}
        data = {k: base64.b64encode(v.encode()).decode() for k, v in self.held[name].items()}
        return 200, {"data": data}


@contextmanager
def served(server: Callable[[Request], tuple[int, Any]]) -> Iterator[Cluster]:
    with api_server(server) as answering:
        yield Connection(content=kubeconfig(answering.url)).open()


def pods_of(*made: Object) -> tuple[PodSeen, ...]:
    return seen(job(), *made).pods


def test_a_value_is_hidden_in_each_form_and_asked_for_once() -> None:
    server = Server(a={"t": TOKEN, "other": "not-asked-for", "short": "abc"}, b={"l": LINES})
    pods = pods_of(failed(reading("a", "t"), reading("a", "short"), reading("b", "l")))
    with served(server) as cluster:
        masks = Masks(cluster, "training")
        shown = masks.hide(f"{TOKEN} corn-4711%2FRettich second line\nnot-asked-for abc", pods)
        assert shown == "[secret] [secret] [secret]\nnot-asked-for abc"
        assert masks.hide(TOKEN, pods) == "[secret]"
        assert masks.unread(pods) == []
    assert server.asked == 2


def test_a_whole_secret_as_variables_is_hidden() -> None:
    pods = pods_of(failed(envFrom=[{"secretRef": {"name": "a"}}]))
    with served(Server(a={"t": TOKEN})) as cluster:
        assert Masks(cluster, "training").hide(TOKEN, pods) == "[secret]"


def test_what_a_terminal_obeys_hides_no_secret() -> None:
    pods = pods_of(failed(reading("a", "t")))
    with served(Server(a={"t": TOKEN})) as cluster:
        masks = Masks(cluster, "training")
        assert masks.plain("corn-4711\x1b[0m/Ret\0tich\x1b]0;title\x07", pods) == "[secret]"


def test_a_failure_is_told_without_secrets() -> None:
    found = seen(job(conditions=FAILED), failed(reading("a", "t")))
    with served(Server(f"it is {TOKEN}\n", a={"t": TOKEN})) as cluster:
        masks = Masks(cluster, "training")
        said = failure_text(cluster, found, judge(found), masks, stack="dev").splitlines()
    assert said[1:3] == [
        "the first to fail was worker-0, with exit code 3",
        "  it is [secret]",
    ]


@pytest.mark.parametrize("status", [403, 404])
def test_a_log_whose_secrets_cannot_be_read_is_not_kept(status: int) -> None:
    found = seen(job(conditions=FAILED), failed(reading("a", "t")))
    server = Server(f"it is {TOKEN}\n")
    server.status = status
    with served(server) as cluster:
        said = failure_text(cluster, found, judge(found), Masks(cluster, "training"), stack="dev")
    assert TOKEN not in said
    assert "(not shown here: Secret a cannot be read, to hide what it holds)" in said
