"""Adapters for components and topologies written for other frameworks."""
