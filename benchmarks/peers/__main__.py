"""``python -m benchmarks.peers``: measure, and write tables and figures."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

import click

from benchmarks.peers.alternation import Measured, measure
from benchmarks.peers.entries import Entry
from benchmarks.peers.figure import to_svg
from benchmarks.peers.registry import EXPERIMENTS, Experiment
from benchmarks.peers.table import to_markdown

BUILD = Path(__file__).parents[2] / "build" / "peers"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-e", "--experiment", "names", multiple=True, type=click.Choice(list(EXPERIMENTS)), help="(all)"
)
@click.option(
    "-s", "--system", "patterns", multiple=True, metavar="PATTERN", help="By names such as 'ViperStorm*'."
)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1), help="Runs of each entry.")
@click.option("--quick", is_flag=True, help="Small inputs and one round: shows that everything works.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of experiments and systems.")
@click.option(
    "--output", default=BUILD / "results", show_default="build/peers/results", type=click.Path(path_type=Path)
)
@click.option("--environments", default=BUILD, show_default="build/peers", type=click.Path(path_type=Path))
def main(
    names: Sequence[str],
    patterns: Sequence[str],
    rounds: int,
    quick: bool,
    only_list: bool,
    output: Path,
    environments: Path,
) -> None:
    """Run workloads on ViperStorm and on peers in alternation.

    The whole takes some 45 minutes, and `-e alike` 15, on a machine that should do nothing else. Peers are
    those that `make bench-peers` has installed. The tables are printed, and written to the output folder
    beside figures and all single runs. The exit status is 1 if a run of ours failed or had a wrong result.
    """
    chosen = [(EXPERIMENTS[name], wanted(EXPERIMENTS[name], patterns)) for name in names or EXPERIMENTS]
    chosen = [(experiment, entries) for experiment, entries in chosen if entries]
    if not chosen:
        raise click.UsageError(f"no system is called like {' or '.join(patterns)}; --list prints their names")
    if only_list:
        click.echo("\n".join(listed(chosen)))
        return
    output.mkdir(parents=True, exist_ok=True)
    troubles: list[str] = []
    for experiment, entries in chosen:
        measured = measure(
            experiment,
            entries,
            rounds=1 if quick else rounds,
            quick=quick,
            environments=environments,
            say=lambda line: click.echo(line, err=True),
        )
        click.echo(write(experiment, measured, output))
        troubles += [
            f"{experiment.label(one.entry)}: {one.trouble}"
            for one in measured
            if one.trouble and not one.is_peer
        ]
    if troubles:
        raise click.ClickException("; ".join(troubles))


def listed(chosen: Iterable[tuple[Experiment, Sequence[Entry]]]) -> Iterator[str]:
    """A line for each experiment, and below it one for each system in each of its settings."""
    for experiment, entries in chosen:
        yield f"{experiment.name}: {experiment.title}"
        names = [entry.name if experiment.axis else experiment.label(entry) for entry in entries]
        yield from (f"    {name}" for name in dict.fromkeys(names))


def wanted(experiment: Experiment, patterns: Sequence[str]) -> Sequence[Entry]:
    """The entries whose system, or system and setting, match one of the patterns; all if there are none."""
    return [
        entry
        for entry in experiment.entries
        if not patterns
        or any(fnmatchcase(name, pattern) for name in (entry.system, entry.name) for pattern in patterns)
    ]


def write(experiment: Experiment, measured: Sequence[Measured], folder: Path) -> str:
    """Write the results of an experiment as a table, a figure and JSON into a folder; returns the table.

    Pairs have no figure.
    """
    table = to_markdown(experiment, measured)
    (folder / f"{experiment.name}.md").write_text(table, encoding="utf-8")
    if not experiment.pairs:
        (folder / f"{experiment.name}.svg").write_text(to_svg(experiment, measured), encoding="utf-8")
    runs = json.dumps([asdict(one) for one in measured], indent=1)
    (folder / f"{experiment.name}.json").write_text(runs + "\n", encoding="utf-8")
    return table


def _leave(number: int, frame: object) -> NoReturn:
    """Leave as by Ctrl-C, so that the program that runs is ended and its folder removed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _leave)
    sys.exit(main(prog_name="python -m benchmarks.peers"))
