"""Where tasks leave word for their successors, and how these find it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from framework.model.config import Settings
from framework.model.topology import Role
from framework.planning import Plan, TaskSpec, TimeMode, is_exact
from framework.runtime.durability.recovery.commits import Commits
from framework.runtime.durability.state import StateMemory, TaskState
from viper.gate import ScaleGate


@dataclass(frozen=True, slots=True)
class Suspect:
    """What a task was processing when its process died."""

    task: TaskSpec
    count: int
    """The number of tuples."""
    input: int = 0
    """Of a single tuple: the number of the input that it came by."""
    values: tuple[object, ...] | None = None
    """Of a single tuple; None where they are not known."""

    def __str__(self) -> str:
        what = f"the tuple {self.values!r:.300}" if self.count == 1 else f"{self.count:,} tuples"
        return f"{self.task.component}:{self.task.id} with {what}"


@dataclass(frozen=True, slots=True)
class Repeat:
    """What the successor of a task does once more."""

    taken: int
    """Tuples that the task had taken and not committed: the input of the slice that was cut off."""
    left_out: int
    """Tuples that it had emitted meanwhile, which its consumers have already."""

    @property
    def is_slice(self) -> bool:
        """Whether there was anything that was cut off."""
        return bool(self.taken or self.left_out)


class RecoveryMemory:
    """The pages of all tasks, together with the channels that they speak of.

    Args:
        plan: says which tasks there are.
        memory: of the run's state, in which each task has a page.
        gates: all channels, as this process sees them, with their producing and consuming tasks.
    """

    def __init__(
        self,
        plan: Plan,
        memory: StateMemory,
        gates: Iterable[tuple[tuple[Sequence[int], Sequence[int]], ScaleGate]],
    ) -> None:
        self._plan = plan
        self._memory = memory
        self._gates = list(gates)
        self._tasks = {task.id: task for task in plan.tasks}

    @classmethod
    def of(
        cls,
        plan: Plan,
        settings: Settings,
        memory: StateMemory | None,
        gates: Iterable[tuple[tuple[Sequence[int], Sequence[int]], ScaleGate]],
    ) -> RecoveryMemory | None:
        """The pages of a run; None where a worker process that dies loses what it was about."""
        return cls(plan, memory, gates) if memory is not None and is_exact(plan, settings) else None

    def commits(self, task: TaskSpec, state: TaskState | None) -> Commits:
        """What a task commits by, in the process that runs it; what a dead process had begun is taken back.

        Its sources leave out from now on what their readers have already.

        Args:
            task: the task.
            state: its declared state; None if it has none.
        """
        writer = self._memory.writer(task) if state is None else state.writer
        page, reader = self._memory.page(task), None
        for first, gate, index in self._read_by(task.id):
            page.read(first, gate, index)
            reader = gate.reader(index)
        commits = Commits(writer, page, self._memory.notes(task, writer), reader)
        is_live = self._plan.time is TimeMode.INGEST and task.role is Role.SPOUT
        for output, (gate, index) in enumerate(self._fed_by(task.id)):
            source = gate.source(index)
            page.feed(output, source, repeats_positions=not is_live, on_left_out=commits.left_out)
        return commits

    def rewind(self, task: int) -> Repeat:
        """After the death of a task's process: go back to the last commit, and have its input come again.

        The rings that it has fed have been recovered.

        Returns:
            What its successor repeats.
        """
        spec = self._tasks[task]
        self._memory.writer(spec).close()
        page = self._memory.page(spec)
        for first, gate, index in self._read_by(task):
            page.read_by_the_dead(first, gate, index)
        taken = sum(page.taken())
        ahead = [page.ahead(n, gate.source(at)) for n, (gate, at) in enumerate(self._fed_by(task))]
        for first, gate, index in self._read_by(task):
            page.rewind(first, gate, index)
        return Repeat(taken, sum(ahead))

    def suspects(self, tasks: Iterable[int]) -> list[Suspect]:
        """After a death that brought tasks no further: what each of them was processing, if anything.

        Where it was several tuples, the successor will take these one by one.
        """
        found = [self._suspect(task) for task in tasks]
        return [suspect for suspect in found if suspect.count]

    def _suspect(self, task: int) -> Suspect:
        spec = self._tasks[task]
        self._memory.writer(spec).close()
        page = self._memory.page(spec)
        inputs: list[tuple[ScaleGate, int]] = []
        for first, gate, index in self._read_by(task):
            page.read_by_the_dead(first, gate, index)
            inputs += [(gate, source) for source in range(gate.source_count)]
        taken = page.taken()
        count = sum(taken)
        page.go_singly(count)
        if count != 1:
            return Suspect(spec, count)
        number = taken.index(1)
        gate, source = inputs[number]
        return Suspect(spec, count, number, gate.tuple_of(source, page.delivered[number]))

    def leave_out(self, suspect: Suspect) -> None:
        """Have the successor of a task go on behind a tuple."""
        writer, page = self._memory.writer(suspect.task), self._memory.page(suspect.task)
        page.leave_out(suspect.input, writer)
        page.go_singly(0)
        writer.commit()
        writer.close()

    def committed(self, task: int) -> int:
        """How often a task has committed."""
        return self._memory.page(self._tasks[task]).commits

    def _read_by(self, task: int) -> Iterator[tuple[int, ScaleGate, int]]:
        """The gates that a task reads, with the number of its first input there and its index as a reader."""
        first = 0
        for (sources, readers), gate in self._gates:
            if task in readers:
                yield first, gate, readers.index(task)
                first += len(sources)

    def _fed_by(self, task: int) -> Iterator[tuple[ScaleGate, int]]:
        """The gates that a task feeds, with its index as a source."""
        for (sources, _), gate in self._gates:
            if task in sources:
                yield gate, sources.index(task)
