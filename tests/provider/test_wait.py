"""Why a job of this machine failed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from provider.kinds import Call, NotReady
from provider.wait import until_succeeded
from supervisor import client


def test_a_failure_is_told_without_what_a_terminal_would_obey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {
        "replica": "worker-0",
        "exitCode": 3,
        "lines": ["\x1b]0;title\x07\x1b[31mred\x1b[0m\x1b[2J", "no\0thing"],
        "log": "worker-0.log",
    }
    status = SimpleNamespace(message="it failed", first_failure=first, replicas={})
    failed = SimpleNamespace(state="Failed", status=status, alive=False)
    monkeypatch.setattr(client, "observe", lambda _: failed)
    with pytest.raises(NotReady) as error:
        until_succeeded(Call(inputs={"name": "m"}), tmp_path, {}, None)
    assert str(error.value).splitlines() == [
        "m Failed: it failed",
        "the first to fail was worker-0, with exit code 3",
        "  red",
        "  nothing",
        "whole log: worker-0.log",
    ]
