"""Every key of the configuration at both ends of its range: a run with it ends well, or is not started."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.model.config import KEYS
from tests.portions import at_every_change

Viper = Callable[..., Result]

HUGE = 2**70
"""More than any counter of the C layer or of the system holds."""
LONG, SHORT = 1.0e300, 1.0e-300
"""Durations that no clock can tell."""

ENDS: Mapping[str, tuple[Any, ...]] = {
    "viper.worker": ("inline", "thread", None),
    "viper.tasks": ({}, {"double": 1}, {"double": 3, "numbers": 1}),
    "viper.placement": ("costs", "round-robin", "component", {"numbers": 1, "double": [1, 1]}),
    "viper.isolated": (False, None),
    "viper.blocking": (True, False, None),
    "viper.async.in_flight": (1, 65_536),
    "viper.worker.threads": (1, 64),
    "viper.scheduling": ("downstream", "random", "qst", "lp", "et", "ct"),
    "viper.seed": (0, 2**64 - 1),
    "viper.chains": (True, False),
    "viper.merge.layer": ("communication", "operator", "operator-python"),
    "viper.slice.tuples": (1, HUGE),
    "viper.poll.pause.max.ms": (0, SHORT, LONG, HUGE),
    "viper.checkpoint.keep": (1, HUGE),
    "viper.checkpoint.secs": (None, LONG, HUGE),
    "viper.checkpoint.timeout.secs": (SHORT, LONG, HUGE),
    "viper.drain.timeout.secs": (0, SHORT, LONG, HUGE),
    "viper.stuck.after.secs": (0, LONG, HUGE, None),
    "viper.worker.restart.tries": (0, HUGE),
    "viper.worker.restart.window.secs": (SHORT, LONG, HUGE),
    "viper.standby.workers": (0, 16),
    "viper.recovery": ("best",),  # for exact see `WITH_CHECKPOINTS`
    "viper.time": ("event", "logical", "ingest", None),
    "viper.order": ("relaxed", "strict"),
    "viper.timestamp.field": ("number", None),
    "viper.timestamp.unit": ("s", "ms", "us", "ns"),
    "viper.timestamp.slack": (0, SHORT, LONG, HUGE),
    "viper.timestamp.late": ("error", "drop", "admit"),
    "viper.spout.bounded": (True, False, None),
    "viper.ack.after": ("commit", None),  # for checkpoint see `WITH_CHECKPOINTS`
    "viper.mutates": (True, False),
    "viper.stateless": (True, False),
    "viper.jumbo.size": (1, 65536),
    "viper.jumbo.linger.ms": (0, SHORT, LONG, HUGE),
    "viper.channel.jumbos": (1, 2**20),
    "viper.channel.tuples": (1, 2**26),
    "viper.channel.bytes": (1024, 2**40),
    "viper.columns.rows": (1, 2**20),
    "viper.tables": ({},),
    "viper.transactions.gather": (1, HUGE, None),
    "viper.transactions.evaluator": ("auto", "serial", "locks"),
    "viper.transactions.threads": (1, 16, None),
    "viper.transactions.bytes": (1 << 14, 1 << 31),
    "viper.sharing": ("dealt", "claims"),
    "viper.shuffle.run": (1, 1024),
    "viper.parallelism.max": (None,),  # more wants bolts that can be scaled
    "viper.controller": ("thresholds", {"class": "schedule", "args": {"steps": []}}, None),
    "viper.controller.period.secs": (SHORT, LONG, HUGE),
    "viper.input": ("shared",),  # copies want an operator that derives keys
    "viper.keys": (None,),  # likewise
    "viper.grouping.hash": ("stable", "storm"),
    "viper.key.groups": (1, 1 << 16),
    "viper.state.bytes": (1 << 20, 1 << 44),
    "viper.state.key": ("number", ["number"], None),
    "viper.window.session.gap.ms": (SHORT, LONG, HUGE, None),
    "viper.window.partial": (True, False),
    "viper.window.offset.ms": (0, SHORT, LONG, HUGE, -SHORT, -LONG, -HUGE),
    "viper.window.zone": (None,),
    "viper.window.length.months": (None,),
    "viper.window.sliding.interval.months": (None,),
    "viper.window.allowed.lateness.ms": (0, SHORT, LONG, HUGE),
    "viper.join.how": ("inner", "left", "right", "full"),
    "viper.window.rows": (1, HUGE),
    "viper.window.bytes": (1, HUGE),
    "topology.bolts.window.length.count": (1, HUGE, None),
    "topology.bolts.window.length.duration.ms": (SHORT, LONG, HUGE, None),
    "topology.bolts.window.sliding.interval.count": (1, HUGE, None),
    "topology.bolts.window.sliding.interval.duration.ms": (SHORT, LONG, HUGE, None),
    "topology.bolts.tuple.timestamp.field.name": ("number", None),
    "topology.bolts.tuple.timestamp.max.lag.ms": (0, SHORT, LONG, HUGE, None),
    "topology.bolts.late.tuple.stream": ("late", None),
    "viper.values": ("python", "json"),
    "viper.answers": ("relaxed", "strict"),
    "viper.on.error": ("stop", "restart", "skip", None),
    "viper.restart.tries": (0, HUGE),
    "viper.restart.window.secs": (SHORT, LONG, HUGE),
    "viper.sink.apply.rows": (1, HUGE),
    "viper.sink.apply.secs": (SHORT, LONG, HUGE),
    "viper.sink.retry.secs": (0, LONG, HUGE),
    "viper.tracked.max": (1, 2**21),
    "viper.emit.undeclared": ("warn", "error"),
    "topology.name": ("x", "two words", "x" * 5000, None),
    "topology.workers": (1, 1024, "auto"),
    "viper.rebalance.interval.secs": (SHORT, LONG, HUGE),
    "topology.tasks": (1, 30, None),
    "topology.max.task.parallelism": (1, HUGE, None),
    "topology.state.checkpoint.interval.ms": (1, 2**53),
    "topology.tick.tuple.freq.secs": (SHORT, LONG, HUGE, None),
    "topology.debug": (True, False),
    "topology.error.throttle.interval.secs": (0, SHORT, LONG, HUGE),
    "topology.max.error.report.per.interval": (1, HUGE),
    "topology.multilang.serializer": ("json", None),
    "topology.subprocess.timeout.secs": (SHORT, LONG, HUGE, None),
    "topology.acker.executors": (0, HUGE, None),
    "topology.message.timeout.secs": (1, HUGE),
    "topology.enable.message.timeouts": (True, False),
    "topology.max.spout.pending": (1, HUGE, None),
    "pystorm.log.level": ("trace", "critical"),
    "pystorm.log.path": ("logs", None),
    "pystorm.log.file": ("x.log", "{pid}"),
    "pystorm.log.max_bytes": (0, 1, HUGE),
    "pystorm.log.backup_count": (0, HUGE),
    "pystorm.log.format": ("%(message)s", ""),
}
"""The least and the most that each key takes, and every word where it takes words.

