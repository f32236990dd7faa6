"""Whether a stack's connection still leads to the stack's cluster, and what is done when not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from provider.cluster import opened as opened_module
from provider.cluster.connection import Connection
from provider.cluster.destroy_guard import DestroyGuard
from provider.cluster.pin import refuse_unpinned
from provider.kinds import Call, ProviderError
from tests.cluster_reading.api_server import Request, api_server, kubeconfig


class Context:
    """A context that leads to the cluster that a test says, as its kubeconfig does."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.settings = {"kubeconfig": str(file), "context": "dev"}

    def leads_to(self, url: str) -> None:
        self.file.write_text(kubeconfig(url))
        # A command of its own, in which nothing is open yet.
        opened_module._open.cache_clear()

    def call(self, link: dict[str, Any] | None, **more: Any) -> Call:
        inputs = {"connection": self.settings, "namespace": "training", **more}
        return Call(inputs=inputs, old_inputs=inputs, outputs={"link": link} if link else {})


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.delenv("PULUMI_K8S_DELETE_UNREACHABLE", raising=False)
    return Context(tmp_path / "kubeconfig")


class Clusters:
    """API servers by the uid of their kube-system; None where the user may not read it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.asked = 0

    def make(self, uid: str | None) -> str:
        def answer(request: Request) -> tuple[int, Any]:
            if request.path.endswith("/kube-system"):
                self.asked += 1
                return (200, {"metadata": {"uid": uid}}) if uid else (403, {"reason": "Forbidden"})
            return 201, {"status": {}}

        return self._stack.enter_context(api_server(answer)).url


@pytest.fixture
def clusters() -> Iterator[Clusters]:
    with ExitStack() as stack:
        yield Clusters(stack)


def link(context: Context, server: str, uid: str | None) -> dict[str, Any]:
    found = {"connection": context.settings, "server": server, "uid": uid}
    return {key: value for key, value in found.items() if value}


def test_what_is_recorded(context: Context, clusters: Clusters) -> None:
    url = clusters.make("one")
    context.leads_to(url)
    recorded = {"link": link(context, url, "one")}
    assert DestroyGuard().create(context.call(None)) == recorded
    assert Connection().create(context.call(None)) == {
        "formerly": [],
        "identity": "one",
        **recorded,
    }
    # A state from before there was such a record gets it by the next `up`.
    assert Connection().compare(context.call(None)).drift == ("link",)
    assert not Connection().compare(context.call(recorded["link"]))
    assert not DestroyGuard().compare(context.call(recorded["link"]))


def test_a_preview_asks_once_which_cluster_it_is(context: Context, clusters: Clusters) -> None:
    url = clusters.make("one")
    context.leads_to(url)
    call = context.call(link(context, url, "one"))
    refuse_unpinned({**call.inputs, **call.outputs})
    assert Connection().remembered(call)["identity"] == "one"
    assert not Connection().compare(call)
    assert not DestroyGuard().compare(call)
    assert clusters.asked == 1


def test_another_cluster_is_refused_everywhere(context: Context, clusters: Clusters) -> None:
    ours, other = clusters.make("one"), clusters.make("two")
    context.leads_to(other)
    call = context.call(link(context, ours, "one"))
    told = f"context dev is another cluster ({other}) than the stack's ({ours}): "
    for refused in (
        Connection().compare,
        Connection().read,
        DestroyGuard().delete,
        lambda call: refuse_unpinned({**call.inputs, **call.outputs}),
    ):
        with pytest.raises(ProviderError) as error:
            refused(call)
        assert told in str(error.value)
        assert "DELETE_UNREACHABLE" not in str(error.value)


def test_also_by_who_says_that_the_stacks_cluster_is_gone(
    context: Context, clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    ours, other = clusters.make("one"), clusters.make("two")
    context.leads_to(other)
    with pytest.raises(ProviderError, match="is another cluster"):
        DestroyGuard().delete(context.call(link(context, ours, "one")))


@pytest.mark.parametrize("uid", ["one", None])
def test_a_cluster_that_moved_is_the_same(
    context: Context, clusters: Clusters, uid: str | None
) -> None:
    new = clusters.make(uid)
    context.leads_to(new)
    call = context.call(link(context, "https://old", "one"))
    refuse_unpinned({**call.inputs, **call.outputs})
    DestroyGuard().delete(call)
    assert Connection().compare(call).drift == ("link",)


def identity(call: Call) -> Any:
    return Connection().remembered(call).get("identity")


def test_a_cluster_has_one_identity_wherever_it_is_reached(
    context: Context, clusters: Clusters
) -> None:
    context.leads_to(clusters.make("one"))
    call = context.call(None)
    assert identity(call) == "one"
    known = {**call.inputs, "identity": "one"}
    context.leads_to(clusters.make("one"))
    assert identity(Call(inputs=call.inputs, old_inputs=known)) == "one"
    # Who may not see it, or cannot ask, has what is known of these settings.
    context.leads_to(clusters.make(None))
    assert identity(Call(inputs=call.inputs, old_inputs=known)) == "one"
    context.leads_to("http://127.0.0.1:1")
    assert identity(Call(inputs=call.inputs, old_inputs=known)) == "one"
    # What a Check has found holds for what follows.
    assert identity(Call(inputs=known, old_inputs={})) == "one"


def test_other_settings_may_lead_to_another_cluster(context: Context, clusters: Clusters) -> None:
    before = {"connection": {"context": "before"}, "identity": "one"}
    for uid in ("two", None):
        url = clusters.make(uid)
        context.leads_to(url)
        call = context.call(None)
        assert identity(Call(inputs=call.inputs, old_inputs=before)) == (uid or url)


def test_a_cluster_that_is_yet_to_be_made_has_no_identity(context: Context) -> None:
    unknown = {"content": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}
    assert identity(Call(inputs={"connection": unknown}, old_inputs={})) is None


def test_who_may_see_less_forgets_nothing(context: Context, clusters: Clusters) -> None:
    url = clusters.make(None)
    context.leads_to(url)
    call = context.call(link(context, url, "one"))
    assert not Connection().compare(call)
    assert DestroyGuard().read(call) == call.outputs


def test_a_cluster_that_was_made_again(context: Context, clusters: Clusters) -> None:
    url = clusters.make("two")
    context.leads_to(url)
    call = context.call(link(context, url, "one"))
    for refused in (Connection().compare, DestroyGuard().delete):
        with pytest.raises(ProviderError) as error:
            refused(call)
        assert "was made again since the stack was: `pulumi refresh` forgets what the old" in str(
            error.value
        )
    # A refresh may go on, and records the new one.
    refuse_unpinned({**call.inputs, **call.outputs})
    new = {"link": link(context, url, "two")}
    assert Connection().read(call) == new
    assert DestroyGuard().read(call) == new


def test_another_context_named_on_purpose_is_none_of_this(
    context: Context, clusters: Clusters
) -> None:
    context.leads_to(clusters.make("two"))
    old = {**link(context, "https://old", "one"), "connection": {"context": "before"}}
    call = context.call(old)
    assert Connection().compare(call).drift == ("link",)
    assert DestroyGuard().compare(call).drift == ("link",)
    refuse_unpinned({**call.inputs, **call.outputs})


def test_a_refresh_of_a_cluster_that_is_away(context: Context) -> None:
    context.leads_to("http://127.0.0.1:1")
    call = context.call(link(context, "http://127.0.0.1:1", "one"))
    with pytest.raises(ProviderError) as error:
        Connection().read(call)
    assert str(error.value).endswith("nothing listens there; nothing of the stack was forgotten")
    with pytest.raises(ProviderError) as error:
        refuse_unpinned({**call.inputs, **call.outputs})
    assert str(error.value).startswith(
        "\nNothing was deleted or forgotten: cluster dev (http://127"
    )
    assert "If the cluster is gone for good" in str(error.value)
    with pytest.raises(ProviderError, match="gone for good"):
        DestroyGuard().delete(call)


def test_a_context_that_is_missing_is_no_cluster_that_is_gone(context: Context) -> None:
    known = json.loads(kubeconfig("https://a"))
    context.file.write_text(json.dumps({**known, "contexts": []}))
    opened_module._open.cache_clear()
    call = context.call(link(context, "https://a", "one"))
    for refused in (
        Connection().read,
        DestroyGuard().delete,
        lambda call: refuse_unpinned({**call.inputs, **call.outputs}),
    ):
        with pytest.raises(ProviderError) as error:
            refused(call)
        assert "has no context dev: it has none" in str(error.value)
        assert "gone for good" not in str(error.value)
