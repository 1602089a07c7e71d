"""Tables: what they are, their keys and values, and groups of them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viper.transactions.programs import ACCOUNTS, PAIRS, PLACES, SPECS
from tests.viper.transactions.world import HOLDER, World
from viper.arena import Arena
from viper.errors import ArenaError, StateFullError
from viper.hashing import stable_hash
from viper.position import LEAST
from viper.transactions.group import Counts, Group, LogSpec, Outcome
from viper.transactions.specs import ColumnSpec, TableSpec
from viper.transactions.tables import Table


def table_of(spec: TableSpec) -> Table:
    return Table.create(Arena.private(Table.size(spec) + 4096), spec)


class TestSpecs:
    def test_columns_are_attributes_and_items(self) -> None:
        assert isinstance(PLACES.n, ColumnSpec)
        assert PLACES.n is PLACES["n"]
        assert (PLACES.x.kind, PLACES.x.column_name, PLACES.x.index, PLACES.x.table) == (
            "float64",
            "x",
            1,
            PLACES,
        )
        assert repr(PLACES.cars) == "<column places.cars: set>"
        assert repr(PLACES) == "<table places>"

    def test_a_column_with_a_name_of_the_table_itself_is_an_item(self) -> None:
        spec = TableSpec("t", "text", {"key_kinds": "int64", "has_sets": "int64"}, rows=1)
        assert (spec.key_kinds, spec.has_sets) == (("text",), False)
        assert spec["key_kinds"].kind == spec["has_sets"].kind == "int64"

    def test_the_nearest_column_is_named(self) -> None:
        with pytest.raises(AttributeError, match=r"no column 'balanse'; did you mean 'balance'"):
            _ = ACCOUNTS.balanse
        with pytest.raises(KeyError, match="table places has no column 'zzz': it has n, x, cars"):
            PLACES["zzz"]

    def test_copies_are_equal(self) -> None:
        copy = pickle.loads(pickle.dumps(PLACES))
        assert copy == PLACES
        assert hash(copy) == hash(PLACES)
        assert copy.n is copy["n"]
        assert copy.n.table is copy
        assert TableSpec("places", "text", {"n": "int64"}, 8) != PLACES

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            (("", "int64", {"a": "int64"}, 1), ValueError, "the name of a table is empty"),
            ((5, "int64", {"a": "int64"}, 1), TypeError, "the name of a table is a text; found 5"),
            (
                ("t", "int46", {"a": "int64"}, 1),
                ValueError,
                "the key of table t is of kind 'int46'.*'int64'?",
            ),
            (("t", (), {"a": "int64"}, 1), ValueError, "has 0 parts: expected 1 to 16"),
            (
                ("t", "int64", {"a": "float"}, 1),
                ValueError,
                "column t.a is of kind 'float'.*did you mean 'float64'?",
            ),
            (("t", "int64", {}, 1), ValueError, "table t has 0 columns: expected 1 to 64"),
            (("t", "int64", ["a"], 1), TypeError, "columns of table t are given as"),
            (("t", "int64", {"a": "int64"}, 0), ValueError, "rows=0 of table t: expected 1 to"),
            (("t", "int64", {"a": "int64"}, 1.0), TypeError, "rows of table t: expected an int; found 1.0"),
            (("t", "int64", {"a": "set"}, 1), ValueError, "table t has a set, and no room for its elements"),
            (("t", "int64", {"a": "int64"}, 1, 0, {"b": 1}), ValueError, "table t has no column 'b'"),
            (
                ("t", "int64", {"a": "int64"}, 1, 0, {"a": 1.5}),
                TypeError,
                "the default of column t.a, 1.5, is no",
            ),
            (("t", "int64", {"a": "int64"}, 1, 0, {"a": 2**63}), ValueError, "does not fit into 64 bits"),
            (("t", "int64", {"a": "set"}, 1, 1, {"a": 1}), ValueError, "a set, which is empty by default"),
            (("t", "int64", {"a": "int64"}, 1, 0, [1]), TypeError, "the default of table t is given as"),
        ],
    )
    def test_what_is_none_is_refused(self, arguments: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            TableSpec(*arguments)


class TestRows:
    def test_rows_are_sorted(self) -> None:
        table = table_of(PAIRS)
        table.put((2, "b"), 5, ["z", 3, 1], [])
        table.put((1, "z"), 6, (), {7})
        table.put((2, "a"), 7, [1, 1], "x" and ["x"])
        assert list(table.rows()) == [
            ((1, "z"), 6, (), (7,)),
            ((2, "a"), 7, (1,), ("x",)),
            ((2, "b"), 5, (1, 3, "z"), ()),
        ]
        assert table.get((2, "b")) == {"a": 5, "s": (1, 3, "z"), "r": ()}
        assert len(table) == 3

    def test_a_row_that_is_named_is_not_there(self) -> None:
        table = table_of(ACCOUNTS)
        assert (table.find(5), table.get(5), table.present(5)) == (None, None, False)
        number = table.enter(5)
        assert (table.find(5), table.get(5), table.present(5), len(table)) == (number, None, False, 0)
        table.put(5, -1)
        assert (table.get(5), table.present(5), list(table.rows())) == ({"balance": -1}, True, [(5, -1)])
        table.put(5, 2**63 - 1)
        assert list(table.rows()) == [(5, 2**63 - 1)]

    def test_a_row_that_is_not_there_has_its_defaults(self) -> None:
        table = table_of(PLACES)
        assert table.get("x") == {"n": 3, "x": 0.5, "cars": ()}
        assert list(table.rows()) == []

    def test_loading(self) -> None:
        table = table_of(ACCOUNTS)
        assert table.load((key, 10 * key) for key in range(5)) == 5
        assert list(table.rows()) == [(key, 10 * key) for key in range(5)]

    @pytest.mark.parametrize(
        ("spec", "row", "error", "message"),
        [
            (ACCOUNTS, (1,), ValueError, "a row of table accounts has 1 values; found 0"),
            (ACCOUNTS, (1, 2, 3), ValueError, "a row of table accounts has 1 values; found 2"),
            (ACCOUNTS, ("1", 2), TypeError, "a key of table accounts is int64; found '1' of type str"),
            (ACCOUNTS, (1, 2.0), TypeError, "column accounts.balance is int64; found 2.0 of type float"),
            (ACCOUNTS, (1, 2**63), OverflowError, "does not fit into 64 bits"),
            (PLACES, ("a", 1, "x", []), TypeError, "column places.x is float64; found 'x' of type str"),
            (
                PLACES,
                ("a", 1, 1, 5),
                TypeError,
                "column places.cars is a set: expected a list of its elements; f",
            ),
            (PLACES, ("a", 1, 1, "abc"), TypeError, "expected a list of its elements; found 'abc'"),
            (PLACES, ("a", 1, 1, [1.5]), TypeError, "an element of the set places.cars is an int or a text"),
            (PLACES, ("a", 1, 1), ValueError, "a row of table places has 3 values; found 2"),
        ],
    )
    def test_what_is_none_is_refused(
        self, spec: TableSpec, row: Any, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            table_of(spec).put(*row)

    def test_a_row_with_sets_is_put_once(self) -> None:
        table = table_of(PLACES)
        table.put("a", 1, 2.0, [1])
        with pytest.raises(ValueError, match="table places has a row of key 'a' already"):
            table.put("a", 1, 2.0, [1])

    def test_too_many_keys(self) -> None:
        table = table_of(ACCOUNTS)
        table.load((key, 0) for key in range(8))
        with pytest.raises(StateFullError, match=r"table accounts has no room for another key.*rows=8"):
            table.put(8, 0)

    def test_numbers_that_are_no_rows(self) -> None:
        native = table_of(PLACES).native
        for call in (native.key, native.get, native.generation):
            for number in (-1, 0):
                with pytest.raises(IndexError, match="table places has no row"):
                    call(number)
        number = native.enter("a", StateFullError)
        with pytest.raises(IndexError, match="column 0 of table places is no set"):
            native.enter_element(number, 0, 1, StateFullError)
        with pytest.raises(IndexError, match="table places has no element 0"):
            native.put_element(number, 0)

    @given(
        keys=st.lists(
            st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(max_size=20)), unique=True, max_size=8
        )
    )
    def test_keys_come_back(self, keys: list[Any]) -> None:
        for spec, chosen in (
            (TableSpec("i", "int64", {"a": "int64"}, 8), list({key[0] for key in keys})),
            (TableSpec("t", "text", {"a": "int64"}, 8), list({key[1] for key in keys})),
            (TableSpec("p", ("int64", "text"), {"a": "int64"}, 8), keys),
            (TableSpec("s", ("text",), {"a": "int64"}, 8), [(key,) for key in {key[1] for key in keys}]),
        ):
            table = table_of(spec)
            table.load((key, number) for number, key in enumerate(chosen))
            assert list(table.rows()) == sorted((key, number) for number, key in enumerate(chosen))
            assert [table.find(key) is None for key in chosen] == [False] * len(chosen)

    def test_a_key_has_its_stable_hash(self) -> None:
        """Rows whose keys have equal lowest bits, and no more, are found all the same."""
        groups: dict[int, list[int]] = {}
        for number in range(4000):
            groups.setdefault(stable_hash(number) & 0xFF, []).append(number)
        for keys in groups.values():
            table = table_of(TableSpec("t", "int64", {"a": "int64"}, len(keys)))
            table.load((key, key) for key in keys)
            assert [row[0] for row in table.rows()] == keys


class TestGroups:
    def test_another_process_finds_it_by_its_layout(self) -> None:
        world = World(SPECS)
        world.tables[2].put((1, "a"), 2, [3], [4])
        layout = pickle.loads(pickle.dumps(world.group.layout))
        group = Group.attach(world.arena, layout)
        assert list(group.table("pairs").rows()) == [((1, "a"), 2, (3,), (4,))]
        assert group.elements == (None, 3, 4)
        with pytest.raises(
            KeyError, match="there is no table 'pears' here: there are accounts, places, pairs"
        ):
            group.table("pears")

    def test_it_takes_what_it_says(self) -> None:
        size = Group.size(SPECS, 3, 4096)
        arena = Arena.private(size)
        tables = [Table.create(arena, spec) for spec in SPECS]
        Group.create(arena, tables, [LogSpec(0, task) for task in range(3)], 4096)
        assert arena.statistics().used_bytes == size
        with pytest.raises(ArenaError):
            Table.create(Arena.private(1024), ACCOUNTS)

    def test_a_new_one_has_evaluated_nothing(self) -> None:
        group = World(SPECS, [LogSpec(0, 0), LogSpec(0, 1)]).group
        assert group.evaluate(HOLDER, 0) == (Outcome.NOTHING, None)
        assert (group.is_due(0), group.is_due(None), group.evaluated()) == (False, False, LEAST)
        assert (group.counts(), group.holding(), group.bury(HOLDER)) == (Counts(0, 0, 0, 0, 0), 0, False)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((SPECS, 1, 4095), "log_bytes=4095: expected a power of two from 4096"),
            ((SPECS, 1, 2048), "log_bytes=2048: expected"),
            ((SPECS, 0), "5 tables, those of sets' elements included, and 0 logs"),
            (([ACCOUNTS, ACCOUNTS], 1), "a group has two tables called 'accounts'"),
        ],
    )
    def test_what_is_none_is_refused(self, arguments: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Group.size(*arguments)
