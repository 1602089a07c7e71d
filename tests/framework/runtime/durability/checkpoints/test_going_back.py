"""Values that live in their process: a run whose process dies goes back to its last checkpoint.

What transactional sinks have written then is what an undisturbed run writes, byte for byte.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder, ValueState
from framework.model.errors import CheckpointError, ComponentError, WorkerError
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink, JsonLinesSink, SqliteSink
from framework.runtime import Run, RunOptions, RunReport, run
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.durability.checkpoints.last_run import FILE
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.workers.going_back import GoneBackError
from framework.runtime.workers.handle import Phase, WorkerHandle
from framework.runtime.workers.restarts import RestartPolicy
from tests.framework.runtime.durability.checkpoints.mortal import Dying, Source, Table, planned, rows
from tests.framework.runtime.durability.checkpoints.suspended import Awaiting, suspending
from tests.framework.runtime.durability.checkpoints.test_states import Remember
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import chained, run_built
from tests.framework.runtime.workers.test_ends_of_runs import killing
from tests.portions import at_every_change

COUNT = 300
NEAR = {"viper__channel__tuples": 32, "viper__channel__jumbos": 8, "viper__jumbo__size": 4}
CALM = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "round-robin", "kills": 0}
SPREAD = {"source": 1, "remember": 2, "table": 3, "file": 3}
PLANT = "GOING_BACK_PLANT"
"""The environment variable that has worker processes forget to write values at the cut."""


class Living(Dying, Bolt):
    """Emits what it remembers of a key, in values that live in its process."""

    outputs = ["key", "told"]
    chain: Any = ValueState(durable="checkpoint")
    numbers: Any = ValueState(default=[], durable="checkpoint")
    seen: Any = ValueState(default={}, durable="checkpoint", per="task")
    count = ValueState("int64", default=0)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if os.environ.get(PLANT):
            ComponentSlot.save = lambda self, *, commit=False: None  # type: ignore[method-assign]
        super().initialize(storm_conf, context)

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        self.count.value += 1
        self.chain.value = chained(self.chain.value or 0, f"{partition}:{number}")
        self.numbers.value.append(number)
        if len(self.numbers.value) > 20:
            self.numbers.clear()
        self.seen.value[key] = self.seen.value.get(key, 0) + 1
        told = [self.chain.value, self.numbers.value[-3:], self.seen.value[key], self.count.value]
        self.emit([key, repr(told)])


def built(
    folder: Path,
    spout: Partitions,
    sources: int = 2,
    bolts: int = 2,
    remember: type[Bolt] = Living,
    table: type[Table] = Table,
) -> TopologyBuilder:
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("remember", remember, bolts).fields_grouping("source", "key")
    told = table(str(folder / "told.db"), "told", ["key", "told"])
    builder.set_bolt("table", told).global_grouping("remember")
    builder.set_bolt("file", JsonLinesSink(str(folder / "told.jsonl"))).global_grouping("remember")
    return builder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], bytes]:
    """The output of the sinks of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    run(*planned(built(folder, Source(4, COUNT, 1), 1), folder, 0, **CALM), checkpoints=folder / "kept")
    return rows(folder)


def run_killed(folder: Path, seed: int, at: int, every: int, **options: Any) -> RunReport:
    """A run with killed workers that makes checkpoints every so many rows."""
    builder = built(folder, Source(4, COUNT, 1, os.getpid(), at, every))
    made = Run(
        *planned(builder, folder, seed, **{**NEAR, **options}), RunOptions(checkpoints=folder / "kept")
    )
    with suspending(made, goes_on=True):
        return made.execute()


AMONG = [(among, seed) for seed in range(1, 13) for among in ("checkpoints", "all")]


@pytest.mark.few(1)
@pytest.mark.parametrize(("among", "seed"), at_every_change(AMONG, 4))
def test_a_run_goes_back_as_often_as_its_processes_die(
    tmp_path: Path, whole: tuple[list[Any], bytes], among: str, seed: int
) -> None:
    bits = 4 if among == "checkpoints" else 9
    report = run_killed(tmp_path, seed, 20, 60, kill__among=among, kill__bits=bits)
    assert report.reason is StopReason.EXHAUSTED and report.incidents
    assert report.statistics.repeats.went_back and report.lost == 0
    assert rows(tmp_path) == whole


