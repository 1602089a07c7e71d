"""Topologies of functions: what they bring, how they are printed, what is refused."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from framework import Grouping, StreamBuilder, TopologyBuilder, TupleStream
from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.model.errors import ComponentError, LoadError, TopologyError
from framework.model.topology import Topology
from framework.operators.sinks import CollectingSink
from tests.framework.counted_words import Count, Split
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.frontends.streams.words import Lines, Pairs, add, first_letter, is_short, with_number
from tests.framework.runtime.pieces import drawn, run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change

everywhere = pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)


def ended(builder: StreamBuilder, *streams: TupleStream) -> Topology:
    """The topology, with a sink that collects what is in these streams."""
    first, *others = streams
    first.union(*others).to(CollectingSink, grouping=Grouping.GLOBAL, name="sink")
    return builder.build("tested")


def rows_of(builder: StreamBuilder, *streams: TupleStream, **options: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = run_topology(ended(builder, *streams), **options).result("sink")
    return rows


def words(par: int = 1) -> tuple[StreamBuilder, TupleStream]:
    builder = StreamBuilder()
    return builder, builder.new_stream(Lines).flat_map(str.split, fields=["word"], par=par)


def pairs() -> tuple[StreamBuilder, TupleStream]:
    builder = StreamBuilder()
    return builder, builder.new_stream(Pairs)


def numbered(count: int = 100) -> list[tuple[str, int]]:
    return [("abc"[number % 3], number) for number in range(count)]


def counted_tuple_by_tuple() -> list[tuple[Any, ...]]:
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines)
    builder.set_bolt("split", Split).shuffle_grouping("lines")
    builder.set_bolt("count", Count).fields_grouping("split", "word")
    builder.set_bolt("sink", CollectingSink).global_grouping("count")
    rows: list[tuple[Any, ...]] = run_built(builder).result("sink")
    return rows


class TestWordCount:
    @everywhere
    def test_it_brings_what_bolts_bring(self, workers: Workers) -> None:
        builder, stream = words(3)
        counts = stream.key_by("word").count_by_key(par=2)
        found = rows_of(builder, counts, viper__jumbo__size=7, **workers.options)
        assert found == counted_tuple_by_tuple()

    @pytest.mark.parametrize("seeds", seeds_at_every_change(range(25), 3), ids=str)
    def test_no_plan_shows(self, seeds: range) -> None:
        expected = counted_tuple_by_tuple()
        for seed in seeds:
            par, options = drawn(seed)
            builder, stream = words(par)
            found = rows_of(builder, stream.key_by("word").count_by_key(par=par), **options)
            assert found == expected, (seed, par, options)

    def test_printed_as_yaml_it_is_the_same(self, tmp_path: Path) -> None:
        builder, stream = words()
        printed = to_flux(ended(builder, stream.key_by(first_letter).count_by_key()))
        assert "builtins.str.split" in printed
        assert "tests.framework.frontends.streams.words.first_letter" in printed
        file = tmp_path / "printed.yaml"
        file.write_text(printed, "utf-8")
        loaded = load(str(file)).topology
        assert loaded is not None
        builder, stream = words()
        again = rows_of(builder, stream.key_by(first_letter).count_by_key())
        assert run_topology(loaded).result("sink") == again
        assert again[-1] == ("a", 600)


class TestSteps:
    def test_map_of_one_field_and_of_several(self) -> None:
        builder, stream = pairs()
        one = stream.map(lambda name, number: number * 2)
        several = one.map(lambda value: (value, [value]), fields=["value", "listed"])
        assert (one.fields, several.fields) == (("value",), ("value", "listed"))
        assert rows_of(builder, several) == [(2 * n, [2 * n]) for n in range(100)]

    def test_flat_map_of_none_one_or_many(self) -> None:
        builder, stream = pairs()
        many = stream.flat_map(lambda name, number: [(name, n) for n in range(number % 3)], fields=["a", "b"])
        assert rows_of(builder, many) == [(name, n) for name, number in numbered() for n in range(number % 3)]

    def test_a_generator_as_flat_map(self) -> None:
        def letters(name: str, number: int) -> Any:
            yield name
            yield str(number)

        builder, stream = pairs()
        assert rows_of(builder, stream.flat_map(letters))[:4] == [("a",), ("0",), ("b",), ("1",)]

    def test_filter_and_peek(self) -> None:
        seen: list[Any] = []
        builder, stream = pairs()
        kept = stream.filter(is_short).peek(lambda *values: seen.append(values))
        assert kept.fields == ("name", "number")
        assert rows_of(builder, kept) == numbered(10) == seen

    def test_what_peek_returns_is_nobodys_concern(self) -> None:
        builder, stream = pairs()
        assert rows_of(builder, stream.peek(lambda name, number: threading.Lock())) == numbered()

    def test_branches_take_what_the_ones_before_left(self) -> None:
        builder, stream = pairs()
        few, even = stream.branch(is_short, lambda name, number: number % 2 == 0)
        joined = few.map(lambda name, number: ("few", number), fields=["way", "number"]).union(
            even.map(lambda name, number: ("even", number), fields=["way", "number"])
        )
        expected = [("few", n) if n < 10 else ("even", n) for n in range(100) if n < 10 or n % 2 == 0]
        assert rows_of(builder, joined) == expected

    def test_union_of_two_spouts_is_in_their_order(self) -> None:
        builder = StreamBuilder()
        first, second = builder.new_stream(Lines(20)), builder.new_stream(Lines(20), name="others")
        rows = rows_of(builder, first.union(second, first))
        assert len(rows) == 40
        assert rows[::2] == rows[1::2]

    def test_a_bolt_between(self) -> None:
        builder = StreamBuilder()
        split = builder.new_stream(Lines(5)).to(Split).stream()
        assert split.fields == ("word",)
        assert rows_of(builder, split.map(str.upper))[0] == ("A0",)

    def test_print(self, capfd: pytest.CaptureFixture[str]) -> None:
        builder, stream = pairs()
        stream.filter(lambda name, number: number < 2).print()
        run_topology(builder.build("tested"))
        assert capfd.readouterr().out == "a\t0\nb\t1\n"


class TestByKey:
    def test_the_fields_of_a_key_are_the_first(self) -> None:
        builder, stream = pairs()
        keyed = stream.key_by("number")
        assert (keyed.key, keyed.fields) == (("number",), ("number", "name"))
        assert stream.key_by("name").fields == ("name", "number")
        assert stream.key_by(["number", "name"]).key == ("number", "name")
        assert rows_of(builder, keyed)[:2] == [(0, "a"), (1, "b")]

    def test_a_function_makes_a_key(self) -> None:
        builder, stream = pairs()
        keyed = stream.key_by(lambda name, number: number % 2, field="odd")
        assert keyed.fields == ("odd", "name", "number")
        assert rows_of(builder, keyed.filter(lambda odd, name, number: odd))[0] == (1, "b", 1)

    def test_reduce(self) -> None:
        builder, stream = pairs()
        sums: dict[str, int] = {}
        expected = []
        for name, number in numbered():
            sums[name] = sums.get(name, 0) + number
            expected.append((name, sums[name]))
        assert rows_of(builder, stream.key_by("name").reduce_by_key(add, par=2)) == expected

    def test_reduce_of_several_values(self) -> None:
        builder, stream = pairs()
        keyed = stream.key_by(lambda name, number: 0)
        least = keyed.reduce_by_key(lambda before, values: min(before, values))
        assert rows_of(builder, least) == [(0, "a", 0)] * 100

    @pytest.mark.parametrize("slice_tuples", [1, 7, 4096])
    def test_aggregate_with_a_state_that_changes(self, slice_tuples: int) -> None:
        """Each result is as it was when its tuple came, however many came together."""
        builder, stream = pairs()
        lists = stream.key_by("name").aggregate_by_key(list, with_number)
        found = rows_of(builder, lists, viper__slice__tuples=slice_tuples)
        assert found == [(name, list(range(n % 3, n + 1, 3))) for name, n in numbered()]

    def test_aggregate_with_a_result_of_several_fields(self) -> None:
        builder, stream = pairs()
        means = stream.key_by("name").aggregate_by_key(
            (0, 0),
            lambda state, number: (state[0] + 1, state[1] + number),
            lambda state: (state[0], state[1] / state[0]),
            fields=["count", "mean"],
        )
        assert means.fields == ("name", "count", "mean")
        assert rows_of(builder, means)[-1] == ("a", 34, 49.5)

    def test_an_initial_state_is_one_for_each_key(self) -> None:
        builder, stream = pairs()
        lists = stream.key_by("name").aggregate_by_key([], with_number)
        assert rows_of(builder, lists)[:2] == [("a", [0]), ("b", [1])]


def fails_at_7(name: str, number: int) -> Any:
    if number == 7:
        raise ValueError("seven")
    return [number]


class TestErrors:
    @pytest.mark.parametrize("step", ["map", "flat_map", "filter", "peek", "branch", "key_by"])
    @pytest.mark.parametrize("slice_tuples", [1, 4096])
    def test_a_tuple_fails_alone(
        self, step: str, slice_tuples: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.ERROR)
        builder, stream = pairs()
        made = getattr(stream, step)(fails_at_7)
        (last,) = made if step == "branch" else (made,)
        topology = ended(builder, last)
        report = run_topology(topology, viper__slice__tuples=slice_tuples, viper__on__error="skip")
        assert len(report.result("sink")) == 99
        assert report.lost == 1
        assert "ValueError: seven" in caplog.text

    @pytest.mark.parametrize("step", ["reduce_by_key", "aggregate_by_key"])
    def test_so_it_does_by_key(self, step: str) -> None:
        def add_but_7(total: int, number: int) -> int:
            return total + fails_at_7("", number)[0]

        builder, stream = pairs()
        keyed = stream.key_by("name")
        sums = (
            keyed.reduce_by_key(add_but_7)
            if step == "reduce_by_key"
            else keyed.aggregate_by_key(0, add_but_7)
        )
        report = run_topology(ended(builder, sums), viper__on__error="skip")
        assert report.result("sink")[-1] == ("a", sum(range(0, 100, 3)))
        assert [row for row in report.result("sink") if row[0] == "b"][-1] == ("b", sum(range(1, 100, 3)) - 7)

    def test_a_result_of_another_shape(self) -> None:
        builder, stream = pairs()
        wrong = stream.map(lambda name, number: (number,) if number == 9 else (number, 0), fields=["a", "b"])
        with pytest.raises(ComponentError, match=r"has returned \(9,\): expected a tuple of 2 values"):
            run_topology(ended(builder, wrong))

    def test_a_lambda_in_another_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "cloudpickle", None)  # which would carry it
        builder, stream = pairs()
        message = r"bolt 'flat_map' has an argument .* that cannot be carried to another process: .*lambda"
        with pytest.raises(TopologyError, match=message):
            rows_of(builder, stream.flat_map(lambda name, number: [1]), **PROCESSES.options)


class TestRefused:
    def test_a_function_of_other_arguments(self) -> None:
        _, stream = pairs()
        with pytest.raises(TypeError, match=r"filter\(first_letter\): .*; it is called with .*'number'"):
            stream.filter(first_letter)
        with pytest.raises(TypeError, match=r"reduce_by_key\(first_letter\): .*so far and the next one"):
            stream.key_by("name").reduce_by_key(first_letter)

    def test_what_is_no_function(self) -> None:
        _, stream = pairs()
        with pytest.raises(LoadError, match="3 is a int, expected a function"):
            stream.map(3)  # type: ignore[arg-type]
        with pytest.raises(LoadError, match="has no 'ad'; did you mean 'add'"):
            stream.key_by("name").reduce_by_key("tests.framework.frontends.streams.words.ad")

    def test_fields(self) -> None:
        builder, stream = pairs()
        with pytest.raises(ValueError, match=r"key_by\('nme'\): the stream's .*did you mean 'name'"):
            stream.key_by("nme")
        with pytest.raises(ValueError, match="expected different fields"):
            stream.key_by(["name", "name"])
        with pytest.raises(ValueError, match="the stream has that field already"):
            stream.key_by(add, field="name")
        with pytest.raises(ValueError, match="needs a value beside the key"):
            stream.map(add).key_by("value").reduce_by_key(add)
        with pytest.raises(TypeError, match="fields must be a list of names, found 'word'"):
            stream.map(add, fields="word")
        with pytest.raises(ValueError, match=r"the fields \['name', 'number'\] and \['value'\]"):
            stream.union(stream.map(add))
        with pytest.raises(ValueError, match="of the same StreamBuilder"):
            stream.union(pairs()[1])
        with pytest.raises(ValueError, match=r"declares no stream 'x', but \['default'\]"):
            builder.new_stream(Lines, stream="x")
        with pytest.raises(ValueError, match=r"declares no stream 'malformd', but \['default'\]"):
            stream.stream("malformd")
        with pytest.raises(ValueError, match=r"stream\('default'\): these tuples are emitted by \['pairs', "):
            stream.union(stream.filter(lambda name, number: True)).stream("default")
        with pytest.raises(TypeError, match=r"branch\(\) needs a function"):
            stream.branch()

    def test_names_that_are_taken(self) -> None:
        builder, stream = pairs()
        stream.map(add).map(abs).map(abs)
        ids = [component.id for component in builder.build("tested").components]
        assert ids == ["pairs", "add", "abs", "abs-2"]
