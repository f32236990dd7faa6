"""Services: the rules with made-up time, and a real web server."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from supervisor import client, rules, services
from supervisor.health import HealthCheck
from supervisor.spec import ALWAYS, Health, Replica, Spec
from supervisor.state import Exit, Job
from tests.supervisor.conftest import Place, python, shell, wait_until

BEGIN = 1000.0
SERVE = """
import http.server, os, threading
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(os.environ["CODE"]))
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer)
print("serving", flush=True)
server.serve_forever()
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def running(start_timeout: float = 20) -> tuple[Spec, Job]:
    spec = Spec(
        "service",
        "tb",
        "g",
        "/",
        [Replica("tensorboard", 0, ["x"])],
        health=Health("http://127.0.0.1:1/", start_timeout),
    )
    return spec, services.started(rules.created(spec, BEGIN), spec, "tensorboard-0", 1, BEGIN)


def test_ready_means_healthy_now() -> None:
    _, job = running()
    assert not job.ready
    job = services.checked(job, True, BEGIN + 3)
    assert (job.ready, job.state) == (True, "Running")
    job = services.checked(job, False, BEGIN + 9)
    assert not job.ready
    assert services.checked(job, True, BEGIN + 10).ready


def test_the_start_timeout_counts_restarts_in() -> None:
    spec, job = running()
    job = services.exited(job, spec, "tensorboard-0", Exit(1), BEGIN + 15)
    assert (job.state, job.replicas["tensorboard-0"].restarts) == ("Restarting", 1)
    assert not services.start_is_overdue(job, spec, BEGIN + 19)
    assert services.start_is_overdue(job, spec, BEGIN + 20)
    job = services.not_started(job, spec, BEGIN + 20, ())
    assert job.state == "Failed"
    assert job.message == (
        "tb did not answer at http://127.0.0.1:1/ within 20 s of its start; "
        "tensorboard-0 exited with code 1"
    )


def test_one_that_was_ready_never_fails_and_is_restarted_when_unhealthy_for_long() -> None:
    spec, job = running()
    job = services.checked(job, True, BEGIN + 3)
    job = services.checked(job, False, BEGIN + 100)
    job = services.checked(job, False, BEGIN + 140)
    assert services.ticked(job, spec, BEGIN + 159) == job
    job = services.ticked(job, spec, BEGIN + 160)
    assert job.replicas["tensorboard-0"].stopping
    job = services.exited(job, spec, "tensorboard-0", Exit(143, 15), BEGIN + 161)
    assert job.startable(BEGIN + 161) == ["tensorboard-0"]
    job = services.started(job, spec, "tensorboard-0", 2, BEGIN + 161)
    assert services.ticked(job, spec, BEGIN + 170) == job
    assert not services.start_is_overdue(job, spec, BEGIN + 999)
    assert services.checked(job, True, BEGIN + 171).ready


def test_a_real_service_becomes_ready_and_is_started_again(place: Place) -> None:
    port = free_port()
    place.launch(
        python("tensorboard-0", SERVE, ALWAYS, PORT=str(port), CODE="302"),
        kind="service",
        health=Health(f"http://127.0.0.1:{port}/tb/", 60),
    )
    wait_until(lambda: place.status().ready)
    assert (place.status().state, place.status().healthy) == ("Running", True)
    first = place.pid("tensorboard-0")
    os.kill(first, 9)
    wait_until(lambda: place.status().replicas["tensorboard-0"]["pid"] not in (first, None))
    wait_until(lambda: place.status().ready)
    assert place.status().replicas["tensorboard-0"]["restarts"] == 1
    client.stop(place.state)
    assert (place.status().state, place.status().ready) == ("Stopped", False)


def test_an_error_page_is_not_healthy(place: Place) -> None:
    port = free_port()
    place.launch(
        python("model-0", SERVE, PORT=str(port), CODE="500"),
        kind="service",
        health=Health(f"http://127.0.0.1:{port}/", 1.5),
    )
    place.until_gone()
    status = place.status()
    assert (status.state, status.reason) == ("Failed", "StartTimeout")
    assert "did not answer at http://127.0.0.1:" in status.message
    assert status.first_failure is not None
    assert status.first_failure["lines"] == ["serving"]


def test_a_service_that_crashes_at_start_says_so(place: Place) -> None:
    place.launch(
        shell("model-0", "echo port taken; exit 1"),
        kind="service",
        health=Health(f"http://127.0.0.1:{free_port()}/", 0.5),
    )
    place.until_gone()
    status = place.status()
    assert status.message.endswith("model-0 exited with code 1")
    assert status.first_failure is not None
    assert status.first_failure["lines"][-1] == "port taken"


def test_a_service_without_a_url_is_ready_when_it_runs(place: Place) -> None:
    place.launch(shell("model-0", "exec sleep 1000"), kind="service")
    wait_until(lambda: place.status().ready)


def advance_until(check: HealthCheck, condition: Callable[[], bool]) -> None:
    def done() -> bool:
        check.advance()
        return condition()

    wait_until(done)


def test_a_silent_server_is_not_healthy() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        check = HealthCheck(f"http://127.0.0.1:{server.getsockname()[1]}", 0.0)
        connection, _ = server.accept()
        with connection:
            advance_until(check, lambda: not check.writing)
            assert connection.recv(999).startswith(b"GET / HTTP/1.0\r\nHost: 127.0.0.1:")
            check.advance()
            assert check.result is None
        advance_until(check, lambda: check.result is not None)
        assert check.result is False
