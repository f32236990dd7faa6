"""A program's files are part of its job."""

from pathlib import Path

from tests.engine.test_life import stack
from tests.engine.workspace import Workspace

PROGRAM = """import os, pathlib
import helpers_of_mine
path = pathlib.Path(os.environ["ACK_TRAINING_JOB_DIR"]) / "said"
path.write_text(path.read_text() + helpers_of_mine.WORD if path.exists() else helpers_of_mine.WORD)
"""


def test_an_edited_file_shows_and_runs_again(workspace: Workspace) -> None:
    folder = workspace.path / "programs"
    folder.mkdir()
    (folder / "mine.py").write_text(PROGRAM)
    (folder / "helpers_of_mine.py").write_text('WORD = "first "\n')
    workspace.configure(stack(mine={"program": "programs/mine.py", "chief": {}}))
    first = workspace.up()
    assert first.code == 0, first
    _edit(folder / "helpers_of_mine.py", "second")
    preview = workspace.preview()
    assert "helpers_of_mine.py" in preview.text
    second = workspace.up()
    assert second.code == 0, second
    assert (workspace.path / "data/mine/said").read_text() == "first second "


def test_a_new_runtime_does_not_train_a_finished_job_again(workspace: Workspace) -> None:
    folder = workspace.path / "programs"
    folder.mkdir()
    (folder / "mine.py").write_text("print('done')\n")
    workspace.configure(stack(mine={"program": "programs/mine.py", "chief": {}}))
    first = workspace.up()
    assert first.code == 0, first
    runtime = workspace.path / "training/programs/runtime/__init__.py"
    runtime.write_text(runtime.read_text() + "\n# a newer version\n")
    second = workspace.up("--expect-no-changes")
    assert second.code == 0, second


def _edit(path: Path, word: str) -> None:
    path.write_text(f'WORD = "{word} "\n')
