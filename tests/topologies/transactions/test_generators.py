"""The input of the transactional applications: its distributions, and parts as of the whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

NAMES = ("grep_sum", "streaming_ledger", "online_bidding", "toll_processing")
every_application = pytest.mark.parametrize("name", NAMES)


def events_of(generators: Any, name: str, seed: int = 1, **parameters: Any) -> Any:
    return generators.APPLICATIONS[name](seed, **parameters)


def rows(
    generators: Any, name: str, count: int, first: int = 0, seed: int = 1, **parameters: Any
) -> list[Any]:
    return list(events_of(generators, name, seed, **parameters).tuples(count, first))


class TestDrawing:
    @pytest.mark.parametrize("skew", [0, 0.2, 0.6, 1])
    def test_numbers_come_by_zipfs_law(self, drawing: Any, skew: float) -> None:
        count, drawn = 50, 200_000
        found = drawing.Zipf(count, skew).draw(np.random.default_rng(4), drawn)
        shares = np.array([1 / number**skew for number in range(1, count + 1)])
        expected = drawn * shares / shares.sum()
        seen = np.bincount(found, minlength=count)
        assert len(seen) == count
        # Six times the deviation of a count.
        assert (abs(seen - expected) <= 6 * np.sqrt(expected)).all()

    @pytest.mark.parametrize(("count", "skew"), [(0, 0.5), (5, -0.1), (5, 1.1)])
    def test_what_is_no_law_is_refused(self, drawing: Any, count: int, skew: float) -> None:
        with pytest.raises(ValueError, match="expected"):
            drawing.Zipf(count, skew)

    @pytest.mark.parametrize(("share", "length"), [(0, 4), (0.25, 4), (1, 2), (1, 8)])
    def test_so_many_transactions_name_so_many_partitions(
        self, drawing: Any, share: float, length: int
    ) -> None:
        access = drawing.Access(800, 0.6, 8, share, length)
        keys = drawing.Keys(access, 10).draw(np.random.default_rng(5), 4_000, 10)
        partitions = [len(set(row)) for row in (keys % 8).tolist()]
        assert set(partitions) <= {1, length}
        assert partitions.count(length) / 4_000 == pytest.approx(share, abs=0.03)
        evenly = Counter((keys[:, 0] % 8).tolist())
        assert min(evenly.values()) > 400 and keys.min() >= 0 and keys.max() < 800

    def test_records_of_a_partition_come_by_zipfs_law(self, drawing: Any) -> None:
        keys = drawing.Keys(drawing.Access(40, 1.0, 4), 1).draw(np.random.default_rng(6), 100_000, 1)
        seen = np.bincount(keys[:, 0] // 4)
        assert seen / seen[0] == pytest.approx([1 / rank for rank in range(1, 11)], rel=0.1)

    def test_keys_are_distinct_where_they_must_be(self, drawing: Any) -> None:
        access = drawing.Access(48, 1.0, 4, 0.5)
        keys = drawing.Keys(access, 12)
        drawn = keys.draw(np.random.default_rng(7), 2_000, 12)
        before = drawn.copy()
        assert any(len(set(row)) < 12 for row in before.tolist())
        after = keys.distinct(drawn)
        assert all(len(set(row)) == 12 for row in after.tolist())
        assert (after % 4 == before % 4).all() and after.max() < 48
        kept = [len(set(row)) == 12 for row in before.tolist()]
        assert (after[kept] == before[kept]).all()
        alike = drawing.Keys(drawing.Access(48, 1.0, 4, 0.5, distinct=False), 12)
        assert (alike.distinct(before.copy()) == before).all()

    @pytest.mark.parametrize(
        "given",
        [
            {"partitions": 3},
            {"partitions": 0},
            {"multiple_share": 1.5},
            {"multiple_length": 17},
            {"multiple_length": 0},
        ],
        ids=str,
    )
    def test_access_that_cannot_be_is_refused(self, drawing: Any, given: Any) -> None:
        with pytest.raises(ValueError, match="expected"):
            drawing.Access(**given)

    def test_partitions_must_have_enough_records(self, drawing: Any) -> None:
        with pytest.raises(ValueError, match="11 distinct records out of 10"):
            drawing.Keys(drawing.Access(40, partitions=4), 11)


class TestEvents:
    @pytest.mark.few(1)
    @every_application
    def test_a_seed_draws_the_same_once_more(self, generators: Any, name: str) -> None:
        assert rows(generators, name, 300) == rows(generators, name, 300)
        assert rows(generators, name, 300) != rows(generators, name, 300, seed=2)

    @every_application
    def test_any_part_is_that_of_the_whole(self, generators: Any, name: str) -> None:
        chunk = generators.CHUNK
        whole = rows(generators, name, 2 * chunk + 10)
        assert len(whole) == 2 * chunk + 10
        assert [row[0] for row in whole] == list(range(len(whole)))
        for first, count in (
            (0, 1),
            (5, 100),
            (chunk - 1, 2),
            (chunk, chunk),
            (chunk + 1, chunk + 9),
            (7, 0),
        ):
            assert rows(generators, name, count, first) == whole[first : first + count]
        assert whole[:chunk] != [(row[0] - chunk, *row[1:]) for row in whole[chunk : 2 * chunk]]

    @every_application
    def test_arrays_are_the_tuples(self, generators: Any, name: str) -> None:
        events, found = events_of(generators, name), list[Any]()
        for arrays in events.arrays(5_000):
            for place in range(len(arrays["event"])):
                row = list[Any]()
                for field in events.fields:
                    value = arrays[field][place].tolist()
                    if field in events.lists:
                        value = tuple(value[: arrays[events.lists[field]][place]])
                    row.append(value)
                found.append(tuple(row))
        assert found == list(events.tuples(5_000))

    @every_application
    def test_values_are_those_of_python(self, generators: Any, name: str) -> None:
        for row in rows(generators, name, 200):
            for value in row:
                assert type(value) in (int, bool, tuple)
                assert type(value) is not tuple or all(type(each) is int for each in value)

    def test_what_is_no_parameter_is_refused(self, generators: Any) -> None:
        with pytest.raises(TypeError, match="skew"):
            events_of(generators, "grep_sum", skew=0.6)


class TestGrepSum:
    @pytest.mark.parametrize("reads", [0.0, 0.5, 0.9, 1.0])
    def test_events_read_or_write_ten_distinct_records(self, generators: Any, reads: float) -> None:
        found = rows(generators, "grep_sum", 4_000, reads=reads)
        assert sum(row[1] for row in found) / 4_000 == pytest.approx(reads, abs=0.03)
        for _, is_read, keys, values in found:
            assert len(keys) == len(set(keys)) == 10 and all(0 <= key < 10_000 for key in keys)
            assert len(values) == (0 if is_read else 10)

    def test_a_quarter_of_them_names_four_partitions(self, generators: Any) -> None:
        partitions = [len({key % 16 for key in row[2]}) for row in rows(generators, "grep_sum", 4_000)]
        assert set(partitions) == {1, 4}
        assert partitions.count(4) / 4_000 == pytest.approx(0.25, abs=0.03)


class TestStreamingLedger:
    def test_half_of_them_are_transfers_from_one_account_to_another(self, generators: Any) -> None:
        found = rows(generators, "streaming_ledger", 4_000)
        assert sum(row[1] for row in found) / 4_000 == pytest.approx(0.5, abs=0.03)
        for _, transfers, account, asset, to_account, to_asset, amount, assets in found:
            assert 0 <= account < 10_000 and 0 <= asset < 10_000
            assert 0 <= amount < 10_000 and 0 <= assets < 1_000
            if transfers:
                assert account != to_account >= 0 and asset != to_asset >= 0
            else:
                assert (to_account, to_asset) == (-1, -1)

    def test_transfers_may_be_to_oneself(self, generators: Any) -> None:
        access = {"records": 8, "partitions": 2, "distinct": False, "multiple_length": 2}
        found = rows(generators, "streaming_ledger", 500, access=access)
        assert any(row[2] == row[4] for row in found) and any(row[3] == row[5] for row in found)

    def test_so_many_transfers_are_of_more_than_anybody_has(self, generators: Any) -> None:
        found = rows(generators, "streaming_ledger", 8_000, refused=0.2, transfers=0.8)
        large = [row[6] == generators.FORTUNE for row in found if row[1]]
        assert len(large) / 8_000 == pytest.approx(0.8, abs=0.03)
        assert sum(large) / len(large) == pytest.approx(0.2, abs=0.03)
        assert all(row[6] < 10_000 for row in found if not row[1])


class TestOnlineBidding:
    def test_of_eight_six_are_bids(self, generators: Any) -> None:
        found = rows(generators, "online_bidding", 8_000)
        kinds = Counter(row[1] for row in found)
        assert [kinds[kind] / 8_000 for kind in range(3)] == pytest.approx([0.75, 0.125, 0.125], abs=0.02)
        for _, kind, bidder, token, items, values in found:
            assert token == bidder * 7919 and 1 <= bidder <= 1_000
            assert (len(items), len(values)) == ((1, 2) if kind == 0 else (20, 20))
            assert len(set(items)) == len(items)
            if kind == 0:
                assert 0 <= values[0] < 100 and 1 <= values[1] <= 20
            else:
                assert all(0 <= value < 100 if kind == 1 else 1 <= value <= 5 for value in values)

    def test_so_many_tokens_are_not_right(self, generators: Any) -> None:
        found = rows(generators, "online_bidding", 4_000, forged=0.3)
        wrong = sum(token != bidder * 7919 for _, _, bidder, token, _, _ in found)
        assert wrong / 4_000 == pytest.approx(0.3, abs=0.03)


class TestTollProcessing:
    def test_reports_come_from_a_hundred_segments(self, generators: Any) -> None:
        found = rows(generators, "toll_processing", 50_000)
        seen = Counter(row[2] for row in found)
        assert set(seen) == set(range(100))
        assert seen[0] / seen[99] == pytest.approx(100**0.2, rel=0.3)
        assert {row[1] for row in found} == set(range(1_000)) and {row[3] for row in found} == set(range(80))
