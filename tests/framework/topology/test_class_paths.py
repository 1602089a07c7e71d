"""The names that topologies are printed with: of classes, as users import them."""

from __future__ import annotations

import pytest

from framework import Bolt
from framework.importing import import_class
from framework.sinks import ConsoleSink, ParquetSink
from framework.sources import CsvSource
from framework.streams import CountByKey
from framework.topology import class_path
from framework.topology.objects import Bean


class Outer:
    class Inner:
        pass


class ConsoleSinkOfOurs(ConsoleSink):
    """A class that no package exports."""


PATHS = {
    ConsoleSink: "framework.sinks.ConsoleSink",
    ParquetSink: "framework.sinks.ParquetSink",
    CsvSource: "framework.sources.CsvSource",
    CountByKey: "framework.streams.CountByKey",
    Bolt: "framework.Bolt",
    Bean: "framework.topology.Bean",
    ConsoleSinkOfOurs: f"{__name__}.ConsoleSinkOfOurs",
    Outer.Inner: f"{__name__}.Outer.Inner",
    int: "builtins.int",
}


@pytest.mark.parametrize("cls", PATHS)
def test_a_class_is_named_by_the_outermost_package_that_exports_it(cls: type) -> None:
    assert class_path(cls) == PATHS[cls]
    assert import_class(PATHS[cls]) is cls


def test_another_class_of_that_name_does_not_stand_for_it() -> None:
    other = type("ConsoleSink", (), {"__module__": "framework.sinks.plain"})
    assert class_path(other) == "framework.sinks.plain.ConsoleSink"
