"""The matrix itself: it is what it says, and any of its variants can be run again."""

from __future__ import annotations

import pytest

from framework.model.config.keys import SCHEDULING
from tests.determinism.comparing import first_difference
from tests.determinism.sampling import SAMPLED
from tests.determinism.topologies import TOPOLOGIES
from tests.determinism.variants import JUMBO_SIZES, PARALLELISMS, SEEDS, kinds, parse, product, sample


def test_the_product_has_every_choice_once() -> None:
    for kind, workers in (("inline", 1), ("thread", 3), ("process", 3)):
        variants = list(product("chain", kind))
        assert len(variants) == len(PARALLELISMS) * len(JUMBO_SIZES) * len(SEEDS) * workers
        assert len(set(variants)) == len(variants)


def test_a_sample_is_the_same_for_the_same_seed_only() -> None:
    assert sample("chain", "inline", 8, 1) == sample("chain", "inline", 8, 1)
    assert sample("chain", "inline", 8, 1) != sample("chain", "inline", 8, 2)
    assert len({v.par for v in sample("chain", "inline", 80, 1)}) == len(PARALLELISMS)


def test_a_sample_uses_every_choice_somewhere() -> None:
    drawn = [v for name in TOPOLOGIES for v in sample(name, "inline", SAMPLED["inline"], 1)]
    assert {v.par for v in drawn} == set(PARALLELISMS)
    assert {v.jumbo for v in drawn} == set(JUMBO_SIZES)
    assert {v.seed for v in drawn} == set(SEEDS)
    assert {v.watched for v in drawn} == {False, True}
    assert {v.scheduling for v in drawn} == set(SCHEDULING)
    assert {v.options()["viper.channel.jumbos"] for v in drawn} == {1, 2, 64}


def test_a_variant_is_read_as_it_was_printed() -> None:
    for kind in kinds():
        for variant in sample("diamond", kind, 20, 3):
            again = parse(str(variant))
            assert again == variant
            assert (again.options(), again.watched) == (variant.options(), variant.watched)


@pytest.mark.parametrize("text", ["", "chain", "topology=chain par=1", "topology=none par=1 worker=inline"])
def test_what_is_no_variant(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no variant: expected topology=\.\.\. par=\.\.\. worker="):
        parse(text)


def test_the_first_difference_is_shown_with_its_neighbours() -> None:
    rows = [f"({n},)" for n in range(10)]
    shown = first_difference(rows, [*rows[:5], "(55,)", *rows[6:]])
    assert "first at row 5; 10 rows expected, 10 found" in shown
    assert "    4: (4,)\n  - 5: (5,)\n  + 5: (55,)\n    6: (6,)" in shown


def test_rows_that_are_missing_are_shown_too() -> None:
    shown = first_difference(["(1,)", "(2,)"], ["(1,)"])
    assert "first at row 1; 2 rows expected, 1 found" in shown
    assert "  - 1: (2,)\n  + 1: (no row)" in shown