Of the numbers of tasks, 30 stands for the most: the work of setting up channels grows with the square of it.
"""

WITH: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("viper.time", "event"): {"viper.timestamp.field": "number"},
    ("viper.key.groups", "1"): {"topology.max.task.parallelism": 1},
}
"""The other keys that a value needs."""

REFUSED: Mapping[tuple[str, str], str] = {
    (
        "viper.jumbo.size",
        "65536",
    ): "channel.tuples is 8192: expected at least viper.jumbo.size, which is 65536",
    ("viper.channel.tuples", "1"): "channel.tuples is 1: expected at least viper.jumbo.size, which is 1024",
}
"""The values that are allowed by themselves, but not with the other keys' defaults."""

WITH_CHECKPOINTS: Mapping[str, tuple[Any, ...]] = {
    "viper.recovery": ("best", "exact"),
    "viper.ack.after": ("commit", "checkpoint", None),
    "viper.checkpoint.keep": (1, HUGE),
    "viper.checkpoint.secs": (SHORT, LONG, HUGE, None),
    "viper.checkpoint.timeout.secs": (SHORT, LONG, HUGE),
    "viper.tracked.max": (1, 2**21),
    "topology.max.spout.pending": (1, HUGE, None),
    "topology.acker.executors": (0, HUGE, None),
    "viper.key.groups": (2, 1 << 16),
    "viper.state.bytes": (1 << 20, 1 << 30),
}
"""The ends of what means more where components can be repeated, and there is a folder for checkpoints."""

TOPOLOGY = """
name: doubling
spouts: [{id: numbers, className: parts.Numbers}]
bolts:
  - {id: double, className: parts.Double, parallelism: 2}
  - {id: out, className: viperstorm.sinks.CountingSink}
streams:
  - {from: numbers, to: double, grouping: {type: FIELDS, args: [number]}}
  - {from: double, to: out, grouping: {type: GLOBAL}}
"""

