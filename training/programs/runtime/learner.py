"""The model of a task with what trains it: one step, and the names of its variables."""

from __future__ import annotations

import re
from typing import Any

import keras
import tensorflow as tf

from runtime.task import Task


def build_model(task: Task, seed: int, batch_spec: Any) -> Any:
    """A new model of the task with all its variables, the same weights for the same seed."""
    keras.utils.set_random_seed(seed)
    model = task.model()
    if not model.built:
        inputs = tf.nest.map_structure(
            lambda spec: tf.zeros([1, *spec.shape[1:]], spec.dtype), batch_spec[0]
        )
        model(inputs, training=False)
    return model


def named_variables(variables: list[Any]) -> dict[str, Any]:
    """The tf.Variable of each Keras variable, under a name that is the same in every process.

    Keras numbers automatic names by how many layers the process made so far, so the numbers go
    and the position in the model tells variables apart.
    """
    return {
        f"{position:04d}:{re.sub(r'_[0-9]+(?=[_/]|$)', '', variable.path).replace('/', ':')}": (
            variable.value
        )
        for position, variable in enumerate(variables)
    }


class Learner:
    """Model, optimizer and training step of a task, created in the current strategy's scope."""

    def __init__(self, task: Task, seed: int, batch_spec: Any) -> None:
        self._task = task
        self.model = build_model(task, seed, batch_spec)
        self.optimizer = task.optimizer()
        self.optimizer.build(self.model.trainable_variables)
        self.step = tf.Variable(
            0,
            dtype=tf.int64,
            trainable=False,
            name="global_step",
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )

    def is_finite(self) -> bool:
        """Whether no weight became infinite or no number; looked at where the weights are."""
        return all(_is_finite(weight.value) for weight in self.model.trainable_variables)

    def update(self, inputs: Any, labels: Any, batch_size: int, replicas: int) -> dict[str, Any]:
        """Applies one step for this replica's part of a batch of `batch_size` examples.

        Returns this replica's part of the batch's mean loss and metrics: their sum over all
        replicas is the mean.
        """
        with tf.GradientTape() as tape:
            outputs = self.model(inputs, training=True)
            loss = tf.reduce_sum(per_example(self._task.loss(labels, outputs))) / batch_size
            total = loss
            if self.model.losses:
                total += tf.add_n(self.model.losses) / replicas
        gradients = tape.gradient(total, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        parts = {"loss": loss}
        for name, values in self._task.metrics(labels, outputs).items():
            parts[name] = tf.reduce_sum(per_example(values)) / batch_size
        return parts


def _is_finite(variable: Any) -> bool:
    if not variable.dtype.is_floating:
        return True
    with tf.device(variable.device):
        return bool(tf.reduce_all(tf.math.is_finite(variable.read_value())))


def per_example(values: Any) -> Any:
    """`values` with every axis but the batch averaged away, as float32."""
    values = tf.cast(tf.convert_to_tensor(values), tf.float32)
    if values.shape.rank == 0:
        raise ValueError("loss() and metrics() must give one value per example, not one in all")
    return tf.reduce_mean(values, axis=list(range(1, values.shape.rank)))
