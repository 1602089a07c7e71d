"""Names, signatures and defaults of the base classes are streamparse's."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import framework

CLASSES = ["Bolt", "BatchingBolt", "TicklessBatchingBolt", "Spout", "ReliableSpout"]

METHODS = {
    "Component": "__init__",
    "Bolt": "ack emit fail initialize is_tick log process process_tick raise_exception report_metric spec",
    "BatchingBolt": "group_key process process_batch process_batches process_tick",
    "TicklessBatchingBolt": "process_tick",
    "Spout": "ack activate deactivate emit fail initialize log next_tuple raise_exception report_metric spec",
    "ReliableSpout": "ack emit fail",
}

ATTRIBUTES = {
    "Bolt": "auto_ack auto_anchor auto_fail config exit_on_exception outputs par",
    "BatchingBolt": "auto_ack auto_anchor auto_fail ticks_between_batches",
    "TicklessBatchingBolt": "secs_between_batches",
    "Spout": "config exit_on_exception outputs par",
    "ReliableSpout": "max_fails",
}

INTERNAL = {
    *("is_heartbeat", "read_command", "read_handshake", "read_message", "read_task_ids", "read_tuple"),
    *("run", "send_message"),
}
"""The names that speak pystorm's protocol over pipes; components of ours do not."""

STREAMS = {"input_stream", "output_stream"}
"""Their defaults are a process's own pipes, which nothing of ours reads."""


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, member) for name, members in table.items() for member in members.split()]


def parameters(function: Any) -> dict[str, tuple[Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return {
        p.name: (p.kind, None if p.name in STREAMS else p.default)
        for p in found
        if p.kind is not inspect.Parameter.KEYWORD_ONLY
    }


@pytest.mark.parametrize(("name", "method"), pairs(METHODS))
def test_signatures(name: str, method: str, streamparse: Any) -> None:
    theirs = getattr(
        getattr(streamparse.storm.component if name == "Component" else streamparse, name), method
    )
    assert parameters(getattr(getattr(framework, name), method)) == parameters(theirs)


@pytest.mark.parametrize(("name", "attribute"), pairs(ATTRIBUTES))
def test_defaults(name: str, attribute: str, streamparse: Any) -> None:
    theirs = getattr(getattr(streamparse, name), attribute)
    assert getattr(getattr(framework, name), attribute) == theirs


@pytest.mark.parametrize("name", CLASSES)
def test_nothing_public_is_missing(name: str, streamparse: Any) -> None:
    theirs = {member for member in dir(getattr(streamparse, name)) if not member.startswith("_")}
    assert theirs - set(dir(getattr(framework, name))) <= INTERNAL


@pytest.mark.parametrize("name", CLASSES)
def test_instances_have_the_same_attributes(name: str, streamparse: Any) -> None:
    for attribute in (
        "logger",
        "pid",
        "component_name",
        "task_id",
        "topology_name",
        "storm_conf",
        "context",
        "debug",
    ):
        assert hasattr(getattr(framework, name)(), attribute)


def test_tuples_have_the_same_fields(streamparse: Any) -> None:
    assert (
        framework.Tuple._fields
        == streamparse.Tuple._fields
        == ("id", "component", "stream", "task", "values")
    )
