"""Hooks, attributes and what `initialize` is given are those of streamparse and Storm."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from framework import Grouping, Stream, TopologyBuilder, Tuple
from framework.operators.sinks import CollectingSink
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import Workers


@both
@everywhere
def test_hooks_come_in_order_and_attributes_with_the_first(workers: Workers, base: ModuleType) -> None:
    report = workers.run(chain(base.ToldSpout, base.ToldBolt), topology__debug=True)
    ((bolts,),) = report.result("sink")
    ((spouts,),) = workers.run(chain(base.ToldSpout), topology__debug=True).result("sink")
    for called, name, task, following in (
        (bolts, "b1", 1, ["process"]),
        (spouts, "source", 2, ["activate", "next_tuple"]),
    ):
        first, (hook, attributes, same), *then = called
        assert (first, hook, same, then) == ("__init__", "initialize", True, following)
        assert (attributes.pop("pid") == os.getpid()) == (workers.kind != "process")
        assert attributes.pop("logger").endswith(f".{name}")
        told = {"debug": True, "topology_name": "tested", "task_id": task, "component_name": name}
        assert attributes == told


@both
def test_debug_is_off_and_the_static_methods_are_there(base: ModuleType) -> None:
    ((called,),) = run_built(chain(base.ToldSpout)).result("sink")
    assert called[1][1]["debug"] is False
    assert base.Passes.is_tick(Tuple("1", "__system", "__tick", -1, ()))
    assert not base.Passes.is_tick(Tuple("1", "__system", "other", -1, ()))


def test_heartbeats_can_be_told(streamparse: Any) -> None:
    assert streamparse.Bolt.is_heartbeat(streamparse.Tuple("1", None, "__heartbeat", -1, ()))
    assert not streamparse.Bolt.is_heartbeat(streamparse.Tuple("1", "a", "__heartbeat", 1, ()))


OWN = {
    "topology.tick.tuple.freq.secs": 60,
    "topology.state.provider": "kept",
    "topology.stats.sample.rate": 1.0,
    "its.own": {"list": [1]},
}
"""A component's configuration; Storm lets no component change its rate of samples."""


def contexts(base: ModuleType, workers: Workers) -> dict[str, tuple[Any, Any]]:
    """Collect the contexts of the tasks of a topology with every kind of subscription, by component."""
    builder = TopologyBuilder()
    streams = [Stream(["conf", "context"]), Stream(["n"], "rest"), Stream(["n"], "to", direct=True)]
    builder.set_spout("source", base.SaysContextFirst, outputs=streams)
    bolt = builder.set_bolt("a bolt", base.SaysContext, 2, config=OWN, outputs=streams)
    bolt.grouping("source", Grouping.ALL).direct_grouping("source", stream="to")
    bolt.all_grouping("__system", stream="__tick")
    sink = builder.set_bolt("sink", CollectingSink).fields_grouping("a bolt", "conf", "context")
    sink.global_grouping("source")
    rows = workers.run(builder, {"max_tuples": 1}, user__key="of all").result("sink")
    return {context["componentid"]: (conf, context) for conf, context in rows}


@both
@everywhere
def test_context_and_conf_have_storms_keys(workers: Workers, base: ModuleType) -> None:
    given = contexts(base, workers)
    fields = {"default": ["conf", "context"], "rest": ["n"], "to": ["n"]}
    conf, context = given["a bolt"]
    assert context == {
        "task->component": {"1": "a bolt", "2": "a bolt", "3": "sink", "4": "source"},
        "taskid": context["taskid"],
        "componentid": "a bolt",
        "streams": ["default", "rest", "to"],
        "stream->outputfields": fields,
        "stream->target->grouping": {
            "default": {"sink": {"type": "FIELDS", "fields": ["conf", "context"]}},
            "rest": {},
            "to": {},
        },
        "source->stream->grouping": {
            "source": {"default": {"type": "ALL"}, "to": {"type": "DIRECT"}},
            "__system": {"__tick": {"type": "ALL"}},
        },
        "source->stream->fields": {"source": fields, "__system": {"__tick": ["rate_secs"]}},
    }
    assert context["taskid"] in (1, 2)
    assert (conf["its.own"], conf["user.key"], conf["topology.name"]) == ({"list": [1]}, "of all", "tested")
    assert (conf["topology.state.provider"], conf["topology.stats.sample.rate"]) == ("kept", 0.05)
    conf, context = given["source"]
    assert (context["taskid"], context["source->stream->grouping"]) == (4, {})
    assert context["stream->target->grouping"] == {
        "default": {"a bolt": {"type": "ALL"}, "sink": {"type": "FIELDS", "fields": []}},
        "rest": {},
        "to": {"a bolt": {"type": "DIRECT"}},
    }
    assert "its.own" not in conf


@both
def test_conf_has_what_a_clusters_has(base: ModuleType) -> None:
    ((conf, _),) = run_built(chain(base.SaysContextFirst), {"max_tuples": 1}).result("sink")
    expected = {
        "topology.message.timeout.secs": 30,
        "topology.acker.executors": None,
        "topology.max.spout.pending": None,
        "topology.debug": False,
        "topology.stats.sample.rate": 0.05,
        "topology.shellbolt.max.pending": 100,
        "topology.executor.receive.buffer.size": 32768,
        "topology.error.throttle.interval.secs": 10,
        "supervisor.worker.timeout.secs": 30,
    }
    assert conf.items() >= expected.items()
