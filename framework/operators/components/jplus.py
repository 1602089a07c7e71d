"""The operator J+ of the STRETCH paper: an O+ of two inputs that joins what is in one window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from typing import Any, Literal, NamedTuple

from framework.operators.components.oplus import Length, OPlus, sides_in
from framework.operators.components.tuple import Tuple
from framework.operators.windows.forms import FormName
from framework.operators.windows.joins import Given, Origin, as_condition
from framework.operators.windows.joins.conditions import Condition, Pair, Side
from framework.operators.windows.key_window import SideWindow
from viper.hashing import partner

PairsAt = Literal["tuple", "end"]
"""The place of pairs in the order: below the later tuple, or at the end of the window."""
Row = Sequence[Any]


class Held(NamedTuple):
    """A tuple in a window."""

    number: int
    """The number of tuples that had come to the window before, of both inputs."""
    time_us: int
    values: Any


class JPlus(OPlus):
    """Emits the values of each two tuples of one key that are in one window: the left one's, the right one's.

        class Paid(JPlus):
            outputs = ["order", "item", "order2", "amount"]
            size, advance = "1h", "1m"

            def matches(self, left, right):
                return right.amount >= left.price

    The stream that is subscribed to first is the left one. With one window for each key, which slides, a pair
    is put out once: when its second tuple comes, if any window holds both. With ``windows="multi"`` it is put
    out for every window that holds both. With ``pairs_at="end"`` each window puts out all its pairs when it
    has ended.

    A tuple is compared with every one of the other input that its window holds. A `JoinBolt` finds its pairs
    by an index or in columns, and knows outer joins.
    """

    inputs: Literal[1, 2] = 2
    windows: FormName = "single"
    on: Given = ()
    """Conditions that must hold for two tuples beside `matches`; see `framework.operators.windows.joins`."""
    pairs_at: PairsAt = "tuple"
    """The place of pairs: below the later one of their tuples, or at the end of their window."""
    fields: Sequence[str] = ()
    """Names of the values that are emitted, in the place of `outputs`."""

    _condition: Condition
    _compared: Sequence[tuple[int, int, Pair]]
    _keyed: Mapping[tuple[str, str], tuple[int, ...]]
    """By component and stream the indexes of the fields that are the key."""

    def __init__(
        self,
        size: Length | None = None,
        advance: Length | None = None,
        *,
        on: Given | None = None,
        fields: Sequence[str] | None = None,
        pairs_at: PairsAt | None = None,
        **lengths: Any,
    ) -> None:
        """
        Args:
            size: as the attribute, whose place each of these takes if it is there.
            advance: likewise.
            on: likewise.
            fields: likewise.
            pairs_at: likewise.
            lengths: ``offset``, ``gap`` and ``windows``, as of `OPlus`.
        """
        super().__init__(size, advance, **lengths)
        given = {"on": on, "fields": fields, "pairs_at": pairs_at}
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The names of the values that are emitted."""
        return list(self.fields)

    # -- what a join defines

    def matches(self, left: Any, right: Any) -> bool:
        """True if the values of two tuples match; by default all do for which `on` holds."""
        return True

    def joined(self, left: Any, right: Any) -> Row:
        """Return the row to emit for two tuples that match, made of their values."""
        return (*left, *right)

    def stores(self, window: SideWindow, number: int) -> bool:
        """True if a tuple is kept for later ones of the other input; by default each is.

        A join whose `keys` returns the same for all tuples deals them among the keys here, as in ScaleJoin.

        Args:
            window: that of the tuple's input.
            number: how many tuples have come to the window before, of both inputs. A single window counts on
                as it slides.
        """
        return True

    # -- as an O+

    def create(self) -> list[Any]:
        """As in the base class: how many tuples have come by the input, and those that are kept."""
        return [0, []]

    def update(self, window: Any, tup: Tuple, side: int = 0) -> list[Row] | None:
        """As in the base class."""
        time_us = self.window_state.now() if self._late is None else self._late.time_of(tup)
        mine, other = window[side], window[1 - side]
        number = mine.state[0] + other.state[0]
        held = Held(number, time_us, tup.values)
        mine.state[0] += 1
        if self.stores(mine, number):
            mine.state[1].append(tuple(held))
        if self.pairs_at == "end":
            return None
        return list(self._pairs(0 if side == 0 else 1, held, other.state[1]))

    def output(self, window: Any) -> Iterator[Row]:
        """As in the base class; pairs are in the order in which they would have come about."""
        if self.pairs_at == "tuple":
            return
        kept: tuple[list[Any], list[Any]] = ([], [])
        left, right = ([(*one, side) for one in window[side].state[1]] for side in (0, 1))
        for *one, side in merge(left, right, key=lambda found: found[0]):
            yield from self._pairs(side, Held(*one), kept[1 - side])
            kept[side].append(one)

    def slide(self, window: Any) -> list[Any]:
        """As in the base class: tuples before the next window go."""
        count, kept = window.state
        least_us = self.window_state.grid.next_start(window.start)
        return [count, [one for one in kept if one[1] >= least_us]]

    def _pairs(self, side: Side, come: Held, others: Sequence[Sequence[Any]]) -> Iterator[Row]:
        """Yield the pairs of a tuple with tuples of the other input."""
        for _, time_us, values in others:
            if side == 0:
                if self._belong(come.time_us, come.values, time_us, values):
                    yield self.joined(come.values, values)
            elif self._belong(time_us, values, come.time_us, come.values):
                yield self.joined(values, come.values)

    def _belong(self, left_us: int, left: Any, right_us: int, right: Any) -> bool:
        for of_left, of_right, pair in self._compared:
            if not pair.holds(left[of_left], right[of_right]):
                return False
        condition = self._condition
        if not all(bounds.hold(left_us, right_us) for bounds in condition.bounds):
            return False
        return all(function(left, right) for function in condition.functions) and self.matches(left, right)

    def _is_out(self, tup: Tuple) -> bool:
        """True if a tuple has no partner, as a field of its key is None or NaN."""
        keyed = self._keyed.get((tup.component, tup.stream), ())
        return any(partner(tup.values[index]) is None for index in keyed)

    # -- how it is configured

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        """As in the base class.

        Raises:
            TypeError: a length or a condition is none.
            ValueError: likewise as in the base class; or `pairs_at` is neither, or is the end of windows that
                do not keep every tuple.
        """
        as_condition(self.on)
        if self.pairs_at not in ("tuple", "end"):
            raise ValueError(f"pairs_at={self.pairs_at!r}: expected 'tuple' or 'end'")
        if self.pairs_at == "end" and type(self).stores is not JPlus.stores:
            raise ValueError(
                f"{type(self).__name__} defines stores, and pairs_at='end' would lose the pairs of a tuple "
                "that is not stored: expected 'tuple'"
            )
        return super().component_configuration

    def _open_windows(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        self._condition = as_condition(self.on)
        if self._condition.pairs:
            fields = context["source->stream->fields"]
            left, right = (Origin(tuple(fields[source][name]), None) for source, name in sides_in(context))
            pairs = self._condition.pairs
            self._compared = [(left.index(one.left), right.index(one.right), one) for one in pairs]
        else:
            self._compared = ()
        self._keyed = {
            (source, name): tuple(map(context["source->stream->fields"][source][name].index, found["fields"]))
            for source, streams in context["source->stream->grouping"].items()
            for name, found in streams.items()
            if found["type"].lower() == "fields"
        }
        super()._open_windows(conf, context)
