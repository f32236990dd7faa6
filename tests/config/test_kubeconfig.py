"""Which cluster the config names: never the one that the shell happens to point at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import config.kubeconfig as kubeconfig_module
from config import ConfigErrors, parse
from config.kubeconfig import Cluster, KubeconfigError, find_cluster
from config.kubernetes import Kubernetes
from config.stack import Stack


def settings(**given: str) -> Kubernetes:
    # Only the root is ever validated on its own.
    return Stack.model_validate({"kubernetes": given}).kubernetes


def kubeconfig(*contexts: str, current: str = "") -> str:
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "clusters": [{"name": f"c-{n}", "cluster": {"server": f"https://{n}"}} for n in contexts],
        "contexts": [{"name": n, "context": {"cluster": f"c-{n}", "user": "u"}} for n in contexts],
    }
    return yaml.safe_dump(document)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    # And on record, as Pulumi's provider reads it.
    monkeypatch.setattr(kubeconfig_module, "_known_home", lambda: tmp_path)
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text(kubeconfig("home", "work", current="work"))
    return tmp_path


def told(home: Path, environment: dict[str, str], **given: str) -> str:
    with pytest.raises(KubeconfigError) as caught:
        find_cluster(settings(**given), home, environment)
    fault = caught.value.fault
    return f"{'.'.join(map(str, fault.path))}: {fault.message}; {fault.advice}"


def test_a_context_of_the_default_file(home: Path) -> None:
    found = find_cluster(settings(context="home"), home, {})
    assert found == Cluster(None, "home", "https://home")


def test_a_context_of_the_files_of_KUBECONFIG(home: Path) -> None:
    (home / "a").write_text(kubeconfig("one"))
    (home / "b").write_text(kubeconfig("two", "three"))
    files = f"{home}/gone:{home}/a:{home}/b"
    found = find_cluster(settings(context="three"), home, {"KUBECONFIG": files})
    assert found == Cluster(None, "three", "https://three")


def test_the_files_of_KUBECONFIG_are_one(home: Path) -> None:
    """As kubectl and Pulumi's provider merge them: of two of a name the first counts, and a context
    may name what another file has, as may the current-context."""
    (home / "a").write_text(kubeconfig("one", current="two"))
    (home / "b").write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c-one", "cluster": {"server": "https://late"}}],
                "contexts": [
                    {"name": "one", "context": {"cluster": "c-gone"}},
                    {"name": "two", "context": {"cluster": "c-one"}},
                ],
            }
        )
    )
    both = {"KUBECONFIG": f"{home}/a:{home}/b"}
    for context in ("one", "two"):
        found = find_cluster(settings(context=context), home, both)
        assert found == Cluster(None, context, "https://one")


def test_a_home_that_only_HOME_knows(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulumi's provider would look for ~ elsewhere than the rest does."""
    monkeypatch.setattr(kubeconfig_module, "_known_home", lambda: Path("/root"))
    assert told(home, {}, kubeconfig="~/.kube/config", context="home") == (
        f"kubernetes.kubeconfig: ~ is '{home}' by HOME, and '/root' for Pulumi's provider; "
        "leave it out, and have KUBECONFIG name the file"
    )
    assert find_cluster(settings(context="home"), home, {}).server == "https://home"


def test_KUBECONFIG_does_not_reach_a_named_file(home: Path) -> None:
    (home / "a").write_text(kubeconfig("one"))
    (home / "b").write_text(kubeconfig("one"))
    found = find_cluster(settings(kubeconfig="a"), home, {"KUBECONFIG": f"{home}/b"})
    assert found == Cluster("a", "one", "https://one")


def test_the_current_context_never_decides(home: Path) -> None:
    assert told(home, {}, kubeconfig="~/.kube/config") == (
        "kubernetes.context: is missing: '~/.kube/config' has several; name one of home, work; "
    )


@pytest.mark.parametrize(
    ("given", "environment", "text"),
    [
        (
            {"context": "wrok"},
            {},
            "kubernetes.context: there is no context 'wrok' in KUBECONFIG or ~/.kube/config; "
            "did you mean work?",
        ),
        (
            {"context": "else"},
            {},
            "kubernetes.context: there is no context 'else' in KUBECONFIG or ~/.kube/config; "
            "there are home, work",
        ),
        (
            {"context": "home"},
            {"KUBECONFIG": "/nowhere"},
            "kubernetes.context: there is no context 'home' in KUBECONFIG or ~/.kube/config; "
            "there is none",
        ),
        ({"kubeconfig": "gone"}, {}, "kubernetes.kubeconfig: no such file: 'gone'; "),
        (
            {"kubeconfig": ".kube"},
            {},
            "kubernetes.kubeconfig: cannot read '.kube': Is a directory; ",
        ),
        (
            {"kubeconfig": "text"},
            {},
            "kubernetes.kubeconfig: 'text' is no kubeconfig: it has no contexts; ",
        ),
        (
            {"kubeconfig": "binary"},
            {},
            "kubernetes.kubeconfig: 'binary' is no kubeconfig: not YAML; ",
        ),
        (
            {"kubeconfig": "dangling", "context": "one"},
            {},
            "kubernetes.kubeconfig: 'dangling' has the current-context 'gone', which is not in it; "
            "set one with kubectl config use-context",
        ),
        (
            {"kubeconfig": "headless"},
            {},
            "kubernetes.context: context 'x' names no cluster with a server; ",
        ),
    ],
)
def test_what_names_no_cluster(
    home: Path, given: dict[str, str], environment: dict[str, str], text: str
) -> None:
    (home / "text").write_text("hello")
    (home / "binary").write_bytes(b"\xff\x00")
    (home / "dangling").write_text(kubeconfig("one", current="gone"))
    (home / "headless").write_text("contexts: [{name: x, context: {cluster: gone}}, 3]")
    assert told(home, environment, **given) == text


def test_it_is_told_with_the_rest_of_what_is_wrong(home: Path) -> None:
    mapping = {
        "target": "kubernetes",
        "kubernetes": {"context": "gone"},
        "storage": {"claim": "data"},
        "jobs": {"m": {"program": "absent.py", "worker": {}}},
    }
    with pytest.raises(ConfigErrors) as caught:
        parse(mapping, project_directory=home)
    assert [line.split(": ")[0] for line in caught.value.lines] == [
        "ack-training:jobs.m.program",
        "ack-training:kubernetes.context",
    ]
