"""The kernel's limit that clusters share, on a file in its place."""

from pathlib import Path

import pytest

from toolchain.cluster import limits


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "max_user_instances"
    file.write_text("128\n")
    (tmp_path / "ack-training" / "clusters").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(limits, "_SETTING", file)
    monkeypatch.setattr(limits, "running_nodes", list)
    return file


def test_the_limit_is_raised_and_set_back_with_the_last_cluster(
    setting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits.raise_limits()
    assert int(setting.read_text()) == 1024
    limits.raise_limits()
    monkeypatch.setattr(limits, "running_nodes", lambda: ["another"])
    limits.restore_limits()
    assert int(setting.read_text()) == 1024
    monkeypatch.setattr(limits, "running_nodes", list)
    limits.restore_limits()
    assert int(setting.read_text()) == 128


def test_what_another_set_since_stays(setting: Path) -> None:
    limits.raise_limits()
    setting.write_text("4096\n")
    limits.restore_limits()
    assert int(setting.read_text()) == 4096
    setting.write_text("1024\n")
    limits.restore_limits()
    assert int(setting.read_text()) == 1024


def test_a_limit_that_is_high_enough_is_left(setting: Path) -> None:
    setting.write_text("8192\n")
    limits.raise_limits()
    assert int(setting.read_text()) == 8192
