"""Makes the context that `initialize` receives, with the keys and texts of Storm's context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from framework.model.topology import ComponentSpec, Grouping, GroupingKind, Stream
from framework.planning import Plan, TaskSpec
from framework.planning.validation.subscriptions import SYSTEM_STREAMS


def make_context(plan: Plan, task: TaskSpec) -> dict[str, Any]:
    """Make the context of one task; each call returns a new dict."""
    component = plan.topology.component(task.component)
    merges = set(plan.merges.values())  # which nobody has written
    return {
        "task->component": {str(o.id): o.component for o in plan.tasks if o.id not in merges},
        "taskid": task.id,
        "componentid": task.component,
        "streams": [stream.name for stream in component.outputs or ()],
        "stream->outputfields": _fields(component.outputs),
        "stream->target->grouping": _targets(plan, component),
        "source->stream->grouping": _sources(component),
        "source->stream->fields": _source_fields(plan, component),
    }


def _fields(streams: Iterable[Stream] | None) -> dict[str, list[str]]:
    return {stream.name: list(stream.fields) for stream in streams or ()}


def _targets(plan: Plan, component: ComponentSpec) -> dict[str, dict[str, Any]]:
    targets: dict[str, dict[str, Any]] = {stream.name: {} for stream in component.outputs or ()}
    for subscription in plan.subscriptions:
        if subscription.source == component.id:
            grouping = _describe(subscription.grouping)
            targets.setdefault(subscription.stream, {})[subscription.target] = grouping
    return targets


def _sources(component: ComponentSpec) -> dict[str, dict[str, Any]]:
    sources: dict[str, dict[str, Any]] = {}
    for subscription in component.inputs:
        sources.setdefault(subscription.source, {})[subscription.stream] = _describe(subscription.grouping)
    return sources


def _source_fields(plan: Plan, component: ComponentSpec) -> dict[str, dict[str, list[str]]]:
    known = {**{other.id: other.outputs for other in plan.topology.components}, **SYSTEM_STREAMS}
    return {
        source: _fields(known[source])
        for source in dict.fromkeys(subscription.source for subscription in component.inputs)
        if source in known
    }


def _describe(grouping: Grouping) -> dict[str, Any]:
    if grouping.kind is GroupingKind.GLOBAL:
        return {"type": "FIELDS", "fields": []}  # as Storm's Thrift form has it
    if grouping.names:
        return {"type": str(grouping.kind), "fields": list(grouping.names)}
    return {"type": str(grouping.kind)}
