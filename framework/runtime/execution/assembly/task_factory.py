"""Makes the executors of a plan and their tasks, each with its host, its collector and its channels' ends."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from framework.model.config import Settings
from framework.model.instantiate import Beans
from framework.model.topology import Role
from framework.operators.components import PartitionedSpout, Spout
from framework.operators.components.component import LOGGER_PREFIX
from framework.operators.log import Origin, speaking_as
from framework.operators.sinks import Sink, TransactionalSink
from framework.planning import Plan, TaskSpec, TimeMode, is_exact
from framework.planning.coroutines import IN_FLIGHT, begins_ahead
from framework.planning.routing import TaskSet
from framework.planning.sharing import CLAIMS, SHARING
from framework.planning.time_mode import holds_back
from framework.recording import Recorder
from framework.runtime.coordination.cut_record import InputEnd
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.durability.recovery import Commits, RecoveryMemory
from framework.runtime.durability.state import MemberState, StateMemory, TaskState
from framework.runtime.exchange.buffer import PAUSE_AT, SPILL_AT
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.exchange.collector import EmitRules, SpoutCollector, TaskCollector
from framework.runtime.exchange.inputs import BoltInput
from framework.runtime.exchange.output import Output
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.outputs import InputFactory, OutputFactory, streams_of_merge
from framework.runtime.execution.assembly.recording import RecordingIO
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.heuristics import HEURISTICS
from framework.runtime.execution.idle import BellIdleStrategy, IdleStrategy
from framework.runtime.execution.live_time import HeartbeatRequests
from framework.runtime.execution.paper_policies import ByHeuristic, Components
from framework.runtime.execution.policy import (
    LONGEST_WAIT_S,
    LOOK_PERIOD_S,
    DownstreamFirst,
    Policy,
    Rules,
    SeededRandom,
)
from framework.runtime.execution.sharing import SharedParts, Sharing
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.positions.clocks import make_clock
from framework.runtime.order.positions.event_times import EventTimes
from framework.runtime.order.positions.slack import Lateness
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.deferred import CommittedAnswers, WithheldAcks
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.tasks.aligned_spout import AlignedSpout
from framework.runtime.tasks.awaited import Awaited
from framework.runtime.tasks.batch_processor import BatchProcessor
from framework.runtime.tasks.bolt_agenda import DueBy, make_agenda
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.bolt_cut import BoltCut, HandOver
from framework.runtime.tasks.bolt_task import BoltParts, BoltTask
from framework.runtime.tasks.claimants import Claimants
from framework.runtime.tasks.column_folder import ColumnFolder
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import NO_OUTPUT, Emitter
from framework.runtime.tasks.forwarder import Forwarder
from framework.runtime.tasks.group_outputs import GroupOutputs
from framework.runtime.tasks.holdback import Holdback
from framework.runtime.tasks.hosts.context import make_context
from framework.runtime.tasks.hosts.faults import OnError, Recovery, RestartBudget
from framework.runtime.tasks.hosts.host import Host, Identity
from framework.runtime.tasks.hosts.registry import make_host
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.outcomes import Outcomes
from framework.runtime.tasks.partition_merger import PartitionMerger
from framework.runtime.tasks.partitioned_task import PartitionedTask, Partitioning
from framework.runtime.tasks.presence import BlockingPresence, Presence
from framework.runtime.tasks.processors import (
    Answering,
    LandingProcessor,
    Processor,
    SinkProcessor,
    TupleProcessor,
)
from framework.runtime.tasks.pullers import Allowance, make_puller
from framework.runtime.tasks.replay_task import ReplayTask
from framework.runtime.tasks.sink_commits import CheckpointCommits, SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.spout_assigner import SpoutAssigner
from framework.runtime.tasks.spout_task import Asking, Emitted, SpoutTask
from framework.runtime.tasks.task import Task
from framework.runtime.tasks.transaction_batches import TransactionBatches
from framework.runtime.tasks.transaction_processor import CallbackProcessor, Gathering, TransactionProcessor
from viper.reader import ClaimingReader, Reader
from viper.rows import Inbox
from viper.state import KeyClaimant
from viper.transactions.recorder import Recorder as TransactionRecorder

if TYPE_CHECKING:
    from framework.runtime.tasks.in_flight import InFlight


LINED_UP: Final = 4
"""Tuples that are lined up for a coroutine function, as a multiple of those in flight.

