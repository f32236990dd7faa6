"""kill -9 of any process leaves no orphan and no port taken."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from supervisor import client
from tests.supervisor.conftest import Place, python, shell, wait_until

LISTEN = """
import os, socket, subprocess, sys
server = socket.socket()
server.bind(("127.0.0.1", int(os.environ["PORT"])))
server.listen()
if os.environ.get("CHILD"):
    # In a session of its own and with the listening socket: a process group kill misses it.
    subprocess.Popen(["sleep", "1000"], start_new_session=True, pass_fds=[server.fileno()])
print("listening", flush=True)
sys.stdin.close()
import time
time.sleep(1000)
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def is_free(port: int) -> bool:
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def with_ports(place: Place, policy: str = "Never") -> list[int]:
    """A chief and a worker that listen, each with a child that holds the port too."""
    ports = [free_port(), free_port()]
    place.launch(
        *(
            python(name, LISTEN, policy, PORT=str(port), CHILD="1")
            for name, port in zip(("chief-0", "worker-0"), ports, strict=True)
        )
    )
    for name in ("chief-0", "worker-0"):
        place.until_wrote(name, "listening")
    assert not any(map(is_free, ports))
    return ports


def test_a_replica_is_restarted_on_its_port_though_its_child_held_it(place: Place) -> None:
    with_ports(place, "ExitCode")
    first = place.pid("worker-0")
    kill(first)
    wait_until(lambda: client.tail(place.state, "worker-0", 9).count("listening") == 2)
    assert place.pid("worker-0") != first
    status = place.until("Running")
    assert status.replicas["worker-0"]["restarts"] == 1
    assert status.replicas["chief-0"]["restarts"] == 0


def test_the_supervisor(place: Place) -> None:
    ports = with_ports(place)
    kill(place.status().supervisor_pid)
    place.until_gone()
    assert all(map(is_free, ports))
    assert place.status().state == "Running"
    assert client.observe(place.state).state == "Lost"


def test_the_supervisors_whole_process_group(place: Place) -> None:
    ports = with_ports(place)
    os.killpg(place.status().supervisor_pid, signal.SIGKILL)
    place.until_gone()
    assert all(map(is_free, ports))


def test_a_killed_guardian_is_replaced(place: Place) -> None:
    ports = with_ports(place)
    first = place.status().guardian_pid
    kill(first)
    wait_until(lambda: place.status().guardian_pid != first)
    kill(place.status().supervisor_pid)
    place.until_gone()
    assert all(map(is_free, ports))


def test_supervisor_and_guardian_at_once(place: Place) -> None:
    ports = with_ports(place)
    replicas = [place.pid("chief-0"), place.pid("worker-0")]
    kill(place.status().guardian_pid, place.status().supervisor_pid)
    # The replicas themselves die with their parent; their children are found by the next call.
    wait_until(lambda: not place.processes() & set(replicas))
    assert client.observe(place.state).state == "Lost"
    client.stop(place.state)
    assert place.processes() == set()
    assert all(map(is_free, ports))
    assert client.observe(place.state).state == "Stopped"


def test_a_launch_clears_away_what_two_kills_left(place: Place) -> None:
    ports = with_ports(place)
    kill(place.status().guardian_pid, place.status().supervisor_pid)
    place.launch(
        python("chief-0", LISTEN, PORT=str(ports[0])),
        python("worker-0", LISTEN, PORT=str(ports[1])),
    )
    wait_until(lambda: client.tail(place.state, "chief-0", 9).count("listening") == 2)
    wait_until(lambda: client.tail(place.state, "worker-0", 9).count("listening") == 2)


def test_a_launch_right_after_a_kill_waits_for_the_clean_up(place: Place) -> None:
    ports = with_ports(place)
    kill(place.status().supervisor_pid)
    place.launch(python("chief-0", LISTEN, PORT=str(ports[0])))
    wait_until(lambda: client.tail(place.state, "chief-0", 9).count("listening") == 2)
    assert place.status().state == "Running"


@pytest.mark.parametrize(
    "script",
    [
        "sleep 1000 & sleep 1000 & exit 0",
        "(setsid sleep 1000 &) ; exit 0",
        "(env -i setsid sleep 1000 > /dev/null 2>&1 < /dev/null &) ; exit 0",
        "trap '' TERM HUP; (trap '' TERM; sleep 1000) & exit 0",
    ],
)
def test_grandchildren_end_with_their_replica(place: Place, script: str) -> None:
    place.launch(shell("chief-0", f"echo $$; {script}"))
    place.until_gone()
    assert place.status().state == "Succeeded"
    listed = subprocess.run(
        ["ps", "-eo", "ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    supervisor = str(place.status().supervisor_pid)
    assert not [line for line in listed.splitlines() if line.split()[0] == supervisor]


def test_an_orphan_of_a_live_replica_is_let_be(place: Place) -> None:
    place.launch(
        shell("chief-0", "(setsid sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000"),
        shell("worker-0", "exit 0"),
    )
    wait_until(lambda: len(client.tail(place.state, "chief-0", 1)) == 1)
    wait_until(lambda: place.status().replicas["worker-0"]["state"] == "Succeeded")
    assert int(client.tail(place.state, "chief-0", 1)[0]) in place.processes()


def test_hangup_and_interrupt_do_not_end_a_supervisor(place: Place) -> None:
    place.launch(shell("chief-0", f'while [ ! -e "{place.folder}/end" ]; do sleep 0.02; done'))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
        os.kill(place.status().supervisor_pid, number)
        os.kill(place.status().guardian_pid, number if number != signal.SIGQUIT else signal.SIGHUP)
    (place.folder / "end").touch()
    place.until_gone()
    assert place.status().state == "Succeeded"


def test_a_supervisor_outlives_its_caller_and_is_in_no_session_of_his(place: Place) -> None:
    program = f"""
import sys
sys.path.append({os.getcwd()!r})
from pathlib import Path
from supervisor import client
from supervisor.spec import Replica, Spec
client.launch(Spec("job", "j", "g", "/", [Replica("chief", 0, ["sleep", "1000"])]), {{}},
              Path({str(place.state)!r}))
"""
    subprocess.run([sys.executable, "-I", "-c", program], check=True, start_new_session=True)
    pid = place.status().supervisor_pid
    assert os.getsid(pid) == pid
    assert client.observe(place.state).alive
    place.until("Running")
