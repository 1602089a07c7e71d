"""The whole matrix, or one variant of it again: ``python -m tests.determinism --help``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.determinism.comparing import difference
from tests.determinism.topologies import TOPOLOGIES
from tests.determinism.variants import Variant, kinds, parse, product

PROGRESS_PERIOD_S = 1.0
MOST_SHOWN = 10
"""Differences after which the rest is not worth the time."""


def main() -> int:
    """Exit code 1 if any variant's output differs from the serial run's."""
    arguments = _arguments()
    variants = [arguments.repeat] if arguments.repeat else _chosen(arguments)
    differences = 0
    progress = Progress(len(variants))
    for done, variant in enumerate(variants):
        progress.show(done, differences, variant)
        found = difference(variant)
        if found is not None:
            differences += 1
            progress.say(str(found))
            if differences == MOST_SHOWN:
                break
    progress.say(f"{done + 1:,} of {len(variants):,} variants run, {differences} differ from the serial run")
    return 1 if differences else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.determinism", description=__doc__)
    parser.add_argument("--repeat", type=parse, metavar="VARIANT", help="run this one, as it was printed")
    parser.add_argument("--worker", choices=kinds(), help="only this kind of worker")
    parser.add_argument("--topology", choices=sorted(TOPOLOGIES), help="only this topology")
    return parser.parse_args()


def _chosen(arguments: argparse.Namespace) -> list[Variant]:
    return [
        variant
        for kind in ([arguments.worker] if arguments.worker else kinds())
        for topology in ([arguments.topology] if arguments.topology else TOPOLOGIES)
        for variant in product(topology, kind)
    ]


class Progress:
    """A line on stderr about once a second; on a terminal always the same one."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._started = time.monotonic()
        self._next = 0.0
        self._end = "\r" if sys.stderr.isatty() else "\n"
        self._period_s = PROGRESS_PERIOD_S if sys.stderr.isatty() else 30 * PROGRESS_PERIOD_S

    def show(self, done: int, differences: int, variant: Variant) -> None:
        """Say how far it is, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._period_s
        left_s = (now - self._started) / done * (self._total - done) if done else 0
        text = f"{done:,} of {self._total:,}, {differences} differ, {left_s / 60:.0f} min left: {variant}"
        print(f"{text:<110.110}", end=self._end, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print something to be kept."""
        print(f"{text:<110}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
