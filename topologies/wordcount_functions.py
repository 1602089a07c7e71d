"""Word count over the King James Bible, with functions as bolts.

    viper run topologies/wordcount_functions.py
"""

from words.components import Lines, TopWords
from words.functions import split

from viperstorm import Grouping, StreamBuilder

builder = StreamBuilder()
words = builder.new_stream(Lines).flat_map(split, fields=["word"], par=2)
counts = words.key_by("word").count_by_key(par=2, name="count")
top = counts.to(TopWords, grouping=Grouping.GLOBAL, name="top").stream()
top.print(name="console")
topology = builder.build("wordcount")
