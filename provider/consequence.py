"""What a changed job means for the one that runs, and for the steps it has done: one sentence."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from provider import place
from provider.changed_words import changed_words
from provider.kinds import Call, Properties
from supervisor.job_progress import JobProgress, read_progress


class Reached(Protocol):
    """Where it is known how far a job has come."""

    def progress(self, inputs: Properties) -> JobProgress | None:
        """The newest word of the job's chief; None where it is not to be had."""
        ...

    def checkpoint(self, inputs: Properties) -> int | None:
        """The step of the newest checkpoint of the run that `inputs` name; 0 where there is none,
        and None where that is not known."""
        ...


class _Files:
    """The files of a job of this machine."""

    def progress(self, inputs: Properties) -> JobProgress | None:
        return read_progress(place.job_state(inputs) / "progress")

    def checkpoint(self, inputs: Properties) -> int | None:
        return max(map(_step_of, _checkpoints(inputs)), default=0)


FILES: Reached = _Files()


def replacement(
    call: Call,
    paths: Sequence[str],
    reached: Reached = FILES,
    again: str = "stopped and started again",
) -> str:
    """The sentence for a job of which `paths` of its inputs changed. `again` is what happens to the
    one that runs."""
    old, new = call.old_inputs, call.inputs
    what = changed_words(old, new, paths)
    if {"storage", "directory"} & set(paths):
        where = f"{new['storage']}/{new['directory']}"
        return (
            f"{what}: {again}; training starts from what {where} holds; the old directory is kept"
        )
    if old.get("run") != new["run"]:
        return f"{what}: {again}; {_other_run(old, new, reached)}"
    if "program" not in new:
        return f"{what}: {again}"
    return f"{what}: {again}; training {resumption(old, new, reached)}"


def resumption(old: Properties, new: Properties, where: Reached = FILES) -> str:
    """Where the training of a job that starts again goes on: "resumes from …" or "starts from …".
    `old` is what ran until now."""
    progress = where.progress(old)
    reached = where.checkpoint(new)
    # Steps are unknown until the program has read its flags.
    if progress is None or not progress.steps:
        if reached is None:
            return "resumes from its last checkpoint, if it has one"
        return "resumes from its last checkpoint" if reached else "starts from step 0"
    if reached == 0 and not progress.restored_step:
        return "starts from step 0: there is no checkpoint yet"
    words = "resumes from its last checkpoint"
    if progress.step < progress.steps:
        return f"{words} (step {progress.step} of {progress.steps} was reached)"
    wanted = _steps(new)
    if wanted is not None and wanted > progress.step:
        return f"{words} and goes on from step {progress.step} to {wanted}"
    following = int(old["run"]) + 1
    return (
        f"{words}, which is of its last step, {progress.step}: to train more, raise --steps or set "
        f"`run: {following}`"
    )


def _other_run(old: Properties, new: Properties, where: Reached) -> str:
    kept = f"the checkpoints of run {old.get('run')} are kept"
    reached = where.checkpoint(new)
    if reached is None:
        return (
            f"trains anew from step 0, or on from the last checkpoint of run {new['run']} where "
            f"that was trained before; {kept}"
        )
    if reached:
        return f"goes on with run {new['run']} from its checkpoint of step {reached}; {kept}"
    return f"trains anew from step 0; {kept}"


def _checkpoints(inputs: Properties) -> list[Path]:
    directory = place.job_directory(inputs) / "checkpoints" / f"run-{inputs['run']}"
    try:
        return list(directory.glob("ckpt-*.index"))
    except OSError:
        return []


def _step_of(checkpoint: Path) -> int:
    found = re.fullmatch(r"ckpt-([0-9]+)\.index", checkpoint.name)
    return int(found[1]) if found else 0


def _steps(inputs: Properties) -> int | None:
    """`--steps` of the job's arguments; None where it stands at the program's own default."""
    found = re.findall(r"--steps[= ]([0-9]+)(?= |$)", " ".join(inputs.get("args", [])))
    return int(found[-1]) if found else None
