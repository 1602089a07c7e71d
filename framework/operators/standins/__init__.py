"""Python stand-ins for Java classes that example topologies are made of.

A topology that names such a class runs here with the stand-in. It keeps the Java name when it is printed, so
that it runs on a Storm cluster as well.
"""

from collections.abc import Mapping

from framework.operators.standins.storm import (
    LogInfoBolt,
    NGrouping,
    StatefulWordCounter,
    TestGlobalCount,
    TestWindowBolt,
    TestWordCounter,
    TestWordSpout,
)
from framework.operators.windows import Count, Duration

STAND_INS: Mapping[str, type] = {
    "org.apache.storm.flux.examples.StatefulWordCounter": StatefulWordCounter,
    "org.apache.storm.flux.examples.TestWindowBolt": TestWindowBolt,
    "org.apache.storm.flux.wrappers.bolts.LogInfoBolt": LogInfoBolt,
    "org.apache.storm.testing.TestWordSpout": TestWordSpout,
    "org.apache.storm.testing.TestWordCounter": TestWordCounter,
    "org.apache.storm.testing.TestGlobalCount": TestGlobalCount,
    "org.apache.storm.testing.NGrouping": NGrouping,
    "org.apache.storm.topology.base.BaseWindowedBolt$Count": Count,
    "org.apache.storm.topology.base.BaseWindowedBolt$Duration": Duration,
}
"""The stand-in of each Java class that has one, by the Java class's name."""

__all__ = ["STAND_INS"]
