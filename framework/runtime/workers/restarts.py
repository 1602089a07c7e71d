"""Decides whether a worker process that died is restarted and when, and repairs the memory that it shared.

A channel that crosses processes carries bytes, so tuples that wait there are kept for the new process. If a
producer and all its readers were in one process, the channel held references to objects of that process, and
the waiting tuples are lost. In a run that recovers exactly, all channels carry bytes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from framework.model.config import Settings
from framework.model.errors import WorkerError
from framework.model.topology import Role
from framework.planning import Plan, TaskSpec
from framework.planning.traits import is_restarted_by_storm
from framework.runtime.durability.recovery import RecoveryMemory, Repeat, Suspect
from framework.runtime.durability.state import SharedMemory
from framework.runtime.execution.assembly.network import Network, Way
from framework.runtime.execution.assembly.recording import NO_RECORDING, RecordingPaths
from framework.runtime.observation.incidents import Incident
from framework.runtime.tasks.hosts.faults import RestartBudget
from framework.runtime.workers.going_back import Attempts, GoneBackError, living_processes
from framework.runtime.workers.handle import WorkerHandle
from viper.gate import ScaleGate

log = logging.getLogger("viperstorm.worker")


class RestartPolicy:
    """Decides whether a dead process is restarted, has what it left set right, and notes what was lost.

    Workers that run nothing but streamparse's components and programs are restarted again and again, as Storm
    restarts those, unless the configuration sets a limit. The pauses between restarts grow. All other workers
    share one budget.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        recording: RecordingPaths,
        recovery: RecoveryMemory | None = None,
        attempts: Attempts | None = None,
        shared: SharedMemory | None = None,
    ) -> None:
        self._shared_tables = shared
        """The tables that transactions share; None where there are none."""
        self._plan = plan
        self._network = network
        self._recording = recording
        self._recovery = recovery
        """The pages of all tasks; None where a dead process loses what it was about."""
        tries: int | None = settings["viper.worker.restart.tries"]
        self._window_s: float = settings["viper.worker.restart.window.secs"]
        self._attempts = attempts or Attempts(settings)
        loses = recovery is None and self._attempts.gives_up_nothing
        processes = range(len(plan.placement.processes)) if loses else living_processes(plan)
        self._irreplaceable = frozenset(processes)
        """The processes that hold what nobody else has, and the run does not do without."""
        self._shared = self._attempts.restarts
        self._unlimited = frozenset(_run_as_on_storm(plan) if tries is None else ())
        self._budgets: dict[int, RestartBudget] = {}
        """By process, for the pauses: they grow with the restarts of the same one."""
        self._committed: dict[int, int] = {}
        """By process that died: how often its tasks had committed."""
        self._due: dict[int, float] = {}
        """By process: the monotonic time in seconds at which it is restarted."""
        self._blow: set[int] = set()
        """The processes that have died since one in the place of another came to run."""
        self.incidents: list[Incident] = []

    def run_begins(self) -> None:
        """Note that all processes are about to run."""
        self._attempts.begin(time.monotonic())

    def came_to_run(self) -> None:
        """Note that a process has made its components: a death from now on is another blow."""
        self._blow.clear()

    def died(
        self,
        index: int,
        worker: WorkerHandle,
        *,
        aborted: bool,
        suspended: bool = False,
        draining: bool = False,
    ) -> WorkerError | None:
        """Deal with a process that has ended before its time.

        Args:
            index: of the process in the plan's placement.
            worker: the process.
            aborted: whether the run has failed anyway.
            suspended: whether the run is being suspended.
            draining: whether spouts are asked for nothing any more.

        Returns:
            The error that ends the run, or has it go back; None if the process is restarted.
        """
        now = time.monotonic()
        refusal = self._refusal(worker, aborted)
        if refusal is None and index in self._irreplaceable:
            return self._go_back(worker, now, suspended)
        if refusal is None:
            refusal = self._schedule(index, worker, now)
        if refusal is not None:
            return worker.error(refusal)
        begins_anew = self._recovery is None and worker.has_begun and not draining
        self._note(index, worker, now, self._noted_anew(index, worker) if begins_anew else 0)
        return None

    def due(self, now_s: float) -> Iterator[int]:
        """The processes that are to be restarted now, at a monotonic time in seconds, each once."""
        for index in [index for index, at_s in self._due.items() if at_s <= now_s]:
            del self._due[index]
            yield index

    @property
    def may_restart(self) -> bool:
        """True if any process that dies now may be restarted."""
        return self._shared.tries != 0 and self._recording == NO_RECORDING

    @property
    def is_awaited(self) -> bool:
        """True if a process is still to be restarted."""
        return bool(self._due)

    def next_due_s(self, now_s: float) -> float:
        """Seconds until the next one is restarted; infinite if there is none."""
        return max(min(self._due.values(), default=float("inf")) - now_s, 0.0)

    def give_up(self) -> list[int]:
        """Restart no more; returns the processes that would have been restarted."""
        without = list(self._due)
        self._due.clear()
        return without

    def _refusal(self, worker: WorkerHandle, aborted: bool) -> str | None:
        """The reason why a process is not restarted: None if it may be, empty if none need be given."""
        if self._shared.tries == 0 or aborted or worker.given_up:
            return ""
        if self._recording != NO_RECORDING:
            return "it is not restarted, as this run is recorded or replayed"
        return None

    def _go_back(self, worker: WorkerHandle, now: float, suspended: bool) -> WorkerError:
        """Have the run go back, as something was lost that it has again from the last checkpoint."""
        if suspended:
            return worker.error(
                "nobody else has what was in it, and the run was being suspended: go on from the last "
                "checkpoint"
            )
        pause_s = self._attempts.go_back()
        if pause_s is None:
            return worker.error(
                f"the run does not go back once more, as it has done so {self._shared.tries} times within "
                f"{self._window_s:g} s without a checkpoint (viper.worker.restart.tries, "
                "viper.worker.restart.window.secs)"
            )
        incident = self._incident(worker, now)
        self.incidents.append(incident)
        log.error("%s; the run goes back", incident)
        return GoneBackError(str(incident), pause_s)

    def _schedule(self, index: int, worker: WorkerHandle, now: float) -> str | None:
        """Plan the restart of a process; returns why it is not restarted, if it is not.

        Processes that die together, as when the system ends all of them, are one restart. One that Storm
        would restart without end is limited like others until its components have been made once.
        """
        if self._recovery is not None:
            return self._schedule_repeat(index, worker, now)
        is_same_blow = bool(self._blow) and index not in self._blow
        if not is_same_blow:
            self._blow.clear()
        self._blow.add(index)
        is_limited = index not in self._unlimited or not worker.has_begun
        if is_limited and not is_same_blow and self._shared.take(now) is None:
            return (
                f"it is not restarted, as {self._shared.tries} restarts within {self._window_s:g} s are the "
                "limit (viper.worker.restart.tries, viper.worker.restart.window.secs)"
            )
        tries = None if index in self._unlimited else self._shared.tries
        budget = self._budgets.setdefault(index, RestartBudget(tries, self._window_s))
        self._due[index] = now + (budget.take(now) or 0.0)
        return None

    def _schedule_repeat(self, index: int, worker: WorkerHandle, now: float) -> str | None:
        """Likewise, where the new process repeats what was not committed: only deaths without a commit since
        the one before count, as all others bring the run further."""
        if self._has_committed(index):
            self._budgets[index] = RestartBudget(self._shared.tries, self._window_s)
            self._due[index] = now
            return None
        assert self._recovery is not None
        suspects = self._recovery.suspects(self._tasks_of(index))
        pause_s = self._budgets[index].take(now)
        if pause_s is None:
            told = f"{self._shared.tries} restarts in a row have brought it no further"
            named = " or ".join(map(str, suspects)) or "a spout"
            if worker.when:
                return f"it is not restarted, as {told} (viper.worker.restart.tries)"
            if not self._may_be_left_out(suspects):
                return (
                    f"it is not restarted, as {told}; it died in {named} (viper.worker.restart.tries; with "
                    "viper.on.error: skip, a tuple that kills its process each time is left out)"
                )
            log.error("worker %d: %s; it died in %s, which is left out", index + 1, told, named)
            self._recovery.leave_out(suspects[0])
            self._budgets[index] = RestartBudget(self._shared.tries, self._window_s)
        self._due[index] = now + (pause_s or 0.0)
        return None

    def _may_be_left_out(self, suspects: Sequence[Suspect]) -> bool:
        """True if it is known which tuple has killed a process, and the run may continue without that
        tuple."""
        if [suspect.count for suspect in suspects] != [1]:
            return False
        return bool(self._plan.confs[suspects[0].task.component]["viper.on.error"] == "skip")

    def _tasks_of(self, index: int) -> list[int]:
        executors = self._plan.placement.processes[index]
        return [task for executor in executors for task in self._plan.placement.executors[executor].tasks]

    def _has_committed(self, index: int) -> bool:
        """True if the tasks of a process have committed anything since a process in its place died last."""
        assert self._recovery is not None
        tasks = self._tasks_of(index)
        before, now = self._committed.get(index, -1), sum(map(self._recovery.committed, tasks))
        self._committed[index] = now
        return now > before

    def _incident(self, worker: WorkerHandle, now: float) -> Incident:
        """A death that loses nothing."""
        began_s = self._attempts.began_s
        death = worker.death()
        return Incident(
            worker=worker.number,
            how=death.how,
            tasks=worker.tasks,
            at_s=0.0 if began_s is None else now - began_s,
            lost=0,
            restarted=True,
            state_lost=(),
            doing=death.doing,
            hint=death.hint,
            peak_bytes=death.peak_bytes,
        )

    def _noted_anew(self, index: int, worker: WorkerHandle) -> int:
        """Note which spouts begin again; return how many of their tuples may come again."""
        spouts = [
            task
            for task in map(self._task_of, self._tasks_of(index))
            if task.role is Role.SPOUT and not self._plan.traits[task.component].partitioned
        ]
        anew = [task.id for task in spouts if not self._network.has_ended(task.id)]
        return sum(worker.note_anew(task, self._network.told(task)) for task in anew)

    def _task_of(self, number: int) -> TaskSpec:
        return self._plan.tasks[number - 1]

    def _note(self, index: int, worker: WorkerHandle, now: float, again: int) -> None:
        incident = self._incident(worker, now)
        loss = reclaim(self._plan, self._network, index, self._recovery, self._shared_tables)
        incident = replace(
            incident,
            lost=loss.tuples,
            state_lost=loss.state if worker.has_begun else (),
            slices=sum(repeat.is_slice for repeat in loss.repeats),
            repeated=sum(repeat.taken for repeat in loss.repeats),
            left_out=sum(repeat.left_out for repeat in loss.repeats),
            again=again,
        )
        self.incidents.append(incident)
        budget = self._budgets.get(index) if index in self._unlimited else None
        more = "" if budget is None else budget.in_words("viper.worker.restart.tries")
        log.error("%s; it is restarted%s", incident, more)


