"""Methods of pystorm's loop that nothing calls here are warned of; the others are not."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from tests.framework.hosting import ours, ported


def warned(spout: Any, bolt: Any) -> list[str]:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("bolt", bolt).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return [found.message for found in validate(builder.build("t")) if "pystorm calls" in found.message]


def with_methods(base: type, *names: str) -> type:
    return type("Own", (base,), {name: lambda self, *args: None for name in names})


@pytest.mark.parametrize("base", [ours, ported])
def test_methods_that_are_called_are_not_warned_of(base: ModuleType) -> None:
    called = ["ack", "fail", "raise_exception", "process", "process_tick", "emit", "log", "report_metric"]
    if base is ported:
        called += ["_run", "read_tuple", "read_task_ids", "send_message", "is_tick", "is_heartbeat"]
        called += ["_setup_component", "_handle_run_exception"]
    assert warned(base.Lists, with_methods(base.Passes, *called)) == []
    assert warned(base.Lists, base.Batches) == warned(base.Lists, base.BatchesOfTimer) == []


def test_of_streamparses() -> None:
    bolt = with_methods(ported.BatchesOfTimer, "run", "_batch_entry", "read_command")
    spout = with_methods(ported.Lists, "_run")
    instead = (
        "pystorm calls in its loop, and nothing calls here: run it as Storm would, with viper run --shell"
    )
    assert warned(spout, bolt) == [
        f"spout 'source' is implemented by Own, whose _run {instead}",
        f"bolt 'bolt' is implemented by Own, whose run and read_command and _batch_entry {instead}",
    ]


def test_of_ours() -> None:
    [message] = warned(ours.Lists, with_methods(ours.Passes, "_run", "is_tick", "run"))
    assert message.startswith("bolt 'bolt' is implemented by Own, whose _run and is_tick pystorm calls")
    assert message.endswith("do it in initialize, process, ack, fail or raise_exception")
