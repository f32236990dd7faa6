"""Which cluster a kubeconfig means."""

import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from cluster.connection import Connection
from cluster.errors import ClusterError
from cluster.kubeconfig import default_files

FILE = """\
apiVersion: v1
kind: Config
clusters:
  - {name: c1, cluster: {server: "https://one:6443/", certificate-authority: pki/ca.crt}}
  - {name: c2, cluster: {server: "https://two:6443"}}
users:
  - {name: u1, user: {client-certificate: a.crt, client-key: /abs/a.key, tokenFile: t}}
  - {name: u2, user: {exec: {command: ./bin/login, apiVersion: v1}}}
contexts:
  - {name: dev, context: {cluster: c1, user: u1}}
  - {name: prod, context: {cluster: c2, user: u2}}
  - {name: broken, context: {cluster: none, user: u1}}
  - {name: nobody, context: {cluster: c1, user: none}}
  - {name: anonymous, context: {cluster: c1}}
current-context: dev
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(FILE)
    return path


def refusal(connection: Connection) -> str:
    with pytest.raises(ClusterError) as error:
        connection.target()
    return str(error.value)


def test_a_file_alone_means_its_current_context(file: Path) -> None:
    target = Connection(str(file)).target()
    assert (target.context, target.server) == ("dev", "https://one:6443")


def test_a_context_of_a_file(file: Path) -> None:
    assert Connection(str(file), "prod").target().server == "https://two:6443"


def test_files_are_found_from_where_the_kubeconfig_lies(file: Path) -> None:
    target = Connection(str(file)).target()
    folder = file.parent
    assert target.cluster["certificate-authority"] == str(folder / "pki/ca.crt")
    assert target.user == {
        "client-certificate": str(folder / "a.crt"),
        "client-key": "/abs/a.key",
        "tokenFile": str(folder / "t"),
    }
    plugin = Connection(str(file), "prod").target().user["exec"]
    assert plugin["command"] == str(folder / "bin/login")


def test_a_user_that_is_not_named_is_anonymous(file: Path) -> None:
    assert Connection(str(file), "anonymous").target().user == {}


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ("pord", "has no context pord: it has anonymous, broken, dev, nobody, prod"),
        ("broken", "context broken names no cluster that has a server"),
        ("nobody", "context nobody names the user none, which it has not"),
    ],
)
def test_a_context_that_is_not_whole_is_refused(file: Path, context: str, reason: str) -> None:
    said = refusal(Connection(str(file), context))
    assert said.startswith(f"kubeconfig {file}")
    assert said.endswith(reason)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = refusal(Connection(str(tmp_path / "none")))
    assert said == f"kubeconfig {tmp_path / 'none'}: No such file or directory"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [\n  - token: hunter2", "is no YAML (line 2)"),
        ("hello", "is no kubeconfig: it has no clusters and no contexts"),
        ("clusters: 3", "is no kubeconfig: clusters is no list of named entries"),
        ("contexts: []", "has no current-context: name one of none"),
    ],
)
def test_what_is_no_kubeconfig_is_refused(file: Path, text: str, reason: str) -> None:
    file.write_text(text)
    said = refusal(Connection(str(file)))
    assert said == f"kubeconfig {file} {reason}"
    assert "hunter2" not in said


def test_the_text_of_a_kubeconfig_is_in_no_message() -> None:
    connection = Connection(content=FILE, context="hunter2" * 3)
    assert refusal(connection).startswith("the cluster's kubeconfig has no context")
    assert "server" not in repr(connection)


def test_nothing_is_asked_where_nothing_is_named() -> None:
    assert refusal(Connection()).startswith("no cluster is named")


def test_a_context_alone_is_looked_up_where_kubectl_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("contexts: []\nclusters: [{name: c2, cluster: {server: 'https://mine'}}]\n")
    second.write_text(FILE)
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{first}:{second}")
    # Of what both define, the first file's counts, as with kubectl.
    assert Connection(context="prod").target().server == "https://mine"
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_files() == [tmp_path / ".kube/config"]


def test_paths_are_of_the_project_or_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On record, as Pulumi's provider reads it, which does not heed HOME.
    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir="/home/me"))
    assert Connection.of({"kubeconfig": "k/c"}, tmp_path) == Connection(str(tmp_path / "k/c"))
    assert Connection.of({"kubeconfig": "~/c", "context": "x"}, tmp_path) == Connection(
        "/home/me/c", "x"
    )
    assert Connection.of({"content": "text"}, tmp_path) == Connection(content="text")
