"""For tests of your own: topologies and components, run in the test's own process.

    from framework.testing import run_bolt, run_topology

    def test_split():
        assert run_bolt(Split, [["four score"]]).emitted() == [("four",), ("score",)]

    def test_the_last_counts():
        run = run_topology("topologies/wordcount.yaml", inputs={"lines": [["a b a"]]})
        assert run.emitted("count")[-1] == ("a", 2)

Classes of ours and of streamparse's are run alike. Neither ``viper.yaml`` nor the
environment is read: a test says what configuration it means.

==================  =================================================================
`run_bolt`          one bolt with all its tuples at once
`BoltHarness`       one bolt step by step, by a clock that the test moves
`run_spout`         one spout with all its tuples at once
`SpoutHarness`      one spout step by step, with acks and fails
`run_topology`      a whole topology to its end
`TopologyHarness`   a whole topology step by step, by a clock that the test moves
`VirtualClock`      that clock
`assert_deterministic`  that a topology emits the same however it is run
==================  =================================================================

`MockedSources`, `complete_topology`, `read_tuples`, `multiset_eq` and `TrackedTopology` are what users of
Storm's ``Testing`` look for.
"""

from framework.testing.bolts import BoltRun, run_bolt
from framework.testing.clock import VirtualClock
from framework.testing.component_harnesses import BoltHarness, SpoutHarness
from framework.testing.determinism import assert_deterministic
from framework.testing.driver import TICK
from framework.testing.harness import TopologyHarness
from framework.testing.storm import (
    MockedSources,
    TrackedTopology,
    complete_topology,
    multiset_eq,
    read_tuples,
)
from framework.testing.topologies import SpoutRun, TopologyRun, run_spout, run_topology

__all__ = [
    "TICK",
    "BoltHarness",
    "BoltRun",
    "MockedSources",
    "SpoutHarness",
    "SpoutRun",
    "TopologyHarness",
    "TopologyRun",
    "TrackedTopology",
    "VirtualClock",
    "assert_deterministic",
    "complete_topology",
    "multiset_eq",
    "read_tuples",
    "run_bolt",
    "run_spout",
    "run_topology",
]
