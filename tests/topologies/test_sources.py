"""Each rule of a reference of ours names its source, and the sentence stands there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.topologies import test_stretch
from tests.topologies.brisk import reference as brisk
from tests.topologies.brisk import sources as brisk_sources
from tests.topologies.linear_road import reference as linear_road
from tests.topologies.linear_road import sources as linear_road_sources
from tests.topologies.sources import BRISK, ORDERED, STRETCH, TSTREAM, Origin, Source, bare
from tests.topologies.tpcx_bb import reference as tpcx_bb
from tests.topologies.tpcx_bb import sources as tpcx_bb_sources
from tests.topologies.transactions import reference as transactions
from tests.topologies.transactions import sources as transactions_sources

PAPERS = os.environ.get("VIPER_TEST_PAPERS")
"""A folder with the texts of the papers: briskstream.txt, tstream.txt, stretch.txt and
ordered-stream-processing.txt."""

STATE = {"records"}
"""Fields of a reference that are no rules."""

REFERENCES: Mapping[str, tuple[Any, Mapping[str, Origin]]] = {
    "Linear Road": (linear_road.Rules, linear_road_sources.SOURCES),
    "word count": (brisk.WordRules, brisk_sources.WORDS),
    "fraud detection": (brisk.FraudRules, brisk_sources.FRAUD),
    "spike detection": (brisk.SpikeRules, brisk_sources.SPIKES),
    "log processing": (brisk.LogRules, brisk_sources.LOGS),
    "grep and sum": (transactions.GrepSum, transactions_sources.GREP_SUM),
    "streaming ledger": (transactions.LedgerRules, transactions_sources.STREAMING_LEDGER),
    "online bidding": (transactions.BiddingRules, transactions_sources.ONLINE_BIDDING),
    "toll processing": (transactions.TollRules, transactions_sources.TOLL_PROCESSING),
    "TPCx-BB, query 1": (tpcx_bb.PairRules, tpcx_bb_sources.PAIRS),
    "TPCx-BB, query 2": (tpcx_bb.ViewRules, tpcx_bb_sources.VIEWS),
    "TPCx-BB, query 3": (tpcx_bb.BeforeRules, tpcx_bb_sources.VIEWS_BEFORE),
    "TPCx-BB, query 4": (tpcx_bb.CartRules, tpcx_bb_sources.ABANDONED),
    "TPCx-BB, query 15": (tpcx_bb.SlopeRules, tpcx_bb_sources.SLOPES),
}
ALL = {**{name: sources for name, (_, sources) in REFERENCES.items()}, "STRETCH": test_stretch.SOURCES}


@pytest.mark.parametrize("name", REFERENCES)
def test_each_rule_has_a_source_or_says_that_it_is_a_guess(name: str) -> None:
    rules, sources = REFERENCES[name]
    assert set(sources) == {each.name for each in fields(rules)} - STATE


def test_each_test_of_stretch_has_a_source() -> None:
    queries = {name.removeprefix("test_") for name in vars(test_stretch) if name.startswith("test_")}
    assert set(test_stretch.SOURCES) == queries - test_stretch.NOT_OF_THE_PAPER


@pytest.mark.skipif(PAPERS is None, reason="VIPER_TEST_PAPERS names no folder with the texts of the papers")
@pytest.mark.parametrize("paper", [BRISK, TSTREAM, STRETCH, ORDERED])
def test_the_sentences_stand_in_the_papers(paper: str) -> None:
    assert PAPERS is not None
    text = bare(Path(PAPERS, paper).read_text(encoding="utf-8"))
    quoted = [
        each.sentence
        for sources in ALL.values()
        for each in sources.values()
        if isinstance(each, Source) and each.where == paper
    ]
    assert quoted and [sentence for sentence in quoted if bare(sentence) not in text] == []
