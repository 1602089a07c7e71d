"""Each aggregate by itself: fields, errors, merging; that own ones work; how near sketches are."""

from __future__ import annotations

import math
import pickle
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.operators.windows.aggregates import (
    Aggregate,
    Aggregates,
    ApproximateDistinct,
    Collect,
    Count,
    Distinct,
    First,
    Last,
    Max,
    Min,
    PaneWindow,
    Sum,
    TopK,
    Variance,
    hyperloglog,
)
from framework.operators.windows.aggregates.rows import rows_adder
from tests.framework.operators.windows.aggregates.naive import NAIVE

FIELDS = ["user", "amount"]


def folded(aggregate: Aggregate[Any, Any], values: Any) -> Any:
    acc = aggregate.create()
    for value in values:
        acc = aggregate.add(acc, value)
    return acc


@settings(max_examples=40)
@given(st.lists(st.none() | st.integers()), st.lists(st.none() | st.integers()))
def test_merging_and_absorbing_are_adding_and_change_nothing(
    one: list[int | None], other: list[int | None]
) -> None:
    for aggregate, naive in NAIVE:
        first, second = folded(aggregate, one), folded(aggregate, other)
        before = pickle.dumps((first, second))
        merged = aggregate.merge(first, second)
        assert aggregate.result(merged) == naive(one + other)
        assert aggregate.result(aggregate.add(merged, 3)) == naive([*one, *other, 3])
        assert pickle.dumps((first, second)) == before
        rows = rows_adder(aggregate, ["value"], 0)
        if rows is not None:
            assert aggregate.result(rows(first, [(value,) for value in other])) == naive(one + other)
        absorbed = aggregate.absorb(pickle.loads(pickle.dumps(first)), second)
        assert aggregate.result(absorbed) == naive(one + other)
        if type(aggregate).subtract is not Aggregate.subtract:
            assert aggregate.is_exact(first)
            assert aggregate.result(aggregate.subtract(absorbed, first)) == naive(other)
        assert pickle.dumps(second) == pickle.dumps(folded(aggregate, other))


class TestFields:
    def test_an_aggregate_of_a_field_adds_its_value(self) -> None:
        both = Aggregates(total=Sum("amount"), n=Count(), most=TopK("amount", 1, of="user"), rows=Collect())
        add, acc = both.adder(FIELDS), both.create()
        for row in [("ann", 3), ("bob", 5), ("cat", 4)]:
            acc = add(acc, row)
        assert both.names == ("total", "n", "most", "rows")
        assert both.row(acc) == (12, 3, ["bob"], [("ann", 3), ("bob", 5), ("cat", 4)])

    def test_a_single_one_has_one_value(self) -> None:
        total = Sum("amount")
        assert (total.names, total.row(total.adder(FIELDS)(0, ("ann", 3)))) == (("value",), (3,))

    def test_without_a_field_it_adds_the_only_value_or_all(self) -> None:
        assert Sum().adder(["amount"])(4, (3,)) == 7
        assert Collect().adder(FIELDS)([], ("ann", 3)) == [("ann", 3)]

    @pytest.mark.parametrize(
        "aggregate", [Sum("amuont"), Aggregates(x=Sum("amuont")), TopK("amount", 3, of="amuont")]
    )
    def test_a_field_that_is_not_there_is_refused(self, aggregate: Aggregate[Any, Any]) -> None:
        expected = r"no field 'amuont' in \['user', 'amount'\]; did you mean 'amount'"
        with pytest.raises(ValueError, match=expected):
            aggregate.adder(FIELDS)

    def test_what_is_no_aggregate_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"Aggregates\(n=<class .*\): expected an aggregate, such as Sum"):
            Aggregates(n=Count)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected an aggregate"):
            Aggregates(n=Aggregates(n=Count()))
        with pytest.raises(TypeError, match="expected at least one"):
            Aggregates()

    def test_they_say_what_they_are(self) -> None:
        both = Aggregates(total=Sum("amount"), top=TopK("amount", 3, of="user"))
        assert repr(both) == "Aggregates(total=Sum('amount'), top=TopK('amount', 3, of='user'))"


class Product(Aggregate[int, int]):
    """As a user writes one."""

    def create(self) -> int:
        return 1

    def add(self, acc: int, value: Any) -> int:
        return int(acc * value)

    def merge(self, first: int, second: int) -> int:
        return first * second


def test_an_own_one_works_over_panes_and_beside_others() -> None:
    window = PaneWindow(Aggregates(product=Product(), n=Count()), 3)
    for pane in range(1, 10):
        window.add(pane, pane)
    assert [window.result(end) for end in (4, 6, 7, 9, 10)] == [(6, 3), (60, 3), (120, 3), (336, 3), (504, 3)]
    assert [Product().is_exact(7), Product().row(7)] == [False, (7,)]


