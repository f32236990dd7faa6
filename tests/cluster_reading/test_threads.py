"""Resources of one stack open their cluster side by side."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

SCRIPT = """
import builtins, threading
found, inside, most = builtins.__import__, set(), 0
def counted(name, *rest, **more):
    global most
    me = threading.get_ident()
    if not name.startswith("kubernetes") or me in inside:
        return found(name, *rest, **more)
    inside.add(me)
    most = max(most, len(inside))
    try:
        return found(name, *rest, **more)
    finally:
        inside.discard(me)
builtins.__import__ = counted
from cluster.connection import Connection
text = '''
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
users: [{name: u, user: {}}]
'''
ready, failed = threading.Barrier(16), []
def use():
    ready.wait()
    try:
        Connection(content=text).open()
    except BaseException as error:
        failed.append(repr(error))
threads = [threading.Thread(target=use) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(failed, most)
"""


def test_the_client_is_loaded_by_one_thread_at_a_time() -> None:
    """Two that load it at once were seen to wait for each other: "deadlock detected"."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("[] 1\n", "")
