"""The bolt on its own: what it emits for what it is given."""

from bolts.takings import Takings

from viperstorm.testing import run_bolt

ORDERS = [
    ["2024-05-31T08:00:00Z", "tea", "1", "2.20"],
    ["2024-05-31T08:14:59Z", "tea", "2", "2.20"],
]


def test_takings_are_in_cents():
    run = run_bolt(Takings, ORDERS, fields=["at", "item", "quantity", "price"])
    assert run.emitted() == [("tea", 220), ("tea", 440)]