So the next one begins when the oldest is done, although the task's thread is in another task then. And fewer
commits have to wait until none is in flight.
"""


class TaskFactory:
    """Makes the tasks of an executor. Of user code it calls only constructors and `prepare` of groupings."""

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        beans: Beans,
        recording_io: RecordingIO,
        memory: StateMemory | None = None,
    ) -> None:
        """
        Args:
            plan: the whole run.
            settings: the configuration it was planned with.
            network: its channels, as this process sees them.
            beans: the objects that components of this process share.
            recording_io: opens recorders and recorded input.
            memory: of declared state, as this process sees it; None where no component declares any.
        """
        self._memory = memory
        if memory is not None:
            memory.own_by(network.ownership.now)
        self._pages = RecoveryMemory.of(plan, settings, memory, network.gates())
        self._plan = plan
        self._settings = settings
        self._network = network
        self._beans = beans
        self._recording_io = recording_io
        self._inputs = InputFactory(plan, settings, network)
        self._outputs = OutputFactory(plan, settings, network, beans)
        self._spouts = SpoutParts(plan, settings, network)
        self._tasks = {task.id: task for task in plan.tasks}
        self.components = (
            Components(plan, network.counts_waiting, settings["viper.channel.tuples"])
            if settings["viper.scheduling"] in HEURISTICS
            else None
        )
        """The figures of all components, for policies that go by them; None where none does."""

    def tasks(self, ids: Sequence[int]) -> tuple[list[SourceTask], list[BoltTask]]:
        """Make the tasks with these ids, and give each the tasks that it has to signal.

        Returns:
            The tasks of spouts, and those of bolts.

        Raises:
            ComponentError: a constructor raised.
        """
        made: dict[int, Task] = {}
        try:
            for task_id in ids:
                made[task_id] = self._made(self._tasks[task_id])
        except BaseException:
            for task in made.values():  # which nobody else knows
                task.let_go()
            raise
        for task in made.values():
            neighbours = self._neighbours(task)
            task.connect([made[task_id] for task_id in neighbours if task_id in made])
            if self._network.may_rest(task.context.spec.id):
                self._let_rest(task)
        spouts = [task for task in made.values() if isinstance(task, SourceTask)]
        return spouts, [task for task in made.values() if isinstance(task, BoltTask)]

    def _neighbours(self, task: Task) -> list[int]:
        """Return the ids of tasks that may become runnable when this one has run.

        They are the tasks that read from it, and the tasks in a cycle that wait for room to send to it. If it
        claims its input, they are also those that may rest meanwhile, and then are as far as it has claimed.
        """
        output = task.emitter.output
        readers = [reader for destination in output.destinations for reader in destination.tasks]
        reading = [self._plan.reached(task.context.spec.id, reader) for reader in readers]
        sending = [
            producer.id
            for subscription in self._plan.subscriptions
            if subscription.cyclic and subscription.target == task.context.spec.component
            for producer in self._plan.tasks_of(subscription.source)
        ]
        id = task.context.spec.id
        sharing = self._plan.channel_of(id).readers if self._network.may_rest(id) else ()
        return list(dict.fromkeys([*reading, *sending, *(other for other in sharing if other != id)]))

    def _let_rest(self, task: Task) -> None:
        """Have a task that claims its input rest while it is none of those that its component shall have."""
        spec, scales = task.context.spec, self._network.scales
        reader = self._network.reader(spec.id)
        assert isinstance(reader, ClaimingReader) and scales is not None
        code, index = scales.reader(spec.component), spec.index

        def claimants() -> int:
            tasks = TaskSet.from_code(code())
            return 0 if tasks.rank(index) is None else len(tasks)

        reader.rest_by(claimants, task.emitter.signal_neighbours)

    # -- one task

    def _made(self, spec: TaskSpec) -> Task:
        with speaking_as(Origin(spec.component, spec.id)):
            context = self._context(spec)
            # What nobody subscribes to has its part in the order of what a spout holds back.
            is_kept = self._recording_io.records or self._spouts.holds_back(context)
            output = self._outputs.make(spec, kept=is_kept)
            context.counters.costs.streams.update(output.counts)
            is_merge = self._plan.behind(spec.id) is not None
            recorder = None if is_merge else self._recording_io.recorder(spec)
            if spec.role is Role.SPOUT and self._recording_io.replays:
                return self._replay(context, output, recorder)
            host = self._host(spec)
            if isinstance(host.component, PartitionedSpout):
                return self._partitioned(context, host, output, recorder)
            if spec.role is Role.SPOUT:
                return self._spout(context, host, output, recorder)
            return self._bolt(context, host, output, recorder)

    def _context(self, spec: TaskSpec) -> TaskContext:
        conf = copy.deepcopy(dict(self._plan.confs[spec.component]))
        logger = logging.getLogger(f"{LOGGER_PREFIX}.{spec.component}")
        storm_context = make_context(self._plan, spec)
        identity = Identity(self._plan.topology.name, spec.component, spec.id, conf, storm_context, logger)
        return TaskContext(spec, identity, TaskCounters())

    def _host(self, spec: TaskSpec) -> Host:
        topology = self._plan.topology
        host = make_host(topology.component(spec.component), spec, self._beans, topology.import_paths)
        if isinstance(host.component, TransactionalSink):
            host.component.wait_for_checkpoints(self._network.makes_checkpoints)
        return host

    def _slot(
        self, context: TaskContext, host: Host, collector: TaskCollector, state: TaskState | None = None
    ) -> ComponentSlot:
        conf = context.conf
        blocks = bool(conf["viper.blocking"]) and not isinstance(host.component, PartitionedSpout)
        # Going into a callback, a bolt's task is also further than it was, which consumers may wait to hear.
        is_bolt = host.is_bolt
        presence = BlockingPresence(lambda: is_bolt or len(collector.buffer) > 0) if blocks else Presence()
        recovery = self._recovery(context, host.restart_tries)
        return ComponentSlot(context, host, collector, recovery, presence, state)

    def _recovery(self, context: TaskContext, default_tries: int | None) -> Recovery:
        conf = context.conf
        chosen, tries = conf["viper.on.error"], conf["viper.restart.tries"]
        return Recovery(
            OnError(chosen) if chosen else None,
            RestartBudget(default_tries if tries is None else tries, conf["viper.restart.window.secs"]),
            lambda: self._host(context.spec),
        )

    def _slice_commits(self, spec: TaskSpec, state: TaskState | None = None) -> Commits | None:
        return None if self._pages is None else self._pages.commits(spec, state)

    def _emit_rules(self, context: TaskContext, host: Host) -> EmitRules:
        rules = EmitRules.configured(context.conf)
        return replace(
            rules,
            # A polled spout may never return from next_tuple, so each of its emits lets other tasks run.
            limit=1 if host.is_polled else SPILL_AT,
            checked=rules.checked or (bool(context.conf["viper.blocking"]) and host.is_bolt),
            tracks=self._network.forest is not None and not host.is_bolt,
            holds_back=self._spouts.holds_back(context),
            time=self._plan.time,
        )

    # -- spouts

    def _largest_slice(self, output: Output) -> int | None:
        """Return the most tuples in a slice of a spout that emits columns: as many as its jumbo tuples hold.

        Small batches that are emitted one after the other are then handed on, and processed, together. A
        filter on batches of 4,096 rows takes 131 us for each, and took 188 when each had turns of its own.
        """
        return self._settings["viper.columns.rows"] if any(port.form for port in output.ports) else None

    def _replay(self, context: TaskContext, output: Output, recorder: Recorder | None) -> ReplayTask:
        collector = self._plain_collector(context, output)
        slot = self._slot(context, Host(Spout()), collector)
        emitter = Emitter(context, output, NO_OUTPUT, recorder)
        recorded = self._recording_io.source(context.spec)
        return ReplayTask(context, slot, emitter, recorded, self._network.quota)

    def _plain_collector(self, context: TaskContext, output: Output) -> TaskCollector:
        return TaskCollector(context.spec.component, output, context.counters, context.logger)

    def _partitioned(
        self, context: TaskContext, host: Host, output: Output, recorder: Recorder | None
    ) -> PartitionedTask:
        spec, settings = context.spec, self._settings
        partitioning = Partitioning(
            len(self._plan.tasks_of(spec.component)),
            settings["viper.poll.pause.max.ms"] / 1000,
            self._network.quota,
            self._largest_slice(output),
            SourceCut(self._network.record, spec.id, only_drains=self._network.cut is None),
        )
        level = self._plan.layout.components[spec.component]
        offsets = self._plan.offsets.get(spec.component, {})
        return PartitionedTask(
            context,
            self._slot(context, host, self._plain_collector(context, output)),
            Emitter(context, output, NO_OUTPUT, recorder, self._slice_commits(spec)),
            partitioning,
            PartitionMerger(level, offsets, self._spouts.lateness(context, output)),
        )

    def _spout(
        self, context: TaskContext, host: Host, output: Output, recorder: Recorder | None
    ) -> SpoutTask:
        spec, settings = context.spec, self._settings
        rules, largest = self._emit_rules(context, host), self._largest_slice(output)
        if largest is not None and not host.is_polled:
            rules = replace(rules, limit=max(rules.limit, largest + 1))
        collector = SpoutCollector(spec.component, output, context.counters, context.logger, rules)
        slot, commits = self._slot(context, host, collector), self._slice_commits(spec)
        pending = self._spouts.pending(context, commits)
        level = self._plan.layout.components[spec.component].level(copy=spec.index)
        times = self._spouts.times(context, output)
        clock = make_clock(self._plan.time, level, times)
        allowance = Allowance(self._network.quota)
        holdback = self._spouts.holdback(context, output, times)
        assigner = SpoutAssigner(collector.buffer, clock, allowance, pending, context.counters, holdback)
        outcomes = Outcomes(context, slot, assigner, pending, self._spouts.withheld(context))
        linger_s = settings["viper.jumbo.linger.ms"] / 1000
        asking = Asking(
            partial(make_puller, context, slot, collector.buffer, linger_s),
            allowance,
            settings["viper.poll.pause.max.ms"] / 1000,
            largest,
            self._plan.emits_outside_input,
            max(SPILL_AT - 1, largest or 0),
        )
        emitter = Emitter(context, output, assigner, recorder, commits)
        aligned = self._spouts.aligned(context, emitter, assigner, outcomes)
        task = SpoutTask(context, slot, emitter, Emitted(assigner, outcomes, aligned), asking)
        collector.attach(task)
        collector.buffer.watch(task.stirred, always=slot.presence.is_blocking)
        collector.answer_untracked(outcomes.ack_untracked)
        return task

    # -- bolts

    def _bolt(self, context: TaskContext, host: Host, output: Output, recorder: Recorder | None) -> BoltTask:
        spec = context.spec
        collector = TaskCollector(
            spec.component, output, context.counters, context.logger, self._emit_rules(context, host)
        )
        state = self._memory.task(spec) if self._memory is not None else None
        slot = self._slot(context, host, collector, state)
        mutates, whole, keeps = bool(context.conf["viper.mutates"]), host.takes_payloads, host.keeps_columns
        claimed = self._memory.claimed(spec) if self._memory is not None else None
        claimant = None if claimed is None else KeyClaimant(claimed.claims, spec.index)
        received = self._inputs.make(
            spec,
            mutates=mutates,
            whole=whole,
            borrows=not keeps,
            claimant=claimant,
        )
        scope = state.scope if state is not None else None
        inbox = Inbox(host.record, collector.outbox if output.is_used else None, PAUSE_AT, scope)
        slice_commits = self._slice_commits(spec, state)
        in_flight: InFlight | None = None
        if begins_ahead(self._plan.traits[spec.component], context.conf):
            from framework.runtime.tasks.in_flight import InFlight, Room  # with asyncio, which few need

            most, claims = context.conf[IN_FLIGHT], context.conf[SHARING] == CLAIMS
            # What is claimed is begun: another task may be free.
            room = Room(most, most if claims else LINED_UP * most, commits=slice_commits is not None)
            early = Inbox(host.record, None, PAUSE_AT, None)
            in_flight = InFlight(received.channel, slot, early, room, lambda: task.landed())
            received.pass_through(in_flight)
        acker = self._acker(context, inbox, collector, slice_commits)
        if acker is not None:
            collector.answer_by(acker)
        marks = collector.bulk.marks if host.takes_rows else inbox
        transactional = Transactional.of(self._plan, self._network, self._memory, context, slot)
        beside, ahead = self._inputs.level_beside(spec), host.is_windowed
        distances = (lambda: slot.host.take_distances()) if host.joins else None
        assigner = BoltAssigner(
            collector.buffer, marks, beside, acker, places_ahead=ahead, distances=distances
        )
        emitter = Emitter(context, output, assigner, recorder, slice_commits)
        interludes = Interludes(context, slot, emitter, assigner, acker, recorder)
        due = self._due_by(spec)
        if host.has_key_windows and host.cls.derives_keys:
            groups = GroupOutputs(emitter, assigner, due.level, self._settings["viper.key.groups"])
            collector.group_by(groups.begin)
        record = self._network.cut
        end = InputEnd(record, spec.id)
        commits = self._commits(context, slot, interludes, end.may_end)
        hand_over, cut = self._hand_over(spec), None
        if record is not None:
            cut = BoltCut(record, spec.id, lambda: hand_over is not None and hand_over.changes)
            if hand_over is not None and slice_commits is not None:
                slice_commits.call_behind(partial(_keep_what_was_taken, hand_over, cut))
        parts_of_agenda = slot, received, emitter, interludes, acker, end, commits
        agenda = partial(make_agenda, due, context, *parts_of_agenda)
        behind = self._plan.behind(spec.id)
        processor: Processor
        if behind is not None:
            streams = streams_of_merge(self._plan, self._tasks[behind].component)
            processor = Forwarder(emitter, context.counters, acker, streams)
        elif transactional is not None:
            processor = transactional.processor(context, inbox, collector.bulk, acker)
        elif in_flight is not None:
            processor = LandingProcessor(in_flight.land, slot, inbox, acker, context.counters)
        else:
            processor = make_processor(context, slot, inbox, collector.bulk, acker, commits)
        largest = None
        if whole and received.is_typed:
            rows = self._settings["viper.columns.rows"]
            largest = rows if transactional is not None else received.take_whole(rows)
        answering = Answering(slot, emitter, assigner, processor, acker, context.counters)
        parts = BoltParts(
            assigner=assigner,
            processor=processor,
            interludes=interludes,
            answering=answering,
            acker=acker,
            awaited=Awaited(
                *(context, slot, interludes, acker),
                self._settings["viper.drain.timeout.secs"],
                end.may_end,
            ),
            largest_slice=largest,
            commits=commits,
            cut=cut,
            hand_over=hand_over,
            in_flight=in_flight,
            group=None if transactional is None else transactional.membership,
            claimants=None if claimant is None else self._claimants(spec, claimant, received),
            make_agenda=agenda,
        )
        task = BoltTask(context, slot, emitter, received, parts)
        collector.attach(task)
        collector.buffer.watch(task.stirred, always=slot.presence.is_blocking)
        collector.unanswered.watch(task.stirred)
        if acker is not None:
            acker.watch(task.stirred, always=slot.presence.is_blocking)
        return task

    def _hand_over(self, spec: TaskSpec) -> HandOver | None:
        scales = self._network.scales
        if spec.component not in self._plan.handing_over or scales is None:
            return None
        siblings = [sibling.id for sibling in self._plan.tasks_of(spec.component)]
        return HandOver(spec, self._network.ownership, scales, self._network.bells_of(siblings))

    def _claimants(self, spec: TaskSpec, claimant: KeyClaimant, received: BoltInput) -> Claimants:
        reader = received.channel.reader
        claimed = None if self._memory is None else self._memory.claimed(spec)
        assert isinstance(reader, Reader) and claimed is not None, "a bolt with claims has state, and a gate"
        others = [other.id for other in self._plan.tasks_of(spec.component) if other != spec]
        return Claimants(claimant, claimed.registers, reader.delivered_tuples, self._network.bells_of(others))

    def _commits(
        self, context: TaskContext, slot: ComponentSlot, interludes: Interludes, may_end: Callable[[], bool]
    ) -> SinkCommits | None:
        if not isinstance(slot.host.component, TransactionalSink):
            return None
        record = self._network.cut
        if record is not None and self._network.makes_checkpoints:
            start = self._plan.start_id, record
            return CheckpointCommits(context, slot, interludes.restart, *start, may_end)
        rows, seconds = context.conf["viper.sink.apply.rows"], context.conf["viper.sink.apply.secs"]
        return SinkCommits(context, slot, interludes.restart, rows=rows, seconds=seconds)

    def _acker(
        self, context: TaskContext, inbox: Inbox, collector: TaskCollector, commits: Commits | None
    ) -> Acker | None:
        forest, task = self._network.forest, context.spec.id
        if forest is None:
            return None
        answers = None
        if commits is not None:
            answers = CommittedAnswers(forest)
            commits.call_behind(answers.release)
        parts = inbox, collector.unanswered, collector.mistakes
        return Acker(forest, task, task - 1, *parts, answers)

    def _due_by(self, spec: TaskSpec) -> DueBy:
        behind = self._plan.behind(spec.id)
        component = spec.component if behind is None else self._tasks[behind].component
        return DueBy(
            event_time=self._plan.time is TimeMode.EVENT,
            recorded=self._recording_io.ticks(spec),
            sources_wait=self._network.forest is not None and not self._plan.is_behind_cycle(component),
            tick_path=self._plan.layout.tick_path,
            level=self._plan.layout.components[spec.component],
        )


def _keep_what_was_taken(hand_over: HandOver, cut: BoltCut) -> None:
    hand_over.keep(cut.passed)


def make_processor(
    context: TaskContext,
    slot: ComponentSlot,
    inbox: Inbox,
    bulk: BulkEmits,
    acker: Acker | None,
    commits: SinkCommits | None,
) -> Processor:
    """The processor of a task.

    Args:
        context: the task's.
        slot: holds its component.
        inbox: makes tuples of rows.
        bulk: takes what a batch bolt emits.
        acker: answers for tuples; None where nothing is tracked.
        commits: says when a transactional sink applies its rows; None for other components.
    """
    host, counters = slot.host, context.counters
    if host.takes_rows:
        return BatchProcessor(slot, bulk, acker, counters, keeps=host.keeps_columns)
    if isinstance(host.component, Sink):
        return SinkProcessor(slot, acker, counters, commits)
    of_tuples = ColumnFolder if host.aggregates else TupleProcessor
    return of_tuples(slot, inbox, acker, counters)


GATHER: Final = 512
"""The number of tuples to gather where the configuration sets none: about as many as in the paper."""


class Transactional:
    """The parts of one task that has transactions.

    Args:
        plan: says which tasks share its group.
        network: has their bells.
        state: the group.
        context: the task's.
        slot: holds its component.
    """

    def __init__(
        self, plan: Plan, network: Network, state: MemberState, context: TaskContext, slot: ComponentSlot
    ) -> None:
        spec = context.spec
        group = next(group for group in plan.table_groups if spec.component in group.members)
        members = plan.transactional(group)
        others = [member.id for member in members if network.crosses(spec.id, member.id)]
        names = [f"{member.component}:{member.id}" for member in members]
        self._slot = slot
        self._inbox = Inbox(slot.host.record, None, PAUSE_AT, None)
        recorder = TransactionRecorder(self._inbox, state.group, state.number)
        bells = network.bells_of(others)
        self.membership = Membership(state, recorder, bells, names, context, _most(context, slot))

    @classmethod
    def of(
        cls,
        plan: Plan,
        network: Network,
        memory: StateMemory | None,
        context: TaskContext,
        slot: ComponentSlot,
    ) -> Transactional | None:
        """Return the transactional parts of a task, whose group lies in the run's memory; None if it has
        none."""
        state = None if memory is None else memory.shared.member(context.spec)
        return None if state is None else cls(plan, network, state, context, slot)

    def processor(
        self, context: TaskContext, inbox: Inbox, bulk: BulkEmits, acker: Acker | None
    ) -> Processor:
        """Return the processor that passes the task's tuples to its component.

        Args:
            context: the task's.
            inbox: makes the tuples that are called back.
            bulk: takes what a batch bolt emits.
            acker: answers for tuples; None where nothing is tracked.
        """
        host = self._slot.host
        if host.takes_rows:
            keeps, parts = host.keeps_columns, (bulk, acker, context.counters, self.membership)
            return TransactionBatches(self._slot, *parts, keeps=keeps)
        recorder = self.membership.recorder
        gathering = Gathering(self._slot, self._inbox, recorder)
        callbacks = CallbackProcessor(self._slot, inbox, acker, context.counters, self.membership)
        return TransactionProcessor(gathering, callbacks, self.membership)


def _most(context: TaskContext, slot: ComponentSlot) -> int:
    """Return the number of tuples that a task gathers before they are evaluated."""
    most: int | None = context.conf["viper.transactions.gather"]
    if most is not None:
        return most
    return int(context.conf["viper.columns.rows"]) if slot.host.takes_rows else GATHER


class SpoutParts:
    """Makes parts of tasks.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: what the tasks of the run share, as this process sees it.
    """

    def __init__(self, plan: Plan, settings: Settings, network: Network) -> None:
        self._plan = plan
        self._settings = settings
        self._network = network

    # -- time

    def times(self, context: TaskContext, output: Output) -> EventTimes:
        """Return the reader of the event times of a spout's tuples."""
        fields = _time_fields(output, context.conf)
        unit = context.conf["viper.timestamp.unit"]
        return EventTimes(context.name, fields, unit, _time_units(output, fields))

    def holds_back(self, context: TaskContext) -> bool:
        """True if a task's tuples are put in order before they are placed."""
        is_spout = context.spec.role is Role.SPOUT
        return is_spout and self._plan.time is TimeMode.EVENT and holds_back(context.conf)

    def lateness(self, context: TaskContext, output: Output) -> Lateness | None:
        """The lateness that its tuples may have; None where they come in order."""
        if not self.holds_back(context):
            return None
        return Lateness.configured(context.conf, [port.stream.name for port in output.ports])

    def holdback(self, context: TaskContext, output: Output, times: EventTimes) -> Holdback | None:
        """Return the buffer that puts a spout's tuples in order; None where they come in order."""
        lateness = self.lateness(context, output)
        if lateness is None:
            return None
        return Holdback(lateness, times, self._most_pending(context), tagged=len(output.ports) > 1)

    # -- tracked tuples

    def pending(self, context: TaskContext, commits: Commits | None) -> Pending | None:
        """Its tracked tuples; None where none are tracked."""
        forest, conf = self._network.forest, context.conf
        if forest is None:
            return None
        most = self._most_pending(context)
        times_out = conf["topology.enable.message.timeouts"]
        timeout_s = conf["topology.message.timeout.secs"] if times_out else None
        pending = Pending(forest, context.spec.id - 1, most, timeout_s, context.times)
        if commits is not None:
            pending.wait_for(commits)
        return pending

    def withheld(self, context: TaskContext) -> WithheldAcks | None:
        """The acks of a spout that wait for checkpoints; None where they do not."""
        record = self._network.cut
        waits = context.conf["viper.ack.after"] != "commit" and self._network.forest is not None
        if record is None or not waits or not self._network.makes_checkpoints:
            return None
        return WithheldAcks(self._settings["viper.tracked.max"], lambda: record.completed)

    def _most_pending(self, context: TaskContext) -> int:
        configured: int | None = context.conf["topology.max.spout.pending"]
        most_tracked: int = self._settings["viper.tracked.max"]
        return min(configured or sys.maxsize, most_tracked)

    # -- checkpoints

    def aligned(
        self, context: TaskContext, emitter: Emitter, assigner: SpoutAssigner, outcomes: Outcomes
    ) -> AlignedSpout:
        """Return the part by which a task comes to the time of a cut."""
        record = self._network.cut
        cut = None if record is None else SourceCut(record, context.spec.id)
        return AlignedSpout(cut, emitter, assigner, outcomes, context.checkpoints)


