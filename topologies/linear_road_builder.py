"""Linear Road, with the builder in Storm's style; it wants numpy.

    viper run topologies/linear_road_builder.py
"""

from linear_road.bolts import (
    Accidents,
    Accounts,
    Crossings,
    Dispatch,
    Expenditures,
    Stops,
    Tolls,
)
from linear_road.spouts import Generated

from viperstorm import TopologyBuilder
from viperstorm.sinks import TextSink


def linear_road(cars, sink, tasks=2, history=None):
    """The application.

    Args:
        cars: the spout that brings reports and queries.
        sink: takes the answers.
        tasks: of each component but the sink.
        history: as of `Expenditures`.
    """
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("cars", cars, tasks)
    builder.set_bolt("dispatch", Dispatch, tasks).shuffle_grouping("cars")
    for name, bolt in (("crossings", Crossings), ("stops", Stops)):
        builder.set_bolt(name, bolt, tasks).fields_grouping("dispatch", "vid", stream="reports")
    builder.set_bolt("accidents", Accidents, tasks).fields_grouping("stops", "road")
    tolls = builder.set_bolt("tolls", Tolls, tasks)
    for source in ("crossings", "accidents"):
        tolls.fields_grouping(source, "segment")
    accounts = builder.set_bolt("accounts", Accounts, tasks)
    accounts.fields_grouping("tolls", "vid", stream="tolls")
    accounts.fields_grouping("dispatch", "vid", stream="balances")
    spent = builder.set_bolt("expenditures", Expenditures(history), tasks)
    spent.fields_grouping("dispatch", "vid", stream="expenditures")
    answers = builder.set_bolt("answers", sink)
    for source in ("tolls", "accounts", "expenditures"):
        answers.global_grouping(source)
    return builder


topology = linear_road(Generated(seconds=600, injectors=2), TextSink("linear_road.csv")).build("linear-road")
