"""A task that stands at a cut in its input, with all below committed, until it has done what is due there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from framework.runtime.coordination.cut_record import Proposal, Purpose
from framework.runtime.durability.checkpoints.targets import SINK
from framework.runtime.tasks.agenda import Agenda, Entry, Frontier
from framework.runtime.tasks.bolt_cut import BoltCut
from framework.runtime.tasks.bolt_parts import BoltParts
from framework.runtime.tasks.hand_over import HandOver
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.sink_commits import CheckpointCommits
from framework.runtime.tasks.task import Task
from viper.position import Position


class TaskAtCuts(Task):
    """What a bolt's task does where it stands at a cut: it saves itself for a checkpoint, or it hands key
    groups over."""

    _parts: BoltParts
    """What does the work."""
    _agenda: Agenda
    """What is due."""

    def save(self) -> dict[str, Any]:
        """As in the base class."""
        saved = {**super().save(), "agenda": self._agenda.save(), "tick": self._parts.interludes.number}
        if isinstance(self._parts.commits, CheckpointCommits):
            saved[SINK] = self._parts.commits.described
        return saved

    def cut(self, number: int) -> None:
        """As in the base class."""
        if isinstance(self._parts.commits, CheckpointCommits):
            self._parts.commits.cut(number)

    def complete(self, number: int) -> None:
        """As in the base class."""
        if isinstance(self._parts.commits, CheckpointCommits):
            self._parts.commits.complete(number)

    @property
    def _is_at_cut(self) -> bool:
        return self._parts.cut is not None and self._parts.cut.is_there

    @property
    def _is_handing_over(self) -> bool:
        """Whether the task stands at a cut, and has not taken over what siblings hand over to it."""
        return self._parts.hand_over is not None and self._parts.hand_over.goes_on

    @property
    def _can_take_over(self) -> bool:
        """Whether all of that has been handed over."""
        return self._parts.hand_over is not None and self._parts.hand_over.can_take

    def _is_wanted_by_checkpoint(self, cut: BoltCut, now_s: float) -> bool:
        is_due = now_s >= self.context.checkpoints.write_at_s
        return is_due or cut.has_come_to(self._parts.assigner.lineage.frontier)

    @property
    def _tables_kept(self) -> Membership | None:
        """The membership of a task that saves the shared tables of its group; None of others."""
        membership = self._parts.membership
        return membership if membership is not None and membership.is_keeper else None

    def _are_evaluated(self, position: Position) -> bool:
        """Whether all transactions below a position have been evaluated, if the task has part in any."""
        return self._parts.membership is None or self._parts.membership.is_evaluated(position)

    def _come_to(self, cut: BoltCut, reached: Frontier) -> Iterator[None]:
        """Do what is due below a cut that all input has come to; the task stands there then."""
        lineage, promised, place = self._parts.assigner.lineage, cut.promised(reached), cut.place
        there = cut.frontier(reached)
        yield from self._perform(self._agenda.take_until(there))
        if there.time_us < promised.ts:
            self._tell_last_ts(there.time_us)
        if self._parts.membership is not None:
            self._parts.membership.come_to(place)
        self.slot.save()
        lineage.advance(max(promised, lineage.frontier))
        cut.come()
        self.is_signalled = True

    def _tell_last_ts(self, last_us: int) -> None:
        """Tell the consumers how far event time came, before anything comes to them that no longer says it.

        Otherwise a tick would stand behind what is placed beyond all time, where it should stand before.
        """
        self._last_us = max(self._last_us, last_us)
        self.emitter.tell_last_ts(self._last_us)

    def _perform(self, entries: Iterable[Entry]) -> Iterator[None]:
        for entry in entries:
            self.emitter.place()
            entry.run(entry.at)
            yield

    def _passes(self, cut: BoltCut) -> bool:
        """Standing at a cut, do what is to be done there, once all below lasts; whether the task goes on."""
        if self.emitter.commits is not None and not self._commit():
            self.is_signalled = True  # once there is room for what waits
            return False
        if not cut.passes():
            return False
        self._commit()  # what has changed at the cut
        if self._parts.hand_over is not None and self.commits is None:  # else behind the commit
            self._parts.hand_over.keep(cut.passed)
        return True

    def _at_cut(self, proposal: Proposal) -> bool:
        """All that lies before the cut has been processed and is committed, and nothing else."""
        if proposal.purpose is Purpose.CHECKPOINT:
            return self._save_at_cut(proposal)
        assert self._parts.hand_over is not None
        return self._hand_over_at_cut(proposal, self._parts.hand_over)

    def _hand_over_at_cut(self, proposal: Proposal, hand_over: HandOver) -> bool:
        """Hand over what is another's behind the cut, and take what is the task's; whether that is done."""
        if not hand_over.goes_on:
            self.context.checkpoints.begin_anew()
            self.slot.save(commit=self.commits is None, hands_over=True)
            if self.commits is not None and not self._commit():
                self.is_signalled = True  # once there is room for what waits
                return False
            hand_over.begin(proposal.attempt)
        if not hand_over.can_take:
            return False
        self.slot.own(hand_over.take())
        self._agenda.taken_over()
        return True

    def _save_at_cut(self, proposal: Proposal) -> bool:
        """All that belongs to a checkpoint has been processed, and nothing else: save the task.

        One that saves shared tables waits for their other members. Nothing behind the cut is evaluated until
        it goes on, so what it finds then is what all transactions below the cut have made of the tables.
        """
        assert self._parts.cut is not None
        if self._tables_kept is not None and not self._are_evaluated(self._parts.cut.stands_at):
            return False
        if not self._parts.awaited.may_pass():
            return False
        self.emitter.place()
        self.cut(proposal.number)
        since_s = self._parts.cut.stands_since_s
        remembers = [each for each in (self.slot.state, self._tables_kept) if each is not None]
        self.context.checkpoints.cut(proposal, self.save(), remembers, since_s)
        return True

    def _stand(self) -> None:
        """Hand on what was emitted, by threads of the component's own perhaps, and nothing else."""
        self.emitter.place()
        self.emitter.flush()
        self.context.checkpoints.go_on(is_committed=self.emitter.commits is None)
