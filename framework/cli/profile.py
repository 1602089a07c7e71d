"""``viper profile``: what the components of a topology cost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.opening import accepted, chosen, open_target
from framework.cli.parameters import target_argument
from framework.cli.table import table
from framework.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.costs import Profile
    from framework.profiling import Profiling


@click.command()
@target_argument
@with_choices
@click.option(
    "-O",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the profile.  [default: NAME.profile.yaml]",
)
@click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=1),
    help="Workers of the largest plans.  [default: as many as there are cores, at least 2]",
)
@click.option("--plans", type=click.IntRange(min=2), default=8, show_default=True, help="Different plans.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Runs of each.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="After which a run is drained, if it has not ended.",
)
def profile(
    target: str | None,
    choices: Choices,
    output: Path | None,
    workers: int | None,
    plans: int,
    rounds: int,
    seconds: float,
) -> None:
    """Find out what the components of TARGET cost, for `viper plan --profile`.

    TARGET runs several times, in plans of which each shows something else: all on one worker, parts of it on
    others, more tasks and fewer. Spouts and sinks do what they do in any run; what sinks print is left out.
    """
    from framework.costs.file import save
    from framework.planning import make_plan
    from framework.profiling import Profiler, deployments, fixed_tasks, shape_of

    named, choices = chosen(target, choices)
    with prints_to_stderr():
        opened = open_target(named, choices)
        topology = accepted(opened, to_run=True)
        planned = make_plan(topology, opened.settings)
    places = workers or max(2, len(os.sched_getaffinity(0)))
    shape = shape_of(planned, places)
    measured = deployments(shape, fixed_tasks(planned), places, plans, seed=1)
    profiler = Profiler(["run", *_arguments(named, choices)], seconds, places)
    found = profiler.profile(shape, measured, rounds, lambda told: click.echo(told, err=True))
    file = output or Path(f"{topology.name}.profile.yaml")
    fitted = found.fitted
    notes = {"plans": len(measured), "runs": fitted.samples, "median_error": round(fitted.median_error, 3)}
    save(file, topology.name, fitted.profile, notes)
    click.echo("\n".join(_lines(found)))
    click.echo(f"written to {file}")


def _arguments(target: str, choices: Choices) -> Iterator[str]:
    """Those that say the same to `viper run`."""
    yield target
    for option, value in (("-e", choices.environment), ("-n", choices.name), ("-f", choices.properties)):
        if value is not None:
            yield from (option, str(value))
    for file in choices.files:
        yield from ("--config", str(file))
    for key, value in choices.options.items():
        yield from ("-o", f"{key}={json.dumps(value)}")
    if choices.strict_flux:
        yield "--strict-flux"


def _lines(found: Profiling) -> Iterator[str]:
    profile = found.fitted.profile
    header = ("component", "ns a tuple", "stream", "selectivity", "bytes", "encode ns", "decode ns")
    yield from table(header, list(_rows(profile)))
    yield ""
    yield f"a run of tuples from one of several sources takes {profile.run_ns:,.0f} ns"
    error = found.fitted.median_error
    yield f"median error of the fit {error:.0%}, over the tasks of {found.fitted.samples} runs"


def _rows(profile: Profile) -> Iterator[tuple[str, ...]]:
    for name, cost in profile.components.items():
        own = (name, f"{cost.ns:,.0f}")
        if not cost.streams:
            yield (*own, "", "", "", "", "")
        for stream, told in cost.streams.items():
            size, encode, decode = (f"{value:,.0f}" for value in (told.size, told.encode_ns, told.decode_ns))
            yield (*own, stream, f"{told.selectivity:.3g}", size, encode, decode)
            own = ("", "")
