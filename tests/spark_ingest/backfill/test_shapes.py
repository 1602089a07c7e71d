"""The components that take part, the streams that they receive, and the keys that rows are grouped by."""

from __future__ import annotations

from framework.testing.preparing import loaded
from spark_ingest.backfill.shapes import Feed, Key, Output, Stage, make_stages, needed
from tests.spark_ingest.backfill.topologies import Shop

SHOP = loaded(Shop)
STATELESS = {component.id: component.id in ("large", "names") for component in SHOP.components}


def stages(*outputs: str) -> dict[str, Stage]:
    made = make_stages(SHOP, [Output.parse(name) for name in outputs], STATELESS)
    return {stage.component: stage for stage in made}


def test_names_of_outputs() -> None:
    for name, output in {"a": Output("a"), "a/b": Output("a", "b"), "a/default": Output("a")}.items():
        assert Output.parse(name) == output
    assert [Output("a").name, Output("a", "b").name] == ["a", "a/b"]


def test_only_what_the_outputs_come_through() -> None:
    assert needed(SHOP, [Output("meet")]) == {"events", "sums", "names", "meet"}
    assert list(stages("large")) == ["events", "large"]


def test_a_stage_sends_what_others_receive_or_want() -> None:
    assert stages("meet")["sums"].streams == ("odd",)
    assert stages("meet", "sums")["sums"].streams == ("default", "odd")


def test_rows_are_grouped_once_for_each_key() -> None:
    events = stages("meet", "sums", "items")["events"]
    assert events.keys == (Key("default", ("user",)), Key("default", ("item",)))


def test_two_inputs_meet_by_fields_of_other_names() -> None:
    meet = stages("meet")["meet"]
    assert meet.feeds == (
        Feed("sums", "odd", Key("odd", ("user",))),
        Feed("names", "default", Key("default", ("name",))),
    )
    assert meet.is_sharded


def test_a_bolt_without_state_stays_where_its_input_is() -> None:
    assert not stages("large")["large"].is_sharded
    assert stages("large")["events"].keys == ()
