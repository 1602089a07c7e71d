"""The cases that the applications are tried with: their input, the loops beside them, and their runs."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework import run
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.runtime.workers.running import Workers
from tests.topologies.brisk import reference
from tests.topologies.brisk.reference import Rows

NAMES = ("word_count", "fraud_detection", "spike_detection", "log_processing")
SEED = 29
DRAWN: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "word_count": (300, {"words": None}),
    "fraud_detection": (3_000, {"characters": 1}),
    "spike_detection": (3_600, {"devices": 3, "noise": 0.012, "broken": 0.02}),
    "log_processing": (2_500, {"hosts": 300, "per_second": 0.3, "takes_s": 900.0, "broken": 0.02}),
}
"""The number of lines of each, and their kind: windows are full, and minutes come back from behind."""
SPOUTS = {
    "word_count": "Sentences",
    "fraud_detection": "Transactions",
    "spike_detection": "Readings",
    "log_processing": "Requests",
}
SINKS = {name: ("sink",) for name in NAMES} | {"log_processing": ("volumes", "statuses", "places")}
LARGE = 7
"""A seed of a table, other than the usual one."""

ODD: Mapping[str, Sequence[str]] = {
    "word_count": (
        "",
        "   ",
        "\t",
        "don't, stop_here: 42!",
        "naïve café — été",
        "...",
        "one  two",
        "ein",
        "Ünder a",
    ),
    "fraud_detection": ("A1,some,MHL", "A1,,LNL,more,of it", ",no entity,HHS", "with blanks in it,r,LNN"),
    "spike_detection": (
        "",
        "2004-03-01 10:00:00 1 2 30.5 1 2 3",
        "2004-03-01 10:00:00.5 1 2 10.5 1 2 3",
        "2004-03-01  10:00:01.25\t1 2 21 1 2 3 ",
        "2004-03-01 10:00:00 1 2 warm 1 2 3",
        "2004-13-01 10:00:00 1 2 40 1 2 3",
        "2004-03-01 10:00:00 1 2 40 1 2 3 4",
        "2004-03-01 10:00:00 1 2 -21 1 2 3",
    ),
    "log_processing": (
        '1.2.3.4 - bob [17/May/2015:12:05:03 +0200] "GET / HTTP/1.0" 200 12',
        '9.8.7.6 - - [17/May/2015:00:35:03 -0930] "POST /a"b HTTP/1.0" 404 12 "http://x/" "agent 1 (2)"',
        'a.host.name - - [17/May/2015:10:25:03 +0000] "HEAD /" 304 -',
        '300.2.3.4 - - [17/May/2015:10:25:03 +0000] "HEAD /" 304 -',
        '1.2.3 - - [17/May/2015:10:25:03 +0000] "HEAD /" 304 -',
        '1.2.3.4 - - [17/Mai/2015:10:25:03 +0000] "GET /" 200 5',
        '1.2.3.4 - - [17/May/2015:10:25:03] "GET /" 200 5',
        '1.2.3.4 - - [17/May/2015:10:25:03 +0000] "GET /" 2000 5',
        '1.2.3.4 - - [17/May/2015:10:25:03 +0000] "GET /" 200 5x',
        '1.2.3.4 - - [17/May/2015:10:25:03 +0000] "" 200 5',
        '1.2.3.4 - - [17/May/2015:10:25:03 +0000] "a" 200 17" 500 3',
        "",
    ),
}
"""Lines that each rule for the form of lines decides."""


@dataclass(frozen=True)
class Case:
    """An application with its input.

    Args:
        name: of the application.
        path: of the file with its lines.
        given: what its bolts are given, by name of the bolt.
        knowledge: what the loop is given, see `reference.expected`.
    """

    name: str
    path: Path
    given: Mapping[str, Mapping[str, Any]]
    knowledge: Mapping[str, Any]

    @property
    def lines(self) -> list[str]:
        """All that there are."""
        return self.path.read_text(encoding="utf-8").splitlines()

    def expected(self, rules: Any = None, count: int | None = None) -> Rows:
        """Compute the output for so many lines."""
        return reference.expected(self.name, self.lines[:count], self.knowledge, rules)


def part(name: str) -> Any:
    """A module of the applications."""
    __import__(name)
    return sys.modules[name]


def case_of(name: str, folder: Path) -> Case:
    """An application with what is drawn for it, odd lines among that.

    Args:
        name: of the application.
        folder: where its files are made.
    """
    count, parameters = DRAWN[name]
    draws = part("brisk.generators").APPLICATIONS[name](SEED, **parameters)
    lines = [line for _, portion in draws.lines(count) for line in portion]
    chance = random.Random(SEED)
    for odd in ODD[name] * 3:
        lines.insert(chance.randrange(len(lines)), odd)
    path = folder / f"{name}.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    given: Mapping[str, Mapping[str, Any]] = {}
    knowledge: Mapping[str, Any] = {}
    if name == "fraud_detection":
        model = folder / "model.txt"
        model.write_text("".join(f"{line}\n" for line in model_lines(chance)))
        given, knowledge = {"predictor": {"model": str(model)}}, {"model": model.read_text().splitlines()}
    if name == "log_processing":
        given = {"geography": {"seed": LARGE}}
        knowledge = {"networks": part("brisk.networks").drawn(LARGE)}
    return Case(name, path, given, knowledge)


def model_lines(chance: random.Random) -> list[str]:
    """A model in a file."""
    names = [a + b + c for a in "LMH" for b in "NH" for c in "LNS"]
    lines = [",".join(names)]
    for _ in names:
        row = [chance.uniform(0.2, 1) * (0.1 if name.startswith("H") else 1) for name in names]
        lines.append(",".join(repr(each / sum(row)) for each in row))
    return lines


def ran(
    case: Case,
    workers: Workers,
    tasks: Any,
    injectors: int,
    form: str = "tuples",
    options: Mapping[str, Any] | None = None,
    bolts: Mapping[str, Any] | None = None,
    rows: int | None = None,
) -> Rows:
    """Run an application, and return its output.

    Args:
        case: the application.
        workers: the workers that run it.
        tasks: of each component, as its builder takes them.
        injectors: among which its input is divided.
        form: tuples or batches.
        options: of the configuration.
        bolts: by name, those in the place of its own.
        rows: how many lines there are; None for those of the file, once.
    """
    built = built_of(case, CollectingSink, tasks, injectors, form, bolts, rows)
    conf = {key.replace("__", "."): value for key, value in workers.options.items()}
    return found(case.name, run(built, conf={**conf, **(options or {})}))


def found(name: str, report: RunReport) -> Rows:
    """Read the sinks of an application."""
    return {sink: [tuple(row) for row in report.result(sink)] for sink in SINKS[name]}


def built_of(
    case: Case,
    sink: Any,
    tasks: Any,
    injectors: int,
    form: str,
    bolts: Mapping[str, Any] | None = None,
    rows: int | None = None,
) -> Any:
    """The topology of an application; arguments as of `ran`."""
    bring = part("brisk.batches" if form == "batches" else "brisk.spouts")
    count = len(case.lines) if rows is None else rows
    parameters = {"path": str(case.path)} | ({"words": None} if case.name == "word_count" else {})
    spout = getattr(bring, SPOUTS[case.name])(count, 1, injectors, parameters)
    own = {name: own_bolt(case.name, name, form)(**given) for name, given in case.given.items()}
    build = getattr(part("brisk_builder"), case.name)
    built = build(spout, sink, tasks, form == "batches", {**own, **(bolts or {})})
    return built.build(case.name.replace("_", "-"))


def own_bolt(name: str, bolt: str, form: str) -> Any:
    """The class of a bolt that takes arguments."""
    return getattr(part("brisk.batches" if form == "batches" else f"brisk.{name}"), bolt.capitalize())


def sizes(seed: str) -> dict[str, Any]:
    """Draw the sizes of buffers from a text."""
    chance = random.Random(seed)
    jumbo = chance.choice((1, 2, 7, 64, 512))
    return {
        "viper.jumbo.size": jumbo,
        "viper.columns.rows": chance.choice((1, 5, 100, 8_192)),
        "viper.channel.tuples": max(jumbo, chance.choice((1, 8, 100, 8_192))),
        "viper.channel.jumbos": chance.choice((1, 2, 64)),
        "viper.slice.tuples": chance.choice((1, 3, 100, 1_000)),
    }
