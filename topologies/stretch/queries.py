"""The operators of the queries."""

from viperstorm import JPlus, OPlus


class Counts(OPlus):
    """Q1, wordcount: how often a word comes in each window; two minutes, each minute, as in the paper."""

    outputs = ["word", "count"]
    size = "2m"
    advance = "1m"

    def keys(self, tup):
        return dict.fromkeys(tup.values.text.split())

    def create(self):
        return 0

    def update(self, window, tup):
        window.state += 1

    def output(self, window):
        yield window.key, window.state


class PairCounts(Counts):
    """Q1, paircount: how often two words come at a distance.

    Args:
        distance: the longest one; the paper's L is 3, its M 10, and its H, None, has no limit.
    """

    outputs = ["first", "second", "count"]

    def __init__(self, distance=3):
        super().__init__()
        self.distance = distance

    def keys(self, tup):
        words = tup.values.text.split()
        reach = self.distance or len(words)
        behind = ((word, words[place : place + reach]) for place, word in enumerate(words, start=1))
        return dict.fromkeys((word, other) for word, others in behind for other in others)

    def output(self, window):
        yield (*window.key, window.state)


class Forward(OPlus):
    """Q2, the paper's Operator 15: each tuple is for all of so many keys, and is passed on for each of them.

    It costs what sharing costs: there is nothing else to do.

    Args:
        keys: how many there are; as many as there are tasks, in the paper.
    """

    outputs = ["user", "text"]
    size = 1
    windows = "single"

    def __init__(self, keys=2):
        super().__init__()
        self.all_keys = range(keys)

    def keys(self, tup):
        return self.all_keys

    def update(self, window, tup):
        return [tup.values]

    def slide(self, window):
        return None


class ScaleJoin(JPlus):
    """Q4 and Q5, the paper's J+: pairs of rows of two streams that lie close to each other in two values.

    Each row is compared with the stored ones of the other stream for every key, and stored for one of the
    keys, to which a counter deals it. A window slides on by a second, and not by the smallest unit of time as
    in the paper: a pair is in it if the earlier row is not older than its start when the later one comes.

    Args:
        keys: how many there are, at least as many as tasks; the paper has 1,000.
        size: of the window; the paper's is five minutes in Q4, and one in Q5.
        distance: how far apart the values may lie; the paper's is 10.
    """

    outputs = ["x", "y", "a", "b", "c", "d"]
    advance = "1s"

    def __init__(self, keys=64, size="1m", distance=10):
        super().__init__(size)
        self.distance = distance
        self.all_keys = range(keys)

    def keys(self, tup):
        return self.all_keys

    def stores(self, window, number):
        return number % len(self.all_keys) == window.key

    def matches(self, left, right):
        return abs(left.x - right.a) <= self.distance and abs(left.y - right.b) <= self.distance


def hedges(left, right):
    """Q6: whether trades of two companies lie off their averages by as much, one above and one below.

    The paper prints the lower bound only, which nearly all trades would hold to; the upper one is ours.
    """
    (name, price, average), (other, other_price, other_average) = left, right
    if name == other or price == average:
        return False
    off = (price - average) / average
    return -1.05 <= (other_price - other_average) / other_average / off <= -0.95
