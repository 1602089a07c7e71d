"""The arguments of programs that measure plans of a target."""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from benchmarks.planner.candidates import Target
from framework.frontends.loading import load_any

TARGET = str(Path(__file__).parents[2] / "topologies" / "wordcount.yaml")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Have a parser take a target, options of its configuration, the number of workers, and a seed."""
    parser.add_argument("target", nargs="?", default=TARGET, help="as of viper run (wordcount.yaml)")
    parser.add_argument("-o", "--option", action="append", default=[], help="KEY=VALUE, as of viper run")
    parser.add_argument("--workers", type=int, default=2, help="of plans (2)")
    parser.add_argument("--seed", type=int, default=1, help="of plans that are drawn (1)")


def given_target(given: argparse.Namespace) -> Target:
    """The target of parsed arguments."""
    topology = load_any(given.target).topology
    assert topology is not None, given.target
    options = {key: yaml.safe_load(value) for key, _, value in (one.partition("=") for one in given.option)}
    return Target(topology, options, given.workers)


def command_of(given: argparse.Namespace) -> list[str]:
    """The arguments of ``viper`` that run it."""
    return ["run", given.target, *(text for one in given.option for text in ("-o", one))]
