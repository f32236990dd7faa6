"""When a replica that ended starts again."""

from __future__ import annotations

from dataclasses import replace

from .state import PENDING, Replica

LONGEST_DELAY_SECONDS = 30.0
LONG_RUN_SECONDS = 60.0


def restart_delay(restarts_in_a_row: int) -> float:
    """Seconds before the next start, after so many restarts without a long run between them."""
    if restarts_in_a_row == 0:
        return 0.0
    return min(2.0 ** (restarts_in_a_row - 1), LONGEST_DELAY_SECONDS)


def due_again(replica: Replica, now: float) -> Replica:
    """The replica waiting for its next start, after the delay that its history calls for."""
    lived = now - (replica.started_at or now)
    delays = 0 if lived >= LONG_RUN_SECONDS else replica.delays
    return replace(
        replica,
        state=PENDING,
        restarts=replica.restarts + 1,
        delays=delays + 1,
        due_at=now + restart_delay(delays),
    )
