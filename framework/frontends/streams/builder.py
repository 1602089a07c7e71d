"""The stream builder: a topology written as steps that each call a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from framework.frontends.declaration import Declaration
from framework.frontends.streams.assembly import Assembly
from framework.frontends.streams.streams import TupleStream, stream_of
from framework.model.specs import Par
from framework.model.topology import DEFAULT_STREAM, Topology
from framework.operators.components import Component


class StreamBuilder:
    """Makes a topology of spouts and functions, by the names of Storm's Streams API.

        builder = StreamBuilder()
        lines = builder.new_stream(LineSpout)
        words = lines.flat_map(str.split, fields=["word"])
        words.key_by("word").count_by_key().print()
        topology = builder.build("wordcount")

    Each step is a bolt of its own, which ``viper graph`` shows. Functions are called with the values of a
    tuple, one argument for each field. A function at the level of a module runs in any worker; a lambda, or
    one within another function, on worker processes only where cloudpickle is installed.
    """

    def __init__(self) -> None:
        self._assembly = Assembly()

    @property
    def config(self) -> dict[str, Any]:
        """The topology's configuration."""
        return self._assembly.builder.config

    def set_config(self, key: str, value: Any) -> Self:
        """Set a key of the topology's configuration."""
        self._assembly.builder.set_config(key, value)
        return self

    def new_stream(
        self,
        spout: type | Component,
        *,
        name: str | None = None,
        stream: str = DEFAULT_STREAM,
        par: Par | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> TupleStream:
        """The tuples of a spout.

        Args:
            spout: its class, or an instance, which stands for its constructor's arguments.
            name: its id in the topology; by default made of its class.
            stream: name of the stream, of a spout that has several.
            par: its parallelism.
            config: its own configuration.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: it declares no such stream, or no fields.
        """
        cls = spout if isinstance(spout, type) else type(spout)
        made = self._assembly.new_id(name, cls.__name__.lower())
        declarer = self._assembly.builder.set_spout(made, spout, par, config=config)
        self._assembly.declarers[made] = declarer
        return stream_of(self._assembly, declarer.snapshot(), stream)

    def declaration(self, name: str = "") -> Declaration:
        """Return the declared topology; as `TopologyBuilder.declaration`."""
        return self._assembly.builder.declaration(name)

    def build(self, name: str, environment: str | None = None) -> Topology:
        """The topology; arguments and errors as of `TopologyBuilder.build`."""
        return self._assembly.builder.build(name, environment)
