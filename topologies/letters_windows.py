"""Words by first letter, of the last 10,000 lines, every 5,000 lines: each line is a second.

    viper run topologies/letters_windows.py
"""

from words.components import Lines
from words.letters import words_by_letter

from viperstorm import StreamBuilder
from viperstorm.aggregates import Aggregates, Count, Distinct, Mean, TopK
from viperstorm.streams import Sliding

of_window = Aggregates(
    words=Count(),
    different=Distinct("word"),
    mean_length=Mean("length"),
    longest=TopK("length", 1, of="word"),
)

builder = StreamBuilder()
words = builder.new_stream(Lines).flat_map(words_by_letter, fields=["letter", "word", "length"], par=2)
windows = words.key_by("letter").window(Sliding("10000s", "5000s"))
windows.aggregate(of_window, bounds=True, par=2, name="windows").print(name="console")
topology = builder.build("letters-windows")
