"""When two sets of inputs are the same running thing."""

import hashlib
import json

from provider.kinds import Properties

_OBSERVED_ONLY = ("secretEnvironment", "suspend", "wait", "waitTimeoutSeconds")


def digest(inputs: Properties) -> str:
    """The identity of a running job: equal inputs, equal digest. Secret values are left out, since
    a digest of a short one could be guessed back."""
    identity = {key: value for key, value in inputs.items() if key not in _OBSERVED_ONLY}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
