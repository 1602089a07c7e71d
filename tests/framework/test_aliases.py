"""Old names of packages import the modules that have new ones, and no second ones."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import pytest

import framework
from framework.aliases import MOVED, current_name
from framework.operators.components import Tuple


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_imports_the_module_of_the_new_one(old: str) -> None:
    new = importlib.import_module(f"framework.{MOVED[old]}")
    assert importlib.import_module(f"framework.{old}") is new
    assert new.__name__ == f"framework.{MOVED[old]}"
    assert new.__spec__ is not None and new.__spec__.name == new.__name__


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("framework.sinks.line_sinks", "framework.operators.sinks.line_sinks"),
        ("framework.windows.aggregates", "framework.operators.windows.aggregates"),
        ("framework.adapters.serve", "framework.frontends.streamparse.serve"),
        ("framework.runtime.inputs", "framework.runtime.exchange.inputs"),
        ("framework.runtime.run", None),
        ("framework.operators.sinks", None),
        ("framework", None),
        ("other.sinks", None),
    ],
)
def test_the_longest_old_name_counts(old: str, new: str | None) -> None:
    assert current_name(old) == new
    if new is not None:
        assert importlib.import_module(old) is importlib.import_module(new)


def test_a_new_interpreter_begins_with_old_names() -> None:
    code = """
import sys
from framework.sinks import JsonLinesSink
import framework.sources.file_source as by_old_name
import framework.operators.sources.file_source as by_new_name
import viperstorm.sinks
assert by_old_name is by_new_name and JsonLinesSink is viperstorm.sinks.JsonLinesSink
assert "framework.operators.sinks" in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_the_package_imports_nothing_by_an_old_name() -> None:
    code = "import sys, framework; print(*filter(framework.aliases.current_name, sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == ""


def test_a_pickled_value_of_an_old_name_is_read() -> None:
    data = pickle.dumps(Tuple("1", "spout", "default", 3, ("a",)), 0)
    old = data.replace(b"framework.operators.components.tuple", b"framework.components.tuple")
    assert old != data
    assert type(pickle.loads(old)) is Tuple


@pytest.mark.parametrize("name", ["framework.multilang.serve", "framework.adapters.serve"])
def test_a_module_is_run_by_its_old_name(name: str) -> None:
    code = f"import runpy; assert callable(runpy.run_module({name!r}, run_name='served')['main'])"
    subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", code], check=True)


def test_a_module_that_there_never_was_is_named_as_it_was_asked_for() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"framework\.sinks\.nothing"):
        importlib.import_module("framework.sinks.nothing")


def test_no_old_name_is_that_of_a_package() -> None:
    assert not [name for name in MOVED if (framework.__spec__ and current_name(f"framework.{MOVED[name]}"))]
