"""Storm Flux's YAML format: files to topologies, topologies to files."""

from framework.flux.load import load_flux
from framework.flux.printer import to_flux
from framework.flux.properties import read_properties

__all__ = ["load_flux", "read_properties", "to_flux"]
