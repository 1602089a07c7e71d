"""The channels of a run, in one arena."""

from __future__ import annotations

from collections.abc import Sequence

from framework.config import Settings
from framework.planning import Plan
from viper.arena import Arena
from viper.channel import Channel, Source


class Network:
    """One channel per task of a bolt, and one more for each task that sends back to it."""

    def __init__(self, plan: Plan, settings: Settings) -> None:
        self._planned = {channel.reader: channel for channel in plan.channels}
        slots = settings["viper.channel.jumbos"]
        # A jumbo tuple must fit beside one that is being read.
        tuples = max(settings["viper.channel.tuples"], 2 * settings["viper.jumbo.size"])
        size = sum(
            Channel.size(len(c.sources), slots=slots, tuples=tuples)
            + len(c.feedback) * Channel.size(1, slots=slots, tuples=tuples)
            for c in plan.channels
        )
        self._arena = Arena(size)
        self._channels = {
            c.reader: Channel(self._arena, len(c.sources), slots=slots, tuples=tuples) for c in plan.channels
        }
        self._feedback = {
            (source, c.reader): Channel(self._arena, 1, slots=slots, tuples=tuples)
            for c in plan.channels
            for source in c.feedback
        }

    def channels_of(self, reader: int) -> tuple[Channel, list[Channel]]:
        """A task's channel, and the channels of what comes back to it."""
        return self._channels[reader], [self._feedback[source, reader] for source in self.feedback_of(reader)]

    def sources_of(self, reader: int) -> Sequence[int]:
        """Ids of the tasks that feed a task, by their index in its channel."""
        return self._planned[reader].sources

    def feedback_of(self, reader: int) -> Sequence[int]:
        """Ids of the tasks that send back to a task."""
        return self._planned[reader].feedback if reader in self._planned else ()

    def source(self, producer: int, reader: int) -> Source:
        """The producing end of the way from one task to another."""
        if (producer, reader) in self._feedback:
            return self._feedback[producer, reader].source(0)
        return self._channels[reader].source(self._planned[reader].sources.index(producer))
