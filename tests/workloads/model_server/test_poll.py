"""One look at the base directory after the other: nothing that goes wrong in one is the last."""

from __future__ import annotations

from pathlib import Path

import pytest

from workloads.model_server import loader, versions
from workloads.model_server.lifecycle import Lifecycle, VersionState
from workloads.model_server.loader import ServedModel, Signature, warm_up
from workloads.model_server.tensors import ApiError, Array, TensorSpec


class Enough(BaseException):
    """Ends a lifecycle that would poll for ever."""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two versions, and a TensorFlow that is not needed."""
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"model")
    monkeypatch.setattr(loader, "prepare", lambda: None)
    return tmp_path


def model(name: str, version: int, default: Signature | None = None) -> ServedModel:
    signatures = {} if default is None else {"serving_default": default}
    return ServedModel(name, version, signatures, {}, None)


def polled(base: Path, monkeypatch: pytest.MonkeyPatch, looks: int) -> Lifecycle:
    """A lifecycle after ``looks`` turns of its thread."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == looks:
            raise Enough

    monkeypatch.setattr("time.sleep", sleep)
    lifecycle = Lifecycle("m", base, 1)
    with pytest.raises(Enough):
        lifecycle.run()
    return lifecycle


def test_a_version_that_fails_in_an_unforeseen_way_gives_way_to_an_older(
    base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(path: Path, name: str, version: int) -> ServedModel:
        if version == 2:
            raise RuntimeError("of a kind nobody thought of")
        return model(name, version)

    monkeypatch.setattr(loader, "load", load)
    lifecycle = polled(base, monkeypatch, 3)
    assert lifecycle.summary() == "serving version 1"
    assert lifecycle.states() == {
        2: VersionState("END", "UNKNOWN", "RuntimeError: of a kind nobody thought of"),
        1: VersionState("AVAILABLE"),
    }
    said = capsys.readouterr().err
    assert said.count("version 2 does not load: RuntimeError: of a kind nobody thought of") == 1


def test_a_look_that_fails_is_told_once_and_followed_by_the_next(
    base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = iter([OSError(5, "Input/output error"), RuntimeError("odd"), RuntimeError("odd")])
    scan = versions.scan
    looked: list[str] = []

    def failing(path: Path) -> list[versions.VersionDirectory]:
        looked.append("at it")
        # The first is made before TensorFlow is imported, and is only for show.
        if len(looked) > 1 and (failure := next(failures, None)):
            raise failure
        return scan(path)

    monkeypatch.setattr(versions, "scan", failing)
    monkeypatch.setattr(loader, "load", lambda path, name, version: model(name, version))
    assert polled(base, monkeypatch, 4).summary() == "serving version 2"
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [
        f"{base} cannot be read: Input/output error",
        f"looking into {base} failed: RuntimeError: odd",
    ]
    assert len([line for line in told if "odd" in line]) == 1


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (MemoryError("Unable to allocate 1. PiB"), "MemoryError: Unable to allocate 1. PiB"),
        (ApiError(400, "only positive numbers"), "only positive numbers"),
    ],
)
def test_a_model_that_cannot_be_warmed_up_is_served(
    base: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: Exception,
    reason: str,
) -> None:
    def run(arrays: object) -> dict[str, Array]:
        raise failure

    inputs = {"x": TensorSpec("float32", "float32", (None, 2))}
    signature = Signature(inputs, "tensorflow/serving/predict", run)
    monkeypatch.setattr(loader, "load", lambda path, name, version: model(name, version, signature))
    assert warm_up(model("m", 1, signature)) == reason
    assert polled(base, monkeypatch, 2).summary() == "serving version 2"
    said = capsys.readouterr().err
    assert said.count(f"m version 2 is served without having been warmed up: {reason}") == 1
