"""The plugin protocol: translates the engine's gRPC requests into calls of a resource kind."""

import contextlib
import re
import threading
from collections.abc import Iterator
from concurrent import futures
from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2, empty_pb2, json_format, struct_pb2

from provider.kinds import Call, Change, Kind, NotReady, Properties, ProviderError, Remembering
from provider.protocol import engine, engine_services, plugin, provider, services, status
from provider.registry import kind_of
from supervisor.client import SupervisorError

_WORKERS = 256
"""Jobs are waited for side by side; each holds one thread of the server while it trains. More than
the engine asks for at once, so that its Cancel always finds one."""

_SENTENCES = (ProviderError, SupervisorError)
"""Errors whose text is meant for the user."""


def serve(engine_address: str | None) -> None:
    """Serves until the engine ends this process. Prints the port on the first line of stdout."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=_WORKERS))
    services.add_ResourceProviderServicer_to_server(Provider(engine_address), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


class Provider(services.ResourceProviderServicer):
    """Answers the engine. Secrets arrive unwrapped and are never put into outputs."""

    def __init__(self, engine_address: str | None) -> None:
        self._cancelled = threading.Event()
        self._log: engine_services.EngineStub | None = None
        if engine_address:
            self._log = engine_services.EngineStub(grpc.insecure_channel(engine_address))

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider.ProviderHandshakeResponse()

    def Attach(self, request: Any, context: Any) -> Any:
        self._log = engine_services.EngineStub(grpc.insecure_channel(request.address))
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin.PluginInfo(version="1.0.0")

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider.GetSchemaResponse(schema='{"name": "acktraining", "version": "1.0.0"}')

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return provider.DiffResponse(changes=provider.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:
        return provider.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Cancel(self, request: Any, context: Any) -> Any:
        self._cancelled.set()
        return empty_pb2.Empty()

    def Check(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request, inputs=_properties(request.news), old_inputs=_properties(request.olds)
        )
        with _told(context, request):
            refusals = kind.refusals(call)
        return provider.CheckResponse(
            inputs=_with(request.news, _remembered(kind, call)),
            failures=[provider.CheckFailure(reason=reason) for reason in refusals],
        )

    def Diff(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request,
            inputs=_properties(request.news),
            old_inputs=_properties(request.old_inputs),
            outputs=_properties(request.olds),
        )
        with _told(context, request):
            change = kind.compare(call)
        for note in change.notes:
            call.announce(note)
        return _difference(change)

    def Create(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(request, inputs=_properties(request.properties))
        identity = kind.identify(call.inputs)
        if request.preview:
            remembered = _remembered(kind, call)
            known = _struct(remembered) if remembered else None
            return provider.CreateResponse(id=identity, properties=known)
        with _told(context, request, identity):
            outputs = kind.create(call)
        return provider.CreateResponse(id=identity, properties=_struct(outputs))

    def Read(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request, inputs=_properties(request.inputs), outputs=_properties(request.properties)
        )
        with _told(context, request):
            outputs = kind.read(call)
        if outputs is None:
            return provider.ReadResponse()
        return provider.ReadResponse(
            id=request.id, properties=_struct(outputs), inputs=request.inputs
        )

    def Update(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request,
            inputs=_properties(request.news),
            old_inputs=_properties(request.old_inputs),
            outputs=_properties(request.olds),
        )
        if request.preview:
            known = _with(request.olds, _remembered(kind, call))
            return provider.UpdateResponse(properties=known)
        with _told(context, request):
            outputs = kind.update(call)
        return provider.UpdateResponse(properties=_struct(outputs))

    def Delete(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request, inputs=_properties(request.old_inputs), outputs=_properties(request.properties)
        )
        with _told(context, request):
            kind.delete(call)
        return empty_pb2.Empty()

    def _kind(self, request: Any, context: Any) -> Kind:
        token = request.urn.split("::")[2].split("$")[-1]
        kind = kind_of(token)
        if kind is None:
            _refuse(context, f"this version of ack-training has no resource type {token}")
        return kind

    def _call(self, request: Any, **properties: Properties) -> Call:
        shown: list[str] = []

        def log(message: str, *, ephemeral: bool) -> None:
            # Where there is no terminal, each line is printed: the same one only once.
            if self._log is None or shown[-1:] == [message]:
                return
            shown.append(message)
            # A line that cannot be shown must not fail the operation that it tells of.
            with contextlib.suppress(grpc.RpcError):
                self._log.Log(
                    engine.LogRequest(
                        severity=engine.INFO,
                        message=message,
                        urn=request.urn,
                        ephemeral=ephemeral,
                    )
                )

        return Call(
            **properties,
            report=lambda message: log(message, ephemeral=True),
            announce=lambda message: log(message, ephemeral=False),
            cancelled=self._cancelled.is_set,
        )


def _remembered(kind: Kind, call: Call) -> Properties:
    return kind.remembered(call) if isinstance(kind, Remembering) else {}


def _with(given: struct_pb2.Struct, more: Properties) -> struct_pb2.Struct:
    """`given` and `more`, of which the former is passed on as it came."""
    found = struct_pb2.Struct()
    found.CopyFrom(given)
    found.MergeFrom(_struct(more))
    return found


def _difference(change: Change) -> Any:
    detailed = {}
    update, replace = provider.PropertyDiff.UPDATE, provider.PropertyDiff.UPDATE_REPLACE
    for path in change.updates:
        detailed[path] = provider.PropertyDiff(kind=update, inputDiff=True)
    for path in change.drift:
        detailed[path] = provider.PropertyDiff(kind=update)
    for path in change.replaces:
        detailed[path] = provider.PropertyDiff(kind=replace, inputDiff=True)
    some, none = provider.DiffResponse.DIFF_SOME, provider.DiffResponse.DIFF_NONE
    return provider.DiffResponse(
        changes=some if change else none,
        replaces=list(change.replaces),
        diffs=sorted({re.split(r"[.\[]", path)[0] for path in detailed}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
        # One name, one directory, one set of ports: the old one must be gone first.
        deleteBeforeReplace=True,
    )


@contextlib.contextmanager
def _told(context: Any, request: Any, identity: str = "") -> Iterator[None]:
    """Turns what a kind raises into what the engine shows: one sentence, never a traceback."""
    try:
        yield
    except _SENTENCES as error:
        _refuse(context, str(error))
    except OSError as error:
        _refuse(context, f"{error.filename or 'this machine'}: {error.strerror or error}")
    except NotReady as error:
        inputs = getattr(request, "inputs", None)
        _not_ready(context, identity or request.id, error, inputs)


def _refuse(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort raises")


def _not_ready(context: Any, identity: str, error: NotReady, inputs: Any) -> NoReturn:
    """Tells the engine to keep the resource and to fail: pulumirpc.ErrorResourceInitFailed.
    `inputs` are those of a read; of any other operation the engine knows them."""
    detail = any_pb2.Any()
    detail.Pack(
        provider.ErrorResourceInitFailed(
            id=identity, properties=_struct(error.outputs), reasons=error.reasons, inputs=inputs
        )
    )
    code = grpc.StatusCode.UNKNOWN
    rich = status.Status(code=code.value[0], message=error.reasons[0], details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", rich.SerializeToString()),))
    context.abort(code, error.reasons[0])
    raise AssertionError("abort raises")


def _properties(message: struct_pb2.Struct) -> Properties:
    properties: Properties = _whole_numbers(json_format.MessageToDict(message))
    return properties


def _whole_numbers(value: Any) -> Any:
    """A protobuf number is a double; our properties count replicas and seconds."""
    if isinstance(value, dict):
        return {key: _whole_numbers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _struct(properties: Properties) -> struct_pb2.Struct:
    return json_format.ParseDict(dict(properties), struct_pb2.Struct())
