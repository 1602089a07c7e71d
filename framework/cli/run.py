"""``viper run``: run a topology to its end."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.debugger import debugger_on_terminal
from framework.cli.exit_codes import ExitCode
from framework.cli.failures import TRACEBACKS
from framework.cli.live_table import LiveTable
from framework.cli.logs import logging_to_stderr, parse_levels, stderr_for_lines
from framework.cli.messages import AS_JSON, note
from framework.cli.opening import Opened, accepted, chosen, open_target
from framework.cli.parameters import RunCommand, parse_names, target_argument, worker_option, workers_option
from framework.cli.progress import ProgressLine, can_animate
from framework.cli.reports import ReportFile, parse_report, report_json
from framework.cli.statistics import statistics_lines
from framework.cli.table import table
from framework.cli.trace import MOST_TREES, Trace, Wanted, parse_wanted
from framework.cli.ui import WebView, listen_option, web_view
from framework.common.prints import prints_to_stderr
from framework.model.errors import ViperError
from framework.operators.components.levels import LEVELS
from framework.operators.log import LogForm, limits_of, log_level

if TYPE_CHECKING:
    from framework.runtime import RunReport

TABLE_FROM_S = 1.0
"""Seconds after which a run shows a table."""

if TYPE_CHECKING:
    from framework.model.config import Settings
    from framework.model.topology import Topology
    from framework.planning import Plan
    from framework.runtime import Progress, RunReport, StopSignal
    from framework.runtime.options import RunOptions
    from framework.web.address import Address


@click.command(cls=RunCommand)
@target_argument
@with_choices
@click.option(
    "-t",
    "--duration",
    "--time",
    "duration_s",
    type=float,
    help="Drain after so many seconds; 0 or less, as for sparse: run on.",
)
@click.option("--max-tuples", type=click.IntRange(min=1), help="Drain when the spouts have emitted so many.")
@worker_option
@workers_option
@click.option("--shell", is_flag=True, help="Run Python components as programs too, as Storm does.")
@click.option(
    "-a", "--ackers", type=click.IntRange(min=0), help="0: do not track tuples (topology.acker.executors)."
)
@click.option("--seed", type=click.IntRange(min=0), help="Run tasks in a random order drawn from this seed.")
@click.option(
    "-d",
    "--debug/--no-debug",
    default=None,
    help="Log every tuple (topology.debug), show tracebacks; -d true and -d false, as for sparse.",
)
@click.option(
    "--log-level",
    "levels",
    multiple=True,
    metavar="[COMPONENT=]LEVEL",
    callback=parse_levels,
    help="Least level that is logged.",
)
@click.option(
    "--log-format",
    type=click.Choice([str(form) for form in LogForm]),
    default=str(LogForm.TEXT),
    help="What a line of the log looks like.",
)
@click.option(
    "--print",
    "printed",
    multiple=True,
    metavar="COMPONENT[/STREAM]",
    help="Print what a component emits to stdout, a line per tuple.",
)
@click.option(
    "--record", type=click.Path(path_type=Path), help="Write down everything that is emitted, and where."
)
@click.option(
    "--trace",
    "wanted",
    multiple=True,
    metavar="FIELD=VALUE",
    callback=parse_wanted,
    help="Follow the tuples that have this value, and show their trees at the end; may be repeated.",
)
@click.option(
    "--trace-limit",
    type=click.IntRange(min=1),
    default=MOST_TREES,
    show_default=True,
    help="Most trees that --trace shows.",
)
@click.option(
    "--replay",
    type=click.Path(exists=True, path_type=Path),
    help="Feed the recorded input again instead of running the spouts.",
)
@click.option(
    "--from",
    "start",
    type=click.Path(exists=True, path_type=Path),
    metavar="CHECKPOINT",
    help="Go on from this checkpoint, or the last one of this folder; or, without what bolts remember, where "
    "the run of this report (--report) had stopped. For spouts that bring partitions.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    callback=parse_names,
    help="With --from CHECKPOINT: what was OLD there is NEW now: a component, or a state (component.state); "
    "may be repeated.",
)
@click.option(
    "--checkpoints",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where the run writes its checkpoints (viper.checkpoint.secs, viper checkpoint, viper stop "
    "--checkpoint); the folder of --from, if that is one.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on from the last checkpoint in --checkpoints, or begin if there is none; if the last run there "
    "has come to its end, do nothing. What drains other runs (Ctrl-C, SIGTERM, viper stop, --duration) "
    "suspends this one, so that the same command goes on.",
)
@click.option(
    "--control",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A folder by which viper scale and viper stop find the run; that of --checkpoints does as well.",
)
@click.option(
    "--statistics", is_flag=True, help="Show at the end what went through each channel, and what waited."
)
@click.option("--ui", is_flag=True, help="Show the run in a browser; prints the address.")
@listen_option("--ui-listen", "As --ui, served there; else it is for this machine, at a port from 8080 on.")
@click.option(
    "--inactive",
    is_flag=True,
    help="Leave the spouts alone until SIGUSR1 activates them; SIGUSR2 deactivates them.",
)
@click.option("-q", "--quiet", is_flag=True, help="Neither progress nor summary.")
@click.option(
    "--report",
    metavar="FILE",
    callback=parse_report,
    help="Write the report as JSON; the file appears, or is replaced, at the end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON to stdout, after the data.")
@click.pass_context
def run(
    ctx: click.Context,
    /,
    target: str | None,
    choices: Choices,
    duration_s: float | None,
    max_tuples: int | None,
    shell: bool,
    levels: Mapping[str | None, int],
    log_format: str,
    printed: Sequence[str],
    record: Path | None,
    wanted: Sequence[Wanted],
    trace_limit: int,
    replay: Path | None,
    start: Path | None,
    rename: Mapping[str, str],
    checkpoints: Path | None,
    resume: bool,
    control: Path | None,
    statistics: bool,
    ui: bool,
    ui_listen: Address | None,
    inactive: bool,
    quiet: bool,
    report: ReportFile | None,
    as_json: bool,
    debug: bool | None,
    **shortcuts: Any,
) -> None:
    """Run TARGET until its spouts have ended, or Ctrl-C.

    Stdout is for what the topology's sinks write; progress and the summary go to stderr. The first Ctrl-C
    drains: spouts stop, and what is in flight is finished. With --resume it suspends. The second one stops
    at once.
    """
    from framework.optimizer.planned import planned
    from framework.recording import time_of
    from framework.runtime.durability.checkpoints.last_run import reason_against_resuming
    from framework.runtime.options import RunOptions

    if resume and (reason := reason_against_resuming(checkpoints, start, rename, max_tuples)):
        raise click.UsageError(reason)
    ctx.meta[TRACEBACKS] |= bool(debug)
    ctx.meta[AS_JSON] = log_format == LogForm.JSON
    choices = changed(choices, options={**time_of(replay), **choices.options})
    choices = choices.also(_as_options(debug=debug, **shortcuts))
    trace = Trace(wanted, trace_limit)
    with ExitStack() as stack:
        if report is not None:
            stack.enter_context(report.telling_failure())
        with prints_to_stderr():
            opened = open_target(*chosen(target, choices))
            opened = _as_programs(opened) if shell else opened
            topology = accepted(opened, to_run=True)
            trace.check(topology)
            plan = planned(_printing(topology, printed), opened.settings)
        view = stack.enter_context(web_view(ui_listen, wanted=ui))
        record = stack.enter_context(trace.recording(record))
        stack.enter_context(trace.telling(record))
        done = _watched(
            plan,
            opened.settings,
            _levels(plan, levels),
            LogForm(log_format),
            quiet,
            view,
            RunOptions(
                duration_s=duration_s if duration_s is not None and duration_s > 0 else None,
                max_tuples=max_tuples,
                record=record,
                replay=replay,
                inactive=inactive,
                start=start,
                rename=rename,
                checkpoints=checkpoints,
                resume=resume,
                control=control,
            ),
        )
    if not quiet:
        note("\n".join(summary_lines(done)))
    if statistics:
        note("\n".join(statistics_lines(done.statistics)))
    for file in filter(None, (report, ReportFile("-") if as_json else None)):
        file.write(report_json(done))
    is_whole = done.drained and not (done.lost or done.again)
    ctx.exit(ExitCode.OK if is_whole else ExitCode.FAILED)


def _as_programs(opened: Opened) -> Opened:
    """The same with Python components as programs; a warning for each that is none."""
    from framework.frontends.multilang.as_programs import as_programs

    if opened.topology is None or opened.errors:
        return opened
    made = as_programs(opened.topology)
    return changed(opened, topology=made.topology, problems=(*opened.problems, *made.stayed))


def _printing(topology: Topology, printed: Sequence[str]) -> Topology:
    """The topology with a console for each stream that is to be printed."""
    from framework.operators.sinks import ConsoleSink
    from framework.recording.tap import tapped

    for component, stream in dict.fromkeys(_stream_named(topology, name) for name in printed):
        topology = tapped(topology, component, ConsoleSink, stream, looks_on=True)
    return topology


def _stream_named(topology: Topology, name: str) -> tuple[str, str]:
    """Component and stream of ``COMPONENT[/STREAM]``; an id may hold a slash itself."""
    from framework.model.topology import DEFAULT_STREAM

    component, _, stream = name.rpartition("/")
    if not component or any(known.id == name for known in topology.components):
        return name, DEFAULT_STREAM
    return component, stream


def _watched(
    plan: Plan,
    settings: Settings,
    levels: Mapping[str, int],
    form: LogForm,
    quiet: bool,
    view: WebView | None,
    options: RunOptions,
) -> RunReport:
    """Run a plan with its progress and its log on stderr; where it fails, say what it has done so far."""
    from framework.runtime import Run, StopSignal
    from framework.runtime.coordination.registry import registered
    from framework.runtime.coordination.signals import active_by_signals

    animated = can_animate(sys.stderr) and form is LogForm.TEXT
    line, stop = ProgressLine(stderr_for_lines(form), animated=animated), StopSignal()
    watch = _Watch(line, stop, click.get_current_context())
    log = logging_to_stderr(levels, line.giving_way, form, limits_of(settings))
    found = registered(plan.topology.name, options.control)
    with line.sharing(), log, debugger_on_terminal(line.hidden), active_by_signals(stop), found as folder:
        told = None if quiet else watch.show
        running = Run(plan, settings, changed(options, control=folder), stop=stop, on_progress=told)
        watch.table = LiveTable(running.look) if animated else None
        try:
            with view.beside(folder) if view is not None else nullcontext():
                return running.execute()
        except ViperError:
            if running.report is not None and not quiet:
                line.clear()
                note("\n".join(summary_lines(running.report)))
            raise


def _as_options(
    *, worker: str | None, workers: int | str | None, ackers: int | None, seed: int | None, debug: bool | None
) -> Mapping[str, Any]:
    """The configuration that options stand for; None where one was not given."""
    return {
        "viper.worker": worker,
        "topology.workers": workers,
        "topology.acker.executors": ackers,
        "viper.seed": seed,
        "viper.scheduling": None if seed is None else "random",
        "topology.debug": debug,
    }


def _levels(plan: Plan, said: Mapping[str | None, int]) -> dict[str, int]:
    """The level of each component's logger, and of all others."""
    from framework.model.topology import unknown
    from framework.operators.components.component import LOGGER_PREFIX

    for component in filter(None, said):
        if component not in plan.confs:
            raise click.UsageError(f"--log-level: {unknown('component', component, plan.confs)}")
    levels = {"": said.get(None, LEVELS["info"])}
    for component, conf in plan.confs.items():
        level = said.get(component, said.get(None, log_level(conf)))
        levels[f"{LOGGER_PREFIX}.{component}"] = level
    return levels


