"""Storm Flux's YAML format: files to topologies, topologies to files."""

from framework.frontends.flux.load import load_flux, without_idle_bolts
from framework.frontends.flux.printer import to_flux
from framework.frontends.flux.substitution import read_properties

__all__ = ["load_flux", "read_properties", "to_flux", "without_idle_bolts"]
