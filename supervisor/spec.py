"""What a supervisor runs: the content of `<state_directory>/spec.json`, which holds no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NEVER, ON_FAILURE, ALWAYS, EXIT_CODE = "Never", "OnFailure", "Always", "ExitCode"
RESTART_POLICIES = (NEVER, ON_FAILURE, ALWAYS, EXIT_CODE)
CLEAN_POD_POLICIES = ("Running", "All", "None")
SUCCESS_POLICIES = ("", "AllWorkers")
KINDS = ("job", "service")


class SpecError(ValueError):
    """A spec that cannot be run; the text is one sentence naming the field."""


@dataclass(frozen=True)
class Replica:
    """One process. `environment` lacks only the secrets and what every program needs (PATH, …)."""

    role: str
    index: int
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    restart_policy: str = NEVER

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


@dataclass(frozen=True)
class RunPolicy:
    """TFJob's runPolicy. None means no limit; times are in seconds."""

    backoff_limit: int | None = None
    active_deadline_seconds: float | None = None
    clean_pod_policy: str = "Running"
    suspend: bool = False


@dataclass(frozen=True)
class Health:
    """A service is healthy while a GET of `url` (http) answers 2xx or 3xx."""

    url: str
    start_timeout_seconds: float = 120.0


@dataclass(frozen=True)
class Spec:
    """One job or one service. `generation` is opaque: it is handed back in the status."""

    kind: str
    name: str
    generation: str
    working_directory: str
    replicas: list[Replica]
    run_policy: RunPolicy = field(default_factory=RunPolicy)
    success_policy: str = ""
    health: Health | None = None
    progress_directory: str | None = None
    start_timeout_seconds: float | None = None

    def __post_init__(self) -> None:
        _check("kind", self.kind, KINDS)
        _check("run_policy.clean_pod_policy", self.run_policy.clean_pod_policy, CLEAN_POD_POLICIES)
        _check("success_policy", self.success_policy, SUCCESS_POLICIES)
        if not self.replicas:
            raise SpecError("replicas: at least one is needed")
        seen: set[str] = set()
        for replica in self.replicas:
            _check(
                f"replicas.{replica.name}.restart_policy", replica.restart_policy, RESTART_POLICIES
            )
            if not replica.command:
                raise SpecError(f"replicas.{replica.name}.command: must not be empty")
            if "/" in replica.role or replica.name in seen:
                raise SpecError(f"replicas.{replica.name}: is there twice or contains '/'")
            seen.add(replica.name)
        if self.health is not None and not self.health.url.startswith("http://"):
            raise SpecError(f"health.url: {self.health.url!r} must start with http://")

    def to_json(self) -> dict[str, Any]:
        """This spec as JSON values; `from_json` gives an equal spec."""
        return asdict(self)

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Spec:
        """The spec of `to_json`. Raises SpecError, one sentence, for anything else."""
        try:
            values = dict(document)
            values["replicas"] = [Replica(**replica) for replica in values["replicas"]]
            values["run_policy"] = RunPolicy(**values.get("run_policy", {}))
            health = values.get("health")
            values["health"] = None if health is None else Health(**health)
            return Spec(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise SpecError(f"spec: {error}") from None


def _check(path: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise SpecError(f"{path}: {value!r} is not one of {choices}")