@pytest.mark.parametrize("phase", [Phase.READY, Phase.RAN])
def test_it_goes_back_before_it_runs_and_when_its_tasks_have_ended(
    phase: Phase, tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    """Values live in worker 2 alone; at the end, others may have applied and finished what comes again."""
    builder = built(tmp_path, Source(4, COUNT, 1), 1, 1)
    options = {**NEAR, "viper__placement": SPREAD, "kills": 0}
    made = Run(*planned(builder, tmp_path, 0, **options), RunOptions(checkpoints=tmp_path / "kept"))
    with killing(phase, lambda worker: worker.number == 2 and made._attempts.went_back == 0) as dead:
        report = made.execute()
    assert dead == [2] and report.statistics.repeats.went_back == 1
    assert rows(tmp_path) == whole
    assert json.loads((tmp_path / "kept" / FILE).read_text(encoding="utf-8"))["ended"] == "exhausted"


class AwaitingFile(Awaiting):
    """Keeps its last rows back until a sink has written what the first checkpoint covers."""

    def __init__(self, file: str, *awaiting: int) -> None:
        super().__init__(*awaiting)
        self._file = Path(file)

    def is_there(self) -> bool:
        return is_written(self._file)


def is_written(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def die_once(conf: dict[str, Any]) -> None:
    """Kill this process, unless one was killed: after the first checkpoint, or at once."""
    mark = Path(conf["marks"]) / "doomed"
    file = Path(conf["kept"]).with_name("told.jsonl.part")
    if not mark.exists() and (not conf["dies.behind"] or is_written(file)):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Doomed(Living):
    """Its process dies once: when a sink has written to its file, or at its first tuple."""

    def process(self, tup: Any) -> None:
        die_once(self.storm_conf)
        super().process(tup)


def run_doomed(folder: Path, *, behind: bool, max_tuples: int | None = None, **options: Any) -> RunReport:
    """A run whose process with values dies once, as `Doomed` does."""
    source = AwaitingFile(str(folder / "told.jsonl.part"), 4, COUNT, 1, os.getpid(), 20, 20)
    builder = built(folder, source, 1, 1, Doomed)
    chosen = {"kept": str(folder / "kept"), "dies__behind": behind, "viper__placement": SPREAD, "kills": 0}
    made = Run(
        *planned(builder, folder, 0, **{**NEAR, **chosen, **options}),
        RunOptions(checkpoints=folder / "kept", max_tuples=max_tuples),
    )
    with suspending(made, goes_on=True, margin_s=0.00005):
        report = made.execute()
    assert (folder / "marks" / "doomed").exists()
    return report


@pytest.mark.few(1)
@pytest.mark.parametrize("recovery", ["exact", "best"])
@pytest.mark.parametrize("behind", [True, False])
def test_where_it_goes_back_to(
    tmp_path: Path,
    whole: tuple[list[Any], bytes],
    caplog: pytest.LogCaptureFixture,
    behind: bool,
    recovery: str,
) -> None:
    with caplog.at_level(logging.WARNING):
        report = run_doomed(tmp_path, behind=behind, viper__recovery=recovery)
    assert rows(tmp_path) == whole
    (told,) = (record.getMessage() for record in caplog.records if "gone back to" in record.getMessage())
    assert told.endswith("its beginning") is not behind
    assert f"{tmp_path}/kept/checkpoint-0" in told or not behind
    (incident,) = report.incidents
    assert incident.worker == 2 and not incident.lost and not incident.state_lost
    repeats = report.statistics.repeats
    assert (repeats.deaths, repeats.went_back, repeats.slices) == (1, 1, 0)


class Replaced(Remember):
    """Declares state that survives its process, which dies once."""

    def process(self, tup: Any) -> None:
        die_once(self.storm_conf)
        super().process(tup)


class ReplacedTable(Table):
    """Its process dies once."""

    def consume(self, rows: Any) -> None:
        die_once(self.storm_conf)
        super().consume(rows)


class ReplacedSource(AwaitingFile):
    """Its process dies once."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            if block and block.rows and block.rows[-1][1] > 10:
                die_once(self.storm_conf)
            yield block


def run_replaced(folder: Path, dies: str, *, behind: bool, **arguments: Any) -> RunReport:
    """A run in which no values live, of which one process dies once, with ``viper.recovery: best``."""
    spout = ReplacedSource if dies == "source" else AwaitingFile
    source = spout(str(folder / "told.jsonl.part"), 4, COUNT, 1, os.getpid(), 20, 20)
    builder = built(
        folder,
        source,
        1,
        1,
        Replaced if dies == "remember" else Remember,
        ReplacedTable if dies == "table" else Table,
    )
    options = {"kept": str(folder / "kept"), "dies__behind": behind, "viper__placement": SPREAD, "kills": 0}
    chosen = {**NEAR, **options, "viper__recovery": "best"}
    made = Run(*planned(builder, folder, 0, **chosen), RunOptions(checkpoints=folder / "kept", **arguments))
    with suspending(made, goes_on=True, margin_s=0.00005):
        report = made.execute()
    assert (folder / "marks" / "doomed").exists()
    return report


def noted(folder: Path) -> str:
    """The end of the last run, as its folder tells it."""
    return str(json.loads((folder / "kept" / FILE).read_text(encoding="utf-8"))["ended"])


@pytest.mark.few(1)
@pytest.mark.parametrize("dies", ["remember", "table", "source"])
@pytest.mark.parametrize("behind", [True, False])
def test_one_that_is_to_be_resumed_goes_back_for_every_process(
    tmp_path: Path, behind: bool, dies: str
) -> None:
    (tmp_path / "whole").mkdir()
    undisturbed = built(tmp_path / "whole", Partitions(4, COUNT, 1), 1, 1, Remember, SqliteSink)
    run(*planned(undisturbed, tmp_path / "whole", 0, **CALM), checkpoints=tmp_path / "whole" / "kept")
    report = run_replaced(tmp_path, dies, behind=behind, resume=True)
    assert (report.reason, report.lost, report.statistics.repeats.went_back) == (StopReason.EXHAUSTED, 0, 1)
    assert rows(tmp_path) == rows(tmp_path / "whole")
    assert noted(tmp_path) == "exhausted"


def test_a_run_that_has_ended_without_what_it_lost_is_not_whole(tmp_path: Path) -> None:
    """Not to be resumed, it continues; its folder says so, and nothing begins where rows are missing."""
    report = run_replaced(tmp_path, "remember", behind=True)
    assert report.reason is StopReason.EXHAUSTED and report.lost > 0
    assert noted(tmp_path) == "incomplete"
    before = rows(tmp_path)
    kept = tmp_path / "kept"
    for arguments in ({"resume": True, "checkpoints": kept}, {"start": kept}):
        builder = built(tmp_path, Partitions(4, COUNT, 1), 1, 1, Remember)
        made = Run(*planned(builder, tmp_path, 0, **CALM), RunOptions(**arguments))  # type: ignore[arg-type]
        with pytest.raises(CheckpointError, match="without tuples that it had lost with worker processes"):
            made.execute()
    assert rows(tmp_path) == before and noted(tmp_path) == "incomplete"


def test_a_limit_of_tuples_holds_for_all_attempts_together(
    tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    report = run_doomed(tmp_path, behind=True, max_tuples=4 * COUNT - 40)
    assert report.reason is StopReason.MAX_TUPLES and report.statistics.repeats.went_back == 1
    told, lines = rows(tmp_path)
    assert told == whole[0][: len(told)] and whole[1].startswith(lines)
    assert report.emitted < len(told) < 4 * COUNT - 40


def run_planted(folder: Path, whole: tuple[list[Any], bytes]) -> bool:
    """True if a run with a bug shows it."""
    try:
        run_doomed(folder, behind=True)
    except ComponentError:
        return True
    return rows(folder) != whole


def test_values_that_are_not_written_at_the_cut_show(
    tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks above can fail."""
    monkeypatch.setenv(PLANT, "yes")
    assert run_planted(tmp_path, whole)


def test_a_run_that_goes_back_too_far_shows(
    tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Likewise."""
    set_out = Run._set_out

    def set_out_anew(self: Run) -> None:
        self._start = None
        set_out(self)

    monkeypatch.setattr(Run, "_set_out", set_out_anew)
    assert run_planted(tmp_path, whole)


class Doomless(Table):
    """Its process, in which no values live, dies once."""

    def consume(self, rows: Any) -> None:
        mark = Path(self.storm_conf["marks"]) / "doomed"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().consume(rows)


def test_the_run_does_not_go_back_for_other_processes(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    builder = built(tmp_path, Source(4, COUNT, 1, os.getpid(), 20, 20), 1, 1, table=Doomless)
    options = {"viper__placement": SPREAD, "kills": 0}
    made = Run(
        *planned(builder, tmp_path, 0, **{**NEAR, **options}), RunOptions(checkpoints=tmp_path / "kept")
    )
    with suspending(made, goes_on=True):
        report = made.execute()
    repeats = report.statistics.repeats
    assert (repeats.deaths, repeats.went_back, repeats.slices) == (1, 0, 1)
    assert rows(tmp_path) == whole


def test_a_run_that_is_being_suspended_does_not_go_back(tmp_path: Path) -> None:
    plan, settings = planned(
        built(tmp_path, Partitions(4, COUNT, 1), 1, 1), tmp_path, 0, viper__placement=SPREAD
    )
    network = Network.create(plan, settings)
    gone: Any = SimpleNamespace(exitcode=-signal.SIGKILL, pid=1)
    worker = WorkerHandle(2, ["remember:2"], gone, gone, network.black_box(1))
    worker.reached(Phase.READY)
    restarts = RestartPolicy(plan, settings, network, NO_RECORDING)
    restarts.run_begins()
    error = restarts.died(1, worker, aborted=False, suspended=True)
    assert "the run was being suspended: go on from the last checkpoint" in str(error)
    assert not isinstance(error, GoneBackError) and not restarts.incidents
    assert isinstance(restarts.died(1, worker, aborted=False), GoneBackError)
    assert len(restarts.incidents) == 1 and not restarts.is_awaited


class Deadly(Living):
    """Its process dies at its first tuple, each time."""

    def process(self, tup: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_each_time_ends_the_run(tmp_path: Path) -> None:
    builder = built(tmp_path, Partitions(4, COUNT, 1), 1, 1, Deadly)
    options = {"viper__placement": SPREAD, "kills": 0, "viper__worker__restart__tries": 2}
    made = Run(*planned(builder, tmp_path, 0, **options), RunOptions(checkpoints=tmp_path / "kept"))
    memory = weakref.ref(made._memory)
    with pytest.raises(WorkerError, match="does not go back once more, as it has done so 2 times within"):
        made.execute()
    assert made.report is not None and made.report.statistics.repeats.went_back == 2
    assert made.report.reason is StopReason.FAILED
    assert memory() is None  # or the next attempt has no room


def test_refused_where_it_could_not_go_back(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(4, COUNT, 1))
    builder.set_bolt("remember", Living).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("remember")
    told = r"remember\.chain, remember\.numbers, remember\.seen: durable='checkpoint'"
    with pytest.raises(CheckpointError, match=f"{told} in a run without checkpoints: give it a folder"):
        run_built(builder)
    with pytest.raises(CheckpointError, match=f"{told}: a run that is recorded or replayed cannot go back"):
        run_built(builder, {"checkpoints": tmp_path / "kept", "record": tmp_path / "record"})


def test_a_stop_that_is_taken_back() -> None:
    stop, calls = StopSignal(), [0]
    wake = lambda: calls.append(1)  # noqa: E731
    stop.listen(wake)
    stop.abort()
    stop.unlisten(wake)
    stop.revive()
    assert (stop.aborted, stop.reason, stop.at_s, calls) == (False, None, None, [0, 1])
    stop.abort()
    stop.request(StopReason.SUSPENDED)  # of which nothing is left
    stop.request(StopReason.DURATION)
    stop.revive()
    assert (stop.aborted, stop.reason, calls) == (False, StopReason.DURATION, [0, 1])
    stop.abort()
    stop.revive()
    assert stop.reason is StopReason.DURATION and not stop.aborted
