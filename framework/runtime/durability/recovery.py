"""Recovery without a difference: uncommitted work of a killed worker process is done again.

Every task keeps a page in shared memory with its progress in its inputs and outputs, the turns of its
groupings, its clock and its ticks. All of it changes at a commit, after a slice whose outputs have all been
handed over, or not at all. A successor begins there, repeats the slice that was cut off, and leaves out the
outputs that its consumers have already.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from framework.model.config import Settings
from framework.model.topology import Role
from framework.planning import Plan, TaskSpec, TimeMode, is_exact
from framework.runtime.durability.state import StateMemory, TaskState
from viper.gate import ScaleGate
from viper.page import TaskPage
from viper.position import Positions
from viper.reader import Reader
from viper.state import KeyedTable, Writer


@dataclass(frozen=True, slots=True)
class Suspect:
    """The input that a task was processing when its process died."""

    task: TaskSpec
    count: int
    """The number of tuples."""
    values: tuple[object, ...] | None = None
    """Of a single tuple; None where they are not known."""

    def __str__(self) -> str:
        what = f"the tuple {self.values!r:.300}" if self.count == 1 else f"{self.count:,} tuples"
        return f"{self.task.component}:{self.task.id} with {what}"


@dataclass(frozen=True, slots=True)
class Repeat:
    """The work of a task that its successor has to repeat."""

    taken: int
    """Tuples that the task had taken and not committed: the input of the slice that was cut off."""
    left_out: int
    """Tuples that it had emitted meanwhile, which its consumers have already."""

    @property
    def is_slice(self) -> bool:
        """True if a slice was cut off."""
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
        """Open the commits of a task in the process that runs it, and take back uncommitted work of a dead
        one.

        Its sources leave out from now on the tuples that their readers have already.

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
        """Go back to a task's last commit after the death of its process, and have its input come again.

        The rings that it has fed have been recovered.

        Returns:
            The work that its successor repeats.
        """
        page = self._page_of_the_dead(task)
        taken = sum(sum(page.taken(*read)) for read in self._read_by(task))
        ahead = [page.ahead(n, gate.source(at)) for n, (gate, at) in enumerate(self._fed_by(task))]
        for first, gate, index in self._read_by(task):
            page.rewind(first, gate, index)
        return Repeat(taken, sum(ahead))

    def suspects(self, tasks: Iterable[int]) -> list[Suspect]:
        """Return the input that each task was processing at a death without progress since the death before.

        If it was several tuples, the successor will take these one by one.
        """
        found = [self._suspect(task) for task in tasks]
        return [suspect for suspect in found if suspect.count]

    def _suspect(self, task: int) -> Suspect:
        spec, page = self._tasks[task], self._page_of_the_dead(task)
        taken = [(read, page.taken(*read)) for read in self._read_by(task)]
        count = sum(sum(counts) for _, counts in taken)
        page.go_singly(count)
        if count != 1:
            return Suspect(spec, count)
        (first, gate, reader), counts = next(found for found in taken if any(found[1]))
        if gate.claims:
            page.rewind(first, gate, reader)
            return Suspect(spec, count, gate.claimed_tuple(reader))
        source = counts.index(1)
        return Suspect(spec, count, gate.tuple_of(source, page.delivered[first + source]))

    def leave_out(self, suspect: Suspect) -> None:
        """Have the successor of a task continue after a tuple."""
        page = self._page_of_the_dead(suspect.task.id)
        writer = self._memory.writer(suspect.task)
        page.leave_out(writer)
        page.go_singly(0)
        writer.commit()
        writer.close()

    def _page_of_the_dead(self, task: int) -> TaskPage:
        """The page of a task that has died, as of its last commit."""
        spec = self._tasks[task]
        self._memory.writer(spec).close()
        page = self._memory.page(spec)
        for first, gate, index in self._read_by(task):
            page.read_by_the_dead(first, gate, index)
        return page

    def committed(self, task: int) -> int:
        """Return the number of commits of a task."""
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


_PROTOCOL: Final = 5
_BEGUN: Final = "begun"
"""The name of a note that is there since the first commit."""


