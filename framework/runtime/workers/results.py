"""Results of sinks on their way from a worker process to its parent, each by itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from framework.errors import ComponentError
from framework.planning import Plan
from framework.runtime.metrics.statistics import WorkerReport


def with_packed_results(report: WorkerReport, plan: Plan) -> WorkerReport:
    """A report with its results as bytes.

    Raises:
        ComponentError: one of them cannot be carried.
    """
    return _changed(report, plan, _packed)


def with_results(report: WorkerReport, plan: Plan) -> WorkerReport:
    """A report with its results as they were.

    Raises:
        ComponentError: one of them cannot be read here.
    """
    return _changed(report, plan, pickle.loads)


def _packed(result: Any) -> bytes:
    return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


def _changed(report: WorkerReport, plan: Plan, change: Callable[[Any], Any]) -> WorkerReport:
    components = {task.id: task.component for task in plan.tasks}
    results: dict[int, Any] = {}
    for task, result in report.results.items():
        try:
            results[task] = change(result)
        except Exception as error:
            detail = f"cannot be carried out of its worker process: {type(error).__name__}: {error}"
            raise ComponentError(
                components[task], task, "result", f"{detail}; return what pickle can carry"
            ) from error
    return replace(report, results=results)
