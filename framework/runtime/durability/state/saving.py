"""The declared state of a run on its way into a checkpoint, and out of it into another run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.model.errors import CheckpointError
from framework.planning import TaskSpec
from framework.runtime.durability.checkpoints import Checkpoint
from framework.runtime.durability.checkpoints.states import SavedState, groups_of, states_in
from framework.runtime.durability.state.memory import StateMemory
from framework.runtime.durability.state.snapshot import written_at_once
from framework.runtime.durability.state.table_images import images_at_end, tables_in
from viper.errors import StateFullError
from viper.state import load


class StateSaver:
    """Saves what tasks remember that have come to their end.

    Args:
        memory: theirs; None where no bolt declares any.
        tasks: the tasks.
    """

    def __init__(self, memory: StateMemory | None, tasks: Sequence[TaskSpec]) -> None:
        self._memory = memory
        self._tasks = tasks
        self.states: list[SavedState] = []
        """The states that were saved."""
        self.tables: dict[str, str] = {}
        """By shared table that was saved, the part that holds it."""

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Names and contents of all parts; `states` and `tables` are complete when they have been taken."""
        if self._memory is None:
            return
        writer, owned = self._memory.owned_by(self._tasks)
        yield from written_at_once(owned, self.states)
        writer.close()
        for task in self._tasks:
            for table, name, content in images_at_end(self._memory.shared.kept_by(task), task.id):
                self.tables[table] = name
                yield name, content


def save_tables(memory: StateMemory | None) -> None:
    """Write shared tables to their files, where they have some, at the end of a run.

    Raises:
        StateError: a file cannot be written.
    """
    if memory is not None:
        memory.shared.save()


def load_states(memory: StateMemory | None, checkpoint: Checkpoint | None) -> None:
    """Enter what a run begins with into its memory: what a checkpoint holds, and the first rows of tables.

    Args:
        memory: of a plan that fits the checkpoint; None where nothing is remembered.
        checkpoint: of another run; None for a run that resumes none.

    Raises:
        CheckpointError: a part is damaged, or has another form, or there is no room for all of it.
        ConfigError: the first rows of a shared table cannot be had, or do not fit.
    """
    if memory is None:
        return
    memory.shared.begin(tables_in(checkpoint))
    saved = [] if checkpoint is None else states_in(checkpoint.content["states"])
    if checkpoint is None or not saved:
        return
    writer, opened = memory.opened()
    tables = {(state.component, state.spec.name, state.index): state.tables for state in opened}
    try:
        for state in saved:
            for group, number, chunks in groups_of(checkpoint, state):
                load(tables[state.component, state.state, state.index][number], group, chunks)
    except StateFullError as error:
        raise CheckpointError(f"{checkpoint.path}: {error}: raise viper.state.bytes") from error
    except ValueError as error:
        raise CheckpointError(f"{checkpoint.path}: {error}") from error
    finally:
        writer.close()