class Noted(Protocol):
    """A part of a task that resumes in another process from its last commit."""

    def save(self) -> Any:
        """Return the data that a successor needs; it can be pickled, and is equal where nothing has
        changed."""

    def restore(self, noted: Any) -> None:
        """Resume from the noted data."""


class Commits:
    """Commits what one task has done, slice by slice.

    Args:
        writer: writes what goes back if the process dies.
        page: how far the task is in its inputs and outputs.
        notes: by name, what else its successor must know.
        reader: holds its input until the commit; None for a task that has none.
    """

    def __init__(self, writer: Writer, page: TaskPage, notes: KeyedTable, reader: Reader | None) -> None:
        self._writer = writer
        self._page = page
        self._notes = notes
        self._reader = reader
        self._singly = page.singly if reader is not None else 0
        """The number of tuples that are still taken one by one, as a process has died among them."""
        self._parts: dict[str, Noted] = {}
        self._ahead: list[Callable[[], None]] = []
        self._behind: list[Callable[[], None]] = []
        self._on_left_out: Callable[[Positions, int, int], None] = lambda positions, first, count: None
        self._noted: dict[str, bytes] = {}
        """The pickled note of each part, as of the last commit."""
        self.is_due = False
        """True if a turn that is over has brought something that is not committed yet."""
        self.has_begun = notes.get(_BEGUN) is not None
        """True if the task has committed anything, in this process or in one that has died."""

    def make_due(self) -> None:
        """Note that a turn has brought something, which is to be committed once it is in channels."""
        self.is_due = True

    def take_due(self) -> bool:
        """True if something was brought since the last call that is to be committed."""
        is_due, self.is_due = self.is_due, False
        return is_due

    @property
    def left(self) -> int:
        """The number of tuples that the process before this one has emitted, and this one has not yet."""
        return self._page.left

    def tell_left_out(self, call: Callable[[Positions, int, int], None]) -> None:
        """Have something called with positions, an index and a number of tuples when these are left out."""
        self._on_left_out = call

    def left_out(self, positions: Positions, first: int, count: int) -> None:
        """Note that so many tuples are not handed over, as the process before this one has done it."""
        self._on_left_out(positions, first, count)

    def keep(self, name: str, part: Noted) -> None:
        """Commit a part of the task from now on; what a process before this one has noted of it is restored.

        Args:
            name: the part's, the same in every process.
            part: the part. It takes the place of one that was kept by this name in this process; then nothing
                is restored.
        """
        if name in self._parts:
            self._parts[name] = part
            return
        found = self._notes.get(name)
        if found is not None:
            (self._noted[name],) = found
            part.restore(pickle.loads(self._noted[name]))
        self._parts[name] = part

    def call_ahead(self, call: Callable[[], None]) -> None:
        """Have something called ahead of each commit, which what it changes in a kept part belongs to."""
        self._ahead.append(call)

    def call_behind(self, call: Callable[[], None]) -> None:
        """Have something called behind each commit: what others act upon leaves the task only then."""
        self._behind.append(call)

    def commit(self) -> None:
        """Make what was done since the last commit last, and release the input that it was done for.

        To be called when all input that was taken has been processed, and everything that was emitted for it
        is in channels.
        """
        if not self.has_begun:
            self._notes.set(_BEGUN, (b"",))
            self.has_begun = True
        for call in self._ahead:
            call()
        for name, part in self._parts.items():
            noted = pickle.dumps(part.save(), _PROTOCOL)
            if noted != self._noted.get(name):
                self._notes.set(name, (noted,))
                self._noted[name] = noted
        if self._page.note(self._writer) or self._writer.written:
            self._writer.commit()
            if self._reader is not None:
                self._reader.release()
                if self._singly:
                    self._go_on_singly(self._reader)
        for call in self._behind:
            call()

    def _go_on_singly(self, reader: Reader) -> None:
        """Note that one of the tuples has been processed among which a process has died."""
        self._singly -= 1
        self._page.go_singly(self._singly)
        if not self._singly:
            reader.hold()
