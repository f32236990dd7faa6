"""Whether the methods of a program's task can be called as the runtime calls them."""

from __future__ import annotations

import inspect

from runtime.errors import BAD_INPUT, ReplicaError
from runtime.task import Task


def check_methods(task: Task) -> None:
    """Raises ReplicaError that names each method whose parameters are not those of Task: at once,
    and not minutes later where it is called."""
    wrong = [told for name in _METHODS if (told := _mistake(task, name))]
    if wrong:
        raise ReplicaError("; ".join(wrong), BAD_INPUT)


_METHODS = tuple(
    name for name, value in vars(Task).items() if inspect.isfunction(value) and name[0] != "_"
)


def _mistake(task: Task, name: str) -> str | None:
    method = getattr(task, name)
    wanted = list(inspect.signature(getattr(Task, name)).parameters)[1:]
    rule = f"must be a method {name}({', '.join(['self', *wanted])})"
    if not callable(method):
        return f"{type(task).__name__}.{name} {rule}"
    found = inspect.signature(method)
    try:
        found.bind(*wanted)
    except TypeError:
        return f"{type(task).__name__}.{name}{found} {rule}"
    return None
