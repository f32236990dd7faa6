"""What a changed job means for the one that runs, and for the steps it has done: one sentence."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from provider import place
from provider.kinds import Call, Properties
from supervisor.job_progress import read_progress

_ROLES = ("chief", "worker", "ps", "evaluator")


def replacement(call: Call, paths: Sequence[str]) -> str:
    """The sentence for a job of which `paths` of its inputs changed."""
    old, new = call.old_inputs, call.inputs
    what = _what_changed(old, new, paths)
    if {"storage", "directory"} & set(paths):
        return (
            f"{what}: stopped and started again; training starts from what "
            f"{new['storage']}/{new['directory']} holds; the old directory is kept"
        )
    if old.get("run") != new["run"]:
        kept = f"the checkpoints of run {old.get('run')} are kept"
        return f"{what}: trains anew from step 0; {kept}"
    if "program" not in new:
        return f"{what}: stopped and started again"
    return f"{what}: stopped and started again; training resumes from its last checkpoint{_at(old)}"


def _what_changed(old: Properties, new: Properties, paths: Sequence[str]) -> str:
    """`worker 2 → 3, run 1 → 2, args`: sizes and run by value, files by name, all else by key."""
    words = [
        f"{role} {_replicas(old, role)} → {_replicas(new, role)}"
        for role in _ROLES
        if _replicas(old, role) != _replicas(new, role)
    ]
    if old.get("run") != new["run"]:
        words.append(f"run {old.get('run')} → {new['run']}")
    for path in paths:
        words += _words(path)
    named = ", ".join(dict.fromkeys(words))
    return named if "→" in named else f"{named} changed"


def _words(path: str) -> list[str]:
    head = re.split(r"[.\[]", path)[0]
    if head == "run" or path.endswith(".replicas") or path in {f"roles.{role}" for role in _ROLES}:
        return []
    if head == "code":
        file = re.search(r'"(.+)"', path)
        return [PurePath(file[1]).name if file else "program"]
    return [head]


def _at(old: Properties) -> str:
    progress = read_progress(place.job_state(old) / "progress")
    if progress is None:
        return ""
    if progress.step < progress.steps:
        return f" (step {progress.step} of {progress.steps} was reached)"
    following = int(old["run"]) + 1
    return (
        f", which is of its last step, {progress.step}: more --steps or `run: {following}` train on"
    )


def _replicas(inputs: Properties, role: str) -> int:
    return int(inputs.get("roles", {}).get(role, {}).get("replicas", 0))
