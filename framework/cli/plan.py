"""``viper plan``: what a run would consist of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.costs import Costs, show_costs, with_costs
from framework.cli.messages import counted
from framework.cli.opening import accepted, chosen, open_target
from framework.cli.parameters import target_argument, worker_option, workers_option
from framework.cli.table import table
from framework.common.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.planning import ComponentLevel, Plan, Subscription, TaskSpec


@click.command()
@target_argument
@with_choices
@worker_option
@workers_option
@with_costs
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    target: str | None,
    choices: Choices,
    worker: str | None,
    workers: int | str | None,
    costs: Costs,
    as_json: bool,
) -> None:
    """Show how TARGET would run: tasks, streams, channels, levels of positions.

    With --profile, show how fast it is predicted to be, and with --optimize, which plan is predicted to be
    the fastest.
    """
    from framework.optimizer.planned import planned

    choices = choices.also({"viper.worker": worker, "topology.workers": workers})
    with prints_to_stderr():
        opened = open_target(*chosen(target, choices))
        made = planned(accepted(opened, to_run=True), opened.settings)
    if costs.profile is not None:
        show_costs(made, opened.settings, costs, workers, as_json=as_json)
    else:
        click.echo(json.dumps(_as_json(made), indent=2) if as_json else "\n".join(_lines(made)))


def _lines(plan: Plan) -> Iterator[str]:
    components = counted(len(plan.topology.components), "component")
    yield f"{plan.topology.name}: {components}, {counted(len(plan.tasks), 'task')}, {plan.time} time"
    if plan.placement.standbys:
        yield f"{counted(plan.placement.standbys, 'process', 'processes')} to stand by for a worker that dies"
    for name, tasks in sorted(plan.scalable.items()):
        most = len(plan.tasks_of(name))
        why = "topology.workers: auto" if name in plan.movable else "viper.parallelism.max"
        yield f"{name}: {tasks} of {most} tasks get tuples at first ({why})"
    for name in plan.claiming:
        how = "claim its key groups" if name in plan.claimed_by_key else "share their input by claims"
        yield f"{name}: {len(plan.tasks_of(name))} tasks {how} (viper.sharing)"
    states = [_states(plan)] if any(traits.states for traits in plan.traits.values()) else []
    joins = [_joins(plan)] if any(traits.joins for traits in plan.traits.values()) else []
    tables = [_tables(plan)] if plan.table_groups else []
    for lines in (_workers(plan), _tasks(plan), _streams(plan), *joins, *states, *tables, _levels(plan)):
        yield ""
        yield from lines


def _workers(plan: Plan) -> Sequence[str]:
    names = {task.id: f"{task.component}:{task.id}" for task in plan.tasks}
    rows = [
        (
            e.worker,
            plan.placement.kind,
            "a blocking task" if e.blocking else f"any task, one of {e.threads}" if e.threads > 1 else "",
            " ".join(names[t] for t in e.tasks),
        )
        for e in plan.placement.executors
    ]
    return table(("worker", "kind", "thread for", "runs"), rows)


def _tasks(plan: Plan) -> Sequence[str]:
    header = ("task", "component", "role", "replica", "depth", "reads from", "chained", "feedback")
    return table(header, [_task_row(plan, task) for task in plan.tasks])


def _task_row(plan: Plan, task: TaskSpec) -> Sequence[object]:
    channel = next((channel for channel in plan.channels if task.id in channel.readers), None)
    sources, feedback = (channel.sources, channel.feedback) if channel else ((), ())
    chained = "yes" if channel is not None and channel.chained else ""
    reads = (_ids(sources), chained, _ids(feedback))
    return (task.id, task.component, task.role, task.index, task.depth, *reads)


def _ids(tasks: Sequence[int]) -> str:
    return " ".join(map(str, tasks))


def _streams(plan: Plan) -> Sequence[str]:
    from framework.model.render import in_words

    rows = [
        (
            *(s.source, s.stream, s.target, in_words(s.grouping)),
            "" if s.key_input is None else s.key_input,
            "yes" if s.feedback else "",
        )
        for s in plan.subscriptions
    ]
    return table(("from", "stream", "to", "grouping", "input", "feedback"), rows)


def _joins(plan: Plan) -> Sequence[str]:
    rows = [(join["component"], join["how"], join["on"], join["by"]) for join in _joining(plan)]
    return table(("join", "how", "of tuples with", "finds them by"), rows)


def _joining(plan: Plan) -> list[dict[str, str]]:
    """The joins, each with how it finds what belongs together."""
    from framework.model.instantiate import Beans
    from framework.model.topology import PythonImplementation
    from framework.operators.windows.joins import Origin, told
    from framework.operators.windows.spec import JOIN_HOW

    found = []
    for name in [name for name, traits in plan.traits.items() if traits.joins]:
        implementation = plan.topology.component(name).implementation
        assert isinstance(implementation, PythonImplementation), "only these are known to be joins"
        bolt = Beans(plan.topology.beans).make(implementation.definition)
        sides: dict[int, Origin] = {}
        for given in [given for given in plan.subscriptions if given.target == name]:
            stream = plan.topology.component(given.source).stream(given.stream)
            assert stream is not None, "the plan is of a valid topology"
            sides.setdefault(bolt.side_of(given.source, given.stream), Origin(stream.fields, stream.schema))
        by = told(bolt.search, (sides[0], sides[1])) if len(sides) == 2 else "nothing: one side has no stream"
        how, on = plan.confs[name][JOIN_HOW], str(bolt.search.condition)
        found.append({"component": name, "how": how, "on": on, "by": by})
    return found


def _states(plan: Plan) -> Sequence[str]:
    rows = [
        (
            *(state["component"], state["name"], state["kind"], state["types"], state["per"]),
            "; ".join(dict.fromkeys(", ".join(fields) for fields in state["key"].values())),
        )
        for state in _declared(plan)
    ]
    return table(("state of", "name", "kind", "holds", "per", "key"), rows)


def _declared(plan: Plan) -> list[dict[str, Any]]:
    """Declared states, with the fields that name their key by stream."""
    return [
        {
            **{"component": component, "name": state.name, "kind": state.kind},
            **{"types": state.types, "per": state.per},
            "key": _keys(plan, component) if state.per == "key" else {},
        }
        for component, traits in plan.traits.items()
        for state in traits.states
    ]


def _keys(plan: Plan, component: str) -> dict[str, list[str]]:
    keys = {}
    for subscription in plan.subscriptions:
        stream = plan.topology.component(subscription.source).stream(subscription.stream)
        if subscription.target == component and subscription.key is not None and stream is not None:
            keys[f"{subscription.source}.{stream.name}"] = [stream.fields[i] for i in subscription.key]
    return keys


def _tables(plan: Plan) -> Sequence[str]:
    rows = [
        (
            *(group, table["name"], ", ".join(table["key"])),
            ", ".join(f"{name} {kind}" for name, kind in table["columns"].items()),
            *(table["rows"], " ".join(found["members"]), found["evaluated"]),
        )
        for group, found in enumerate(_table_groups(plan), 1)
        for table in found["tables"]
    ]
    return table(("group", "shared table", "key", "columns", "rows", "transactions of", "evaluated"), rows)


def _table_groups(plan: Plan) -> list[dict[str, Any]]:
    """The groups of shared tables, with who has transactions on them."""
    return [
        {
            "tables": [
                {
                    "name": table.table_name,
                    "key": list(table.key_kinds),
                    "columns": dict(table.column_kinds),
                    "rows": table.most_rows,
                }
                for table in group.tables
            ],
            "members": list(group.members),
            "evaluator": None if plan.evaluation is None else plan.evaluation.evaluator,
            "threads": None if plan.evaluation is None else plan.evaluation.threads,
            "evaluated": str(plan.evaluation),
        }
        for group in plan.table_groups
    ]


def _levels(plan: Plan) -> Sequence[str]:
    rows = [
        (component, level.depth, _bits(level), level.ordinal_bits)
        for component, level in plan.layout.components.items()
    ]
    return table(("position of", "depth", "bits of the path", "ordinal bits"), rows)


def _bits(level: ComponentLevel) -> str:
    """``40 to 71``, counted from the path's end; nothing where a topology is too deep for its path."""
    width = level.ordinal_bits + level.tag_bits
    return f"{level.offset} to {level.offset + width - 1}" if width else "none"


def _as_json(plan: Plan) -> dict[str, Any]:
    return {
        "topology": plan.topology.name,
        "time": plan.time,
        "placement": asdict(plan.placement),
        "tasks": [asdict(task) for task in plan.tasks],
        "scalable": {name: len(tasks) for name, tasks in plan.scalable.items()},
        "claiming": list(plan.claiming),
        "claimed_by_key": list(plan.claimed_by_key),
        "streams": [_stream(subscription) for subscription in plan.subscriptions],
        "channels": [asdict(channel) for channel in plan.channels],
        "joins": _joining(plan),
        "states": _declared(plan),
        "tables": _table_groups(plan),
        "levels": {name: asdict(level) for name, level in plan.layout.components.items()},
    }


def _stream(subscription: Subscription) -> dict[str, Any]:
    grouping, key_input = subscription.grouping, subscription.key_input
    return {
        "source": subscription.source,
        "stream": subscription.stream,
        "target": subscription.target,
        "grouping": {"type": grouping.kind, "fields": grouping.names},
        "input": None if key_input is None else key_input._asdict(),
        "feedback": subscription.feedback,
    }
