"""For tests of your own: topologies and components, run in the test's own process.

    from framework.testing import run_bolt, run_topology

    def test_split():
        assert run_bolt(Split, [["four score"]]).emitted() == [("four",), ("score",)]

    def test_the_last_counts():
        run = run_topology("topologies/wordcount.yaml", inputs={"lines": [["a b a"]]})
        assert run.emitted("count")[-1] == ("a", 2)

Classes of ours and of streamparse's are run alike. Neither ``viper.yaml`` nor the
environment is read: a test says what configuration it means.
"""

from framework.testing.bolts import BoltRun, run_bolt
from framework.testing.driver import TICK
from framework.testing.topologies import SpoutRun, TopologyRun, run_spout, run_topology

__all__ = ["TICK", "BoltRun", "SpoutRun", "TopologyRun", "run_bolt", "run_spout", "run_topology"]
