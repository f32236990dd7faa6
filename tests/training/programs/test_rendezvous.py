"""Workers meet before TensorFlow connects them; who does not come is named."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from runtime.cluster import Cluster, read_cluster
from runtime.errors import NOT_ASSEMBLED, ReplicaError
from runtime.guards import PROCESS_STARTED, StartDeadline, wait_for_own_port
from runtime.rendezvous import meet

from tests.training.programs.replica_processes import free_ports, has_ipv6

LONG = 3600.0
"""Seconds after the start of this process, so that they have not passed when a test begins."""


HOSTS = ["127.0.0.1", *(["[::1]"] if has_ipv6() else [])]


def clusters(count: int, host: str = "127.0.0.1") -> list[Cluster]:
    addresses = [f"{host}:{port}" for port in free_ports(count)]
    return [
        read_cluster(
            {
                "TF_CONFIG": json.dumps(
                    {
                        "cluster": {"worker": addresses},
                        "task": {"type": "worker", "index": index},
                    }
                )
            }
        )
        for index in range(count)
    ]


def in_a_minute() -> StartDeadline:
    """Long enough to meet, and an end for a test in which nobody does."""
    return StartDeadline(time.monotonic() - PROCESS_STARTED + 60)


def nothing() -> None:
    """What a worker does while it waits."""


@pytest.mark.parametrize("host", HOSTS)
def test_all_meet_and_leave_their_ports_free(host: str) -> None:
    members = clusters(4, host)
    with ThreadPoolExecutor() as pool:
        meetings = [pool.submit(meet, m, "job", in_a_minute(), nothing) for m in members]
        for meeting in meetings:
            meeting.result()
    for member in members:
        family = socket.AF_INET6 if ":" in member.task.host_port[0] else socket.AF_INET
        socket.create_server(member.task.host_port, family=family).close()


@pytest.mark.parametrize("host", HOSTS)
def test_a_port_that_is_taken_on_one_address_is_waited_for_and_named(host: str) -> None:
    (member,) = clusters(1, host)
    address, port = member.task.host_port
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        socket.create_server((address, port), family=family),
        pytest.raises(ReplicaError, match=f"port {port} of worker-0 .* is taken by another"),
    ):
        wait_for_own_port(member.task, StartDeadline(0.0))


def test_who_does_not_come_is_named() -> None:
    members = clusters(3)
    with ThreadPoolExecutor() as pool:
        meetings = [
            pool.submit(meet, member, "job", StartDeadline(0.0), nothing) for member in members[:2]
        ]
        errors = [meeting.exception() for meeting in meetings]
    for error in errors:
        assert isinstance(error, ReplicaError)
        assert error.code == NOT_ASSEMBLED
        assert f"worker-2 ({members[2].task.address}) did not come up" in str(error)


def test_a_server_of_an_earlier_start_or_another_job_is_no_peer() -> None:
    first, second = clusters(2)
    with socket.create_server(second.task.host_port) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(512)
                connection.sendall(b"ack-training other-job worker-1\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ReplicaError, match=r"worker-1 .* did not come up"):
            meet(first, "job", StartDeadline(0.0), nothing)


def test_a_peer_that_went_on_to_tensorflow_is_turned_away_at_once() -> None:
    first, _ = clusters(2)
    left = threading.Event()

    class LeftError(Exception):
        """The meeting is over, for the test has seen enough."""

    def leave_when_told() -> None:
        if left.is_set():
            raise LeftError

    with ThreadPoolExecutor() as pool:
        meeting = pool.submit(meet, first, "job", StartDeadline(LONG), leave_when_told)
        while True:
            try:
                connection = socket.create_connection(first.task.host_port)
                break
            except ConnectionRefusedError:
                continue
        with connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
            connection.settimeout(5)
            try:
                answered = connection.recv(1)
            except ConnectionResetError:
                answered = b""
        left.set()
        assert answered == b""
        assert isinstance(meeting.exception(), LeftError)
