"""Layers of configuration, from the shipped defaults to the options."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from framework.model.config import parse_option, project_files, resolve
from framework.model.errors import ConfigError
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    Path,
    Place,
    PythonImplementation,
    Role,
    SourceMap,
    Topology,
)


def topology(config: dict[str, Any] | None = None, component: dict[str, Any] | None = None) -> Topology:
    places: dict[Path, Place] = {
        ("config", "topology.workers"): Place("wc.yaml", 3),
        ("config",): Place("wc.yaml", 2),
        ("components", "words", "config"): Place("wc.yaml", 9),
    }
    words = ComponentSpec(
        "words", Role.SPOUT, PythonImplementation(ObjectDef("m.Words")), config=component or {}
    )
    return Topology("wc", (words,), config or {}, sources=SourceMap(places))


def messages(**arguments: Any) -> list[str]:
    given = arguments.pop("topology", None)
    return [str(problem) for problem in resolve(given, **arguments)[1]]


def test_without_anything_the_defaults_hold() -> None:
    settings, problems = resolve(None)
    assert problems == []
    assert settings["topology.workers"] == 1
    assert settings.origin("topology.workers").startswith("conf/defaults.yaml:")


def test_each_layer_overrides_those_before_it(tmp_path: pathlib.Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("# a comment\ntopology.workers: 2\n")
    second.write_text("topology.workers: 3\n")
    sources: list[tuple[int, str, dict[str, Any]]] = [
        (2, f"{first}:2", {"files": [first]}),
        (3, f"{second}:1", {"files": [first, second]}),
        (4, "wc.yaml:3", {"topology": topology({"topology.workers": 4})}),
        (5, "environment variable VIPER_TOPOLOGY_WORKERS", {"environ": {"VIPER_TOPOLOGY_WORKERS": "5"}}),
        (6, "option -o", {"options": {"topology.workers": 6}}),
    ]
    given: dict[str, Any] = {}
    for value, origin, layer in sources:
        given |= layer
        settings, problems = resolve(
            given.get("topology"), **{k: v for k, v in given.items() if k != "topology"}
        )
        assert (settings["topology.workers"], settings.origin("topology.workers")) == (value, origin)
        assert problems == []


def test_every_layer_that_sets_a_key_is_kept() -> None:
    settings, _ = resolve(topology({"topology.workers": 4}), options={"topology.workers": 6})
    assert [entry.value for entry in settings.entries["topology.workers"]] == [1, 4, 6]


def test_a_bad_value_is_reported_at_its_place_and_left_out() -> None:
    settings, problems = resolve(topology({"topology.workers": "two"}))
    assert settings["topology.workers"] == 1
    assert [str(p) for p in problems] == [
        "wc.yaml:3: topology.workers is 'two': expected an integer of at least 1, or 'auto'"
    ]


def test_a_bad_value_is_reported_even_where_a_higher_layer_overrides_it() -> None:
    assert len(messages(topology=topology({"topology.workers": 0}), options={"topology.workers": 2})) == 1


def test_an_unknown_key_of_a_reserved_family_is_an_error() -> None:
    assert messages(options={"viper.jumbo.sise": 3}) == [
        "option -o: unknown configuration key 'viper.jumbo.sise'; did you mean 'viper.jumbo.size'?"
    ]
    assert messages(options={"viper.zzz": 3}) == [
        "option -o: unknown configuration key 'viper.zzz': `viper config show` lists all keys"
    ]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("topology.wrokers", "; did you mean 'topology.workers'?"),
        ("topology.acme.secret.of.a.plugin", ": `viper config show` lists all keys"),
    ],
)
def test_an_unknown_key_of_storms_is_a_warning_and_is_kept(key: str, hint: str) -> None:
    settings, [problem] = resolve(topology({key: 3}))
    assert problem.warning
    assert problem.message == f"configuration key {key!r} is unknown here, only components see it{hint}"
    assert settings[key] == 3


@pytest.mark.parametrize("key", ["toplogy.workers", "Topology.Workers", "topology_workers"])
def test_a_key_that_is_nearly_a_known_one_is_a_warning_and_is_kept(key: str) -> None:
    settings, [problem] = resolve(None, options={key: 3})
    assert problem.warning
    assert problem.message.endswith("did you mean 'topology.workers'?")
    assert settings[key] == 3


def test_a_users_own_key_is_kept_without_a_word() -> None:
    settings, problems = resolve(topology({"redis.host": "localhost", "es": {"hosts": [1]}}))
    assert problems == []
    assert settings["redis.host"] == "localhost"


def test_a_storm_key_without_effect_is_accepted() -> None:
    assert messages(topology=topology({"topology.kryo.register": ["x"], "storm.zookeeper.port": 1})) == []


def test_nested_keys_are_refused_with_the_flat_form() -> None:
    assert messages(options={"viper": {"seed": 3}}) == [
        "option -o: configuration keys are flat: write 'viper.seed: ...' without nesting"
    ]


def test_a_key_that_is_no_text_is_refused() -> None:
    assert messages(topology=topology({1: 2})) == [  # type: ignore[dict-item]
        "wc.yaml:2: configuration key 1 is no text: expected a name such as 'topology.workers'"
    ]


def test_a_channel_must_hold_a_full_jumbo_tuple() -> None:
    expected = "viper.channel.tuples is 8192: expected at least viper.jumbo.size, which is 9000"
    assert messages(options={"viper.jumbo.size": 9000}) == [f"option -o: {expected}"]
    assert messages(options={"viper.jumbo.size": 9000, "viper.channel.tuples": 9000}) == []


def test_a_components_config_is_checked_too() -> None:
    config = {"viper.mutates": "no", "viper.statless": True, "topology.workers": 2, "my.key": 1}
    config |= {"topology.kryo.register": []}
    assert sorted(messages(topology=topology(component=config))) == [
        "wc.yaml:9: component 'words': unknown configuration key 'viper.statless'; "
        "did you mean 'viper.stateless'?",
        "wc.yaml:9: component 'words': viper.mutates is 'no': expected true or false",
        "wc.yaml:9: warning: component 'words': topology.workers has no effect here: "
        "set it in the topology's config",
    ]


def test_problems_come_in_the_order_of_their_places() -> None:
    config = {"topology.workers": 0, "viper.seed": -1}
    assert [text.partition(": ")[0] for text in messages(topology=topology(config))] == [
        "wc.yaml:2",
        "wc.yaml:3",
    ]


# -- environment variables


def test_values_of_environment_variables_are_yaml() -> None:
    settings, _ = resolve(None, environ={"VIPER_MUTATES": "false", "VIPER_TIME": "null", "VIPER_SEED": "7"})
    assert (settings["viper.mutates"], settings["viper.time"], settings["viper.seed"]) == (False, None, 7)


def test_an_unknown_variable_is_reported_with_the_nearest() -> None:
    assert messages(environ={"VIPER_JUMBO_SISE": "1", "HOME": "/"}) == [
        "environment variable VIPER_JUMBO_SISE: sets no known configuration key; "
        "did you mean 'VIPER_JUMBO_SIZE'?"
    ]


def test_a_variable_that_is_no_yaml_is_reported() -> None:
    [message] = messages(environ={"VIPER_SEED": "[1"})
    assert message.startswith("environment variable VIPER_SEED: '[1' is no valid YAML: ")


# -- files


def test_the_projects_file_is_found_unless_others_are_given(tmp_path: pathlib.Path) -> None:
    assert project_files(tmp_path) == ()
    (tmp_path / "viper.yaml").touch()
    assert project_files(tmp_path) == (tmp_path / "viper.yaml",)
    assert project_files(tmp_path, [pathlib.Path("other.yaml")]) == (pathlib.Path("other.yaml"),)


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("viper.seed: 1\nviper.seed: 2\n", 2, "configuration key 'viper.seed' is set again, after line 1"),
        ("\n- viper.seed\n", 2, "no valid YAML: expected a mapping of configuration keys to values"),
        ("viper.seed: 1\n? [a]\n: 2\n", 2, "no valid YAML: expected a configuration key"),
        ("viper.seed: 1\nviper.time: 'x\n", 3, "no valid YAML: found unexpected end of stream"),
        ("viper.seed: !!python/name:os.system x\n", 1, "no valid YAML: could not determine a constructor"),
        ("a: 2024-99-99\n", 0, "no valid YAML: month must be in 1..12"),
        ("a: \x07\n", 0, "no valid YAML: unacceptable character"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported(
    tmp_path: pathlib.Path, content: str, line: int, complaint: str
) -> None:
    file = tmp_path / "viper.yaml"
    file.write_text(content)
    [problem] = resolve(None, files=[file])[1]
    assert (problem.place.file, problem.place.line) == (str(file), line)
    assert problem.message.startswith(complaint)


def test_a_missing_file_is_reported(tmp_path: pathlib.Path) -> None:
    assert messages(files=[tmp_path / "no.yaml"]) == [
        f"{tmp_path / 'no.yaml'}: cannot be read: No such file or directory"
    ]


def test_an_empty_file_sets_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "viper.yaml").write_text("# nothing yet\n")
    assert messages(files=[tmp_path / "viper.yaml"]) == []


# -- options


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("topology.workers=2", ("topology.workers", 2)),
        ("a = x=y", ("a", "x=y")),
        ("hosts=[a, b]", ("hosts", ["a", "b"])),
        ("name=", ("name", None)),
        ("flag=true", ("flag", True)),
    ],
)
def test_an_option_is_a_key_and_a_yaml_value(text: str, expected: tuple[str, Any]) -> None:
    assert parse_option(text) == expected


@pytest.mark.parametrize("text", ["topology.workers", "=2", "  =2", "a=[1"])
def test_what_is_no_option_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="option"):
        parse_option(text)
