"""Windows by key: words counted in windows beside Bytewax, and how the cost of a word grows with the overlap.

The words of a stream come at even distances in event time. They are counted in windows of 60 seconds, which
tumble or slide by 10, as columns and as rows. The figures are CPU time of one process per word in
nanoseconds, from the first word to the last window: the best of so many rounds, in which all take turns. All
windows are checked against a plain loop, also those of the peer. Its windows take single items, as rows do.

Then windows slide by so many times less than their size. Each window of each key that has a word is an
output, so with more of them per word there is more to do: outputs are printed beside the words.

At last they are counted in days, without a zone and with one, which has the same days.

    python -m benchmarks.windows [--peer PYTHON] [--words N] [--rounds N]

The peer needs a Python that has it: ``make build/peers/bytewax/.installed`` makes one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from framework import Spout, TopologyBuilder
from framework.frontends.streams import AggregateWindow
from framework.model.config import resolve
from framework.model.topology import Stream
from framework.operators.sinks import Sink
from framework.planning import make_plan
from framework.runtime import run

AT_ONCE = 16_384
SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
BYTEWAX = Path("build/peers/bytewax/bin/python")


@dataclass(frozen=True)
class Input:
    """Words at even distances, and the windows that they are counted in."""

    words: int
    keys: int
    step_us: int
    size_us: int
    advance_us: int

    def of(self, first: int, end: int) -> tuple[list[str], range]:
        """Some of the words, and their times."""
        words = [f"word{number * 7919 % self.keys}" for number in range(first, end)]
        return words, range(first * self.step_us, end * self.step_us, self.step_us)

    @lru_cache(maxsize=4)  # noqa: B019  # a process has a few
    def expected(self) -> tuple[int, int]:
        """The number of windows, and a digest of them, by a plain loop."""
        counts: Counter[tuple[str, int]] = Counter()
        for word, time_us in zip(*self.of(0, self.words), strict=True):
            start = (time_us - self.size_us) // self.advance_us * self.advance_us + self.advance_us
            while start <= time_us:
                counts[word, start] += 1
                start += self.advance_us
        return len(counts), sum(digest(*window, count) for window, count in counts.items())


def digest(word: str, start: int, count: int) -> int:
    """Of a window."""
    return zlib.crc32(word.encode()) * (start + count)


class Words(Spout):
    """Emits the words, which are made before the clock starts."""

    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "us"}
    begun_s = 0.0

    def __init__(self, made: Input, *, columns: bool) -> None:
        super().__init__()
        self._made = made
        self._columns = columns

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """A word and its time."""
        schema = {"word": "string not null", "time": "int64 not null"}
        return [Stream(schema=schema) if self._columns else Stream(list(schema))]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Make them."""
        words, times = self._made.of(0, self._made.words)
        self._words: list[Any] = list(zip(words, times, strict=True))
        if self._columns:
            batches = [slice(first, first + AT_ONCE) for first in range(0, len(words), AT_ONCE)]
            self._words = [
                pa.record_batch({"word": pa.array(words[part]), "time": np.array(times[part])})
                for part in batches
            ]

    def tuples(self) -> Iterator[Any]:
        """The words, each by itself or in batches."""
        Words.begun_s = time.process_time()
        yield from self._words


