"""What TensorFlow Serving's REST API promises of models, versions and paths, asked of a running
server.

Runs against the local server, and against tensorflow_model_server as well where it is on PATH.
"""

from __future__ import annotations

import http.client
import json

import pytest

from tests.workloads.model_server.harness import AT, MODEL, PATIENCE, Client, ask, image


def test_status_lists_the_served_version(server: Client) -> None:
    status, answer = server.get(AT)
    assert status == 200
    assert answer == {
        "model_version_status": [
            {
                "version": "1",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
    }
    assert server.get(f"{AT}/versions/1") == (200, answer)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/v1/models/other", "Could not find any versions of model other"),
        (f"{AT}/versions/5", f"Could not find version 5 of model {MODEL}"),
        # As of time.time_ns(): nineteen digits, and a version like any other.
        (
            f"{AT}/versions/1764496800000000000",
            f"Could not find version 1764496800000000000 of model {MODEL}",
        ),
        (
            f"{AT}/versions/{2**63 - 1}",
            f"Could not find version {2**63 - 1} of model {MODEL}",
        ),
    ],
)
def test_status_of_what_is_not_there(server: Client, path: str, sentence: str) -> None:
    assert server.get(path) == (404, {"error": sentence})


def test_metadata_holds_the_signatures(server: Client) -> None:
    status, answer = server.get(f"{AT}/metadata")
    assert status == 200
    assert answer["model_spec"] == {"name": MODEL, "signature_name": "", "version": "1"}
    default = answer["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert default["method_name"] == "tensorflow/serving/predict"
    images = default["inputs"]["images"]
    assert images["dtype"] == "DT_FLOAT"
    assert [size["size"] for size in images["tensor_shape"]["dim"]] == ["-1", "28", "28"]
    assert images["tensor_shape"]["unknown_rank"] is False
    assert default["outputs"]["classes"]["dtype"] == "DT_INT64"
    assert server.get(f"{AT}/versions/1/metadata") == (200, answer)


@pytest.mark.parametrize(
    ("path", "servable"),
    [
        ("/v1/models/other", "Latest(other)"),
        (f"{AT}/versions/5", f"Specific({MODEL}, 5)"),
    ],
)
def test_predict_of_what_is_not_there(server: Client, path: str, servable: str) -> None:
    expected = (404, {"error": f"Servable not found for request: {servable}"})
    assert server.predict({"instances": [image(0.0)]}, path) == expected
    assert server.get(f"{path}/metadata") == expected


def test_an_unknown_label_is_refused(server: Client) -> None:
    expected = (400, {"error": "Unrecognized servable version label: canary"})
    assert server.predict({"instances": [image(0.0)]}, f"{AT}/labels/canary") == expected


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/other"),
        ("GET", f"{AT}:predict"),
        ("POST", AT),
        ("POST", f"{AT}:explain"),
        ("PUT", AT),
        ("DELETE", f"{AT}/versions/1"),
        ("PATCH", AT),
    ],
)
def test_malformed_paths(server: Client, method: str, path: str) -> None:
    body = b"{}" if method in ("POST", "PUT", "PATCH") else None
    assert server.call(method, path, body) == (
        400,
        {"error": f"Malformed request: {method} {path}"},
    )


def test_an_answer_to_head_has_no_body(server: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("HEAD", AT)
    response = connection.getresponse()
    assert (response.status, response.read()) == (400, b"")
    # A body would be read as the next answer.
    connection.request("GET", AT)
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize("digits", [str(2**63), "9" * 5000])
def test_a_version_beyond_int64_is_no_version(server: Client, digits: str) -> None:
    status, answer = server.get(f"{AT}/versions/{digits}")
    assert status == 400
    assert answer["error"].startswith(f"Failed to convert version: {digits[:40]}")


def test_a_request_without_a_model_name(server: Client) -> None:
    assert server.get("/v1/models") == (400, {"error": "Missing model name in request."})


def test_one_connection_carries_many_requests(server: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.connect()
    first = connection.sock
    for value in range(5):
        body = json.dumps(ask("half_plus_two", instances=[float(value)])).encode()
        connection.request("POST", f"{AT}:predict", body)
        response = connection.getresponse()
        assert json.loads(response.read()) == {"predictions": [value / 2 + 2]}
        # An error must leave the connection usable as well.
        connection.request("POST", f"{AT}:predict", b"{")
        response = connection.getresponse()
        assert response.status == 400
        response.read()
    assert connection.sock is first
    connection.close()
