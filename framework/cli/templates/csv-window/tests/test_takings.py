"""The bolt on its own, and the whole topology: what they emit for what they are given."""

from bolts.takings import Takings

from viperstorm.testing import run_bolt, run_topology

ORDERS = [
    ["2024-05-31T08:00:00Z", "tea", 1, "2.20"],
    ["2024-05-31T08:14:59Z", "tea", 2, "2.20"],
    ["2024-05-31T08:15:00Z", "tea", 1, "2.20"],
]


def test_takings_are_in_cents():
    run = run_bolt(Takings, ORDERS, fields=["at", "item", "quantity", "price"])
    assert run.emitted() == [("tea", 220), ("tea", 440), ("tea", 220)]


def test_a_quarter_ends_before_the_next_begins():
    run = run_topology("topologies/takings.py", inputs={"orders": ORDERS}, sinks=["table"])
    quarters = [(item, cents, orders) for item, _, _, cents, orders in run.received("table")]
    assert quarters == [("tea", 660, 2), ("tea", 220, 1)]
