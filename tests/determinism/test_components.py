"""Process workers need components that a fresh interpreter finds by name."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

from framework.operators.components import Component
from tests.determinism import components, special_components, state_components
from tests.determinism.components import Numbers
from tests.determinism.noise import NOISE, Noise, Silence, noise_of

CLASSES = sorted(
    {
        f"{cls.__module__}:{cls.__qualname__}"
        for module in (components, special_components, state_components)
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__
    }
)

FIND = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[1])
for name in sys.argv[2:]:
    module, _, cls = name.partition(":")
    assert getattr(importlib.import_module(module), cls).__module__ == module, name
    print(name)
print(*sorted({"pytest", "hypothesis"} & set(sys.modules)))
"""


def test_a_child_with_this_path_finds_every_class_and_loads_no_test_tools() -> None:
    path = json.dumps(sys.path)
    ran = subprocess.run(
        [sys.executable, "-c", FIND, path, *CLASSES], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [*CLASSES, ""]


def test_the_classes_are_what_the_tests_themselves_see() -> None:
    """One class under two names would be two classes in the two processes."""
    assert sys.modules["tests.determinism.components"].Numbers is Numbers
    assert Numbers.__module__ == "tests.determinism.components"


@pytest.fixture
def component() -> Component:
    made = Component()
    made.component_name, made.task_id = "work", 3
    return made


def test_noise_is_drawn_from_the_seed_and_the_task(component: Component) -> None:
    drawn = [noise_of(component, {NOISE: "x"}) for _ in range(2)]
    component.task_id = 4
    drawn.append(noise_of(component, {NOISE: "x"}))
    pauses = [[noise.pauses() for _ in range(500)] for noise in drawn]
    assert pauses[0] == pauses[1] != pauses[2]
    assert 0 < sum(pauses[0]) < 100


def test_without_a_seed_there_is_silence(component: Component) -> None:
    noise = noise_of(component, {NOISE: None})
    assert isinstance(noise, Silence)
    assert not any(noise.pauses() for _ in range(500))


def test_noise_pauses_in_each_of_its_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    noise = Noise("1")
    for _ in range(5_000):
        noise()
    assert slept.count(0) > 50
    assert 0 < len([seconds for seconds in slept if seconds]) < 50
