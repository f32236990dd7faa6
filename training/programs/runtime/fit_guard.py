"""Refuses Model.fit where Keras 3 cannot distribute it, with one clear line.

Keras 3's trainer has no hook for a coordinator and cannot feed the per-replica values of several
workers (https://github.com/keras-team/keras/issues/18624,
https://github.com/keras-team/keras/issues/20585); what it raises names neither.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from runtime.errors import BAD_INPUT

TRAINER_MODULE = "keras.src.backend.tensorflow.trainer"

REFUSED = {
    "ParameterServerStrategyV2": "ParameterServerStrategy",
    "CollectiveAllReduceStrategy": "MultiWorkerMirroredStrategy",
}
"""Strategies Keras 3 cannot fit() under: TensorFlow's class name, and the name users know."""


def install() -> None:
    """Model.fit is guarded from the moment Keras 3 is imported; nothing is imported here."""
    if not any(isinstance(finder, _TrainerFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TrainerFinder())


class _TrainerFinder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != TRAINER_MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _GuardingLoader(spec.loader)
        return spec


class _GuardingLoader(importlib.abc.Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        trainer = getattr(module, "TensorFlowTrainer", None)
        if trainer is not None:
            trainer.fit = _guarded(trainer.fit)


def _guarded(fit: Any) -> Any:
    def guarded_fit(self: Any, *arguments: Any, **keywords: Any) -> Any:
        refuse_if_distributed(self.distribute_strategy)
        return fit(self, *arguments, **keywords)

    return guarded_fit


def refuse_if_distributed(strategy: Any) -> None:
    """Ends the process with code 2 if Keras 3 cannot fit() under `strategy`.

    The process ends at once: under these strategies TensorFlow's threads would keep it waiting.
    """
    classes = (kind.__name__ for kind in type(strategy).__mro__)
    name = next((REFUSED[kind] for kind in classes if kind in REFUSED), None)
    alone = name == "MultiWorkerMirroredStrategy" and strategy.extended._num_workers == 1
    if name is None or alone:
        return
    import keras
    import tensorflow as tf

    print(
        f"Model.fit does not work under {name} with Keras {keras.__version__} (TensorFlow"
        f" {tf.__version__}): let the runtime train the model (subclass runtime.Task and call"
        " runtime.train), or use legacy Keras (package tf_keras, TF_USE_LEGACY_KERAS=1)",
        file=sys.stderr,
    )
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(BAD_INPUT)
