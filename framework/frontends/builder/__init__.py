"""Topologies built call by call, in the manner of Storm's TopologyBuilder."""

from framework.frontends.builder.builder import Foreign, TopologyBuilder, java, shell
from framework.frontends.builder.declarers import BoltDeclarer, SpoutDeclarer

__all__ = ["BoltDeclarer", "Foreign", "SpoutDeclarer", "TopologyBuilder", "java", "shell"]
