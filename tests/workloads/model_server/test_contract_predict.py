"""What TensorFlow Serving's REST API promises of predictions, asked of a running server.

Runs against the local server, and against tensorflow_model_server as well where it is on PATH.
"""

from __future__ import annotations

import base64
import http.client
import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.workloads.model_server.harness import AT, PATIENCE, Client, ask, image


def test_rows_with_several_outputs_are_objects(server: Client) -> None:
    status, answer = server.predict({"instances": [image(0.25), image(0.75)]})
    assert status == 200
    assert answer == {
        "predictions": [
            {"classes": 1, "probabilities": [0.25, 0.75]},
            {"classes": 0, "probabilities": [0.75, 0.25]},
        ]
    }


def test_a_row_may_name_its_only_input(server: Client) -> None:
    plain = server.predict({"instances": [image(0.25)]})
    assert server.predict({"instances": [{"images": image(0.25)}]}) == plain


def test_rows_with_one_output_are_a_plain_list(server: Client) -> None:
    request = ask("half_plus_two", instances=[1.0, 2, 5.0])
    assert server.predict(request) == (200, {"predictions": [2.5, 3.0, 4.5]})
    assert server.predict(request, f"{AT}/versions/1") == (200, {"predictions": [2.5, 3.0, 4.5]})


def test_columns_with_several_outputs_are_an_object(server: Client) -> None:
    for inputs in ([image(0.25)], {"images": [image(0.25)]}):
        assert server.predict({"inputs": inputs}) == (
            200,
            {"outputs": {"classes": [1], "probabilities": [[0.25, 0.75]]}},
        )


def test_columns_with_one_output_are_a_plain_value(server: Client) -> None:
    assert server.predict(ask("half_plus_two", inputs=[2.0])) == (200, {"outputs": [3.0]})
    assert server.predict(ask("scalar", inputs=7)) == (200, {"outputs": 49})


def test_floats_have_no_noise_digits(server: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    body = json.dumps(ask("half_plus_two", instances=[0.2])).encode()
    connection.request("POST", f"{AT}:predict", body)
    text = connection.getresponse().read().decode()
    connection.close()
    assert "".join(text.split()) == '{"predictions":[2.1]}'


def test_nan_and_infinity_travel_both_ways(server: Client) -> None:
    status, answer = server.predict(ask("half_plus_two", instances=[math.nan, math.inf, -math.inf]))
    assert status == 200
    first, *rest = answer["predictions"]
    assert math.isnan(first)
    assert rest == [math.inf, -math.inf]


def test_text_and_bytes(server: Client) -> None:
    raw = bytes(range(256))
    coded = {"b64": base64.b64encode(raw).decode()}
    plain = {"b64": base64.b64encode(b"abc").decode()}
    status, answer = server.predict(ask("text", instances=["abc", plain]))
    assert status == 200
    assert answer["predictions"] == [{"raw_bytes": plain, "upper": "ABC"}] * 2
    connection_body = json.dumps(ask("text", inputs={"text": [coded]})).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", f"{AT}:predict", connection_body)
    answer = json.loads(connection.getresponse().read().decode("utf-8", errors="replace"))
    connection.close()
    assert answer["outputs"]["raw_bytes"] == [coded]


def test_several_named_inputs(server: Client) -> None:
    rows = [{"count": [1, 2], "flag": [True, False]}, {"count": [3, 4], "flag": [False, True]}]
    assert server.predict(ask("two", instances=rows)) == (200, {"predictions": [[1, 0], [0, 4]]})
    columns = {"count": [[1, 2]], "flag": [[True, False]]}
    assert server.predict(ask("two", inputs=columns)) == (200, {"outputs": [[1, 0]]})


@pytest.mark.parametrize(
    ("request_body", "part"),
    [
        (b"", "JSON Parse error: The document is empty"),
        (b'{"instances": [1.0', "JSON Parse error: "),
        (b"[1.0]", "Is not object"),
        (b"{}", "Missing 'inputs' or 'instances' key"),
        (b'{"instances": [1.0], "inputs": [1.0]}', "expecting only one of"),
        (b'{"instances": 1.0}', "'instances' to be a"),
        (b'{"instances": []}', "No values in 'instances' array"),
        (b'{"signature_name": 3, "instances": [1]}', "'signature_name' key must be a string value"),
        (
            b'{"signature_name": "none", "instances": [1]}',
            'Serving signature name: "none" not found in signature def',
        ),
        (b'{"instances": [{"other": 1}]}', "other|images"),
        (b'{"instances": [[[1.0, 2.0]]]}', ""),
        (b'{"instances": [[[1.0, 2.0], [1.0]]]}', "Encountered list at unexpected size"),
        (b'{"instances": [{"images": "x"}]}', ""),
        (b'{"inputs": {"other": 1}}', "Missing named input: images in 'inputs' object."),
        (
            b'{"signature_name": "half_plus_two", "instances": ["x"]}',
            "is not of expected type: float",
        ),
        (
            b'{"signature_name": "half_plus_two", "instances": [true]}',
            "not of expected type: float",
        ),
        (b'{"signature_name": "scalar", "inputs": 1.5}', "is not of expected type: int32"),
        (b'{"signature_name": "two", "instances": [1]}', "expecting list of objects"),
        (b'{"signature_name": "two", "inputs": [1]}', "expecting an object"),
        (b'{"signature_name": "two", "instances": [{"count": [1, 2]}]}', "count,flag"),
        (b'{"signature_name": "text", "instances": [{"b64": "*"}]}', "Unable to base64 decode"),
        (b'{"signature_name": "text", "instances": [5]}', "is not of expected type: string"),
        (b'{"signature_name": "uneven", "instances": [1.0]}', "has inconsistent batch size: "),
        (b'{"signature_name": "scalar", "instances": [1]}', ""),
        (b'{"signature_name": "reject", "instances": [-1.0]}', "only positive numbers"),
    ],
)
def test_bad_predict_requests_are_400(server: Client, request_body: bytes, part: str) -> None:
    status, answer = server.call("POST", f"{AT}:predict", request_body)
    assert status == 400
    assert list(answer) == ["error"]
    assert any(choice in answer["error"] for choice in part.split("|")), answer


@pytest.mark.parametrize(("method", "kind"), [("classify", "classif"), ("regress", "regress")])
def test_classify_and_regress_need_their_signatures(server: Client, method: str, kind: str) -> None:
    path = f"{AT}:{method}"
    status, answer = server.call("POST", path, b'{"examples": [{"x": 1.0}]}')
    assert status == 400
    assert kind in answer["error"]
    status, answer = server.call("POST", path, b"{}")
    assert status == 400
    assert "key 'examples' is expected and was not found" in answer["error"]


def test_answers_do_not_mix_under_load(server: Client) -> None:
    def one(value: int) -> tuple[int, Any]:
        return server.predict(ask("half_plus_two", instances=[float(value)]))

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(200)))
    assert answers == [(200, {"predictions": [value / 2 + 2]}) for value in range(200)]
