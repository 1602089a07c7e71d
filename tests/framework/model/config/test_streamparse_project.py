"""The options of a streamparse project's config.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.model.config import resolve
from framework.model.topology import Place, SourceMap, Topology


@pytest.fixture
def topology(tmp_path: Path) -> Topology:
    """A topology that was loaded from ``topologies/wc.py`` of a project."""
    (tmp_path / "topologies").mkdir()
    place = Place(str(tmp_path / "topologies" / "wc.py"), 1)
    return Topology("wc", (), {"topology.debug": True}, sources=SourceMap({(): place}))


def write(folder: Path, content: Any) -> Path:
    path = folder / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_options_of_the_only_environment_apply_below_the_topologys_own(
    tmp_path: Path, topology: Topology
) -> None:
    path = write(tmp_path, {"envs": {"prod": {"options": {"topology.workers": 3, "topology.debug": False}}}})
    settings, problems = resolve(topology)
    assert problems == []
    assert (settings["topology.workers"], settings["topology.debug"]) == (3, True)
    assert settings.origin("topology.workers") == f"{path}: envs.prod"


def test_it_is_found_above_a_topology_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """streamparse looks for it in the current folder alone, and finds topologies by ``sub/name``."""
    write(tmp_path, {"envs": {"prod": {"options": {"topology.workers": 3}}}})
    place = Place(str(tmp_path / "topologies" / "sub" / "deep" / "wc.py"), 1)
    topology = Topology("wc", (), sources=SourceMap({(): place}))
    assert resolve(topology)[0]["topology.workers"] != 3
    monkeypatch.chdir(tmp_path)
    assert resolve(topology)[0]["topology.workers"] == 3


def test_log_entries_become_pystorms_keys(tmp_path: Path, topology: Topology) -> None:
    log = {"path": "/var/log", "max_bytes": 5, "backup_count": 2, "level": "WARN"}
    write(tmp_path, {"envs": {"prod": {"log": log, "log_file": "x.log"}}})
    settings, problems = resolve(topology)
    assert problems == []
    found = {
        key.removeprefix("pystorm.log."): settings[key] for key in settings if key.startswith("pystorm.log.")
    }
    assert found.items() >= (log | {"level": "warn", "file": "x.log"}).items()


def test_an_empty_log_path_is_none(tmp_path: Path, topology: Topology) -> None:
    write(tmp_path, {"envs": {"prod": {"log": {"path": ""}}}})
    assert resolve(topology)[0]["pystorm.log.path"] is None


def test_one_of_several_environments_is_chosen_by_name(tmp_path: Path, topology: Topology) -> None:
    path = write(tmp_path, {"envs": {name: {"options": {"environment": name}} for name in ("beta", "prod")}})
    assert resolve(topology, environment="beta")[0]["environment"] == "beta"
    settings, [unnamed] = resolve(topology)
    assert "environment" not in settings
    assert str(unnamed) == (
        f"{path}: warning: no environment is chosen, so no options of one apply: "
        "name 'beta' or 'prod' with -e"
    )
    [misnamed] = resolve(topology, environment="prd")[1]
    assert (
        str(misnamed) == f"{path}: unknown environment 'prd': expected 'beta' or 'prod'; did you mean 'prod'?"
    )


@pytest.mark.parametrize("content", [{"compilerOptions": {}}, [1], {"envs": []}, {"envs": {}}])
def test_a_config_json_of_somebody_else_is_left_alone(
    tmp_path: Path, topology: Topology, content: Any
) -> None:
    write(tmp_path, content)
    assert resolve(topology)[1] == []


@pytest.mark.parametrize("content", ["{", "\x00", "{'envs': 1}"])
def test_a_config_json_that_cannot_be_read_is_a_warning(
    tmp_path: Path, topology: Topology, content: str
) -> None:
    path = write(tmp_path, content)
    [problem] = resolve(topology)[1]
    assert problem.warning
    assert problem.place.file == str(path)


def test_an_environment_that_is_no_object_is_an_error(tmp_path: Path, topology: Topology) -> None:
    write(tmp_path, {"envs": {"prod": 3}})
    [problem] = resolve(topology)[1]
    assert problem.message == "is 3: expected a JSON object"


def test_a_bad_option_is_reported_with_its_environment(tmp_path: Path, topology: Topology) -> None:
    path = write(tmp_path, {"envs": {"prod": {"options": {"topology.workers": 0}}}})
    assert [str(problem) for problem in resolve(topology)[1]] == [
        f"{path}: envs.prod: topology.workers is 0: expected an integer of at least 1, or 'auto'"
    ]


def test_a_topology_without_a_file_belongs_to_no_project() -> None:
    assert resolve(Topology("wc", ()))[1] == []


def test_a_config_json_that_is_given_takes_the_place_of_the_one_beside_the_topology(
    tmp_path: Path, topology: Topology
) -> None:
    """As by ``sparse run --config other/config.json``."""
    write(tmp_path, {"envs": {"prod": {"options": {"topology.workers": 3, "beside": True}}}})
    (tmp_path / "other").mkdir()
    path = write(tmp_path / "other", {"envs": {"prod": {"options": {"topology.workers": 2}}, "beta": {}}})
    settings, problems = resolve(topology, files=[path], environment="prod")
    assert problems == []
    assert (settings["topology.workers"], "beside" in settings) == (2, False)
    assert settings.origin("topology.workers") == f"{path}: envs.prod"


def test_a_json_file_without_environments_is_a_file_of_keys(tmp_path: Path, topology: Topology) -> None:
    write(tmp_path, {"envs": {"prod": {"options": {"beside": True}}}})
    path = tmp_path / "keys.json"
    path.write_text('{"topology.workers": 2}')
    settings, problems = resolve(topology, files=[path])
    assert problems == []
    assert (settings["topology.workers"], settings["beside"]) == (2, True)
