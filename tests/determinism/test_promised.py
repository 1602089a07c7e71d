"""The order guarantee for topologies and configurations that are drawn from all that is promised.

``DETERMINISM_SEED`` chooses other ones; a failure names its number, and the command that repeats it is

    DETERMINISM_SEED=7 python -m pytest tests/determinism/test_promised.py -k inline-12
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from framework.model.topology import GroupingKind
from tests.determinism.comparing import SERIAL, Output, first_difference, unwatched, watched
from tests.determinism.components import Timed
from tests.determinism.promised import Promise, promise
from tests.determinism.promised_components import Asked, Gathers, Holds, Points, Sums
from tests.determinism.variants import WORKERS
from tests.portions import at_every_change
from tests.rotation import determinism_seed

DRAWN = {"inline": 60, "thread": 30, "process": 6}
"""The number that is drawn for each kind of worker: about a minute on two cores in all."""
CASES = [(kind, number) for kind, count in DRAWN.items() for number in range(count)]
CASES.sort(key=lambda case: case[1] >= DRAWN[case[0]] // 3)
"""A third of each kind first: they are run at every change."""


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "number"), at_every_change(CASES, len(CASES) // 3), ids=str)
def test_what_is_promised_holds(kind: str, number: int) -> None:
    drawn = promise(f"{determinism_seed()}/{number}", kind, WORKERS[kind])
    difference = difference_of(drawn, every_stream=number % 2 == 0)
    assert difference is None, f"{difference}\n{drawn}"


@pytest.mark.parametrize(("seed", "kind"), [("20780/12", "inline")])
def test_what_was_wrong_once(seed: str, kind: str) -> None:
    """The last batches of a bolt stood after all time, as its producer told too late how far that came."""
    drawn = promise(seed, kind, WORKERS[kind])
    for _ in range(3):  # the slices of a run depend on how long they take
        difference = difference_of(drawn, every_stream=True)
        assert difference is None, f"{difference}\n{drawn}"


def test_the_draw_leaves_nothing_out() -> None:
    drawn = [promise(f"{determinism_seed()}/{number}", "inline", WORKERS["inline"]) for number in range(400)]
    nodes = [node for one in drawn for node in one.nodes]
    kinds = {grouping.kind for node in nodes for _, grouping in node.reads}
    assert kinds == set(GroupingKind)
    assert {node.args[4] for node in nodes if node.cls is Asked} == {0, 1, 3, 10}
    for cls in (Timed, Sums, Gathers, Holds, Points):
        assert {node.par > 1 for node in nodes if node.cls is cls} == {False, True}, cls
    for key in ("viper.jumbo.size", "viper.channel.tuples", "viper.channel.jumbos", "viper.slice.tuples"):
        values = {one.options[key] for one in drawn}
        assert min(values) == 1, key
        assert max(values) >= 64, key


def difference_of(drawn: Promise, *, every_stream: bool) -> str | None:
    """Describe how the drawn plan's output differs from the serial one's, or why there is none."""
    expected = watched(drawn.build(serial=True), {**SERIAL, **drawn.shared}, strict=True)
    found: Mapping[str, Any]
    try:
        found = output(drawn, every_stream)
    except Exception as error:
        return f"the run raised {type(error).__name__}: {error}"
    for name, rows in found.items():
        if rows != expected[name]:
            return f"{name} differs\n{first_difference(expected[name], rows)}"
    return None


def output(drawn: Promise, every_stream: bool) -> Output:
    """Run the drawn plan: every stream, which then has a reader more, or only the sink's rows."""
    builder = drawn.build(serial=False)
    return (watched if every_stream else unwatched)(builder, {**drawn.shared, **drawn.options})
