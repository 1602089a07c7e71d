"""The bolts, each on its own, and the whole topology: what they emit for what they are given."""

from bolts.words import Count, Split

from viperstorm.testing import run_bolt, run_topology


def test_split_emits_words():
    assert run_bolt(Split, [["four score"]]).emitted() == [("four",), ("score",)]


def test_count_goes_on():
    run = run_bolt(Count, [["cow"], ["moon"], ["cow"]])
    assert run.emitted() == [("cow", 1), ("moon", 1), ("cow", 2)]


def test_the_topology_counts_words():
    run = run_topology("topologies/wordcount.yaml", inputs={"sentences": [["cow moon cow"]]})
    assert run.emitted("count") == [("cow", 1), ("moon", 1), ("cow", 2)]
