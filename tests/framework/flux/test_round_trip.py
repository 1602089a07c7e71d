"""What is printed is loaded to an equal topology."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings

from framework.flux import load_flux, to_flux
from framework.topology import Topology
from tests.framework.flux.files.src import flux_parts
from tests.framework.strategies import topologies

EXAMPLES = sorted(path.name for path in Path(__file__).parent.glob("files/*.yaml"))
CLASSES = (flux_parts.Words, flux_parts.Split, flux_parts.Sink)


def reloaded(topology: Topology, folder: Path) -> Topology | None:
    file = folder / "printed.yaml"
    file.write_text(to_flux(topology), "utf-8")
    return load_flux(file).topology


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(topology=topologies(CLASSES))
def test_any_topology_is_printed_and_loaded_to_an_equal_one(topology: Topology, tmp_path: Path) -> None:
    assert reloaded(topology, tmp_path) == topology
