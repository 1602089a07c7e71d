"""Joins of two streams: what comes on one of them meets what has come on the other."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from framework.model.errors import ConfigError
from framework.model.topology import DEFAULT_STREAM, did_you_mean
from framework.operators.components.batch_bolt import BatchBolt, RowError
from framework.operators.components.component import tasks_of
from framework.operators.components.rows import Rows
from framework.operators.windows.joins import (
    HOWS,
    Given,
    How,
    JoinState,
    Origin,
    Scan,
    Search,
    Share,
    Waiting,
    as_condition,
)
from framework.operators.windows.joins.conditions import Side
from framework.operators.windows.spec import JOIN_HOW
from viper.hashing import group_of_hash, placing_hash


class JoinBolt(BatchBolt):
    """Emits the values of each two tuples of two streams that match: the left one's, then the right one's.

        builder.set_bolt("joined", JoinBolt(
            left="orders", right="payments",
            on=Equal("order") & Within("1h"), fields=["order", "item", "order2", "amount"],
        )).fields_grouping("orders", ["order"]).fields_grouping("payments", ["order"])

    Each tuple is compared with the stored ones of the other stream, and then stored. Stored tuples expire by
    event time. Matches of a tuple lie below it in the order, in the order in which the stored tuples came.
    Stored tuples are declared state. A left, right or full join puts out also tuples that have found no
    partner, at the time from which on none can come.

    With fields groupings by the fields that must be equal, each task joins its own keys. With ``all``
    groupings the tasks work as in ScaleJoin (Gulisano et al., 2021). Each compares every tuple with its
    stored ones, and a counter deals new tuples among the tasks to store. Rows and their positions are the
    same for every parallelism.
    """

    joined = JoinState()
    """The stored tuples."""

    def __init__(
        self,
        left: str | Sequence[str],
        right: str | Sequence[str],
        on: Given,
        fields: Sequence[str],
        *,
        index: str | Sequence[str] = (),
        keys: int = 1000,
        scan: Scan = "c",
        how: How = "inner",
    ) -> None:
        """
        Args:
            left: the component whose tuples are left, or one of its streams as ``component:stream``; or
                several.
            right: likewise.
            on: what must hold for two tuples; see `viperstorm.Within`. `Within` or `SameWindow` is
                among it, as stored tuples would never expire otherwise.
            fields: names of the values that are emitted.
            index: fields of the left stream, which `Equal` or `Band` compares, to make an index by. Without
                one each tuple is compared with all that are stored.
            keys: of ``all`` groupings: among how many keys stored tuples are dealt, which the tasks divide.
            scan: what compares columns of numbers, which typed streams have: ``c`` or ``numpy``.
            how: of which streams a tuple is put out also without a partner, with None in the place of the
                other one's values: ``inner`` for none, ``left``, ``right``, or ``full`` for both.

        Raises:
            TypeError: no condition.
            ValueError: no time within which tuples match, or an index by a field that is not compared. Or no
                such scan, no such `how`, or a stream that is both left and right.
        """
        super().__init__()
        condition = as_condition(on)
        chosen = (index,) if isinstance(index, str) else tuple(index)
        compared = [pair.left for pair in condition.pairs]
        if not condition.bounds:
            raise ValueError("a join on what says nothing of time would store for ever: add Within('5m')")
        for name in chosen:
            if name not in compared:
                near = did_you_mean(name, compared)
                raise ValueError(
                    f"index={name!r}: Equal() and Band() compare {compared} of the left stream{near}"
                )
        if scan not in ("c", "numpy"):
            raise ValueError(f"scan={scan!r}: expected 'c' or 'numpy'")
        if how not in HOWS:
            raise ValueError(f"how={how!r}: expected one of {', '.join(map(repr, HOWS))}")
        if keys < 1:
            raise ValueError(f"keys={keys!r}: expected 1 or more")
        self._of = _named(left), _named(right)
        if both := {_whole(name) for name in self._of[0]} & {_whole(name) for name in self._of[1]}:
            told = ", ".join(sorted(both))
            raise ValueError(
                f"{told}: left and right at once, where each tuple is one of them: put a bolt between that "
                "emits what it gets, and join with that"
            )
        self._fields = tuple(fields)
        self._search = Search(condition, chosen, scan, how)
        self._keys = keys
        self._distances: array[int] | None = None
        self._is_dealt = False
        self._origins: dict[tuple[str, str], tuple[int, Origin]] = {}
        self._keyed: dict[tuple[str, str], tuple[str, ...]] = {}
        """By component and stream the fields of its fields grouping."""
        self._groups = 1

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The names of the values that are emitted."""
        return list(self._fields)

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        """The kind of the join as configuration, if tuples without a partner are put out."""
        return {JOIN_HOW: self._search.how} if self._search.how != "inner" else {}

    @property
    def search(self) -> Search:
        """The search for matches: its conditions, index and scan."""
        return self._search

    def initialize(self, storm_conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Continue with the stored tuples of the task; to be called by a subclass that defines it.

        Raises:
            ConfigError: there are fewer keys than tasks, or a stream is neither left nor right.
        """
        grouped = context["source->stream->grouping"]
        for component, streams in grouped.items():
            for stream in streams:
                self.side_of(component, stream)
                if grouped[component][stream]["type"].lower() == "fields":
                    self._keyed[component, stream] = tuple(grouped[component][stream]["fields"])
        self._search = replace(self._search, how=storm_conf[JOIN_HOW])
        self._groups = storm_conf["viper.key.groups"]
        kinds = {found["type"].lower() for streams in grouped.values() for found in streams.values()}
        tasks = tasks_of(self.component_name, context)
        self._is_dealt = kinds == {"all"}
        share = Share()
        if self._is_dealt:
            if self._keys < len(tasks):
                raise ConfigError(
                    f"bolt {self.component_name!r} deals what it stores among {self._keys} keys, and has "
                    f"{len(tasks)} tasks: expected no more tasks than keys"
                )
            index, count = tasks.index(self.task_id), len(tasks)
            mine = range(-(-index * self._keys // count), -(-(index + 1) * self._keys // count))
            share = Share(self._keys, mine)
        elif len(tasks) > 1:
            self._check_keys(grouped)
        self.joined.open(self._search, share, storm_conf)

    def process_rows(self, rows: Rows) -> None:
        """Join each row with what is stored, and store it; not to be overridden."""
        side, origin = self._origin(rows)
        joined, made, ends, distances = self.joined, list[tuple[Any, ...]](), array("I"), array("Q")
        joined.begin(side, origin)
        group_of = self._grouping(rows, side, origin)
        failed: Exception | None = None
        for values, time_us in zip(rows.values(), rows.times(), strict=True):
            try:
                found = joined.join(side, values, time_us, group_of(values))
            except Exception as error:
                failed = error
                break
            made += [values + one.values if side == 0 else one.values + values for one in found]
            if self._is_dealt:
                distances.extend(joined.count - one.number for one in found)
            ends.append(len(made))
        self.emit_rows(made, ends=ends)
        self._distances = distances if self._is_dealt else None
        if failed is not None:
            raise RowError(len(ends), failed) from failed

    def _grouping(self, rows: Rows, side: Any, origin: Origin) -> Callable[[tuple[Any, ...]], int]:
        """Return the function that gives the key group in which a tuple without a partner is put out."""
        fields = self._keyed.get((rows.component, rows.stream))
        if not self._search.keeps(side) or fields is None:
            return lambda values: 0
        key_of, groups = itemgetter(*map(origin.index, fields)), self._groups
        return lambda values: group_of_hash(placing_hash(key_of(values)), groups)

    def _emit_alone(self, alone: Sequence[Waiting]) -> None:
        """Emit tuples that have found no partner."""
        made = []
        for (_, _, values, _), side, _ in alone:
            nothing = (None,) * (len(self._fields) - len(values))
            made.append(values + nothing if side == 0 else nothing + values)
        self.emit_rows(made)

    def _take_distances(self) -> array[int] | None:
        """For each tuple of the last call, how many tuples had come since the stored one that it is made of.

        None where nothing is dealt, or where they were taken already. By these numbers the outputs of all
        instances lie below their input in the order of the stored tuples.
        """
        distances, self._distances = self._distances, None
        return distances

    def _check_keys(self, grouped: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        """Check that what belongs together comes to one task."""
        keys: tuple[set[tuple[str, ...]], set[tuple[str, ...]]] = set(), set()
        for component, streams in grouped.items():
            for stream, found in streams.items():
                keys[self.side_of(component, stream)].add(tuple(found["fields"]))
        equal = {(pair.left, pair.right) for pair in self._search.condition.pairs if pair.width is None}
        for left in keys[0]:
            for right in keys[1]:
                if len(left) != len(right) or not equal.issuperset(zip(left, right, strict=True)):
                    raise ConfigError(
                        f"bolt {self.component_name!r} has several tasks, and its streams are grouped by "
                        f"({', '.join(left)}) and by ({', '.join(right)}): expected fields that Equal() "
                        "compares, or all groupings"
                    )

    def _origin(self, rows: Rows) -> tuple[Any, Origin]:
        name = rows.component, rows.stream
        if name not in self._origins:
            self._origins[name] = self.side_of(*name), Origin(rows.fields, rows.schema)
        return self._origins[name]

    def side_of(self, component: str, stream: str) -> Side:
        """Return the side of a stream: 0 for the left one, 1 for the right one.

        Raises:
            ConfigError: it is neither.
        """
        sides: tuple[Side, ...] = (0, 1)
        for side in sides:
            if component in self._of[side] or f"{component}:{stream}" in self._of[side]:
                return side
        raise ConfigError(
            f"bolt {self.component_name!r} gets stream {stream!r} of {component!r}, and joins "
            f"{list(self._of[0])} with {list(self._of[1])}"
        )


def _named(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _whole(name: str) -> str:
    """The name of a stream with that of its component."""
    return name if ":" in name else f"{name}:{DEFAULT_STREAM}"
