"""Windows of streams: those of a search, on every kind of worker and with any parallelism, also from YAML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from framework import Grouping, StreamBuilder, TupleStream
from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.frontends.streams import (
    AggregateWindow,
    CountWindow,
    Session,
    Sliding,
    Tumbling,
    TumblingWindows,
)
from framework.frontends.streams.windowed import WindowStep
from framework.model.errors import LoadError
from framework.model.topology import Topology
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import (
    Aggregate,
    Aggregates,
    ApproximateDistinct,
    Collect,
    Count,
    Distinct,
    Max,
    Mean,
    PaneWindow,
    StandardDeviation,
    Sum,
    TopK,
    Variance,
)
from framework.operators.windows.aggregates.written import read, written
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.frontends.streams.windows import Row, Timed, drawn, every, larger, told, totals, windows
from tests.framework.runtime.pieces import drawn as drawn_plan
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import seeds_at_every_change

FORMS = (
    Tumbling(10_000),
    Sliding(30_000, 10_000),
    Sliding(25_000, 10_000),
    Sliding(60_000, 2_000),
    Sliding(5_000, 20_000),
    Session(9_000),
    CountWindow(4),
    CountWindow(6, 2),
)
EVERYTHING = Aggregates(
    total=Sum("amount"),
    n=Count(),
    most=Max("amount"),
    different=Distinct("amount"),
    mean=Mean("amount"),
    numbers=Collect("amount"),
)

End = Callable[[Any], TupleStream]
each_form = pytest.mark.parametrize("form", FORMS, ids=str)


def made(rows: Sequence[Row], form: Any, end: End, par: int = 1) -> Topology:
    builder = StreamBuilder()
    stream = builder.new_stream(Timed(list(rows))).filter(every, par=par)
    end(stream.key_by("user").window(form)).to(CollectingSink, grouping=Grouping.GLOBAL, name="sink")
    return builder.build("tested")


def everything(par: int) -> End:
    return lambda windowed: windowed.aggregate(EVERYTHING, bounds=True, par=par)


def rows_of(topology: Topology, **options: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = run_topology(topology, **options).result("sink")
    return found


def aggregated(rows: Sequence[Row], form: Any) -> list[tuple[Any, ...]]:
    return [
        (*window, sum(of), len(of), max(of), len(set(of)), sum(of) / len(of), of)
        for *window, of in windows(rows, form)
    ]


def in_order(found: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(found, key=lambda row: (row[2], row[:2], str(row)))


class TestAgainstASearch:
    @pytest.mark.few(4)
    @each_form
    @pytest.mark.parametrize("seeds", seeds_at_every_change(range(40), 1), ids=str)
    def test_every_aggregate_of_every_form(self, form: Any, seeds: range) -> None:
        for seed in seeds:
            rows = drawn(seed, 80)
            par, options = drawn_plan(seed)
            found = rows_of(made(rows, form, everything(par), par), **options)
            assert in_order(found) == in_order(aggregated(rows, form)), f"seed {seed}"
            if not isinstance(form, CountWindow):  # a window stands at its end, and of so many with a tuple
                assert [row[2] for row in found] == sorted(row[2] for row in found), f"seed {seed}"

    @pytest.mark.few(3)
    @each_form
    def test_the_other_ends(self, form: Any) -> None:
        rows = drawn(7, 60)
        expected = windows(rows, form)
        counts = rows_of(made(rows, form, lambda windowed: windowed.count()))
        assert sorted(counts) == sorted((key, len(of)) for key, _, _, of in expected)
        listed = rows_of(made(rows, form, lambda windowed: windowed.collect()))
        assert sorted((key, [pair[0] for pair in of]) for key, of in listed) == sorted(
            (key, of) for key, _, _, of in expected
        )
        reduced = rows_of(made(rows, form, lambda windowed: windowed.reduce(totals)))
        assert sorted(row[:2] for row in reduced) == sorted((key, sum(of)) for key, _, _, of in expected)
        processed = rows_of(
            made(rows, form, lambda windowed: windowed.process(told, fields=["key", "start", "end", "of"]))
        )
        evens = [(*window, [one]) for *window, of in expected for one in of if one % 2 == 0]
        assert in_order(processed) == in_order([*expected, *evens])

    def test_one_value_beside_the_key_is_by_itself(self) -> None:
        builder, rows = StreamBuilder(), drawn(3)
        pairs = builder.new_stream(Timed(rows)).map(_pair, fields=["user", "amount"])
        for end in ("reduce", "collect"):
            windowed = pairs.key_by("user").window(Tumbling("10ms"))
            stream = windowed.reduce(larger) if end == "reduce" else windowed.collect()
            stream.to(CollectingSink, grouping=Grouping.GLOBAL, name=f"{end}-sink")
        report = run_topology(builder.build("tested"))
        expected = windows(rows, Tumbling(10_000))
        assert sorted(report.result("reduce-sink")) == sorted((key, max(of)) for key, _, _, of in expected)
        assert sorted(report.result("collect-sink")) == sorted((key, of) for key, _, _, of in expected)

    def test_a_key_of_several_fields(self) -> None:
        builder, rows = StreamBuilder(), drawn(4)
        keyed = builder.new_stream(Timed(rows)).key_by(["user", "amount"])
        counts = keyed.window(Tumbling("1d")).count_by_key()
        assert counts.fields == ("user", "amount", "count")
        counts.to(CollectingSink, grouping=Grouping.GLOBAL, name="sink")
        found = rows_of(builder.build("tested"))
        assert sum(row[2] for row in found) == len(rows)
        assert {row[:2] for row in found} == {row[:2] for row in rows}


def _pair(user: str, amount: int, time: int) -> tuple[str, int]:
    return user, amount


class TestEveryPlan:
    @pytest.mark.few(2)
    @every_kind
    @pytest.mark.parametrize("form", [Sliding(25_000, 10_000), CountWindow(6, 2)], ids=str)
    def test_no_worker_and_no_parallelism_shows(self, form: Any, workers: Workers) -> None:
        rows = drawn(11, 80)
        expected = rows_of(made(rows, form, everything(1)))
        assert len(expected) > 20
        for par in (5,) if workers.kind == "process" else (2, 3, 4, 5):
            assert rows_of(made(rows, form, everything(par), par), **workers.options) == expected, par

    def test_floats_have_the_same_bytes_in_every_plan(self) -> None:
        rows: Any = [(key, amount * 0.1, time) for key, amount, time in drawn(12, 80)]
        floats = Aggregates(total=Sum("amount"), mean=Mean("amount"), spread=StandardDeviation("amount"))
        form = Sliding(60_000, 2_000)
        plans: list[tuple[int, dict[str, Any]]] = [
            (1, {}),
            (3, {"viper__slice__tuples": 2}),
            (5, {"viper__chains": False}),
        ]
        found = []
        for par, options in plans:
            topology = made(rows, form, lambda windowed, par=par: windowed.aggregate(floats, par=par), par)
            found.append(rows_of(topology, **options))
        assert repr(found[0]) == repr(found[1]) == repr(found[2])

    def test_panes_that_forget_are_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows, form = drawn(13, 60), Sliding(60_000, 2_000)
        monkeypatch.setattr(
            WindowStep, "slide", lambda self, window: PaneWindow(self.aggregate, 30, None, self._add)
        )
        assert in_order(rows_of(made(rows, form, everything(1)))) != in_order(aggregated(rows, form))


class TestYaml:
    @pytest.mark.few(2)
    @pytest.mark.parametrize("form", [FORMS[0], FORMS[2], FORMS[5], FORMS[7]], ids=str)
    def test_printed_as_yaml_it_is_the_same(self, form: Any, tmp_path: Path) -> None:
        rows = drawn(5, 50)
        ends: list[End] = [
            everything(2),
            lambda windowed: windowed.reduce(totals),
            lambda windowed: windowed.process(told, fields=["key", "start", "end", "of"]),
            lambda windowed: windowed.aggregate(Product("amount")),
        ]
        for number, end in enumerate(ends):
            topology = made(rows, form, end)
            file = tmp_path / f"printed{number}.yaml"
            file.write_text(to_flux(topology), "utf-8")
            loaded = load(str(file)).topology
            assert loaded is not None
            assert rows_of(loaded) == rows_of(topology)

    def test_aggregates_are_written_in_short(self) -> None:
        printed = to_flux(made([("a", 1, 0)], Sliding("60s", "10s"), everything(1)))
        assert "total: [sum, amount]" in printed
        assert "advance: 10s" in printed
        assert "className: framework.frontends.streams.AggregateWindow" in printed

    @pytest.mark.parametrize(
        "aggregate",
        [
            Sum("amount"),
            TopK("amount", 3, of="user"),
            TopK(k=4),
            Variance("amount", sample=True),
            ApproximateDistinct(precision=8),
            EVERYTHING,
        ],
        ids=str,
    )
    def test_what_is_written_is_read(self, aggregate: Aggregate[Any, Any]) -> None:
        again = read(written(aggregate))
        assert repr(again) == repr(aggregate)
        assert [vars(part) for part in _parts(again)] == [vars(part) for part in _parts(aggregate)]
        assert written(again) == written(aggregate)

    def test_what_has_no_path_stays_an_object(self) -> None:
        class Local(Product):
            pass

        local = Local("amount")
        both = Aggregates(local=local, n=Count())
        assert (written(local), written(both)) == (local, both)
        assert written(Product("amount")) == [f"{__name__}.Product", "amount"]
        assert len(rows_of(made(drawn(1), Tumbling("1d"), lambda windowed: windowed.aggregate(both)))) == 7

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (["summ", "amount"], "aggregate 'summ': expected one of .*did you mean 'sum'"),
            (["sum", "amount", 3], r"aggregate \['sum', 'amount', 3\]: .*positional"),
            ({}, r"Aggregates\(\): expected at least one"),
            ([3], r"aggregate \[3\]: expected a list such as \[sum, amount\]"),
            (["collections.Counter"], "no class derived from Aggregate"),
            (["top_k", "amount", 0], "k is 0"),
        ],
    )
    def test_what_is_no_aggregate_is_refused(self, given: Any, message: str) -> None:
        with pytest.raises(LoadError, match=message):
            read(given)

    def test_a_file_with_a_wrong_field_says_where(self, tmp_path: Path) -> None:
        printed = to_flux(made([("a", 1, 0)], Tumbling("10s"), everything(1)))
        file = tmp_path / "wrong.yaml"
        file.write_text(printed.replace("[sum, amount]", "[sum, amuont]"), "utf-8")
        problems = "".join(map(str, load(str(file)).problems))
        assert f"{file}:16: " in problems
        assert "no field 'amuont' in ['amount', 'time']; did you mean 'amount'?" in problems


def _parts(aggregate: Aggregate[Any, Any]) -> Sequence[Aggregate[Any, Any]]:
    return aggregate.parts if isinstance(aggregate, Aggregates) else (aggregate,)


class Product(Aggregate[int, int]):
    """As a user writes one."""

    def create(self) -> int:
        return 1

    def add(self, acc: int, value: Any) -> int:
        return acc * int(value)

    def merge(self, first: int, second: int) -> int:
        return first * second


class TestRefusals:
    def windowed(self) -> Any:
        return StreamBuilder().new_stream(Timed([])).key_by("user").window(Tumbling("10s"))

    def test_lengths_that_are_none(self) -> None:
        for wrong in (
            lambda: Tumbling("10"),
            lambda: Sliding("0s", "1s"),
            lambda: Session(timedelta(0)),
            lambda: CountWindow(0),
            lambda: CountWindow(3, "1s"),  # type: ignore[arg-type]
        ):
            with pytest.raises(ValueError, match="expected"):
                wrong()
        with pytest.raises(TypeError, match="expected a Count, a timedelta"):
            Tumbling(3.5)  # type: ignore[arg-type]

    def test_storms_names(self) -> None:
        assert TumblingWindows.of("10s") == Tumbling("10s")

    def test_forms_of_a_bolt_that_contradict_each_other(self) -> None:
        wrong: list[dict[str, Any]] = [
            {},
            {"size": "1s", "gap": "1s"},
            {"gap": "1s", "advance": "1s"},
            {"size": "1s", "slide": 3},
        ]
        for form in wrong:
            with pytest.raises(ValueError, match="expected one form of windows"):
                AggregateWindow(["count"], ["user"], **form)
        with pytest.raises(ValueError, match="width is 2: expected 1 to 1"):
            AggregateWindow(["count"], ["user"], 2, size="1s")

    def test_fields_and_functions(self) -> None:
        with pytest.raises(ValueError, match=r"no field 'user' in \['amount', 'time'\]"):
            self.windowed().aggregate(Sum("user"))
        with pytest.raises(TypeError, match="expected an aggregate"):
            self.windowed().aggregate(sum)
        with pytest.raises(TypeError, match="called with the value so far and the next one"):
            self.windowed().reduce(_pair)
        with pytest.raises(TypeError, match="called with a window and a list"):
            self.windowed().process(_pair)
        with pytest.raises(ValueError, match="needs a value beside the key"):
            stream = StreamBuilder().new_stream(Timed([])).key_by(["user", "amount", "time"])
            stream.window(Tumbling("10s")).reduce(larger)
