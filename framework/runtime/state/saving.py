"""The declared state of a run on its way into a checkpoint, and out of it into another run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from framework.checkpoints import Checkpoint
from framework.checkpoints.states import SavedState, chunks_of, parts_of, states_in
from framework.errors import CheckpointError
from framework.runtime.state.memory import OpenState, StateMemory
from viper.errors import StateFullError
from viper.state import load


class StateSaver:
    """Writes all states of a run, when its tasks have come to their end.

    Args:
        memory: theirs; None where no bolt declares any.
    """

    def __init__(self, memory: StateMemory | None) -> None:
        self._memory = memory
        self.states: list[dict[str, Any]] = []
        """What the manifest says of those that were saved."""

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Names and contents of all parts; `states` is complete when they have been taken."""
        if self._memory is None:
            return
        writer, opened = self._memory.opened(to_write=False)
        number = 0
        for state in opened:
            saved = _described(state)
            yield from parts_of(saved, state.tables, number)
            number += len(saved.parts)
            self.states.append(asdict(saved))
        writer.close()


def load_states(memory: StateMemory | None, checkpoint: Checkpoint) -> None:
    """Enter what a checkpoint holds into the memory of a run that has not begun.

    Args:
        memory: of a plan that fits the checkpoint.
        checkpoint: of another run.

    Raises:
        CheckpointError: a part is damaged, or has another form, or there is no room for all of it.
    """
    saved = states_in(checkpoint.content["states"])
    if memory is None or not saved:
        return
    writer, opened = memory.opened(to_write=True)
    tables = {(state.component, state.spec.name, state.index): state.tables for state in opened}
    try:
        for state in saved:
            for group, number, chunk in chunks_of(checkpoint, state):
                load(tables[state.component, state.state, state.index][number], group, chunk)
                writer.commit()
    except StateFullError as error:
        raise CheckpointError(f"{checkpoint.path}: {error}: raise viper.state.bytes") from error
    except ValueError as error:
        raise CheckpointError(f"{checkpoint.path}: {error}") from error
    finally:
        writer.close()


def _described(state: OpenState) -> SavedState:
    spec, tables = state.spec, state.tables
    groups = tables[0].groups
    return SavedState(
        component=state.component,
        state=spec.name,
        kind=spec.kind,
        types=spec.types,
        per=spec.per,
        codes=list(spec.codes),
        index=state.index,
        groups=groups,
        keys=sum(tables[0].count(group) for group in range(groups)),
        parts=[],
    )
