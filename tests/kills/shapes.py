"""Topologies of runs that are killed: those that have a name, and those that are drawn from a seed.

The parallelism of what may have any is drawn as well, or given; the output does not depend on it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework import TopologyBuilder
from framework.frontends.streams import AggregateByKey, CountByKey, Map, ReduceByKey
from framework.operators.sinks import CsvSink, JsonLinesSink, ParquetSink, SqliteSink, TextSink
from framework.operators.sources import CsvSource, JsonLinesSource, ParquetSource, TextSource
from tests.kills import components as parts
from tests.kills import gathering, sources, transacting, windows
from tests.kills.sources import FIELDS, line_of, rows_of

MOST_TASKS = 3
MOST_SCALED = 5
"""The most tasks of a bolt that gets other numbers while it runs."""
PATH = f"{parts.__name__}."


@dataclass
class Shape:
    """A topology that grows.

    Args:
        folder: where its data and its outputs lie.
        seed: what it is drawn from.
        count: the number of rows of each source.
        par: the parallelism of all that may have any; None draws.
        partitioned: whether all sources are, as checkpoints need it.
        scaled: whether bolts may get other numbers of tasks while they run, as far as they can.
    """

    folder: Path
    seed: int
    count: int
    par: int | None = None
    partitioned: bool = False
    scaled: bool = False

    def __post_init__(self) -> None:
        self.builder = TopologyBuilder()
        self.draw = random.Random(self.seed)
        self.claims = False
        """True if bolts without state get such groupings as tasks need that claim their input."""
        self._number = 0
        (self.folder / "out").mkdir(parents=True, exist_ok=True)

    def tasks(self) -> int:
        """A parallelism."""
        drawn = self.draw.randint(1, MOST_TASKS)
        return drawn if self.par is None else self.par

    def named(self, what: str) -> str:
        self._number += 1
        return f"{what} {self._number}"

    # -- sources

    def source(self, kind: str) -> str:
        """Add a source of a kind; returns its id."""
        id, seed = self.named(kind), self.draw.randrange(1000)
        made, par = SOURCES[kind](self, seed)
        self.builder.set_spout(id, made, self.tasks() if par else 1)
        return id

    def sources(self, most: int = 3) -> list[str]:
        """Add some whose rows have event times."""
        kinds = PARTITIONED if self.partitioned else list(SOURCES)
        return [self.source(self.draw.choice(kinds)) for _ in range(self.draw.randint(1, most))]

    def file(self, name: str, seed: int, write: Callable[[Path, list[tuple[int, int, int]]], None]) -> str:
        """Two files with rows, unless they are there already; returns their folder."""
        folder = self.folder / "data" / f"{name}-{seed}-{self.count}"
        if not folder.exists():
            folder.mkdir(parents=True)
            for number in range(2):
                write(folder / f"{number}.{name}", rows_of(seed * 10 + number, self.count // 2))
        return str(folder)

    # -- bolts and sinks

    def bolt(self, op: str, *sources: str | tuple[str, str]) -> str:
        """Add a bolt after others, or after streams of theirs; returns its id."""
        make, grouping = BOLTS[INSTEAD.get(op, op) if self.partitioned else op]
        id = self.named(op)
        has_own_state = op == "stateful" and self.par is not None  # which goes with the number of tasks
        par = 1 if grouping == "global" or has_own_state else self.tasks()
        may_change = self.scaled and op in SCALABLE
        made: Any = make()
        config = {**(made.config or {}), "viper.parallelism.max": MOST_SCALED} if may_change else None
        setting = self.builder.set_bolt(id, made, par, config=config)
        for source in sources:
            before, stream = (source, "default") if isinstance(source, str) else source
            if grouping == "any":
                fit = [one for one in ANY if one != "partial_key" or not may_change]
                chosen = self.draw.choice(CLAIMED if self.claims else fit)
            else:
                chosen = grouping
            declare = getattr(setting, f"{chosen}_grouping")
            if chosen in ("fields", "partial_key"):
                declare(before, "key", stream=stream)
            else:
                declare(before, stream=stream)
        return id

    def sink(self, kind: str, *sources: str, par: int = 1, columns: Sequence[str] = FIELDS) -> None:
        """Add a sink after bolts."""
        id = self.named(kind)
        path = str(self.folder / "out" / id.replace(" ", "-"))
        setting = self.builder.set_bolt(id, SINKS[kind](path, columns), par)
        for source in sources:
            if par == 1:
                setting.global_grouping(source)
            else:
                setting.fields_grouping(source, columns[0])


def _csv(path: Path, rows: list[tuple[int, int, int]]) -> None:
    path.write_text("at,key,value\n" + "".join(f"{at},{key},{value}\n" for at, key, value in rows))


def _json(path: Path, rows: list[tuple[int, int, int]]) -> None:
    found = [dict(zip(("at", "key", "value"), row, strict=True)) for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in found))


def _parquet(path: Path, rows: list[tuple[int, int, int]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    columns = dict(zip(("at", "key", "value"), zip(*rows, strict=True), strict=True))
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=50)


TIMED: dict[str, Any] = {"timestamp": "at", "unit": "us"}
TYPES = {"at": "int64", "key": "int64", "value": "int64"}


def _csv_source(shape: Shape, seed: int) -> tuple[Any, bool]:
    typed, turn = shape.draw.random() < 0.5, shape.draw.random() < 0.3
    path = shape.file("csv", seed, _csv)
    if turn:
        path += "/0.csv"
    columns = [*FIELDS, "at"]
    return CsvSource(path, columns=columns, types=TYPES, typed=typed, in_turn=turn, **TIMED), True


def _json_source(shape: Shape, seed: int) -> tuple[Any, bool]:
    typed = shape.draw.random() < 0.5
    path = shape.file("jsonl", seed, _json)
    return JsonLinesSource(path, [*FIELDS, "at"], types=TYPES, typed=typed, **TIMED), True


def _parquet_source(shape: Shape, seed: int) -> tuple[Any, bool]:
    typed = shape.draw.random() < 0.5
    return ParquetSource(shape.file("parquet", seed, _parquet), [*FIELDS, "at"], typed=typed, **TIMED), True


SOURCES: dict[str, Callable[[Shape, int], tuple[Any, bool]]] = {
    "generated": lambda shape, seed: (sources.Generated(seed, shape.count), False),
    "polled": lambda shape, seed: (sources.Polled(seed, shape.count), False),
    "parted": lambda shape, seed: (sources.Parted(seed, shape.count), True),
    "csv": _csv_source,
    "json": _json_source,
    "parquet": _parquet_source,
}
"""Each with a field `at` of event time; and whether its parallelism can be drawn."""
PARTITIONED = ["parted", "csv", "json", "parquet"]

BOLTS: dict[str, tuple[Callable[[], Any], str]] = {
    "forward": (parts.Forward, "any"),
    "fan": (parts.Fan, "any"),
    "burst": (parts.Burst, "any"),
    "typed": (parts.Typed, "any"),
    "sorted": (parts.Sorted, "any"),
    "batches": (parts.Batches, "any"),
    "map": (lambda: Map(f"{PATH}shifted", FIELDS), "any"),
    "count": (parts.Count, "fields"),
    "count batches": (parts.CountBatches, "fields"),
    "remember": (parts.Remember, "fields"),
    "remember any": (parts.RememberAny, "fields"),
    "stumbles": (parts.Stumbles, "fields"),
    "stumbles in batches": (parts.StumblesInBatches, "fields"),
    "forgets": (parts.Forgets, "fields"),
    "stateful": (parts.Stateful, "fields"),
    "count by key": (lambda: CountByKey(FIELDS), "fields"),
    "reduce by key": (lambda: ReduceByKey(f"{PATH}summed", 1, FIELDS), "fields"),
    "aggregate by key": (
        lambda: AggregateByKey(f"{PATH}appended", 1, FIELDS, [], None, f"{PATH}told"),
        "fields",
    ),
    "windows by key": (windows.WindowsByKey, "fields"),
    "windows of derived keys": (windows.WindowsOfDerivedKeys, "all"),
    "owns": (parts.Owns, "all"),
    "window": (parts.Window, "global"),
    "gather": (gathering.Gathers, "global"),
    "stumbles over batches": (gathering.StumblesOverBatches, "global"),
    "hop": (parts.Forward, "global"),
}
"""Each with its grouping."""
INSTEAD = {"stumbles": "remember", "stumbles in batches": "count batches", "stumbles over batches": "gather"}
"""In runs with checkpoints, as none is made of a run that has lost tuples."""
SCALABLE = {op for op, (_, grouping) in BOLTS.items() if grouping == "fields" and op != "stateful"}
SCALABLE.update(("windows of derived keys", "owns", "forward", "fan", "burst", "typed", "sorted", "map"))
ANY = ("shuffle", "partial_key", "local_or_shuffle", "fields", "none")
"""The groupings that may feed a bolt without state; one that is scaled has no partial key grouping."""
CLAIMED = ("shuffle", "local_or_shuffle", "none")
STATELESS = ["forward", "fan", "typed", "batches", "map"]
KEYED = [op for op, (_, grouping) in BOLTS.items() if grouping in ("fields", "all")]

SINKS: dict[str, Callable[[str, Sequence[str]], Any]] = {
    "table": lambda path, columns: SqliteSink(f"{path}.db", "rows", list(columns)),
    "table by key": lambda path, columns: SqliteSink(f"{path}.db", "rows", list(columns), key=columns[0]),
    "json file": lambda path, columns: JsonLinesSink(f"{path}.jsonl", list(columns)),
    "growing file": lambda path, columns: JsonLinesSink(f"{path}.jsonl", list(columns), grow=True),
    "csv file": lambda path, columns: CsvSink(f"{path}.csv", list(columns)),
    "text file": lambda path, columns: TextSink(f"{path}.txt"),
    "parquet file": lambda path, columns: ParquetSink(
        f"{path}.parquet", {name: "string" if name == "word" else "int64" for name in columns}
    ),
    "written": lambda path, columns: parts.Written(path),
}


# -- topologies


def pipeline(*ops: str, sinks: Sequence[str] = ("table", "written")) -> Callable[[Shape], None]:
    """Sources, bolts one after the other, and sinks."""

    def build(shape: Shape) -> None:
        before: list[Any] = [*shape.sources(2)]
        for op in ops:
            found = shape.bolt(op, *before)
            before = [found, (found, "odd")] if op == "sorted" else [found]
        for sink in sinks:
            shape.sink(sink, *before)

    return build


def words(shape: Shape) -> None:
    """The word count, into a table and a file."""
    if shape.partitioned:
        folder = shape.folder / "data" / f"text-{shape.count}"
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(2):
            lines = "\n".join(line_of(*row) for row in rows_of(number, shape.count // 4))
            if not (folder / f"{number}.txt").exists():
                (folder / f"{number}.txt").write_text(lines)
        source: Any = TextSource(str(folder))
    else:
        source = sources.Lines(shape.seed, shape.count // 2)
    shape.builder.set_spout("lines", source, shape.tasks() if shape.partitioned else 1)
    shape.builder.set_bolt("split", parts.Split, shape.tasks()).shuffle_grouping("lines")
    config = {"viper.parallelism.max": MOST_SCALED} if shape.scaled else None
    counting = shape.builder.set_bolt("count", parts.CountWords, shape.tasks(), config=config)
    counting.fields_grouping("split", "word")
    for sink in ("table", "json file", "table by key"):
        shape.sink(sink, "count", columns=["word", "count"])


def saturated(shape: Shape) -> None:
    """So many hops that positions have no room for the last ones."""
    before = shape.bolt("fan", *shape.sources(1))
    for _ in range(14):
        before = shape.bolt("hop", before)
    before = shape.bolt("fan", before)
    before = shape.bolt("count", before)
    shape.sink("table", before)
    shape.sink("written", before)


def drawn(shape: Shape) -> None:
    """Anything."""
    found = shape.sources()
    first = shape.bolt(shape.draw.choice(STATELESS), *found)
    made = [first]
    for _ in range(shape.draw.randint(2, 5)):
        ops = shape.draw.choice((STATELESS, KEYED, KEYED, ["window"]))
        behind = shape.draw.sample(made, min(len(made), shape.draw.choice((1, 1, 2))))
        made.append(shape.bolt(shape.draw.choice(ops), *behind))
    ends = [id for id in made if not _is_read(shape, id)]
    for kind in shape.draw.sample(list(SINKS), 2):
        shape.sink(kind, *ends)


def transactions(shape: Shape) -> None:
    """Bolts whose transactions share tables, which are written at the end."""
    found = [shape.bolt("fan", *shape.sources(2))]
    for bolt in (transacting.Pays, transacting.Notes, transacting.Sums):
        id = shape.named(bolt.__name__.lower())
        setting = shape.builder.set_bolt(id, bolt, shape.tasks())
        if bolt is transacting.Notes:
            setting.fields_grouping(found[0], "key")
        else:
            setting.shuffle_grouping(found[0])
        found.append(id)
    saved = {table: {"save": str(shape.folder / "out" / f"{table}.csv")} for table in ("money", "seen")}
    shape.builder.set_config("viper.tables", saved)
    for kind in ("table", "written"):
        shape.sink(kind, *found[1:])


def claims(shape: Shape) -> None:
    """Bolts whose tasks claim their input, one behind the other."""
    shape.builder.set_config("viper.sharing", "claims")
    shape.claims = True
    pipeline("fan", "sorted", "forward", "batches", "typed", "count")(shape)


def _is_read(shape: Shape, id: str) -> bool:
    components = shape.builder.build("tested").components
    return any(found.source == id for component in components for found in component.inputs)


SHAPES: dict[str, Callable[[Shape], None]] = {
    "words": words,
    "python values": pipeline("fan", "remember any", "aggregate by key"),
    "typed values": pipeline("fan", "remember"),
    "batches": pipeline("batches", "count batches", "stumbles in batches"),
    "typed streams": pipeline("typed", "count", "typed"),
    "shuffle and partial key": pipeline("fan", "sorted", "forward", "count"),
    "bursts": pipeline("burst", "count", sinks=("written",)),
    "saturated": saturated,
    "steps": pipeline("map", "count by key", "reduce by key", "aggregate by key"),
    "stateful": pipeline("forward", "stateful", "stumbles"),
    "windows": pipeline("fan", "window", "forgets"),
    "batching": pipeline("fan", "gather", "stumbles over batches", "count"),
    "owners": pipeline("forward", "owns", "owns", "count"),
    "windows by key": pipeline("fan", "windows by key", "windows of derived keys"),
    "transactions": transactions,
    "claims": claims,
    "drawn": drawn,
}


def built(
    name: str,
    folder: Path,
    seed: int,
    count: int,
    par: int | None = None,
    *,
    partitioned: bool = False,
    scaled: bool = False,
) -> TopologyBuilder:
    """The topology of a name."""
    shape = Shape(folder, seed, count, par, partitioned, scaled)
    SHAPES[name](shape)
    return shape.builder
