"""Instructions per tuple of each workload, counted by Callgrind: figures that no load on the machine changes.

A workload runs inline, with a number of tuples and with twice as many (`benchmarks.instructed`). The
difference is divided by the difference of the tuples (words, where words are counted; records; events). Only
the thread counts that runs the tasks. Two measurements of the same code differ by
less than half a percent, those of words by batches by 2 % now and then.

The figures belong to one build of Python, to one compiler and to versions of libraries. `instructions.json`
keeps those that were recorded, by all of these. A build without a record is measured twice by ``--check``,
which says so: it finds only whether the figures can be repeated.

    python -m benchmarks.instructions [NAME ...] [--by-function [N]] [--check] [--record] [--python PYTHON]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]
RECORDED: Final = Path(__file__).with_suffix(".json")
REQUESTS: Final = Path(__file__).with_name("callgrind.c")

NAMES: Final = (
    "words by tuples",
    "words by functions",
    "words by batches",
    "words by columns",
    "filter of tuples",
    "filter of tuples of 100 fields",
    "filter of columns",
    "changes by tuples",
    "changes by functions",
    "windows by key",
    "join by key",
    "transactions",
)
"""The workloads of `benchmarks.instructed`."""

MORE: Final = 0.03
"""The share by which a workload may take more instructions than were recorded."""
REPEATED: Final = 0.025
"""The share by which two measurements of the same code may differ."""

Functions = Mapping[str, float]
"""By function, ``name (file)``: the instructions of itself, without those that it calls."""


@dataclass(frozen=True)
class Measured:
    """The instructions that a tuple of a workload takes."""

    name: str
    instructions: float
    functions: Functions


def functions_in(dump: Path) -> Functions:
    """The instructions of each function in a file of Callgrind's.

    A line of costs belongs to the function that was named last. After ``calls=`` one line has the costs of
    what is called, which belong to that. Names are numbered where they first stand.
    """
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    function = file = ""
    is_called = False

    def named(kind: str, text: str) -> str:
        number, _, name = text.partition(" ")
        key = kind + number
        if name:
            names[key] = name
        return names[key]

    with dump.open(encoding="utf-8", errors="replace") as lines:
        for line in map(str.rstrip, lines):
            kind, is_setting, value = line.partition("=")
            if is_setting and kind in ("fn", "cfn"):
                name = named("fn", value)
                # A quote and a number stand behind one that calls itself.
                function = name.partition("'")[0] if kind == "fn" else function
            elif is_setting and kind in ("fl", "fi", "fe", "cfi", "cfl", "ob", "cob"):
                name = named("ob" if kind.endswith("ob") else "fl", value)
                file = name.rpartition("/")[2] if kind == "fl" else file
            elif line.startswith("calls="):
                is_called = True
            elif line and line[0] in "0123456789+-*":
                if not is_called:
                    counts[f"{function} ({file})"] += int(line.split()[-1])
                is_called = False
    return counts


def total_of(dump: Path) -> int:
    """All instructions in a file of Callgrind's."""
    found = re.search(r"^totals: (\d+)", dump.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    assert found is not None, dump
    return int(found[1])


def compiled(folder: Path) -> Path:
    """The requests to Callgrind, as a library.

    Raises:
        SystemExit: Valgrind, its headers or a compiler is not there.
    """
    library = folder / "callgrind.so"
    command = ["cc", "-O2", "-shared", "-fPIC", str(REQUESTS), "-o", str(library)]
    try:
        subprocess.run(["valgrind", "--version"], check=True, capture_output=True)
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename} was not found: install valgrind and a C compiler") from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{error.stderr}{' '.join(command)} failed: install valgrind's headers") from error
    return library


