"""The grid of evaluators runs, its conclusions follow from what was measured, and its figures show it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.transactions.conclusions import gains, losses, needs
from benchmarks.transactions.figures import BEGIN, END, put_between
from benchmarks.transactions.pictures import PICTURES, drawn
from benchmarks.transactions.points import APPLICATIONS, DEFAULTS, DIMENSIONS, along, points_of
from benchmarks.transactions.program import Evaluators
from benchmarks.transactions.results import Cell, Grid, Measured, Paths, load, paths_of, save
from benchmarks.transactions.tables import all_rates, summary

REPOSITORY = Path(__file__).parents[2]
ABOUT = {"machine": "a machine", "rounds": 2, "transactions": 8000}
APPLICATION = "grep_sum"
POINT = DEFAULTS[APPLICATION]
PATHS = Paths(transactions=8000, operations=80_000, transactions_path=2000, operations_path=200)
"""Four transactions at once, and four hundred operations."""

Rates = Mapping[tuple[str, int], list[float]]


def measured(rates: Rates, *, cost: int = 0, paths: Paths = PATHS) -> Measured:
    """A point with these rates in million transactions a second, all of whose threads are busy."""
    cells = {
        (name, threads): Cell(
            name, threads, name == "no locks", list(found), [1000 * threads / r for r in found]
        )
        for (name, threads), found in rates.items()
    }
    return Measured(POINT.changed({"cost": cost}), paths, cells)


def grid_of(*points: Measured) -> Grid:
    return Grid(ABOUT, {each.point: each for each in points})


# -- the default beside others


def test_the_default_loses_where_the_worst_round_of_another_is_better_than_its_best() -> None:
    rates = {("serial", 1): [10.0, 11.0], ("chains", 2): [11.1, 12.0], ("locks", 2): [12.5, 10.0]}
    (loss,) = losses(grid_of(measured(rates)))
    assert (loss.faster.evaluator, loss.faster.threads) == ("chains", 2)
    assert loss.times == pytest.approx(11.55 / 10.5)


@pytest.mark.parametrize("faster", [("chains", [11.0, 12.0]), ("no locks", [20.0, 21.0])])
def test_neither_ranges_that_touch_nor_wrong_results_are_a_loss(faster: tuple[str, list[float]]) -> None:
    name, rates = faster
    assert losses(grid_of(measured({("serial", 1): [10.0, 11.0], (name, 2): rates}))) == []


def test_an_evaluator_named_default_takes_the_place_of_the_serial_one() -> None:
    rates = {("serial", 1): [10.0, 11.0], ("default", 1): [5.0, 5.0], ("default", 2): [9.0, 9.5]}
    (loss,) = losses(grid_of(measured(rates)))
    assert (loss.default.threads, loss.faster.evaluator) == (2, "serial")


# -- cores


def test_cores_are_the_ratio_of_processor_time_rounded_up_within_what_paths_allow() -> None:
    rates = {
        ("serial", 1): [10.0, 10.0],
        ("chains", 1): [1.6, 1.6],
        ("locks", 1): [3.0, 2.5],
        ("chains", 2): [3, 3],
    }
    chains, locks = needs(grid_of(measured(rates)))
    assert (chains.evaluator, chains.ratio, chains.cores) == ("chains", pytest.approx(6.25), 7)
    assert chains.bound == 400 and chains.gain == pytest.approx(40 / 6.25)
    assert (locks.cores, locks.bound) == (4, 4)
    assert (locks.lowest, locks.highest) == (pytest.approx(10 / 3), pytest.approx(4))


def test_no_number_of_cores_is_enough_where_paths_are_too_long() -> None:
    rates = {("serial", 1): [10.0], ("locks", 1): [2.0], ("partition locks", 1): [9.0]}
    many = Paths(transactions=8000, operations=80_000, transactions_path=100, operations_path=200)
    assert [need.cores for need in needs(grid_of(measured(rates)))] == [None, 2]
    assert [need.bound for need in needs(grid_of(measured(rates, paths=many)))] == [80, 16]


# -- work


def test_a_parallel_evaluator_gains_from_the_cost_on_behind_which_it_always_does() -> None:
    serial = {0: 10.0, 50: 5.0, 100: 2.0, 200: 1.0, 500: 0.5}
    chains = {0: 2.0, 50: 5.5, 100: 1.9, 200: 1.5, 500: 0.9}
    points = [
        measured(
            {("serial", 1): [serial[cost]], ("chains", 1): [99.0], ("chains", 2): [chains[cost]]}, cost=cost
        )
        for cost in serial
    ]
    (gain,) = gains(grid_of(*points))
    assert (gain.cost, gain.batch_us) == (200, 500)
    assert gain.faster is not None and gain.faster.threads == 2


def test_it_gains_nowhere_if_not_with_the_dearest_operations() -> None:
    points = [measured({("serial", 1): [1.0], ("chains", 2): [2.0 - cost]}, cost=cost) for cost in (0, 50)]
    (gain,) = gains(grid_of(*points))
    assert (gain.cost, gain.faster, gain.batch_us) == (None, None, 500)
    assert list(gains(grid_of(points[0]))) == []


# -- files, tables and figures


def test_what_was_measured_is_saved_and_drawn(tmp_path: Path) -> None:
    rates: Rates = {("serial", 1): [10.0, 11.0], ("chains", 1): [2.0, 2.5], ("chains", 2): [3.0, 3.5]}
    points = points_of(list(APPLICATIONS), list(DIMENSIONS))
    grid = Grid(ABOUT, {point: Measured(point, PATHS, measured(rates).cells) for point in points})
    save(tmp_path / "grid.json", grid)
    assert load(tmp_path / "grid.json") == grid
    figures = dict(drawn(grid))
    assert list(figures) == list(PICTURES)
    for svg in figures.values():
        texts = [each.text for each in ElementTree.fromstring(svg).iter() if each.text]
        assert {"serial", "chains"} <= set(texts)
    text = "\n".join([*summary(grid), *all_rates(grid)])
    assert "10.5 (10 to 11)" in text
    assert f"none of {len(points)} points" in text
    assert put_between(f"a\n{BEGIN}\nold\n{END}\nb", ["new"]) == f"a\n{BEGIN}\n\nnew\n\n{END}\nb"
    with pytest.raises(ValueError, match="no place for tables"):
        put_between(f"{END} {BEGIN}", ["new"])


def test_points_are_those_of_all_dimensions_each_once() -> None:
    points = points_of(["toll_processing", APPLICATION], ["skew", "cost", "length"])
    assert points[0] == DEFAULTS["toll_processing"] and len(points) == len(set(points)) == 11 + 11 + 6
    assert [point.length for _, point in along(APPLICATION, "length")] == [1, 2, 4, 6, 8, 10]
    assert all(point.share == 0.5 for _, point in along(APPLICATION, "length"))


# -- the program


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize("application", APPLICATIONS)
def test_all_evaluators_agree_on_each_application(application: str) -> None:
    told, *cells = Evaluators().measure(DEFAULTS[application], threads=2, rounds=1, transactions=3000)
    assert {(cell["evaluator"], cell["threads"]) for cell in cells} >= {("serial", 1), ("chains", 2)}
    paths = paths_of(told)
    assert paths.transactions == 3000
    assert paths.transactions_path < 3000 and paths.operations_path < paths.operations
    # Six batches; the longest path of one has a transaction at the least, and all of them at the most.
    assert 6 <= paths.transactions_path <= 6 * 500


def test_paths_are_those_of_conflicts_only() -> None:
    program = Evaluators()

    def paths(**values: float) -> Paths:
        told, *_ = program.measure(POINT.changed(values), threads=1, rounds=1, transactions=2000)
        return paths_of(told)

    reads = paths(reads=1.0, skew=1.0)
    assert (reads.transactions_path, reads.operations_path) == (4, 4), "reads do not conflict"
    assert paths(skew=1.0).of_transactions < paths(skew=0.6).of_transactions < paths(skew=0.0).of_transactions
    alone = paths(batch=1)
    assert (alone.transactions_path, alone.operations_path) == (2000, 2000), "nothing conflicts within one"


@pytest.mark.slow
def test_the_grid_is_measured_and_its_figures_are_drawn(tmp_path: Path) -> None:
    output, page = tmp_path / "grid.json", tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    brief = ["--rounds=2", "--transactions=1000", "--only", "online_bidding", "--vary", "skew"]
    for name, options in (
        ("grid", ["-o", str(output), *brief]),
        ("figures", [str(output), "--figures", str(tmp_path), "--page", str(page)]),
    ):
        command = [sys.executable, "-m", f"benchmarks.transactions.{name}", *options]
        ran = subprocess.run(
            command, cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, check=False, timeout=300
        )
        assert ran.returncode == 0, ran.stderr
    assert "### Online Bidding: Zipf's exponent" in ran.stdout
    assert "The bound at 40 cores" in page.read_text(encoding="utf-8")
    assert {path.stem for path in tmp_path.glob("*.svg")} == {"transactions-threads", "transactions-skew"}
    points = json.loads(output.read_text(encoding="utf-8"))["points"]
    assert len(points) == 6 and all(len(cell["rates"]) == 2 for each in points for cell in each["cells"])
