"""What evaluated the transactions of a group, in all processes of a run, as statistics tell it."""

from __future__ import annotations

from collections.abc import Sequence

from framework.planning import Evaluation
from framework.runtime.observation.statistics import EvaluatorStatistics
from viper.transactions.evaluator import Chosen, Reason, chosen
from viper.transactions.group import Group


def what_was_chosen(planned: Evaluation | None, group: Group, regions: Sequence[int]) -> EvaluatorStatistics:
    """The evaluations of all processes together; times are of the one that has had most of them.

    Args:
        planned: what the run's transactions are evaluated by.
        group: their tables.
        regions: where each process tells what it has chosen.
    """
    assert planned is not None, "there are tables"
    found = [chosen(group.arena, group.layout.offset, region) for region in regions]
    most = max(found, key=lambda one: one.serial + one.parallel)
    return EvaluatorStatistics(
        evaluator=planned.evaluator,
        threads=planned.threads,
        serial=sum(one.serial for one in found),
        parallel=sum(one.parallel for one in found),
        serial_ns=most.serial_ns,
        parallel_ns=most.parallel_ns,
        why=_why(planned, most),
    )


def _why(planned: Evaluation, found: Chosen) -> str:
    """In one sentence; what was planned tells where nothing is left to choose."""
    took = "" if found.serial_ns is None else f"an instruction takes one thread {found.serial_ns:.1f} ns"
    if found.reason is Reason.UNKNOWN:
        return "too little was evaluated to tell whether threads gain time"
    if found.reason is Reason.CHEAP:
        return f"{took}, which is less than what threads would add"
    if found.reason is Reason.TRIED:
        return "threads were tried, and gained too little"
    if found.reason is Reason.PAYS:
        return f"{took}, and several less"
    if found.reason is Reason.NO_THREADS:
        return "no memory or no threads could be had for more than one"
    return planned.why
