"""What can go wrong between this machine and a cluster, each a sentence for the user."""

from __future__ import annotations


class ClusterError(Exception):
    """What was asked for did not happen; the text is the sentence the user sees. It never holds a
    credential."""


class UnreachableError(ClusterError):
    """No answer from the API server."""


class UnauthorisedError(ClusterError):
    """The API server does not accept the user's credentials."""


class RefusedError(ClusterError):
    """The API server answered, and said no: `status` is HTTP's, `reason` Kubernetes' word."""

    def __init__(self, text: str, status: int, reason: str) -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def conflict(self) -> bool:
        return self.status == 409

    @property
    def passing(self) -> bool:
        """Whether the same request may well succeed a moment later."""
        return self.status == 429 or self.status >= 500
