"""Runs of bolts that declare state: on workers of every kind, however parallel, the output is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, TopologyBuilder, ValueState
from framework.model.errors import ComponentError, ConfigError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.durability.state import TaskState
from tests.framework.operators.state.remembering import (
    BatchesPerTask,
    Counts,
    DiesAndRemembers,
    Owns,
    PerTask,
    Raises,
    Remembers,
    Terms,
    Words,
)
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind
from tests.portions import at_every_change

COUNT = 500


def topology(
    bolt: type[Bolt], par: int = 2, grouping: Grouping | None = None, **config: Any
) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("words", Words, kwargs={"count": COUNT})
    builder.set_bolt("bolt", bolt, par, config=config).grouping("words", grouping or Grouping.fields("word"))
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


def output(report: RunReport) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = report.result("sink")
    return found


def words(count: int = COUNT) -> list[list[Any]]:
    return list(Words(count).tuples())


def counted(rows: Sequence[Sequence[Any]]) -> list[tuple[str, int]]:
    """Compute the output of `Counts` for rows, as a dictionary would count them."""
    counts: dict[str, int] = {}
    made = []
    for word, *_ in rows:
        counts[word] = counts.get(word, 0) + 1
        made.append((word, counts[word]))
    return made


@pytest.fixture(scope="module")
def remembered() -> list[tuple[Any, ...]]:
    """The output of `Remembers` if one task has all keys."""
    return output(run_built(topology(Remembers, 1)))


class TestOutput:
    @every_kind
    @pytest.mark.parametrize("par", at_every_change([3, 1, 2, 5]))
    def test_it_does_not_depend_on_the_workers(
        self, par: int, workers: Workers, remembered: list[tuple[Any, ...]]
    ) -> None:
        assert output(workers.run(topology(Remembers, par))) == remembered

    @pytest.mark.few(7)
    @pytest.mark.parametrize(
        "options",
        [
            {"viper__key__groups": 1, "topology__max__task__parallelism": 1},
            {"viper__key__groups": 4},
            {"viper__slice__tuples": 1},
            {"viper__jumbo__size": 1},
            {"viper__channel__jumbos": 1, "viper__channel__tuples": 8, "viper__jumbo__size": 3},
            {"viper__state__bytes": 1 << 20},
            {"viper__scheduling": "random", "viper__seed": 5},
            {"viper__on__error": "skip"},
            {"topology__acker__executors": 0},
        ],
        ids=str,
    )
    def test_it_does_not_depend_on_the_configuration(
        self, options: dict[str, Any], remembered: list[tuple[Any, ...]]
    ) -> None:
        assert output(run_built(topology(Remembers, 3), **options)) == remembered

    @pytest.mark.few(1)
    @pytest.mark.parametrize("groups", [256, 1 << 16])
    def test_it_is_that_of_a_dictionary(self, groups: int) -> None:
        assert output(run_built(topology(Counts, 3), viper__key__groups=groups)) == counted(words())

    @every_kind
    @pytest.mark.parametrize("par", at_every_change([3, 1]))
    def test_several_inputs_share_their_keys(self, par: int, workers: Workers) -> None:
        builder = TopologyBuilder()
        builder.set_spout("words", Words, kwargs={"count": COUNT})
        builder.set_spout("terms", Terms, kwargs={"count": COUNT})
        builder.set_bolt("again", _Again, 2).shuffle_grouping("words")
        declarer = builder.set_bolt("bolt", _OfAny, par).fields_grouping("words", ["word"])
        declarer.fields_grouping("terms", ["term"], stream="terms").fields_grouping("again", ["again"])
        builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
        rows = [[word] for word, _ in words() for _ in range(3)]
        found = output(workers.run(builder))
        assert sorted(found) == sorted(counted(rows))
        assert found == output(run_built(builder))

    @every_kind
    def test_of_all_that_get_a_tuple_its_owner_counts_it(self, workers: Workers) -> None:
        assert output(workers.run(topology(Owns, 3, Grouping.ALL))) == counted(words())

    @every_kind
    def test_state_of_a_task_is_of_all_that_it_gets(self, workers: Workers) -> None:
        found = output(workers.run(topology(PerTask, 1, Grouping.SHUFFLE)))
        assert [held for _, held in found] == [(n, n) for n in range(1, COUNT + 1)]
        found = output(workers.run(topology(PerTask, 3, Grouping.SHUFFLE)))
        assert sorted(held for _, held in found) == sorted((n // 3 + 1, n // 3 + 1) for n in range(COUNT))

    @every_kind
    def test_batch_bolts_have_state_of_their_task(self, workers: Workers) -> None:
        found = output(workers.run(topology(BatchesPerTask, 1)))
        assert [count for _, count in found] == list(range(1, COUNT + 1))


class _Again(Bolt):
    outputs = ["n", "again"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[1], tup.values[0]])


class _OfAny(Bolt):
    """Counts words, wherever they are in its tuples."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([next(v for v in tup.values if isinstance(v, str)), self.seen.value])


