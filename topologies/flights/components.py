"""Flights: delays by the hour, late arrivals, the busiest routes, and boards that show the most of each."""

from heapq import nlargest

from viperstorm import Bolt


class DelayPerHour(Bolt):
    """Emits a carrier's flights of an hour that have left so far, their delays in minutes, and the mean.

    The delay is that of the departure; a cancelled flight has none, and does not count. Give each carrier and
    hour to one task.
    """

    outputs = ["carrier", "hour", "flights", "delay", "mean"]

    def initialize(self, storm_conf, context):
        self.sums = {}

    def process(self, tup):
        flight = tup.values
        if flight.dep_delay is None:
            return
        flights, delay = self.sums.get((flight.carrier, flight.hour), (0, 0))
        flights, delay = flights + 1, delay + flight.dep_delay
        self.sums[flight.carrier, flight.hour] = flights, delay
        self.emit([flight.carrier, flight.hour, flights, delay, delay / flights])


class Late(Bolt):
    """Emits the flights that arrived late.

    Args:
        minutes: how late at least.
    """

    outputs = ["departure", "carrier", "flight", "origin", "dest", "delay"]
    # Its output depends on nothing but the flight, so any of its tasks may get it.
    config = {"viper.stateless": True}

    def __init__(self, minutes=60):
        super().__init__()
        self.minutes = minutes

    def process(self, tup):
        flight = tup.values
        if flight.arr_delay is not None and flight.arr_delay >= self.minutes:
            route = flight.origin, flight.dest
            self.emit([flight.departure, flight.carrier, flight.flight, *route, flight.arr_delay])


class Routes(Bolt):
    """Emits the route of every flight with its flights so far; give each route to one task."""

    outputs = ["origin", "dest", "flights"]

    def initialize(self, storm_conf, context):
        self.flights = {}

    def process(self, tup):
        route = tup.values.origin, tup.values.dest
        self.flights[route] = self.flights.get(route, 0) + 1
        self.emit([*route, self.flights[route]])


class LateFlights(Bolt):
    """Emits the carrier of every late flight with its late flights so far; give each carrier to one task."""

    outputs = ["carrier", "flights"]

    def initialize(self, storm_conf, context):
        self.flights = {}

    def process(self, tup):
        carrier = tup.values.carrier
        self.flights[carrier] = self.flights.get(carrier, 0) + 1
        self.emit([carrier, self.flights[carrier]])


class Board(Bolt):
    """Emits, when all flights have left, who has the most.

    Takes tuples whose last value is a number, the latest of what the values before it name.

    Args:
        title: what the numbers count.
        size: how many places it has.
    """

    outputs = ["title", "rank", "name", "number"]
    # Beyond the year that the flights take: there is always a last tick.
    config = {"topology.tick.tuple.freq.secs": 1_000_000_000}

    def __init__(self, title, size=5):
        super().__init__()
        self.title = title
        self.size = size

    def initialize(self, storm_conf, context):
        self.numbers = {}

    def process(self, tup):
        *name, number = tup.values
        self.numbers[" ".join(name)] = number

    def process_tick(self, tup):
        most = nlargest(self.size, self.numbers.items(), key=lambda entry: (entry[1], entry[0]))
        for rank, (name, number) in enumerate(most, start=1):
            self.emit([self.title, rank, name, number])
