"""The plain loops that the applications are compared with: what they tell, and that each rule counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.topologies.brisk import reference
from tests.topologies.brisk.cases import SEED, Case, part
from tests.topologies.brisk.reference import FraudRules, LogProcessing, LogRules, SpikeRules, WordRules

MUTATED: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "word_count": (
        WordRules(),
        {
            "letters": None,
            "keeps_case": False,
            "apart": False,
            "first": 0,
        },
    ),
    "fraud_detection": (
        FraudRules(),
        {
            "window": 4,
            "threshold": 0.95,
            "by_entity": False,
            "waits": False,
            "forwards": False,
            "misses": False,
            "average": False,
        },
    ),
    "spike_detection": (
        SpikeRules(),
        {
            "window": 999,
            "threshold": 0.031,
            "by_device": False,
            "with_new": False,
            "both_ways": False,
            "relative": False,
            "wants_all": False,
        },
    ),
    "log_processing": (
        LogRules(),
        {
            "minutes": 61,
            "as_published": True,
            "zones": False,
            "seconds": 61,
            "by_response": False,
            "smallest": False,
            "by_country": False,
            "dashes": False,
        },
    ),
}
RULES = [(name, each.name) for name, (rules, _) in MUTATED.items() for each in fields(rules)]


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_each_rule_changes_a_row(cases: Mapping[str, Case], name: str, rule: str) -> None:
    case, (rules, changes) = cases[name], MUTATED[name]
    if (name, rule) == ("log_processing", "by_country"):
        case = replace(case, knowledge={"networks": with_one_name_for_cities(case.knowledge["networks"])})
    assert case.expected(replace(rules, **{rule: changes[rule]})) != case.expected()


def with_one_name_for_cities(networks: reference.Networks) -> reference.Networks:
    """Networks in countries that have cities of the same names."""
    return [(first, bits, country, city.rsplit("-", 1)[1]) for first, bits, country, city in networks]


def test_a_ring_that_is_forgotten_is_seen(cases: Mapping[str, Case]) -> None:
    case = cases["log_processing"]
    changed = case.expected(LogRules(minutes=None))
    usual = case.expected()
    assert changed["volumes"] != usual["volumes"]
    assert all(changed[sink] == usual[sink] for sink in ("statuses", "places"))


def test_words_are_counted_as_they_come() -> None:
    told = reference.word_count(["a b", "", "b a-b"])["sink"]
    assert told == [("a", 1), ("b", 1), ("b", 2), ("a", 2), ("b", 3)]


def test_a_score_is_how_likely_others_were() -> None:
    model = ["A,B", "0.25,0.75", "1.0,0.0"]
    rules = FraudRules(window=3, threshold=0.5)
    lines = ["e,1,A", "f,1,B", "e,2,A", "e,3,B", "e,4,B", "f,2,B"]
    # From A to A others were 0.75 likely, from A to B 0.25, and from B to B 1.
    assert reference.fraud_detection(lines, model, rules)["sink"] == [("e", 0.625, "A,B,B")]


def test_a_spike_is_far_from_the_average_with_it() -> None:
    values = [10, 10, 10.5, 10, 1]
    lines = [f"2004-03-01 10:00:0{second} 1 d {value} 1 2 3" for second, value in enumerate(values)]
    told = reference.spike_detection(lines, SpikeRules(window=2, threshold=0.024))["sink"]
    assert told == [
        ("d", 10.25, 10.5, "spike detected"),
        ("d", 10.25, 10.0, "spike detected"),
        ("d", 5.5, 1.0, "spike detected"),
    ]


def test_requests_are_counted_by_minute_response_and_place() -> None:
    networks = [(10 << 24, 8, "large", "l"), (10 << 24 | 1 << 16, 16, "small", "s")]
    time = "17/May/2015:10:{}:00 +0000"
    lines = [
        f'{address} - - [{time.format(minute)}] "GET /" {response} -'
        for address, minute, response in (
            ("10.0.0.1", "00", 200),
            ("10.1.0.1", "01", 404),
            ("11.0.0.1", "00", 200),
        )
    ]
    first = 1431856800 // 60
    assert LogProcessing(networks).rows(lines) == {
        "volumes": [(first, 1), (first + 1, 1), (first, 2)],
        "statuses": [(200, 1), (404, 1), (200, 2)],
        "places": [("large", 1, "l", 1), ("small", 1, "s", 1)],
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("takes_s", [0.0, 2.0, 60.0])
def test_no_count_differs_from_the_published_ring_in_a_log_in_order(path: None, takes_s: float) -> None:
    """One task's ring of the last sixty minutes, while no line is an hour late."""
    draws = part("brisk.generators").Requests(SEED, per_second=0.5, takes_s=takes_s)
    lines = [line for _, portion in draws.lines(5_000) for line in portion]
    here, there = (
        LogProcessing([], LogRules(as_published=published)).rows(lines) for published in (False, True)
    )
    assert here == there
    assert len({minute for minute, _ in here["volumes"]}) > 150