class TestExceptions:
    """`Raises` changes everything for a tuple, and then raises at some."""

    @staticmethod
    def expected(at: int) -> list[tuple[Any, ...]]:
        """Compute the output of `Remembers` without the tuples that raise."""
        builder = TopologyBuilder()
        builder.set_spout("words", _Without, kwargs={"count": COUNT}, config={"raise.at": at})
        builder.set_bolt("bolt", Remembers).fields_grouping("words", ["word"])
        builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
        return output(run_built(builder))

    @pytest.mark.few(3)
    @every_kind
    @pytest.mark.parametrize(
        ("choice", "at", "par"),
        at_every_change([("skip", 7, 3), ("restart", 120, 1), ("skip", 7, 1), ("restart", 120, 3)], 2),
    )
    def test_a_tuple_that_raised_has_changed_nothing(
        self, choice: str, at: int, par: int, workers: Workers
    ) -> None:
        options = {"viper__on__error": choice, "raise__at": at, "viper__slice__tuples": 20}
        report = workers.run(topology(Raises, par), topology__acker__executors=0, **options)
        rows = zip(output(report), words(), strict=True)  # what a tuple emits before it raises stays
        assert [row for row, (_, number) in rows if number % at] == self.expected(at)
        raised = len(range(0, COUNT, at))
        assert report.components["bolt"].restarts == (raised if choice == "restart" else 0)

    def test_what_a_batch_has_changed_goes_back_with_it(self) -> None:
        options = {"viper__slice__tuples": 10, "viper__jumbo__size": 10, "topology__acker__executors": 0}
        builder = topology(BatchesPerTask, 1, **{"raise.at": 100, "viper.on.error": "skip"})
        found = output(run_built(builder, **options))
        assert [count for _, count in found] == list(range(1, len(found) + 1))
        assert len(found) == COUNT - 10

    def test_a_restart_says_what_is_left(self, caplog: pytest.LogCaptureFixture) -> None:
        run_built(topology(Raises, 1), viper__on__error="restart", raise__at=400)
        assert "is restarted; only its declared state is left" in caplog.text

    @every_kind
    def test_state_that_cannot_be_pickled_ends_the_run(self, workers: Workers) -> None:
        message = "in process: StateError: state held holds .*which cannot be pickled"
        with pytest.raises(ComponentError, match=message):
            workers.run(topology(_Unpicklable))

    @every_kind
    def test_a_handle_that_is_overwritten_ends_the_run(self, workers: Workers) -> None:
        with pytest.raises(ComponentError, match="_Overwrites declares seen as state and has given the attr"):
            workers.run(topology(_Overwrites))

    def test_a_foreign_key_ends_the_run(self) -> None:
        told = r"and that belongs to another task: where .* ask self\.owns_key first"
        with pytest.raises(ComponentError, match=told):
            run_built(topology(_TakesAll, 3, Grouping.ALL))


class _Without(Words):
    def tuples(self) -> Any:
        return (row for row in super().tuples() if row[1] % self.storm_conf["raise.at"])


class _Unpicklable(Counts):
    held = ValueState()

    def process(self, tup: Any) -> None:
        self.held.value = lambda: tup


class _Overwrites(Counts):
    def process(self, tup: Any) -> None:
        self.seen = 5  # type: ignore[assignment]


class _TakesAll(Counts):
    state_key = "word"


class _Hoards(Bolt):
    """Remembers much of each word, and tells which it could."""

    outputs = ["word", "length"]
    text = ValueState("binary", default=b"")
    any = ValueState(default=b"")

    def process(self, tup: Any) -> None:
        before = len(self.text.value)
        try:
            self.text.value += bytes(4096)
        except MemoryError:
            assert len(self.text.value) == before  # nothing was changed
            raise
        self.emit([tup.values[0], len(self.text.value)])