REPEATABLE = (
    TOPOLOGY.replace("parts.Numbers", "parts.Counted")
    .replace("parts.Double", "parts.Seen")
    .replace("sinks.CountingSink", "sinks.CountingSink, config: {viper.stateless: true}")
)


def test_no_key_is_left_out() -> None:
    assert ENDS.keys() == KEYS.keys()


CASES = [(key, value) for key, ends in ENDS.items() for value in ends]
TICKS = ("topology.tick.tuple.freq.secs", SHORT)
"""So many ticks that the run takes a quarter of a minute."""
BETWEEN_PROCESSES = (
    *("viper.channel.", "viper.jumbo.", "viper.worker.", "viper.standby.", "viper.isolated"),
    "topology.name",
)
"""Beginnings of the keys that mean something else where tuples cross from process to process."""


@pytest.mark.parametrize("worker", at_every_change(["inline", "thread"]))
@pytest.mark.parametrize(
    ("key", "value"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case == TICKS else []) for case in CASES],
)
def test_a_value_that_its_rule_allows_runs(
    key: str, value: Any, worker: str, viper: Viper, project: Path
) -> None:
    assert KEYS[key].rule.complaint(value) is None
    check(viper, project, {"viper.worker": worker, key: value}, key)


@pytest.mark.slow  # each starts processes
@pytest.mark.parametrize(
    ("key", "value"),
    [("viper.worker", "process"), ("viper.isolated", True)]
    + [(key, value) for key, value in CASES if key.startswith(BETWEEN_PROCESSES)],
)
def test_it_runs_on_processes(key: str, value: Any, viper: Viper, project: Path) -> None:
    if (key, value) == ("viper.channel.bytes", 2**40):
        refused = run(viper, project, {"viper.worker": "process", "topology.workers": 2, key: value})
        assert refused.exit_code == ExitCode.INVALID
        assert "an arena needs" in refused.stderr and f"lower viper.channel.tuples, {key}" in refused.stderr
        return
    check(viper, project, {"viper.worker": "process", key: value}, key)


def check(viper: Viper, project: Path, options: Mapping[str, Any], key: str) -> None:
    """Run a small topology: its counts are right, or it is refused as `REFUSED` says."""
    given = (key, str(options[key]))
    result = run(viper, project, {"topology.workers": 2, **options, **WITH.get(given, {})})
    if given in REFUSED:
        assert (result.exit_code, result.stdout) == (ExitCode.INVALID, "")
        assert result.stderr.startswith("options.yaml:")
        assert result.stderr.endswith(f"{REFUSED[given]}\n")
        return
    assert result.exit_code == ExitCode.OK, result.stderr
    spouts = options[key] if key == "topology.tasks" and options[key] else 1
    assert sum(json.loads(result.stdout)["results"]["out"]) == 10 * spouts


def run(
    viper: Viper, project: Path, options: Mapping[str, Any], *arguments: str, topology: str = TOPOLOGY
) -> Result:
    (project / "small.yaml").write_text(topology)
    (project / "options.yaml").write_text(yaml.safe_dump(dict(options)))
    return viper("run", "small.yaml", "-q", "--json", "--config", "options.yaml", *arguments)


@pytest.mark.few(14)
@pytest.mark.parametrize("worker", ["inline", *at_every_change(["thread", "process"], 0)])
@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, ends in WITH_CHECKPOINTS.items() for value in ends]
)
def test_it_runs_with_checkpoints_and_acks(
    key: str, value: Any, worker: str, viper: Viper, project: Path
) -> None:
    options = {"viper.worker": worker, "topology.workers": 2, key: value}
    result = run(viper, project, options, "--checkpoints", "kept", topology=REPEATABLE)
    assert result.exit_code == ExitCode.OK, result.stderr
    found = json.loads(result.stdout)
    assert sum(found["results"]["out"]) == 10
    numbers = found["components"]["numbers"]
    assert (numbers["acked"], numbers["failed"]) == (10, 0)


@pytest.mark.parametrize("key", KEYS)
def test_a_value_that_its_rule_forbids_is_refused_before_the_start(
    key: str, viper: Viper, project: Path
) -> None:
    wrong = next(value for value in (-1, "nope", [], {"a": "b"}) if KEYS[key].rule.complaint(value))
    result = run(viper, project, {key: wrong})
    assert (result.exit_code, result.stdout) == (ExitCode.INVALID, "")
    assert result.stderr.startswith(f"options.yaml:1: {key} is {wrong!r}: expected ")
