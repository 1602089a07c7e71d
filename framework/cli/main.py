"""The command ``viper`` and what all its commands share."""

from __future__ import annotations

import os

import click

from framework.cli.checkpoint import checkpoint
from framework.cli.completion import completion
from framework.cli.config import config
from framework.cli.diff import diff
from framework.cli.doctor import doctor
from framework.cli.failures import TRACEBACKS, ViperGroup
from framework.cli.flux import flux
from framework.cli.graph import graph
from framework.cli.init import init
from framework.cli.plan import plan
from framework.cli.profile import profile
from framework.cli.ps import ps
from framework.cli.run import run
from framework.cli.scale import scale
from framework.cli.stacks import stacks
from framework.cli.staged import staged
from framework.cli.state import state
from framework.cli.stop import stop
from framework.cli.top import top
from framework.cli.ui import ui
from framework.cli.validate import validate
from framework.version import VERSION


@click.group(
    cls=ViperGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(VERSION, "-V", "--version", prog_name="viper")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Run Storm topologies written in Python on this machine.

    A TARGET is a topology: path.yaml, path.py, path.py:Name, package.module:Name, or a name in topologies/.
    """
    ctx.meta[TRACEBACKS] = debug
    if os.environ.get("NO_COLOR"):
        ctx.color = False


_RUNNING = (run, ps, top, ui, stop, checkpoint, scale, stacks, state, staged)
_LOOKING = (validate, graph, plan, profile, diff, config, doctor, flux, init, completion)
for _command in (*_RUNNING, *_LOOKING):
    main.add_command(_command)
