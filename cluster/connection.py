"""One cluster, named explicitly: a file and a context in it, or the text of a kubeconfig.

Nothing else is ever asked or tried: not the current context of another file, and not the cluster
that this process may run in.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster import kubeconfig
from cluster.client import Cluster
from cluster.credentials import credentials
from cluster.errors import ClusterError
from cluster.kubeconfig import Target


@dataclass(frozen=True)
class Connection:
    """Where a cluster is and who asks. `content` is a secret and in no message."""

    kubeconfig: str | None = None
    context: str | None = None
    content: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, given: Mapping[str, Any], project: Path) -> Connection:
        """`{"kubeconfig": path, "context": name}`, either of which may be left out, or
        `{"content": text}`. A relative path is one of the project."""
        path = given.get("kubeconfig")
        return cls(
            kubeconfig=str(project / _expanded(str(path))) if path else None,
            context=given.get("context") or None,
            content=given.get("content") or None,
        )

    def target(self) -> Target:
        """What the kubeconfig says now; ClusterError when it says nothing of the kind."""
        if self.content is not None:
            name = "the cluster's kubeconfig"
            return kubeconfig.choose(kubeconfig.parse(self.content, name), self.context, name)
        if self.kubeconfig is None and self.context is None:
            raise ClusterError("no cluster is named: set a kubeconfig, a context of it, or both")
        files = [Path(self.kubeconfig)] if self.kubeconfig else kubeconfig.default_files()
        name = f"kubeconfig {', '.join(map(str, files))}"
        return kubeconfig.choose(kubeconfig.read(files), self.context, name)

    def open(self) -> Cluster:
        """A client of the cluster, before its first request. The kubeconfig is read, and a plugin
        of the user's asked, now and again when the cluster no longer accepts the answer."""

        def identify() -> tuple[Target, Any]:
            target = self.target()
            return target, credentials(target)

        return Cluster(identify)


def _expanded(file: str) -> Path:
    """As Pulumi's provider takes it: ~ is the home that the machine has on record, whatever HOME
    says."""
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return Path(file).expanduser()
    return Path(home, file[2:]) if file.startswith("~/") else Path(file)
