"""Word count over the King James Bible, with the builder in Storm's style.

    viper run topologies/wordcount_builder.py
"""

from words.components import Count, Lines, Split, TopWords

from viperstorm import TopologyBuilder
from viperstorm.sinks import ConsoleSink

builder = TopologyBuilder()
builder.set_spout("lines", Lines)
builder.set_bolt("split", Split, 2).shuffle_grouping("lines")
builder.set_bolt("count", Count, 2).fields_grouping("split", "word")
builder.set_bolt("top", TopWords).global_grouping("count")
builder.set_bolt("console", ConsoleSink).global_grouping("top")
topology = builder.build("wordcount")
