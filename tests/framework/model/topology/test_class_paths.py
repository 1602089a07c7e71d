"""The names that topologies are printed with: of classes, as users import them."""

from __future__ import annotations

import pytest

from framework import Bolt
from framework.frontends.streams import CountByKey
from framework.model.importing import import_class
from framework.model.topology import class_path
from framework.model.topology.objects import Bean
from framework.operators.sinks import ConsoleSink, ParquetSink
from framework.operators.sources import CsvSource


class Outer:
    class Inner:
        pass


class ConsoleSinkOfOurs(ConsoleSink):
    """A class that no package exports."""


PATHS = {
    ConsoleSink: "framework.operators.sinks.ConsoleSink",
    ParquetSink: "framework.operators.sinks.ParquetSink",
    CsvSource: "framework.operators.sources.CsvSource",
    CountByKey: "framework.frontends.streams.CountByKey",
    Bolt: "framework.Bolt",
    Bean: "framework.model.topology.Bean",
    ConsoleSinkOfOurs: f"{__name__}.ConsoleSinkOfOurs",
    Outer.Inner: f"{__name__}.Outer.Inner",
    int: "builtins.int",
}


@pytest.mark.parametrize("cls", PATHS)
def test_a_class_is_named_by_the_outermost_package_that_exports_it(cls: type) -> None:
    assert class_path(cls) == PATHS[cls]
    assert import_class(PATHS[cls]) is cls


def test_another_class_of_that_name_does_not_stand_for_it() -> None:
    other = type("ConsoleSink", (), {"__module__": "framework.operators.sinks.plain"})
    assert class_path(other) == "framework.operators.sinks.plain.ConsoleSink"