def _run_as_on_storm(plan: Plan) -> Iterator[int]:
    """The processes that run nothing but components that Storm restarts without end."""
    of_task = {task.id: plan.topology.component(task.component) for task in plan.tasks}
    for index, executors in enumerate(plan.placement.processes):
        tasks = [task for executor in executors for task in plan.placement.executors[executor].tasks]
        if all(is_restarted_by_storm(of_task[task]) for task in tasks):
            yield index


@dataclass(frozen=True, slots=True)
class Loss:
    """The tuples and the state that were lost with a worker process."""

    tuples: int
    """The number of untracked tuples that were lost, counted once for each task that they were for."""
    state: list[str]
    """Components with a task there that had not ended, is not declared stateless, and declares no state."""
    repeats: Sequence[Repeat] = ()
    """The work that the successors of its tasks repeat."""


def reclaim(
    plan: Plan,
    network: Network,
    process: int,
    recovery: RecoveryMemory | None = None,
    shared: SharedMemory | None = None,
) -> Loss:
    """Repair everything that a dead process was in the midst of, before it is replaced; return the loss.

    Args:
        plan: what is run.
        network: its channels, as the parent sees them.
        process: index of the process in the plan's placement.
        recovery: the pages of its tasks; None where what was in process is lost.
        shared: the tables that transactions share; None where there are none.
    """
    executors = plan.placement.processes[process]
    dead = frozenset(task for index in executors for task in plan.placement.executors[index].tasks)
    loss = (
        _repaired(plan, network, dead) if recovery is None else _rewound(plan, network, recovery, dead)
    )
    for index in executors:
        network.bells[index].take_over()
    network.take_over_stand_in(process)
    if shared is not None:
        shared.bury(process)
        for bell in network.bells:  # of those who wait for what the dead had begun to evaluate
            bell.ring()
    network.quota_of(process).bury()
    network.black_box(process).clear()
    if network.forest is not None:
        network.forest.incident()
    return loss


