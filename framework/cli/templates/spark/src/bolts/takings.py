"""From an order to what it brings."""

from viperstorm import Bolt


class Takings(Bolt):
    """Emits each order's item, and what was paid for it in cents."""

    outputs = ["item", "cents"]
    # Its output depends on nothing but its input, so it may have any number of tasks.
    config = {"viper.stateless": True}

    def process(self, tup):
        """Take one order."""
        order = tup.values
        euros, cents = order.price.split(".")
        self.emit([order.item, int(order.quantity) * (int(euros) * 100 + int(cents))])
