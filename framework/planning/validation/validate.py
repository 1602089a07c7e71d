"""All rules over one topology."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from framework.model.config import Settings, component_conf, resolve, task_count
from framework.model.importing import importable
from framework.model.topology import Problem, Topology, about
from framework.planning.checkpoints import checkpoint_problems
from framework.planning.coroutines import coroutine_problems
from framework.planning.keys import group_problems, state_problems
from framework.planning.recovery import recovery_problems
from framework.planning.scaling import controller_problems, most_tasks, scalable, scaling_problems
from framework.planning.sharing import sharing_problems
from framework.planning.time_mode import with_late_streams
from framework.planning.traits import base_classes, held_class, is_ported, known_traits
from framework.planning.transactions import transaction_problems
from framework.planning.validation.classes import check_classes
from framework.planning.validation.guarantees import check_answers
from framework.planning.validation.order import (
    check_order,
    check_slack,
    check_ticks,
    check_timestamps,
    time_of,
)
from framework.planning.validation.structure import (
    check_bean_ids,
    check_bolts,
    check_component_ids,
    check_parallelism,
    check_reachable,
    check_spouts,
    check_streams,
    check_topology_name,
)
from framework.planning.validation.subscriptions import (
    check_custom,
    check_direct,
    check_fields,
    check_repeats,
    check_sources,
    check_stream_names,
)
from framework.planning.windows import join_problems, window_problems

_OF_THE_LOOP = ("read_handshake", "read_message", "read_command", "_exit")
_OF_PORTED = ("run", *_OF_THE_LOOP)
_OF_PORTED_BOLTS = (*_OF_PORTED, "_batch_entry", "_batch_entry_run", "_handle_worker_exception")
_OF_PORTED_SPOUTS = (*_OF_PORTED, "_run", "is_heartbeat")
_OF_OURS = (
    *_OF_THE_LOOP,
    *("_run", "_setup_component", "_handle_run_exception"),
    *("read_tuple", "read_task_ids", "send_message", "is_heartbeat"),
)
_OF_OUR_BOLTS = (*_OF_OURS, "is_tick")
_LIBRARIES = ("pystorm", "streamparse", "framework")


def check_hooks(topology: Topology) -> Iterator[Problem]:
    """A warning for each class with a method of its own that pystorm would call and nothing calls here."""
    for component in topology.components:
        cls = held_class(component)
        names = [] if cls is None else [name for name in _uncalled(cls) if _is_own(cls, name)]
        if cls is not None and names:
            instead = (
                "run it as Storm would, with viper run --shell"
                if is_ported(cls)
                else "do it in initialize, process, ack, fail or raise_exception"
            )
            message = (
                f"is implemented by {cls.__name__}, whose {' and '.join(names)} pystorm calls in its loop, "
                f"and nothing calls here: {instead}"
            )
            yield about(topology, component, message, warning=True)


def _uncalled(cls: type) -> tuple[str, ...]:
    is_bolt = issubclass(cls, base_classes("Bolt"))
    if is_ported(cls):
        return _OF_PORTED_BOLTS if is_bolt else _OF_PORTED_SPOUTS
    return _OF_OUR_BOLTS if is_bolt else _OF_OURS


def _is_own(cls: type, name: str) -> bool:
    owner = next((base.__module__ for base in cls.__mro__ if name in vars(base)), None)
    return owner is not None and owner.partition(".")[0] not in _LIBRARIES


RULES: Sequence[Callable[[Topology], Iterator[Problem]]] = (
    check_topology_name,
    check_component_ids,
    check_streams,
    check_bean_ids,
    check_spouts,
    check_bolts,
    check_reachable,
    check_sources,
    check_stream_names,
    check_repeats,
    check_fields,
    check_direct,
    check_custom,
    check_parallelism,
    check_classes,
    check_hooks,
)
"""The rules for every topology, also for one that only a cluster can run."""


def validate(topology: Topology, settings: Settings | None = None) -> list[Problem]:
    """Everything that is wrong with a topology or deserves a warning, by place.

    Args:
        topology: any topology.
        settings: from `framework.model.config.resolve`, which reports what is wrong with configuration;
            None to resolve and check the topology's own configuration here.
    """
    problems: list[Problem] = []
    if settings is None:
        settings, problems = resolve(topology)
    topology = with_late_streams(topology, settings)
    problems += [problem for rule in RULES for problem in rule(topology)]
    # The order of a topology with errors cannot be judged.
    if all(problem.warning for problem in problems):
        confs = {c.id: component_conf(settings, topology, c) for c in topology.components}
        with importable(topology.import_paths):
            traits = {c.id: known_traits(c, confs[c.id]) for c in topology.components}
        begins_with = {c.id: task_count(c, confs[c.id]) for c in topology.components}
        problems += scaling_problems(topology, settings, confs, traits, begins_with)
        with importable(topology.import_paths):
            problems += controller_problems(topology, confs, scalable(confs, begins_with))
        counts = most_tasks(topology, confs, begins_with)
        problems += group_problems(topology, settings, counts)
        problems += state_problems(topology, settings, confs, traits, counts)
        problems += transaction_problems(topology, settings, confs, traits)
        problems += sharing_problems(topology, settings, confs, traits)
        problems += coroutine_problems(topology, confs, traits)
        problems += check_ticks(topology, confs, traits)
        problems += check_slack(topology, confs, traits)
        problems += check_answers(topology, confs, traits)
        untimely = list(check_timestamps(topology, confs, traits))
        problems += untimely or check_order(topology, settings, confs, traits)
        time = time_of(topology, confs, traits)
        problems += window_problems(topology, confs, traits, time)
        problems += join_problems(topology, counts, confs, traits, time)
        problems += recovery_problems(topology, settings, confs, traits, time)
        if settings["viper.checkpoint.secs"] is not None:
            problems += checkpoint_problems(topology, confs, traits, warning=True)
    return sorted(problems, key=lambda problem: problem.sort_key)
