"""Errors by the line that has raised them."""

from __future__ import annotations

from collections.abc import Mapping

from framework.runtime.observation.incidents import (
    MOST_SITES,
    OTHERS,
    ErrorSite,
    added_sites,
    raised_once_more,
)


def raised(*places: str) -> Mapping[str, ErrorSite]:
    sites: Mapping[str, ErrorSite] = {}
    for second, place in enumerate(places):
        sites = raised_once_more(sites, place, ValueError(f"at\n {second}"), float(second))
    return sites


def test_the_last_message_of_a_line_is_kept() -> None:
    sites = raised("a.py:1", "b.py:2", "a.py:1")
    assert sites["a.py:1"] == ErrorSite("a.py:1", "ValueError", "at 2", 2, 2.0)
    assert sites["b.py:2"].count == 1


def test_earlier_sites_stay_as_they_are_for_whoever_is_reading_them() -> None:
    before = raised("a.py:1")
    raised_once_more(before, "a.py:1", KeyError("x"), 9.0)
    assert before["a.py:1"].count == 1


def test_sites_of_several_tasks_are_added() -> None:
    total = added_sites([raised("a.py:1", "a.py:1"), raised("a.py:1", "b.py:2")])
    assert {place: site.count for place, site in total.items()} == {"a.py:1": 3, "b.py:2": 1}
    assert total["a.py:1"].message == "at 1"


def test_lines_beyond_the_first_ones_count_together() -> None:
    sites = raised(*(f"a.py:{n}" for n in range(MOST_SITES + 5)))
    assert len(sites) == MOST_SITES + 1 and sites[OTHERS].count == 5
    assert sum(site.count for site in sites.values()) == MOST_SITES + 5


def test_long_messages_are_shortened() -> None:
    sites = raised_once_more({}, "a.py:1", ValueError("x" * 10_000), 0.0)
    assert len(sites["a.py:1"].message) == 300