def _time_fields(output: Output, conf: Mapping[str, Any]) -> dict[int, int]:
    """The index of the timestamp field for each port whose stream has one."""
    name = conf.get("viper.timestamp.field")
    return {
        port.tag: port.stream.fields.index(name)
        for port in output.ports
        if name and name in port.stream.fields
    }


def _time_units(output: Output, fields: Mapping[int, int]) -> dict[int, str]:
    """The unit of the timestamp field for each port whose schema declares it as a timestamp."""
    types = {
        port.tag: port.stream.schema.types[fields[port.tag]]
        for port in output.ports
        if port.tag in fields and port.stream.schema is not None
    }
    return {tag: kind.unit for tag, kind in types.items() if kind.name == "timestamp"}


def make_executor(
    plan: Plan,
    settings: Settings,
    network: Network,
    factory: TaskFactory,
    number: int,
    stop: StopSignal,
    on_turn: Callable[[float], None],
    on_moved: Callable[[], None] | None = None,
    *,
    resumes: bool = False,
) -> Executor:
    """Make one executor of the plan's placement; to be called in the thread that will run it.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: the channels, as this process sees them.
        factory: makes the tasks.
        number: index of the executor in the placement.
        stop: asks the executor to drain.
        on_turn: called before every turn with the monotonic time in seconds.
        on_moved: called after every turn in which tuples have moved; None if nobody is to know.
        resumes: whether this executor replaces one whose process has died. Tasks that had ended there are not
            made again, unless they have to repeat what they had not committed.

    Raises:
        ComponentError: a component's constructor raised.
    """
    placed = plan.placement.executors[number]
    tasks = placed.tasks
    if resumes and not is_exact(plan, settings):
        tasks = tuple(task for task in tasks if not network.has_ended(task))
    spouts, bolts = factory.tasks(tasks)
    rules = Rules(
        _policy(settings, number, factory.components),
        IdleStrategy(stop) if placed.threads > 1 else _idle_strategy(plan, network, number, stop),
        settings["viper.slice.tuples"],
        settings["viper.drain.timeout.secs"],
        LOOK_PERIOD_S if network.quota.left is not None else LONGEST_WAIT_S,
    )
    fed_by_others = [t for t in (*spouts, *bolts) if network.has_others(t.context.spec.id)]
    requests = _requests(plan, network, number)
    executor = (
        Sharing(
            spouts, bolts, SharedParts(rules, network.bells[number], stop, fed_by_others, requests)
        ).executor(on_turn, on_moved)
        if placed.threads > 1
        else Executor(
            spouts,
            bolts,
            rules=rules,
            stop=stop,
            fed_by_others=fed_by_others,
            on_turn=on_turn,
            on_moved=on_moved,
            requests=requests,
        )
    )
    if factory.components is not None:
        factory.components.join(executor, executor.tasks)
    return executor


def _requests(plan: Plan, network: Network, number: int) -> HeartbeatRequests | None:
    """Return the requests for heartbeats of spouts; None where the time of spouts does not pass by itself."""
    if plan.time is not TimeMode.INGEST:
        return None
    return HeartbeatRequests(network.requests, network.bells_of_spouts(number))


def _policy(settings: Settings, number: int, components: Components | None) -> Policy:
    if components is not None:
        return ByHeuristic(HEURISTICS[settings["viper.scheduling"]], components)
    if settings["viper.scheduling"] == "random":
        return SeededRandom(settings["viper.seed"] + number)
    return DownstreamFirst()


def _idle_strategy(plan: Plan, network: Network, number: int, stop: StopSignal) -> IdleStrategy:
    if len(plan.placement.executors) == 1:
        return IdleStrategy(stop)
    return BellIdleStrategy(stop, network.bells[number])