class TestOrder:
    def test_of_equal_values_the_first_is_kept(self) -> None:
        assert repr([Min().result(folded(Min(), [2, True, 1, 1.0])), folded(Max(), [0.0, -0.0])[0]]) == (
            "[True, 0.0]"
        )
        assert repr(TopK(k=2).result(folded(TopK(k=2), [1, 1.0, True]))) == "[1, 1.0]"

    def test_what_is_no_number(self) -> None:
        values = [3.0, math.nan, 7.0, 1.0, math.nan]
        assert math.isnan(Min().result(folded(Min(), values)))
        assert math.isnan(Max().result(folded(Max(), values)))
        assert TopK(k=2).result(folded(TopK(k=2), values)) == [7.0, 3.0]
        # Each NaN that was pickled is another object.
        again = pickle.loads(pickle.dumps(folded(Distinct(), values)))
        assert Distinct().result(Distinct().merge(again, folded(Distinct(), values))) == 4

    def test_the_rank_decides_what_top_k_leaves_out(self) -> None:
        add = TopK("amount", 3, of="user").adder(FIELDS)
        assert add(add(add([], ("ann", None)), (None, 3)), ("bob", 1)) == [(None, 3), ("bob", 1)]

    def test_none_is_counted_and_collected_as_other_values(self) -> None:
        values = [None, 3, None]
        kinds = Count(), Collect(), Distinct(), ApproximateDistinct()
        assert [kind.result(folded(kind, values)) for kind in kinds] == [3, values, 2, 2]

    def test_none_is_a_value_like_others(self) -> None:
        assert First().result(folded(First(), [None, 3])) is None
        assert Last().result(First().merge(folded(Last(), [3]), folded(Last(), [None]))) == 3
        assert Last().merge((3,), (None,)) == (None,)


@pytest.mark.parametrize(
    "made", [lambda: TopK("x", 0), lambda: TopK(of="x"), lambda: ApproximateDistinct(precision=3)]
)
def test_arguments_that_mean_nothing_are_refused(made: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|needs"):
        made()


def test_a_sample_of_one_has_no_variance() -> None:
    assert Variance(sample=True).result(folded(Variance(), [5])) is None


def test_a_variance_of_integers_and_floats() -> None:
    variance = Variance()
    mixed = folded(variance, [1, 2, 3.0, 4])
    assert mixed == folded(variance, [1.0, 2.0, 3.0, 4.0])
    merged = variance.merge(folded(variance, [1, 2]), folded(variance, [3.0, 4.0]))
    assert variance.result(merged) == variance.result(mixed) == 1.25


class TestSketch:
    @pytest.mark.parametrize("precision", [4, 8, 12])
    def test_errors_are_as_documented(self, precision: int) -> None:
        """Of many sketches the root of the mean square of the error is that of theory, with a margin."""
        standard = 1.04 / math.sqrt(1 << precision)
        for count in (30, 300, 3_000):
            squares = []
            for seed in range(25):
                random = Random(f"{precision} {count} {seed}")
                registers: hyperloglog.Registers = {}
                for _ in range(count):
                    registers = hyperloglog.noted(registers, random.getrandbits(64), precision)
                squares.append((hyperloglog.estimate(registers, precision) / count - 1) ** 2)
            assert math.sqrt(sum(squares) / len(squares)) < 1.6 * standard, count

    def test_it_depends_on_the_set_of_values_alone(self) -> None:
        sketch, values = ApproximateDistinct(precision=8), [f"user{index}" for index in range(900)]
        forwards, backwards = folded(sketch, values), folded(sketch, values[::-1] * 2)
        assert forwards == backwards
        few, rest = folded(sketch, values[:5]), folded(sketch, values[5:])
        assert isinstance(few, dict)
        assert isinstance(rest, bytearray)
        assert sketch.merge(few, rest) == sketch.merge(rest, few) == forwards
        middle = folded(sketch, values[300:])
        assert sketch.merge(folded(sketch, values[:500]), middle) == forwards
        assert abs(sketch.result(forwards) / 900 - 1) < 3 * 1.04 / 16

    def test_few_values_are_counted_exactly_and_none_is_none(self) -> None:
        sketch = ApproximateDistinct()
        assert sketch.result(sketch.create()) == 0
        assert sketch.result(folded(sketch, [1, 1.0, True, "1", None, b"1"])) == 4
        window = PaneWindow(sketch, 2)
        for pane in range(6):
            window.add(pane, pane // 2)
        assert [window.result(end) for end in range(1, 7)] == [1, 1, 2, 1, 2, 1]

    def test_nan_is_one_value_as_if_they_were_counted_exactly(self) -> None:
        within = [("a", math.nan), ("a", float("nan")), ("b", math.nan)]
        values = [1.0, math.nan, -math.nan, float("nan"), *within, "nan"]
        sketch = ApproximateDistinct()
        assert sketch.result(folded(sketch, values)) == Distinct().result(folded(Distinct(), values)) == 5
        assert folded(sketch, values) == folded(sketch, pickle.loads(pickle.dumps(values)))
        with pytest.raises(TypeError, match="is no key"):
            sketch.add(sketch.create(), object())

    def test_no_greatest_rank_is_lost(self) -> None:
        assert hyperloglog.noted({}, 0, 4) == {0: 61}
        assert hyperloglog.noted({}, (1 << 64) - 1, 4) == {15: 1}
        full: hyperloglog.Registers = bytearray([61] * 16)
        assert hyperloglog.estimate(full, 4) == math.inf
