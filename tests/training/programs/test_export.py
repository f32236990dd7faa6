"""What is exported, under which names, and that mistakes in it are told before training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from runtime.errors import ReplicaError
from runtime.task import Task

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import PROGRAMS, run

pytestmark = pytest.mark.tensorflow


class Prepared(Task):
    """A task whose model was made before."""

    def __init__(self, model: Any) -> None:
        self.made = model

    def model(self) -> Any:
        return self.made


def exported(task: Task, directory: Path) -> Any:
    """The signature of the task's model, as a server loads it."""
    import tensorflow as tf
    from runtime.export import save_for_serving

    save_for_serving(task, task.model(), directory)
    return tf.saved_model.load(str(directory)).signatures["serving_default"]


def check(task: Task) -> None:
    from runtime.export import check_export

    check_export(task, 1, None)


def input_names(signature: Any) -> list[str]:
    return sorted(signature.structured_input_signature[1])


def test_words_of_a_vocabulary_are_exported_with_the_model(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf
    from keras import layers

    word = keras.Input((1,), dtype="string", name="word")
    number = keras.Input((1,), dtype="int64", name="number")
    text = keras.Input((1,), dtype="string", name="text")
    parts = [
        layers.StringLookup(vocabulary=["a", "b"])(word),
        layers.IntegerLookup(vocabulary=[7, 8])(number),
        layers.TextVectorization(vocabulary=["one", "two"], output_sequence_length=2)(text),
    ]
    outputs = layers.Concatenate()([keras.ops.cast(part, "float32") for part in parts])
    task = Prepared(keras.Model([word, number, text], outputs))
    check(task)
    served = exported(task, tmp_path)(
        word=tf.constant([["b"]]), number=tf.constant([[8]], tf.int64), text=tf.constant([["two"]])
    )
    assert served["outputs"].numpy().tolist() == [[2, 2, 3, 0]]


def test_an_unnamed_input_has_a_name_that_does_not_count_tensors(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    for attempt in range(2):
        one = keras.Input((2,))
        task = Prepared(keras.Model(one, one * 2))
        assert list(task.serving_inputs(task.made)) == ["inputs"]
        served = exported(task, tmp_path / f"one-{attempt}")
        assert served(inputs=tf.ones((1, 2)))["outputs"].numpy().tolist() == [[2, 2]]
    built = keras.Sequential([keras.layers.Dense(1)])
    built(tf.ones((1, 2)))
    assert input_names(exported(Prepared(built), tmp_path / "built")) == ["inputs"]


def test_several_inputs_reach_the_model_in_its_own_order(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    first, named, third = keras.Input((1,)), keras.Input((1,), name="a"), keras.Input((1,))
    outputs = first + 10 * named + 100 * third
    served = exported(Prepared(keras.Model([first, named, third], outputs)), tmp_path / "list")
    assert input_names(served) == ["a", "inputs_0", "inputs_2"]
    one, two, three = (tf.constant([[float(value)]]) for value in (1, 2, 3))
    assert served(inputs_0=one, a=two, inputs_2=three)["outputs"].numpy().tolist() == [[321]]

    with pytest.warns(UserWarning, match="keys in the dict must match"):
        model = keras.Model({"z": first, "y": named, "x": third}, outputs)
    served = exported(Prepared(model), tmp_path / "dict")
    assert input_names(served) == ["x", "y", "z"]
    assert served(z=one, y=two, x=three)["outputs"].numpy().tolist() == [[321]]


class Foreign(Prepared):
    """Serves by a table; `own` says whether it is the task's."""

    def __init__(self, model: Any, own: bool) -> None:
        import tensorflow as tf

        super().__init__(model)
        initializer = tf.lookup.KeyValueTensorInitializer([0, 1], ["no", "yes"])
        table = tf.lookup.StaticHashTable(initializer, "?")
        self.look_up = table.lookup
        if own:
            self.table = table

    def serve(self, model: Any, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        import tensorflow as tf

        return {"said": self.look_up(tf.cast(model(inputs["x"])[:, 0], tf.int32))}


def identity() -> Any:
    import keras

    x = keras.Input((1,), name="x")
    return keras.Model(x, x * 1)


def test_a_table_of_the_task_is_exported(tmp_path: Path) -> None:
    import tensorflow as tf

    task = Foreign(identity(), own=True)
    check(task)
    served = exported(task, tmp_path)(x=tf.constant([[1.0], [0.0], [5.0]]))
    assert served["said"].numpy().tolist() == [b"yes", b"no", b"?"]


def test_a_table_of_nobody_is_refused() -> None:
    with pytest.raises(ReplicaError, match="a table that belongs neither to the model nor to the"):
        check(Foreign(identity(), own=False))


def own_class() -> Any:
    import keras

    class Own(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    model = Own()
    model(keras.ops.ones((1, 2)))
    return model


class Described(Prepared):
    def serving_inputs(self, model: Any) -> dict[str, Any]:
        import tensorflow as tf

        return {"rows": tf.TensorSpec([None, 2], tf.float32)}


def test_a_model_of_an_own_class_needs_serving_inputs(tmp_path: Path) -> None:
    import tensorflow as tf

    with pytest.raises(ReplicaError, match=r"Own does not tell its inputs, .* serving_inputs\(\)"):
        check(Prepared(own_class()))
    served = exported(Described(own_class()), tmp_path)
    assert served(rows=tf.ones((1, 2)))["outputs"].numpy().tolist() == [[2]]


class Wrong(Prepared):
    def serve(self, model: Any, inputs: Mapping[str, Any]) -> Any:
        return {"outputs": model(inputs["picture"])}


class NoDict(Prepared):
    def serve(self, model: Any, inputs: Mapping[str, Any]) -> Any:
        return model(inputs["x"])


@pytest.mark.parametrize(
    ("task", "reason"),
    [(Wrong, "KeyError: 'picture'"), (NoDict, "gave SymbolicTensor, not a dict of tensors by na")],
)
def test_a_mistake_of_serve_is_told_with_its_reason(task: type[Prepared], reason: str) -> None:
    with pytest.raises(ReplicaError) as caught:
        check(task(identity()))
    assert "the model cannot be exported: tracing serve()" in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code == 1


def wrong_program(directory: Path) -> Path:
    program = directory / "wrong.py"
    text = (PROGRAMS / "tabular.py").read_text()
    assert text.count("model(inputs, training=False)") == 1
    wrong = text.replace("model(inputs, training=False)", 'model(inputs["hour"], training=False)')
    program.write_text(wrong)
    return program


@pytest.mark.parametrize(
    "roles", [{"worker": 1}, {"chief": 1, "worker": 1}, {"chief": 1, "worker": 1, "ps": 1}]
)
def test_it_is_told_before_any_step(
    start_job: StartJob, tmp_path: Path, roles: Mapping[str, int]
) -> None:
    job = start_job(roles, ["--steps=20"], wrong_program(tmp_path), ACK_TRAINING_EXPORT="1")
    leader = job.names[0]
    assert job.processes[leader].wait(timeout=120) == 1
    assert "wrong.py: the model cannot be exported" in job.log(leader).splitlines()[-1]
    assert "Traceback" in job.log(leader)
    assert "step 20/20" not in job.log(leader)
    assert not list(tmp_path.glob("trial/checkpoints/run-1/ckpt-*"))


def test_an_edit_of_serve_alone_is_exported_and_the_same_program_is_not(tmp_path: Path) -> None:
    program = tmp_path / "tabular.py"
    program.write_text((PROGRAMS / "tabular.py").read_text())
    helper = tmp_path / "helper.py"

    def versions(*arguments: str) -> list[str]:
        ended = run(
            tmp_path, "--steps=20", *arguments, program=str(program), ACK_TRAINING_EXPORT="1"
        )
        assert ended.returncode == 0, ended.stderr
        return sorted(path.name for path in (tmp_path / "trial/export").iterdir())

    assert versions() == ["1"]
    # Another flag of the runtime has the job replaced, and the same model as a result.
    assert versions("--log-every=10") == ["1"]
    text = program.read_text()
    program.write_text(text.replace('{"demand": model(', '{"wanted": model('))
    assert versions() == ["1", "2"]
    assert versions() == ["1", "2"]
    helper.write_text("NAME = 'wanted'\n")
    inside = "        from helper import NAME\n\n        return {NAME: model("
    program.write_text(text.replace('        return {"demand": model(', inside))
    assert versions() == ["1", "2", "3"]
    # Imported only when serve() is called.
    helper.write_text("NAME = 'needed'\n")
    assert versions() == ["1", "2", "3", "4"]
    assert versions() == ["1", "2", "3", "4"]
