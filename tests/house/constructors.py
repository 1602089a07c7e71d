"""Wide constructors: those of classes with behaviour that take more than six arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.house.imports import REPOSITORY

MOST = 6
"""The arguments that a constructor may take without being listed, besides ``self``."""


def wide(paths: Iterable[Path], root: Path = REPOSITORY) -> Mapping[str, int]:
    """The number of arguments of each wide constructor in some modules, by the class's dotted name.

    Dataclasses are none: they are the values that group arguments. ``*args`` and ``**kwargs`` do not count.
    """
    return {name: count for path in paths for name, count in _constructors(path, root) if count > MOST}


def _constructors(path: Path, root: Path) -> Iterator[tuple[str, int]]:
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                    taken = statement.args
                    count = len(taken.posonlyargs) + len(taken.args) + len(taken.kwonlyargs) - 1
                    yield f"{module}.{node.name}", count


KNOWN_WIDE: Mapping[str, int] = {
    "framework.frontends.streams.windowed.WindowStep": 11,
    "framework.model.tables.SharedTable": 8,
    "framework.operators.components.join_bolt.JoinBolt": 8,
    "framework.operators.components.rows.Rows": 7,
    "framework.operators.controllers.Predictive": 7,
    "framework.operators.sources.csv_source.CsvSource": 9,
    "framework.operators.sources.file_source.FileSource": 8,
    "framework.operators.state.kinds.AggregatingState": 7,
    "framework.operators.windows.key_window.KeyWindow": 7,
    "framework.runtime.coordination.reconfiguring.Reconfiguring": 9,
    "framework.runtime.exchange.buffer.EmitBuffer": 7,
    "framework.runtime.exchange.inputs.BoltInput": 7,
    "framework.runtime.execution.executor.Executor": 8,
    "framework.runtime.leading.checkpointing.Checkpointing": 13,
    "framework.runtime.order.tracking.acker.Acker": 7,
    "framework.runtime.workers.handle.WorkerHandle": 8,
    "framework.runtime.workers.restarts.RestartPolicy": 7,
    "framework.testing.component_harnesses.BoltHarness": 9,
    "framework.testing.harness.TopologyHarness": 7,
    "spark_ingest.direct.feed.DirectFeed": 9,
    "spark_ingest.spout.SparkSpout": 7,
    "viper.transactions.specs.TableSpec": 7,
}
"""The classes that were wide when the rule was made, each with its number, which never rises."""
