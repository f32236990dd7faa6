"""When two sets of inputs are the same running thing."""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from provider import place
from provider.kinds import Properties

IN_PLACE = ("suspend", "wait", "waitTimeoutSeconds", "server", "opaque")
"""Changing one of these leaves a job's replicas alone. Everything else is part of the job: a
running process cannot be given another size, code or TF_CONFIG."""

_SECRET = "secretEnvironment"


def digest(inputs: Properties) -> str:
    """Equal inputs, equal digest, but for what changes in place and for secrets: a digest of a
    short secret could be guessed back."""
    left_out = (*IN_PLACE, _SECRET)
    identity = {key: value for key, value in inputs.items() if key not in left_out}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def job_generation(inputs: Properties) -> str:
    """The identity of a running job, its secrets included: by a key that never leaves the state
    directory, without which their part tells nothing. OSError when that directory is unusable."""
    given = inputs.get(_SECRET)
    if not given:
        return digest(inputs)
    key = _key(place.state_directory(inputs) / "identity.key")
    text = json.dumps(given, sort_keys=True).encode()
    return f"{digest(inputs)}:{hmac.new(key, text, 'sha256').hexdigest()}"


def _key(file: Path) -> bytes:
    """The key in `file`, made when there is none; for this user alone."""
    with contextlib.suppress(FileNotFoundError):
        return file.read_bytes()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as new:
        new.write(secrets.token_bytes(32))
    # Jobs start side by side, and the first key is the one that counts.
    with contextlib.suppress(FileExistsError):
        os.link(aside, file)
    aside.unlink()
    return file.read_bytes()
