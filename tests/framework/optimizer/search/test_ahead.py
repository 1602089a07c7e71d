"""The least that places get of components not placed yet: no plan gives one less."""

from __future__ import annotations

import random
from functools import reduce
from operator import add

import pytest

from framework.optimizer.search.remainders import Ahead
from framework.optimizer.search.tables import Loads, Tables
from tests.framework.optimizer.costs.shapes import drawn


def placed(tables: Tables, chosen: tuple[int, ...]) -> Loads:
    """Sum the costs of the first components, by place."""
    count = len(chosen)
    parts = [tables.own[at][chosen[at]] for at in range(count)]
    parts += [
        table[chosen[one]][chosen[other]] for (one, other), table in tables.between.items() if other < count
    ]
    return reduce(lambda loads, more: tuple(map(add, loads, more)), parts, (0.0,) * tables.width)


@pytest.mark.parametrize("seed", range(20))
def test_no_plan_gives_a_place_less(seed: int) -> None:
    draw, tables = random.Random(seed), Tables(drawn(seed, 6, 1 + seed % 4, 3))
    ahead = Ahead(tables)
    for _ in range(50):
        chosen = tuple(draw.randrange(len(of)) for of in tables.choices)
        whole = placed(tables, chosen)
        for at in range(len(chosen)):
            known = ahead.of(chosen[:at], placed(tables, chosen[:at]))
            added = tuple(
                now - before
                for now, before in zip(
                    placed(tables, chosen[: at + 1]), placed(tables, chosen[:at]), strict=True
                )
            )
            least = map(sum, zip(known, added, ahead.of_choices[at][chosen[at]], strict=True))
            assert all(one <= other * (1 + 1e-9) + 1e-6 for one, other in zip(least, whole, strict=True)), (
                seed
            )


def test_a_place_has_the_consumer_or_sends_to_it() -> None:
    tables = Tables(drawn(21, 6, 3, 3))
    ahead = Ahead(tables)
    assert any(max(loads) > 0 for of in ahead.of_choices for loads in of)
