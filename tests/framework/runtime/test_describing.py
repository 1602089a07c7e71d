"""The description of a run: its picture, its configuration with origins, and no secrets."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path

import pytest

from framework.runtime.leading.describing import HIDDEN, Describing, shown_value
from framework.runtime.observation import RunDescription
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.scaled import MOST, built


def described(tmp_path: Path) -> RunDescription:
    plan, settings = plan_of(built(), control=str(tmp_path), changes=[])
    return Describing(plan, settings, tmp_path).description()


def test_components_and_streams_are_those_of_the_topology(tmp_path: Path) -> None:
    found = described(tmp_path)
    depths = {each.id: each.depth for each in found.components}
    assert depths["source"] == 0 and all(depths[s.source] < depths[s.target] for s in found.streams)
    pieces = next(each for each in found.components if each.id == "pieces")
    assert (pieces.role, pieces.kind, pieces.implementation) == ("bolt", "Python", "Pieces")
    assert pieces.scalable and pieces.tasks == MOST
    assert pieces.conf["viper.parallelism.max"] == MOST
    assert found.checkpoints == str(tmp_path)


def test_every_setting_says_where_it_was_set(tmp_path: Path) -> None:
    found = described(tmp_path)
    assert len(found.settings) > 50 and all(each.origin for each in found.settings)
    assert next(each for each in found.settings if each.key == "viper.jumbo.size").is_default


def test_the_same_from_json(tmp_path: Path) -> None:
    found = described(tmp_path)
    assert RunDescription.from_object(json.loads(json.dumps(found.as_object()))) == found


@pytest.mark.parametrize("key", ["db.password", "API_TOKEN", "sasl-secret", "aws_private_key", "x.auth"])
def test_secrets_are_not_shown(key: str) -> None:
    assert shown_value(key, "sesame") == HIDDEN
    assert shown_value(key, None) is None


def test_nor_are_those_within_values() -> None:
    shown = shown_value("db", {"user": "a", "password": "b", "hosts": [{"pwd": "c"}]})
    assert shown == {"user": "a", "password": HIDDEN, "hosts": [{"pwd": HIDDEN}]}
    assert shown_value("url", "postgresql://ann:sesame@host/db") == f"postgresql://ann:{HIDDEN}@host/db"


@pytest.mark.parametrize("key", ["max.tokens", "author", "keys", "viper.key.groups"])
def test_words_that_only_look_like_secrets_are(key: str) -> None:
    assert shown_value(key, 7) == 7


def test_what_json_cannot_hold_is_text() -> None:
    found = shown_value("own", {date(2024, 5, 31): math.inf, "n": math.nan, "s": {3}})
    assert found == {"2024-05-31": "inf", "n": "nan", "s": [3]}
    json.dumps(found, allow_nan=False)


def test_other_values_are_shown_as_json_has_them() -> None:
    assert shown_value("topology.workers", 2) == 2
    assert shown_value("folder", Path("a/b")) == "a/b"
