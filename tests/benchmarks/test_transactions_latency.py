"""The benchmark of delays of transactions runs, and its percentiles are those of when events were due."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.transactions.delays import Delays, load, percentiles, picture, save, table
from benchmarks.transactions.latency import LedgerEvents, Since

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow  # seven runs, each in a process of its own
def test_both_applications_are_measured_in_one_process(tmp_path: Path) -> None:
    output = tmp_path / "latency.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks.transactions.latency",
        "-o",
        str(output),
        "--place",
        "inline",
    ]
    command += ["--rounds=1", "--seconds=0.3", "--events=3000", "--gather", "64"]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    found = load(output)
    assert [(each.application, each.way) for each in found] == [
        (application, way)
        for application in ("streaming_ledger", "grep_sum")
        for way in ("at once, gathers 64", "punctuation of 500")
    ]
    for each in found:
        assert 0 < each.ms["p50"][0] <= each.ms["p99"][0] <= each.ms["p99.9"][0]
        assert each.rate == each.highest / 2 > 0
    assert len(ran.stdout.splitlines()) == 2 + 2 + len(found)


def test_events_are_due_on_schedule_and_a_punctuation_keeps_them_together() -> None:
    events = [(number, True) for number in range(3)]
    came = [row for row in LedgerEvents(events, 7, 1e9, 4).tuples() if row is not None]
    assert [due - came[0][0] for due, *_ in came] == list(range(7))
    free = [row for row in LedgerEvents(events, 5, 0, 1).tuples() if row is not None]
    assert [due for due, *_ in free] == sorted(due for due, *_ in free) and len(free) == 5
    # At a thousand a second, nothing comes before the fourth one is due.
    waiting = LedgerEvents(events, 4, 1000, 4).tuples()
    assert next(waiting) is None


def test_delays_count_from_when_an_event_was_due() -> None:
    sink = Since()
    sink.consume([(0, True), (1000, False)])
    late_ns, at_ns = sink.result()
    assert late_ns[0] - late_ns[1] == 1000 and at_ns[0] == at_ns[1] == late_ns[0]


def test_percentiles_aims_and_pictures(tmp_path: Path) -> None:
    ms = percentiles([number * 1_000_000 for number in range(1000)])
    assert ms == {"p50": 500, "p99": 990, "p99.9": 999}
    fast = Delays("grep_sum", "inline", "fast", 2.0, 1.0, {name: [1.9] for name in ms})
    slow = Delays("grep_sum", "inline", "slow", 2.0, 1.0, {name: [2.0, 2.5, 1.5] for name in ms})
    save(tmp_path / "latency.json", [fast, slow])
    assert load(tmp_path / "latency.json") == [fast, slow]
    assert [row.split("|")[-2].strip() for row in table([fast, slow])[4:]] == ["yes (2)", "no (2)"]
    texts = {each.text for each in ElementTree.fromstring(picture([fast, slow])).iter()}
    assert {"fast", "slow", "p99.9"} <= texts
