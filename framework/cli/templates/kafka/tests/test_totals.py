"""The whole topology, without a broker: what it writes for what it is given."""

from viperstorm.testing import run_topology


def test_each_user_has_a_total():
    orders = [["ann", 250], ["bob", 100], ["ann", 50]]
    run = run_topology("topologies/totals.py", inputs={"orders": orders}, sinks=["totals"])
    assert run.received("totals") == [("ann", 250), ("bob", 100), ("ann", 300)]
