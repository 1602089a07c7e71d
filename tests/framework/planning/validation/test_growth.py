"""Validation takes work in proportion to a topology's size: calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from framework.frontends.loading import load
from framework.model.errors import LoadError
from framework.model.importing import import_object
from framework.model.topology import Grouping, Input, Stream, Topology
from framework.planning.validation import check_runnable, validate
from tests.framework.planning.validation.examples import bolt, spout, topology

PROPORTIONAL = 2.2
"""The limit of the ratio of calls for twice the size; 4 would be the square."""


def calls_in(work: Callable[[], object]) -> int:
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def chain(length: int) -> Topology:
    """One bolt after the other, the last of them feeding the first, so that there is a cycle to be found."""
    sources = ["lines", *(f"bolt{number}" for number in range(length - 1))]
    inputs = [[Input(source, Grouping.SHUFFLE)] for source in sources]
    inputs[0].append(Input(f"bolt{length - 1}", Grouping.SHUFFLE))
    outputs = (Stream(["line"]),)
    return topology(spout(), *(bolt(f"bolt{n}", *found, outputs=outputs) for n, found in enumerate(inputs)))


@pytest.mark.parametrize("check", [validate, check_runnable])
def test_validation_grows_with_the_topology(check: Callable[[Topology], object]) -> None:
    small, large = chain(100), chain(200)
    check(small)  # what is made at the first use, e.g. the defaults, is not counted
    assert calls_in(lambda: check(large)) < PROPORTIONAL * calls_in(lambda: check(small))


def test_the_cycle_of_a_long_chain_is_told_at_its_bolt() -> None:
    (problem,) = validate(chain(200))
    assert "bolt 'bolt0' is outside the order guarantee" in str(problem)
    assert "tuples from 'bolt199' come back through a cycle" in str(problem)


def test_reading_a_file_grows_with_it(tmp_path: Path) -> None:
    (tmp_path / "long_parts.py").write_text(PARTS)
    small, large = (written(tmp_path, length) for length in (100, 200))
    load(small)
    assert calls_in(lambda: load(large)) < PROPORTIONAL * calls_in(lambda: load(small))


@pytest.mark.parametrize("head", ["no_such_module", "os", "json", "xml.dom"])
def test_a_long_class_name_is_looked_up_from_its_top(head: str) -> None:
    def look_up(parts: int) -> None:
        with pytest.raises(LoadError, match=r"no module|has no"):
            import_object(".".join([head, *["part"] * parts, "Class"]))

    look_up(10)
    assert calls_in(lambda: look_up(200)) < PROPORTIONAL * calls_in(lambda: look_up(100))


PARTS = """
from viperstorm import Bolt, Spout


class Lines(Spout):
    outputs = ["line"]

    def tuples(self):
        yield ["a"]


class Pass(Bolt):
    outputs = ["line"]

    def process(self, tup):
        self.emit(tup.values)
"""


def written(folder: Path, length: int) -> str:
    lines = ["name: long", "spouts:", "  - {id: lines, className: long_parts.Lines}", "bolts:"]
    lines += [f"  - {{id: bolt{number}, className: long_parts.Pass}}" for number in range(length)]
    lines.append("streams:")
    sources = ["lines", *(f"bolt{number}" for number in range(length - 1))]
    lines += [
        f"  - {{from: {source}, to: bolt{number}, grouping: {{type: SHUFFLE}}}}"
        for number, source in enumerate(sources)
    ]
    file = folder / f"long{length}.yaml"
    file.write_text("\n".join(lines) + "\n")
    return str(file)
