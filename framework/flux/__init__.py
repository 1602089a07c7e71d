"""Storm Flux's YAML format: files to topologies, topologies to files."""

from framework.flux.load import load_flux, without_idle_bolts
from framework.flux.printer import to_flux
from framework.flux.substitution import read_properties

__all__ = ["load_flux", "read_properties", "to_flux", "without_idle_bolts"]
