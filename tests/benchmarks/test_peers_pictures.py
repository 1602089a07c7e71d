"""Tables and figures show the medians, the ratios to the yardsticks and what went wrong."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.peers.alternation import Measured
from benchmarks.peers.drawing import Scale
from benchmarks.peers.entries import Entry, bytewax, bytewax_paced, ours, pathway, plain
from benchmarks.peers.figure import duration, to_svg
from benchmarks.peers.jobs import Outcome
from benchmarks.peers.launching import Run
from benchmarks.peers.pairs import Measure, Pair, entries_of
from benchmarks.peers.registry import Experiment
from benchmarks.peers.table import aligned, to_markdown

SVG = "{http://www.w3.org/2000/svg}"


def measured(
    entry: Entry, *rates: float, trouble: str = "", version: str = "", delays: tuple[float, ...] = ()
) -> Measured:
    runs = [Run(Outcome(1.0, 1, 0, 0, delays, 0.25), cpu_s=1.0, foreign_cores=0.5) for _ in rates]
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


def cells_in_order(table: str) -> tuple[list[str], list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("|")]
    header, _, row = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return header, row


class TestTable:
    def test_rates_have_their_ratios(self) -> None:
        table = to_markdown(EXPERIMENT, words())
        rows = cells(table)
        rates = ["4,000,000", "3,000,000", "4,100,000"]
        assert rows["plain loop"] == [*rates, "1.00", "1.82", "4.00", "4.00", "lost", "0.50"]
        rates = ["2,200,000", "2,000,000", "2,500,000"]
        assert rows["ViperStorm tuples"] == [*rates, "0.55", "1.00", "2.20", "2.20", "lost", "0.50"]
        assert rows["Bytewax, batches of 10"][-2] == "by key"
        assert rows["Bytewax, batches of 10"][5] == "0.80"
        assert rows[""][3:6] == ["of plain loop", "of ViperStorm tuples", "of Bytewax"]
        assert "Measured with Bytewax 0.21." in table
        assert "Bytewax, batches of 100 *" in rows and "Medians of 3 rounds." in table

    def test_like_is_set_beside_like(self) -> None:
        (by_hand,) = bytewax("words", 100, shape="by hand")
        (lists,) = bytewax("words", 100, shape="lists")
        (threads,) = bytewax("words", 100, shape="lists", kinds=[{"workers": 2}])
        found = [
            measured(by_hand, 2_000_000),
            measured(lists, 4_000_000),
            measured(threads, 9_000_000),
            *(measured(ours(way, "words"), 1_000_000) for way in ("functions", "batches", "columns")),
        ]
        rows = cells(to_markdown(EXPERIMENT, [*words(), *found]))
        at = rows[""].index("of Bytewax alike")
        assert rows["ViperStorm functions"][at - 1] == "1.00", "of the usual program"
        assert rows["ViperStorm functions"][at] == "0.50", "of the one by hand"
        assert rows["ViperStorm batches"][at] == "0.25" and rows["ViperStorm columns"][at] == "-"

    def test_what_was_not_measured_says_why(self) -> None:
        table = to_markdown(EXPERIMENT, words())
        assert set(cells(table)["Pathway"]) == {"-"}
        assert "- Pathway: not installed: skipped" in table

    def test_without_a_yardstick_there_is_no_ratio(self) -> None:
        rows = cells(to_markdown(EXPERIMENT, words()[4:]))
        assert rows[""] == ["words/s", "from", "to", "state", "others' cores"]

    def test_growth_has_a_column_for_each_step(self) -> None:
        points = [measured(ours("tuples", "width 1", x=x), 1000.0 / x) for x in (1, 10, 100)]
        points.append(measured(plain("width 1", x=10), 123_456.0))
        rows = cells(to_markdown(GROWTH, points))
        assert rows["records/s by fields"] == ["1", "10", "100"]
        assert rows["ViperStorm tuples"] == ["1,000", "100", "10"]
        assert rows["plain loop"] == ["-", "123,000", "-"]

    def test_delays_show_percentiles(self) -> None:
        one = measured(ours("tuples", "latency"), 1.0, 1.0, 1.0, delays=(80.0, 300.0))
        row = cells(to_markdown(DELAYS, [one]))["ViperStorm tuples"]
        assert row == ["80", "300", "300", "300", "25.0%", "lost", "0.50"]

    def test_columns_are_aligned(self) -> None:
        assert aligned(["", "n"], [["long name", "1"], ["b", "1,000"]]) == [
            "|           |     n |",
            "| --------- | ----: |",
            "| long name |     1 |",
            "| b         | 1,000 |",
        ]


class TestPairs:
    """The table of an experiment that is made of pairs."""

    def row(self, pair: Pair, *found: Measured) -> dict[str, str]:
        experiment = Experiment("alike", "Alike", entries_of([pair]), pairs=[pair])
        header, row = cells_in_order(to_markdown(experiment, found))
        return dict(zip(header, row, strict=True))

    def test_a_ratio_is_the_median_of_those_of_rounds(self) -> None:
        (lists,) = bytewax("words", 50, shape="lists", recovered=True)
        mine = ours("batches with state", "words")
        # The ratios of the rounds are 3, 2 and 0.5; that of the medians would be 1.5.
        found = measured(mine, 300.0, 200.0, 400.0), measured(lists, 100.0, 100.0, 800.0)
        row = self.row(Pair("words", mine, lists, goal=2), *found)
        assert (row["ratio"], row["from"], row["to"]) == ("2.00", "0.50", "3.00")
        assert (row["is"], row["its"]) == ("300/s", "100/s")
        assert (row["goal"], row["reached"]) == ("2", "yes")
        assert (row["state"], row["its state"]) == ("by key", "as one value")
        assert row["CPU ns"] == "833,333", "a quarter of a second for 300 words"

    def test_a_rate_below_its_goal_has_not_reached_it(self) -> None:
        mine, other = ours("tuples", "words"), ours("functions", "words")
        row = self.row(Pair("", mine, other, 2), measured(mine, 199.0), measured(other, 100.0))
        assert row["reached"] == "no"

    @pytest.mark.parametrize(("delay", "reached"), [(50.0, "yes"), (70.0, "no")])
    def test_a_delay_is_to_be_small(self, delay: float, reached: str) -> None:
        mine, other = ours("tuples", "latency"), bytewax_paced("latency", "when due")
        found = measured(mine, 1.0, delays=(delay, 9.0)), measured(other, 1.0, delays=(60.0, 9.0))
        row = self.row(Pair("", mine, other, 1, Measure.P50), *found)
        assert (row["is"], row["its"], row["reached"]) == (f"{delay:.0f} µs", "60 µs", reached)
        assert row["goal"] == "at most 1"

    @pytest.mark.parametrize(("limit", "reached"), [(0.3, "yes"), (0.2, "no")])
    def test_a_limit_is_one_of_ours(self, limit: float, reached: str) -> None:
        mine, other = ours("tuples", "latency"), bytewax_paced("latency", "when due")
        found = measured(mine, 1.0, delays=(1.0, 2.0)), measured(other, 1.0, delays=(1.0, 2.0))
        row = self.row(Pair("", mine, other, 1, Measure.CPU, limit), *found)
        assert (row["is"], row["ratio"], row["reached"]) == ("25.0%", "1.00", reached)

    def test_a_pair_without_figures_has_none(self) -> None:
        mine, other = ours("tuples", "words"), bytewax("words", 10)[0]
        row = self.row(Pair("", mine, other, 2), measured(mine, 1.0), measured(other, trouble="it broke"))
        assert {row["ratio"], row["is"], row["reached"]} == {"-"}

    def test_a_pair_of_which_one_is_not_wanted_is_left_out(self) -> None:
        pairs = [Pair(work, ours("tuples", work), bytewax(work, 10)[0]) for work in ("words", "filter")]
        found = [measured(pairs[0].ours, 1.0), *(measured(e, 1.0) for e in entries_of(pairs[1:]))]
        table = to_markdown(Experiment("alike", "Alike", entries_of(pairs), pairs=pairs), found)
        assert list(cells(table)) == ["", "-" * len("filter"), "filter"]


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
