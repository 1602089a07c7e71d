"""A system in a setting that runs a workload, and the makers of such entries for each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from benchmarks.peers.workloads import WORKLOADS, Workload

PLAIN, BYTEWAX = "plain loop", "Bytewax"


class Shape(StrEnum):
    """The unit that the functions of a program get."""

    SINGLE = "single"
    """A line or a record."""
    LISTS = "lists"
    """A list of them."""
    COLUMNS = "columns"
    """Arrow columns of them."""


class State(StrEnum):
    """The fate of a program's state when its process dies, if the system is told to recover it."""

    NONE = ""
    """There is no state."""
    LOST = "lost"
    WHOLE = "as one value"
    """It is recovered for all keys together, and cannot be divided among workers."""
    BY_KEY = "by key"


@dataclass(frozen=True, slots=True)
class Entry:
    """One system in one setting, for one workload."""

    system: str
    """For people. Several settings of one system have the same, and the best of them stands for all."""
    program: str
    workload: str
    setting: str = ""
    """For people, where the system has several."""
    options: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0
    """The share of the workload's rows that it gets: less if it is slow, more if it is fast."""
    is_collapsing: bool = False
    """True if it replaces rows by newer ones of their key, so that only the newest can be compared."""
    x: int | None = None
    """Its position on the axis of a growth."""
    shape: Shape = Shape.SINGLE
    state: State = State.NONE

    @property
    def task(self) -> Workload:
        """The workload."""
        return WORKLOADS[self.workload]

    @property
    def name(self) -> str:
        """System and setting."""
        return f"{self.system}, {self.setting}" if self.setting else self.system

    @property
    def product(self) -> str:
        """The system without what distinguishes its ways to run."""
        return self.system.partition(",")[0]

    def size(self, quick: bool) -> int:
        """Rows of its input."""
        size = self.task.quick_size if quick else self.task.size
        return max(round(size * min(self.share, 1) if quick else size * self.share), 1)


TWO = {"viper.worker": "process", "topology.workers": 2}

STATELESS = ("filter",)
"""Kinds of workloads."""


def kept_by_ours(variant: str, workload: str) -> Mapping[str, Any]:
    """The shape and the state of one of our variants. Steps by key of functions declare their state."""
    way = variant.split()[0]
    is_declared = way == "functions" or variant.endswith("with state")
    state = State.BY_KEY if is_declared else State.LOST
    return {
        "shape": {"batches": Shape.LISTS, "columns": Shape.COLUMNS}.get(way, Shape.SINGLE),
        "state": State.NONE if WORKLOADS[workload].kind in STATELESS else state,
    }


def ours(variant: str, workload: str, setting: str = "", *, par: int = 1, **rest: Any) -> Entry:
    """ViperStorm in one inline worker; further arguments are those of an `Entry`."""
    options = {"variant": variant, "par": par}
    kept = kept_by_ours(variant, workload)
    return Entry(f"ViperStorm {variant}", "ours", workload, setting, options, **kept, **rest)


def ours_on_two(
    variant: str, workload: str, setting: str, par: Mapping[str, int] | int, placement: Any, **rest: Any
) -> Entry:
    """ViperStorm on two process workers, with the parallelism of its bolts and the workers of their tasks."""
    config = {**TWO, "viper.placement": placement}
    return _of_two(variant, workload, setting, {"variant": variant, "par": par, "config": config}, rest)


def ours_on_default_two(variant: str, workload: str, **rest: Any) -> Entry:
    """ViperStorm with a plain ``-w 2``: one task of each bolt, where the defaults place them."""
    options = {"variant": variant, "par": 1, "config": TWO}
    return _of_two(variant, workload, "-w 2", options, rest)


def _of_two(
    variant: str, workload: str, setting: str, options: Mapping[str, Any], rest: Mapping[str, Any]
) -> Entry:
    system, kept = f"ViperStorm {variant}, 2 processes", kept_by_ours(variant, workload)
    return Entry(system, "ours", workload, setting, options, **kept, **rest)


def plain(workload: str, **rest: Any) -> Entry:
    """The plain loop."""
    state = State.NONE if WORKLOADS[workload].kind in STATELESS else State.LOST
    return Entry(PLAIN, "plain", workload, state=state, **rest)


BYTEWAX_SHAPES = {
    "single": (Shape.SINGLE, State.BY_KEY, "batches of {:,}"),
    "by hand": (Shape.SINGLE, State.BY_KEY, "batches of {:,}"),
    "lists": (Shape.LISTS, State.LOST, "of {:,}"),
    "Arrow": (Shape.COLUMNS, State.LOST, "of {:,}"),
}
"""As its program names them: the shape, the state, and the form of the setting."""


def bytewax(
    workload: str,
    *batches: int,
    shape: str = "single",
    kinds: Sequence[Mapping[str, int]] = ({},),
    recovered: bool = False,
    **rest: Any,
) -> Sequence[Entry]:
    """Bytewax with several sizes of batches, lists or record batches.

    Args:
        workload: its name.
        batches: the sizes.
        shape: as its program names it.
        kinds: its workers: one, or so many threads or processes.
        recovered: whether lists have their dictionary as a state of Bytewax.
        rest: further arguments of an `Entry`.
    """
    names = {"workers": "threads", "processes": "processes"}
    form, state, setting = BYTEWAX_SHAPES[shape]
    is_stateless = WORKLOADS[workload].kind in STATELESS
    # Without a step by key the function gets a batch of the source as it is.
    form = Shape.LISTS if shape == "by hand" and is_stateless else form
    state = State.WHOLE if recovered else state
    ways = [*([shape] if shape != "single" else []), *(["recovered"] if recovered else [])]
    return [
        Entry(
            ", ".join([BYTEWAX, *ways, *(f"{count} {names[name]}" for name, count in kind.items())]),
            "bytewax",
            workload,
            setting.format(batch),
            {"shape": shape, "batch": batch, **({"recovered": True} if recovered else {}), **kind},
            shape=form,
            state=State.NONE if is_stateless else state,
            **rest,
        )
        for kind in kinds
        for batch in batches
    ]


def bytewax_paced(workload: str, poll: str, kind: Mapping[str, int] | None = None) -> Entry:
    """Bytewax on a schedule: ``at its own pace`` or ``when due``."""
    system = f"{BYTEWAX}, 2 processes" if kind else BYTEWAX
    options = {"poll": poll, **(kind or {})}
    return Entry(system, "bytewax", workload, f"polled {poll}", options, state=State.BY_KEY)


def pathway(workload: str, setting: str = "", share: float = 1.0, **options: Any) -> Entry:
    """Pathway, whose outputs collapse wherever there are keys."""
    is_collapsing = workload != "filter"
    state = State.BY_KEY if is_collapsing else State.NONE
    return Entry("Pathway", "pathway", workload, setting, options, share, is_collapsing, state=state)


def pyflink(workload: str, share: float, **options: Any) -> Entry:
    """PyFlink in thread mode."""
    state = State.NONE if workload == "filter" else State.BY_KEY
    return Entry("PyFlink, thread mode", "pyflink", workload, options=options, share=share, state=state)
