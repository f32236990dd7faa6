"""What is told while a job on a cluster is waited for."""

from typing import Any

from cluster.errors import RefusedError
from cluster.masks import Masks
from cluster.troubles import Trouble
from cluster.verdict import judge
from provider.cluster.narrator import Narrator
from provider.kinds import Call
from tests.cluster_reading.objects import Object, job, pod, seen


class Silent:
    """A cluster that gives no logs and no Secrets."""

    name = "dev"

    def get(self, path: str, **_: object) -> dict[str, Any]:
        raise RefusedError("no", 403, "Forbidden")

    def text(self, path: str, **_: object) -> str:
        return ""


def narrator(told: list[str]) -> Narrator:
    cluster: Any = Silent()
    call = Call(inputs={}, report=told.append, announce=told.append)
    return Narrator(call, cluster, Masks(cluster, "training"))


def test_the_last_that_is_shown_of_a_quick_job_is_its_end() -> None:
    """It began and ended between two looks."""
    told: list[str] = []
    tell = narrator(told)
    looks: list[tuple[Object, Object]] = [
        (job(), pod(phase="Pending")),
        (job(conditions={"Succeeded": ""}), pod(phase="Succeeded")),
    ]
    for found, its_pod in looks:
        now = seen(found, its_pod)
        tell(now, judge(now), ())
    assert told == ["created: worker-0 ContainerCreating", "succeeded: worker-0 Succeeded"]


def test_what_a_terminal_would_obey_is_not_told() -> None:
    told: list[str] = []
    now = seen(job(), pod())
    trouble = Trouble("start", "worker-0", "cannot be started: \x1b[2J\x1b]0;title\x07no", 0.0)
    narrator(told)(now, judge(now), [trouble])
    assert told == ["worker-0 cannot be started: no"]
