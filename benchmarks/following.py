"""A source that waits for the kernel: its CPU time while nothing comes, and the delay of what does.

``source -> bolt``, where this process appends lines to a file, or sends them through a socket. Each line has
the time at which it was written, and the bolt notes how much later it gets it. Before, nothing comes for
a while.

    file      TextSource(path, follow=True)
    socket    a generator that yields when_readable(socket)
    polled    the same, which yields None where nothing has come

    python benchmarks/following.py [--seconds S] [--settle S] [--lines N] [--every MS] [--kind KIND ...]
                                   [--place PLACE ...] [--tree FOLDER ...]
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sources import TextSource

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper.worker": "inline"},
    "2 threads": {"viper.worker": "thread", "topology.workers": 2},
    "2 processes": {"viper.worker": "process", "topology.workers": 2},
}
WIDTHS = (-11, -7, 9, 9, 9, 9, -4)


class Delays(Bolt):
    """Notes how much later than it was written each line comes."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._delays: list[int] = []

    def process(self, tup: Any) -> None:
        """One line."""
        self._delays.append(time.monotonic_ns() - int(tup.values[0]))

    def close(self) -> None:
        """Leave them where the process that wrote the lines finds them."""
        Path(self._folder, "delays").write_text(json.dumps(self._delays))


class Socket(Spout):
    """Yields the lines that come through a socket."""

    outputs = ["line"]

    def __init__(self, path: str, is_polled: bool) -> None:
        super().__init__()
        self._path = path
        self._is_polled = is_polled

    def tuples(self) -> Iterator[Any]:
        """For ever."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._path)
            connection.setblocking(False)
            begun = b""
            while True:
                try:
                    begun += connection.recv(1 << 16)
                except BlockingIOError:
                    yield self._pause(connection)
                    continue
                *lines, begun = begun.split(b"\n")
                for line in lines:
                    yield [line.decode()]

    def _pause(self, connection: socket.socket) -> Any:
        if self._is_polled:
            return None
        from framework import when_readable  # which code of another folder need not have

        return when_readable(connection)


def once(place: str, kind: str, folder: str) -> None:
    """Run it in this process."""
    from running import run_with

    builder = TopologyBuilder()
    if kind == "file":
        builder.set_spout("source", TextSource(f"{folder}/lines", follow=True))
    else:
        builder.set_spout("source", Socket(f"{folder}/socket", kind == "polled"))
    builder.set_bolt("delays", Delays(folder)).global_grouping("source")
    mode = "event" if kind == "file" else "ingest"
    run_with(builder.build("following"), {**PLACES[place], "viper.time": mode})


def measure(place: str, kind: str, tree: str, args: argparse.Namespace) -> tuple[float, float, list[int]]:
    """Seconds of CPU per second while nothing comes and while lines come; the delays in nanoseconds."""
    from processes import cpu_seconds
    from running import code_of

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "lines").touch()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(f"{folder}/socket")
        listening.listen()
        command = [sys.executable, __file__, "--once", folder, "--place", place, "--kind", kind]
        process = subprocess.Popen(command, env=code_of(tree))

        def used(during: Callable[[], None]) -> float:
            began_s, before_s = time.monotonic(), cpu_seconds(process.pid)
            during()
            return (cpu_seconds(process.pid) - before_s) / (time.monotonic() - began_s)

        try:
            write: Callable[[bytes], Any]
            if kind == "file":
                write = open(f"{folder}/lines", "ab", buffering=0).write  # noqa: SIM115
            else:
                write = listening.accept()[0].sendall
            time.sleep(args.settle)
            idle = used(lambda: time.sleep(args.seconds))
            busy = used(lambda: _write(write, args.lines, args.every / 1000))
            time.sleep(0.5)
            if process.poll() is not None:
                raise SystemExit(f"{' '.join(command)}: ended with status {process.returncode} too early")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            listening.close()
        return idle, busy, json.loads(Path(folder, "delays").read_text())


def _write(write: Callable[[bytes], Any], lines: int, every_s: float) -> None:
    chance = random.Random(1)
    for _ in range(lines):
        time.sleep(chance.uniform(0.5, 1.5) * every_s)
        write(b"%d\n" % time.monotonic_ns())


def main() -> None:
    """Measure, and print percent of a core, and microseconds."""
    from running import print_row

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    kinds = ["file", "socket", "polled"]
    parser.add_argument("--seconds", type=float, default=20, help="in which nothing comes (20)")
    parser.add_argument("--settle", type=float, default=3, help="seconds before that (3)")
    parser.add_argument("--lines", type=int, default=500, help="that are written (500)")
    parser.add_argument("--every", type=float, default=20, help="milliseconds between two, on average (20)")
    parser.add_argument("--kind", nargs="+", choices=kinds, default=kinds, help="(all)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=["inline"], help="(inline)")
    parser.add_argument("--tree", nargs="+", default=[""], help="folders of code (that of this run)")
    parser.add_argument("--once", metavar="FOLDER", help="run one in this process")
    args = parser.parse_args()
    if args.once:
        once(args.place[0], args.kind[0], args.once)
        return
    print_row(("place", "kind", "idle %", "busy %", "p50 us", "p99 us", "code"), WIDTHS)
    for place, kind, tree in product(args.place, args.kind, args.tree):
        idle, busy, delays = measure(place, kind, tree, args)
        if len(delays) != args.lines:
            raise SystemExit(f"{place}, {kind}: {len(delays)} lines have come of {args.lines}")
        delays.sort()
        p50, p99 = (f"{delays[len(delays) * part // 100] / 1000:,.0f}" for part in (50, 99))
        cells = (place, kind, f"{100 * idle:.2f}", f"{100 * busy:.2f}", p50, p99, tree or "here")
        print_row(cells, WIDTHS)


if __name__ == "__main__":
    main()
