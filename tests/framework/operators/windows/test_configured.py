"""The configuration of windows, in every front end, and the refusals of it before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from framework import (
    BatchingBolt,
    Count,
    Duration,
    Grouping,
    Spout,
    Stream,
    Topology,
    TopologyBuilder,
    TupleWindow,
    WindowedBolt,
)
from framework.frontends.flux import load_flux, to_flux
from framework.model.errors import ComponentError, ConfigError, TopologyError
from framework.model.topology import Topology as LogicalTopology
from framework.operators.sinks import CollectingSink
from framework.operators.windows import TimeUnit, WindowSpec, spec_in
from framework.operators.windows.spec import (
    GAP_MS,
    LATE_STREAM,
    LATENESS_MS,
    LENGTH_COUNT,
    LENGTH_MS,
    MOST_BYTES,
    MOST_ROWS,
    PARTIAL,
    SLIDE_COUNT,
    SLIDE_MS,
    TIME_FIELD,
    WATERMARK_MS,
)
from framework.planning import TimeMode
from framework.planning.validation import validate
from framework.testing import run_bolt, run_topology
from tests.framework.operators.windows.windowed import Numbered, Tell
from tests.framework.runtime.pieces import Numbers, plan_of, run_built

TIMED = {"viper.timestamp.field": "time"}


class Windows(Tell):
    """Windows that its constructor forms."""

    config = {MOST_ROWS: 77}

    def __init__(self, length: int = 3) -> None:
        super().__init__()
        self.with_tumbling_window(Count(length))


class Late(Tell):
    outputs = [Stream(["start", "end", "numbers", "new", "expired"]), Stream(["late_tuple"], name="late")]


def config_of(bolt: Any, **options: Any) -> dict[str, Any]:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("windows", bolt, **options).global_grouping("source")
    return dict(builder.build("tested").component("windows").config)


class TestMethods:
    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (Tell().with_window(Count(5), Count(2)), {LENGTH_COUNT: 5, SLIDE_COUNT: 2}),
            (Tell().with_window(Count.of(5)), {LENGTH_COUNT: 5, SLIDE_COUNT: 1}),
            (Tell().with_window(Duration.seconds(5), Count(2)), {LENGTH_MS: 5000, SLIDE_COUNT: 2}),
            (Tell().withWindow(Count(5), Duration.of(20)), {LENGTH_COUNT: 5, SLIDE_MS: 20}),
            (
                Tell().withTumblingWindow(Duration(2, TimeUnit.HOURS)),
                {LENGTH_MS: 7_200_000, SLIDE_MS: 7_200_000},
            ),
            (Tell().with_tumbling_window(timedelta(microseconds=500)), {LENGTH_MS: 0.5, SLIDE_MS: 0.5}),
            (Tell().with_session_window(Duration.minutes(1)), {GAP_MS: 60_000}),
            (Tell().with_window(Count(5)).with_session_window(Duration.of(1)), {GAP_MS: 1}),
            (
                Tell().with_session_window(Duration.of(1)).with_tumbling_window(Count(2)),
                {LENGTH_COUNT: 2, SLIDE_COUNT: 2},
            ),
            (
                Tell().withTimestampField("ts").withLateTupleStream("late"),
                {TIME_FIELD: "ts", LATE_STREAM: "late"},
            ),
            (Tell().with_allowed_lateness(Duration.of(3)), {LATENESS_MS: 3}),
            (Tell().with_allowed_lateness("3s"), {LATENESS_MS: 3000}),
            (Tell().with_partial_window(), {PARTIAL: True}),
            (Tell().withWatermarkInterval(Duration.of(3)), {WATERMARK_MS: 3}),
            (Tell, {}),
            (Windows, {LENGTH_COUNT: 3, SLIDE_COUNT: 3, MOST_ROWS: 77}),
            (Windows(9), {LENGTH_COUNT: 9, SLIDE_COUNT: 9, MOST_ROWS: 77}),
        ],
    )
    def test_they_write_storms_keys(self, made: Any, expected: dict[str, Any]) -> None:
        assert config_of(made) == expected

    def test_a_components_configuration_stands_above_them(self) -> None:
        assert config_of(Windows, args=[4], config={LENGTH_COUNT: 8}) == {LENGTH_COUNT: 8, SLIDE_COUNT: 4}

    def test_a_class_of_specs_has_them(self) -> None:
        class Windowed(Topology):
            source = Numbers.spec()
            windows = Tell().with_window(Count(4)).spec(inputs={source: Grouping.GLOBAL})
            others = Windows.spec(inputs={source: Grouping.GLOBAL})

        assert Windowed.windows.config == {LENGTH_COUNT: 4, SLIDE_COUNT: 1}
        assert Windowed.others.config == {LENGTH_COUNT: 3, SLIDE_COUNT: 3, MOST_ROWS: 77}

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: Tell().with_window(5), TypeError, "the length of a window is 5: expected a Count"),
            (lambda: Tell().with_window(Count(5), 2), TypeError, "an interval is 2: expected a Count"),
            (
                lambda: Tell().with_session_window(Count(5)),
                TypeError,
                "the gap of a session is 5: expected a timed",
            ),
            (lambda: Tell().with_lag(-Duration.of(1)), ValueError, "the lag is .*: expected at least 0"),
        ],
    )
    def test_what_is_no_length_is_refused(self, call: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            call()


class TestKeys:
    def test_an_interval_may_be_left_out(self) -> None:
        assert spec_in({LENGTH_MS: 1}) == WindowSpec(length_us=1000, slide_count=1)
        assert spec_in({}) is None

    @pytest.mark.parametrize(
        "conf",
        [
            {LENGTH_COUNT: 1, LENGTH_MS: 1},
            {SLIDE_COUNT: 1},
            {LENGTH_COUNT: 1, SLIDE_COUNT: 1, SLIDE_MS: 1},
            {GAP_MS: 1, LENGTH_COUNT: 1},
        ],
    )
    def test_windows_are_formed_in_one_way(self, conf: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match="expected"):
            spec_in(conf)


class TestFlux:
    FILE = Path(__file__).parents[2] / "frontends" / "flux" / "files" / "windows.yaml"

    def test_an_example_of_storms_is_loaded_as_it_is(self, tmp_path: Path) -> None:
        topology = load_flux(self.FILE).topology
        assert topology is not None
        assert topology.component("count").config == {LENGTH_MS: 5000, SLIDE_MS: 3000}
        assert all(problem.warning for problem in validate(topology))
        printed = tmp_path / "printed.yaml"
        printed.write_text(to_flux(topology))
        assert load_flux(printed).topology == topology
        assert "config:\n" not in to_flux(topology).partition("bolts:")[2]

    def test_it_counts_words(self) -> None:
        run = run_topology(self.FILE, inputs={"words": [["a"]] * 7}, conf={"viper.time": "ingest"})
        counts = [count for (count,) in run.emitted("count")]
        assert counts and counts[-1] in range(1, 8)

    def test_a_configuration_in_the_file_stands_above_methods(self, tmp_path: Path) -> None:
        text = self.FILE.read_text().replace(
            "    configMethods", f"    config: {{{SLIDE_MS}: 1000}}\n    configMethods"
        )
        (tmp_path / "own.yaml").write_text(text)
        topology = load_flux(tmp_path / "own.yaml").topology
        assert topology is not None
        assert topology.component("count").config == {LENGTH_MS: 5000, SLIDE_MS: 1000}


def built(
    bolt: Any, config: dict[str, Any], par: int = 1, spout: dict[str, Any] | None = None
) -> LogicalTopology:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[[(1, 1)]], config={**TIMED, **(spout or {})})
    if spout == LOGICAL:
        builder.set_config("viper.time", "logical")
    builder.set_bolt("windows", bolt, par, config=config).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder.build("tested")


DURATION = {LENGTH_MS: 10, SLIDE_MS: 10}
LOGICAL = {"viper.timestamp.field": None}
"""Of a spout without times."""
REFUSED: Sequence[tuple[Any, dict[str, Any], dict[str, Any], str]] = [
    (Tell, {}, {}, "bolt 'windows' processes windows, and nothing says which: expected with_window()"),
    (Tell, {LENGTH_MS: 1, LENGTH_COUNT: 1}, {}, "says of its windows what cannot be"),
    (
        Tell,
        DURATION,
        LOGICAL,
        "has windows of a duration, but time is logical here",
    ),
    (Tell, {**DURATION, TIME_FIELD: "number"}, {}, "from field 'number', and spout 'source' from 'time'"),
    (
        Tell,
        {LENGTH_COUNT: 1, TIME_FIELD: "time"},
        LOGICAL,
        "set viper.timestamp.field to 'time' for 'source'",
    ),
    (
        Tell,
        {**DURATION, TIME_FIELD: "time", "viper.timestamp.unit": "s"},
        {},
        "has viper.timestamp.unit s, and spout 'source' ms: expected the same",
    ),
    (Tell, {**DURATION, TIME_FIELD: "time", LATE_STREAM: "late"}, {}, "an unknown stream 'late'"),
    (Late, {**DURATION, LATE_STREAM: "late"}, {}, "nothing says which tuples are late"),
    (Late, {**DURATION, TIME_FIELD: "time", LATE_STREAM: "default"}, {}, "is not direct and has one field"),
    (
        Tell,
        {LENGTH_COUNT: 1, TIME_FIELD: "time", LATENESS_MS: 1},
        {},
        "whose length and interval are durations",
    ),
]
WARNED: Sequence[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"topology.bolts.tuple.timestamp.max.lag.ms": 5}, {}, "set viper.timestamp.slack to 5 for 'source'"),
    ({TIME_FIELD: "time", LATENESS_MS: 5}, {}, "set viper.timestamp.late to admit for 'source'"),
    ({WATERMARK_MS: 5}, {}, "has a watermark interval, without effect"),
]


class TestRefused:
    @pytest.mark.parametrize(("bolt", "config", "spout", "message"), REFUSED)
    def test_what_cannot_be(
        self, bolt: Any, config: dict[str, Any], spout: dict[str, Any], message: str
    ) -> None:
        topology = built(bolt, config, spout=spout)
        found = [str(problem) for problem in validate(topology) if not problem.warning]
        assert len(found) == 1 and message in found[0], found

    @pytest.mark.parametrize(("config", "spout", "message"), WARNED)
    def test_what_is_without_effect_is_told(
        self, config: dict[str, Any], spout: dict[str, Any], message: str
    ) -> None:
        (found,) = validate(built(Tell, {**DURATION, **config}, spout=spout))
        assert found.warning and message in found.message

    def test_a_run_refuses_it_too(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbers)
        builder.set_bolt("windows", Tell).global_grouping("source")
        with pytest.raises(TopologyError, match="nothing says which"):
            plan_of(builder)

    def test_windows_of_several_tasks_are_outside_of_the_guarantee(self) -> None:
        (found,) = [one for one in validate(built(Tell, DURATION, 3)) if "tasks has windows" in one.message]
        assert found.warning
        assert validate(built(Tell, DURATION)) == []

    def test_a_class_has_no_other_way_to_its_tuples(self) -> None:
        for body in ({"process": lambda self, tup: None}, {"process_tick": lambda self, tup: None}):
            with pytest.raises(TypeError, match="but gets its tuples in process_window"):
                type("Wrong", (WindowedBolt,), body)
        with pytest.raises(TypeError, match="a tuple is acked when its window has taken it"):
            type("Wrong", (WindowedBolt,), {"auto_ack": False})


def test_time_is_that_of_the_wall_where_windows_have_durations_and_tuples_no_time() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("windows", Tell, config=DURATION).global_grouping("source")
    assert plan_of(builder)[0].time is TimeMode.INGEST


class TestBounds:
    def rows(self, config: dict[str, Any]) -> None:
        conf = {LENGTH_COUNT: 50, SLIDE_COUNT: 10, **config}
        builder = TopologyBuilder()
        builder.set_spout("source", Numbered, args=[[(n, n) for n in range(100)]])
        builder.set_bolt("windows", Tell, config=conf).global_grouping("source")
        run_built(builder)

    def test_of_tuples(self) -> None:
        self.rows({MOST_ROWS: 60})
        with pytest.raises(ComponentError, match=r"hold 51 tuples, and viper\.window\.rows is 50: raise it"):
            self.rows({MOST_ROWS: 50})

    def test_of_bytes(self) -> None:
        self.rows({MOST_BYTES: 100_000})
        with pytest.raises(ComponentError, match=r"bytes, and viper\.window\.bytes is 1,000: raise it"):
            self.rows({MOST_BYTES: 1000})

    def test_tuples_in_no_window_are_not_kept(self) -> None:
        self.rows({LENGTH_COUNT: 2, SLIDE_COUNT: 90, MOST_ROWS: 4})


class Batches(BatchingBolt):
    """Emits the numbers of a batch at its end, after all that has a time."""

    outputs = ["number", "time"]
    config = {"topology.tick.tuple.freq.secs": 0.05}

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        for tup in tups:
            self.emit(tup.values)


class Moments(Spout):
    outputs = ["number", "time"]
    config = TIMED

    def tuples(self) -> Iterator[list[int]]:
        yield from ([n, n * 10] for n in range(14))


def test_tuples_behind_all_time_form_a_window_at_the_very_end() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Moments)
    builder.set_bolt("batches", Batches).global_grouping("source")
    builder.set_bolt("windows", Tell, config={LENGTH_MS: 50, SLIDE_MS: 50}).global_grouping("batches")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found = run_built(builder).result("sink")
    assert sorted(number for _, _, numbers, *_ in found for number in numbers) == list(range(14))
    assert found[-1][0] is None and found[-1][2][-1] == 13


class Keeps(WindowedBolt):
    """Keeps its windows, and looks at them later."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.kept: list[TupleWindow] = []

    def process_window(self, window: TupleWindow) -> None:
        self.kept.append(window)


def test_windows_may_be_kept() -> None:
    conf = {LENGTH_COUNT: 3, SLIDE_COUNT: 3}
    run = run_bolt(Keeps, [[n] for n in range(12)], fields=["number"], conf=conf)
    kept = [[tup.values.number for tup in window.tuples] for window in run.component.kept]
    assert kept == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_a_test_of_windows_needs_a_time() -> None:
    with pytest.raises(TopologyError, match="has windows of a duration, but time is logical here"):
        run_bolt(Tell, [[1]], fields=["number"], conf=DURATION)
