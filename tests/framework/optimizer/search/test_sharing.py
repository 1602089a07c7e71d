"""The bolts for which a plan chooses claims, by how their tuples' times vary."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Grouping, TopologyBuilder, ValueState
from framework.optimizer.costs import ComponentCost, Deployment, Profile, Variation
from framework.optimizer.search.sharing import in_words, sharing_of, sharing_options
from tests.framework.runtime.pieces import Numbers, plan_of

STATELESS = {"viper.stateless": True}
WAITING = {**STATELESS, "viper.blocking": True}


class Passing(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Counting(Passing):
    count = ValueState("int64", default=0)


def chosen(
    config: dict[str, Any],
    variation: Variation | None,
    tasks: int = 2,
    bolt: type[Bolt] = Passing,
    **options: Any,
) -> tuple[bool, str] | None:
    """The choice for a bolt with several tasks, and what is said of it; None if there was none to make."""
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers(1))
    declared = builder.set_bolt("passing", bolt, config=config)
    declared.grouping("numbers", Grouping.fields("number") if bolt is Counting else Grouping.SHUFFLE)
    plan, settings = plan_of(builder, **options)
    profile = Profile({"numbers": ComponentCost(1.0), "passing": ComponentCost(1.0, variation=variation)})
    deployment = Deployment({"numbers": (0,), "passing": tuple(range(tasks))})
    found = sharing_of(plan, settings, profile, deployment)
    assert sharing_options(found) == (
        {"viper.sharing": {"passing": "claims"}} if found and found["passing"].claims else {}
    )
    return (found["passing"].claims, in_words("passing", found["passing"])) if found else None


@pytest.mark.parametrize(
    ("config", "variation", "claims", "said"),
    [
        (STATELESS, Variation(35.0, 0.5), True, "passing: claims, as tuples that take 1,000 times as long"),
        (STATELESS, Variation(35.0, 0.19), False, "have 19% of its time (from 20% on)"),
        (WAITING, Variation(1.2, 0.0), True, "as it waits, and the spread of its times is 1.2 (from 0.5 on)"),
        (WAITING, Variation(0.4, 0.9), False, "passing: dealt, as it waits"),
        (STATELESS, None, False, "the profile has no spread of its times: make it again with viper profile"),
        ({}, Variation(35.0, 0.9), False, "set viper.stateless to true"),
    ],
)
def test_claims_are_chosen_where_times_vary(
    config: dict[str, Any], variation: Variation | None, claims: bool, said: str
) -> None:
    found = chosen(config, variation)
    assert found is not None
    assert found[0] is claims and said in found[1]


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ({**STATELESS, "viper.sharing": "dealt"}, {}),
        ({**STATELESS, "viper.sharing": "claims"}, {}),
        (STATELESS, {"viper__sharing": "dealt"}),
        (STATELESS, {"viper__sharing": {"passing": "dealt"}}),
    ],
)
def test_what_the_user_has_said_stays(config: dict[str, Any], options: dict[str, Any]) -> None:
    assert chosen(config, Variation(35.0, 0.9), **options) is None


def test_state_by_key_is_left_to_the_user() -> None:
    found = chosen({}, Variation(35.0, 0.9), bolt=Counting)
    assert found is not None and not found[0]
    assert "no profile has the shares of keys" in found[1]


def test_a_single_task_has_nobody_to_share_with() -> None:
    assert chosen(STATELESS, Variation(35.0, 0.9), tasks=1) is None
