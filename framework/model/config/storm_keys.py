"""Storm's configuration keys that have no effect here.

They are known by name, so that the config of a topology written for a cluster is accepted as it is
while a mistyped key is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TOPOLOGY = """
    acker.cpu.pcore.percent acker.resources.offheap.memory.mb acker.resources.onheap.memory.mb
    auto-credentials auto.task.hooks backpressure.check.millis backpressure.enable
    backpressure.wait.park.microsec backpressure.wait.progressive.level1.count
    backpressure.wait.progressive.level2.count backpressure.wait.progressive.level3.sleep.millis
    backpressure.wait.strategy batch.flush.interval.millis blobstore.map
    bolt.wait.park.microsec bolt.wait.progressive.level1.count bolt.wait.progressive.level2.count
    bolt.wait.progressive.level3.sleep.millis bolt.wait.strategy
    bolts.message.id.field.name bolts.outgoing.overflow.buffer.enable bolts.watermark.event.interval.ms
    builtin.metrics.bucket.size.secs classpath classpath.beginning
    component.cpu.pcore.percent component.resources.map
    component.resources.offheap.memory.mb component.resources.onheap.memory.mb
    disable.loadaware disable.loadaware.messaging
    disruptor.batch.size disruptor.batch.timeout.millis disruptor.wait.timeout.millis
    enable.send.iconnection.metrics enable.v2.metrics.tick environment
    event.logger.register eventlogger.executors executor.overflow.limit
    executor.receive.buffer.size executor.send.buffer.size fall.back.on.java.serialization groups
    isolate.machines kryo.decorators kryo.factory kryo.register
    localityaware.higher.bound localityaware.lower.bound logging.config logging.sensitivity
    max.replication.wait.time.sec
    metrics.consumer.cpu.pcore.percent metrics.consumer.register
    metrics.consumer.resources.offheap.memory.mb metrics.consumer.resources.onheap.memory.mb
    metrics.reporters min.replication.count multilang.log.handler
    optimize original_name priority producer.batch.size python.path
    ras.acker.executors.per.worker ras.constraint.max.state.search ras.constraint.max.time.secs
    ras.constraints ras.one.component.per.worker ras.one.executor.per.worker
    ras.order.executors.by.proximity.needs readonly.groups readonly.users receiver.buffer.size
    scheduler.favored.nodes scheduler.strategy scheduler.unfavored.nodes
    serialized.message.size.metrics shellbolt.max.pending skip.missing.kryo.registrations
    sleep.spout.wait.strategy.time.ms spout.recvq.skips spout.wait.park.microsec
    spout.wait.progressive.level1.count spout.wait.progressive.level2.count
    spout.wait.progressive.level3.sleep.millis spout.wait.strategy spread.components
    state.kryo.register state.provider state.provider.config
    state.synchronization.timeout.secs stats.ewma.enable stats.sample.rate
    submitter.principal submitter.user testing.always.try.serialize
    transactional.id transfer.batch.size transfer.buffer.size
    trident.batch.emit.interval.millis trident.windowing.cache.tuple.limit tuple.serializer
    upstream.feedback.enable upstream.feedback.freq.secs users v2.metrics.tick.interval.seconds version
    worker.childopts worker.gc.childopts worker.logwriter.childopts worker.max.heap.size.mb
    worker.metrics worker.receiver.thread.count worker.shared.thread.pool.size worker.timeout.secs
"""

_PER_COMPONENT = """
    bolts.late.tuple.stream bolts.message.id.field.name bolts.tuple.timestamp.field.name
    bolts.tuple.timestamp.max.lag.ms bolts.watermark.event.interval.ms
    bolts.window.length.count bolts.window.length.duration.ms
    bolts.window.sliding.interval.count bolts.window.sliding.interval.duration.ms
    debug max.spout.pending max.task.parallelism sleep.spout.wait.strategy.time.ms
    spout.wait.strategy state.provider state.provider.config tick.tuple.freq.secs transactional.id
"""

STORM_WITHOUT_EFFECT = frozenset(f"topology.{name}" for name in _TOPOLOGY.split())
"""Storm's keys for topologies that are accepted and change nothing here."""

STORM_PER_COMPONENT = frozenset(f"topology.{name}" for name in _PER_COMPONENT.split())
"""Storm's keys that a component's own config sets for what the component sees; others it does not."""

STORM_DEFAULTS: Mapping[str, Any] = {
    "supervisor.worker.timeout.secs": 30,
    "topology.builtin.metrics.bucket.size.secs": 60,
    "topology.disable.loadaware.messaging": False,
    "topology.eventlogger.executors": 0,
    "topology.executor.receive.buffer.size": 32768,
    "topology.shellbolt.max.pending": 100,
    "topology.stats.sample.rate": 0.05,
}
"""Values that components find on a cluster under keys that have no effect here, and so find here as well."""
