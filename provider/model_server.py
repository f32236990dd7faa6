"""Which model server runs: TensorFlow Serving's own where this machine has it, else ours."""

import shutil

PLACEHOLDER = "{model_server}"
"""First word of a command whose other words both servers understand."""


def chosen(command: list[str], health: str, status_path: str) -> tuple[list[str], str]:
    """The command with the server put in, and the URL that tells whether it is up.

    Only ours has a health page; of the other the model's status is asked.
    """
    real = shutil.which("tensorflow_model_server")
    if real is None:
        return ["{python}", "-m", "workloads.model_server", *command[1:]], health
    status = health.partition("/healthz")[0] + status_path
    return ["{python}", "-m", "workloads.model_server.real", real, *command[1:]], status
