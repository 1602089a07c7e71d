"""What is malformed is refused where it is declared; all else is judged before it runs."""

from __future__ import annotations

from framework.errors import TopologyError
from framework.topology import Loaded, Topology


def accepted(loaded: Loaded) -> Topology:
    """The topology, if it is well-formed: ids, inputs, streams, fields and parallelism fit together.

    Raises:
        TopologyError: it is not; the error has whatever else is wrong with it, too.
    """
    # Importing the framework needs no validation, only declaring a topology does.
    from framework.validation import validate

    topology = loaded.topology
    if topology is None or loaded.problems or not _is_well_formed(topology):
        found = (*loaded.problems, *(validate(topology) if topology is not None else ()))
        raise TopologyError(problem for problem in found if not problem.warning)
    return topology


def _is_well_formed(topology: Topology) -> bool:
    from framework.validation import structure, subscriptions

    rules = (
        structure.check_component_ids,
        structure.check_spouts,
        structure.check_bolts,
        subscriptions.check_sources,
        subscriptions.check_stream_names,
        subscriptions.check_fields,
        structure.check_parallelism,
    )
    return all(problem.warning for rule in rules for problem in rule(topology))
