"""Bounds of windows by time, against pandas, what DuckDB has given, and the clocks of zones one by one."""

from __future__ import annotations

import csv
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

import pytest

from framework.model.errors import ConfigError
from framework.operators.windows import zones
from framework.operators.windows.grids import CalendarGrid, Grid
from framework.operators.windows.spec import forming, spec_in
from framework.operators.windows.zones import DAY_US, Zone

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_US: Final = 3600 * 10**6
SEED: Final = 27


def us(text: str, zone: str = "UTC", fold: int = 0) -> int:
    """An instant that clocks of a zone show."""
    shown = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return (shown - EPOCH) // timedelta(microseconds=1)


def shown(instant_us: int, zone: str) -> datetime:
    """Convert an instant to the time that clocks show."""
    return (EPOCH + timedelta(microseconds=instant_us)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def grid(size: Any, advance: Any = None, **placed: Any) -> Grid:
    spec = spec_in(forming(size, size if advance is None else advance, **placed))
    assert spec is not None
    return spec.grid()


def bounds_of(made: Grid, instant_us: int) -> tuple[int, int]:
    (found,) = made.windows_at(instant_us)
    return found


# -- days of zones


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", 23),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00", 25),
        ("Australia/Lord_Howe", "2024-10-06", "2024-10-05T13:30", 23.5),
        ("Australia/Lord_Howe", "2024-04-07", "2024-04-06T13:00", 24.5),
        ("Asia/Kolkata", "2026-01-01", "2025-12-31T18:30", 24),
        # Days without a midnight, which begin at one o'clock.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00", 23),
        ("Africa/Cairo", "2024-04-26", "2024-04-25T22:00", 23),
        ("Asia/Beirut", "2022-03-27", "2022-03-26T22:00", 23),
        # Days with two midnights, which begin at the first.
        ("America/Havana", "2021-11-07", "2021-11-07T04:00", 25),
        # Clocks are set back from midnight to eleven o'clock of the same day.
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00", 25),
        ("Africa/Cairo", "2024-10-31", "2024-10-30T21:00", 25),
        # The day before the one that was left out, and the one behind it.
        ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00", 24),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00", 24),
        # Clocks were set back by a whole day.
        ("America/Sitka", "1867-10-19", "1867-10-18T09:01:13", 48),
        # Mean time of the place.
        ("Europe/Berlin", "1850-06-01", "1850-05-31T23:06:32", 24),
        ("Europe/Berlin", "9999-07-01", "9999-06-30T22:00", 24),
    ],
)
def test_days_that_are_none_of_24_hours(zone: str, day: str, start: str, hours: float) -> None:
    start_us = us(start)
    end_us = start_us + round(hours * HOUR_US)
    made = grid("1d", zone=zone)
    assert shown(start_us, zone).date() == date.fromisoformat(day)
    for at in (start_us, (start_us + end_us) // 2, end_us - 1):
        assert bounds_of(made, at) == (start_us, end_us)
        assert made.first_start(at) == start_us and made.end_of(start_us) == end_us
    assert bounds_of(made, start_us - 1)[1] == start_us
    assert bounds_of(made, end_us)[0] == made.next_start(start_us) == end_us
    # Storm's windows have their ends, and not their starts.
    assert (
        made.end_from(start_us) == start_us and made.end_from(start_us + 1) == made.end_from(end_us) == end_us
    )
    assert made.start_to(end_us) == start_us == made.end_before(end_us)


def test_a_day_that_was_left_out_has_no_window() -> None:
    """2011-12-30 in Samoa: it has no instant, and no window that begins with the next day begins with it."""
    zone = "Pacific/Apia"
    days = [us(f"{day}T00:00", zone) for day in ("2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01")]
    made = grid("2d", "1d", zone=zone)
    assert days[2] - days[1] == DAY_US
    assert made.windows_at(days[1]) == ((days[0], days[2]), (days[1], days[2]))
    assert made.windows_at(days[2]) == ((days[2], days[3] + DAY_US),)
    assert made.windows_at(days[3])[0] == (days[2], days[3] + DAY_US)
    assert made.next_start(days[1]) == days[2]
    assert (made.start_to(days[2]), made.end_from(days[2] + 1)) == (days[0], days[3])
    assert made.start_to(days[3]) == days[2]


@pytest.mark.slow(daily=True)
def test_every_day_of_every_zone_begins_when_clocks_first_show_it() -> None:
    draw = random.Random(SEED)
    for name in sorted(available_timezones()):
        zone = Zone(name)
        for _ in range(12):
            reading = draw.randrange(-60_000, 60_000) * DAY_US + draw.choice((0, 6 * HOUR_US))
            found = zone.first_at(reading)
            assert found + zone.offset_us(found) >= reading, (name, reading)
            for before in (1, *(hours * HOUR_US for hours in range(1, 50))):
                at = found - before
                assert at + zone.offset_us(at) < reading, (name, reading)


def test_windows_have_each_instant_once_whatever_it_is() -> None:
    """Also in years that Python has no dates for."""
    draw = random.Random(SEED)
    names = sorted(available_timezones())
    for _ in range(400):
        size = draw.choice(("1d", "1d", "3d", "7d", "1w", "1mo", "3mo", "12mo"))
        made = grid(size, zone=draw.choice(names), offset=draw.choice((None, "6h", "-30m", "40d", 1)))
        at = draw.randrange(-(1 << 60), 1 << 60) if draw.random() < 0.3 else draw.randrange(10**16)
        start, end = bounds_of(made, at)
        assert start <= at < end <= start + 400 * DAY_US
        assert bounds_of(made, start) == bounds_of(made, end - 1) == (start, end)
        assert bounds_of(made, start - 1)[1] == start and bounds_of(made, end)[0] == end


# -- other programs


def test_days_weeks_and_months_are_those_of_duckdb() -> None:
    """``date_trunc('day', ts AT TIME ZONE zone)`` of DuckDB 2.0.1, at and around changes of clocks."""
    with (Path(__file__).parent / "days_of_duckdb.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 250
    for row in rows:
        for size, name in (("1d", "day"), ("1w", "week"), ("1mo", "month")):
            start, end = bounds_of(grid(size, zone=row["zone"]), at := int(row["time_us"]))
            assert start <= at < end
            first = datetime.fromisoformat(row[name])
            # A day begins when clocks show it first, or something behind it, where it has no midnight.
            assert shown(start, row["zone"]) >= first > shown(start - 1, row["zone"]), row


def test_days_are_those_of_pandas() -> None:
    """``resample('D')`` with a zone. It refuses a midnight that does not exist."""
    pandas = pytest.importorskip("pandas")
    draw, compared = random.Random(SEED), 0
    names = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns"]
    for _ in range(60):
        zone = draw.choice((*names, *sorted(available_timezones() - {"Factory", "localtime"})))
        first = draw.randrange(us("1901-01-01"), us("2100-01-01"))
        times = sorted(first + draw.randrange(9 * DAY_US) for _ in range(20))
        index = pandas.to_datetime(times, unit="us", utc=True).tz_convert(zone)
        try:
            counted = pandas.Series(1, index=index).resample("D").sum()
        except ValueError as error:
            assert "nonexistent" in str(error)
            continue
        compared += 1
        assert counts(grid("1d", zone=zone), times) == counts_of(counted), zone
    assert compared > 40


@pytest.mark.slow(daily=True)
def test_days_that_begin_later_are_those_of_pandas() -> None:
    """Its ``resample`` ignores an offset where there is a zone. Its ``tz_localize`` takes the first of a time
    that clocks show twice, and the next one of a time that they leave out."""
    pandas = pytest.importorskip("pandas")
    draw = random.Random(SEED)
    hard = ["America/Sao_Paulo", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia", "America/Havana", "Asia/Gaza"]
    for _ in range(120):
        zone = draw.choice((*hard, *sorted(available_timezones() - {"Factory", "localtime"})))
        first, offset_us = draw.randrange(-20_000, 40_000), draw.choice((0, 6, -2, 23)) * HOUR_US
        shown_at = [(day * DAY_US + offset_us) * 1000 for day in range(first, first + 400)]
        naive = pandas.to_datetime(shown_at)
        starts = naive.tz_localize(zone, ambiguous=[True] * len(naive), nonexistent="shift_forward")
        expected = starts.tz_convert("UTC").as_unit("us").asi8.tolist()
        made = grid("1d", zone=zone, offset=offset_us)
        found = [made.end_from(expected[0])]
        while found[-1] < expected[-1]:
            found.append(made.next_start(found[-1]))
        assert found == list(dict.fromkeys(expected)), (zone, offset_us)


def test_offsets_are_those_of_pandas() -> None:
    """Without a zone: ``resample(size, origin='epoch', offset=...)``."""
    pandas = pytest.importorskip("pandas")
    draw = random.Random(SEED)
    for _ in range(40):
        size_us = draw.choice((7 * 60 * 10**6, HOUR_US, 7 * HOUR_US, 10**6))
        offset_us = draw.randrange(-3 * size_us, 3 * size_us)
        times = sorted(draw.randrange(-10 * size_us, 10 * size_us) for _ in range(20))
        size, offset = pandas.Timedelta(size_us, "us"), pandas.Timedelta(offset_us, "us")
        rows = pandas.Series(1, index=pandas.to_datetime(times, unit="us", utc=True))
        counted = rows.resample(size, origin="epoch", offset=offset).sum()
        assert counts(grid(timedelta(microseconds=size_us), offset=offset_us), times) == counts_of(counted)


def counts(made: Grid, times: list[int]) -> dict[int, int]:
    """By the start of each window that has any of some instants, how many it has."""
    found: dict[int, int] = {}
    for at in times:
        start = bounds_of(made, at)[0]
        found[start] = found.get(start, 0) + 1
    return found


def counts_of(counted: Any) -> dict[int, int]:
    """The same of a series of pandas."""
    starts = counted.index.tz_convert("UTC").as_unit("us").asi8.tolist()
    return {start: count for start, count in zip(starts, counted.tolist(), strict=True) if count}


# -- every question has the same answers as windows that are looked for one by one

APIA: Final = [us(f"{day}T00:00", "Pacific/Apia") for day in ("2011-12-20", "2012-01-12")]


@pytest.mark.parametrize(
    ("size", "advance", "placed"),
    [
        ("1d", "1d", {"zone": "Pacific/Apia"}),
        ("3d", "1d", {"zone": "Pacific/Apia", "offset": "5h"}),
        ("1d", "3d", {"zone": "Pacific/Apia"}),
        ("7d", "2d", {"zone": "Pacific/Apia"}),
        ("2w", "1w", {"zone": "Pacific/Apia", "offset": "-90m"}),
        ("2mo", "1mo", {"zone": "Pacific/Apia", "offset": "1d"}),
        (timedelta(days=2), timedelta(days=1), {"offset": "-7h"}),
        (timedelta(hours=30), timedelta(hours=12), {"offset": timedelta(hours=13)}),
        (timedelta(hours=5), timedelta(hours=12), {}),
    ],
    ids=str,
)
def test_every_question_is_answered_alike(size: Any, advance: Any, placed: dict[str, Any]) -> None:
    draw = random.Random(SEED)
    made, looked = grid(size, advance, **placed), grid(size, advance, **placed)
    step, count = looked._step, looked.count
    first, last = (looked.pane_at(at + days * DAY_US) for at, days in zip(APIA, (-120, 120), strict=True))
    bounds = {pane: looked.start_of(pane) for pane in range(first // step * step - count, last + count + 1)}
    panes = range(first // step * step, last, step)
    # Of windows [start, end) that start together the last; of (start, end] that end together the first.
    by_start = {bounds[pane]: bounds[pane + count] for pane in panes}
    by_end = {bounds[pane]: bounds[pane - count] for pane in reversed(panes)}
    for _ in range(300):
        at = draw.choice((draw.randrange(*APIA), draw.choice([*by_start]) + draw.choice((-1, 0, 1))))
        if not APIA[0] - 30 * DAY_US < at < APIA[1] + 30 * DAY_US:
            continue
        assert made.windows_at(at) == tuple((one, two) for one, two in by_start.items() if one <= at < two)
        start = min(one for one, two in by_start.items() if two > at)
        assert made.first_start(at) == start and made.end_of(start) == by_start[start]
        assert made.next_start(start) == min(one for one in by_start if one > start)
        end = min(one for one in by_end if one >= at)
        assert made.end_from(at) == end and made.start_to(end) == by_end[end]
        assert made.end_before(at) == max(one for one in by_end if one < at)


# -- zones that are none


@pytest.mark.parametrize(
    "name",
    ["Europe/berlin", "Mars/Phobos", "UTC+2", "../etc", "/etc/passwd", "Europe", "", "right/UTC", "zone.tab"],
)
def test_a_name_that_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"unknown zone .*: expected a name of the time zone database"):
        Zone(name)


def test_a_near_name_is_told() -> None:
    with pytest.raises(ConfigError, match="did you mean 'Europe/Berlin'"):
        Zone("Europe/berlin")


def test_a_machine_without_zones_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> ZoneInfo:
        raise KeyError(name)

    monkeypatch.setattr(zones, "ZoneInfo", none)
    monkeypatch.setattr(zones, "available_timezones", set)
    with pytest.raises(
        ConfigError, match=r"no time zones: install .* tzdata, or: pip install viperstorm\[zones\]"
    ):
        Zone("Europe/Berlin")


def test_the_rules_of_a_zone_are_those_of_its_clocks() -> None:
    """A name for the same zone has the same ones; one change more makes others."""
    assert Zone("Asia/Calcutta").rules == Zone("Asia/Kolkata").rules
    rules = [Zone(name).rules for name in ("Europe/Berlin", "Europe/Paris", "Asia/Kolkata", "UTC")]
    assert len(set(rules)) == 4


def test_a_window_that_is_taken_for_that_of_the_day_behind_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of seven days, one of which begins with the day that Samoa has left out."""
    monkeypatch.setattr(CalendarGrid, "first_pane", CalendarGrid.pane_at)
    with pytest.raises(AssertionError):
        test_every_question_is_answered_alike("7d", "2d", {"zone": "Pacific/Apia"})
