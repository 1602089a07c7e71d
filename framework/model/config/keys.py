"""The configuration keys that have a default: their values, and the places where they may be set.

The defaults and the long explanations are in ``conf/defaults.yaml``, which names the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.common.units import PER_SECOND
from framework.model.config.rules import (
    Rule,
    choice,
    choice_by_component,
    controller,
    duration,
    field_names,
    flag,
    integer,
    log_file_name,
    log_format,
    optional,
    placement,
    power_of_two,
    span,
    tables,
    task_counts,
    text,
    topology_name,
    workers,
)


@dataclass(frozen=True, slots=True)
class Key:
    """A configuration key."""

    name: str
    rule: Rule
    meaning: str
    """In one sentence."""
    per_component: bool = False
    """True if a component's own config may set it, too."""


EVALUATORS = ("auto", "serial", "chains", "locks", "versions", "partition_locks", "partitions_apart")
"""The evaluators of transactions."""
SCHEDULING = ("downstream", "random", "qst", "lp", "et", "ct")
"""The policies by which executors choose the next task; no output depends on them."""
MOST_THREADS = 64
"""The most threads that share the tasks of a worker."""
MAX_TASKS = 1024
"""The most tasks that a component can have: a position has room for no more replicas."""

_ALL = (
    Key("viper.worker", optional(choice("inline", "thread", "process")), "The kind of worker."),
    Key("viper.tasks", task_counts(MAX_TASKS), "How many tasks components have, whatever they say."),
    Key("viper.placement", placement(), "Which worker runs which task."),
    Key("viper.isolated", optional(flag()), "Whether each task gets a process of its own.", True),
    Key("viper.blocking", optional(flag()), "Whether a component blocks, and so gets threads.", True),
    Key("viper.async.in_flight", integer(1, 65536), "Tuples in flight in a coroutine bolt's task.", True),
    Key("viper.worker.threads", integer(1, MOST_THREADS), "The threads of a worker that share its tasks."),
    Key("viper.scheduling", choice(*SCHEDULING), "Which of the tasks that have work runs next."),
    Key("viper.seed", integer(0, 2**64 - 1), "What random scheduling draws from."),
    Key("viper.chains", flag(), "Whether tasks hand tuples over without a channel where they can."),
    Key(
        "viper.merge.layer",
        choice("communication", "operator", "operator-python"),
        "What puts the tuples of several tasks into one order.",
    ),
    Key("viper.slice.tuples", integer(1), "The most tuples that a task processes in one turn."),
    Key("viper.poll.pause.max.ms", duration(zero=True), "The longest pause between two polls of a spout."),
    Key("viper.drain.timeout.secs", duration(zero=True), "How long a stop waits for what is in flight."),
    Key("viper.checkpoint.keep", integer(1), "How many checkpoints a folder keeps."),
    Key("viper.checkpoint.secs", optional(duration(zero=False)), "Seconds between checkpoints."),
    Key("viper.checkpoint.timeout.secs", duration(zero=False), "How long sources may take to align."),
    Key("viper.stuck.after.secs", optional(duration(zero=True)), "When a callback takes long.", True),
    Key("viper.worker.restart.tries", optional(integer(0)), "How often dead worker processes are restarted."),
    Key("viper.worker.restart.window.secs", duration(zero=False), "Seconds within which that counts."),
    Key("viper.standby.workers", integer(0, 16), "How many processes wait to take a dead worker's place."),
    Key("viper.recovery", choice("best", "exact"), "What the death of a worker process may change."),
    Key("viper.time", optional(choice("event", "logical", "ingest")), "Where timestamps come from."),
    Key("viper.order", choice("relaxed", "strict"), "Whether breaches of the order guarantee are refused."),
    Key("viper.timestamp.field", optional(text()), "The field that holds a tuple's event time.", True),
    Key("viper.timestamp.unit", choice(*PER_SECOND), "The unit of event times.", True),
    Key("viper.timestamp.slack", duration(zero=True), "How far out of order tuples may come.", True),
    Key("viper.timestamp.late", text(), "What becomes of tuples that are further out of order.", True),
    Key("viper.spout.bounded", optional(flag()), "Whether a spout ends by itself.", True),
    Key("viper.mutates", flag(), "Whether a bolt may change the values that it receives.", True),
    Key("viper.stateless", flag(), "Whether a bolt's outputs depend only on the tuple in process.", True),
    Key("viper.jumbo.size", integer(1, 65536), "The most tuples in one jumbo tuple."),
    Key("viper.columns.rows", integer(1, 1 << 20), "The most rows in one jumbo tuple of columns."),
    Key("viper.jumbo.linger.ms", duration(zero=True), "How long a jumbo tuple may wait to be filled."),
    Key("viper.channel.jumbos", integer(1, 2**20), "Jumbo tuples that a channel holds from each source."),
    Key("viper.channel.tuples", integer(1, 2**26), "Tuples that a channel holds from each source."),
    Key("viper.channel.bytes", integer(1024, 2**40), "Bytes on the way between processes, from each source."),
    Key(
        "viper.sharing",
        choice_by_component("dealt", "claims"),
        "How tasks of a bolt share its tuples.",
        True,
    ),
    Key("viper.shuffle.run", integer(1, 1024), "How long runs of shuffled tuples get.", True),
    Key("viper.parallelism.max", optional(integer(1, MAX_TASKS)), "Tasks a bolt may be scaled to.", True),
    Key("viper.controller", optional(controller()), "What decides how many tasks a bolt has.", True),
    Key("viper.controller.period.secs", duration(zero=False), "How often it is asked.", True),
    Key("viper.grouping.hash", choice("stable", "storm"), "How a fields grouping places its keys."),
    Key("viper.key.groups", power_of_two(1 << 16), "How many groups keys fall into."),
    Key("viper.state.bytes", integer(1 << 20, 2**44), "Bytes that all declared state may take."),
    Key("viper.tables", tables(), "Room of shared tables, where rows come from and go to."),
    Key("viper.transactions.gather", optional(integer(1)), "Tuples gathered before evaluation.", True),
    Key("viper.transactions.evaluator", choice(*EVALUATORS), "What evaluates transactions."),
    Key("viper.transactions.threads", optional(integer(1, 16)), "Threads of a process that evaluate."),
    Key("viper.transactions.bytes", power_of_two(1 << 31, 1 << 14), "Bytes of a log of transactions."),
    Key("viper.state.key", optional(field_names()), "The fields that name the key of a bolt's state.", True),
    Key("viper.input", choice("shared", "copied", "keyed"), "Copies of tuples with derived keys.", True),
    Key("viper.keys", optional(choice("producer", "instance")), "Who derives the keys of tuples.", True),
    Key("viper.values", choice("python", "json"), "Whether values arrive as they are, or as JSON has them."),
    Key("viper.ack.after", optional(choice("commit", "checkpoint")), "What an ack waits for.", True),
    Key("viper.answers", choice("relaxed", "strict"), "Whether a second ack or fail of a tuple is an error."),
    Key("viper.on.error", optional(choice("stop", "restart", "skip")), "What an exception leads to.", True),
    Key("viper.restart.tries", optional(integer(0)), "How often a component may be made again.", True),
    Key("viper.restart.window.secs", duration(zero=False), "Seconds within which that counts.", True),
    Key("viper.window.session.gap.ms", optional(duration(zero=False)), "The gap between sessions.", True),
    Key("viper.window.offset.ms", span(), "How much later windows by time start and end.", True),
    Key("viper.window.zone", optional(text()), "The zone whose days or months windows have.", True),
    Key("viper.window.length.months", optional(integer(1, 999_999)), "Months in a window.", True),
    Key("viper.window.sliding.interval.months", optional(integer(1, 999_999)), "Months to the next.", True),
    Key("viper.window.partial", flag(), "Whether an incomplete window fires at the end.", True),
    Key("viper.window.allowed.lateness.ms", duration(zero=True), "How late tuples may be.", True),
    Key("viper.join.how", choice("inner", "left", "right", "full"), "Which tuples find no partner.", True),
    Key("viper.window.rows", integer(1), "The most tuples that the windows of a task hold.", True),
    Key("viper.window.bytes", integer(1), "The most bytes that these take.", True),
    Key("viper.sink.apply.rows", integer(1), "How many rows a sink stages before it applies them.", True),
    Key("viper.sink.apply.secs", duration(zero=False), "The longest that staged rows wait.", True),
    Key("viper.sink.retry.secs", duration(zero=True), "How long a sink waits for its target.", True),
    Key("viper.tracked.max", integer(1, 2**21), "Tracked tuples of one task that may be in flight."),
    Key("viper.emit.undeclared", choice("warn", "error"), "What an emit on an undeclared stream does."),
    Key("topology.name", optional(topology_name()), "The topology's name, as components see it."),
    Key("topology.workers", workers(), "How many workers share the tasks."),
    Key("viper.rebalance.interval.secs", duration(zero=False), "Seconds between two moves."),
    Key("topology.tasks", optional(integer(1, MAX_TASKS)), "Tasks of a component.", True),
    Key("topology.max.task.parallelism", optional(integer(1)), "The most tasks of a component.", True),
    Key(
        "topology.state.checkpoint.interval.ms",
        integer(1, 2**53),
        "Milliseconds between the transactions of a stateful bolt.",
    ),
    Key("topology.bolts.window.length.count", optional(integer(1)), "Tuples in a window.", True),
    Key("topology.bolts.window.length.duration.ms", optional(duration(zero=False)), "How long it is.", True),
    Key("topology.bolts.window.sliding.interval.count", optional(integer(1)), "Tuples to the next.", True),
    Key(
        "topology.bolts.window.sliding.interval.duration.ms",
        optional(duration(zero=False)),
        "The time between windows.",
        True,
    ),
    Key("topology.bolts.tuple.timestamp.field.name", optional(text()), "The field with the time.", True),
    Key(
        "topology.bolts.tuple.timestamp.max.lag.ms",
        optional(duration(zero=True)),
        "How far out of order tuples come to windows.",
        True,
    ),
    Key("topology.bolts.late.tuple.stream", optional(text()), "The stream for late tuples.", True),
    Key("topology.tick.tuple.freq.secs", optional(duration(zero=False)), "Seconds between ticks.", True),
    Key("topology.debug", flag(), "What components see as their `debug`.", True),
    Key("topology.error.throttle.interval.secs", duration(zero=True), "Seconds to count repeats in."),
    Key("topology.max.error.report.per.interval", integer(1), "Repeats that are logged before."),
    Key("topology.acker.executors", optional(integer(0)), "0 switches the tracking of tuples off."),
    Key("topology.message.timeout.secs", integer(1), "Seconds until a tracked tuple fails."),
    Key("topology.enable.message.timeouts", flag(), "Whether tracked tuples fail by time."),
    Key("topology.max.spout.pending", optional(integer(1)), "Tracked tuples in flight per spout task.", True),
    Key("topology.multilang.serializer", optional(text()), "What is spoken with programs: json."),
    Key("topology.subprocess.timeout.secs", optional(duration(zero=False)), "When a silent one is killed."),
    Key("pystorm.log.path", optional(text()), "The folder of the components' log files.", True),
    Key("pystorm.log.file", log_file_name(), "The name of a component's log file.", True),
    Key(
        "pystorm.log.level",
        choice("trace", "debug", "info", "warn", "warning", "error", "critical"),
        "The least level that a component logs.",
        True,
    ),
    Key("pystorm.log.max_bytes", integer(0), "The size at which a log file is rotated.", True),
    Key("pystorm.log.backup_count", integer(0), "How many rotated log files are kept.", True),
    Key("pystorm.log.format", log_format(), "The format of log lines, as in Python's logging.", True),
)

KEYS: Mapping[str, Key] = {key.name: key for key in _ALL}
"""Every key that has a default, by name."""
