"""Waits for a job on a cluster, tells how it goes, and says why it does not."""

import time
from collections.abc import Callable, Sequence

from cluster.client import Cluster
from cluster.errors import ClusterError, RefusedError, UnreachableError
from cluster.failure import failure_text, trouble_text
from cluster.masks import Masks
from cluster.observe import OperatorSeen, observe
from cluster.seen import JobSeen
from cluster.troubles import Trouble
from cluster.verdict import (
    ABSENT,
    FAILED,
    FINISHED,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    Patience,
    Verdict,
    all_started,
    judge,
    replicas_in_words,
    state_of,
)
from provider.cluster.narrator import Narrator
from provider.kinds import Call, NotReady, Properties

_POLL_SECONDS = 1.0
SETTLE_SECONDS = 10.0
_AWAY_SECONDS = 60.0
"""A control plane that is upgraded, or a laptop that changes its network, is back by then."""

Done = Callable[[JobSeen, Verdict], bool]


def until_suspended(call: Call, cluster: Cluster) -> JobSeen:
    """The job once the operator has ended its replicas, or it had ended before."""
    return _wait(call, cluster, _is_suspended, "to be suspended")


def until_running(call: Call, cluster: Cluster) -> JobSeen:
    """The job once every replica of it was started, its chief runs, and it went on to run
    for a while; or it succeeded."""
    return _wait(call, cluster, _Lasting(), "to run")


def until_succeeded(call: Call, cluster: Cluster) -> JobSeen:
    return _wait(call, cluster, lambda _, verdict: verdict.state == SUCCEEDED, "to succeed")


def recorded(seen: JobSeen) -> Properties:
    """The outputs of the resource: what is known of the job, and which TFJob that was."""
    return {"state": state_of(seen), "uid": seen.uid}


def _is_suspended(seen: JobSeen, verdict: Verdict) -> bool:
    quiet = verdict.state == SUSPENDED and not seen.pods
    return quiet or verdict.state in FINISHED


def _is_running(seen: JobSeen, verdict: Verdict) -> bool:
    runs = verdict.state == RUNNING and all_started(seen)
    # A container that crashes again and again makes the operator say Running as well.
    crashes = any(trouble.kind == "crash" for trouble in verdict.troubles)
    return (runs and not crashes) or verdict.state == SUCCEEDED


class _Lasting:
    """Whether a job has run for SETTLE_SECONDS: a program that refuses its flags, or cannot be
    imported, runs too, for a moment."""

    def __init__(self) -> None:
        self._since: float | None = None

    def __call__(self, seen: JobSeen, verdict: Verdict) -> bool:
        if verdict.state == SUCCEEDED:
            return True
        if not _is_running(seen, verdict):
            self._since = None
            return False
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since >= SETTLE_SECONDS


def _wait(call: Call, cluster: Cluster, done: Done, goal: str) -> JobSeen:
    name, inputs = call.inputs["name"], call.inputs
    masks = Masks(cluster, inputs["namespace"])
    tell, patience, operator = Narrator(call, cluster, masks), Patience(), OperatorSeen()
    begun = time.monotonic()
    limit = inputs.get("waitTimeoutSeconds")
    outputs: Properties = {"state": "Unknown", **call.outputs}
    replicas, away_since = "", None
    while True:
        now = time.monotonic()
        try:
            seen = observe(cluster, inputs["namespace"], name)
        except ClusterError as error:
            away_since = _endure(error, away_since or now, now, name, outputs)
        else:
            away_since = None
            verdict = judge(
                seen,
                autoscaled=bool(inputs.get("autoscaled")),
                operator_namespace=str(inputs.get("operatorNamespace") or ""),
            )
            outputs, replicas = recorded(seen), replicas_in_words(seen)
            patience.look(verdict.troubles, now)
            tell(seen, verdict, patience.lasting(verdict.troubles, now))
            if done(seen, verdict):
                return seen
            final = patience.exhausted(verdict.troubles, now) or tell.starts.troubles(seen)
            if final and final[0].kind == "operator" and operator.is_at_work(cluster, seen):
                patience.forgive(final)
                final = []
            _refuse(call.stack, cluster, seen, verdict, final, masks)
        if call.cancelled():
            reason = f"{name}: no longer waited for; it goes on, and `pulumi up` waits for it again"
            raise NotReady([reason], outputs)
        if limit is not None and now - begun > limit:
            reason = (
                f"{name}: waited {limit} s for it {goal}, and it is still {outputs['state']} "
                f"({replicas}); it goes on, and `pulumi up` waits for it again"
            )
            raise NotReady([reason], outputs)
        time.sleep(_POLL_SECONDS)


def _refuse(
    stack: str,
    cluster: Cluster,
    seen: JobSeen,
    verdict: Verdict,
    final: Sequence[Trouble],
    masks: Masks,
) -> None:
    """Raises NotReady when the job will not get where it is waited for; `final` are troubles that
    will not pass."""
    outputs = recorded(seen)
    if verdict.state == FAILED:
        raise NotReady([failure_text(cluster, seen, verdict, masks, stack=stack)], outputs)
    if verdict.state == ABSENT:
        reason = (
            f"{seen.name}: its TFJob was deleted: `pulumi refresh`, then `pulumi up`, creates it "
            "again"
        )
        raise NotReady([reason], outputs)
    if final:
        raise NotReady([trouble_text(cluster, seen, final, masks, stack=stack)], outputs)


def _endure(error: ClusterError, since: float, now: float, name: str, outputs: Properties) -> float:
    """Since when the cluster is away; NotReady when that is too long, or no absence at all."""
    passing = isinstance(error, UnreachableError) or (
        isinstance(error, RefusedError) and error.passing
    )
    if passing and now - since < _AWAY_SECONDS:
        return since
    reason = f"{name}: {error}; the job goes on, and `pulumi up` waits for it again"
    raise NotReady([reason], outputs) from error