class TestMemory:
    @every_kind
    def test_a_full_pool_names_the_state_and_the_key(self, workers: Workers) -> None:
        with pytest.raises(ComponentError) as raised:
            workers.run(topology(_Hoards), viper__state__bytes=1 << 20)
        assert "state text has no room for more: raise viper.state.bytes" in str(raised.value)

    def test_the_run_can_go_on_with_a_full_pool(self) -> None:
        options = {"viper__state__bytes": 1 << 20, "viper__on__error": "skip"}
        report = run_built(topology(_Hoards), topology__acker__executors=0, **options)
        assert report.components["bolt"].failed > 0
        lengths: dict[str, int] = {}
        for word, length in output(report):
            assert length == lengths.get(word, 0) + 4096
            lengths[word] = length

    def test_a_machine_without_so_much_memory(self) -> None:
        with pytest.raises(ConfigError, match=r"viper.state.bytes is 17592186044416: expected less, as with"):
            run_built(topology(Counts), viper__state__bytes=1 << 44)

    def test_a_topology_without_state_needs_none(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("words", Words)
        builder.set_bolt("sink", CollectingSink).global_grouping("words")
        run_built(builder, viper__state__bytes=1 << 44)


class TestStatistics:
    @every_kind
    def test_keys_and_bytes(self, workers: Workers) -> None:
        report = workers.run(topology(Counts))
        (found,) = report.statistics.states
        assert (found.component, found.state, found.per, found.keys) == ("bolt", "seen", "key", 40)
        assert found.bytes > 0

    def test_of_tasks(self) -> None:
        report = run_built(topology(PerTask, 2))
        found = [(s.component, s.state, s.per, s.keys) for s in report.statistics.states]
        assert found == [
            *(("bolt:1", "seen", "task", 1), ("bolt:1", "recent", "task", 1)),
            *(("bolt:2", "seen", "task", 1), ("bolt:2", "recent", "task", 1)),
        ]


class TestDeaths:
    """A killed worker's state is as after its last slice; what it had taken and not processed is lost."""

    SLICE = 32

    @pytest.mark.few(2)
    @pytest.mark.parametrize("at", [[0], [100], [100, 250, 400], [499]], ids=str)
    def test_state_is_that_of_whole_slices(self, at: list[int], marks: Path) -> None:
        builder = topology(DiesAndRemembers, 1)
        options = {"die__at": at, "marks": str(marks), "topology__acker__executors": 0}
        report = PROCESSES.run(builder, **options, viper__slice__tuples=self.SLICE)
        assert [incident.state_lost for incident in report.incidents] == [[]] * len(at)
        kept = {state.state: state.keys for state in report.statistics.states}
        found = output(report)
        assert len(found) >= COUNT - 2 * report.lost - len(at) * self.SLICE
        assert kept["seen"] <= 40
        self.check(found)

    @staticmethod
    def check(found: list[tuple[Any, ...]]) -> None:
        """All states of a word say the same of how many tuples they have seen since it was forgotten."""
        for _, held in found:
            seen, _, _, text, _, recent, count, *_ = held
            if seen:
                assert seen == count and len(recent) == min(seen, 3)
                assert text.endswith("".join(map(str, recent)))

    def test_a_state_that_was_not_shared_would_be_found(self, marks: Path) -> None:
        """Planted: a count in an attribute, which is gone with its process."""
        assert max(self.counts(marks / "declared", DiesAndCounts)) >= COUNT - 3 * self.SLICE
        assert max(self.counts(marks / "attribute", DiesAndForgets)) <= COUNT // 2 + self.SLICE

    def test_a_commit_that_was_left_out_would_be_found(self, marks: Path) -> None:
        """Planted: slices that end without a commit, so that the successor takes all of them back."""
        assert max(self.counts(marks / "uncommitted", DiesUncommitted)) <= COUNT // 2 + self.SLICE

    def counts(self, marks: Path, bolt: type[Bolt]) -> list[int]:
        marks.mkdir()
        builder = TopologyBuilder()
        builder.set_spout("words", Words, kwargs={"count": COUNT, "keys": 1})
        builder.set_bolt("bolt", bolt).fields_grouping("words", ["word"])
        builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
        options = {"die__at": [COUNT // 2], "marks": str(marks), "topology__acker__executors": 0}
        report = PROCESSES.run(builder, **options, viper__slice__tuples=self.SLICE)
        return [count for _, count in output(report)]


class DiesAndCounts(DiesAndRemembers, Counts):
    def process(self, tup: Any) -> None:
        Counts.process(self, tup)
        self.die(tup)


class DiesUncommitted(DiesAndCounts):
    def initialize(self, storm_conf: Any, context: Any) -> None:
        TaskState.commit = lambda _: None  # type: ignore[method-assign]  # in its own process


class DiesAndForgets(DiesAndRemembers):
    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.count = 0

    def process(self, tup: Any) -> None:
        self.count += 1
        self.emit([tup.values[0], self.count])
        self.die(tup)
