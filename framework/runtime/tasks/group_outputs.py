"""The outputs of a bolt for one tuple in several key groups, which several tasks may share.

All tasks that own one of the groups have outputs below the same tuple. So these are marked by their group,
and numbered within it: then their positions are the same however many tasks there are.
"""

from __future__ import annotations

from framework.planning.layout import ComponentLevel
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.emitter import Emitter
from viper.position import Level


class GroupOutputs:
    """Places outputs among those of one key group.

    Args:
        emitter: places what was emitted before.
        assigner: marks outputs.
        level: the bits of the path that the component writes.
        groups: the number of key groups.
    """

    def __init__(self, emitter: Emitter, assigner: BoltAssigner, level: ComponentLevel, groups: int) -> None:
        self._emitter = emitter
        self._assigner = assigner
        self._level = level
        self._groups = groups
        self._levels: dict[int, Level] = {}

    def begin(self, group: int) -> None:
        """Place emits for the tuple in process among the outputs of a key group from now on."""
        self._emitter.place()
        level = self._levels.get(group)
        if level is None:
            # Behind what stands at the end of windows, should the tuple stand at just that position.
            level = self._levels[group] = self._level.level(copy=self._groups + group)
        self._assigner.lineage.number_anew()
        self._assigner.mark_at(level)
