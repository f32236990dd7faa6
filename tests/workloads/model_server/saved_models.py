"""Writes the SavedModels of these tests: ``python saved_models.py DIRECTORY``.

``1`` and ``2`` are versions whose answers tell which they are; ``text`` is version 2 with its
model as text; ``huge`` has a default signature whose input fits into no memory.

A program of its own: TensorFlow stays out of the test process, with its memory and its warnings.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from pathlib import Path
from typing import Any


def write(directory: Path) -> None:
    """``directory`` holds the four SavedModels afterwards."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    tf: Any = importlib.import_module("tensorflow")
    for name, revision in (("1", 1.0), ("2", 2.0), ("text", 2.0)):
        module = tf.Module()
        module.revision = tf.Variable(revision)
        tf.saved_model.save(module, str(directory / name), signatures=_all(tf, module))
    _as_text(directory / "text")
    module = tf.Module()
    tf.saved_model.save(module, str(directory / "huge"), signatures=_huge(tf))


def _as_text(directory: Path) -> None:
    text_format: Any = importlib.import_module("google.protobuf.text_format")
    proto = importlib.import_module("tensorflow.core.protobuf.saved_model_pb2").SavedModel()
    binary = directory / "saved_model.pb"
    proto.ParseFromString(binary.read_bytes())
    text = text_format.MessageToString(proto)
    (directory / "saved_model.pbtxt").write_text(text, encoding="utf-8")
    binary.unlink()


def _signature(tf: Any, function: Any, **inputs: tuple[Any, Any]) -> Any:
    specs = {
        name: tf.TensorSpec(shape, dtype, name=name) for name, (shape, dtype) in inputs.items()
    }
    return tf.function(function).get_concrete_function(**specs)


def _huge(tf: Any) -> dict[str, Any]:
    def first(x: Any) -> dict[str, Any]:
        return {"first": x[0, 0]}

    def revision(x: Any) -> dict[str, Any]:
        return {"revision": tf.zeros_like(x) + 3.0}

    return {
        "serving_default": _signature(tf, first, x=([2**24, 2**24], tf.float32)),
        "revision": _signature(tf, revision, x=([None], tf.float32)),
    }


def _all(tf: Any, module: Any) -> dict[str, Any]:
    signature = functools.partial(_signature, tf)

    def images(images: Any) -> dict[str, Any]:
        brightness = tf.reduce_mean(images, axis=[1, 2])
        probabilities = tf.stack([brightness, 1.0 - brightness], axis=1)
        return {"probabilities": probabilities, "classes": tf.argmax(probabilities, axis=1)}

    def half_plus_two(x: Any) -> dict[str, Any]:
        return {"y": x / 2.0 + 2.0}

    def text(text: Any) -> dict[str, Any]:
        return {"upper": tf.strings.upper(text), "raw_bytes": text}

    def scalar(x: Any) -> dict[str, Any]:
        return {"squared": x * x}

    def two(count: Any, flag: Any) -> dict[str, Any]:
        return {"kept": tf.where(flag, count, tf.zeros_like(count))}

    def revision(x: Any) -> dict[str, Any]:
        return {"revision": tf.zeros_like(x) + module.revision}

    def uneven(x: Any) -> dict[str, Any]:
        return {"same": x, "longer": tf.concat([x, x], axis=0)}

    def reject(x: Any) -> dict[str, Any]:
        with tf.control_dependencies([tf.debugging.assert_positive(x, "only positive numbers")]):
            return {"y": tf.identity(x)}

    vector = ([None], tf.float32)
    return {
        "serving_default": signature(images, images=([None, 28, 28], tf.float32)),
        "half_plus_two": signature(half_plus_two, x=vector),
        "text": signature(text, text=([None], tf.string)),
        "scalar": signature(scalar, x=([], tf.int32)),
        "two": signature(two, count=([None, 2], tf.int64), flag=([None, 2], tf.bool)),
        "revision": signature(revision, x=vector),
        "uneven": signature(uneven, x=vector),
        "reject": signature(reject, x=vector),
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
