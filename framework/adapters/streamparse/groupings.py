"""streamparse's groupings, which are Thrift unions, as ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from framework.topology import Argument, Grouping, GroupingKind


def grouping_of(union: Any) -> Grouping:
    """The grouping whose field of the union is set; ``fields([])`` is the global grouping."""
    if union.fields is not None:
        return Grouping.fields(union.fields) if union.fields else Grouping.GLOBAL
    if union.custom_object is not None:
        custom = union.custom_object
        return Grouping.custom(custom.full_class_name, *plain_arguments(custom.args_list))
    if union.custom_serialized is not None:
        return Grouping.custom_serialized(union.custom_serialized)
    kind = next(name for name, value in vars(union).items() if value is not None)
    return Grouping(GroupingKind[kind.upper()])


def plain_arguments(java_arguments: Sequence[Any]) -> list[Argument]:
    """The values of arguments that are given to a Java constructor."""
    arguments: list[Argument] = sys.modules["streamparse.dsl.util"].to_python_arg_list(java_arguments)
    return arguments
