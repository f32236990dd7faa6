"""Tells the program of a stack on a cluster whether the checkout was set up for one.

Each preview waits for this: it imports little.
"""

import os
import pwd
import shutil
from importlib.util import find_spec
from pathlib import Path

from toolchain.report import Stop
from toolchain.versions import read_versions

PROGRAM = "pulumi-resource-kubernetes"


def require_cluster_set_up(stack: str) -> None:
    """Raises Stop where `make setup` brought only what a stack on this machine needs. To be called
    before anything of the packages is imported."""
    packages = all(find_spec(name) for name in ("pulumi_kubernetes", "kubernetes"))
    # Elsewhere Pulumi fetches the plugin itself.
    must_be_there = os.environ.get("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true"
    plugin = (plugin_folder() / PROGRAM).exists() or shutil.which(PROGRAM) is not None
    if not packages or (must_be_there and not plugin):
        raise Stop(
            f"this checkout is not set up for a stack on a cluster: run `make setup STACK={stack}`"
        )


def plugin_folder() -> Path:
    """Where Pulumi looks for its plugin for Kubernetes."""
    home = os.environ.get("PULUMI_HOME") or _user_home() / ".pulumi"
    return Path(home) / "plugins" / f"resource-kubernetes-v{plugin_version()}"


def _user_home() -> Path:
    """As Pulumi finds it: the system's word counts, and not HOME, which runners of CI set.
    https://github.com/pulumi/pulumi/blob/v3.274.1/sdk/go/common/util/pulumihome/pulumihome.go"""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()


def plugin_version() -> str:
    """That of the Python package: the engine asks for it."""
    return read_versions().python["kubernetes"]["pulumi-kubernetes"]
