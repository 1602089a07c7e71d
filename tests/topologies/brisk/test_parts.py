"""What the applications are made of beside bolts: words in columns, rows by key, and places of addresses."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from framework.testing import run_bolt
from tests.topologies.brisk.cases import part


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


def test_a_transaction_of_no_form_is_told(path: None) -> None:
    for module, bolt in (("brisk.fraud_detection", "Parser"), ("brisk.batches", "TransactionParser")):
        with pytest.raises(ValueError, match="transaction 'no commas': expected entity,record,state"):
            run_bolt(getattr(part(module), bolt), [["no commas"]], schema={"line": "string not null"})


@pytest.mark.parametrize("record", ["r,XYZ", "LNL", "r,", ""])
def test_a_transaction_with_an_unknown_state_is_told(path: None, record: str) -> None:
    schema = dict.fromkeys(("entity", "record"), "string not null")
    for module in ("brisk.fraud_detection", "brisk.batches"):
        predictor = part(module).Predictor
        with pytest.raises(ValueError, match=f"record '{record}': expected record,state"):
            run_bolt(predictor, [["e", "r,LNL"], ["e", record]], schema=schema, key=["entity"])
