"""The parts of the applications beside bolts: words in columns, rows by key, and locations of addresses."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from framework.testing import run_bolt
from tests.topologies.brisk.cases import NAMES, ODD, Case, part

LINE = {"line": "string not null"}


def drawn_texts(chance: random.Random) -> list[str]:
    letters = "ab_Z9 '.,-\u00e9\u4e2d\U0001f600\t"
    return ["".join(chance.choices(letters, k=chance.randrange(9))) for _ in range(chance.randrange(12))]


@pytest.mark.parametrize("first_seed", range(0, 300, 100))
def test_words_in_columns_are_those_of_each_text(path: None, first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 100):
        chance = random.Random(seed)
        texts = drawn_texts(chance)
        # A part of a column has its texts somewhere within the memory.
        before, behind = drawn_texts(chance), drawn_texts(chance)
        column = pa.array(before + texts + behind, pa.string())[len(before) : len(before) + len(texts)]
        words, ends = part("brisk.columns").words_of(column)
        words.validate(full=True)
        found = [re.findall(r"\w+", text, re.ASCII) for text in texts]
        assert words.to_pylist() == [word for each in found for word in each], f"seed {seed}"
        assert list(ends) == list(np.cumsum([0, *map(len, found)])[1:]), f"seed {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_the_rows_of_each_key(path: None, seed: int) -> None:
    chance = random.Random(seed)
    slots = [chance.randrange(4) for _ in range(chance.randrange(1, 12))]
    runs = part("brisk.columns").Runs(np.array(slots))
    of_keys = {key: [row for row, each in enumerate(slots) if each == key] for key in sorted(set(slots))}
    assert runs.order.tolist() == [row for rows in of_keys.values() for row in rows]
    assert runs.lengths.tolist() == list(map(len, of_keys.values()))
    assert runs.nth.tolist() == [nth for rows in of_keys.values() for nth in range(len(rows))]
    assert runs.order[runs.firsts].tolist() == [rows[0] for rows in of_keys.values()]
    assert runs.order[runs.lasts()].tolist() == [rows[-1] for rows in of_keys.values()]
    assert runs.keys(pa.array(slots)).to_pylist() == list(of_keys)
    assert runs.in_rows(runs.order).tolist() == list(range(len(slots)))


def place_of(networks: Any, address: int) -> tuple[str, str] | None:
    found = [each for each in networks if address >> 32 - each[1] == each[0] >> 32 - each[1]]
    return max(found, key=lambda each: each[1])[2:] if found else None


@pytest.mark.parametrize("seed", range(3))
def test_an_address_is_where_its_smallest_network_is(path: None, seed: int) -> None:
    module, chance = part("brisk.networks"), random.Random(seed)
    networks = module.drawn(seed, count=200, reach=100)
    places = module.Places(networks)
    at = [0, 2**32 - 1, *(chance.randrange(2**32) for _ in range(200))]
    for first, bits, *_ in networks:
        at += [first - 1, first, first + (1 << 32 - bits) - 1, first + (1 << 32 - bits)]
    wanted = [place_of(networks, address) for address in at]
    assert [places.find(address) for address in at] == wanted
    assert wanted.count(None) > 20


@pytest.mark.parametrize("module", ["brisk.log_processing", "brisk.batches"])
def test_bolts_find_the_ends_of_networks(path: None, module: str) -> None:
    networks, chance = part("brisk.networks").drawn(5), random.Random(5)
    at = []
    for first, bits, *_ in chance.sample(networks, 150):
        at += [first, first + (1 << 32 - bits) - 1]
    wanted = [place for place in (place_of(networks, address) for address in at) if place is not None]
    texts = [[".".join(map(str, address.to_bytes(4)))] for address in at]
    # Numbers that are too large, and would lie in a network if they were carried over.
    texts += [[f"{first}.256.3.4"] for first in range(1, 50)] + [["7.2.300.4"], ["8.2.3.999"], ["256.0.0.0"]]
    bolt = part(module).Geography(seed=5)
    assert run_bolt(bolt, texts, schema={"address": "string not null"}).emitted() == wanted
    assert len(wanted) == 300


def test_the_table_has_networks_of_all_sizes(path: None) -> None:
    networks = part("brisk.networks").drawn()
    assert {bits for _, bits, *_ in networks} == set(range(8, 25))
    assert all(first % (1 << 32 - bits) == 0 for first, bits, *_ in networks)
    assert len({network[:2] for network in networks}) == len(networks)
    assert networks == part("brisk.networks").drawn(1) != part("brisk.networks").drawn(2)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.2.3.4", 0x01020304), ("255.255.255.255", 2**32 - 1), ("0.0.0.0", 0), ("010.0.0.1", 0x0A000001)]
    + [
        (text, None)
        for text in ("", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.x", "1.2.3.-4", "1..2.3", "::1")
    ]
    + [("1.2.3.0004", None), ("1.2.3.\u0664", None)],
)
def test_addresses_as_numbers(path: None, text: str, number: int | None) -> None:
    assert part("brisk.networks").number_of(text) == number
    columns = part("brisk.log_batches").Geography
    found = run_bolt(columns, [[text]], schema={"address": "string not null"})
    place = None if number is None else place_of(part("brisk.networks").drawn(), number)
    assert found.emitted() == ([] if place is None else [place])


PARSERS = {
    "word_count": ("Parser", "LineParser"),
    "fraud_detection": ("Parser", "TransactionParser"),
    "spike_detection": ("Parser", "ReadingParser"),
    "log_processing": ("Parser", "RequestParser"),
}


def parsed(name: str, lines: list[str], **options: Any) -> list[Any]:
    """Run both parsers of an application on lines, and return their output."""
    one, many = (
        run_bolt(getattr(part(module), bolt), [[line] for line in lines], schema=LINE, **options).emitted()
        for module, bolt in zip((f"brisk.{name}", "brisk.batches"), PARSERS[name], strict=True)
    )
    assert one == many
    return one


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("most_rows", [None, 1, 7])
def test_parsers_of_both_forms_are_alike(cases: Mapping[str, Case], name: str, most_rows: int | None) -> None:
    lines = cases[name].lines[:1_500] + list(ODD[name])
    found = parsed(name, lines, most_rows=most_rows)
    assert len(lines) * 0.9 < len(found) <= len(lines)


@pytest.mark.parametrize(
    ("line", "reading"),
    [
        ("2004-03-01 10:00:00.5 1 7 20.25 1 2 3", ("7", 1078135200_500000, 20.25)),
        (" 2004-03-01\t10:00:00 1 a -1e3 1 2 3", ("a", 1078135200_000000, -1000.0)),
        ("2004-03-01 10:00:00.1234567 1 7 20.25 1 2 3", ("7", 1078135200_123456, 20.25)),
        ("2004-03-01 10:00:00+02:00 1 7 20.25 1 2 3", None),
        ("2004-03-01 10:00:00 1 7 twenty 1 2 3", None),
        ("2004-02-30 10:00:00 1 7 20.25 1 2 3", None),
        ("2004-03-01 10:00:00 1 7 20.25 1 2", None),
        ("", None),
    ],
)
def test_readings(path: None, line: str, reading: Any) -> None:
    assert parsed("spike_detection", [line]) == ([] if reading is None else [reading])


@pytest.mark.parametrize(
    ("line", "reading"),
    [
        ("1377986401 68.5 0 11 2 3", ("3-2-11-0", 1377986401_000000, 68.5)),
        ("1377986401 x 0 11 2 3", None),
        ("1377986401 68.5 0 11 2", None),
    ],
)
def test_readings_of_a_smart_grid(path: None, line: str, reading: Any) -> None:
    made = parsed("spike_detection", [line], kwargs={"form": "smart_grid"})
    assert made == ([] if reading is None else [reading])


NOON = 1431864000
"""In seconds, that of the requests below in UTC."""


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        (
            '1.2.3.4 - - [17/May/2015:12:00:00 +0000] "GET / HTTP/1.1" 200 12',
            (NOON, "GET / HTTP/1.1", 200, 12),
        ),
        ('1.2.3.4 x y [17/May/2015:14:00:59 +0200] "G" 304 - "from" "by"', (NOON + 59, "G", 304, 0)),
        ('1.2.3.4 - - [17/May/2015:12:00:00 +0000] "a" 200 17" 500 3', (NOON, 'a" 200 17', 500, 3)),
        ('1.2.3.4 - - [17/May/2015:12:00:00 +0000] "a" b" 500 3', (NOON, 'a" b', 500, 3)),
        ('1.2.3.4 - - [17/May/2015:12:00:00] "G" 200 1', None),
        ('1.2.3.4 - - [17/May/2015:25:00:00 +0000] "G" 200 1', None),
        ('1.2.3.4 - - [17/May/2015:12:00:00 +0000] "G" 20 1', None),
        ('1.2.3.4 - [17/May/2015:12:00:00 +0000] "G" 200 1', None),
        ("", None),
    ],
)
def test_requests(path: None, line: str, request_: Any) -> None:
    found = parsed("log_processing", [line])
    if request_ is None:
        assert found == []
        return
    time, request, response, size = request_
    assert found == [("1.2.3.4", time, NOON // 60, NOON // 60 % 60, request, response, size)]


def test_a_transaction_of_no_form_is_told(path: None) -> None:
    for module, bolt in (("brisk.fraud_detection", "Parser"), ("brisk.batches", "TransactionParser")):
        with pytest.raises(ValueError, match="transaction 'no commas': expected entity,record,state"):
            run_bolt(getattr(part(module), bolt), [["no commas"]], schema=LINE)


@pytest.mark.parametrize("record", ["r,XYZ", "LNL", "r,", ""])
def test_a_transaction_with_an_unknown_state_is_told(path: None, record: str) -> None:
    schema = dict.fromkeys(("entity", "record"), "string not null")
    for module in ("brisk.fraud_detection", "brisk.batches"):
        predictor = part(module).Predictor
        with pytest.raises(ValueError, match=f"record '{record}': expected record,state"):
            run_bolt(predictor, [["e", "r,LNL"], ["e", record]], schema=schema, key=["entity"])


def test_what_is_just_at_a_threshold_is_not_told(path: None, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.write_text("A,B\n0.25,0.75\n0.5,0.5\n")
    transactions = [["e", "1,A"], ["e", "2,A"], ["e", "3,B"], ["e", "4,B"]]
    records = dict.fromkeys(("entity", "record"), "string not null")
    readings = {"device": "string not null", **dict.fromkeys(("average", "value"), "float64 not null")}
    for module in ("brisk.fraud_detection", "brisk.batches"):
        given = {"model": str(model), "window": 2, "threshold": 0.5}
        predictor = run_bolt(
            part(module).Predictor, transactions, schema=records, key=["entity"], kwargs=given
        )
        assert predictor.emitted() == [("e", 0.75, "A,A")]
    for module in ("brisk.spike_detection", "brisk.batches"):
        far = [["d", 10.0, 12.5], ["d", 10.0, 12.75], ["d", 10.0, 7.5], ["d", 10.0, 7.25]]
        detector = run_bolt(part(module).Detector, far, schema=readings, kwargs={"threshold": 0.25})
        assert [value for _, _, value, _ in detector.emitted()] == [12.75, 7.25]
