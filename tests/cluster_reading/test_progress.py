"""A replica's progress, by lines as the runtime prints them."""

import pytest

from cluster.progress import progress_of
from supervisor.job_progress import JobProgress

NOW = 1000.0


def progress(*lines: str) -> JobProgress:
    found = progress_of(lines, NOW)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "lines", [[], ["hello"], ["step 1/x"], ["exported as /x/1"], ["a step 3/4  5 examples/s"]]
)
def test_other_lines_tell_nothing(lines: list[str]) -> None:
    assert progress_of(lines, NOW) is None


def test_the_newest_step_counts() -> None:
    found = progress(
        "step 50/2000  loss 1.2000  accuracy 0.500  2000 examples/s",
        "evaluation at step 50  loss 1.1000  accuracy 0.6000",
        "step 100/2000  loss 0.9557  accuracy 0.722  2565 examples/s",
        "a line of the program's own",
    )
    assert found.sentence() == "step 100 of 2000, loss 0.9557, accuracy 0.722, 2,565 examples/s"
    assert (found.phase, found.restored_step, found.updated_at) == ("training", 0, NOW)


def test_other_figures_and_none_are_no_hindrance() -> None:
    found = progress("step 1/2  auc 0.5000  loss nan  3 examples/s")
    assert (found.step, found.loss, found.accuracy) == (1, None, None)
    assert progress("step 1/2  7 examples/s").examples_per_second == 7


def test_a_run_that_goes_on_tells_from_where() -> None:
    begun = progress("continues from /data/m/checkpoints/run-1/ckpt-1200")
    assert (begun.step, begun.steps, begun.restored_step) == (1200, 0, 1200)
    assert begun.quarter() == 0
    lines = (
        "continues from /data/m/checkpoints/run-1/ckpt-1200",
        "step 1250/2000  loss 0.5000  100 examples/s",
    )
    found = progress(*lines)
    assert (found.step, found.steps, found.restored_step) == (1250, 2000, 1200)


def test_a_finished_run_tells_its_result() -> None:
    lines = (
        "step 2000/2000  loss 0.5000  accuracy 0.900  100 examples/s",
        "step 2000  examples 10000  loss 0.0912  accuracy 0.9713",
        "exported as /data/m/export/3",
        "evaluation at step 2000  loss 0.0912  accuracy 0.9713",
    )
    expected = "step 2000 of 2000, on held-out data, loss 0.0912, accuracy 0.971"
    assert progress(*lines).sentence() == expected
    assert progress(*lines[1:]).sentence() == expected


def test_a_run_that_was_finished_before_says_so() -> None:
    found = progress("run 1 already reached step 2000")
    assert (found.step, found.steps, found.restored_step) == (2000, 2000, 2000)
    assert found.phase == "done"


def test_times_of_the_cluster_give_a_pace() -> None:
    found = progress(
        "2026-11-30T16:53:00.123456789Z continues from /data/ckpt-100",
        "2026-11-30T16:53:10.500000000Z step 200/1000  loss 1.0000  10 examples/s",
        "2026-11-30T16:53:20.500000000Z step 300/1000  loss 0.9000  10 examples/s",
    )
    assert found.training_since is not None
    pace = (found.updated_at - found.training_since) / (found.step - found.restored_step)
    assert pace == pytest.approx(0.1)


def test_one_line_is_no_pace() -> None:
    found = progress("2026-11-30T16:53:10Z step 200/1000  loss 1.0000  10 examples/s")
    assert found.training_since is None
    assert found.seconds_left() is None
