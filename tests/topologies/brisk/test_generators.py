"""The input of BriskStream's applications: the same lines from a seed, and parts as of the whole."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.topologies.brisk.cases import NAMES, SPOUTS, part

COUNT = 9_000
every_application = pytest.mark.parametrize("name", NAMES)
DIGESTS = {
    "word_count": "3cd32d4f5fcd32ab",
    "fraud_detection": "601a8998e1ed20a5",
    "spike_detection": "1bdb16601998632e",
    "log_processing": "7eb5bc379fa083d2",
}
"""Of the first lines from seed 1: a generator that draws something else makes runs incomparable."""


def draws_of(name: str, seed: int = 1, **parameters: Any) -> Any:
    return part("brisk.generators").APPLICATIONS[name](seed, **parameters)


def lines_of(name: str, count: int = COUNT, first: int = 0, seed: int = 1, **parameters: Any) -> list[str]:
    return [line for _, lines in draws_of(name, seed, **parameters).lines(count, first) for line in lines]


@every_application
def test_a_seed_draws_the_same_everywhere(name: str) -> None:
    text = "\n".join(lines_of(name))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[name]


@pytest.mark.few(3, daily=True)
@every_application
def test_other_seeds_draw_other_lines(name: str) -> None:
    assert (lines_of(name, seed=2) == lines_of(name)) == (name == "word_count")


@pytest.mark.few(4)
@every_application
@pytest.mark.parametrize(("first", "count"), [(0, 1), (4_095, 2), (4_096, 0), (5_000, 4_000), (1, 8_191)])
def test_a_part_is_as_of_the_whole(name: str, first: int, count: int) -> None:
    portions = list(draws_of(name).lines(count, first))
    numbers = [number for begin, lines in portions for number in range(begin, begin + len(lines))]
    assert numbers == list(range(first, first + count))
    assert [line for _, lines in portions for line in lines] == lines_of(name)[first : first + count]


@every_application
@pytest.mark.parametrize("ending", ["txt", "txt.gz"])
def test_a_file_comes_over_and_over(name: str, ending: str, tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(7)]
    path = tmp_path / f"lines.{ending}"
    data = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(data) if ending == "txt.gz" else data)
    given = {"words": None} if name == "word_count" else {}
    assert lines_of(name, 5_000, 3, path=str(path), **given) == [lines[n % 7] for n in range(3, 5_003)]


def test_a_file_without_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    with pytest.raises(ValueError, match="expected one or more"):
        lines_of("log_processing", path=str(path))


class TestSentences:
    def test_they_have_ten_words_and_are_the_text(self) -> None:
        sentences = lines_of("word_count", 1_000)
        assert all(len(re.findall("[A-Za-z0-9]+", sentence)) == 10 for sentence in sentences)
        verses = lines_of("word_count", 600, words=None)
        words = re.findall("[A-Za-z0-9]+", " ".join(verses))
        assert " ".join(sentences).split() == words[:10_000]

    def test_the_text_is_repeated(self) -> None:
        whole = 31_102  # verses
        again = lines_of("word_count", 10, whole, words=None)
        assert again == lines_of("word_count", 10, words=None)


class TestTransactions:
    def test_entities_and_states_come_evenly(self) -> None:
        rows = [line.split(",") for line in lines_of("fraud_detection", 40_000)]
        assert all(len(entity) == 3 and len(record) == 12 for entity, record, _ in rows)
        states = Counter(state for *_, state in rows)
        # Six times the deviation of a count.
        assert len(states) == 18 and all(abs(count - 40_000 / 18) < 6 * 46 for count in states.values())
        letters = Counter(letter for entity, *_ in rows for letter in entity)
        assert len(letters) == 36 and all(abs(count - 120_000 / 36) < 6 * 57 for count in letters.values())

    def test_the_model_that_is_drawn_is_one(self) -> None:
        markov = part("brisk.markov")
        model, other = markov.drawn(), markov.drawn(2)
        assert len(model.states) == len(set(model.states)) == 18 and model.states[:2] == ("LNL", "LNN")
        assert all(sum(row) == pytest.approx(1) and min(row) > 0 for row in model.rows)
        assert model.rows == markov.drawn().rows != other.rows
        for before in range(18):
            for now in range(18):
                assert model.misses[before][now] == pytest.approx(1 - model.rows[before][now])

    @pytest.mark.parametrize(
        "lines", [["A,B", "0.5,0.5"], ["A,B", "0.5,0.5", "1"], ["A,B", "0.5,0.5", "0.5,0.6"]], ids=str
    )
    def test_what_is_no_model_is_refused(self, tmp_path: Path, lines: list[str]) -> None:
        path = tmp_path / "model"
        path.write_text("\n".join(lines))
        with pytest.raises(ValueError, match=r"numbers in its rows|expected 1"):
            part("brisk.markov").read(str(path))

    @pytest.mark.parametrize("window", [1, 13])
    def test_windows_that_no_number_holds_are_refused(self, window: int) -> None:
        for module in ("brisk.fraud_detection", "brisk.batches"):
            with pytest.raises(ValueError, match="expected 2 to 12"):
                part(module).Predictor(window=window)


class TestReadings:
    def test_each_sensor_reports_in_each_epoch(self) -> None:
        rows = [line.split() for line in lines_of("spike_detection", 5_400)]
        assert all(len(row) == 8 for row in rows)
        epochs = Counter((int(row[2]), row[3]) for row in rows[:4_050])
        assert set(epochs.values()) == {1} and len(epochs) == 4_050
        times = [datetime.fromisoformat(" ".join(row[:2])) for row in rows]
        assert times == sorted(times)
        assert times[54] - times[0] == timedelta(seconds=31)

    def test_some_are_spikes_and_some_broken(self) -> None:
        rows = [line.split() for line in lines_of("spike_detection", devices=1, noise=0.001, broken=0.05)]
        broken = sum(len(row) != 8 for row in rows)
        spikes = sum(abs(float(row[4]) - 21) > 1 for row in rows)
        assert 0.03 < broken / COUNT < 0.07 and 0.005 < spikes / COUNT < 0.02

    def test_a_form_that_is_none_is_refused(self) -> None:
        for module, bolt in (("brisk.spike_detection", "Parser"), ("brisk.batches", "ReadingParser")):
            with pytest.raises(ValueError, match="laboratory or smart_grid"):
                getattr(part(module), bolt)("grid")


class TestRequests:
    def test_they_come_at_a_rate_and_not_quite_in_order(self) -> None:
        form = re.compile(r'\d+\.\d+\.\d+\.\d+ - - \[(.*)\] "GET /page/\d+ HTTP/1.1" (\d+) (\d+|-)')
        found = [form.fullmatch(line) for line in lines_of("log_processing", per_second=5, takes_s=3)]
        rows = [match.groups() for match in found if match]
        assert len(rows) == COUNT
        times = [datetime.strptime(row[0], "%d/%b/%Y:%H:%M:%S %z") for row in rows]
        assert times != sorted(times)
        assert (max(times) - min(times)).total_seconds() == pytest.approx(COUNT / 5, abs=30)
        responses = Counter(row[1] for row in rows)
        assert len(responses) == 7 and responses["200"] > COUNT / 2
        assert all((row[1] == "304") == (row[2] == "-") for row in rows)

    def test_some_are_broken(self) -> None:
        lines = lines_of("log_processing", broken=0.05)
        assert 0.03 < sum(line.endswith('"') for line in lines) / COUNT < 0.07


@pytest.mark.few(1, daily=True)
@every_application
def test_both_forms_of_a_spout_bring_all_lines_at_their_times(name: str) -> None:
    whole = lines_of(name)
    for module in ("brisk.spouts", "brisk.batches"):
        for injectors in (1, 3):
            spout = getattr(part(module), SPOUTS[name])(COUNT, 1, injectors)
            assert spout.partitions == injectors and spout.rows_total == COUNT
            parts = [brought(spout, injector) for injector in range(injectors)]
            assert sorted(row for rows in parts for row in rows) == list(enumerate(whole))
            for injector, rows in enumerate(parts):
                assert [time for time, _ in rows] == list(range(injector, COUNT, injectors))


@pytest.mark.few(1)
@every_application
@pytest.mark.parametrize("module", ["brisk.spouts", "brisk.batches"])
def test_a_part_is_brought_and_held_like_the_whole(name: str, module: str) -> None:
    make = getattr(part(module), SPOUTS[name])
    whole = brought(make(COUNT, 5, 2), 1)
    later = brought(make(COUNT, 5, 2), 1, 5_000)
    assert later == [row for row in whole if row[0] >= 5_000] and len(later) == 2_000
    held = make(COUNT, 5, 2, held=True)
    held.initialize({}, {})
    assert brought(held, 1) == whole


@pytest.mark.few(1)
@every_application
def test_other_data_has_another_name(name: str) -> None:
    given = [(100, 1, 1, {}), (101, 1, 1, {}), (100, 2, 1, {}), (100, 1, 1, {"path": "a file"})]
    spouts = part("brisk.spouts")
    if name == "word_count":
        given[-1] = (100, 1, 1, {"words": 11})
    assert len({getattr(spouts, SPOUTS[name])(*each).identity for each in given}) == len(given)


def brought(spout: Any, injector: int, start_us: int | None = None) -> list[Any]:
    """The lines of an injector with their times."""
    found: list[Any] = []
    for block in spout.blocks(injector, start_us):
        rows = (
            block.rows if isinstance(block.rows, list) else zip(block.rows["line"].to_pylist(), strict=True)
        )
        found += zip(block.times, (line for (line,) in rows), strict=True)
    return found
