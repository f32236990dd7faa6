"""A job's inputs → what its supervisor starts: pure, but for the copy of the program's files."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from config.roles import ROLES, Role
from provider import place
from provider.identity import job_generation
from provider.kinds import Properties, ProviderError
from supervisor.spec import Replica, RunPolicy, Spec
from training.tf_config import tf_config

_HANG_SECONDS = 60
"""How much later than the replicas themselves, who can say what they waited for, the supervisor
finds that they did not start."""

_PROGRAMS = place.PROJECT / "training" / "programs"


def job_spec(inputs: Properties, state: Path, ports: Callable[[int], list[int]]) -> Spec:
    """The spec of the job's supervisor. Afterwards `state`/code holds the program as it is now, so
    that a replica that restarts runs what the job was declared with."""
    replicas = [
        (role, index)
        for role in ROLES
        for index in range(inputs["roles"].get(role, {}).get("replicas", 0))
    ]
    addresses = dict(zip(replicas, ports(len(replicas)), strict=True))
    command = _command(inputs, state)
    shared = _environment(inputs, state)
    policy = inputs["runPolicy"]
    counts = {role: size["replicas"] for role, size in inputs["roles"].items()}

    def replica(role: Role, index: int) -> Replica:
        environment = dict(shared)
        config = tf_config(counts, role, index, lambda r, i: f"127.0.0.1:{addresses[(r, i)]}")
        if config is not None:
            environment["TF_CONFIG"] = config
        return Replica(
            role=role,
            index=index,
            command=command,
            environment=environment,
            restart_policy=inputs["roles"][role]["restartPolicy"],
        )

    return Spec(
        kind="job",
        name=inputs["name"],
        generation=job_generation(inputs),
        working_directory=str(place.PROJECT),
        replicas=[replica(role, index) for role, index in replicas],
        run_policy=RunPolicy(
            backoff_limit=policy.get("backoffLimit"),
            active_deadline_seconds=policy.get("activeDeadlineSeconds"),
            clean_pod_policy=policy["cleanPodPolicy"],
            suspend=inputs["suspend"],
        ),
        success_policy=inputs["successPolicy"],
        progress_directory=str(state / "progress"),
        start_timeout_seconds=inputs["startTimeoutSeconds"] + _HANG_SECONDS,
    )


def _environment(inputs: Properties, state: Path) -> dict[str, str]:
    root = place.storage_root(inputs).resolve()
    job_directory = root / inputs["directory"]
    if not job_directory.resolve().is_relative_to(root):
        raise ProviderError(f"{job_directory} leads outside the shared directory {root}")
    place.make_directory(job_directory)
    binaries = Path(sys.executable).parent
    given = dict(inputs.get("environment", {}))
    if "program" in inputs:
        # A user's own path comes after the runtime's, without which no program starts.
        given["PYTHONPATH"] = os.pathsep.join(
            [str(_PROGRAMS), *filter(None, [given.get("PYTHONPATH")])]
        )
    return {
        "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONUNBUFFERED": "1",
        "ACK_TRAINING_JOB": inputs["name"],
        "ACK_TRAINING_JOB_DIR": str(job_directory),
        "ACK_TRAINING_DATASETS_DIR": str(root / "datasets"),
        "ACK_TRAINING_RUN": str(inputs["run"]),
        "ACK_TRAINING_EXPORT": "1" if inputs["export"] else "0",
        "ACK_TRAINING_PROGRESS_DIR": str(state / "progress"),
        "ACK_TRAINING_START_TIMEOUT": str(inputs["startTimeoutSeconds"]),
        **given,
    }


def _command(inputs: Properties, state: Path) -> list[str]:
    arguments = inputs.get("args", [])
    if "program" not in inputs:
        return [*inputs["command"], *arguments]
    code = state / "code"
    _copy_code(inputs["code"], code)
    program = code / inputs["program"]
    return [sys.executable, "-m", "runtime", str(program), *arguments]


def _copy_code(files: Properties, code: Path) -> None:
    """Lays the program's files under `code`, and nothing else; ProviderError if one was edited
    between the preview and now."""
    shutil.rmtree(code, ignore_errors=True)
    for relative, expected in files.items():
        source, target = place.PROJECT / relative, code / relative
        content = source.read_bytes()
        if hashlib.sha256(content).hexdigest() != expected:
            raise ProviderError(f"{relative} was edited after the preview: run `pulumi up` again")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
