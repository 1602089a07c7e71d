"""The costs of plans that `viper plan` shows: predictions by a profile, and the best plan."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from framework.model.config import Settings
    from framework.optimizer.costs import Profile, Shape
    from framework.optimizer.search import Found, Problem
    from framework.planning import Plan

OPTIMIZERS = ("best", "exact", "local", "counts", "rlas")
GONE_OPTIMIZERS = {
    "round-robin": "leave --optimizer out, and set viper.placement to round-robin",
    "first-fit": "take local, which finds faster plans",
    "random": "take local, which also begins at plans that are drawn",
}
"""Planners that were for comparison only, and what to take instead."""
_FILE = click.Path(dir_okay=False, path_type=Path)


def _planner(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a planner; one that is gone is refused with what to take instead."""
    if value is not None and (instead := GONE_OPTIMIZERS.get(value)):
        raise click.BadParameter(f"{value!r} was for comparison only: {instead}", ctx, param)
    return None if value is None else str(click.Choice(OPTIMIZERS).convert(value, param, ctx))


@dataclass(frozen=True, slots=True)
class Costs:
    """The options for costs that the command line gives."""

    profile: Path | None
    """The file of costs; None: nothing was asked for."""
    optimizer: str | None
    """The planner that searches for the best plan; None: the plan is that of the configuration."""
    cores: int | None
    output: Path | None
    """File for the plan that was found."""
    picture: Path | None


_OPTIONS = (
    click.option("--profile", type=_FILE, help="Predict by the costs of this file (viper profile)."),
    click.option("--optimize", is_flag=True, help="Look for the fastest plan."),
    click.option(
        "--optimizer",
        metavar=f"[{'|'.join(OPTIMIZERS)}]",
        callback=_planner,
        help="What looks for it.  [default: best]",
    ),
    click.option("--cores", type=click.IntRange(min=1), help="Cores to plan for.  [default: this machine's]"),
    click.option("-O", "--output", type=_FILE, help="Write the plan that was found, for viper run --config."),
    click.option("--picture", type=_FILE, help="Draw what was found in Mermaid."),
)


def with_costs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options, and pass what they say as ``costs``."""

    @functools.wraps(command)
    def packed(
        *args: Any,
        profile: Path | None,
        optimize: bool,
        optimizer: str | None,
        cores: int | None,
        output: Path | None,
        picture: Path | None,
        **others: Any,
    ) -> Any:
        wanted = optimizer or ("best" if optimize else None)
        given = {"--optimize": wanted, "--cores": cores, "--output": output, "--picture": picture}
        if profile is None and (asked := [name for name, value in given.items() if value is not None]):
            raise click.UsageError(f"{asked[0]} needs --profile FILE: make one with viper profile")
        if output is not None and wanted is None:
            raise click.UsageError("--output needs --optimize: it is for the plan that is found")
        return command(*args, costs=Costs(profile, wanted, cores, output, picture), **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed


def show_costs(
    plan: Plan, settings: Settings, costs: Costs, workers: int | str | None, *, as_json: bool
) -> None:
    """Print what a plan, or the best one, is predicted to do.

    Args:
        plan: as configured.
        settings: its configuration.
        costs: what was asked for; it has a profile.
        workers: that there may be at most; None: as many as cores.
        as_json: whether to print JSON.

    Raises:
        ProfileError: the file is no profile.
        CannotBeModelled: there is no model of the topology's costs.
    """
    from framework.optimizer.profiling import options_of
    from framework.optimizer.search import OPTIMIZERS as KNOWN
    from framework.optimizer.search.sharing import in_words as sharing_in_words
    from framework.optimizer.search.sharing import sharing_of, sharing_options
    from framework.optimizer.search.telling import as_json as told
    from framework.optimizer.search.telling import as_mermaid, in_words

    problem = _problem(plan, costs, workers)
    found = KNOWN[costs.optimizer].best(problem) if costs.optimizer else _as_configured(plan, problem)
    options = dict(options_of(found.deployment, len(problem.machine.places)))
    sharing = sharing_of(plan, settings, problem.profile, found.deployment) if costs.optimizer else {}
    options.update(sharing_options(sharing))
    if costs.output is not None:
        costs.output.write_text(_as_config(plan, options), encoding="utf-8")
    if costs.picture is not None:
        costs.picture.write_text(as_mermaid(problem, found), encoding="utf-8")
    if as_json:
        shared = {name: asdict(chosen) for name, chosen in sharing.items()}
        click.echo(json.dumps({**told(found), "sharing": shared, "options": options}, indent=2))
        return
    click.echo("\n".join(in_words(problem, found)))
    if costs.optimizer:
        now = _as_configured(plan, problem).prediction.rate
        click.echo(
            f"as configured: {now:,.0f} a second, so this is {found.prediction.rate / now:.2f} times as fast"
        )
        for name, chosen in sharing.items():
            click.echo(sharing_in_words(name, chosen))
        click.echo(_as_config(plan, options), nl=False)


def _problem(plan: Plan, costs: Costs, workers: int | str | None) -> Problem:
    from framework.model.errors import ProfileError
    from framework.model.topology import Place
    from framework.model.topology import Problem as Mistake
    from framework.optimizer.costs.file import load
    from framework.optimizer.profiling import deployment_of, fixed_tasks, machine_of, shape_of
    from framework.optimizer.search import Problem

    assert costs.profile is not None, "predictions are by a profile"
    cores = costs.cores or len(os.sched_getaffinity(0))
    places = workers if isinstance(workers, int) else cores
    if costs.optimizer is None:
        places = len(deployment_of(plan).places_used())
    shape, profile = shape_of(plan, places), load(costs.profile).profile
    if missing := list(_missing(shape, profile)):
        place = Place(str(costs.profile))
        told = f"which {plan.topology.name} has: make the profile again with viper profile"
        raise ProfileError([Mistake(place, f"found nothing of {what}, {told}") for what in missing])
    return Problem(shape, profile, machine_of(places, cores), fixed_tasks(plan))


def _missing(shape: Shape, profile: Profile) -> Iterator[str]:
    for name in shape.names:
        if name not in profile.components:
            yield f"component {name}"
            continue
        streams = dict.fromkeys(flow.stream for flow in shape.flows if flow.source == name)
        yield from (f"stream {name}/{s}" for s in streams if s not in profile.components[name].streams)


def _as_configured(plan: Plan, problem: Problem) -> Found:
    from framework.optimizer.costs import Machine
    from framework.optimizer.profiling import deployment_of
    from framework.optimizer.search import Found, bound
    from framework.optimizer.search import Problem as Problem_

    deployment = deployment_of(plan)
    places = max(len(deployment.places_used()), len(problem.machine.places))
    wide = Problem_(problem.shape, problem.profile, Machine.of_workers(places, problem.machine.cores))
    return Found(deployment, wide.predicted(deployment), bound(problem), 1)


def _as_config(plan: Plan, options: Any) -> str:
    import yaml

    return f"# A plan for {plan.topology.name}: viper run ... --config FILE\n" + yaml.safe_dump(
        dict(options), sort_keys=False, default_flow_style=None, width=110
    )
