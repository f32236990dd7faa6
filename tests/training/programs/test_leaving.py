"""Who leaves when at the end of a run of several workers, with a stand-in for the exchange."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from runtime import guards
from runtime.cluster import Replica

pytestmark = pytest.mark.tensorflow


class Ended(BaseException):
    """The process would have ended."""


class Over(BaseException):
    """leave_if_over() would have ended the process."""


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """The port of another replica that runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture(autouse=True)
def no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime import ending

    def end(code: int, message: str = "") -> None:
        raise Ended(code)

    monkeypatch.setattr(guards, "end_process", end)
    monkeypatch.setattr(ending, "_watch_leader", lambda run: None)


def run_beside(other: socket.socket, leave_if_over: Callable[[], None]) -> Any:
    replica = Replica("worker", 1, f"127.0.0.1:{other.getsockname()[1]}")
    return SimpleNamespace(
        cluster=SimpleNamespace(peers=(replica,), leader=replica),
        progress=SimpleNamespace(update=lambda **changes: None),
        leave_if_over=leave_if_over,
    )


def not_yet() -> None:
    """Nothing says yet that the run is over."""


def over() -> None:
    raise Over


def fail() -> None:
    import tensorflow as tf

    raise tf.errors.UnavailableError(None, None, "connection reset")


def test_the_leader_leaves_after_the_others(server: socket.socket) -> None:
    from runtime.ending import leave_as_leader

    closing = threading.Timer(0.5, server.close)
    with pytest.raises(Ended, match="0"):
        leave_as_leader(run_beside(server, not_yet), closing.start)
    assert server.fileno() == -1


def test_the_leader_is_done_even_if_the_exchange_fails() -> None:
    from runtime.ending import leave_as_leader

    with pytest.raises(Ended, match="0"):
        leave_as_leader(run_beside_closed(), fail)


def run_beside_closed() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return run_beside(closed, over)


def test_a_worker_leaves_by_the_exchange_alone(server: socket.socket) -> None:
    from runtime.ending import leave_with_leader

    with pytest.raises(Ended, match="0"):
        leave_with_leader(run_beside(server, over), not_yet)


def test_where_the_exchange_fails_the_file_counts() -> None:
    from runtime.ending import leave_with_leader

    with pytest.raises(Over):
        leave_with_leader(run_beside_closed(), fail)


def test_a_worker_starts_again_with_a_leader_that_did(server: socket.socket) -> None:
    import tensorflow as tf
    from runtime.ending import leave_with_leader

    with pytest.raises(tf.errors.UnavailableError):
        leave_with_leader(run_beside(server, over), fail)


def test_a_mistake_of_the_program_is_no_lost_leader() -> None:
    from runtime.ending import leave_with_leader

    def mistake() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        leave_with_leader(run_beside_closed(), mistake)
