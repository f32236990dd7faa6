"""What becomes of a trained model: `export` and `serve` of a job."""

from __future__ import annotations

from typing import Annotated, ClassVar

from config.base import Change, Port, Section, Whole, setting


class Export(Section):
    """Exports the trained model; it has no settings yet, its presence switches it on."""

    refused_keys: ClassVar = {
        "version": "versions are whole numbers that the exporter counts up itself; remove it",
    }
    looks_like: ClassVar = "export: {}"


class Serve(Section):
    """Serves the newest exported model over HTTP."""

    looks_like: ClassVar = "serve: {} or serve: {replicas: 1}"

    replicas: Annotated[int, Whole(1, 1000)] = setting(
        "Number of model servers, 1 to 1000. Not used on local, which has one.", Change.RESTARTS, 1
    )
    port: Annotated[int, Port()] | None = setting(
        "Port of the REST API, 1024 to 65535; when absent, a free one is chosen.", Change.RESTARTS
    )
