"""The generated protocol classes of the Pulumi SDK, under short names."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

_PACKAGE = "pulumi_protocol"


def _package() -> ModuleType:
    """The folder of the SDK's generated classes as a package of its own.

    To import them from where they are is to import the whole SDK first, which took three quarters
    of the time in which the provider starts; and each preview starts it.
    """
    sdk = find_spec("pulumi")
    if sdk is None or not sdk.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'pulumi'", name="pulumi")
    package = ModuleType(_PACKAGE)
    package.__path__ = [
        str(Path(folder, "runtime", "proto")) for folder in sdk.submodule_search_locations
    ]
    return package


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.{name}")


if TYPE_CHECKING:
    from pulumi.runtime.proto import engine_pb2 as engine
    from pulumi.runtime.proto import engine_pb2_grpc as engine_services
    from pulumi.runtime.proto import plugin_pb2 as plugin
    from pulumi.runtime.proto import provider_pb2 as provider
    from pulumi.runtime.proto import provider_pb2_grpc as services
    from pulumi.runtime.proto import status_pb2 as status
else:
    sys.modules[_PACKAGE] = _package()
    engine = _module("engine_pb2")
    engine_services = _module("engine_pb2_grpc")
    plugin = _module("plugin_pb2")
    provider = _module("provider_pb2")
    services = _module("provider_pb2_grpc")
    status = _module("status_pb2")

__all__ = ["engine", "engine_services", "plugin", "provider", "services", "status"]
