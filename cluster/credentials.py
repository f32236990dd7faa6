"""How a user of a kubeconfig proves who he is: a token, a certificate, or a program that knows."""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.errors import ClusterError
from cluster.kubeconfig import Target

_PLUGIN_SECONDS = 60
"""A login that waits for a person would wait for ever: here is no terminal to ask on."""


@dataclass(frozen=True)
class Credentials:
    """Request headers, and PEM texts of a client certificate. Never shown."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)


def credentials(target: Target) -> Credentials:
    """Those of the target's user, read and asked for anew; ClusterError where they are not to be
    had. A user without any is anonymous."""
    user = target.user
    headers = _impersonation(user)
    certificate = content(user, "client-certificate")
    key = content(user, "client-key")
    token = _token(user)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    elif user.get("exec"):
        answer = _ask_plugin(target)
        if answer.get("token"):
            headers["Authorization"] = f"Bearer {answer['token']}"
        if answer.get("clientCertificateData") and answer.get("clientKeyData"):
            certificate = str(answer["clientCertificateData"]).encode()
            key = str(answer["clientKeyData"]).encode()
    elif user.get("username") and user.get("password") is not None:
        pair = f"{user['username']}:{user['password']}".encode()
        headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
    elif user.get("auth-provider"):
        kind = (user["auth-provider"] or {}).get("name")
        raise ClusterError(
            f"context {target.context}: auth-provider {kind} is no longer supported, by kubectl "
            "neither: use an exec plugin or a token"
        )
    if bool(certificate) != bool(key):
        raise ClusterError(
            f"context {target.context}: a client certificate and its key come together, and one "
            "of them is missing"
        )
    return Credentials(headers, certificate, key)


def content(section: Mapping[str, Any], name: str) -> bytes | None:
    """What `name` or `name`-data of a kubeconfig's section hold; None where it has neither."""
    encoded = section.get(f"{name}-data")
    if encoded:
        try:
            return base64.b64decode(str(encoded), validate=False)
        except binascii.Error:
            raise ClusterError(f"{name}-data of the kubeconfig is no base64") from None
    path = section.get(name)
    if not path:
        return None
    try:
        return Path(str(path)).read_bytes()
    except OSError as error:
        raise ClusterError(f"{name} {path} of the kubeconfig: {error.strerror}") from None


def _token(user: Mapping[str, Any]) -> str | None:
    # Like kubectl: the file, which may be renewed, comes before what was written down once.
    path = user.get("tokenFile")
    if path:
        try:
            return Path(str(path)).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ClusterError(f"tokenFile {path} of the kubeconfig: {error.strerror}") from None
    return str(user["token"]) if user.get("token") else None


def _impersonation(user: Mapping[str, Any]) -> dict[str, str]:
    return {"Impersonate-User": str(user["as"])} if user.get("as") else {}


def _ask_plugin(target: Target) -> Mapping[str, Any]:
    """The status of the ExecCredential that the user's plugin prints.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
    """
    plugin = target.user["exec"]
    command = str(plugin.get("command", ""))
    what = f"context {target.context}: its exec plugin {Path(command).name}"
    program = shutil.which(command)
    if program is None:
        hint = " ".join(str(plugin.get("installHint") or "").split())
        raise ClusterError(f"{what} is not installed{f': {hint}' if hint else ''}")
    environment = dict(os.environ)
    environment |= {str(e["name"]): str(e["value"]) for e in plugin.get("env") or []}
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(_question(target))
    try:
        done = subprocess.run(
            [program, *map(str, plugin.get("args") or [])],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PLUGIN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ClusterError(f"{what} gave no answer within {_PLUGIN_SECONDS} s") from None
    except OSError as error:
        raise ClusterError(f"{what} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = f": {lines[-1][:300]}" if lines else ""
        raise ClusterError(f"{what} failed with exit code {done.returncode}{said}")
    try:
        status = json.loads(done.stdout)["status"]
    except (ValueError, KeyError, TypeError):
        status = None
    if not isinstance(status, dict):
        raise ClusterError(f"{what} printed no credential")
    return status


def _question(target: Target) -> dict[str, Any]:
    plugin, cluster = target.user["exec"], target.cluster
    spec: dict[str, Any] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        kept = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url")
        spec["cluster"] = {key: cluster[key] for key in kept if key in cluster}
        authority = content(cluster, "certificate-authority")
        if authority:
            spec["cluster"]["certificate-authority-data"] = base64.b64encode(authority).decode()
        for extension in cluster.get("extensions") or []:
            if extension.get("name") == "client.authentication.k8s.io/exec":
                spec["cluster"]["config"] = extension.get("extension")
    return {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": spec}
