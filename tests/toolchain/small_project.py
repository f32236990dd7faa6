"""A Pulumi project of one file with a backend of its own, run by this checkout's pulumi."""

import json
import os
import subprocess
from pathlib import Path

from toolchain.places import VENV, file_backend


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a project"
        self.folder.mkdir()
        (folder / "state").mkdir()
        self.environment = {
            **os.environ,
            "PULUMI_BACKEND_URL": file_backend(folder / "state"),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "of this test",
        }
        runtime = {"name": "python", "options": {"virtualenv": str(VENV)}}
        project = {"name": "host-test", "runtime": runtime}
        (self.folder / "Pulumi.yaml").write_text(json.dumps(project))

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [VENV / "bin" / "pulumi", *arguments, "--non-interactive"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
