"""The cluster's certificates, made by openssl: an authority and what it signs."""

import json
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.cluster.place import DOMAIN, NODE, Place
from toolchain.cluster.programs import environment, program
from toolchain.report import Stop

_DAYS = "30"


@dataclass(frozen=True)
class Identity:
    """Who a client is to the API server: a user, and the groups the user is in."""

    name: str
    groups: tuple[str, ...] = ()


CLIENTS = {
    "admin": Identity("test-admin", ("system:masters",)),
    "kube-controller-manager": Identity("system:kube-controller-manager"),
    "kube-scheduler": Identity("system:kube-scheduler"),
    "kube-proxy": Identity("system:kube-proxy"),
    "kubelet": Identity(f"system:node:{NODE}", ("system:nodes",)),
}


def make_certificates(place: Place) -> None:
    """Afterwards the authority (ca), the servers' certificate (serving), the key of service
    accounts, and the clients' kubeconfigs lie in the state folder."""
    folder = _folder(place)
    folder.mkdir(mode=0o700)
    _openssl("req", "-x509", *_new_key(folder, "ca"), "-subj", "/CN=ack-training-test", *_CA)
    first_service = str(place.services[1])
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", NODE]
    names.append(f"kubernetes.default.svc.{DOMAIN}")
    addresses = ["127.0.0.1", str(place.node_address), first_service]
    alternatives = [f"DNS:{name}" for name in names] + [f"IP:{one}" for one in addresses]
    _sign(folder, "serving", "/CN=kube-apiserver", [f"subjectAltName={','.join(alternatives)}"])
    # Of the form that Kubernetes also takes the public key from.
    curve = ("-name", "prime256v1", "-genkey", "-noout")
    _openssl("ecparam", *curve, "-out", str(folder / "accounts.key"))
    for client, identity in CLIENTS.items():
        write_kubeconfig(place, client, identity)


def write_kubeconfig(place: Place, client: str, identity: Identity) -> Path:
    """A kubeconfig, complete in itself, with which one is `identity` in the cluster."""
    folder = _folder(place)
    parts = [f"/O={group}" for group in identity.groups] + [f"/CN={identity.name}"]
    _sign(folder, client, "".join(parts), [])
    file = place.state / f"{client}.kubeconfig"
    config = kubeconfig(
        place.server,
        *((folder / name).read_bytes() for name in ("ca.crt", f"{client}.crt", f"{client}.key")),
    )
    # Whoever reads it is that user.
    file.touch(mode=0o600)
    file.write_text(json.dumps(config, indent=2), encoding="utf-8")
    return file


def kubeconfig(server: str, authority: bytes, certificate: bytes, key: bytes) -> dict[str, object]:
    name = "ack-training-test"
    cluster = {"server": server, "certificate-authority-data": b64encode(authority).decode()}
    user = {
        "client-certificate-data": b64encode(certificate).decode(),
        "client-key-data": b64encode(key).decode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


_CA = (
    *("-addext", "basicConstraints=critical,CA:TRUE"),
    *("-addext", "keyUsage=critical,keyCertSign,cRLSign", "-days", _DAYS),
)


def _folder(place: Place) -> Path:
    return place.state / "certificates"


def _new_key(folder: Path, name: str) -> list[str]:
    options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    return [*options, "-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]


def _sign(folder: Path, name: str, subject: str, extensions: Sequence[str]) -> None:
    """Makes a key and a certificate of the authority's for it, fit for client and server."""
    authority = ["-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key")]
    always = ["basicConstraints=critical,CA:FALSE", "extendedKeyUsage=clientAuth,serverAuth"]
    added = [part for extension in [*always, *extensions] for part in ("-addext", extension)]
    new = _new_key(folder, name)
    _openssl("req", "-x509", *new, *authority, "-subj", subject, *added, "-days", _DAYS)


def _openssl(*arguments: str) -> None:
    ran = subprocess.run(
        [program("openssl"), *arguments],
        env={**environment(), "OPENSSL_CONF": "/dev/null"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Stop(f"openssl could not make the cluster's certificates: {ran.stderr.strip()}")
