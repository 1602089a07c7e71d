"""Lines that come through a TCP socket: the spout sleeps until the kernel says that bytes have come.

    nc -lk 9999
    viper run topologies/lines_from_socket.py
    viper run topologies/lines_from_socket.py -o lines.address=HOST:PORT
"""

import socket
from collections.abc import Iterator
from typing import Any

from viperstorm import Later, Spout, TopologyBuilder, when_readable
from viperstorm.sinks import ConsoleSink


class LinesFromSocket(Spout):
    """Yields each line, without its end, until the other end is closed; the last line needs no end.

    A socket cannot be read twice. So lines are lost that a killed process had read.
    """

    outputs = ["line"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Connect."""
        host, _, port = str(storm_conf.get("lines.address", "127.0.0.1:9999")).rpartition(":")
        self._connection = socket.create_connection((host, int(port)))
        self._connection.setblocking(False)

    def tuples(self) -> Iterator[list[str] | Later]:
        """The lines."""
        begun = b""
        while True:
            try:
                found = self._connection.recv(65_536)
            except BlockingIOError:
                yield when_readable(self._connection)
                continue
            if not found:
                break
            *lines, begun = (begun + found).split(b"\n")
            for line in lines:
                yield [line.decode()]
        if begun:
            yield [begun.decode()]

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


builder = TopologyBuilder()
builder.set_spout("lines", LinesFromSocket)
builder.set_bolt("console", ConsoleSink).global_grouping("lines")
topology = builder.build("lines-from-socket")
