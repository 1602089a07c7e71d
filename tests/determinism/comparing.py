"""Runs a variant and compares it, byte for byte, with the serial run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

from framework import TopologyBuilder
from framework.model.topology import Topology
from framework.planning.traits import held_class
from framework.runtime import StopReason, run
from framework.testing import run_topology
from framework.testing.preparing import loaded, planned, settled
from tests.determinism.forms import in_form
from tests.determinism.scaling import growing, run_scaled
from tests.determinism.special_components import Asks
from tests.determinism.topologies import INSIDE, TOPOLOGIES
from tests.determinism.variants import Variant

Output = Mapping[str, Sequence[str]]
"""The rows of each stream, and of the sink, as text that tells 1, 1.0 and True apart."""

SERIAL = {"viper.worker": "inline", "topology.workers": 1}
TIMEOUT_S = 120.0
"""Seconds after which a run is taken for one that hangs."""
_SHOWN = 3
"""Rows before and after the first difference that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between the output of a variant and that of the serial run."""

    variant: Variant
    where: str
    """Of which stream, or what was raised."""
    detail: str

    def __str__(self) -> str:
        repeat = f"  to repeat it: python -m tests.determinism --repeat '{self.variant}'"
        how = f"  in the form {self.variant.form!r}, with {self.variant.options()}"
        return f"{self.where}\n{self.detail}\n{how}\n{repeat}"


def difference(variant: Variant) -> Difference | None:
    """Run a variant; None where its output is that of the serial run."""
    reference = serial(variant.topology, 1 if variant.topology in INSIDE else variant.par)
    try:
        found = output_of(variant)
    except Exception as error:  # what the runtime refuses or cannot finish is a difference, too
        return Difference(variant, f"the run raised {type(error).__name__}", f"  {error}")
    for name, rows in found.items():
        if rows != reference[name]:
            return Difference(variant, f"{name} differs", first_difference(reference[name], rows))
    return None


@cache
def serial(topology: str, par: int) -> Output:
    """The reference: one inline worker, the usual scheduling, no noise."""
    return watched(TOPOLOGIES[topology](par), SERIAL, strict=topology in INSIDE)


def output_of(variant: Variant) -> Output:
    """Run a variant, and return its output."""
    return output_with(TOPOLOGIES[variant.topology](variant.par), variant)


def output_with(builder: TopologyBuilder, variant: Variant) -> Output:
    """Run a topology with the plan of a variant, and return its output."""
    with _switching(variant.switch_interval_s()):
        topology, options = in_form(loaded(builder), variant.form, str(variant)), variant.options()
        if any(held_class(component) is Asks for component in loaded(builder).components):
            options["viper.sharing"] = "dealt"  # nobody can say who gets a tuple before it is claimed
        if variant.watched:
            return watched(topology, options)
        return unwatched(topology, options, variant.scaled)


def watched(builder: TopologyBuilder | Topology, options: Mapping[str, Any], strict: bool = False) -> Output:
    """Every stream's rows, and the sink's; strict refuses what is seen to be outside the guarantee."""
    conf = {**options, **({"viper.order": "strict"} if strict else {})}
    ran = run_topology(builder, conf=conf, timeout_s=TIMEOUT_S)
    rows = {f"{component}/{stream}": _texts(rows) for (component, stream), rows in ran.streams.items()}
    return {**rows, "sink": _texts(ran.report.result("sink"))}


def unwatched(
    builder: TopologyBuilder | Topology, options: Mapping[str, Any], scaled: int | None = None
) -> Output:
    """The sink's rows only, so that streams with a single subscriber stay such.

    Bolts that can be scaled get other tasks meanwhile, which are drawn from `scaled`, unless that is None.
    """
    topology = loaded(builder)
    settled(topology, options)
    if scaled is None:
        report = run(*planned(topology, options), duration_s=TIMEOUT_S)
    else:
        report = run_scaled(growing(topology, options), options, scaled, TIMEOUT_S)
    if report.reason is StopReason.DURATION:
        raise TimeoutError(f"not ended within {TIMEOUT_S:g} s")
    return {"sink": _texts(report.result("sink"))}


def _texts(rows: Sequence[Any]) -> list[str]:
    # Not pickled: pickles of equal rows differ with which of their values are the same object.
    return [repr(tuple(row)) for row in rows]


def first_difference(expected: Sequence[str], found: Sequence[str]) -> str:
    """The first rows that differ, with their neighbours."""
    pairs = enumerate(zip_longest(expected, found))
    at = next(index for index, (one, other) in pairs if one != other)
    lines = [f"  first at row {at}; {len(expected)} rows expected, {len(found)} found"]
    for index in range(max(at - _SHOWN, 0), at + _SHOWN + 1):
        one, other = (rows[index] if index < len(rows) else "(no row)" for rows in (expected, found))
        if one == other:
            lines.append(f"    {index}: {one:.200}")
        else:
            lines += [f"  - {index}: {one:.200}", f"  + {index}: {other:.200}"]
    return "\n".join(lines)


@contextmanager
def _switching(interval_s: float) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
