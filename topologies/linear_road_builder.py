"""Linear Road, with the builder in Storm's style; it wants numpy.

    viper run topologies/linear_road_builder.py
"""

from linear_road import bolts
from linear_road.spouts import Generated

from viperstorm import TopologyBuilder
from viperstorm.sinks import TextSink


def linear_road(cars, sink, tasks=2, history=None, forms=bolts):
    """The application.

    Args:
        cars: the spout that brings reports and queries.
        sink: takes the answers.
        tasks: of each component but the sink.
        history: as of `Expenditures`.
        forms: the module that the bolts are of.
    """
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("cars", cars, tasks)
    builder.set_bolt("dispatch", forms.Dispatch, tasks).shuffle_grouping("cars")
    for name, bolt in (("crossings", forms.Crossings), ("stops", forms.Stops)):
        builder.set_bolt(name, bolt, tasks).fields_grouping("dispatch", "vid", stream="reports")
    builder.set_bolt("accidents", forms.Accidents, tasks).fields_grouping("stops", "road")
    tolls = builder.set_bolt("tolls", forms.Tolls, tasks)
    for source in ("crossings", "accidents"):
        tolls.fields_grouping(source, "segment")
    accounts = builder.set_bolt("accounts", forms.Accounts, tasks)
    accounts.fields_grouping("tolls", "vid", stream="tolls")
    accounts.fields_grouping("dispatch", "vid", stream="balances")
    spent = builder.set_bolt("expenditures", forms.Expenditures(history), tasks)
    spent.fields_grouping("dispatch", "vid", stream="expenditures")
    answers = builder.set_bolt("answers", sink)
    for source in ("tolls", "accounts", "expenditures"):
        answers.global_grouping(source)
    return builder


topology = linear_road(Generated(seconds=600, injectors=2), TextSink("linear_road.csv")).build("linear-road")
