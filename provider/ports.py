"""Free TCP ports on the loopback interface."""

import random
import socket

from provider.kinds import ProviderError

_RANGE = range(15000, 30000)
"""Below the ephemeral range of Linux (32768 and up) and of macOS (49152 and up): no outgoing
connection can take a port of these between our look and the replica's bind."""


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Different ports that are free now; ProviderError when the machine has not that many."""
    found: list[int] = []
    for port in random.sample(_RANGE, len(_RANGE)):
        if len(found) == count:
            break
        if is_free(port):
            found.append(port)
    if len(found) < count:
        raise ProviderError(f"no {count} free ports between {_RANGE.start} and {_RANGE.stop}")
    return found
