"""Validation of the classes that implement components, ours and streamparse's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
import streamparse

from framework.model.topology import ObjectDef, PythonImplementation, Role
from framework.operators.components import BatchingBolt, Bolt, Spout, TicklessBatchingBolt, Tuple
from framework.planning.validation import validate
from tests.framework.planning.validation.examples import SPLIT, Lines, Split, python, spout, topology


class BareBolt(Bolt):
    pass


class BareSpout(Spout):
    pass


class BareBatches(BatchingBolt):
    pass


class TickBolt(Bolt):
    def process_tick(self, tup: Tuple) -> None: ...


class Polled(Spout):
    def next_tuple(self) -> None: ...


class Batches(TicklessBatchingBolt):
    def process_batch(self, key: object, tups: list[Tuple]) -> None: ...


class PortedSpout(streamparse.Spout):  # type: ignore[misc]
    def next_tuple(self) -> None: ...


class PortedBolt(streamparse.Bolt):  # type: ignore[misc]
    def process(self, tup: object) -> None: ...


class PortedBatches(streamparse.BatchingBolt):  # type: ignore[misc]
    def process_batch(self, key: object, tups: list[object]) -> None: ...


class BarePortedBolt(streamparse.Bolt):  # type: ignore[misc]
    pass


class BarePortedSpout(streamparse.ReliableSpout):  # type: ignore[misc]
    pass


class BarePortedBatches(streamparse.TicklessBatchingBolt):  # type: ignore[misc]
    pass


def problems(role: Role, cls: type) -> list[str]:
    if role is Role.SPOUT:
        found = topology(replace(spout(), implementation=python(cls)), SPLIT)
    else:
        found = topology(spout(), replace(SPLIT, implementation=python(cls)))
    return [str(problem) for problem in validate(found) if not problem.warning]


@pytest.mark.parametrize("cls", [Split, Batches, TickBolt, PortedBolt, PortedBatches])
def test_classes_of_bolts(cls: type) -> None:
    assert problems(Role.BOLT, cls) == []


@pytest.mark.parametrize("cls", [Lines, Polled, PortedSpout])
def test_classes_of_spouts(cls: type) -> None:
    assert problems(Role.SPOUT, cls) == []


@pytest.mark.parametrize("cls", [Lines, PortedSpout])
def test_a_spout_is_no_bolt(cls: type) -> None:
    assert problems(Role.BOLT, cls) == [
        f"wc.yaml:20: bolt 'split' is implemented by {cls.__name__}, which is a Spout: "
        "expected a subclass of viperstorm.Bolt or of streamparse's"
    ]


@pytest.mark.parametrize("cls", [Split, PortedBolt])
def test_a_bolt_is_no_spout(cls: type) -> None:
    assert problems(Role.SPOUT, cls) == [
        f"wc.yaml:10: spout 'lines' is implemented by {cls.__name__}, which is a Bolt: "
        "expected a subclass of viperstorm.Spout or of streamparse's"
    ]


def test_any_other_class_is_neither() -> None:
    assert problems(Role.BOLT, dict) == [
        "wc.yaml:20: bolt 'split' is implemented by dict, which is none: "
        "expected a subclass of viperstorm.Bolt or of streamparse's"
    ]


@pytest.mark.parametrize(
    ("role", "cls", "methods"),
    [
        (Role.BOLT, BareBolt, "process or process_tick"),
        (Role.BOLT, BarePortedBolt, "process or process_tick"),
        (Role.BOLT, BareBatches, "process_batch or process"),
        (Role.BOLT, BarePortedBatches, "process_batch or process"),
        (Role.SPOUT, BareSpout, "next_tuple or tuples"),
        (Role.SPOUT, BarePortedSpout, "next_tuple or tuples"),
    ],
)
def test_a_class_that_leaves_its_callback_open(role: Role, cls: type, methods: str) -> None:
    [found] = problems(role, cls)
    assert found.endswith(f"is implemented by {cls.__name__}, which does not define {methods}")


def test_a_class_that_a_factory_or_nobody_holds_is_not_judged() -> None:
    made = PythonImplementation(ObjectDef("m.Factory", factory="make", cls=dict))
    unknown = PythonImplementation(ObjectDef("m.Bolt"))
    for implementation in (made, unknown):
        assert validate(topology(spout(), replace(SPLIT, implementation=implementation))) == []


def test_a_method_of_a_mixin_counts() -> None:
    class Mixin:
        def tuples(self) -> Iterator[list[str]]:
            yield ["x"]

    class Mixed(Mixin, Spout):
        pass

    assert problems(Role.SPOUT, Mixed) == []


def test_validation_does_not_import_streamparse() -> None:
    code = "import sys, framework.planning.validation as v, framework.model.topology as t; "
    code += "v.validate(t.Topology('x', ())); "
    code += "sys.exit('pystorm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
