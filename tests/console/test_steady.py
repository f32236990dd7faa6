"""A table of a cluster that does not answer for a while."""

import re
from collections.abc import Iterator

from cluster.errors import ClusterError, UnauthorisedError, UnreachableError
from console.look import Look
from console.source import Log
from console.steady import Steady


class Fickle:
    """Answers with one after the other of what it is given."""

    poll_seconds = 0.0

    def __init__(self, *answers: Look | ClusterError) -> None:
        self._answers: Iterator[Look | ClusterError] = iter(answers)

    def look(self) -> Look:
        answer = next(self._answers)
        if isinstance(answer, ClusterError):
            raise answer
        return answer

    def log(self, job: str | None, replica: str | None) -> Log:
        raise AssertionError("not asked for")

    def tensorboard(self, port: int | None) -> int:
        raise AssertionError("not asked for")


def test_the_last_look_stays_and_it_is_told_since_when() -> None:
    gone = UnreachableError("cluster dev (https://x) cannot be reached: timed out")
    steady = Steady(Fickle(Look(nodes=True), gone, gone, Look()))
    assert steady.look() == (Look(nodes=True), ())
    look, notes = steady.look()
    assert look == Look(nodes=True)
    assert re.fullmatch(r"cluster not reachable since \d\d:\d\d:\d\d – keeps trying", notes[0])
    assert notes[1] == str(gone)
    assert steady.look()[1] == notes
    assert steady.look() == (Look(), ())


def test_nothing_is_claimed_of_a_cluster_that_has_not_answered_yet() -> None:
    look, notes = Steady(Fickle(UnreachableError("gone"))).look()
    assert look is None
    assert notes


def test_credentials_that_have_expired_are_told() -> None:
    expired = UnauthorisedError("cluster dev does not accept the credentials")
    _, notes = Steady(Fickle(expired)).look()
    assert notes[1] == str(expired)
