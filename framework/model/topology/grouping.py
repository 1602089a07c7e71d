"""Groupings: the division of a stream's tuples among the tasks of a consumer."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from framework.model.topology.objects import Argument, ObjectDef, class_path, deserialized


class GroupingKind(enum.StrEnum):
    """Storm's groupings, by Flux's names."""

    SHUFFLE = "SHUFFLE"
    FIELDS = "FIELDS"
    ALL = "ALL"
    GLOBAL = "GLOBAL"
    NONE = "NONE"
    DIRECT = "DIRECT"
    LOCAL_OR_SHUFFLE = "LOCAL_OR_SHUFFLE"
    PARTIAL_KEY = "PARTIAL_KEY"
    CUSTOM = "CUSTOM"


BY_FIELDS = (GroupingKind.FIELDS, GroupingKind.PARTIAL_KEY)
"""The groupings that name the fields of their key."""
DIVIDING = (GroupingKind.SHUFFLE, GroupingKind.LOCAL_OR_SHUFFLE, GroupingKind.NONE, GroupingKind.FIELDS)
"""The groupings that bring a tuple to any of the bolt's tasks, whichever has it now."""
KEYLESS = (
    GroupingKind.SHUFFLE,
    GroupingKind.NONE,
    GroupingKind.LOCAL_OR_SHUFFLE,
    GroupingKind.PARTIAL_KEY,
    GroupingKind.CUSTOM,
)
"""The groupings that may bring tuples of one key to several tasks."""


@dataclass(frozen=True, slots=True, repr=False)
class Grouping:
    """A grouping as streamparse's DSL names it: ``Grouping.SHUFFLE``, ``Grouping.fields("word")``.

    ``partial_key`` and ``custom`` are ours; streamparse has no names for them.
    """

    kind: GroupingKind
    names: tuple[str, ...] = ()
    """Fields that make the key, for FIELDS and PARTIAL_KEY."""
    definition: ObjectDef | None = None
    """The recipe of the grouping object, for CUSTOM."""

    SHUFFLE: ClassVar[Grouping]
    GLOBAL: ClassVar[Grouping]
    DIRECT: ClassVar[Grouping]
    ALL: ClassVar[Grouping]
    NONE: ClassVar[Grouping]
    LOCAL_OR_SHUFFLE: ClassVar[Grouping]

    @classmethod
    def fields(cls, *names: str | Iterable[str]) -> Grouping:
        """Tuples with equal values in these fields go to the same task.

        Raises:
            ValueError: no field at all.
        """
        return cls(GroupingKind.FIELDS, _names(names))

    @classmethod
    def partial_key(cls, *names: str | Iterable[str]) -> Grouping:
        """As `fields`, but each key has two tasks, and the less loaded one is taken."""
        return cls(GroupingKind.PARTIAL_KEY, _names(names))

    @classmethod
    def custom(cls, grouping: type | str, *args: Argument) -> Grouping:
        """A Python class with ``prepare`` and ``choose_tasks``, or its dotted path.

        A class whose objects choose one task at most for each tuple says so by ``copies = False``.
        """
        name = grouping if isinstance(grouping, str) else class_path(grouping)
        held = None if isinstance(grouping, str) else grouping
        return cls(GroupingKind.CUSTOM, (), ObjectDef(name, tuple(args), cls=held))

    @classmethod
    def custom_object(cls, java_class_name: str, arg_list: Sequence[Argument] = ()) -> Grouping:
        """streamparse's name for a custom grouping; a Java class draws but does not run."""
        return cls.custom(java_class_name, *arg_list)

    @classmethod
    def custom_serialized(cls, java_serialized: bytes) -> Grouping:
        """streamparse's name for a custom grouping that is a serialized Java object."""
        return cls(GroupingKind.CUSTOM, (), deserialized(java_serialized))

    def __repr__(self) -> str:
        if self.names:
            return f"{self.kind.lower()}({list(self.names)})"
        if self.definition is not None:
            return f"custom({self.definition.class_name})"
        return str(self.kind)


def _names(names: tuple[str | Iterable[str], ...]) -> tuple[str, ...]:
    flat: list[str] = []
    for name in names:
        flat.extend([name] if isinstance(name, str) else name)
    if not flat:
        raise ValueError("a grouping by key needs at least one field name")
    return tuple(flat)


for _kind in ("SHUFFLE", "GLOBAL", "DIRECT", "ALL", "NONE", "LOCAL_OR_SHUFFLE"):
    setattr(Grouping, _kind, Grouping(GroupingKind[_kind]))
