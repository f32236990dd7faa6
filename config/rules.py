"""Rules that look at more than one setting; each yields what breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from config.base import BadValueError
from config.capacity import capacity_faults
from config.cluster_rules import cluster_faults
from config.datasets import SAMPLED
from config.errors import Fault, Path
from config.jobs import Job
from config.names import (
    LABEL_RULE,
    LONGEST_LABEL,
    RUNTIME_ENV,
    is_env_name,
    is_label,
    parse_directory,
)
from config.roles import ROLES, replica_name, role_faults
from config.stack import AVAILABLE_TARGETS, Stack

_RUNTIME_FOLDERS = {
    "jobdir",
    "modeldir",
    "checkpointdir",
    "checkpointpath",
    "ckptdir",
    "logdir",
    "datasetsdir",
    "exportdir",
    "exportpath",
}


@dataclass(frozen=True)
class Subject:
    """A job, and the keys whose value was wrong or that a misspelt key was meant for: rules
    about those would only repeat what was said of them."""

    name: str
    job: Job
    doubtful: frozenset[str]

    def fault(self, message: str, *below: str | int) -> Fault:
        return Fault(("jobs", self.name, *below), message)


def stack_faults(
    stack: Stack, doubtful: dict[str, frozenset[str]], broken: frozenset[str] = frozenset()
) -> Iterator[Fault]:
    """Everything that the settings of `stack` break together; `doubtful` is by job name, `broken`
    are the top-level keys below which something was wrong."""
    if stack.target not in AVAILABLE_TARGETS:
        yield Fault(
            ("target",),
            f"{stack.target!r} is not available in this version; "
            f"available: {', '.join(AVAILABLE_TARGETS)}",
        )
    for name, job in stack.jobs.items():
        subject = Subject(name, job, doubtful.get(name, frozenset()))
        for rule in (_name, _what_runs, _arguments, _environment, _roles, _serving):
            yield from rule(subject)
    yield from _directories(stack, doubtful)
    yield from _ports(stack)
    yield from _service_names(stack)
    yield from cluster_faults(stack, broken)
    yield from capacity_faults(stack)
    for name, dataset in stack.datasets.items():
        if not is_label(name):
            yield Fault(("datasets", name), f"a dataset's name {LABEL_RULE}")
        elif dataset.source == "sample" and name not in SAMPLED:
            yield Fault(
                ("datasets", name, "source"),
                f"there is a sample of {', '.join(SAMPLED)} only; write source: provided "
                "and put the files there",
            )


def _name(subject: Subject) -> Iterator[Fault]:
    name, counts = subject.name, subject.job.counts
    suffixes = [replica_name("", role, counts[role] - 1) for role in ROLES if counts.get(role, 0)]
    longest = max(suffixes, key=len, default="")
    allowed = LONGEST_LABEL - len(longest)
    if re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", name) and len(name) > allowed:
        yield subject.fault(
            f"the name may have at most {allowed} characters, as its longest replica name ends "
            f"with {longest} and may have {LONGEST_LABEL}; it has {len(name)}"
            if longest
            else f"the name may have at most {allowed} characters; it has {len(name)}"
        )
    elif not is_label(name):
        yield subject.fault(f"a job's name {LABEL_RULE}")


def _what_runs(subject: Subject) -> Iterator[Fault]:
    job = subject.job
    if subject.doubtful & {"program", "command"}:
        return
    if job.program and job.command:
        yield subject.fault("only one of program and command may be given", "command")
    elif not job.program and not job.command:
        if job.image:
            yield subject.fault("needs program or command beside it, what to run", "image")
        else:
            yield subject.fault("needs program, a Python file, or command, a program to run")


def _arguments(subject: Subject) -> Iterator[Fault]:
    if not subject.job.program:
        return
    for index, argument in enumerate(subject.job.args):
        option = argument.split("=", 1)[0]
        folder = option.lstrip("-").lower().replace("-", "").replace("_", "")
        if option.startswith("-") and folder in _RUNTIME_FOLDERS:
            yield subject.fault(
                f"{option} is not for you to set: checkpoints, logs and exports belong on the "
                "shared storage; remove it, directory names the job's folder there",
                "args",
                index,
            )


def _environment(subject: Subject) -> Iterator[Fault]:
    for name in subject.job.env:
        if not is_env_name(name):
            yield subject.fault(
                "a variable's name must hold only letters, digits and _ and not start with a digit",
                "env",
                name,
            )
        elif RUNTIME_ENV.fullmatch(name):
            yield subject.fault("is set by the target itself; remove it", "env", name)
    backend = subject.job.env.get("KERAS_BACKEND")
    if subject.job.program and backend is not None and backend.value != "tensorflow":
        yield subject.fault(
            "must be tensorflow: the runtime trains with TensorFlow; remove it",
            "env",
            "KERAS_BACKEND",
        )


def _roles(subject: Subject) -> Iterator[Fault]:
    job = subject.job
    if job.master and job.declared_chief:
        yield subject.fault("is another name of chief, which is there too; remove it", "master")
    if subject.doubtful & {*ROLES, "master"}:
        return
    chief_key = "master" if job.master else "chief"
    for key, message in role_faults(job.counts, job.declared_strategy, chief_key):
        yield subject.fault(message, *((key,) if key else ()))


def _serving(subject: Subject) -> Iterator[Fault]:
    if subject.job.serve and not subject.job.export and "export" not in subject.doubtful:
        yield subject.fault("needs export: {} beside it; it serves what the job exports", "serve")


def _directories(stack: Stack, doubtful: dict[str, frozenset[str]]) -> Iterator[Fault]:
    """No two jobs in one folder, nor one inside another's, in whatever case they are written."""
    taken: list[tuple[str, list[str]]] = []
    for name, job in sorted(stack.jobs.items()):
        if "directory" in doubtful.get(name, frozenset()):
            continue
        try:
            directory = job.declared_directory or parse_directory(name)
        except BadValueError as error:
            if is_label(name):
                path: Path = ("jobs", name)
                yield Fault(path, f"the name is also the job's folder, which {error.rule}")
            continue
        folders = directory.lower().split("/")
        for other, others in taken:
            if others == folders:
                relation = "is also"
            elif others == folders[: len(others)]:
                relation = "lies inside"
            elif folders == others[: len(folders)]:
                relation = "holds"
            else:
                continue
            yield Fault(
                ("jobs", name, "directory"),
                f"{directory!r} {relation} the folder of job {other!r}; each job needs its own",
            )
        taken.append((name, folders))


def _ports(stack: Stack) -> Iterator[Fault]:
    ports: list[tuple[Path, int | None]] = [(("tensorboard", "port"), stack.tensorboard.port)]
    for name, job in sorted(stack.jobs.items()):
        if job.serve:
            ports.append((("jobs", name, "serve", "port"), job.serve.port))
    taken: dict[int, Path] = {}
    for path, port in ports:
        if port is None:
            continue
        if port in taken:
            other = ".".join(map(str, taken[port]))
            yield Fault(path, f"{port} is also {other}; each needs its own")
        taken.setdefault(port, path)


def _service_names(stack: Stack) -> Iterator[Fault]:
    """Jobs and services share one set of names: `make logs` and URLs go by it."""
    served = [name for name, job in stack.jobs.items() if job.serve]
    taken = {f"{name}-server": f"the model server of job {name!r}" for name in served}
    if stack.tensorboard.enabled:
        taken["tensorboard"] = "TensorBoard"
    for name in stack.jobs:
        if name in taken:
            yield Fault(("jobs", name), f"is also the name of {taken[name]}; rename the job")
