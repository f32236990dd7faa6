"""`.venv` and the stacks' locks."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from toolchain import venv
from toolchain.places import ROOT
from toolchain.report import duration
from toolchain.stack import drop_foreign_salt, reason, stale_locks

Program = Callable[[str, str], Path]


def installed(site: Path, name: str, record: str | None) -> None:
    info = site / f"{name}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: x\n")
    if record is not None:
        (info / "RECORD").write_text(record)


def test_packages_that_pip_did_not_finish_are_forgotten(tmp_path: Path) -> None:
    installed(tmp_path, "whole-1", "x.py,,\nwhole-1.dist-info/INSTALLER,sha256=a,4\n")
    installed(tmp_path, "begun-1", None)
    # As it lies in the wheel: pip has not come to its own files yet.
    installed(tmp_path, "half-1", "x.py,,\nhalf-1.dist-info/METADATA,sha256=a,4\n")
    (tmp_path / "~umpy").mkdir()
    assert venv.discard_half_installed(tmp_path) == ["begun-1.dist-info", "half-1.dist-info"]
    assert os.listdir(tmp_path) == ["whole-1.dist-info"]


def test_what_pip_installed_here_counts_as_whole(tmp_path: Path) -> None:
    """The rule is pip's inner working: it must hold for the pip that set this checkout up."""
    copy = tmp_path / "site-packages"
    copy.mkdir()
    (site,) = (Path(sys.prefix) / "lib").glob("python*/site-packages")
    for info in site.glob("*.dist-info"):
        (copy / info.name).mkdir()
        (copy / info.name / "RECORD").write_bytes((info / "RECORD").read_bytes())
    assert len(os.listdir(copy)) > 20
    assert venv.discard_half_installed(copy) == []


def test_a_stamp_is_of_the_locks_and_the_minor_python(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x==1\n")
    before = venv.stamp_content(["a.txt"], "3.11", tmp_path)
    assert venv.stamp_content(["a.txt"], "3.11", tmp_path) == before
    assert venv.stamp_content(["a.txt"], "3.12", tmp_path) != before
    (tmp_path / "a.txt").write_text("x==2\n")
    assert venv.stamp_content(["a.txt"], "3.11", tmp_path) != before


def test_a_broken_python_is_no_environment(tmp_path: Path, program: Program) -> None:
    dangling = tmp_path / "python"
    dangling.symlink_to(tmp_path / "gone")
    assert venv.working_python(dangling) is None
    assert venv.working_python(program("python-without-pip", "exit 1")) is None
    assert (
        venv.working_python(Path(sys.executable))
        == f"{sys.version_info.major}.{sys.version_info.minor}"
    )


def lock(state: Path, name: str, content: object) -> Path:
    file = state / ".pulumi" / "locks" / "organization" / "p" / "local" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))
    return file


def test_only_locks_of_a_pulumi_that_is_gone_are_stale(tmp_path: Path) -> None:
    here = socket.gethostname()
    ended = subprocess.Popen(["true"])
    ended.wait()
    gone = lock(tmp_path, "gone", {"pid": ended.pid, "hostname": here})
    # The process id has gone to another program since.
    reused = lock(tmp_path, "reused", {"pid": os.getpid(), "hostname": here})
    lock(tmp_path, "elsewhere", {"pid": ended.pid, "hostname": here + "-other"})
    lock(tmp_path, "unknown", ["?"])
    expected = {gone, reused} if Path("/proc/self/stat").exists() else {gone}
    assert set(stale_locks(tmp_path, here)) == expected


def test_a_lock_of_a_running_pulumi_is_kept(tmp_path: Path, program: Program) -> None:
    running = subprocess.Popen(
        [program("pulumi", "read line")], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        lock(tmp_path, "held", {"pid": running.pid, "hostname": socket.gethostname()})
        assert stale_locks(tmp_path, socket.gethostname()) == []
    finally:
        running.communicate()
    assert [file.stem for file in stale_locks(tmp_path, socket.gethostname())] == ["held"]


def test_reason_is_pulumis_last_line_or_the_passphrase_explained() -> None:
    assert reason("warning\nerror: no such stack\n\n", "dev") == "no such stack"
    assert "PULUMI_CONFIG_PASSPHRASE" in reason("error: x: incorrect passphrase", "dev")
    assert reason("", "dev")


def test_a_salt_that_guards_nothing_is_dropped_and_one_with_secrets_kept(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.local.yaml"
    file.write_text("# note\nconfig:\n  a:b: c\nencryptionsalt: v1:x=\n")
    assert drop_foreign_salt(file)
    assert file.read_text() == "# note\nconfig:\n  a:b: c\n"
    assert not drop_foreign_salt(file)
    secret = "encryptionsalt: v1:x=\nconfig:\n  a:b:\n    secure: v1:y\n"
    file.write_text(secret)
    assert not drop_foreign_salt(file)
    assert file.read_text() == secret


def test_duration() -> None:
    assert [duration(8.25), duration(60.2), duration(247)] == ["8.2 s", "1 min 0 s", "4 min 7 s"]


def test_make_alone_lists_the_targets() -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    ran = subprocess.run(
        ["make", "--no-print-directory"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = {line.split()[1] for line in ran.stdout.splitlines()}
    assert {"up", "test", "preview", "destroy", "watch", "logs", "check", "clean"} <= listed
