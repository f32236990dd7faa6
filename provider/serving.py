"""Waits until a job's model server answers with the model that the job exported."""

import json
import time
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

from provider import place
from provider.kinds import Call, Properties
from provider.service import port_of
from workloads.model_server.versions import scan

_PATIENCE_SECONDS = 60
"""The server looks for exports each second, and loading TensorFlow took 43 s on a busy machine."""

_POLL_SECONDS = 0.2

# Past a proxy that the environment names.
_THIS_MACHINE = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def until_served(call: Call) -> None:
    """Returns once the newest export answers, so that `predict` is more than an address when `up`
    ends; at once where nothing was exported or nothing serves it.

    No gate: an export that does not load, or a server that is not there in a minute, is told, and
    the job has succeeded all the same.
    """
    server = call.inputs.get("server")
    newest = _newest_export(call.inputs)
    if server is None or newest is None:
        return
    limit = time.monotonic() + _PATIENCE_SECONDS
    while not call.cancelled():
        state, message = _version_state(call.inputs, server, newest)
        if state == "AVAILABLE":
            return
        if message or time.monotonic() > limit:
            why = message or f"no answer from {server} in {_PATIENCE_SECONDS} s"
            call.announce(f"version {newest} of the model is exported and not served yet: {why}")
            return
        call.report(f"{server} loads version {newest}")
        time.sleep(_POLL_SECONDS)


def _newest_export(inputs: Properties) -> int | None:
    try:
        versions = scan(place.job_directory(inputs) / "export")
    except OSError:
        return None
    return versions[0].number if versions else None


def _version_state(inputs: Properties, server: str, version: int) -> tuple[str, str]:
    """The state of `version` as TensorFlow Serving's status API names it, and what is wrong with
    it; both empty while the server says nothing of it."""
    port = port_of(place.service_state(inputs, server))
    url = f"http://127.0.0.1:{port}/v1/models/{quote(inputs['name'])}"
    try:
        with _THIS_MACHINE.open(url, timeout=5) as reply:
            answer: dict[str, Any] = json.load(reply)
    except (OSError, HTTPException, ValueError):
        return "", ""
    for found in answer.get("model_version_status", []):
        if found.get("version") == str(version):
            return str(found["state"]), str(found["status"]["error_message"])
    return "", ""
