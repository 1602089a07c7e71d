"""Which bolts have a controller of their number of tasks, and what is wrong with the one that is named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from framework.model.errors import LoadError
from framework.model.topology import Problem, Topology, about
from framework.operators.controllers.making import make_controller
from framework.planning.scaling import MOST, Confs

CONTROLLER = "viper.controller"
"""The key that names a bolt's controller."""


def controlled(confs: Confs, scalable: Iterable[str]) -> Mapping[str, Any]:
    """For each bolt that has a controller, what its configuration says of it.

    Args:
        confs: each component's resolved configuration, by id.
        scalable: the bolts whose number of tasks may change. What the topology's configuration says is for
            all of these.
    """
    return {name: given for name in scalable if (given := confs[name][CONTROLLER]) is not None}


def controller_problems(topology: Topology, confs: Confs, scalable: Collection[str]) -> Iterator[Problem]:
    """Controllers that cannot be made, or would have nothing to do; arguments as above.

    Each is made once here, so that what its class complains of is known before anything starts.
    """
    for component in topology.components:
        is_asked = component.config.get(CONTROLLER) is not None
        if is_asked and component.id not in scalable:
            message = f"has a controller ({CONTROLLER}), but keeps its tasks: set {MOST} to 2 or more"
            yield about(topology, component, message)
    for name, given in controlled(confs, scalable).items():
        try:
            make_controller(given)
        except LoadError as error:
            component = next(each for each in topology.components if each.id == name)
            yield about(topology, component, f"has no controller: {CONTROLLER}: {error}")
