"""Who takes the place of a worker process that died, and when."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from framework.config import Settings
from framework.errors import WorkerError
from framework.planning import Plan
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import NO_TAPE, Tape
from framework.runtime.hosts.faults import RestartBudget
from framework.runtime.metrics.incidents import Incident
from framework.runtime.workers.handle import Member, Phase
from framework.runtime.workers.reclaim import bury

log = logging.getLogger("viperstorm.worker")


class Succession:
    """Decides whether a dead process has a successor, sets right what it left, and notes what was lost."""

    def __init__(self, plan: Plan, settings: Settings, network: Network, tape: Tape) -> None:
        self._plan = plan
        self._network = network
        self._tape = tape
        self._tries: int = settings["viper.worker.restart.tries"]
        self._window_s: float = settings["viper.worker.restart.window.secs"]
        self._budget = RestartBudget(self._tries, self._window_s)
        self._pauses: dict[int, RestartBudget] = {}
        """By process: the pause grows with the restarts of the same one."""
        self._due: dict[int, float] = {}
        """By process: the monotonic time in seconds at which its successor is started."""
        self._began_s = 0.0
        self.incidents: list[Incident] = []

    def run_begins(self) -> None:
        """All processes are about to run."""
        self._began_s = time.monotonic()

    def died(self, index: int, member: Member, *, aborted: bool) -> WorkerError | None:
        """A process has ended before its time; returns the end of the run, or None if it has a successor.

        Args:
            index: of the process in the plan's placement.
            member: the process.
            aborted: whether the run has failed anyway.
        """
        refusal = self._refusal(member, aborted)
        if refusal is None:
            refusal = self._schedule(index)
        if refusal is not None:
            return member.error(refusal)
        self._bury(index, member)
        return None

    def due(self, now_s: float) -> Iterator[int]:
        """The processes whose successors are to be started now, each told once."""
        for index in [index for index, at_s in self._due.items() if at_s <= now_s]:
            del self._due[index]
            yield index

    @property
    def is_awaited(self) -> bool:
        """Whether a successor is still to be started."""
        return bool(self._due)

    def next_due_s(self, now_s: float) -> float:
        """Seconds until the next one is; infinite if there is none."""
        return max(min(self._due.values(), default=float("inf")) - now_s, 0.0)

    def give_up(self) -> list[int]:
        """No successor is started any more; returns the processes that would have had one."""
        without = list(self._due)
        self._due.clear()
        return without

    def _refusal(self, member: Member, aborted: bool) -> str | None:
        """Why a process has no successor; empty where nobody has to be told."""
        if self._tries == 0 or aborted or member.given_up:
            return ""
        if member.phase >= Phase.RAN:
            return "it is not restarted, as its tasks had ended and only its results were awaited"
        if member.phase < Phase.READY and member.incarnation == 0:
            return "it is not restarted, as it had not come to run"
        if self._tape != NO_TAPE:
            return "it is not restarted, as this run is recorded or replayed"
        return None

    def _schedule(self, index: int) -> str | None:
        now = time.monotonic()
        if self._budget.take(now) is None:
            return (
                f"it is not restarted, as {self._tries} restarts within {self._window_s:g} s are the limit "
                "(viper.worker.restart.tries, viper.worker.restart.window.secs)"
            )
        pauses = self._pauses.setdefault(index, RestartBudget(self._tries, self._window_s))
        self._due[index] = now + (pauses.take(now) or 0.0)
        return None

    def _bury(self, index: int, member: Member) -> None:
        ended = self._ended(index)
        lost = bury(self._plan, self._network, index)
        incident = Incident(
            worker=index + 1,
            how=member.how(),
            tasks=member.tasks,
            at_s=time.monotonic() - self._began_s,
            lost=lost,
            restarted=True,
            state_lost=self._state_lost(index, ended),
        )
        self.incidents.append(incident)
        log.error("%s; it is restarted", incident)

    def _ended(self, index: int) -> frozenset[int]:
        return frozenset(task for task in self._tasks(index) if self._network.has_ended(task))

    def _state_lost(self, index: int, ended: frozenset[int]) -> list[str]:
        gone = {task for task in self._tasks(index) if task not in ended}
        components = dict.fromkeys(task.component for task in self._plan.tasks if task.id in gone)
        return [id for id in components if not self._plan.confs[id]["viper.stateless"]]

    def _tasks(self, index: int) -> list[int]:
        executors = self._plan.placement.executors
        return [task for e in self._plan.placement.processes[index] for task in executors[e].tasks]
