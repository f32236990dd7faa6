"""Whom TLS trusts, and who asks: from a kubeconfig."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from cluster.credentials import Credentials, content
from cluster.errors import ClusterError
from cluster.kubeconfig import Target


def tls_context(target: Target, who: Credentials) -> ssl.SSLContext:
    """ClusterError when what the kubeconfig holds is of no use."""
    # Not create_default_context: from Python 3.13 on it refuses certificate authorities that
    # kubectl accepts, such as those of older k3s and minikube.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if target.cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    authority = content(target.cluster, "certificate-authority")
    try:
        if authority:
            context.load_verify_locations(cadata=authority.decode())
        else:
            context.load_default_certs()
    except (ssl.SSLError, UnicodeDecodeError, ValueError):
        raise ClusterError(
            f"context {target.context}: its certificate-authority is no PEM"
        ) from None
    if who.certificate and who.key:
        _load(context, target, who.certificate, who.key)
    return context


def _load(context: ssl.SSLContext, target: Target, certificate: bytes, key: bytes) -> None:
    """The TLS library reads a key from a file only: from one that is this user's and gone again."""
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder, "pair.pem")
        pair.touch(mode=0o600)
        pair.write_bytes(certificate.rstrip() + b"\n" + key)
        try:
            context.load_cert_chain(pair)
        except (ssl.SSLError, ValueError):
            raise ClusterError(
                f"context {target.context}: its client certificate and key do not belong together "
                "or are no PEM"
            ) from None
