"""Serves the provider on a free loopback port and prints that port, as the plugin protocol asks."""

import gc
import os
import signal
import sys
import threading
import time

# Importing makes many objects and no garbage, and each preview waits for these imports.
gc.disable()

from provider.server import serve  # noqa: E402

gc.freeze()
gc.enable()


def _end_with_the_engine() -> None:
    """An engine that was killed cannot stop its plugins, and nobody would read our replies."""
    engine = int(os.environ.pop("ACK_TRAINING_ENGINE", os.getppid()))

    def watch() -> None:
        while os.getppid() == engine:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    # The engine interrupts a plugin that it has no more use for, and waits for its end: at once,
    # and not after Python has unwound its threads, printed a traceback and tidied up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _end_with_the_engine()
    serve(sys.argv[1] if len(sys.argv) > 1 else None)
