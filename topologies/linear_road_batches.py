"""Linear Road on columns; it wants numpy and pyarrow.

    viper run topologies/linear_road_batches.py
"""

from linear_road.batches import (
    Accidents,
    Accounts,
    Balances,
    Crossings,
    Expenditures,
    Expenses,
    Generated,
    Reports,
    Stops,
    Told,
    Tolls,
)

from viperstorm import TopologyBuilder
from viperstorm.sinks import TextSink


def linear_road_batches(cars, sink, tasks=2, history=None):
    """The application of `linear_road_builder`, divided so that each bolt emits to one stream.

    Args:
        cars: the spout that brings reports and queries as columns.
        sink: takes the answers.
        tasks: of each component but the sink.
        history: as of `Expenditures`.
    """
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("cars", cars, tasks)
    for name, bolt in (("reports", Reports), ("balances", Balances), ("expenses", Expenses)):
        builder.set_bolt(name, bolt, tasks).shuffle_grouping("cars")
    for name, bolt in (("crossings", Crossings), ("stops", Stops)):
        builder.set_bolt(name, bolt, tasks).fields_grouping("reports", "vid")
    builder.set_bolt("accidents", Accidents, tasks).fields_grouping("stops", "road")
    tolls = builder.set_bolt("tolls", Tolls, tasks)
    for source in ("crossings", "accidents"):
        tolls.fields_grouping(source, "segment")
    builder.set_bolt("told", Told, tasks).shuffle_grouping("tolls")
    accounts = builder.set_bolt("accounts", Accounts, tasks)
    for source in ("tolls", "balances"):
        accounts.fields_grouping(source, "vid")
    builder.set_bolt("expenditures", Expenditures(history), tasks).fields_grouping("expenses", "vid")
    answers = builder.set_bolt("answers", sink)
    for source in ("told", "accounts", "expenditures"):
        answers.global_grouping(source)
    return builder


cars = Generated(seconds=600, injectors=2)
topology = linear_road_batches(cars, TextSink("linear_road.csv")).build("linear-road")
