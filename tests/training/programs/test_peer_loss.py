"""What counts as the loss of a peer, and what is the user's own mistake."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.tensorflow

REMOTE = (
    "\nAdditional GRPC error information from remote target /job:ps/replica:0/task:0 while calling"
    " /tensorflow.eager.EagerService/Enqueue:"
)


def invalid(message: str) -> Exception:
    import tensorflow as tf

    error: Exception = tf.errors.InvalidArgumentError(None, None, message)
    return error


def unavailable() -> Exception:
    import tensorflow as tf

    error: Exception = tf.errors.UnavailableError(None, None, "connection refused")
    return error


def wrapped(error: Exception, kind: str) -> Exception:
    from tensorflow.python.distribute.coordinator import cluster_coordinator

    wrapper: Exception = getattr(cluster_coordinator, kind)(error)
    return wrapper


@pytest.mark.parametrize("kind", ["", "ClosureInputError", "ClosureAbortedError"])
@pytest.mark.parametrize(
    "message",
    [
        "/job:worker/replica:0/task:0/device:CPU:0 unknown device.",
        "Unknown device: /job:ps/replica:0/task:0",
        "Unable to find the relevant tensor remote_handle: Op ID: 7, Output num: 0",
    ],
)
def test_a_server_that_was_started_again_is_a_lost_one(message: str, kind: str) -> None:
    from runtime.peer_loss import is_peer_loss

    error = invalid(message + REMOTE)
    assert is_peer_loss(wrapped(error, kind) if kind else error)
    own = invalid(message)
    assert not is_peer_loss(wrapped(own, kind) if kind else own)


@pytest.mark.parametrize("kind", ["ClosureInputError", "ClosureAbortedError"])
def test_a_loss_is_seen_through_what_wraps_it(kind: str) -> None:
    from runtime.peer_loss import is_peer_loss

    assert is_peer_loss(wrapped(unavailable(), kind))
    assert not is_peer_loss(wrapped(ValueError("the user's"), kind))


def test_a_mistake_that_a_server_reports_is_the_users() -> None:
    from runtime.peer_loss import is_peer_loss

    assert not is_peer_loss(invalid("Incompatible shapes: [2] vs. [3]" + REMOTE))
    assert not is_peer_loss(ValueError("unknown device" + REMOTE))
