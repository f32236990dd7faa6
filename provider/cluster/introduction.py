"""What a new job on a cluster will ask of it: one sentence."""

from collections.abc import Mapping
from typing import Any

from config.quantities import Cpu, Memory, parse_cpu, parse_memory
from config.roles import ROLES
from provider.kinds import Properties

_GOALS = {
    "submitted": "`pulumi up` does not wait for it",
    "running": "`pulumi up` waits until it runs",
    "succeeded": "`pulumi up` waits until it has succeeded",
}

Size = Mapping[str, Any]


def introduction(inputs: Properties) -> str:
    """`new job (ParameterServer): chief 1 × 1 cpu, worker 2 × 1 GPU; in all 1 cpu, 2 GPUs; …`."""
    roles: Mapping[str, Size] = inputs.get("roles") or {}
    named = [f"{role} {_role(roles[role])}" for role in ROLES if role in roles]
    total = _total([roles[role] for role in ROLES if role in roles])
    asked = f"in all {total}" if total else "it asks for no cpu, memory or GPUs"
    strategy = inputs.get("strategy")
    how = f" ({strategy})" if strategy else ""
    then = "suspended from the start" if inputs.get("suspend") else _GOALS[inputs["wait"]]
    return f"new job{how}: {', '.join(named)}; {asked}; {then}"


def _role(size: Size) -> str:
    each = "/".join(filter(None, [*_amounts(size), size.get("nodePool")]))
    return f"{size['replicas']}{f' × {each}' if each else ''}"


def _amounts(size: Size) -> list[str]:
    cpu, memory, gpus = size.get("cpu"), size.get("memory"), size.get("gpus")
    return [
        *([f"{cpu} cpu"] if cpu else []),
        *([str(memory)] if memory else []),
        *([_gpus(int(gpus))] if gpus else []),
    ]


def _total(sizes: list[Size]) -> str:
    """A role that names no amount counts as none of it."""
    cpu = sum(
        parse_cpu(size["cpu"]).millicores * size["replicas"] for size in sizes if size.get("cpu")
    )
    memory = sum(
        parse_memory(size["memory"]).size_bytes * size["replicas"]
        for size in sizes
        if size.get("memory")
    )
    gpus = sum(size.get("gpus", 0) * size["replicas"] for size in sizes)
    whole = {
        "cpu": str(Cpu(cpu)) if cpu else None,
        "memory": str(Memory(memory)) if memory else None,
        "gpus": gpus,
    }
    return ", ".join(_amounts(whole))


def _gpus(count: int) -> str:
    return f"{count} GPU{'' if count == 1 else 's'}"
