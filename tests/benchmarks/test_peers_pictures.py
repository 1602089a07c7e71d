"""Tables and figures show the medians, the ratios to the yardsticks and what went wrong."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.peers.alternation import Measured
from benchmarks.peers.drawing import Scale
from benchmarks.peers.entries import Entry, bytewax, ours, pathway, plain
from benchmarks.peers.figure import duration, to_svg
from benchmarks.peers.jobs import Outcome
from benchmarks.peers.launching import Run
from benchmarks.peers.registry import Experiment
from benchmarks.peers.table import aligned, to_markdown

SVG = "{http://www.w3.org/2000/svg}"


def measured(
    entry: Entry, *rates: float, trouble: str = "", version: str = "", delays: tuple[float, ...] = ()
) -> Measured:
    runs = [Run(Outcome(1.0, 1, 0, 0, delays), cpu_s=1.0, foreign_cores=0.5) for _ in rates]
    return Measured(entry, runs, list(rates), trouble, version)


def words() -> list[Measured]:
    ten, hundred = bytewax("words", 10, 100)
    return [
        measured(plain("words"), 4_000_000, 4_100_000, 3_000_000),
        measured(ours("tuples", "words"), 2_000_000, 2_500_000, 2_200_000),
        measured(ten, 800_000, 800_000, 800_000),
        measured(hundred, 1_000_000, 1_000_000, 1_000_000, version="0.21"),
        measured(pathway("words"), trouble="not installed: skipped"),
    ]


EXPERIMENT = Experiment("words", "Words & counts", ())
GROWTH = Experiment("width", "Wider", (), axis="fields")
DELAYS = Experiment("latency", "Latency", (ours("tuples", "latency"),))


def cells(table: str) -> dict[str, list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


class TestTable:
    def test_rates_have_their_ratios(self) -> None:
        table = to_markdown(EXPERIMENT, words())
        rows = cells(table)
        assert rows["plain loop"] == ["4,000,000", "3,000,000", "4,100,000", "1.00", "1.82", "4.00", "0.50"]
        assert rows["ViperStorm tuples"] == [
            "2,200,000",
            "2,000,000",
            "2,500,000",
            "0.55",
            "1.00",
            "2.20",
            "0.50",
        ]
        assert rows["Bytewax, batches of 10"][5] == "0.80"
        assert rows[""][3:6] == ["of plain loop", "of ViperStorm tuples", "of Bytewax"]
        assert "Measured with Bytewax 0.21." in table
        assert "Bytewax, batches of 100 *" in rows and "Medians of 3 rounds." in table

    def test_what_was_not_measured_says_why(self) -> None:
        table = to_markdown(EXPERIMENT, words())
        assert set(cells(table)["Pathway"]) == {"-"}
        assert "- Pathway: not installed: skipped" in table

    def test_without_a_yardstick_there_is_no_ratio(self) -> None:
        rows = cells(to_markdown(EXPERIMENT, words()[4:]))
        assert rows[""] == ["words/s", "from", "to", "others' cores"]

    def test_growth_has_a_column_for_each_step(self) -> None:
        points = [measured(ours("tuples", "width 1", x=x), 1000.0 / x) for x in (1, 10, 100)]
        points.append(measured(plain("width 1", x=10), 123_456.0))
        rows = cells(to_markdown(GROWTH, points))
        assert rows["records/s by fields"] == ["1", "10", "100"]
        assert rows["ViperStorm tuples"] == ["1,000", "100", "10"]
        assert rows["plain loop"] == ["-", "123,000", "-"]

    def test_delays_show_percentiles(self) -> None:
        one = measured(ours("tuples", "latency"), 1.0, 1.0, 1.0, delays=(80.0, 300.0))
        assert cells(to_markdown(DELAYS, [one]))["ViperStorm tuples"] == ["80", "300", "300", "300", "0.50"]

    def test_columns_are_aligned(self) -> None:
        assert aligned(["", "n"], [["long name", "1"], ["b", "1,000"]]) == [
            "|           |     n |",
            "| --------- | ----: |",
            "| long name |     1 |",
            "| b         | 1,000 |",
        ]


class TestFigure:
    def test_each_system_has_a_bar_as_long_as_its_rate(self) -> None:
        drawn = ElementTree.fromstring(to_svg(EXPERIMENT, words()))
        bars = [bar for bar in drawn.iter(f"{SVG}rect") if bar.get("class") == "bar"]
        widths = [float(bar.get("width", 0)) for bar in bars]
        assert [round(width / widths[0], 2) for width in widths] == [1, 0.55, 0.25]
        assert len({bar.get("fill") for bar in bars}) == 3
        texts = [text.text for text in drawn.iter(f"{SVG}text")]
        assert "Words & counts, words/s" in texts and "2,200,000" in texts and "Pathway" not in texts

    def test_growth_has_a_line_for_each_series(self) -> None:
        points = [measured(ours("tuples", "width 1", x=x), 1000.0 / x) for x in (1, 10, 100)]
        points += [measured(plain("width 1", x=x), 2000.0) for x in (1, 100)]
        drawn = ElementTree.fromstring(to_svg(GROWTH, points))
        lines = [line for line in drawn.iter(f"{SVG}polyline") if line.get("class") == "series"]
        assert [len(line.get("points", "").split()) for line in lines] == [3, 2]
        assert lines[0].get("stroke-dasharray") != lines[1].get("stroke-dasharray")

    def test_delays_have_two_marks(self) -> None:
        one = measured(ours("tuples", "latency"), 1.0, delays=(80.0, 2300.0))
        drawn = ElementTree.fromstring(to_svg(DELAYS, [one]))
        assert len(list(drawn.iter(f"{SVG}circle"))) == len(list(drawn.iter(f"{SVG}polygon"))) == 1
        assert "80 µs / 2.3 ms" in [text.text for text in drawn.iter(f"{SVG}text")]

    @pytest.mark.parametrize("experiment", [EXPERIMENT, GROWTH, DELAYS], ids=lambda found: found.name)
    def test_without_results_it_is_empty(self, experiment: Experiment) -> None:
        one = measured(plain("words"), trouble="it broke")
        assert ElementTree.fromstring(to_svg(experiment, [one])) is not None


@pytest.mark.parametrize("high", [1.0, 7.0, 99.0, 4_100_000.0])
def test_a_scale_has_round_ticks(high: float) -> None:
    scale = Scale(0.0, high, 100, -50, is_log=False)
    ticks = scale.ticks()
    assert 4 <= len(ticks) <= 11 and ticks[0] == 0 and ticks[-1] <= high
    assert scale(0) == 100 and scale(high) == 50


@pytest.mark.parametrize(("us", "text"), [(83.2, "83.2 µs"), (1234.0, "1.23 ms"), (2e6, "2 s")])
def test_durations_have_a_unit_that_fits(us: float, text: str) -> None:
    assert duration(us) == text


def test_a_logarithmic_scale_has_powers_of_ten() -> None:
    scale = Scale(10, 1000, 0, 100, is_log=True)
    assert scale.ticks() == [10, 30, 100, 300, 1000]
    assert scale(100) == pytest.approx(50)
