"""`viperstorm` gives every public name: the object that another package holds, with its type."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import framework
import framework.operators.kafka
import viperstorm
from framework.frontends.loading import load

REPOSITORY = Path(__file__).parents[2]

HOMES = {
    "viperstorm": "framework",
    "viperstorm.aggregates": "framework.operators.windows.aggregates",
    "viperstorm.config": "framework.model.config",
    "viperstorm.recording": "framework.recording",
    "viperstorm.runtime": "framework.runtime",
    "viperstorm.sinks": "framework.operators.sinks",
    "viperstorm.sources": "framework.operators.sources",
    "viperstorm.spark": "spark_ingest",
    "viperstorm.streams": "framework.frontends.streams",
    "viperstorm.testing": "framework.testing",
}
"""The modules that have the names of another one's ``__all__``, and that other one."""

OF_KAFKA = {"viperstorm.sinks": ["KafkaSink"], "viperstorm.sources": ["KafkaSource"]}
"""The names that modules have besides, from ``framework.operators.kafka``."""

TYPED = """
from viperstorm import Bolt, Grouping, Topology
from viperstorm.sinks import ConsoleSink
from viperstorm.spark import JobError
from viperstorm.testing import run_bolt

reveal_type(Grouping.SHUFFLE)
reveal_type(run_bolt(ConsoleSink, [["a"]]).emitted())
reveal_type(JobError("no"))


class Words(Topology):
    missing: int = Bolt.no_such_name
"""


@pytest.mark.parametrize(("name", "home"), HOMES.items())
def test_names_are_those_of_the_home(name: str, home: str) -> None:
    public, of_home = importlib.import_module(name), importlib.import_module(home)
    beside = OF_KAFKA.get(name, [])
    assert list(public.__all__) == [*beside, *of_home.__all__]
    assert all(getattr(public, entry) is getattr(framework.operators.kafka, entry) for entry in beside)
    # These need pyspark or pyarrow.
    late = {"SparkSpout", "Source", "Dataset", "backfill", "prepare", *beside}
    for entry in set(public.__all__) - late:
        assert getattr(public, entry) is getattr(of_home, entry), entry


def test_every_class_of_a_module_without_a_list_is_there() -> None:
    home = importlib.import_module("framework.model.errors")
    public = importlib.import_module("viperstorm.errors")
    assert sorted(public.__all__) == sorted(own_classes(home))
    assert all(getattr(public, entry) is getattr(home, entry) for entry in public.__all__)


def own_classes(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]


def test_a_class_is_the_same_class_under_both_names() -> None:
    assert viperstorm.Bolt is framework.Bolt
    assert viperstorm.Topology is framework.Topology


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'viperstorm\.spark' has no attribute 'Nope'"):
        importlib.import_module("viperstorm.spark").Nope  # noqa: B018


@pytest.mark.slow  # mypy reads the whole package
def test_mypy_sees_the_types(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    command += ["--cache-dir", str(tmp_path / "cache")]
    # mypy does not follow an editable installation by itself.
    environ = {**os.environ, "MYPYPATH": str(REPOSITORY)}
    ran = subprocess.run([*command, "user.py"], cwd=tmp_path, env=environ, capture_output=True, text=True)
    lines = [line.partition(" ")[2] for line in ran.stdout.splitlines()]
    assert lines == [
        'note: Revealed type is "framework.model.topology.grouping.Grouping"',
        'note: Revealed type is "list[tuple[Any, ...]]"',
        'note: Revealed type is "spark_ingest.errors.JobError"',
        'error: "type[Bolt]" has no attribute "no_such_name"  [attr-defined]',
        "1 error in 1 file (checked 1 source file)",
    ]


def test_yaml_names_classes_by_it(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "from viperstorm import Spout\n\n\n"
        "class Words(Spout):\n    outputs = ['word']\n\n    def tuples(self):\n        yield ['a']\n"
    )
    file = tmp_path / "words.yaml"
    file.write_text(
        "name: words\nspouts:\n  - {id: words, className: words.Words}\n"
        "bolts:\n  - {id: out, className: viperstorm.sinks.CountingSink}\n"
        "streams:\n  - {from: words, to: out, grouping: {type: SHUFFLE}}\n"
    )
    loaded = load(str(file))
    assert loaded.problems == ()
    assert loaded.topology is not None
    (bolt,) = loaded.topology.bolts
    assert (
        bolt.implementation.definition.cls
        is importlib.import_module("framework.operators.sinks").CountingSink
    )


def test_python_m_viperstorm_is_the_command(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "viperstorm", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.stdout.startswith("viper, version ")


@pytest.mark.parametrize("name", ["framework", "viperstorm"])
def test_names_are_imported_when_the_first_is_asked_for(name: str) -> None:
    told = f"""
import sys
import {name}
assert not any(found.startswith("framework.operators") for found in sys.modules), "imported already"
assert {{"Bolt", "run"}} <= set(dir({name})) and "no_such_name" not in dir({name})
assert {name}.Bolt is sys.modules["framework.operators.components"].Bolt
assert not hasattr({name}, "no_such_name")
from {name} import *
assert Spout is {name}.Spout
"""
    subprocess.run([sys.executable, "-c", told], check=True, cwd=REPOSITORY)
