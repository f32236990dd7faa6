"""Imports TensorFlow without the lines its libraries write before they can be told to be quiet."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from runtime.keras_settings import refuse_backend


def import_tensorflow() -> None:
    """TensorFlow and Keras are imported; what they wrote to stderr is shown only if that failed.

    Raises ReplicaError if the program has imported Keras before, with another backend.
    """
    if "tensorflow" not in sys.modules:
        _import_quietly()
    import keras

    refuse_backend(keras.config.backend())


def _import_quietly() -> None:
    """The lines come from native code before TF_CPP_MIN_LOG_LEVEL is read, hence the descriptor."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            import keras
            import tensorflow

            keras.utils.disable_interactive_logging()
            # It warns of each save through a chief's device, which traces a function of its own.
            tensorflow.get_logger().setLevel("ERROR")
        except BaseException:
            aside.seek(0)
            with os.fdopen(os.dup(kept), "wb") as stderr:
                shutil.copyfileobj(aside, stderr)
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
