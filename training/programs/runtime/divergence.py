"""A training that diverged: nothing of it is saved or exported, and every replica ends.

The leader alone tells why; the others learn it by a marker, for they could wait for steps or for
the end of the run for ever.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import ReplicaError
from runtime.progress import read_json, write_json
from runtime.settings import Settings

if TYPE_CHECKING:
    from runtime.run import Run


class DivergedError(ReplicaError):
    """The loss or the weights are no finite numbers any more."""


def diverged(run: Run, what: str, last_good: tuple[str, int] | None) -> DivergedError:
    """The error for `what` was found in training, with the checkpoint that the next start takes.

    Called by the leader, the others of the run end too.
    """
    kept = (
        f"the last good checkpoint is {last_good[0]} (step {last_good[1]}), from which the next"
        " start goes on"
        if last_good
        else "there is no checkpoint before it"
    )
    return _told(
        run, f"training diverged: {what}, of which nothing is saved or exported; {kept}. Try"
    )


def no_good_result(
    run: Run, path: str, loss: float, last_good: tuple[str, int] | None
) -> DivergedError:
    """The error for a last checkpoint that fails on the held-out examples; else as diverged()."""
    before = f"from {last_good[0]} (step {last_good[1]})" if last_good else "at step 0"
    return _told(
        run,
        f"the loss of {path} on the held-out examples is {loss}, so nothing is exported; without"
        f" the files {path}.* the next start goes on {before}. Look at those examples, try",
    )


def _told(run: Run, message: str) -> DivergedError:
    message += (
        " a lower --learning-rate, look for missing or huge values in the data, or set"
        f" `run: {run.settings.run + 1}` to train anew"
    )
    if run.cluster.is_leader:
        write_json(_marker(run.settings), {"event": uuid.uuid4().hex, "message": message})
    return DivergedError(message)


def divergence_marker(settings: Settings) -> dict[str, Any]:
    """What the leader last left for the others; empty if nothing. An earlier start may have left
    it, so only one that is new means something."""
    return read_json(_marker(settings))


def forget_divergence(settings: Settings) -> None:
    """No marker is left of a run that came to its end after all."""
    _marker(settings).unlink(missing_ok=True)


def _marker(settings: Settings) -> Path:
    return settings.checkpoints_dir / "diverged.json"