class _Watch:
    """Shows progress, and says once that a stop has been asked for; called from the run's observer."""

    def __init__(self, line: ProgressLine, stop: StopSignal, context: click.Context) -> None:
        self._line = line
        self._stop = stop
        self._context = context
        self._told = False
        self.table: LiveTable | None = None
        """The table that is shown below the line; None without a terminal."""

    def show(self, progress: Progress) -> None:
        from framework.runtime import StopReason

        # Each thread has contexts of its own, and this one says how messages look.
        with self._context.scope(cleanup=False):
            suspends = self._stop.wants_suspension
            is_asked = suspends or self._stop.reason is StopReason.INTERRUPTED
            if is_asked and not (self._told or progress.done):
                self._told = True
                with self._line.giving_way():
                    note(f"{'suspending' if suspends else 'draining'}; Ctrl-C again stops at once")
            self._line.show(progress, self._below(progress))

    def _below(self, progress: Progress) -> Sequence[str]:
        """Short runs have no table, as nobody could read it."""
        if self.table is None or progress.done or progress.elapsed_s < TABLE_FROM_S:
            return ()
        return self.table.lines(progress.elapsed_s)


def summary_lines(report: RunReport) -> Iterator[str]:
    """The end of a run as lines of text."""
    yield report.headline
    for lines in (table(*report.counts()), report.facts(), report.warnings(), report.of_checkpoints()):
        yield from (f"  {line}" for line in lines)
