"""The task of a partitioned spout: merges its partitions, and gives their rows positions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from framework.components.partitioned import Pace, PartitionedSpout
from framework.planning import ComponentLevel, Task
from framework.runtime.control.stop import StopReason
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.edges.destination import Row
from framework.runtime.edges.output import Output
from framework.runtime.hosts.faults import OnError, Recovery
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.positions.lineage import LAST
from framework.runtime.positions.partition_feed import WHOLE, PartitionFeed, Place
from framework.runtime.tasks.aligned_stop import CommonStop
from framework.runtime.tasks.pacer import Pacer
from framework.runtime.tasks.pause import GrowingPause
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.spout_task import FIRST_PAUSE_S
from viper.errors import OrderError
from viper.partitions import MOST_PARTITIONS, Merge
from viper.position import END, LEAST, Position
from viper.quota import Quota
from viper.rows import interleave


class PartitionedTask(SourceTask):
    """Runs one task of a partitioned spout, with every so-manieth of its partitions."""

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: TaskCollector,
        output: Output,
        identity: Identity,
        recovery: Recovery,
        *,
        tasks: int,
        level: ComponentLevel,
        places: Mapping[int, Place],
        quota: Quota,
        max_pause_s: float,
        common_stop: CommonStop,
    ) -> None:
        """
        Args:
            task: as in the base class, like all before the star.
            host: the component.
            collector: counts what it brings.
            output: routes that.
            identity: what the component is told about itself.
            recovery: what happens when it raises.
            tasks: how many the spout has.
            level: where it marks the path.
            places: how far its partitions were brought before, where they were.
            quota: bounds how much all spouts emit together.
            max_pause_s: longest pause in seconds before it is asked again after it had nothing.
            common_stop: where it stops when the run is to drain.
        """
        super().__init__(task, host, collector, output, identity, recovery)
        self._tasks = tasks
        self._level = level
        self._places: Mapping[int, Place] = places
        self._quota = quota
        self._pause = GrowingPause(FIRST_PAUSE_S, max_pause_s)
        self._common_stop = common_stop
        self._floor = LEAST
        self._feeds: list[PartitionFeed] = []
        self._merge = Merge([])
        self._merged: Sequence[PartitionFeed] = ()
        """The feeds that have not ended, whose rows are merged."""
        self._pacer: Pacer | None = None
        self._exhausted = False
        self._saturated = 0
        """Rows without room for their place, of components before the one that is here now."""

    # -- lifecycle

    def resume(self, floor: Position) -> None:
        """As in the base class: what lies below the floor has been brought by the one before."""
        super().resume(floor)
        self._floor = floor
        self._exhausted = floor >= LAST

    def _begin(self) -> None:
        super()._begin()
        try:
            self._open(self.host.component)
        except user_errors() as error:
            self._failed("partitions", error)

    def _open(self, spout: PartitionedSpout) -> None:
        if spout.partitions > MOST_PARTITIONS:
            raise ValueError(f"{spout.partitions} partitions: expected at most {MOST_PARTITIONS}")
        numbers = range(spout.partitions)[self.task.index :: self._tasks]
        fields = next((port.stream.fields for port in self.output.ports), ())
        self._feeds = [
            PartitionFeed(n, self._level.level(copy=n), fields, self._places.get(n)) for n in numbers
        ]
        for feed in self._feeds:
            feed.raise_to(self._floor)
            feed.open(iter(spout.blocks(feed.number, feed.start_us)) if not feed.ended else iter(()))
        self._follow([feed for feed in self._feeds if not feed.ended])
        pace = spout.pace()
        self._pacer = None if pace is None else self._made_pacer(pace)
        if not numbers and self.task.index:
            self.identity.logger.warning(
                "%s has nothing to do: the spout has %d partitions for %d tasks",
                self.name,
                spout.partitions,
                self._tasks,
            )

    def _made_pacer(self, pace: Pace) -> Pacer:
        """Time passes from where the rows go on, and not once more through what was brought before.

        That is the latest place of all partitions, those of other tasks included, so that all tasks agree.
        """
        reached = [place[0] for place in self._places.values() if place != WHOLE]
        return Pacer(replace(pace, origin_us=max(pace.origin_us, self._floor.ts, *reached)))

    def _follow(self, feeds: Sequence[PartitionFeed]) -> None:
        self._merged = feeds
        self._merge = Merge([feed.partition for feed in feeds])

    def activate(self) -> None:
        """Tell the spout that rows will be asked for; the time of a paced replay passes from now on."""
        super().activate()
        if self._pacer is not None:
            self._pacer.start(time.monotonic())
        self._call("activate")

    def deactivate(self) -> None:
        """Tell the spout that no more rows will be asked for; the time of a paced replay stands still."""
        super().deactivate()
        if self._pacer is not None:
            self._pacer.stop(time.monotonic())
        self._call("deactivate")

    def _call(self, during: str) -> None:
        try:
            getattr(self.host.component, during)()
        except user_errors() as error:
            self._raised(during, error)

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self._exhausted

    def pass_time(self) -> None:
        """Let the time of a paced replay go on while no row is due."""
        if self._pacer is not None and self.active and self._feeds:
            self.publish(self._frontier(time.monotonic()))

    def stop_asked(self, reason: StopReason, now_s: float) -> None:
        """Bring no more than the other tasks have; where the quota is used up, nobody could catch up."""
        self._common_stop.ask(now_s)
        self._common_stop.say(self._last_placed.ts)
        if reason is StopReason.MAX_TUPLES:
            self._common_stop.leave()
        self.polled_again_at = 0.0

    def stops(self, now_s: float) -> bool:
        """As in the base class, once it is where the other tasks stop."""
        return self.ending or not self.active or self._common_stop.is_there(self._behind.ts, now_s)

    def end(self) -> None:
        """Ask for no more rows, and tell the spout so."""
        self._common_stop.say(self._last_placed.ts)
        self._exhausted = True
        if self.active:
            self.deactivate()
        self._note_places()
        self._close_feeds()

    def _close_feeds(self) -> None:
        for feed in self._feeds:
            try:
                feed.close()
            except user_errors() as error:
                self.collector.report_error(error, None, "blocks")

    def _restart(self) -> None:
        """As in the base class; the new component goes on behind what the old one has brought."""
        self._note_places()
        self._close_feeds()
        self._places = {**self._places, **self.collector.counters.places}
        self._saturated = self.collector.counters.saturated
        super()._restart()
        if self.active:
            self.activate()

    # -- work

    def run(self, limit: int) -> int:
        """Bring so many rows at most."""
        if self.restart_at_s is not None:
            self._restart()
        if not self.active:
            return 0
        granted, before = self._quota.take(limit), self.collector.counters.emitted
        try:
            self._bring(granted)
        except user_errors() as error:
            self._blocks_raised(error)
        finally:
            count = self.collector.counters.emitted - before
            self._quota.settle(granted, count)
        now_s = time.monotonic()
        self.unblock()
        self._rest(count, now_s)
        self._common_stop.brought(count, now_s)
        if self._feeds:
            self.publish(self._frontier(now_s))
        return count

    def _bring(self, limit: int) -> None:
        until_us = self._common_stop.until_us
        if until_us is None:
            return
        if self._pacer is not None:
            until_us = min(until_us, self._pacer.now_us(time.monotonic()))
        total = 0
        while total < limit and not self._exhausted:
            deliver = self._deliver_next if self._fill() else self._deliver_before
            count = deliver(limit - total, until_us)
            if not count:
                break
            total += count

    def _fill(self) -> bool:
        """See to it that every partition has rows at hand, as nobody knows otherwise which comes first."""
        is_filled = True
        for feed in self._merged:
            is_filled = (feed.fill() or feed.ended) and is_filled
        if any(feed.ended for feed in self._merged):
            self._follow([feed for feed in self._merged if not feed.ended])
        self._exhausted = not self._merged
        return is_filled and not self._exhausted

    def _deliver_next(self, limit: int, until_us: int) -> int:
        return 0 if self._exhausted else self._deliver(self._merged, self._merge, limit, until_us)

    def _deliver_before(self, limit: int, until_us: int) -> int:
        """Bring what is earlier than all that partitions without rows have said to go on with."""
        ready = [feed for feed in self._merged if feed.partition.waiting]
        behind = min((feed.floor for feed in self._merged if not feed.partition.waiting), default=LEAST)
        if not ready or behind == LEAST or all(feed.said_us is None for feed in self._merged):
            return 0
        merge = Merge([feed.partition for feed in ready])
        return self._deliver(ready, merge, limit, min(until_us, behind.ts - 1))

    def _deliver(self, feeds: Sequence[PartitionFeed], merge: Merge, limit: int, until_us: int) -> int:
        firsts = [feed.partition.next for feed in feeds]
        self._out.clear()
        try:
            chosen = merge.take(limit, self._out, until_us)
        except OrderError as error:
            self._failed("blocks", error)
        count = len(self._out)
        if count:
            self._hand_on(_rows(feeds, chosen, firsts))
        return count

    def _hand_on(self, rows: list[Row]) -> None:
        counters = self.collector.counters
        counters.emitted += len(rows)
        counters.saturated = self._saturated + sum(feed.partition.overflowed for feed in self._feeds)
        last = self._out.last()
        self._last_placed, self.last_us = last, last.ts
        self._record(rows, None, self._out)
        self.output.deliver(rows, None, self._out, any(feed.mutable for feed in self._merged))

    def _blocks_raised(self, error: BaseException) -> None:
        if self._choice(error) is OnError.SKIP:  # which would end its partition without a word
            self._failed("blocks", error, tried="a generator cannot go on after an exception: catch it there")
        self._raised("blocks", error)

    def _rest(self, count: int, now_s: float) -> None:
        if count:
            self._pause.end()
            self.polled_again_at = 0.0
        elif any(feed.waits for feed in self._merged) or self._pacer is None or self._common_stop.asked:
            self.polled_again_at = now_s + self._pause.next_s()
        elif self._merged:
            heads = [feed.partition.next_ts for feed in self._merged if feed.partition.waiting]
            self.polled_again_at = self._pacer.due_s(min(heads)) if heads else 0.0

    @property
    def _behind(self) -> Position:
        """No partition has a row below this; its end where none has any more."""
        return min((feed.floor for feed in self._merged), default=END)

    def _frontier(self, now_s: float) -> Position:
        """Nothing that is brought later will have a smaller position."""
        behind = self._behind
        if behind == END or self._pacer is None:
            return self._last_placed if behind == END else behind
        return min(behind, Position(self._pacer.now_us(now_s) + 1, 0, 0))

    def _note_places(self) -> None:
        places = {feed.number: feed.place for feed in self._feeds}
        self.collector.counters.places = {n: place for n, place in places.items() if place is not None}

    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        return [], None, False


def _rows(feeds: Sequence[PartitionFeed], chosen: memoryview, firsts: list[int]) -> list[Row]:
    if len(feeds) == 1:
        return feeds[0].taken(firsts[0])
    return interleave([feed.rows for feed in feeds], firsts, chosen)