def measured(name: str, python: str = sys.executable) -> Measured:
    """Have Callgrind count what a workload takes.

    Args:
        name: of the workload.
        python: the interpreter; what it imports is measured.

    Raises:
        SystemExit: it failed, or its output was not as it has to be.
    """
    with tempfile.TemporaryDirectory() as folder:
        library, out = compiled(Path(folder)), Path(folder, "counted")
        callgrind = ["--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
        command = ["valgrind", *callgrind, f"--callgrind-out-file={out}", python]
        command += ["-m", "benchmarks.instructed", name, str(library)]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(REPOSITORY)}
        ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"{ran.stdout}{ran.stderr}{name}: ended with status {ran.returncode}")
        few, many = map(int, ran.stdout.split())
        dumps = [Path(f"{out}.{number}-01") for number in (1, 2)]
        before, after = map(functions_in, dumps)
        totals = [total_of(dump) for dump in dumps]
        assert totals == [sum(before.values()), sum(after.values())], name
        difference = {key: (after[key] - before.get(key, 0)) / (many - few) for key in after}
        return Measured(name, (totals[1] - totals[0]) / (many - few), difference)


def all_measured(names: Sequence[str], python: str) -> Iterator[Measured]:
    """Measure some, as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(partial(measured, python=python), names)


def build() -> str:
    """All that the figures depend on beside the code of the project."""
    compiler = subprocess.run(["cc", "--version"], check=True, capture_output=True, text=True).stdout
    parts = [
        f"Python {platform.python_version()} ({platform.python_compiler()})",
        compiler.splitlines()[0],
        " ".join(platform.libc_ver()),
        platform.machine(),
        *(f"{name} {version(name)}" for name in ("numpy", "pyarrow")),
    ]
    return ", ".join(parts)


def recorded() -> dict[str, dict[str, float]]:
    """By build and workload: the instructions per tuple that were recorded."""
    found: dict[str, dict[str, float]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def record(figures: Iterable[Measured]) -> None:
    """Record them for this build, beside those of other workloads and builds."""
    known = recorded()
    mine = known.setdefault(build(), {})
    mine |= {each.name: round(each.instructions, 1) for each in figures}
    known[build()] = {name: mine[name] for name in NAMES if name in mine}
    RECORDED.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def problems(figures: Iterable[Measured], python: str) -> Iterator[str]:
    """Say which of them take more than was recorded, or, where nothing was, cannot be repeated."""
    known = recorded().get(build(), {})
    for each in figures:
        before = known.get(each.name)
        if before is not None:
            more = each.instructions / before - 1
            if more > MORE:
                yield (
                    f"{each.name}: {each.instructions:,.1f} instructions, {more:.1%} more than the "
                    f"{before:,.1f} recorded; at most {MORE:.0%} are allowed"
                )
            continue
        print(
            f"{each.name}: nothing was recorded for {build()}, so there is nothing to compare with. Measure "
            f"the code before a change with --record, and the changed code with --check"
        )
        again = measured(each.name, python).instructions
        if abs(again - each.instructions) > REPEATED * each.instructions:
            yield f"{each.name}: {each.instructions:,.1f} instructions, and {again:,.1f} when measured again"


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, and compare or record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a workload; all of them if none is named")
    add = parser.add_argument
    add("--by-function", nargs="?", type=int, const=25, metavar="N", help="print the N that take most; 25")
    add("--check", action="store_true", help="fail if one takes 3 %% more than was recorded")
    add("--record", action="store_true", help="record the figures for this build")
    add("--python", default=sys.executable, help="the interpreter that runs them; this one")
    args = parser.parse_args(given)
    if unknown := [name for name in args.names if name not in NAMES]:
        parser.error(f"there is no workload {unknown[0]!r}; there are: {', '.join(NAMES)}")
    known, figures = recorded().get(build(), {}), []
    for each in all_measured(args.names or NAMES, args.python):
        figures.append(each)
        before = known.get(each.name)
        beside = f"   {each.instructions / before - 1:+.1%} of {before:,.1f}" if before else ""
        print(f"{each.name:32}{each.instructions:12,.1f}{beside}", flush=True)
        for name, count in Counter(each.functions).most_common(args.by_function or 0):
            print(f"  {count:10,.1f}  {count / each.instructions:6.1%}  {name}")
    if args.record:
        record(figures)
    found = list(problems(figures, args.python)) if args.check else []
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
