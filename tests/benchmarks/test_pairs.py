import pytest

from benchmarks.pairs import Comparison, in_turn, spread


def test_a_ratio_is_the_median_of_the_pairs_ratios() -> None:
    disturbed = Comparison(values=(2.0, 30.0, 4.4), baseline=(1.0, 10.0, 4.0))
    assert disturbed.ratios == pytest.approx((2.0, 3.0, 1.1))
    # And neither the quotient of the medians, 1.1, nor that of the means, 2.4.
    assert disturbed.ratio == 2.0


@pytest.mark.parametrize(
    ("values", "baseline"), [((), ()), ((1.0,), (1.0, 2.0)), ((1.0, 1.0), (1.0, 0.0))]
)
def test_without_pairs_there_is_no_ratio(
    values: tuple[float, ...], baseline: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match=r"pairs|above 0"):
        Comparison(values, baseline)


def test_things_are_measured_in_turn() -> None:
    order: list[str] = []

    def measured(name: str) -> float:
        order.append(name)
        return float(len(order))

    found = in_turn({"a": lambda: measured("a"), "b": lambda: measured("b")}, rounds=3)
    assert order == ["a", "b"] * 3
    assert found == {"a": (1.0, 3.0, 5.0), "b": (2.0, 4.0, 6.0)}


def test_a_spread_names_median_least_and_greatest() -> None:
    assert spread([1.5, 1.0, 1.25]) == "1.25 (1.00–1.50)"
