"""Takes a test cluster up and down."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from toolchain.cluster.api import Api
from toolchain.cluster.certificates import make_certificates
from toolchain.cluster.configuration import PAUSE, configuration
from toolchain.cluster.control_groups import make_control_groups, remove_control_groups
from toolchain.cluster.images import import_image
from toolchain.cluster.limits import raise_limits, restore_limits
from toolchain.cluster.network import ensure_free_addresses, plug_in, unplug
from toolchain.cluster.place import Place
from toolchain.cluster.processes import (
    end_node,
    ensure_own_instance,
    first_processes,
    is_running,
    node_command,
)
from toolchain.cluster.programs import (
    cluster_programs,
    ensure_machine,
    environment,
    kwok_stages,
    plugin_folder,
    program,
    programs_key,
)
from toolchain.cluster.stock_images import BUSYBOX, busybox_archive
from toolchain.places import ROOT, exclusively, make_folder
from toolchain.report import Stop, duration, say
from toolchain.wrapper import write_aside

_LOG_LINES = 15


def up(place: Place) -> None:
    """Afterwards the cluster can be used: pods run, names resolve. One that is up stays as it is;
    one that is not whole is taken down first. Raises Stop with the end of the log at fault."""
    ensure_machine()
    cluster_programs()
    make_folder(place.folder)
    with exclusively(place.folder, f"taking test cluster {place.instance} up or down"):
        lack = what_lacks(place)
        if not lack:
            say(f"Test cluster {place.instance} is up already")
            return
        if place.state.exists():
            say(f"Test cluster {place.instance} is not whole ({lack}): starting afresh")
        _take_down(place)
        start = time.monotonic()
        try:
            _take_up(place)
        except BaseException:
            _take_down(place)
            raise
        say(f"Test cluster {place.instance} is up after {duration(time.monotonic() - start)}")


def down(place: Place) -> None:
    """Afterwards nothing of the cluster is left on this machine."""
    make_folder(place.folder)
    with exclusively(place.folder, f"taking test cluster {place.instance} up or down"):
        was_there = _take_down(place)
    say(f"Test cluster {place.instance} {'is down' if was_there else 'was not up'}")


def what_lacks(place: Place) -> str:
    """What keeps the cluster from being used, "" when nothing does."""
    if not first_processes(place):
        return "it does not run"
    ended = sorted(place.state.glob("ended-*"))
    if ended:
        return ended[0].read_text(encoding="utf-8")
    complete = place.state / "complete"
    if not complete.exists():
        return "it was not started to the end"
    if complete.read_text(encoding="utf-8") != programs_key():
        return "it is of other versions"
    if not Api(place).well(f"{place.server}/readyz"):
        return "its API server does not answer"
    return ""


def _take_up(place: Place) -> None:
    ensure_free_addresses(place)
    place.state.mkdir()
    (place.state / "log").mkdir()
    make_certificates(place)
    texts = configuration(place, plugin_folder()) | {"kwok.yaml": kwok_stages()}
    for name, text in texts.items():
        file = place.state / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    make_control_groups(place)
    raise_limits()
    outer = _start_node(place)
    plug_in(place, int(_await(place, outer, "pid")))
    _await(place, outer, "ready")
    archive = busybox_archive(place.state / "busybox.tar")
    import_image(place, archive, [PAUSE, BUSYBOX])
    write_aside(place.state / "complete", programs_key(), 0o644)


def _start_node(place: Place) -> int:
    """The process id of what waits for the node's first process, which outlives this one."""
    namespaces = [program("unshare"), "--fork", "--pid", "--mount", "--net", "--kill-child"]
    # The shell ends at once: nobody here need collect what it leaves running.
    script = '"$@" >"$0" 2>&1 </dev/null & echo $!'
    ran = subprocess.run(
        [
            *("sh", "-c", script, str(place.log("node"))),
            *(*namespaces, *node_command(sys.executable, place)),
        ],
        env=environment(),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        start_new_session=True,
    )
    return int(ran.stdout)


def _await(place: Place, outer: int, name: str) -> str:
    """The text of the file `name`, once the node's first process has written it."""
    while True:
        runs = is_running(outer)
        failed = place.state / "failed"
        if failed.exists():
            told = json.loads(failed.read_text(encoding="utf-8"))
            component, reason = told["component"], told["reason"]
            raise Stop(f"{component} {reason}\n{log_end(place.log(component))}")
        if (place.state / name).exists():
            return (place.state / name).read_text(encoding="utf-8")
        if not runs:
            raise Stop(f"the node ended\n{log_end(place.log('node'))}")
        time.sleep(0.05)


def log_end(log: Path) -> str:
    """The last lines of a log, each set in so that it is told from our own."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"  {line}" for line in lines[-_LOG_LINES:]) or f"  {log.name} is empty"


def _take_down(place: Place) -> bool:
    ensure_own_instance(place)
    ended = end_node(place)
    unplug(place)
    remove_control_groups(place)
    was_there = place.state.exists()
    if was_there:
        _remove_state(place)
    restore_limits()
    return ended or was_there


def _remove_state(place: Place) -> None:
    # All mounts went with the node; through one that did not, files of others would be removed.
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        within = [line for line in mounts if line.split()[4].startswith(f"{place.state}/")]
    if within:
        raise Stop(f"{within[0].split()[4]} is still mounted: unmount it and run this again")
    shutil.rmtree(place.state)