def _rewound(plan: Plan, network: Network, recovery: RecoveryMemory, dead: frozenset[int]) -> Loss:
    """Have tasks resume from their last commits: nothing is lost but rows that a sink keeps in memory."""
    for (sources, _), gate in network.gates():
        for index, task in enumerate(sources):
            if task in dead:
                gate.source(index).recover()
    repeats = [recovery.rewind(task) for task in dead]
    components = dict.fromkeys(task.component for task in plan.tasks if task.id in dead)
    return Loss(0, [id for id in components if plan.traits[id].forgets], repeats)


def _repaired(plan: Plan, network: Network, dead: frozenset[int]) -> Loss:
    """Have tasks continue after the tuples that were in process."""
    state = _state_lost(plan, network, dead)
    tuples = sum(
        _reclaimed(gate, way, dead, by_key=plan.channel_of(way[1][0]).by_key) for way, gate in network.gates()
    )
    for task in dead:
        if network.has_ended(task):  # and died before it could say so everywhere
            for outlet in network.outlets(task):
                outlet.close()
    return Loss(tuples, state)


def _state_lost(plan: Plan, network: Network, dead: frozenset[int]) -> list[str]:
    unfinished = {task for task in dead if not network.has_ended(task)}
    components = dict.fromkeys(task.component for task in plan.tasks if task.id in unfinished)
    return [id for id in components if not plan.confs[id]["viper.stateless"] and not plan.traits[id].states]


def _reclaimed(gate: ScaleGate, way: Way, dead: frozenset[int], *, by_key: bool) -> int:
    """The number of lost tuples, once for each reader that they were for.

    A tuple is for one reader where these claim its key group, although all of them come to it. So the drop
    of the reader counts that was furthest behind. Of what others were working on, the part before it counts.
    """
    sources, readers = way
    producing = [index for index, task in enumerate(sources) if task in dead]
    for index in producing:
        gate.source(index).recover()
    working = [gate.bury_reader(index) if task in dead else 0 for index, task in enumerate(readers)]
    if not (producing and dead.issuperset(readers)):
        return sum(working)
    of_sources = [gate.drop(index) for index in producing]
    dropped = [sum(found[reader] for found in of_sources) for reader in range(len(readers))]
    if not by_key:
        return sum(working) + sum(dropped)
    most = max(dropped)
    return most + sum(max(w - (most - d), 0) for w, d in zip(working, dropped, strict=True))
