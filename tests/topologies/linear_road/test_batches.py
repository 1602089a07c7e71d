"""Linear Road on columns: its answers are those of a plain loop, too."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.linear_road_loop import answers as plainly_answered
from framework import run
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.topologies.linear_road.reference import Line, Reference
from tests.topologies.linear_road.scenes import SCENES, Scene

TOPOLOGIES = Path(__file__).parents[3] / "topologies"
SECONDS = 450
TRAFFIC = {"vehicles": 30.0, "peak_s": 150.0, "crowd": 60.0, "accidents": 1 / 15}
"""So many that tolls are asked for within minutes."""
XWAYS, SEED = 2, 11

FORMS = ("bolts", "batches")


@pytest.fixture(scope="module", autouse=True)
def application() -> Iterator[Any]:
    """The builders of each form of the application."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        for name in ("linear_road_builder", "linear_road_batches"):
            __import__(name)
        yield {
            "bolts": sys.modules["linear_road_builder"].linear_road,
            "batches": sys.modules["linear_road_batches"].linear_road_batches,
        }


def part_of(name: str) -> Any:
    """A module of the application."""
    return sys.modules[f"linear_road.{name}"]


@pytest.fixture(scope="module")
def lines(application: Any) -> list[Line]:
    generator = part_of("generator")
    drawn = generator.Generator(XWAYS, SEED, generator.Traffic(**TRAFFIC))
    return [tuple(map(int, line)) for _ in range(SECONDS) for line in drawn.second()]


@pytest.fixture(scope="module")
def paid(lines: list[Line]) -> Mapping[tuple[int, int, int], int]:
    """Of every vehicle but some, by vehicle, day and expressway."""
    vehicles = max(line[2] for line in lines) * 9 // 10
    read = (map(int, line.split(",")) for line in part_of("generator").history(vehicles, XWAYS, 12))
    return {(vid, day, xway): toll for vid, day, xway, toll in read}


@pytest.fixture(scope="module")
def expected(lines: list[Line], paid: Mapping[tuple[int, int, int], int]) -> list[str]:
    return list(Reference(paid).answers(lines))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory, paid: Mapping[tuple[int, int, int], int]) -> str:
    path = tmp_path_factory.mktemp("linear_road") / "history.csv"
    path.write_text("".join(f"{v},{d},{x},{toll}\n" for (v, d, x), toll in paid.items()))
    return str(path)


def answered(
    application: Any,
    cars: Any,
    history: str | None,
    tasks: int,
    workers: Workers,
    form: str = "batches",
    **more: Any,
) -> list[str]:
    builder = application[form](cars, CollectingSink, tasks, history)
    options = {key.replace("__", "."): value for key, value in workers.options.items()}
    report = run(builder.build("linear-road"), conf={**options, **more})
    return [line for (line,) in report.result("answers")]


def generated(injectors: int) -> Any:
    return part_of("batches").Generated(SECONDS, XWAYS, SEED, injectors, TRAFFIC)


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize(("injectors", "tasks"), [(1, 1), (3, 2)])
def test_the_answers_are_those_of_the_reference(
    application: Any, history: str, expected: list[str], injectors: int, tasks: int
) -> None:
    assert answered(application, generated(injectors), history, tasks, INLINE) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("injectors", "tasks"), [(1, 3), (2, 1), (4, 2), (6, 6)])
@pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)
def test_they_are_for_any_injectors_tasks_and_workers(
    application: Any, history: str, expected: list[str], injectors: int, tasks: int, workers: Workers
) -> None:
    assert answered(application, generated(injectors), history, tasks, workers) == expected


