"""``viper profile``: measure what the components of a topology cost, for planning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.messages import note
from framework.cli.opening import accepted, chosen, open_target, settings_of
from framework.cli.parameters import target_argument
from framework.cli.table import table
from framework.common.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.model.topology import Topology
    from framework.optimizer.costs import ComponentCost, Profile, Shape
    from framework.optimizer.costs.machine import Machine
    from framework.optimizer.profiling import Profiler, Profiling
    from framework.optimizer.profiling.alone import Alone
    from framework.planning import Plan


@click.command()
@target_argument
@with_choices
@click.option(
    "-O",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the profile is written.  [default: NAME.profile.yaml]",
)
@click.option(
    "--plans",
    "count",
    type=click.IntRange(min=2),
    default=8,
    show_default=True,
    help="How many different plans are run.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often each plan is run, all of them in turn.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="Seconds after which a run is drained, if its spouts have not ended before.",
)
@click.option(
    "-w", "--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Workers of the plans."
)
@click.option("--seed", type=int, default=1, show_default=True, help="What plans are drawn from.")
@click.option(
    "--alone/--no-alone",
    default=True,
    show_default=True,
    help="Measure each component alone first, on input that is recorded.",
)
def profile(
    target: str | None,
    choices: Choices,
    output: Path | None,
    count: int,
    runs: int,
    seconds: float,
    workers: int,
    seed: int,
    alone: bool,
) -> None:
    """Measure what the components of TARGET cost, and write it to a file.

    TARGET is run several times, in different plans, with its own spouts and sinks: files and tables are
    written each time. The output that sinks print is dropped. Each component is run alone first, for a guess.
    """
    from framework.optimizer.costs import Profile
    from framework.optimizer.costs.file import ProfileFile, save
    from framework.optimizer.profiling import Profiler, deployments, machine_of, shape_of
    from framework.optimizer.profiling.hardware import hardware
    from framework.optimizer.profiling.shapes import fixed_tasks
    from framework.planning import make_plan

    target, choices = chosen(target, choices)
    with prints_to_stderr():
        opened = open_target(target, choices)
        plan = make_plan(accepted(opened, to_run=True), opened.settings)
    shape, path = shape_of(plan, workers), output or Path(f"{plan.topology.name}.profile.yaml")
    plans = deployments(shape, fixed_tasks(plan), workers, count, seed)
    profiler = Profiler(["run", target, *_arguments(choices)], seconds, workers)
    guess = _alone(plan.topology, profiler, choices).guess(plans[0], note) if alone else None
    done = profiler.profile(shape, plans, runs, note, guess)
    varying = done.fitted.profile.varying(profiler.variations(plans[0], note))
    done = replace(done, fitted=replace(done.fitted, profile=varying))
    save(path, ProfileFile(plan.topology.name, _rounded(varying), hardware()))
    click.echo("\n".join(_lines(shape, done, machine_of(workers), guess or Profile({}))))
    note(f"written to {path}")


def _alone(topology: Topology, whole: Profiler, choices: Choices) -> Alone:
    """Make the measurement of a topology's components one by one."""
    from framework.model.errors import TopologyError
    from framework.optimizer.profiling.alone import OF_PARTS, Alone
    from framework.planning import make_plan

    # What loads and chooses the target does not concern the files that take its place.
    choices = replace(choices, name=None, properties=None, strict_flux=False).also(OF_PARTS)

    def planned(part: Topology) -> Plan:
        settings, problems = settings_of(part, choices)
        if errors := [problem for problem in problems if not problem.warning]:
            raise TopologyError(errors)
        return make_plan(part, settings)

    return Alone(topology, whole, list(_arguments(choices)), planned)


def _arguments(choices: Choices) -> Iterator[str]:
    """The command line that says the same."""
    for option, value in (
        ("--environment", choices.environment),
        ("--name", choices.name),
        ("--filter", choices.properties),
    ):
        if value is not None:
            yield from (option, str(value))
    for key, value in choices.options.items():
        yield from ("-o", f"{key}={json.dumps(value)}")
    for file in choices.files:
        yield from ("--config", str(file))
    if choices.strict_flux:
        yield "--strict-flux"


def _rounded(profile: Profile) -> Profile:
    """The profile in six digits, which is more than anybody can measure."""
    from framework.optimizer.costs import rounded

    return rounded(profile, 6)


def _lines(shape: Shape, done: Profiling, machine: Machine, alone: Profile) -> Iterator[str]:
    from framework.optimizer.profiling.accuracy import compared, percentile

    found = done.fitted.profile
    own, of_stream = ("component", "ns", "alone", "spread", "slow"), ("stream", "tuples out", "bytes")
    head = (*own, *of_stream, "encode ns", "decode ns")
    yield from table(head, _rows(shape, found, alone))
    yield ""
    yield f"a run of tuples from one of several sources takes {found.run_ns:,.0f} ns"
    errors = [
        compared(shape, found, machine, p, done.samples[i]).load_error for i, p in enumerate(done.plans)
    ]
    yield (
        f"the busiest workers of its own {len(errors)} plans are predicted with an error of "
        f"{percentile(errors, 0.5):.0%} (median), {max(errors):.0%} at most"
    )


def _rows(shape: Shape, profile: Profile, alone: Profile) -> Sequence[Sequence[object]]:
    rows: list[Sequence[object]] = []
    for name in shape.names:
        cost = profile.components[name]
        own = f"{alone.components[name].ns:,.0f}" if name in alone.components else ""
        first = (name, f"{cost.ns:,.0f}", own, *_variation(cost))
        rows += [
            (
                *(first if not number else ("",) * len(first)),
                *(stream, f"{of.selectivity:.4g}", f"{of.size:,.0f}"),
                *(f"{of.encode_ns:,.0f}", f"{of.decode_ns:,.0f}"),
            )
            for number, (stream, of) in enumerate(cost.streams.items())
        ] or [(*first, "", "", "", "", "")]
    return rows


def _variation(cost: ComponentCost) -> tuple[str, str]:
    found = cost.variation
    return ("", "") if found is None else (f"{found.spread:.2g}", f"{found.slow:.0%}")
