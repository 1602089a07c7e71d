"""The most frequent words of a sliding window."""

from collections import Counter

from viperstorm import WindowedBolt


class TopOfWindow(WindowedBolt):
    """Emits the most frequent words of each window (``words.top`` of them) and the line that it ends at."""

    outputs = ["line", "rank", "word", "count"]

    def initialize(self, storm_conf, context):
        self.size = storm_conf.get("words.top", 3)

    def process_window(self, window):
        counts = Counter(tup.values.word for tup in window.tuples)
        line = window.end // 1_000_000
        top = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[: self.size]
        for rank, (word, count) in enumerate(top, start=1):
            self.emit([line, rank, word, count])
