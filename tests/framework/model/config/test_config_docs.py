"""The table of keys in the documentation says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from framework.model.config import KEYS
from framework.model.config.layers import defaults_layer, read_value

DOCS = Path(__file__).parents[4] / "docs" / "configuration.md"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|.*\| (yes )?\|$", re.MULTILINE)


def test_every_key_is_documented_with_its_default_and_whether_it_may_stand_in_a_component() -> None:
    rows = ROW.findall(DOCS.read_text("utf-8"))
    documented = {name: (default, bool(per_component)) for name, default, per_component in rows}
    assert documented.keys() == KEYS.keys()
    for name, (default, per_component) in documented.items():
        expected = defaults_layer()[name].value
        assert default == expected or read_value(default) == expected, name
        assert per_component == KEYS[name].per_component, name
