"""The takings of each item in a quarter of an hour: from a CSV file into a table of SQLite."""

from bolts.takings import Takings

from viperstorm import StreamBuilder
from viperstorm.aggregates import Aggregates, Count, Sum
from viperstorm.sinks import SqliteSink
from viperstorm.sources import CsvSource
from viperstorm.streams import Tumbling

of_window = Aggregates(cents=Sum("cents"), orders=Count())

builder = StreamBuilder()
orders = builder.new_stream(
    CsvSource("data/orders.csv", types={"quantity": "int64"}, timestamp="at"), name="orders"
)
paid = orders.to(Takings, par=2, name="paid").stream()
quarters = paid.key_by("item").window(Tumbling("15m"))
takings = quarters.aggregate(of_window, bounds=True, par=2, name="quarters")
takings.to(SqliteSink("takings.db", "takings", key=["item", "start"]), name="table")
topology = builder.build("$name")
