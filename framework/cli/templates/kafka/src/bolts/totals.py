"""From orders to totals."""

from viperstorm import Bolt, ValueState


class Total(Bolt):
    """Emits what a user has paid so far."""

    outputs = ["user", "cents"]
    cents = ValueState("int64", default=0)

    def process(self, tup):
        """Take one order."""
        self.emit([tup.values.user, self.cents.add(tup.values.cents)])
