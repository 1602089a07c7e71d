"""The sources of the rules of BriskStream's applications; their parameters are in published programs only."""

from __future__ import annotations

from collections.abc import Mapping

from tests.topologies.sources import BRISK, Code, Guess, Origin, Source

DSPBENCH = "GMAP/DSPBench, dspbench-storm/src/main"

COUNTER = Source(
    BRISK,
    "Counter has an output selectivity of one, thus it emits the counting results of each input word to "
    "Sink.",
)

WORDS: Mapping[str, Origin] = {
    "letters": Guess("the paper's words are random, so that nothing divides them; ours are of a text"),
    "keeps_case": Guess("the paper's words are random"),
    "apart": COUNTER,
    "first": COUNTER,
}
FRAUD: Mapping[str, Origin] = {
    "window": Code(f"{DSPBENCH}/resources/config/frauddetection.properties", "five states of an entity"),
    "threshold": Code(f"{DSPBENCH}/resources/config/frauddetection.properties", "more than 0.96"),
    "by_entity": Code(f"{DSPBENCH}, FraudDetectionTopology", "the predictor is grouped by the entity"),
    "waits": Code(f"{DSPBENCH}, predictor", "no score before the window is full"),
    "forwards": Code(f"{DSPBENCH}, predictor", "the row of a transition is that of the state before"),
    "misses": Code(
        f"{DSPBENCH}, predictor", "the chances of all states but the one that came, added up"
    ),
    "average": Code(f"{DSPBENCH}, predictor", "the mean over the transitions of the window"),
}
SPIKES: Mapping[str, Origin] = {
    "window": Code(f"{DSPBENCH}, MovingAverageBolt", "the last 1,000 readings of a device"),
    "threshold": Code(f"{DSPBENCH}/resources/config/spikedetection.properties", "0.03"),
    "by_device": Code(f"{DSPBENCH}, SpikeDetectionTopology", "the average is grouped by the device"),
    "with_new": Code(f"{DSPBENCH}, MovingAverageBolt", "the average includes the new reading"),
    "both_ways": Code(f"{DSPBENCH}, SpikeDetectionBolt", "the distance counts without its sign"),
    "relative": Code(f"{DSPBENCH}, SpikeDetectionBolt", "the threshold is a share of the average"),
    "wants_all": Code(f"{DSPBENCH}, SensorParser", "lines with fewer than eight fields are skipped"),
}
LOGS: Mapping[str, Origin] = {
    "minutes": Code(f"{DSPBENCH}/resources/config/logprocessing.properties", "a ring of 60 minutes"),
    "as_published": Code(f"{DSPBENCH}, VolumeCountBolt", "one task keeps the 60 minutes that came last"),
    "zones": Guess("the published parser takes one zone for all lines; ours are from several"),
    "seconds": Code(f"{DSPBENCH}, CommonLogParser", "requests are counted by the minute"),
    "by_response": Code(f"{DSPBENCH}, StatusCountBolt", "a count for each response"),
    "smallest": Guess("the published program asks a database of addresses; ours is a list of networks"),
    "by_country": Code(f"{DSPBENCH}, GeoStatsBolt", "cities are counted within their country"),
    "dashes": Guess("the Common Log Format has a dash for a response without content; the paper is silent"),
}
