"""The stack of README, from `up` to `destroy`, on real images."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.processes import running_under
from tests.engine.training_jobs import contents
from tests.engine.workspace import PROJECT, Result, Workspace

pytestmark = pytest.mark.tensorflow

JOB = "distributed-mnist"
HELD_OUT_IMAGES = """
import json
from pathlib import Path
from mnist_files import read_mnist
images, labels = read_mnist(Path("data/datasets/mnist"), "test")
print(json.dumps({"images": images.tolist(), "labels": labels.tolist()}))
"""


def committed_config() -> dict[str, Any]:
    """What Pulumi.local.yaml declares, keys without their namespace."""
    config = yaml.safe_load((PROJECT / "Pulumi.local.yaml").read_text())["config"]
    return {key.removeprefix("ack-training:"): value for key, value in config.items()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace in which the committed stack was brought up once."""
    workspace = Workspace.create(tmp_path_factory.mktemp("readme") / "a project")
    workspace.configure(committed_config())
    try:
        first = workspace.up()
        assert first.code == 0, first
        yield workspace
    finally:
        destroyed = workspace.destroy()
        left = running_under(workspace.path)
    assert destroyed.code == 0, destroyed
    assert left == []


def job_file(workspace: Workspace, path: str) -> Path:
    return workspace.path / "data" / JOB / path


def result(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        job_file(workspace, "checkpoints/run-1/result.json").read_text()
    )
    return found


def exports(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in job_file(workspace, "export").iterdir())


def fetch(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(url, data, timeout=120) as reply:
        return json.load(reply)


def console(workspace: Workspace, *arguments: str) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "console", *arguments],
        cwd=workspace.path,
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Result(done.returncode, done.stdout + done.stderr)


def held_out(workspace: Workspace) -> dict[str, Any]:
    """The images and labels that the program evaluates with, split by the program's own reader."""
    done = subprocess.run(
        [sys.executable, "-c", HELD_OUT_IMAGES],
        cwd=workspace.path,
        env={**os.environ, "PYTHONPATH": str(workspace.path / "training/programs")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_is_accurate_on_images_it_never_trained_on(trained: Workspace) -> None:
    reached = result(trained)
    assert reached["step"] >= 2000
    assert reached["examples"] == 1000
    assert reached["accuracy"] >= 0.95
    assert trained.outputs()["jobs"][JOB]["state"] == "Succeeded"


def test_the_predict_url_classifies_held_out_images(trained: Workspace) -> None:
    examples = held_out(trained)
    url = trained.outputs()["jobs"][JOB]["predict"]
    right = 0
    for start in range(0, len(examples["images"]), 100):
        batch = slice(start, start + 100)
        predictions = fetch(url, {"instances": examples["images"][batch]})["predictions"]
        for prediction, label in zip(predictions, examples["labels"][batch], strict=True):
            right += prediction["classes"] == label
            assert sum(prediction["probabilities"]) == pytest.approx(1, abs=1e-3)
    assert len(examples["labels"]) == 1000
    assert right >= 940


def test_tensorboard_lists_each_run_and_its_scalars(trained: Workspace) -> None:
    url = trained.outputs()["tensorboard"]
    chief, evaluator = f"{JOB}/logs/chief/run-1", f"{JOB}/logs/evaluator/run-1"
    expected = {
        chief: {"train/loss", "train/accuracy", "train/examples_per_second"},
        evaluator: {"evaluation/loss", "evaluation/accuracy"},
    }
    # A step may be done twice after a lost replica, so that the run ends a little later.
    last = int(committed_config()["jobs"][JOB]["args"][0].removeprefix("--steps="))

    def shown() -> dict[str, set[str]]:
        """Run → the curves that reach the last step."""
        found: dict[str, set[str]] = {run: set() for run in fetch(f"{url}data/runs")}
        for run, names in fetch(f"{url}data/plugin/scalars/tags").items():
            for name in names:
                query = urllib.parse.urlencode({"run": run, "tag": name})
                points = fetch(f"{url}data/plugin/scalars/scalars?{query}")
                if len(points) > 1 and points[-1][1] >= last:
                    found.setdefault(run, set()).add(name)
        return found

    # TensorBoard looks for new events only every few seconds.
    limit = time.monotonic() + 120
    while (found := shown()) != expected and time.monotonic() < limit:
        time.sleep(1)
    assert found == expected


def test_one_model_is_exported(trained: Workspace) -> None:
    assert exports(trained) == ["1"]
    assert job_file(trained, "export/1/saved_model.pb").is_file()


def test_a_second_up_and_a_refresh_change_nothing(trained: Workspace) -> None:
    for again in (trained.up("--expect-no-changes"), trained.refresh("--expect-no-changes")):
        assert again.code == 0, again


def test_watch_shows_every_replica(trained: Workspace) -> None:
    table = console(trained, "watch", "--stack", "test", "--once")
    assert table.code == 0, table
    for replica in ("chief-0", "worker-0", "worker-1", "ps-0", "ps-1", "evaluator-0"):
        assert replica in table.text
    step = result(trained)["step"]
    assert any("chief-0" in line and f"{step}/2000" in line for line in table.text.splitlines())


def test_tensorboard_is_served_already(trained: Workspace) -> None:
    url = trained.outputs()["tensorboard"]
    shown = console(trained, "tensorboard", "--stack", "test")
    assert (shown.code, shown.text) == (0, f"{url}\n")
    elsewhere = console(trained, "tensorboard", "--stack", "test", "--port", "1")
    assert elsewhere.code == 0
    assert "ack-training:tensorboard.port" in elsewhere.text


def test_logs_shows_the_chiefs(trained: Workspace) -> None:
    log = console(trained, "logs", "--stack", "test", "--job", JOB, "--no-follow")
    assert log.code == 0, log
    assert f"step {result(trained)['step']}/2000" in log.text
    assert "exported as" in log.text


def test_a_server_that_is_asked_for_again_answers_when_up_ends(trained: Workspace) -> None:
    config = committed_config()
    for serve in ({}, {"serve": config["jobs"][JOB]["serve"]}):
        job = {key: value for key, value in config["jobs"][JOB].items() if key != "serve"}
        trained.configure({**config, "jobs": {JOB: {**job, **serve}}})
        changed = trained.up()
        assert changed.code == 0, changed
        assert "+-" not in changed.text
    status = fetch(trained.outputs()["jobs"][JOB]["predict"].removesuffix(":predict"))
    (version,) = status["model_version_status"]
    assert (version["version"], version["state"]) == ("1", "AVAILABLE")


def test_destroy_keeps_what_was_trained_and_the_next_up_trains_nothing(trained: Workspace) -> None:
    before = result(trained)
    kept = contents(trained.path / "data")
    # Whose the directory is, until the job is gone.
    mark = trained.path / "data" / JOB / ".owner.json"
    del kept[mark]
    destroyed = trained.destroy()
    assert destroyed.code == 0, destroyed
    assert running_under(trained.path) == []
    assert not mark.exists()
    assert contents(trained.path / "data") == kept
    again = trained.up()
    assert again.code == 0, again
    # What the job came to stays beside it, not that its model server was waited for.
    assert re.search(rf"Job {JOB} created \([^)]*\) was trained before: step", again.text), again
    assert result(trained) == before
    assert exports(trained) == ["1"]
    assert trained.outputs()["jobs"][JOB]["state"] == "Succeeded"
