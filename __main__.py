"""The stack: config → resources → outputs."""

import gc
import os
import signal
import sys
from pathlib import Path

import pulumi

# Importing makes many objects and no garbage, and each preview waits for it: looking for garbage
# meanwhile took a quarter of the time, and looking through what was imported when the program ends
# a tenth of a second more.
gc.disable()

import config  # noqa: E402
import targets  # noqa: E402

gc.freeze()
gc.enable()

_ALREADY_REPORTED = 32
"""The exit code that tells Pulumi's language host to add no message of its own."""

# The engine interrupts the program after ctrl-C and after a resource that failed. It has told why
# by then; the SDK's traceback of what it waited for would only bury that.
signal.signal(signal.SIGINT, lambda number, frame: os._exit(_ALREADY_REPORTED))

project = Path(__file__).resolve().parent

try:
    stack = config.load(project)
except config.ConfigErrors as errors:
    for line in errors.lines:
        pulumi.log.error(line)
    sys.exit(_ALREADY_REPORTED)

for notice in stack.notices:
    pulumi.log.info(notice)
try:
    deployment = targets.deploy(stack, project)
except targets.UndeployableError as error:
    pulumi.log.error(str(error))
    sys.exit(_ALREADY_REPORTED)
for name, value in deployment.outputs().items():
    pulumi.export(name, value)