def disorderly(seed: int) -> list[Line]:
    """Lines of few vehicles in few segments and places, which report whenever they like.

    They are several times in one minute, and one second, in any of the segments, and come back to where they
    were; minutes pass in which nobody reports.
    """
    draw, lines, second = random.Random(seed), list[Line](), 0
    for query in range(6000):
        second += draw.choice((0, 0, 0, 1, 2, 5)) if draw.random() < 0.999 else draw.randrange(60, 500)
        type = draw.choices((0, 2, 3), (20, 1, 1))[0]
        vid = draw.randrange(60)
        if vid < 6 and draw.random() < 0.9:  # these stand, and move at times
            seg, lane, dir, pos = 50, 2, 0, 50 * 5280
        else:
            seg, lane = draw.choice((0, 1, 48, 50, 98, 99)), draw.choice((1, 1, 2, 4))
            dir, pos = draw.randrange(2), seg * 5280 + draw.randrange(2)
        place = (draw.randrange(20, 60), 0, lane, dir, seg, pos)
        asked = (-1, draw.randrange(2), *[-1] * 4, query, *[-1] * 4, draw.randrange(1, 3))
        if type == 0:
            lines.append((0, second, vid, *place, *[-1] * 6))
        else:
            lines.append((type, second, vid, *asked))
    return lines


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_vehicles_may_report_whenever_they_like(
    application: Any, tmp_path: Path, form: str, seed: int
) -> None:
    lines = disorderly(seed)
    assert any(one[1] == other[1] for one, other in pairwise(lines))
    path = tmp_path / "lines.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    cars = part_of("spouts" if form == "bolts" else "batches").Lines(str(path), 2)
    expected = list(Reference().answers(lines))
    assert {answer[0] for answer in expected} == {"0", "1", "2"}
    assert answered(application, cars, None, 2, INLINE, form) == expected


def to_and_fro(segments: list[int]) -> list[Line]:
    """Lines of 45 vehicles that go through these segments in one minute, and of some others after that."""
    coming = [(second, vid, segment) for second, segment in enumerate(segments) for vid in range(45)]
    coming += [(60 + segment, 100 + segment, segment) for segment in sorted(set(segments))]
    return [
        (0, second, vid, 20, 0, 1, 0, segment, segment * 5280 + vid, *[-1] * 6)
        for second, vid, segment in sorted(coming)
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("segments", [[5, 6, 5, 6], [5, 6, 7, 5, 6, 7, 5], [6, 5, 6, 6, 7, 6, 5, 7]], ids=str)
def test_who_comes_back_in_a_minute_is_counted_once(
    application: Any, tmp_path: Path, form: str, segments: list[int]
) -> None:
    path = tmp_path / "lines.csv"
    lines = to_and_fro(segments)
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    cars = part_of("spouts" if form == "bolts" else "batches").Lines(str(path), 1)
    expected = list(Reference().answers(lines))
    assert not any(answer.startswith("0,10") and not answer.endswith(",0") for answer in expected)
    assert answered(application, cars, None, 1, INLINE, form) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_answers_are_those_worked_out_by_hand(
    application: Any, tmp_path: Path, form: str, scene: Scene
) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in scene.lines))
    cars = part_of("spouts" if form == "bolts" else "batches").Lines(str(path), 2)
    found = answered(application, cars, None, 2, INLINE, form)
    assert found == list(Reference().answers(scene.lines)) == plainly_answered(scene.lines)
    assert scene.chosen(found) == scene.answers


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layer", ["operator", "operator-python"])
def test_merge_bolts_change_no_answer(application: Any, tmp_path: Path, form: str, layer: str) -> None:
    lines = disorderly(4)
    path = tmp_path / "lines.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    cars = part_of("spouts" if form == "bolts" else "batches").Lines(str(path), 2)
    found = answered(application, cars, None, 2, INLINE, form, **{"viper.merge.layer": layer})
    assert found == list(Reference().answers(lines))


def test_blocks_of_both_forms_are_the_same_rows(application: Any) -> None:
    for injector in range(3):
        given = 60, 2, 5, 3, TRAFFIC
        singly = part_of("spouts").Generated(*given).blocks(injector, 30_000_000)
        columns = part_of("batches").Generated(*given).blocks(injector, 30_000_000)
        rows = [(time, row) for block in singly for time, row in zip(block.times, block.rows, strict=True)]
        found = [
            (time, tuple(row.values()))
            for block in columns
            for time, row in zip(block.times, block.rows.to_pylist(), strict=True)
        ]
        assert rows == found and rows[0][0] >= 30_000_000


def test_the_topology_has_no_problem(application: Any) -> None:
    found = sys.modules["linear_road_batches"].topology
    assert not [problem for problem in validate(found) if not problem.warning]
