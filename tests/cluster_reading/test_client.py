"""Requests to a server that answers, refuses, or is not there."""

import json
import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.client import Cluster, without_user
from cluster.connection import Connection
from cluster.errors import ClusterError, RefusedError, UnauthorisedError, UnreachableError
from cluster.reasons import unreachable
from tests.cluster_reading.api_server import ApiServer, Request, api_server, kubeconfig

PATH = "/api/v1/namespaces/training/pods"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with api_server(lambda request: (200, {"items": []})) as running:
        yield running


def opened(text: str) -> Cluster:
    return Connection(content=text).open()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_request_is_as_the_api_wants_it(server: ApiServer) -> None:
    cluster = opened(kubeconfig(server.url, {"token": "secret"}))
    assert cluster.get(PATH, labelSelector="a=b,c") == {"items": []}
    cluster.apply(PATH, {"kind": "Pod"}, "me")
    cluster.delete(PATH, {"propagationPolicy": "Foreground"})
    asked, applied, deleted = server.requests
    assert asked.path == f"{PATH}?labelSelector=a%3Db%2Cc"
    assert asked.headers["Authorization"] == "Bearer secret"
    assert applied.path == f"{PATH}?fieldManager=me&force=true"
    assert applied.headers["Content-Type"] == "application/apply-patch+yaml"
    assert (applied.method, applied.body) == ("PATCH", {"kind": "Pod"})
    assert (deleted.method, deleted.body) == ("DELETE", {"propagationPolicy": "Foreground"})


def test_a_refusal_has_the_servers_words() -> None:
    body = {"kind": "Status", "reason": "Forbidden", "message": "pods is forbidden"}
    with api_server(lambda _: (403, body)) as server:
        cluster = opened(kubeconfig(server.url))
        with pytest.raises(RefusedError) as error:
            cluster.get(PATH)
    assert str(error.value) == f"cluster dev ({server.url}): pods is forbidden"
    assert (error.value.status, error.value.reason) == (403, "Forbidden")
    assert not error.value.passing


def test_an_answer_that_is_not_an_api_servers_is_told() -> None:
    answers = {"/html": (200, "<html>"), "/gone": (502, "<html>bad gateway</html>")}
    with api_server(lambda request: answers[request.path]) as server:
        cluster = opened(kubeconfig(server.url))
        with pytest.raises(ClusterError, match="does not answer as a Kubernetes API server does"):
            cluster.get("/html")
        with pytest.raises(RefusedError, match="HTTP status 502") as error:
            cluster.get("/gone")
    assert error.value.passing


def test_a_token_that_expired_is_read_again(tmp_path: Path) -> None:
    def answer(request: Request) -> tuple[int, Any]:
        fresh = request.headers.get("Authorization") == "Bearer new"
        return (200, {}) if fresh else (401, {"reason": "Unauthorized"})

    token = tmp_path / "token"
    token.write_text("old\n")
    with api_server(answer) as server:
        cluster = opened(kubeconfig(server.url, {"tokenFile": str(token)}))
        with pytest.raises(UnauthorisedError, match="does not accept the credentials"):
            cluster.get(PATH)
        token.write_text("new\n")
        assert cluster.get(PATH) == {}


def plugin(folder: Path, script: str) -> dict[str, Any]:
    program = folder / "login"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"command": str(program), "apiVersion": "client.authentication.k8s.io/v1"}}


def test_a_plugin_is_asked_for_a_token(server: ApiServer, tmp_path: Path) -> None:
    said = json.dumps({"kind": "ExecCredential", "status": {"token": "of the plugin"}})
    user = plugin(tmp_path, f"echo \"$KUBERNETES_EXEC_INFO\" > {tmp_path}/asked\necho '{said}'")
    user["exec"] |= {"provideClusterInfo": True, "env": [{"name": "A", "value": "b"}]}
    opened(kubeconfig(server.url, user)).get(PATH)
    assert server.requests[0].headers["Authorization"] == "Bearer of the plugin"
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked["spec"] == {"interactive": False, "cluster": {"server": server.url}}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first >&2; echo please log in >&2; exit 3", "exit code 3: please log in"),
        ("echo hello", "printed no credential"),
    ],
)
def test_a_plugin_that_fails_is_told(tmp_path: Path, script: str, reason: str) -> None:
    with pytest.raises(ClusterError) as error:
        opened(kubeconfig("http://127.0.0.1:1", plugin(tmp_path, script)))
    assert str(error.value).startswith("context dev: its exec plugin login ")
    assert str(error.value).endswith(reason)


