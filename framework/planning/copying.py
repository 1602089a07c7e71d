"""Which groupings may give one tuple to several tasks.

Where a tuple is copied, the positions of what comes of it tell the replica, so that the outputs of its copies
stand apart. They then differ with the parallelism of the consumer, which without copies they do not.
"""

from __future__ import annotations

from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import Grouping, GroupingKind, ObjectDef


def copies(grouping: Grouping) -> bool:
    """Whether a grouping may choose more than one task for a tuple.

    A custom grouping may, unless its class says otherwise by ``copies = False``. The class must be
    importable, if the topology has only its name.
    """
    if grouping.kind is not GroupingKind.CUSTOM:
        return grouping.kind is GroupingKind.ALL
    return grouping.definition is None or _class_copies(grouping.definition)


def _class_copies(definition: ObjectDef) -> bool:
    if definition.factory is not None:  # which may return an object of any class
        return True
    try:
        cls = definition.cls or import_class(definition.class_name)
    except LoadError:  # it is told when the grouping is made
        return True
    return bool(getattr(cls, "copies", True))
