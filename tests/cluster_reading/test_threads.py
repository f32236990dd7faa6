"""Resources of one stack open their cluster side by side."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

SCRIPT = """
import threading
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
print(failed)
"""


def test_the_client_is_loaded_by_many_threads_at_once() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
