"""Arguments of `run` that are of wrong types: they are refused before anything starts, each by its name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from framework import Spout, TopologyBuilder, run
from framework.operators.sinks import CollectingSink


class Never(Spout):
    outputs = ["value"]

    def __init__(self) -> None:
        raise AssertionError("nothing is to start")


class Two(Spout):
    outputs = ["value"]

    def tuples(self) -> Any:
        yield [1]
        yield [2]


def topology(spout: type[Spout]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    builder.set_bolt("sink", CollectingSink).global_grouping("spout")
    return builder


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("conf", [("viper.worker", "inline")], "a mapping of configuration by key, or None"),
        ("worker", 3, "a str, or None"),
        ("workers", 1.5, "an int or 'auto', or None"),
        ("duration_s", "x", "a number of seconds, or None"),
        ("duration_s", True, "a number of seconds, or None"),
        ("duration_s", float("nan"), "a number of seconds, or None"),
        ("max_tuples", "10", "an int, or None"),
        ("max_tuples", 1.0, "an int, or None"),
        ("seed", "1", "an int, or None"),
        ("environment", 1, "a str, or None"),
        ("record", 1, "a path, as a str or os.PathLike, or None"),
        ("replay", 1, "a path, as a str or os.PathLike, or None"),
        ("start", b"x", "a path, as a str or os.PathLike, or None"),
        ("checkpoints", True, "a path, as a str or os.PathLike, or None"),
        ("control", 1, "a path, as a str or os.PathLike, or None"),
        ("rename", {"a": 1}, "a mapping of new names by old ones, or None"),
        ("stop", print, "a viperstorm.runtime.StopSignal, or None"),
        ("on_progress", "print", "a function of the progress, or None"),
        ("resume", "no", "True or False"),
        ("resume", None, "True or False"),
    ],
)
def test_it_is_named(name: str, value: object, expected: str) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(TypeError) as error:
        run(topology(Never), **wrong)
    assert str(error.value) == f"run() got {name}={value!r}, a {type(value).__name__}: expected {expected}"


def test_all_are_named() -> None:
    wrong: dict[str, Any] = {"duration_s": "x", "seed": 1.5}
    with pytest.raises(TypeError, match=r"duration_s='x', a str: .*; seed=1\.5, a float: "):
        run(topology(Never), **wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    given: dict[str, Any] = {"duration_s": np.float64(60), "max_tuples": np.int64(1)}
    assert run(topology(Two), worker="inline", **given).result("sink") == [(1,)]