def test_a_plugin_that_is_missing_is_told_with_its_hint() -> None:
    user = {"exec": {"command": "no-such-login", "installHint": "get it\nthere"}}
    with pytest.raises(ClusterError) as error:
        opened(kubeconfig("http://127.0.0.1:1", user))
    expected = "context dev: its exec plugin no-such-login is not installed: get it there"
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ({"auth-provider": {"name": "gcp"}}, "auth-provider gcp is no longer supported"),
        ({"client-certificate-data": "QQ=="}, "and one of them is missing"),
        ({"client-certificate": "/none", "client-key": "/none"}, "client-certificate /none of the"),
        ({"tokenFile": "/none"}, "tokenFile /none of the kubeconfig: No such file"),
    ],
)
def test_credentials_that_are_not_whole_are_told(user: dict[str, Any], reason: str) -> None:
    with pytest.raises(ClusterError, match=reason):
        opened(kubeconfig("https://127.0.0.1:1", user))


def test_a_password_and_another_name_are_sent(server: ApiServer) -> None:
    user = {"username": "me", "password": "secret", "as": "someone"}
    opened(kubeconfig(server.url, user)).get(PATH)
    headers = server.requests[0].headers
    assert headers["Authorization"] == "Basic bWU6c2VjcmV0"
    assert headers["Impersonate-User"] == "someone"


def why(url: str, **cluster: Any) -> str:
    with pytest.raises(UnreachableError) as error:
        opened(kubeconfig(url, **cluster)).get(PATH)
    return str(error.value)


def test_a_port_where_nothing_listens() -> None:
    url = f"https://127.0.0.1:{free_port()}"
    expected = f"cluster dev ({url}) cannot be reached: connection refused: nothing listens there"
    assert why(url) == expected


def test_a_host_that_is_unknown() -> None:
    assert why("https://no-such-host.invalid").endswith("its host name is unknown")


def test_a_server_that_does_not_speak_tls(server: ApiServer) -> None:
    url = server.url.replace("http:", "https:")
    assert "does not speak TLS" in why(url)


def test_a_server_that_hangs_up() -> None:
    def hang_up() -> None:
        listening.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=hang_up)
        thread.start()
        said = why(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()
    assert said.endswith(("it closed the connection", "connection reset by peer"))


def test_a_proxy_that_is_not_there_is_named() -> None:
    proxy = f"http://me:hunter2@127.0.0.1:{free_port()}"
    said = why("http://10.255.255.1", **{"proxy-url": proxy})
    assert said.startswith("cluster dev (http://10.255.255.1) cannot be reached through the proxy")
    assert "hunter2" not in said


def test_the_environments_proxy_is_not_for_this_machine(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert opened(kubeconfig(server.url)).get(PATH) == {"items": []}


def test_the_environments_proxy_is_asked_for_all_else(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    opened(kubeconfig("http://cluster.invalid")).get(PATH)
    assert server.requests[0].path == f"http://cluster.invalid{PATH}"
    monkeypatch.setenv("no_proxy", "cluster.invalid")
    assert why("http://cluster.invalid").endswith("its host name is unknown")


def test_a_certificate_that_is_not_trusted_is_told_with_its_reason() -> None:
    error = ssl.SSLCertVerificationError(
        1,
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in "
        "certificate chain (_ssl.c:1006)",
    )
    said = str(unreachable("cluster dev", None, error))
    assert said.endswith(
        "its TLS certificate is not trusted: self-signed certificate in certificate chain"
    )


@pytest.mark.parametrize(
    ("cluster", "user", "reason"),
    [
        ({"certificate-authority-data": "eA=="}, {}, "its certificate-authority is no PEM"),
        (
            {},
            {"client-certificate-data": "eA==", "client-key-data": "eA=="},
            "its client certificate and key do not belong together or are no PEM",
        ),
    ],
)
def test_what_is_no_certificate_is_told(
    cluster: dict[str, Any], user: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ClusterError) as error:
        opened(kubeconfig("https://127.0.0.1:1", user, **cluster))
    assert str(error.value) == f"context dev: {reason}"


def test_a_url_is_shown_without_what_may_be_a_password() -> None:
    assert without_user("https://me:secret@host:1/x") == "https://host:1/x"
    assert without_user("https://host:1") == "https://host:1"
