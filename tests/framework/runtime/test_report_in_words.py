"""A report as a notebook and a prompt show it: short, escaped, and with everything to beware of."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from framework import TopologyBuilder, run
from framework.cli.run import summary_lines
from framework.operators.sinks import CollectingSink
from framework.runtime import Incident, RunReport, RunStatistics, StopReason, TaskCounters
from tests.framework.runtime.workers.components import Forward, Numbers

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too'"


def report(**changed: Any) -> RunReport:
    found: dict[str, Any] = {
        "topology": "wordcount",
        "time": "logical",
        "reason": StopReason.EXHAUSTED,
        "elapsed_s": 2.0,
        "emitted": 1000,
        "components": {"lines": TaskCounters(emitted=1000), "sink": TaskCounters(processed=1000)},
        "results": {},
        "drained": True,
        "statistics": RunStatistics([], []),
    }
    return RunReport(**{**found, **changed})


def death(lost: int) -> Incident:
    return Incident(1, "was killed by SIGKILL", ["sink:2"], 1.0, lost, True, [])


class Elements(HTMLParser):
    """Collects the elements and the text of a page, and checks that all are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.elements.append(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def html(found: RunReport) -> Elements:
    return Elements(found._repr_html_())


def test_the_short_text_is_one_line() -> None:
    assert repr(report()) == "<RunReport wordcount: done after 2.0 s, 1,000 tuples processed, 500/s>"
    assert str(report()) == repr(report())


def test_the_short_text_has_everything_to_beware_of() -> None:
    differs = ["its code differs"]
    found = report(reason=StopReason.FAILED, drained=False, incidents=[death(7)], changes=differs)
    assert repr(found) == (
        "<RunReport wordcount: FAILED after 2.0 s, 1,000 tuples processed, 500/s; "
        "not as in the checkpoint: its code differs; "
        "A WORKER DIED: worker 1 (sink:2) was killed by SIGKILL after 1.0 s; 7 untracked tuples are lost; "
        "TUPLES ARE LOST: 7 that nobody tracks; the result is not whole; "
        "what was in flight when it failed is lost>"
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"incidents": [death(7)]},
        {"changes": ["its code differs"]},
        {"drained": False},
        {"twice": ["sink"], "components": {"lines": TaskCounters(anew=3), "sink": TaskCounters()}},
        {"components": {"lines": TaskCounters(late=3)}},
        {"components": {"lines": TaskCounters(unplanned=3)}},
        {"components": {"lines": TaskCounters(failed=3, reasons={"timeout": 3})}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_the_summary_warns_of_is_shown_everywhere(changed: dict[str, Any]) -> None:
    found = report(**changed)
    warned = found.warnings()
    assert warned
    page = html(found)
    for line in warned:
        assert f"  {line}" in summary_lines(found)
        assert line in repr(found)
        assert line in page.text
    assert page.elements.count("strong") == len(warned)


def test_the_lines_of_a_run_without_any_are_false_and_can_be_read_twice() -> None:
    clean = report()
    assert not clean.warnings()
    assert not clean.facts()
    assert not clean.of_checkpoints()
    facts = report(results={"sink": (12,)}).facts()
    assert (len(facts), facts[0], list(facts)) == (1, "result of sink: 12", ["result of sink: 12"])


def test_a_notebook_shows_the_counts_as_a_table() -> None:
    found = report(results={"sink": (12,)})
    page = html(found)
    assert page.text == (
        "wordcount: done after 2.0 s, 1,000 tuples processed, 500/s"
        "component" "emitted" "processed" "lines" "1,000" "0" "sink" "0" "1,000"
        "result of sink: 12"
    )  # fmt: skip
    assert set(page.elements) == {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}


def test_a_notebook_shows_no_colours_which_would_be_for_light_or_for_dark_pages() -> None:
    assert html(report()).attributes == {"style=text-align:left", "style=text-align:right"}


def test_values_are_escaped() -> None:
    found = report(
        topology=HOSTILE,
        components={HOSTILE: TaskCounters(emitted=1, late=1)},
        results={HOSTILE: (HOSTILE, [HOSTILE], Named(HOSTILE))},
        changes=[HOSTILE],
    )
    page = html(found)
    assert "script" not in page.elements
    assert page.text.count("<script>alert(1)</script>") == 10
    assert page.attributes == {"style=text-align:left", "style=text-align:right"}


class Named:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


class Raises:
    def __repr__(self) -> str:
        raise ValueError("no text")


def result(value: Any) -> str:
    (line,) = report(results={"sink": (value,)}).facts()
    return line.removeprefix("result of sink: ")


@pytest.mark.parametrize(
    "value",
    [
        [],
        (),
        (1,),
        {},
        [(1, "a"), (2, "it's")],
        {"a": [1, {"b": (2,)}]},
        {1, 2},
        b"\x00",
        None,
        1.5,
        "x" * 190,
        [["deep", [["deeper"]]]] * 3,
    ],
    ids=repr,
)
def test_a_short_result_is_shown_as_it_is(value: Any) -> None:
    assert result(value) == repr(value)


def test_a_long_result_is_cut() -> None:
    for value in ([("word", n) for n in range(999)], "x" * 999, dict.fromkeys(range(999)), [[["y" * 999]]]):
        assert result(value) == f"{repr(value)[:200]} ..."


def test_no_more_of_a_long_result_is_read_than_is_shown() -> None:
    read = []

    class Counted:
        def __repr__(self) -> str:
            read.append(self)
            return "row"

    assert result([[Counted()] * 50] * 100_000).startswith("[[row, row, ")
    assert len(read) < 100


def test_a_result_that_holds_itself_is_cut() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert result(cycle) == "[" * 200 + " ..."


def test_a_result_without_a_text_is_named() -> None:
    assert result([1, Raises()]) == "[1, <Raises, whose repr raised ValueError>]"


def test_a_page_is_small_whatever_a_run_has() -> None:
    ids = [f"bolt{n}" for n in range(5000)]
    found = report(
        components={id: TaskCounters(emitted=1, late=1) for id in ids},
        results={id: (["x" * 10_000],) for id in ids},
        changes=["y" * 10_000] * 5000,
    )
    page = html(found)
    assert "and 4,960 more components" in page.text
    assert re.findall(r"and [\d,]+ more lines", page.text) == ["and 9,960 more lines", "and 4,960 more lines"]
    assert len(found._repr_html_()) < 60_000
    assert len(repr(found)) < 2_000
    assert repr(found).endswith("; and 9,995 more lines>")


def test_a_run_without_a_component_is_shown() -> None:
    assert html(report(components={})).text.startswith("wordcount: done after 2.0 s, 0 tuples")




def test_a_run_shows_its_report() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[3])
    builder.set_bolt("middle", Forward).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    found = run(builder)
    assert re.fullmatch(r"<RunReport .*: done after \d+\.\d s, 6 tuples processed, [\d,]+/s>", repr(found))
    assert "result of sink: [('0',), ('0',), ('0',)]" in html(found).text


def test_counters_show_what_counted_something() -> None:
    found = TaskCounters(processed=3, reasons={"timeout": 1})
    found.costs.used(1.5)
    assert repr(found) == "TaskCounters(processed=3, reasons={'timeout': 1})"
    assert repr(TaskCounters()) == "TaskCounters()"