class Windows(Sink):
    """Takes note of the windows."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """None yet."""
        self._count = self._digest = 0

    def consume(self, rows: Any) -> None:
        """Note some."""
        self._count += len(rows)
        self._digest += sum([digest(word, start, count) for word, start, _, count in rows])

    def result(self) -> Any:
        """The number of windows, and their digest."""
        return self._count, self._digest


def ours(made: Input, *, columns: bool, zone: str | None = None) -> float:
    """CPU nanoseconds per word; ends the program if a window is wrong."""
    builder = TopologyBuilder()
    builder.set_spout("words", Words(made, columns=columns))
    form: dict[str, Any] = {"size": made.size_us}
    if made.advance_us < made.size_us:
        form["advance"] = made.advance_us
    if zone is not None:
        form = {name: f"{length // DAY_US}d" for name, length in form.items()} | {"zone": zone}
    operator = AggregateWindow({"n": ["count"]}, ["word", "time"], bounds=True, **form)
    builder.set_bolt("windows", operator).fields_grouping("words", ["word"])
    builder.set_bolt("sink", Windows).global_grouping("windows")
    topology = builder.build("windows")
    settings, problems = resolve(topology, options={"viper.worker": "inline"})
    assert not problems, problems
    Words.begun_s = 0.0
    report = run(make_plan(topology, settings), settings)
    return _checked(made, time.process_time() - Words.begun_s, *report.result("sink"))


def bytewax(made: Input, python: Path) -> float:
    """Likewise."""
    given = [str(number) for number in vars(made).values()]
    program = Path(__file__).parent / "peers/programs/windows_on_bytewax.py"
    said = subprocess.run([python, program, *given], check=True, capture_output=True, text=True)
    return _checked(made, *json.loads(said.stdout.splitlines()[-1]))


def _checked(made: Input, seconds: float, count: int, digested: int) -> float:
    if (count, digested) != made.expected():
        raise SystemExit(f"{made}: {count} windows, expected {made.expected()[0]}, or others than these")
    return seconds / made.words * 1e9


def beside_the_peer(words: int, python: Path, rounds: int) -> Iterator[Mapping[str, Any]]:
    """Words in windows of 60 seconds, for few keys and for many."""
    for keys, count in ((100, words), (20_000, words // 5)):
        for advance in (60, 10):
            made = Input(count, keys, 200 * SECOND_US // count, 60 * SECOND_US, advance * SECOND_US)
            found: dict[str, list[float]] = {"columns": [], "rows": [], "bytewax": []}
            for _ in range(rounds):
                found["columns"].append(ours(made, columns=True))
                found["rows"].append(ours(made, columns=False))
                if python.exists():
                    found["bytewax"].append(bytewax(made, python))
            best = {way: round(min(taken)) for way, taken in found.items() if taken}
            ratios = {
                f"bytewax to {way}": round(best["bytewax"] / best[way], 1)
                for way in ("columns", "rows") if "bytewax" in best
            }
            windows = round(made.expected()[0] / made.words, 2)
            yield {"keys": keys, "advance_s": advance, "windows_per_word": windows, **best, **ratios}


def by_overlap(words: int, rounds: int) -> Iterator[Mapping[str, Any]]:
    """The cost of a word where a window has 2, 10 and 60 advances, with 20 words of a key in each, or one."""
    for each in (20, 1):
        for columns in (True, False):
            costs = {}
            for overlap in (2, 10, 60):
                advance_us = 100 * each * 1000
                made = Input(words, 100, 1000, overlap * advance_us, advance_us)
                costs[overlap] = min(ours(made, columns=columns) for _ in range(rounds))
            yield {
                "words_of_a_key_per_advance": each,
                "as": "columns" if columns else "rows",
                "ns": {overlap: round(cost) for overlap, cost in costs.items()},
                "60 to 2": round(costs[60] / costs[2], 2),
            }


def in_days(words: int, rounds: int) -> Iterator[Mapping[str, Any]]:
    """Words in days, and in the last seven days of each; a day has 2,000 words or 20."""
    for each, count in ((2_000, words), (20, words // 20)):
        for days in (1, 7):
            made = Input(count, 100, DAY_US // each, days * DAY_US, DAY_US)
            for columns in (True, False):
                found: dict[str, list[float]] = {"plain": [], "zone": []}
                for _ in range(rounds):
                    found["plain"].append(ours(made, columns=columns))
                    found["zone"].append(ours(made, columns=columns, zone="UTC"))
                best = {way: round(min(taken)) for way, taken in found.items()}
                way = "columns" if columns else "rows"
                yield {"words_of_a_day": each, "days": days, "as": way, **best}


def main() -> None:
    """Measure all, and print it as JSON, a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peer", type=Path, default=BYTEWAX, help="a Python that has Bytewax")
    parser.add_argument("--words", type=int, default=200_000, help="words of a measurement")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the best counts")
    given = parser.parse_args()
    for line in by_overlap(given.words, given.rounds):
        print(json.dumps(line), flush=True)
    for line in beside_the_peer(given.words, given.peer, given.rounds):
        print(json.dumps(line), flush=True)
    for line in in_days(given.words, given.rounds):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
