"""`viper plan` says how each join finds its pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framework.cli import main
from framework.cli.plan import _joining
from framework.operators.components import JoinBolt
from framework.operators.windows.joins import Band, Equal, Within
from tests.framework.operators.windows.joins.joined import FIELDS, joining
from tests.framework.runtime.pieces import plan_of

TOPOLOGY = Path(__file__).parents[3] / "topologies" / "stretch_scalejoin.yaml"
ON = Band(2, left="x", right="a") & Equal(left="k", right="l") & Within("1s")


@pytest.mark.parametrize(
    "typed, given, by",
    [
        (True, {"index": ["k", "x"]}, "an index by x, k"),
        (True, {}, "a scan of x in C"),
        (True, {"scan": "numpy"}, "a scan of x in NumPy"),
        (False, {}, "each stored tuple in turn"),
        (False, {"index": "k", "how": "left"}, "an index by k"),
    ],
)
def test_a_join_says_how_it_searches(typed: bool, given: dict[str, Any], by: str) -> None:
    bolt = JoinBolt("left", "right", ON, FIELDS, **given)
    plan, _ = plan_of(joining([], bolt, 2, ("k", "l"), typed=typed))
    on = "|x - a| <= 2 and k = l"
    assert _joining(plan) == [{"component": "join", "how": given.get("how", "inner"), "on": on, "by": by}]


def test_the_command_shows_it() -> None:
    def told(*options: str) -> str:
        return CliRunner().invoke(main, ["plan", str(TOPOLOGY), *options]).stdout

    assert json.loads(told("--json"))["joins"][0]["by"] == "a scan of x, y in C"
    (line,) = [line for line in told().splitlines() if line.startswith("join  inner")]
    assert line.endswith("|x - a| <= 10 and |y - b| <= 10  a scan of x, y in C")
