"""A SavedModel directory as something that can be called. The only module that uses TensorFlow."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workloads.model_server.tensors import ApiError, Array, TensorSpec
from workloads.model_server.versions import MODEL_FILES

DEFAULT_SIGNATURE = "serving_default"

#: TensorFlow's error codes to HTTP status, as TensorFlow Serving maps them.
HTTP_STATUS = {1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400}
HTTP_STATUS |= {12: 501, 14: 503, 16: 401}

#: Names of the codes a failed load is reported with; any other is UNKNOWN.
CODE_NAMES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED"}
CODE_NAMES |= {9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED"}
CODE_NAMES |= {13: "INTERNAL", 15: "DATA_LOSS"}


class ModelBroken(Exception):
    """A version that cannot be loaded: ``code`` is the status code name reported for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Signature:
    """One signature: what goes in, its method name, and the function itself."""

    inputs: Mapping[str, TensorSpec]
    method_name: str
    run: Callable[[Mapping[str, Array]], dict[str, Array]]


@dataclass(frozen=True)
class ServedModel:
    """A loaded version. ``definitions`` is its signature_def as TensorFlow Serving prints it.

    ``module`` owns the variables: a signature alone does not keep them.
    """

    name: str
    version: int
    signatures: Mapping[str, Signature]
    definitions: Mapping[str, Any]
    module: object


def prepare() -> None:
    """Import TensorFlow (2 s on an idle machine, many times that on a busy one).

    Raises ImportError when it is not installed or does not start.
    """
    # The C++ runtime reads this once, when it is first imported.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        importlib.import_module("tensorflow")
    except ImportError:
        raise
    except Exception as error:
        # A build for another processor or another numpy fails with errors of its own.
        raise ImportError(f"{type(error).__name__}: {error}") from error


def load(path: Path, name: str, version: int) -> ServedModel:
    """Load the SavedModel at ``path``.

    Raises ModelBroken when the directory holds no SavedModel TensorFlow can load.
    """
    tf: Any = importlib.import_module("tensorflow")
    try:
        graph = _serving_graph(path)
        module = tf.saved_model.load(str(path), tags=["serve"])
        signatures = {
            name: _signature(tf, graph.signature_def[name], function)
            for name, function in module.signatures.items()
            if name in graph.signature_def
        }
        return ServedModel(name, version, signatures, _definitions(graph), module)
    except ModelBroken:
        raise
    except tf.errors.OpError as error:
        code = CODE_NAMES.get(error.error_code, "UNKNOWN")
        raise ModelBroken(code, _reason(error.message)) from error
    except Exception as error:
        # TensorFlow raises whatever its reader met: KeyError, ValueError, OSError, DecodeError…
        raise ModelBroken("UNKNOWN", _reason(f"{type(error).__name__}: {error}")) from error


def warm_up(model: ServedModel) -> str:
    """Run the default signature once on zeros, so that no user's request pays for the first run.

    Returns why that did not go well, "" when it did. The model is good either way: zeros may be
    no valid input of it, or an input of its size may not fit into memory beside other programs.
    """
    signature = model.signatures.get(DEFAULT_SIGNATURE)
    if signature is None or any(spec.shape is None for spec in signature.inputs.values()):
        return ""
    try:
        signature.run({name: _zeros(spec) for name, spec in signature.inputs.items()})
    except ApiError as error:
        return error.message
    except Exception as error:
        return _reason(f"{type(error).__name__}: {error}")
    return ""


def _serving_graph(path: Path) -> Any:
    proto = importlib.import_module("tensorflow.core.protobuf.saved_model_pb2").SavedModel()
    binary, text = (path / name for name in MODEL_FILES)
    if not binary.exists() and text.exists():
        text_format: Any = importlib.import_module("google.protobuf.text_format")
        text_format.Parse(text.read_text(encoding="utf-8"), proto)
    else:
        proto.ParseFromString(binary.read_bytes())
    for graph in proto.meta_graphs:
        if "serve" in graph.meta_info_def.tags:
            return graph
    raise ModelBroken("NOT_FOUND", f"Could not find meta graph def matching {{ serve }} in {path}")


def _signature(tf: Any, definition: Any, function: Any) -> Signature:
    inputs = {name: _spec(tf, info) for name, info in definition.inputs.items()}

    def run(arrays: Mapping[str, Array]) -> dict[str, Array]:
        try:
            tensors = {
                name: tf.constant(array, dtype=inputs[name].dtype) for name, array in arrays.items()
            }
            return {name: np.asarray(value) for name, value in function(**tensors).items()}
        except tf.errors.OpError as error:
            status = HTTP_STATUS.get(error.error_code, 500)
            raise ApiError(status, _reason(error.message)) from None

    return Signature(inputs, definition.method_name, run)


def _spec(tf: Any, info: Any) -> TensorSpec:
    dtype = tf.dtypes.as_dtype(info.dtype)
    shape: tuple[int | None, ...] | None = None
    if not info.tensor_shape.unknown_rank:
        sizes = [dim.size for dim in info.tensor_shape.dim]
        shape = tuple(None if size < 0 else size for size in sizes)
    return TensorSpec(dtype.name, None if dtype == tf.string else dtype.as_numpy_dtype, shape)


def _definitions(graph: Any) -> dict[str, Any]:
    json_format: Any = importlib.import_module("google.protobuf.json_format")
    return {
        name: json_format.MessageToDict(
            definition,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
        )
        for name, definition in sorted(graph.signature_def.items())
    }


def _zeros(spec: TensorSpec) -> Array:
    """A batch of one: free dimensions have the size 1."""
    shape = tuple(1 if size is None else size for size in spec.shape or ())
    filler: Any = b"" if spec.numpy_dtype is None else 0
    return np.full(shape, filler, dtype=spec.numpy_dtype or object)


def _reason(message: str) -> str:
    """The one line of TensorFlow's message that says what is wrong, without its stack trace."""
    lines = message.strip().splitlines() or ["no message"]
    for line in lines:
        indented = line.startswith((" ", "\t"))
        if line.strip().startswith("(0) ") or (line and not indented and not _is_frame(line)):
            return line.strip()
    return lines[0]


def _is_frame(line: str) -> bool:
    return line.startswith(
        ("Graph execution error", "Detected at node", "<stack traces", "[[", "2 root error")
    )
