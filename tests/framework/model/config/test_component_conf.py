"""The configuration that one component sees."""

from __future__ import annotations

from typing import Any

import pytest

from framework.model.config import component_conf, resolve, task_count
from framework.model.topology import ComponentSpec, ObjectDef, PythonImplementation, Role, Topology


def bolt(
    config: dict[str, Any] | None = None, parallelism: int = 1, tasks: int | None = None
) -> ComponentSpec:
    implementation = PythonImplementation(ObjectDef("m.Bolt"))
    return ComponentSpec("b", Role.BOLT, implementation, (), (), parallelism, tasks, config or {})


def conf(component: ComponentSpec, config: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    topology = Topology("wc", (component,), config or {})
    settings, _ = resolve(topology, options={key.replace("_", "."): value for key, value in options.items()})
    return component_conf(settings, topology, component)


def test_it_has_everything_of_the_topology() -> None:
    found = conf(bolt(), {"my.key": 1, "topology.workers": 2})
    assert (found["my.key"], found["topology.workers"], found["viper.jumbo.size"]) == (1, 2, 1024)


def test_the_topologys_name_is_its_own_unless_it_is_configured() -> None:
    assert conf(bolt())["topology.name"] == "wc"
    assert conf(bolt(), topology_name="other")["topology.name"] == "other"


def test_a_components_own_keys_stand_above_the_topologys() -> None:
    own = {"my.key": 2, "topology.debug": True, "viper.mutates": False, "pystorm.log.level": "debug"}
    assert conf(bolt(own), {"my.key": 1}).items() >= own.items()


def test_keys_that_storm_does_not_let_a_component_change_keep_the_topologys_value() -> None:
    own = {"topology.workers": 9, "topology.tasks": 9, "topology.kryo.register": ["x"], "viper.jumbo.size": 9}
    found = conf(bolt(own), {"topology.workers": 2})
    assert (found["topology.workers"], found["topology.tasks"], found["viper.jumbo.size"]) == (2, None, 1024)
    assert "topology.kryo.register" not in found


def test_storms_window_keys_reach_the_component() -> None:
    assert conf(bolt({"topology.bolts.window.length.count": 5}))["topology.bolts.window.length.count"] == 5


def test_bad_values_do_not_reach_the_component() -> None:
    assert conf(bolt({"viper.mutates": "no", 3: 4}))["viper.mutates"] is True  # type: ignore[dict-item]


def test_each_call_gives_a_copy_of_its_own() -> None:
    component = bolt({"mine": {"list": [1]}})
    first = conf(component, {"shared": [1]})
    first["mine"]["list"].append(2)
    first["shared"].append(2)
    second = conf(component, {"shared": [1]})
    assert (second["mine"], second["shared"]) == ({"list": [1]}, [1])
    assert component.config == {"mine": {"list": [1]}}


@pytest.mark.parametrize(
    ("component", "topology_config", "expected"),
    [
        (bolt(parallelism=3), {}, 3),
        (bolt(parallelism=3, tasks=5), {"topology.tasks": 7}, 5),
        (bolt({"topology.tasks": 4}, parallelism=3), {"topology.tasks": 7}, 4),
        (bolt(parallelism=3), {"topology.tasks": 7}, 7),
        (bolt(parallelism=3, tasks=5), {"topology.max.task.parallelism": 2}, 2),
        (bolt({"topology.max.task.parallelism": 4}, parallelism=9), {"topology.max.task.parallelism": 2}, 4),
        (bolt(parallelism=2), {"topology.max.task.parallelism": 4}, 2),
        (bolt({"topology.tasks": "many"}, parallelism=2), {}, 2),
    ],
)
def test_the_number_of_tasks(
    component: ComponentSpec, topology_config: dict[str, Any], expected: int
) -> None:
    assert task_count(component, conf(component, topology_config)) == expected
