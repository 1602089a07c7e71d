"""Windows of a zone's days, weeks and months, and windows with an offset, in runs: those of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from framework import Grouping, KeyWindow, OPlus, Spout, Stream, StreamBuilder, TopologyBuilder, Tuple
from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.frontends.streams import AggregateWindow, Sliding, Tumbling
from framework.model.errors import TopologyError
from framework.operators.components import JoinBolt, JPlus
from framework.operators.sinks import CollectingSink
from framework.operators.windows import Duration
from framework.operators.windows.aggregates import Aggregates, Collect, Sum
from framework.operators.windows.columns import ColumnWindows
from framework.operators.windows.joins import Equal, SameWindow
from framework.operators.windows.spec import (
    GAP_MS,
    LATENESS_MS,
    LENGTH_COUNT,
    LENGTH_MONTHS,
    LENGTH_MS,
    OFFSET_MS,
    SLIDE_COUNT,
    SLIDE_MONTHS,
    SLIDE_MS,
    TIME_FIELD,
    ZONE,
)
from framework.operators.windows.stretches import RowWindows
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.operators.windows.windowed import Tell
from tests.framework.runtime.pieces import drawn as drawn_plan
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change

Row = tuple[str, int, int]
"""A key, a number, and the time in microseconds."""
Bounds = tuple[int, int]
HOUR: Final = timedelta(hours=1)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
NOON: Final = {
    "Europe/Berlin": ("2026-03-29T12", "2026-10-25T12", "1945-05-24T12"),
    "America/Sao_Paulo": ("2018-11-04T12", "2018-02-17T12"),
    "Africa/Cairo": ("2024-04-26T12", "2024-10-31T12"),
    "Asia/Beirut": ("2022-03-27T12", "2021-10-30T12"),
    "Pacific/Apia": ("2011-12-31T12",),
    "America/Havana": ("2021-11-07T12",),
    "Asia/Kolkata": ("2026-01-01T12", "1969-12-31T12"),
    "Australia/Lord_Howe": ("2024-10-06T12", "2024-04-07T12"),
}
"""Days of zones on which clocks are changed, or around which they are."""
FORMS: Final = (
    {"size": "1d"},
    {"size": "1d", "offset": "6h"},
    {"size": "3d", "offset": "-90m"},
    {"size": "1w"},
    {"size": "1mo"},
    {"size": "3d", "advance": "1d"},
    {"size": "7d", "advance": "2d", "offset": "5h"},
    {"size": "2w", "advance": "1w"},
    {"size": "2mo", "advance": "1mo"},
    {"size": "1d", "advance": "3d"},
)
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
OF_SPOUT: Final = {"viper.timestamp.field": "time", "viper.timestamp.unit": "us"}


# -- the search


@lru_cache
def starts(zone: str, around: str, unit: str, offset: timedelta) -> list[tuple[int, int]]:
    """The number of each day or month from 1970 around a day, and the instant at which it starts: the first
    quarter of an hour in which clocks show the time at which it is to start, or a later one."""
    noon = datetime.fromisoformat(around).replace(tzinfo=UTC)
    quarter, instants = timedelta(minutes=15), []
    reach = timedelta(days=120 if unit == "mo" else 40)
    at = noon - reach
    while at < noon + reach:
        instants.append((at, at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)))
        at += quarter
    found = []
    for day in range((instants[0][1] - offset).toordinal() + 1, (instants[-1][1] - offset).toordinal()):
        first = date.fromordinal(day)
        if unit == "mo" and first.day != 1:
            continue
        reading = datetime(first.year, first.month, first.day) + offset
        # The clock jumps by no more than a day.
        start = next(at for at, clock in instants if clock >= reading)
        number = (
            (first.year - 1970) * 12 + first.month - 1 if unit == "mo" else day - date(1970, 1, 1).toordinal()
        )
        found.append((number, (start - EPOCH) // MICROSECOND))
    return found


def parts_of(length: str) -> tuple[int, str]:
    for unit, days in (("mo", 1), ("w", 7), ("d", 1)):
        if length.endswith(unit):
            return int(length.removesuffix(unit)) * days, unit
    raise AssertionError(length)


def parsed(offset: str | None) -> timedelta:
    if offset is None:
        return timedelta(0)
    number, unit = int(offset[:-1]), offset[-1]
    return number * {"h": HOUR, "m": HOUR / 60}[unit]


def bounds(zone: str, around: str, form: dict[str, str], *, by_end: bool = False) -> list[Bounds]:
    """All windows around a day; of those that start together the last, or that end together the first."""
    size, _ = parts_of(form["size"])
    advance, unit = parts_of(form.get("advance", form["size"]))
    monday = 4 if unit == "w" else 0
    days = dict(starts(zone, around, "mo" if unit == "mo" else "d", parsed(form.get("offset"))))
    if by_end:
        ends = {
            days[n]: days[n - size]
            for n in reversed(days)
            if n - size in days and (n - monday) % advance == 0
        }
        return sorted((start, end) for end, start in ends.items())
    return sorted(
        {days[n]: days[n + size] for n in days if n + size in days and (n - monday) % advance == 0}.items()
    )


def drawn(random: Random) -> tuple[str, str, list[Row]]:
    """A zone, one of its days, and rows around it: on the bounds of days, before and after them."""
    zone = random.choice([*NOON])
    around = random.choice(NOON[zone])
    noon = (datetime.fromisoformat(around).replace(tzinfo=UTC) - EPOCH) // MICROSECOND
    hour = 3600 * 10**6
    midnights = [at for _, at in starts(zone, around, "d", timedelta(0)) if abs(at - noon) < 200 * hour]
    times = [noon + random.randrange(-150 * hour, 150 * hour) for _ in range(40)]
    times += [random.choice(midnights) + random.choice((-1, 0, 1, 6 * hour, 5 * hour)) for _ in range(25)]
    return zone, around, [(random.choice("abc"), n, at) for n, at in enumerate(sorted(times))]


def searched(rows: Sequence[Row], windows: Sequence[Bounds]) -> list[tuple[Any, ...]]:
    found = []
    for start, end in windows:
        for key in "abc":
            of = [number for one, number, at in rows if one == key and start <= at < end]
            if of:
                found.append((key, start, end, sum(of), of))
    return in_order(found)


def in_order(found: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(found, key=lambda row: (row[2], row[0], row[1]))


class Timed(Spout):
    """Emits rows."""

    outputs = ["key", "number", "time"]
    config = OF_SPOUT

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[Row]:
        yield from map(tuple, self._rows)


SCHEMA: Final = {"key": "string", "number": "int64", "time": "int64 not null"}


class Batches(Timed):
    """Emits rows as columns."""

    outputs = [Stream(schema=SCHEMA)]

    def tuples(self) -> Iterator[Any]:
        for first in range(0, len(self._rows), 30):
            columns = zip(*self._rows[first : first + 30], strict=True)
            self.emit_rows(dict(zip(SCHEMA, map(list, columns), strict=True)))
            yield from ()


# -- streams


def streamed(rows: Sequence[Row], form: Any, par: int, spout: type[Timed] = Timed) -> Any:
    builder = StreamBuilder()
    windowed = builder.new_stream(spout(list(rows))).key_by("key").window(form)
    of = Aggregates(total=Sum("number"), numbers=Collect("number"))
    windowed.aggregate(of, bounds=True, par=par).to(CollectingSink, grouping=Grouping.GLOBAL, name="sink")
    return builder.build("tested")


def form_of(zone: str, form: dict[str, str]) -> Tumbling | Sliding:
    placed: dict[str, Any] = {"zone": zone, **({"offset": form["offset"]} if "offset" in form else {})}
    return (
        Sliding(form["size"], form["advance"], **placed)
        if "advance" in form
        else Tumbling(form["size"], **placed)
    )


def check_stream(seed: int, form: dict[str, str], workers: Workers = INLINE) -> None:
    random = Random(seed)
    zone, around, rows = drawn(random)
    par, options = drawn_plan(seed)
    topology = streamed(rows, form_of(zone, form), par)
    report = run_topology(topology, **{**workers.options, **options})
    found = report.result("sink")
    told = f"seed {seed}: {zone} {around} {form}"
    assert in_order(found) == searched(rows, bounds(zone, around, form)), told
    assert [row[2] for row in found] == sorted(row[2] for row in found), told


@pytest.mark.few(4)
@each_form
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(60), 4), ids=str)
def test_aggregates_are_those_of_a_search(form: dict[str, str], seeds: range) -> None:
    for seed in seeds:
        check_stream(seed, form)


@pytest.mark.few(2)
@every_kind
@pytest.mark.parametrize("form", [FORMS[1], FORMS[5]], ids=str)
def test_no_worker_and_no_parallelism_shows(form: dict[str, str], workers: Workers) -> None:
    zone, _, rows = drawn(Random(3))
    expected = run_topology(streamed(rows, form_of(zone, form), 1)).result("sink")
    for par in (2, 5):
        found = run_topology(streamed(rows, form_of(zone, form), par), **workers.options).result("sink")
        assert found == expected


@each_form
def test_columns_and_rows_at_once_give_the_same(
    form: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ColumnWindows, "fewest", 2)
    monkeypatch.setattr(RowWindows, "fewest", 2)
    took = counted(monkeypatch, ColumnWindows), counted(monkeypatch, RowWindows)
    for seed in range(3):
        zone, around, rows = drawn(Random(seed))
        expected = searched(rows, bounds(zone, around, form))
        for spout in (Timed, Batches):
            builder = TopologyBuilder()
            builder.set_spout("source", spout, args=[rows])
            of = {"total": ["sum", "number"], "n": ["count"]}
            placed: dict[str, Any] = {**form, "zone": zone}
            operator = AggregateWindow(of, ["key", "number", "time"], bounds=True, **placed)
            builder.set_bolt("windows", operator, 2).fields_grouping("source", ["key"])
            builder.set_bolt("sink", CollectingSink).global_grouping("windows")
            found = run_built(builder).result("sink")
            assert in_order(found) == [(*row, len(of)) for *row, of in expected], f"seed {seed}: {zone}"
    if form != FORMS[-1]:  # where there are gaps between windows, tuples are taken one by one
        assert took[0] and took[1]


def counted(monkeypatch: pytest.MonkeyPatch, cls: Any) -> list[int]:
    """The numbers of tuples that were taken at once."""
    counts, take = list[int](), cls.take

    def taking(self: Any, *args: Any) -> int:
        counts.append(take(self, *args))
        return counts[-1]

    monkeypatch.setattr(cls, "take", taking)
    return counts


# -- operators


class Told(OPlus):
    """Emits each window that has ended."""

    outputs = ["key", "start", "end", "numbers"]

    def create(self) -> list[tuple[int, int]]:
        return []

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        window.state = [*window.state, (tup.values.number, tup.values.time)]

    def output(self, window: KeyWindow) -> Iterator[tuple[Any, ...]]:
        yield window.key, window.start, window.end, [number for number, _ in window.state]


class ToldSliding(Told):
    """Likewise, with one window for each key, which slides."""

    windows = "single"

    def slide(self, window: KeyWindow) -> list[tuple[int, int]]:
        start = self.window_state.grid.next_start(window.start)
        return [found for found in window.state if found[1] >= start]


@pytest.mark.few(4)
@each_form
@pytest.mark.parametrize("cls", [Told, ToldSliding])
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(40), 4), ids=str)
def test_operators_have_the_windows_of_a_search(form: dict[str, str], cls: type[Told], seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        zone, around, rows = drawn(random)
        expected = [(*row[:3], row[4]) for row in searched(rows, bounds(zone, around, form))]
        for config in ({}, {"viper.on.error": "skip"}):  # with which changes may be taken back
            builder = TopologyBuilder()
            builder.set_spout("source", Timed, args=[rows])
            operator = cls(form["size"], form.get("advance"), offset=form.get("offset"), zone=zone)
            declarer = builder.set_bolt("windows", operator, random.randrange(1, 4), config=config)
            declarer.fields_grouping("source", ["key"])
            builder.set_bolt("sink", CollectingSink).global_grouping("windows")
            found = run_built(builder).result("sink")
            assert in_order(found) == expected, f"seed {seed}: {zone}"


@pytest.mark.few(4)
@each_form
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(40), 4), ids=str)
def test_storms_windows_have_their_ends(form: dict[str, str], seeds: range) -> None:
    """A window is (start, end]: what comes at midnight is of the day before."""
    for seed in seeds:
        zone, around, rows = drawn(Random(seed))
        size, advance = form["size"], form.get("advance", form["size"])
        windows = Tell().with_window(size, advance, form.get("offset"), zone)
        builder = TopologyBuilder()
        builder.set_spout("source", Timed, args=[rows])
        builder.set_bolt("windows", windows).global_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("windows")
        found = [tuple(row[:3]) for row in run_built(builder).result("sink")]
        expected = [
            (start, end, of)
            for start, end in sorted(bounds(zone, around, form, by_end=True), key=lambda pair: pair[1])
            if (of := [number for _, number, at in rows if start < at <= end])
        ]
        assert found == expected, f"seed {seed}: {zone} {around} {form}"


# -- joins


@pytest.mark.few(6)
@every_kind
@pytest.mark.parametrize("kind", ["JPlus", "SameWindow"])
@pytest.mark.parametrize("form", FORMS[:5], ids=str)
def test_joins_in_windows_are_those_of_a_search(kind: str, form: dict[str, str], workers: Workers) -> None:
    for seed in range(2):
        zone, around, rows = drawn(Random(seed))
        left, right = rows[::2], rows[1::2]
        names = ["key", "number", "time", "key2", "number2", "time2"]
        builder = TopologyBuilder()
        builder.set_spout("left", Timed, args=[left])
        builder.set_spout("right", Timed, args=[right])
        placed: dict[str, Any] = {"offset": form.get("offset"), "zone": zone}
        bolt: Any = JPlus(form["size"], fields=names, windows="multi", **placed)
        if kind == "SameWindow":
            bolt = JoinBolt("left", "right", Equal("key") & SameWindow(form["size"], **placed), names)
        declarer = builder.set_bolt("join", bolt, 3)
        declarer.fields_grouping("left", ["key"]).fields_grouping("right", ["key"])
        builder.set_bolt("sink", CollectingSink).global_grouping("join")
        days = bounds(zone, around, form)
        expected = [
            (*one, *other)
            for one in left
            for other in right
            if one[0] == other[0]
            and any(start <= one[2] < end and start <= other[2] < end for start, end in days)
        ]
        found = workers.run(builder).result("sink")
        assert sorted(found) == sorted(expected) and len(found) > 20, f"seed {seed}: {zone} {around}"


# -- late rows


def test_late_rows_come_to_their_days() -> None:
    """The day of 25 hours is kept for two hours more."""
    midnight = int(datetime(2026, 10, 24, 22, tzinfo=UTC).timestamp()) * 10**6
    hour = 3600 * 10**6
    hours = (0, 24, 25, 24.5, 28, 24)
    times = [midnight + round(hours_later * hour) for hours_later in hours]
    builder = TopologyBuilder()
    rows = [("a", number, at) for number, at in enumerate(times)]
    builder.set_spout("source", Timed, args=[rows], config={**OF_SPOUT, "viper.timestamp.late": "admit"})
    config = {TIME_FIELD: "time", "viper.timestamp.unit": "us", LATENESS_MS: 7_200_000}
    operator = Told("1d", zone="Europe/Berlin")
    builder.set_bolt("windows", operator, config=config).fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    day, following = midnight + 25 * hour, midnight + 49 * hour
    assert run_built(builder).result("sink") == [
        ("a", midnight, day, [0, 1]),
        ("a", midnight, day, [0, 1, 3]),
        ("a", day, following, [2, 4]),
    ]


# -- what a run says and keeps


def test_printed_as_yaml_it_is_the_same(tmp_path: Path) -> None:
    zone, _, rows = drawn(Random(1))
    for number, form in enumerate(
        (
            Tumbling("1d", zone=zone, offset="6h"),
            Sliding("2mo", "1mo", zone=ZoneInfo(zone)),
            Tumbling(timedelta(days=7), zone=zone, offset=-HOUR),
            Sliding("3h", "1h", offset="-30m"),
        )
    ):
        topology = streamed(rows, form, 2)
        file = tmp_path / f"printed{number}.yaml"
        file.write_text(to_flux(topology), "utf-8")
        loaded = load(str(file)).topology
        assert loaded is not None
        found = run_topology(topology).result("sink")
        assert len(found) > 5 and run_topology(loaded).result("sink") == found


# -- what is refused


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Tumbling("1h", zone="Asia/Kolkata"), "'1h': expected whole days, weeks or months"),
        (lambda: Tumbling("24h", zone="Europe/Berlin"), "leave out the zone, and give an offset"),
        (lambda: Tumbling("1.5d", zone="Europe/Berlin"), "'1.5d': expected whole days"),
        (lambda: Tumbling("0d", zone="Europe/Berlin"), "'0d': expected whole days"),
        (lambda: Tumbling("-1d", zone="Europe/Berlin"), "'-1d': expected whole days"),
        (lambda: Tumbling(timedelta(hours=36), zone="Europe/Berlin"), "expected whole days"),
        (lambda: Tumbling(86_400_000_000, zone="Europe/Berlin"), "expected days, weeks or months"),
        (lambda: Tumbling("1w"), "weeks and months are those of a zone"),
        (lambda: Tumbling("1mo"), "weeks and months are those of a zone"),
        (lambda: Tumbling("1y", zone="UTC"), "expected whole days"),
        (lambda: Sliding("1mo", "1d", zone="UTC"), "expected both in months"),
        (lambda: Sliding("1d", "6h", zone="UTC"), "an interval is '6h': expected whole days"),
        (lambda: Tumbling("1d", zone="Berlin"), "unknown zone 'Berlin'"),
        (lambda: Tumbling("1d", zone=""), "expected the name of a zone"),
        (lambda: Tumbling("1d", zone=UTC), "expected the name of a zone"),  # type: ignore[arg-type]
        (lambda: Tumbling("1d", zone=3), "expected the name of a zone"),  # type: ignore[arg-type]
        (lambda: Tumbling("1h", offset="six"), "the offset is 'six'"),
        (lambda: Tumbling("1h", offset=1.5), "the offset is 1.5"),  # type: ignore[arg-type]
        (lambda: Tumbling("1h", offset=True), "the offset is True"),
        (lambda: SameWindow("1h", zone="UTC"), "expected whole days"),
        (lambda: SameWindow("1d", zone="Berlin"), "unknown zone"),
        (lambda: Tell().with_tumbling_window(Duration.hours(1), zone="UTC"), "expected whole days"),
        (lambda: Tell().with_window("1d", zone="UTC"), "as only windows that come every so much time"),
        (lambda: Tell().with_window(Duration.days(1), offset="1h"), "as only windows that come"),
    ],
)  # fmt: skip
def test_what_no_zone_has_is_refused(made: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        made()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": "1h", "zone": "UTC"}, "with size alone"),
        ({"gap": "1h", "offset": "1m"}, "with size alone"),
        ({"count": 3, "zone": "UTC"}, "with size alone"),
        ({"size": "5h", "zone": "UTC"}, "expected whole days"),
    ],
)
def test_forms_of_a_bolt_that_have_no_zone(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopologyBuilder().set_bolt("windows", AggregateWindow(["count"], ["key"], **arguments))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {LENGTH_MS: 3_600_000, SLIDE_MS: 3_600_000, ZONE: "UTC"},
            "expected whole days, a multiple of 86400000",
        ),
        ({LENGTH_MS: 86_400_000, SLIDE_MS: 86_400_000, ZONE: "Mars/X"}, "unknown zone 'Mars/X'"),
        ({LENGTH_MS: 86_400_000, SLIDE_MS: 86_400_000, ZONE: ""}, "unknown zone ''"),
        ({GAP_MS: 1000, ZONE: "UTC"}, "only windows that come every so much time have an offset and a zone"),
        ({GAP_MS: 1000, OFFSET_MS: -5}, "leave out viper.window.offset.ms"),
        ({LENGTH_COUNT: 3, SLIDE_COUNT: 3, OFFSET_MS: 5}, "leave out viper.window.offset.ms"),
        ({LENGTH_MS: 1000, OFFSET_MS: 5}, "leave out viper.window.offset.ms"),
        ({LENGTH_MONTHS: 1, SLIDE_MONTHS: 1}, "expected viper.window.zone as well"),
        ({LENGTH_MONTHS: 1, ZONE: "UTC"}, "expected viper.window.sliding.interval.months as well"),
        ({LENGTH_MONTHS: 1, SLIDE_MS: 86_400_000, ZONE: "UTC"}, "expected both in months, or both in milli"),
        ({LENGTH_MS: 86_400_000, SLIDE_MONTHS: 1, ZONE: "UTC"}, "expected both in months, or both in milli"),
        ({LENGTH_MONTHS: 1, LENGTH_MS: 1, SLIDE_MONTHS: 1, ZONE: "UTC"}, "expected one of"),
    ],
)
def test_keys_that_say_what_cannot_be(config: dict[str, Any], message: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, args=[[]])
    builder.set_bolt("windows", Tell, config=config).global_grouping("source")
    with pytest.raises(TopologyError, match=f"says of its windows what cannot be: .*{message}"):
        run_built(builder)


def test_an_offset_of_windows_before_is_forgotten() -> None:
    """Windows that are formed again begin where the new ones do."""
    windows = Tell().with_tumbling_window("1mo", "6h", "UTC").with_tumbling_window(Duration.hours(2))
    found = {key: value for key, value in windows.component_configuration.items() if value is not None}
    assert found == {LENGTH_MS: 7_200_000, SLIDE_MS: 7_200_000}
    assert (
        Tell().with_window(Duration.hours(2), Duration.hours(1), -HOUR).component_configuration[OFFSET_MS]
        == -3_600_000
    )
