"""The known keys, their rules and the shipped defaults."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from framework.model.config import KEYS
from framework.model.config.checks import KNOWN
from framework.model.config.layers import KEY_OF_VARIABLE, defaults_layer, variable_of
from framework.model.config.storm_keys import STORM_PER_COMPONENT, STORM_WITHOUT_EFFECT


def test_the_defaults_file_names_the_same_keys() -> None:
    assert set(defaults_layer()) == set(KEYS)


@pytest.mark.parametrize("name", KEYS)
def test_every_default_is_valid_by_its_own_rule(name: str) -> None:
    assert KEYS[name].rule.complaint(defaults_layer()[name].value) is None


def test_no_key_both_has_an_effect_and_has_none() -> None:
    assert STORM_WITHOUT_EFFECT.isdisjoint(KEYS)


def test_storms_component_keys_are_known() -> None:
    assert set(KNOWN) >= STORM_PER_COMPONENT


def test_a_key_with_an_effect_may_stand_in_a_component_where_storm_lets_it() -> None:
    assert all(KEYS[name].per_component for name in STORM_PER_COMPONENT & set(KEYS))


def test_every_key_has_an_environment_variable_of_its_own() -> None:
    assert len(KEY_OF_VARIABLE) == len(KNOWN)
    assert variable_of("viper.jumbo.size") == "VIPER_JUMBO_SIZE"
    assert variable_of("topology.workers") == "VIPER_TOPOLOGY_WORKERS"
    assert variable_of("topology.auto-credentials") == "VIPER_TOPOLOGY_AUTO_CREDENTIALS"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("viper.jumbo.size", 0, "is 0: expected an integer from 1 to 65536"),
        ("viper.jumbo.size", 65537, "is 65537: expected an integer from 1 to 65536"),
        ("viper.jumbo.size", True, "is True: expected an integer from 1 to 65536"),
        ("viper.jumbo.size", 8.0, "is 8.0: expected an integer from 1 to 65536"),
        (
            "viper.jumbo.size",
            "8",
            "is '8': expected an integer from 1 to 65536; YAML takes it for text, write 8",
        ),
        (
            "viper.jumbo.linger.ms",
            "1e3",
            "is '1e3': expected a number of at least 0; YAML takes it for text, write 1000",
        ),
        (
            "viper.jumbo.linger.ms",
            "1e-3",
            "is '1e-3': expected a number of at least 0; YAML takes it for text, write 0.001",
        ),
        ("viper.jumbo.linger.ms", "-1e3", "is '-1e3': expected a number of at least 0"),
        ("viper.jumbo.linger.ms", "nan", "is 'nan': expected a number of at least 0"),
        ("viper.jumbo.linger.ms", -1, "is -1: expected a number of at least 0"),
        ("viper.jumbo.linger.ms", float("nan"), "is nan: expected a number of at least 0"),
        ("viper.jumbo.linger.ms", float("inf"), "is inf: expected a number of at least 0"),
        ("viper.jumbo.linger.ms", None, "is None: expected a number of at least 0"),
        ("viper.mutates", 1, "is 1: expected true or false"),
        ("viper.order", "Strict", "is 'Strict': expected 'relaxed' or 'strict'; did you mean 'strict'?"),
        (
            "viper.time",
            "evnt",
            "is 'evnt': expected 'event', 'logical' or 'ingest', or null; did you mean 'event'?",
        ),
        (
            "viper.worker",
            "processes",
            "is 'processes': expected 'inline', 'thread' or 'process', or null; did you mean 'process'?",
        ),
        ("viper.time", [], "is []: expected 'event', 'logical' or 'ingest', or null"),
        ("topology.tasks", 1025, "is 1025: expected an integer from 1 to 1024, or null"),
        ("topology.tick.tuple.freq.secs", 0, "is 0: expected a number of more than 0, or null"),
        ("topology.name", "a/b", "is 'a/b': expected text without any of / . : \\ and not empty, or null"),
        ("pystorm.log.path", 3, "is 3: expected text, or null"),
        (
            "pystorm.log.file",
            "{task}.log",
            "is '{task}.log': expected text without other fields than {topology_name}, {component_name}, "
            "{task_id}, {pid}",
        ),
        (
            "pystorm.log.format",
            "%(message)",
            "is '%(message)': expected a format of Python's logging, such as "
            "'%(asctime)s %(levelname)s %(message)s'",
        ),
    ],
)
def test_a_bad_value_is_told_with_what_is_allowed(name: str, value: Any, expected: str) -> None:
    assert KEYS[name].rule.complaint(value) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("viper.jumbo.size", 65536),
        ("viper.jumbo.linger.ms", 0),
        ("viper.jumbo.linger.ms", 0.5),
        ("viper.time", None),
        ("topology.tick.tuple.freq.secs", 0.1),
        ("topology.name", "Wörter zählen-1"),
        ("pystorm.log.level", "warn"),
    ],
)
def test_a_good_value_is_accepted(name: str, value: Any) -> None:
    assert KEYS[name].rule.complaint(value) is None


def test_yaml_is_imported_only_when_something_is_read() -> None:
    code = "import sys, framework.model.config; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
