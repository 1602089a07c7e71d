"""`assert_deterministic`: it finds what shows how a topology is run, and is content with what does not."""

from __future__ import annotations

import random
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, Topology
from framework.model.errors import ComponentError, TopologyError
from framework.testing import assert_deterministic
from framework.testing.determinism import Variant, variants
from tests.framework.counted_words import LINES, Count, Lines, Split


class WordCount(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par=3)


class Misgrouped(Topology):
    """Counts words wherever they happen to come."""

    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs=[split], par=3)


class Global(Bolt):
    """Numbers tuples by a variable that its tasks share where they share a process."""

    outputs = ["word", "number"]
    number = 0

    def process(self, tup: Any) -> None:
        Global.number += 1
        self.emit([tup.values.word, Global.number])


class Shared(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    number = Global.spec(inputs={split: Grouping.fields("word")}, par=2)


class Dice(Spout):
    outputs = ["number"]

    def tuples(self) -> Any:
        yield [random.random()]


class Random(Topology):
    dice = Dice.spec()


class Silent(Bolt):
    def process(self, tup: Any) -> None: ...


class Nothing(Topology):
    lines = Lines.spec()
    silent = Silent.spec(inputs=[lines], par=2)


HERE = ("inline", "thread")


def test_what_is_deterministic_passes_in_every_variant() -> None:
    compared = assert_deterministic(WordCount, seeds=range(6))
    assert len(compared.variants) == 3 * 3 + 6
    words = [word for line in LINES for word in line.split()]
    assert compared.tuples == len(LINES) + 2 * len(words)


def test_state_that_is_not_grouped_is_found_with_what_it_descends_from() -> None:
    with pytest.raises(AssertionError) as found:
        assert_deterministic(Misgrouped, inputs={"lines": [["a a b"]]}, workers=HERE, seeds=[])
    assert str(found.value).splitlines() == [
        "count/default differs in its tuple 2",
        "A: ('a', 2) of task 1, parallelism 1, inline workers",
        "     from ('a',) of split, output 2 of its input",
        "     from ('a a b',) of lines, partition 0",
        "B: ('a', 1) of task 2, parallelism 2, inline workers",
        "     from ('a',) of split, output 2 of its input",
        "     from ('a a b',) of lines, partition 0",
        "to repeat it: parallelism=[1, 2], workers=['inline'], seeds=[]",
    ]


def test_what_schedules_show_is_found_by_a_seed() -> None:
    with pytest.raises(AssertionError, match=r"number/default differs(.|\n)*seed \d+(.|\n)*seeds=\[\d+\]"):
        assert_deterministic(Shared, parallelism=[2], workers=["inline"], seeds=range(20))


def test_a_spout_that_brings_other_rows_each_time_is_named_itself() -> None:
    with pytest.raises(AssertionError, match=r"dice/default differs in its tuple 1"):
        assert_deterministic(Random, workers=HERE)


def test_only_the_bolts_that_are_named_are_scaled() -> None:
    class Once(Topology):
        lines = Lines.spec()
        split = Split.spec(inputs=[lines], par=2)
        count = Count.spec(inputs=[split])

    for scaled in (None, ["split"], []):
        assert_deterministic(Once, scaled=scaled, workers=["inline"], seeds=[])
    with pytest.raises(AssertionError, match="count/default differs"):
        assert_deterministic(Once, scaled=["count"], workers=["inline"], seeds=[])


def test_nothing_that_was_emitted_is_no_success() -> None:
    with pytest.raises(AssertionError, match="has emitted anything to be compared"):
        assert_deterministic(Nothing, inputs={"lines": []}, workers=["inline"])


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown bolt 'splt'"):
        assert_deterministic(WordCount, scaled=["splt"])
    with pytest.raises(ValueError, match=r"unknown kind of worker 'threads'.*did you mean 'thread'"):
        assert_deterministic(WordCount, workers=["threads"])
    with pytest.raises(ValueError, match="expected some numbers from 1 on"):
        assert_deterministic(WordCount, parallelism=[])
    with pytest.raises(TopologyError, match="unknown spout 'line'"):
        assert_deterministic(WordCount, inputs={"line": []})


def test_errors_and_spouts_that_never_end_are_told() -> None:
    with pytest.raises(ComponentError, match="component 'split'"):
        assert_deterministic(WordCount, inputs={"lines": [[1]]}, workers=["inline"])

    class Endless(Spout):
        outputs = ["n"]

        def next_tuple(self) -> None:
            self.emit([1])

    class Flood(Topology):
        endless = Endless.spec()

    with pytest.raises(TimeoutError, match=r"has not ended within 0\.1 s \(parallelism 1, inline workers\)"):
        assert_deterministic(Flood, workers=["inline"], timeout_s=0.1)
    assert (
        assert_deterministic(Flood, workers=["inline"], parallelism=[1], seeds=[1], max_tuples=5).tuples == 5
    )


def test_the_variants_are_the_same_each_time_and_vary_what_they_say() -> None:
    assert variants([1, 2], ["inline"], [7, 8]) == [
        Variant(1, "inline"),
        Variant(2, "inline"),
        Variant(1, "inline", 7),
        Variant(2, "inline", 8),
    ]
    assert Variant(1, "inline", 7).conf() == Variant(1, "inline", 7).conf()
    assert Variant(1, "process").conf() == {"viper.worker": "process", "topology.workers": 2}
