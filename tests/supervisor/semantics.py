"""What becomes of a job, as a table of data: the rules of TFJob v1 by example.

A replica is given as its successive runs, each (seconds, exit code); the last run repeats, and a
run of None seconds never ends by itself. Policies are by role. The expected restarts are those of the operator: a
restart that reaches the backoffLimit is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Run = tuple[float | None, int]
FOREVER: Run = (None, 0)


@dataclass(frozen=True)
class Case:
    """One job and its end: `reason` is that of this project's status, not of the operator."""

    name: str
    runs: dict[str, list[Run]]
    state: str
    reason: str
    policies: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    replica_states: dict[str, str] = field(default_factory=dict)
    backoff_limit: int | None = None
    active_deadline_seconds: float | None = None
    clean_pod_policy: str = "Running"
    success_policy: str = ""

    def policy(self, role: str) -> str:
        """The restartPolicy of a role; the operator's default where the case has none."""
        return self.policies.get(role, "Never")


CASES = [
    Case(
        "chief decides",
        {"chief-0": [(2, 0)], "worker-0": [FOREVER], "ps-0": [FOREVER]},
        "Succeeded",
        "Succeeded",
        replica_states={"chief-0": "Succeeded", "worker-0": "Terminated", "ps-0": "Terminated"},
    ),
    Case(
        "worker 0 does not decide beside a chief",
        {"chief-0": [(4, 0)], "worker-0": [(1, 0)], "worker-1": [(1, 0)]},
        "Succeeded",
        "Succeeded",
        replica_states={"worker-0": "Succeeded", "chief-0": "Succeeded"},
    ),
    Case(
        "worker 0 decides without a chief",
        {"worker-0": [(2, 0)], "worker-1": [FOREVER]},
        "Succeeded",
        "Succeeded",
        replica_states={"worker-1": "Terminated"},
    ),
    Case(
        "worker 1 alone does not decide",
        {"worker-0": [(6, 3)], "worker-1": [(1, 0)]},
        "Failed",
        "ReplicaFailed",
    ),
    Case(
        "all workers must succeed",
        {"worker-0": [(1, 0)], "worker-1": [(3, 0)]},
        "Succeeded",
        "Succeeded",
        success_policy="AllWorkers",
        replica_states={"worker-0": "Succeeded", "worker-1": "Succeeded"},
    ),
    Case(
        "a failed worker spoils AllWorkers",
        {"worker-0": [(1, 0)], "worker-1": [(3, 1)]},
        "Failed",
        "ReplicaFailed",
        success_policy="AllWorkers",
    ),
    Case(
        "AllWorkers is ignored beside a chief",
        {"chief-0": [(2, 0)], "worker-0": [FOREVER]},
        "Succeeded",
        "Succeeded",
        success_policy="AllWorkers",
    ),
    Case(
        "a failed ps fails the job",
        {"chief-0": [FOREVER], "worker-0": [FOREVER], "ps-0": [(2, 1)]},
        "Failed",
        "ReplicaFailed",
        replica_states={"ps-0": "Failed", "chief-0": "Terminated"},
    ),
    Case(
        "a failed evaluator fails the job",
        {"chief-0": [FOREVER], "evaluator-0": [(2, 1)]},
        "Failed",
        "ReplicaFailed",
    ),
    Case(
        "Never does not retry a signal",
        {"worker-0": [(1, 137), (1, 0)]},
        "Failed",
        "ReplicaFailed",
        {"worker": "Never"},
        {"worker-0": 0},
    ),
    Case(
        "OnFailure retries every failure",
        {"worker-0": [(1, 1), (1, 137), (1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "OnFailure"},
        {"worker-0": 2},
    ),
    Case(
        "OnFailure does not retry success",
        {"worker-0": [(3, 0)], "worker-1": [(1, 0), (1, 1)]},
        "Succeeded",
        "Succeeded",
        {"worker": "OnFailure"},
        {"worker-1": 0},
        {"worker-1": "Succeeded"},
    ),
    Case(
        "Always on the chief never ends well",
        {"chief-0": [(1, 0)]},
        "Failed",
        "BackoffLimitExceeded",
        {"chief": "Always"},
        {"chief-0": 3},
        backoff_limit=3,
    ),
    Case(
        "ExitCode retries 128 and more",
        {"worker-0": [(1, 128), (1, 138), (1, 255), (1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "ExitCode"},
        {"worker-0": 3},
    ),
    Case(
        "ExitCode takes 127 as permanent",
        {"worker-0": [(1, 127), (1, 0)]},
        "Failed",
        "ReplicaFailed",
        {"worker": "ExitCode"},
        {"worker-0": 0},
    ),
    Case(
        "ExitCode takes 1 as permanent after a retry",
        {"worker-0": [(1, 137), (1, 1)]},
        "Failed",
        "ReplicaFailed",
        {"worker": "ExitCode"},
        {"worker-0": 1},
    ),
    Case(
        "ExitCode restarts that replica alone",
        {"chief-0": [(9, 0)], "worker-0": [(2, 138), FOREVER], "ps-0": [FOREVER]},
        "Succeeded",
        "Succeeded",
        {"worker": "ExitCode"},
        {"worker-0": 1, "ps-0": 0},
    ),
    Case(
        "backoffLimit 0 fails the first restart",
        {"worker-0": [(1, 1), (1, 0)]},
        "Failed",
        "BackoffLimitExceeded",
        {"worker": "OnFailure"},
        {"worker-0": 1},
        backoff_limit=0,
    ),
    Case(
        "backoffLimit 1 fails the first restart too",
        {"worker-0": [(1, 1), (1, 0)]},
        "Failed",
        "BackoffLimitExceeded",
        {"worker": "OnFailure"},
        {"worker-0": 1},
        backoff_limit=1,
    ),
    Case(
        "backoffLimit 2 allows one restart",
        {"worker-0": [(1, 1), (1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "OnFailure"},
        {"worker-0": 1},
        backoff_limit=2,
    ),
    Case(
        "backoffLimit adds up over replicas",
        {"worker-0": [(1, 1), FOREVER], "worker-1": [(3, 1), FOREVER]},
        "Failed",
        "BackoffLimitExceeded",
        {"worker": "OnFailure"},
        {"worker-0": 1, "worker-1": 1},
        backoff_limit=2,
    ),
    Case(
        "backoffLimit forgets replicas that succeeded",
        {"chief-0": [(9, 0)], "worker-0": [(1, 1), (1, 0)], "worker-1": [(4, 1), FOREVER]},
        "Succeeded",
        "Succeeded",
        {"worker": "OnFailure"},
        {"worker-0": 1, "worker-1": 1},
        backoff_limit=2,
    ),
    Case(
        "backoffLimit does not count ExitCode retries",
        {"worker-0": [(1, 138), (1, 138), (1, 138), (1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "ExitCode"},
        {"worker-0": 3},
        backoff_limit=1,
    ),
    Case(
        "backoffLimit 0 fails an ExitCode retry",
        {"worker-0": [(1, 138), (1, 0)]},
        "Failed",
        "BackoffLimitExceeded",
        {"worker": "ExitCode"},
        {"worker-0": 1},
        backoff_limit=0,
    ),
    Case(
        "the deadline ends a job",
        {"chief-0": [FOREVER], "worker-0": [FOREVER]},
        "Failed",
        "DeadlineExceeded",
        active_deadline_seconds=3,
        replica_states={"chief-0": "Terminated", "worker-0": "Terminated"},
    ),
    Case(
        "a job in time meets its deadline",
        {"chief-0": [(2, 0)]},
        "Succeeded",
        "Succeeded",
        active_deadline_seconds=20,
    ),
    Case(
        "cleanPodPolicy All ends what runs",
        {"chief-0": [(1, 0)], "ps-0": [FOREVER]},
        "Succeeded",
        "Succeeded",
        clean_pod_policy="All",
        replica_states={"ps-0": "Terminated"},
    ),
    Case(
        "cleanPodPolicy None leaves what runs",
        {"chief-0": [(1, 0)], "ps-0": [FOREVER]},
        "Succeeded",
        "Succeeded",
        clean_pod_policy="None",
        replica_states={"ps-0": "Running"},
    ),
    Case(
        "cleanPodPolicy None after a failure",
        {"chief-0": [(1, 1)], "ps-0": [FOREVER]},
        "Failed",
        "ReplicaFailed",
        clean_pod_policy="None",
        replica_states={"ps-0": "Running"},
    ),
]

# Where the local rules differ from the operator's: other delays, and an end to a crash loop.
LOCAL_CASES = [
    Case(
        "Always retries success too",
        {"chief-0": [(5, 0)], "worker-0": [(1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "Always"},
        {"worker-0": 3},
    ),
    Case(
        "a crash loop of ExitCode ends",
        {"worker-0": [(1, 139)]},
        "Failed",
        "NoProgress",
        {"worker": "ExitCode"},
        {"worker-0": 11},
    ),
    Case(
        "a crash loop ends also where a backoffLimit, which does not count it, is set",
        {"worker-0": [(1, 139)]},
        "Failed",
        "NoProgress",
        {"worker": "ExitCode"},
        {"worker-0": 11},
        backoff_limit=5,
    ),
    Case(
        "a long run begins the count of a crash loop anew",
        {"worker-0": [*[(1.0, 139)] * 9, (40, 139), *[(1.0, 139)] * 9, (1, 0)]},
        "Succeeded",
        "Succeeded",
        {"worker": "ExitCode"},
        {"worker-0": 19},
    ),
]
