"""Companions: context managers of partitioned spouts that are entered in the process that leads the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from framework.common.prints import prints_to_stderr
from framework.model.errors import ComponentError, ViperError
from framework.model.instantiate import Beans
from framework.operators.components import PartitionedSpout
from framework.operators.sinks import TransactionalSink
from framework.planning import Plan
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.tasks.hosts.registry import make_host
from framework.runtime.tasks.hosts.user_errors import user_errors


@contextmanager
def accompanied(plan: Plan, stop: StopSignal) -> Iterator[Plan]:
    """Enter the companions of all partitioned spouts for the block, and leave them after it.

    Starting them may take minutes. `stop` breaks that off, see `StopSignal.at_once`.

    Yields:
        The plan, with the configuration values that the companions have given for their spouts.

    Raises:
        KeyboardInterrupt: a signal came while companions were being started.
        ViperError: a companion has refused the run.
        ComponentError: a constructor or a companion raised any other exception.
    """
    spouts = [spout.id for spout in plan.topology.spouts if plan.traits[spout.id].partitioned]
    with ExitStack() as stack:
        with stop.at_once() if spouts else nullcontext():
            additions = {spout: _entered(plan, spout, stack) for spout in spouts}
        confs = {spout: {**plan.confs[spout], **added} for spout, added in additions.items()}
        yield replace(plan, confs={**plan.confs, **confs}) if confs else plan


def partitioned_spouts(plan: Plan) -> Mapping[str, PartitionedSpout]:
    """An instance of each partitioned spout, not initialized, by its id.

    Raises:
        ComponentError: a constructor raised.
    """
    spouts = [spout.id for spout in plan.topology.spouts if plan.traits[spout.id].partitioned]
    return {spout: _made(plan, spout) for spout in spouts}


def transactional_sinks(plan: Plan) -> Mapping[str, TransactionalSink]:
    """An instance of each transactional sink, not initialized, by its id.

    Raises:
        ComponentError: a constructor raised.
    """
    bolts = [bolt.id for bolt in plan.topology.bolts if plan.traits[bolt.id].goes_back]
    made = {bolt: _made(plan, bolt) for bolt in bolts}
    return {bolt: sink for bolt, sink in made.items() if isinstance(sink, TransactionalSink)}


def _entered(plan: Plan, spout: str, stack: ExitStack) -> Mapping[str, Any]:
    made: PartitionedSpout = _made(plan, spout)
    try:
        with prints_to_stderr():
            return stack.enter_context(made.companion(plan.confs[spout]))
    except ViperError:
        raise
    except user_errors() as error:
        detail = f"{type(error).__name__}: {error}"
        raise ComponentError(spout, plan.tasks_of(spout)[0].id, "companion", detail) from error


def _made(plan: Plan, component: str) -> Any:
    topology = plan.topology
    with prints_to_stderr():
        host = make_host(topology.component(component), plan.tasks_of(component)[0], Beans(topology.beans))
    return host.component
