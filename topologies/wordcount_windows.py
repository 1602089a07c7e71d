"""The most frequent words of the last 5,000 lines, every 2,500 lines: each line is a second.

    viper run topologies/wordcount_windows.py
"""

from words.components import Lines, Split
from words.windows import TopOfWindow

from viperstorm import Duration, TopologyBuilder
from viperstorm.sinks import ConsoleSink

sliding = TopOfWindow().with_window(Duration.seconds(5000), Duration.seconds(2500))

builder = TopologyBuilder()
builder.set_spout("lines", Lines)
builder.set_bolt("split", Split, 2).shuffle_grouping("lines")
builder.set_bolt("top", sliding).global_grouping("split")
builder.set_bolt("console", ConsoleSink).global_grouping("top")
topology = builder.build("wordcount-windows")
