"""A topology from a front end in Python is the same after it has been written as YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.frontends.declaration import ANY_ENVIRONMENT
from framework.frontends.flux import load_flux, to_flux
from framework.frontends.loading import load

FIXTURES = Path(__file__).parents[3] / "fixtures"
TARGETS = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("*/topologies/*.py"))


@pytest.mark.usefixtures("streamparse")
@pytest.mark.parametrize("target", TARGETS)
def test_a_topology_class_becomes_an_equal_file(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = FIXTURES / Path(target).parts[0]
    monkeypatch.chdir(project / "src" if (project / "src").is_dir() else project / "topologies")
    original = load(str(FIXTURES / target), environment=ANY_ENVIRONMENT).topology
    assert original is not None
    file = tmp_path / "converted.yaml"
    file.write_text(to_flux(original), "utf-8")
    converted = load_flux(file)
    assert converted.problems == ()
    assert converted.topology == original
