"""The sentences of the rules of Linear Road.

The paper's sentences are those that public implementations of the benchmark quote: mjsax/aeolus
(``AccidentNotificationBolt``) and twiechert/kafka-streams-linearroad (``TollNotificationStreamBuilder``,
``CurrentExpenditurePerVehicleTableBuilder``).
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.topologies.sources import LINEAR_ROAD, LINEAR_ROAD_PAGE, VALIDATOR, Code, Guess, Origin, Source

NOTIFIED = Source(
    LINEAR_ROAD,
    "The trigger for an accident notification is a position report [...] that identifies a vehicle entering "
    "a segment 0 to 4 segments upstream of some accident location, but only if q was emitted no earlier than "
    "the minute following the minute when the accident occurred, and no later than the minute the accident "
    "is cleared.",
)
ASSESSED = Source(
    LINEAR_ROAD,
    "Every time a position report identifies a vehicle as crossing from one segment into another, the toll "
    "reported for the segment being exited is assessed to the vehicle's account.",
)
STOPPED = Source(
    LINEAR_ROAD_PAGE,
    "An accident occurs when two vehicles are stopped at the same position at the same time. A vehicle is "
    "stopped when it reports the same position in 4 consecutive position reports.",
)

SOURCES: Mapping[str, Origin] = {
    "crowd": Code(VALIDATOR, "no toll where 50 vehicles or fewer were in the segment in the minute before"),
    "counted_before": Code(VALIDATOR, "the vehicles of the minute before that of the report are counted"),
    "counts_each_once": Code(VALIDATOR, "distinct vehicles are counted"),
    "factor": Code(VALIDATOR, "the toll is twice the square of the vehicles beyond 50"),
    "slow": Code(VALIDATOR, "no toll where the average speed is 40 or more"),
    "minutes": Code(VALIDATOR, "the speed is that of the five minutes before that of the report"),
    "rounds_up": Code(VALIDATOR, "the mean over all reports of these minutes, rounded half up"),
    "stopped_after": STOPPED,
    "stopped_together": STOPPED,
    "clears": NOTIFIED,
    "told_of_cleared": NOTIFIED,
    "reach": NOTIFIED,
    "tells_first": Guess("no source says of which of two accidents ahead a vehicle is told"),
    "frees": Code(
        VALIDATOR,
        "no toll in the segments in which vehicles are told of an accident; the first validator of the "
        "benchmark, in SQL, counts the minute behind the last report of the accident instead",
    ),
    "told_after": NOTIFIED,
    "exit": Source(
        LINEAR_ROAD,
        "If the vehicle exits at the exit ramp of a segment, the toll for that segment is not charged.",
    ),
    "charged_at_exit": ASSESSED,
    "exit_is_free": Source(
        LINEAR_ROAD,
        "If the vehicle exits at the exit ramp of a segment, the toll for that segment is not charged.",
    ),
    "charged_at_once": ASSESSED,
    "queries_behind": Guess("the answers of the other reference have a second's reports before its queries"),
}
