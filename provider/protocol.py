"""The generated protocol classes of the Pulumi SDK, under short names."""

from pulumi.runtime.proto import engine_pb2 as engine
from pulumi.runtime.proto import engine_pb2_grpc as engine_services
from pulumi.runtime.proto import plugin_pb2 as plugin
from pulumi.runtime.proto import provider_pb2 as provider
from pulumi.runtime.proto import provider_pb2_grpc as services
from pulumi.runtime.proto import status_pb2 as status

__all__ = ["engine", "engine_services", "plugin", "provider", "services", "status"]
