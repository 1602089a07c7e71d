"""Leads the reconfigurations of a run: tasks that share the keys of a bolt become others at a cut."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from framework.model.topology import Role
from framework.planning import Plan
from framework.planning.routing import TaskSet
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader, Margin
from framework.runtime.coordination.cut_record import CutRecord, Purpose
from framework.runtime.coordination.scale_record import ScaleRecord
from framework.runtime.coordination.stop import StopSignal

log = logging.getLogger("viperstorm.scale")

_LOOK_S = 0.001
"""Seconds between two looks at how far the tasks are, at first."""
_LONGEST_PAUSE_S = 0.05
MARGIN: Final = Margin(sample_s=0.001, ahead_s=0.01)
"""Somebody waits for what begins at the cut, so that lies nearer than that of a checkpoint."""


class NotChangedError(Exception):
    """A reconfiguration is not carried out; the message says why."""


class Reconfiguring:
    """Carries out, one after the other, what tasks are asked for.

    Args:
        plan: of the run.
        record: where its sources agree.
        scales: where producers and tasks look.
        leader: has the sources agree; whoever else does takes turns with this.
        stop: ends the run.
        timeout_s: seconds that sources have to agree.
        repeats: whether successors of killed processes repeat their uncommitted work.
        on_done: called with the components whose tasks have all handed over, by id with their tasks, and
            those of before.
        on_given_up: called with the components, by id with the tasks that they keep.
    """

    def __init__(
        self,
        plan: Plan,
        record: CutRecord,
        scales: ScaleRecord,
        leader: CutLeader,
        stop: StopSignal,
        *,
        timeout_s: float,
        repeats: bool,
        on_done: Callable[[Mapping[str, TaskSet], Mapping[str, TaskSet]], None],
        on_given_up: Callable[[Mapping[str, TaskSet]], None],
    ) -> None:
        self._plan = plan
        self._record = record
        self._scales = scales
        self._leader = leader
        self._stop = stop
        self._timeout_s = timeout_s
        self._repeats = repeats
        self._on_done = on_done
        self._on_given_up = on_given_up
        self._sources = {name: _sources_above(plan, name) for name in plan.handing_over}
        self._wanted: dict[str, TaskSet] = {}
        """By component the tasks that were asked for since the last look."""
        self._lock = threading.Lock()
        """Held by whoever touches these."""
        self._has_news = threading.Event()
        self._over = threading.Event()

    def want(self, tasks: Mapping[str, TaskSet]) -> None:
        """Have components continue with other tasks soon; any thread may call it.

        An earlier request that has not begun is forgotten.
        """
        with self._lock:
            self._wanted.update(tasks)
        self._has_news.set()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """For as long as the block runs, another thread carries out what is asked for."""
        thread = threading.Thread(target=self._lead, name="viper-scaling", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._has_news.set()
            thread.join()

    def _lead(self) -> None:
        while self._has_news.wait() and not self._over.is_set():
            self._has_news.clear()
            with self._leader.turn:
                while tasks := self._taken():
                    self._change(tasks)

    def _taken(self) -> Mapping[str, TaskSet]:
        with self._lock:
            tasks, self._wanted = self._wanted, {}
        return {name: some for name, some in tasks.items() if some != self._scales.wanted(name)}

    def _change(self, tasks: Mapping[str, TaskSet]) -> None:
        before = {name: self._scales.wanted(name) for name in tasks}
        began_s = time.monotonic()
        try:
            attempt = self._decided(tasks, began_s + self._timeout_s)
        except NotChangedError as error:
            self._leader.give_up()
            for name in before:
                self._scales.propose(name, before[name])
            self._on_given_up(before)
            if not self._over.is_set():
                kept = ", ".join(f"{name}={some}" for name, some in before.items())
                log.warning("%s: tasks stay as they are, as %s", kept, error)
            return
        if not self._is_done(attempt):
            return
        for name, some in tasks.items():
            self._scales.want(name, some)
        self._leader.give_up()
        elapsed_ms = (time.monotonic() - began_s) * 1000
        for name, some in tasks.items():
            told = name, some.in_words, before[name], elapsed_ms
            log.info("%s goes on with %s instead of %s (%.0f ms)", *told)
        self._on_done(tasks, before)

    def _is_done(self, attempt: int) -> bool:
        """Wait until all tasks that change have taken over, and nobody emits anything before the cut.

        Up to then the numbers of before are to be found for those who take the place of the dead, and have it
        still before them.

        Returns:
            False at the end of the run, where those that are still to come to the cut need nobody.
        """
        pause_s = _LOOK_S
        while not (self._scales.has_taken_over(attempt) and self._is_divided_anew(attempt)):
            # Where sources stand still, promises wake nobody, and go one hop further each time.
            self._leader.wake()
            if self._over.wait(pause_s):
                return False
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return True

    def _is_divided_anew(self, attempt: int) -> bool:
        # Where a death loses what a process was about, nothing comes once more.
        return not self._repeats or self._scales.is_divided_anew(attempt)

    def _decided(self, tasks: Mapping[str, TaskSet], until_s: float) -> int:
        """Have the sources agree on a cut; returns the number of the attempt."""

        def wait(sources: Sequence[int], hint: str) -> None:
            self._refuse_at_end(tasks)
            if time.monotonic() >= until_s:
                named = ", ".join(f"{self._plan.tasks[task - 1].component}:{task}" for task in sources)
                raise NotChangedError(f"{named} has not answered (viper.checkpoint.timeout.secs): {hint}")
            self._over.wait(_LOOK_S)

        while True:
            self._refuse_at_end(tasks)  # nothing is proposed to a run that is closed
            for name, some in tasks.items():
                self._scales.propose(name, some)
            try:
                return self._leader.agree(
                    0, wait, Purpose.RECONFIGURATION, lambda: self._refuse_at_end(tasks), MARGIN
                )
            except CutInterruptedError:  # once more, where others have taken the place of the dead
                log.debug("a reconfiguration is begun again, as a worker process has died")

    def _refuse_at_end(self, tasks: Mapping[str, TaskSet]) -> None:
        """Raise NotChangedError if rows may have been divided as before that lie behind any cut.

        These are rows behind all event time: of a bolt that has begun its end, or repeated ones of a source.
        """
        has_ended = [source for source in self._all_sources if self._record.ended_us(source) is not None]
        for name in tasks:
            if all(source in has_ended for source in self._sources[name]):
                raise NotChangedError(f"all input of {name} has been brought")
        if self._stop.requested or self._over.is_set() or self._record.ending():
            raise NotChangedError("the run has come to its end, or is about to")
        if has_ended and self._tracks:
            raise NotChangedError("a source has brought all it has, and may repeat some of it")

    @property
    def _tracks(self) -> bool:
        # No row of a partitioned spout is tracked, and so none is repeated.
        plan = self._plan
        spouts = [spout.id for spout in plan.topology.spouts if not plan.traits[spout.id].partitioned]
        return any(plan.confs[spout]["topology.acker.executors"] != 0 for spout in spouts)

    @property
    def _all_sources(self) -> Sequence[int]:
        return [task for part in self._plan.aligned_sources for task in part]


def _sources_above(plan: Plan, component: str) -> list[int]:
    """The tasks of spouts whose tuples, or what becomes of them, come to a bolt."""
    seen, todo = set[int](), [task.id for task in plan.tasks_of(component)]
    while todo:
        task = todo.pop()
        if task not in seen:
            seen.add(task)
            if plan.tasks[task - 1].role is Role.BOLT:
                todo += plan.channel_of(task).sources
    return [task for task in sorted(seen) if plan.tasks[task - 1].role is Role.SPOUT]
