"""Tells the program of a stack on a cluster whether the checkout was set up for one."""

import os
import shutil
from importlib.util import find_spec

from toolchain.kubernetes_plugin import PROGRAM, plugin_folder
from toolchain.report import Stop


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
