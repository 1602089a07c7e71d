"""The documentation names every key, and its examples are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from framework.frontends.flux import keys
from framework.model.topology import GroupingKind, Loaded

TEXT = (Path(__file__).parents[4] / "docs" / "flux.md").read_text("utf-8")


def test_every_key_and_grouping_is_named() -> None:
    sets = (keys.TOPOLOGY, keys.VERTEX, keys.SOURCE, keys.STREAM, keys.GROUPING, keys.INCLUDE, keys.OUTPUT)
    named = {*(key for found in sets for key in found), *keys.PROPERTY, *keys.CONFIG_METHOD, *GroupingKind}
    assert {key for key in named if not re.search(rf"\b{key}\b", TEXT)} == set()


def test_the_examples_have_no_mistake_but_their_classes(load: Callable[..., Loaded]) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert examples
    for example in examples:
        assert {problem.message[:7] for problem in load(example).problems} == {"'words."}
