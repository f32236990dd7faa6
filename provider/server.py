"""The plugin protocol: translates the engine's gRPC requests into calls of a resource kind."""

import contextlib
import threading
import traceback
from collections.abc import Iterator
from concurrent import futures
from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2, empty_pb2

from provider.compare import changed_paths
from provider.kinds import (
    Call,
    Change,
    Introduced,
    Kind,
    NotReady,
    Properties,
    ProviderError,
    Remembering,
)
from provider.protocol import engine, engine_services, plugin, provider, services, status
from provider.registry import kind_of
from provider.wire import completed, difference_of, properties_of, struct_of
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
        # Of what is the same the engine keeps the old outputs, and with them somebody's old paths.
        changed = changed_paths(properties_of(request.old_inputs), properties_of(request.news))
        return difference_of(Change(updates=tuple(changed)))

    def Configure(self, request: Any, context: Any) -> Any:
        given = properties_of(request.args)
        if "link" in given:
            # Only of a stack on a cluster, whose modules no other loads.
            from provider.cluster.pin import refuse_unpinned

            with self._told(context, request):
                refuse_unpinned(given)
        return provider.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Cancel(self, request: Any, context: Any) -> Any:
        self._cancelled.set()
        return empty_pb2.Empty()

    def Check(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request, inputs=properties_of(request.news), old_inputs=properties_of(request.olds)
        )
        with self._told(context, request):
            refusals = kind.refusals(call)
        return provider.CheckResponse(
            inputs=completed(request.news, _remembered(kind, call)),
            failures=[provider.CheckFailure(reason=reason) for reason in refusals],
        )

    def Diff(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request,
            inputs=properties_of(request.news),
            old_inputs=properties_of(request.old_inputs),
            outputs=properties_of(request.olds),
        )
        with self._told(context, request):
            change = kind.compare(call)
        for note in change.notes:
            call.announce(note)
        return difference_of(change)

    def Create(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(request, inputs=properties_of(request.properties))
        with self._told(context, request):
            identity = kind.identify(call.inputs)
            if request.preview:
                for sentence in kind.introduction(call) if isinstance(kind, Introduced) else ():
                    call.announce(sentence)
                remembered = _remembered(kind, call)
                known = struct_of(remembered) if remembered else None
                return provider.CreateResponse(id=identity, properties=known)
        with self._told(context, request, identity):
            outputs = struct_of(kind.create(call))
        return provider.CreateResponse(id=identity, properties=outputs)

    def Read(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request, inputs=properties_of(request.inputs), outputs=properties_of(request.properties)
        )
        with self._told(context, request):
            outputs = kind.read(call)
        if outputs is None:
            return provider.ReadResponse()
        return provider.ReadResponse(
            id=request.id, properties=struct_of(outputs), inputs=request.inputs
        )

    def Update(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request,
            inputs=properties_of(request.news),
            old_inputs=properties_of(request.old_inputs),
            outputs=properties_of(request.olds),
        )
        if request.preview:
            known = completed(request.olds, _remembered(kind, call))
            return provider.UpdateResponse(properties=known)
        with self._told(context, request):
            outputs = struct_of(kind.update(call))
        return provider.UpdateResponse(properties=outputs)

    def Delete(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        call = self._call(
            request,
            inputs=properties_of(request.old_inputs),
            outputs=properties_of(request.properties),
        )
        with self._told(context, request):
            kind.delete(call)
        return empty_pb2.Empty()

    @contextlib.contextmanager
    def _told(self, context: Any, request: Any, identity: str = "") -> Iterator[None]:
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
        except Exception as error:
            self._write(request.urn, traceback.format_exc(), engine.DEBUG, ephemeral=False)
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            _refuse(
                context,
                f"{_name(request.urn)}: this is a bug of ack-training: {what} "
                "(`pulumi preview --debug` shows where)",
            )

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
            if shown[-1:] != [message]:
                shown.append(message)
                self._write(request.urn, message, engine.INFO, ephemeral=ephemeral)

        return Call(
            **properties,
            # urn:pulumi:STACK::PROJECT::TYPE::NAME
            stack=request.urn.partition("::")[0].rpartition(":")[2],
            report=lambda message: log(message, ephemeral=True),
            announce=lambda message: log(message, ephemeral=False),
            cancelled=self._cancelled.is_set,
        )

    def _write(self, urn: str, message: str, severity: Any, *, ephemeral: bool) -> None:
        if self._log is None:
            return
        # A line that cannot be shown must not fail the operation that it tells of.
        with contextlib.suppress(grpc.RpcError):
            self._log.Log(
                engine.LogRequest(severity=severity, message=message, urn=urn, ephemeral=ephemeral)
            )


def _remembered(kind: Kind, call: Call) -> Properties:
    return kind.remembered(call) if isinstance(kind, Remembering) else {}


def _name(urn: str) -> str:
    """`TrainingRun m`, of the resource's type and name."""
    if not urn:
        return "ack-training's provider"
    kind, name = urn.split("::")[2:4]
    return f"{kind.rpartition(':')[2]} {name}"


def _refuse(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort raises")


def _not_ready(context: Any, identity: str, error: NotReady, inputs: Any) -> NoReturn:
    """Tells the engine to keep the resource and to fail: pulumirpc.ErrorResourceInitFailed.
    `inputs` are those of a read; of any other operation the engine knows them."""
    detail = any_pb2.Any()
    detail.Pack(
        provider.ErrorResourceInitFailed(
            id=identity, properties=struct_of(error.outputs), reasons=error.reasons, inputs=inputs
        )
    )
    code = grpc.StatusCode.UNKNOWN
    rich = status.Status(code=code.value[0], message=error.reasons[0], details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", rich.SerializeToString()),))
    context.abort(code, error.reasons[0])
    raise AssertionError("abort raises")
