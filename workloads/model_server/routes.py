"""What each path answers, as TensorFlow Serving's REST API does; no sockets here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote

from workloads.model_server import api
from workloads.model_server.lifecycle import Lifecycle, VersionState
from workloads.model_server.loader import DEFAULT_SIGNATURE, ServedModel, Signature
from workloads.model_server.tensors import ApiError
from workloads.model_server.versions import version_number

_CHOICE = r"(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_PREDICTION = re.compile(
    rf"/v1/models/(?P<name>[^/:]+){_CHOICE}:(?P<method>classify|regress|predict)", re.IGNORECASE
)
_STATUS = re.compile(
    rf"/v1/models(?:/(?P<name>[^/:]+))?{_CHOICE}(?P<metadata>/metadata)?", re.IGNORECASE
)

Answer = dict[str, Any]


def get(target: str, lifecycle: Lifecycle) -> Answer:
    """The answer to a GET of a health, status or metadata path; ApiError 400 or 404 otherwise."""
    path, _, query = target.partition("?")
    if path == "/healthz":
        _refuse_others(query, lifecycle.name)
        return health(lifecycle)
    match = _STATUS.fullmatch(path)
    if match is None:
        raise unknown_path("GET", target)
    if match["name"] is None:
        raise ApiError(400, "Missing model name in request.")
    name = unquote(match["name"])
    version = _version(match)
    if match["metadata"]:
        return metadata(_model(lifecycle, name, version))
    return status(lifecycle, name, version)


def post(target: str, body: bytes, lifecycle: Lifecycle) -> Answer:
    """The answer to a POST of a predict path; ApiError with the real server's code otherwise."""
    match = _PREDICTION.fullmatch(target.partition("?")[0])
    if match is None:
        raise unknown_path("POST", target)
    name, method = unquote(match["name"]), match["method"].lower()
    version = _version(match)
    document = api.parse_object(body)
    chosen = api.signature_name(document) or DEFAULT_SIGNATURE
    if method != "predict":
        _refuse_examples(document, method, chosen, _model(lifecycle, name, version))
    return predict(document, chosen, _model(lifecycle, name, version))


def health(lifecycle: Lifecycle) -> Answer:
    """Always an answer: the process is up. ``version`` is null until one is served."""
    model = lifecycle.current()
    return {
        "model": lifecycle.name,
        "version": None if model is None else str(model.version),
        "state": lifecycle.summary(),
    }


def _refuse_others(query: str, name: str) -> None:
    """Raise ApiError 404 when ``query`` asks for another model's server: a check that finds any
    server on the port must not take it for the one it looks for."""
    for asked in parse_qs(query, keep_blank_values=True).get("model", []):
        if asked != name:
            raise ApiError(404, f"This is the server of model {name}, not of {asked[:200]}")


def status(lifecycle: Lifecycle, name: str, version: int | None) -> Answer:
    """GetModelStatusResponse as JSON, newest version first; ApiError 404 when nothing is known."""
    states = lifecycle.states() if name == lifecycle.name else {}
    if version is not None:
        if version not in states:
            raise ApiError(404, f"Could not find version {version} of model {name}")
        states = {version: states[version]}
    if not states:
        raise ApiError(404, f"Could not find any versions of model {name}")
    return {"model_version_status": [_state(number, state) for number, state in states.items()]}


def metadata(model: ServedModel) -> Answer:
    """GetModelMetadataResponse as JSON, nested as the real server nests it."""
    return {
        "model_spec": {
            "name": model.name,
            "signature_name": "",
            "version": str(model.version),
        },
        "metadata": {"signature_def": {"signature_def": model.definitions}},
    }


def predict(document: Mapping[str, Any], chosen: str, model: ServedModel) -> Answer:
    """Run one signature on the request's tensors and answer in the request's format."""
    signature = _signature(model, chosen)
    if api.is_row_format(document):
        arrays = api.tensors_from_rows(document["instances"], signature.inputs)
        return api.rows_from_tensors(signature.run(arrays))
    arrays = api.tensors_from_columns(document["inputs"], signature.inputs)
    return api.columns_from_tensors(signature.run(arrays))


def _signature(model: ServedModel, chosen: str) -> Signature:
    signature = model.signatures.get(chosen)
    if signature is None:
        raise ApiError(400, f'Serving signature name: "{chosen}" not found in signature def')
    if not signature.inputs:
        raise ApiError(400, f"Failed to get input map for signature: {chosen}")
    return signature


def _refuse_examples(
    document: Mapping[str, Any], method: str, chosen: str, model: ServedModel
) -> None:
    """Raise what a request for classify or regress gets; this server runs neither."""
    if "examples" not in document:
        raise ApiError(
            400, f"When method is {method}, key 'examples' is expected and was not found"
        )
    signature = model.signatures.get(chosen)
    if signature is None:
        raise ApiError(400, f"No signature was found with the name: {chosen}")
    kind = "classification" if method == "classify" else "regression"
    wanted = f"tensorflow/serving/{method}"
    if signature.method_name != wanted:
        raise ApiError(
            400,
            f"Expected {kind} signature method_name to be {wanted}. Was: {signature.method_name}",
        )
    raise ApiError(501, f"This server does not run {method}; use predict")


def _model(lifecycle: Lifecycle, name: str, version: int | None) -> ServedModel:
    model = lifecycle.current() if name == lifecycle.name else None
    if model is None or version not in (None, model.version):
        wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
        raise ApiError(404, f"Servable not found for request: {wanted}")
    return model


def _version(match: re.Match[str]) -> int | None:
    if match["label"] is not None:
        # Labels come from a model config file, which this server does not read.
        raise ApiError(400, f"Unrecognized servable version label: {unquote(match['label'])}")
    digits = match["version"]
    if digits is None:
        return None
    number = version_number(digits)
    if number is None:
        raise ApiError(400, f"Failed to convert version: {digits[:40]} to numeric.")
    return number


def _state(number: int, state: VersionState) -> Answer:
    return {
        "version": str(number),
        "state": state.state,
        "status": {"error_code": state.code, "error_message": state.message},
    }


def unknown_path(method: str, target: str) -> ApiError:
    """What a method and path get that are no part of the API."""
    path = target.partition("?")[0]
    if path.lower().startswith("/v1/"):
        return ApiError(400, f"Malformed request: {method} {path[:200]}")
    return ApiError(404, f"Not found: {path[:200]}")
