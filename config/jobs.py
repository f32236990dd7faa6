"""A training job, as it stands under `ack-training:jobs`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PrivateAttr

from config.base import Change, Section, Whole, setting
from config.env import EnvValue
from config.names import Directory, FilledString, Image, ProgramPath, String, Subdomain
from config.quantities import Duration
from config.refused import REFUSED
from config.replicas import Replicas, SingleReplica
from config.roles import Role, Strategy, in_order, infer_strategy
from config.scheduling import Scheduling
from config.serving import Export, Serve
from config.volumes import Volume

CleanPodPolicy = Literal["Running", "All", "None"]
SuccessPolicy = Literal["Default", "AllWorkers"]
Wait = Literal["submitted", "running", "succeeded"]
ImagePullPolicy = Literal["IfNotPresent", "Always", "Never"]

_INT32 = 2**31 - 1

# A list of the YAML becomes a tuple; strictness would refuse that, not only coerced items.
Strings = Annotated[tuple[String, ...], Field(strict=False)]
Names = Annotated[tuple[Subdomain, ...], Field(strict=False)]
Command = Annotated[tuple[FilledString, ...], Field(strict=False, min_length=1)]


class Job(Section):
    """A distributed training job: what runs, in which roles, and what becomes of it."""

    present_when_empty: ClassVar = frozenset(
        {"chief", "master", "worker", "ps", "evaluator", "export", "serve"}
    )
    looks_like: ClassVar = "{program: …, worker: {replicas: 2}}"
    refused_keys: ClassVar = REFUSED

    program: ProgramPath | None = setting(
        "Python file that trains, relative to the project. Its content counts: an edited file "
        "replaces the job. Exactly one of program and command.",
        Change.REPLACES,
    )
    command: Command | None = setting(
        "Program to run instead of a Python file of this project, with its first arguments. "
        "Exactly one of program and command.",
        Change.REPLACES,
    )
    image: Image | None = setting(
        "Container image of the replicas; when absent, that of `make image`, for GPUs where they "
        "ask for GPUs. Not used on local.",
        Change.REPLACES,
    )
    image_pull_policy: ImagePullPolicy = setting(
        "When nodes pull the image. Not used on local.", Change.REPLACES, "IfNotPresent"
    )
    image_pull_secrets: Names = setting(
        "Secrets of the namespace to pull the image with, besides the stack's own. Not used on "
        "local.",
        Change.REPLACES,
        (),
    )
    args: Strings = setting(
        "Arguments of the program, strings. The folders are the runtime's: no --job-dir, "
        "--model-dir, --checkpoint-dir, --log-dir or --export-dir for a program.",
        Change.REPLACES,
        (),
    )
    env: dict[str, EnvValue] = setting(
        "Environment variables by name; each a string, {value, secret}, or on a cluster "
        "{secretKeyRef: {name, key}}. "
        "TF_CONFIG and ACK_TRAINING_* are the runtime's.",
        Change.REPLACES,
        default_factory=dict,
    )
    volumes: dict[str, Volume] = setting(
        "Volumes besides the shared storage, by name, a DNS-1035 label. Not used on local.",
        Change.REPLACES,
        default_factory=dict,
    )
    scheduling: Scheduling = setting(
        "Priority, gang and queue. Not used on local.", Change.REPLACES, default_factory=Scheduling
    )
    declared_strategy: Strategy | None = setting(
        "How replicas train together. When absent: parameterServer with ps, multiWorkerMirrored "
        "with more than one chief and worker, else none.",
        Change.REPLACES,
        alias="strategy",
    )
    declared_chief: SingleReplica | None = setting(
        "The replica that decides the job's success; coordinates the others when there are ps.",
        Change.REPLACES,
        alias="chief",
    )
    master: SingleReplica | None = setting(
        "An older name of chief, read as chief.", Change.REPLACES
    )
    worker: Replicas | None = setting("The replicas that compute gradients.", Change.REPLACES)
    ps: Replicas | None = setting("Parameter servers; need a chief and a worker.", Change.REPLACES)
    evaluator: SingleReplica | None = setting(
        "Evaluates each new checkpoint beside the training.", Change.REPLACES
    )
    deadline: Duration | None = setting(
        "Longest time the job may take from its start, 1s to 365d; then it fails.",
        Change.REPLACES,
    )
    backoff_limit: Annotated[int, Whole(0, _INT32)] | None = setting(
        "Restarts in place, of all replicas with restartPolicy OnFailure or Always together, "
        "before the job fails, at least 0; 0 and 1 allow none. As with the operator, restarts by "
        "ExitCode do not count, except that 0 allows none of them either. When absent, no limit.",
        Change.REPLACES,
    )
    clean_pod_policy: CleanPodPolicy = setting(
        "Which replicas are stopped when the job ends: those still running, all, or none.",
        Change.REPLACES,
        "Running",
    )
    success_policy: SuccessPolicy = setting(
        "Default: the chief decides, else worker 0. AllWorkers: every worker must succeed; has "
        "no effect with a chief.",
        Change.REPLACES,
        "Default",
    )
    suspend: bool = setting(
        "true stops the replicas and keeps the job; false lets it go on from its checkpoint. A "
        "suspended job is not waited for.",
        Change.IN_PLACE,
        False,
    )
    run: Annotated[int, Whole(1, _INT32)] = setting(
        "Number of the training, at least 1; each has its own checkpoints and logs.",
        Change.NEW_RUN,
        1,
    )
    declared_directory: Directory | None = setting(
        "The job's folder below the storage root; by default its name. No other job's, nor "
        "inside it.",
        Change.MOVES,
        alias="directory",
    )
    export: Export | None = setting(
        "Exports a SavedModel when training ends, under a new whole number each time.",
        Change.REPLACES,
    )
    serve: Serve | None = setting(
        "Serves the newest exported model; needs export.", Change.IN_PLACE
    )
    wait: Wait | None = setting(
        "What up waits for. When absent, the target's own: succeeded on local, running on a "
        "cluster.",
        Change.NEXT_WAIT,
    )
    wait_timeout: Duration | None = setting(
        "Longest time up waits, 1s to 365d; the job goes on. When absent, no limit.",
        Change.NEXT_WAIT,
    )
    start_timeout: Duration = setting(
        "Longest time from the start until all replicas found each other, 1s to 365d; then the "
        "job fails.",
        Change.REPLACES,
        timedelta(minutes=5),
    )

    _name: str = PrivateAttr(default="")
    _opaque: bool = PrivateAttr(default=False)

    @property
    def name(self) -> str:
        """The job's key."""
        return self._name

    @property
    def opaque(self) -> bool:
        """Whether all that the config says of this job is secret, its args and command too."""
        return self._opaque

    @property
    def chief(self) -> SingleReplica | None:
        """The chief, by either of its names."""
        return self.declared_chief or self.master

    @property
    def roles(self) -> dict[Role, Replicas]:
        """The roles this job has: chief, worker, ps, evaluator."""
        every: tuple[tuple[Role, Replicas | None], ...] = (
            ("chief", self.chief),
            ("worker", self.worker),
            ("ps", self.ps),
            ("evaluator", self.evaluator),
        )
        return {role: replicas for role, replicas in every if replicas is not None}

    @property
    def counts(self) -> dict[Role, int]:
        """Replicas of each role the job has."""
        return {role: replicas.replicas for role, replicas in self.roles.items()}

    @property
    def total(self) -> int:
        """Replicas of all roles."""
        return sum(self.counts.values())

    def replicas(self) -> list[tuple[Role, int]]:
        """Every replica as (role, index), in the order in which they are listed everywhere."""
        return in_order(self.counts)

    @property
    def strategy(self) -> Strategy:
        """The declared strategy, else the one that the roles mean."""
        return self.declared_strategy or infer_strategy(self.counts)

    @property
    def directory(self) -> str:
        """The job's folder relative to the storage root, in its shortest spelling."""
        return self.declared_directory or self._name

    def settle(self, name: str, opaque: bool) -> None:
        """Tells the job its key and whether it is secret; done once, when the stack is read."""
        self._name = name
        self._opaque = opaque
