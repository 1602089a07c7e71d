"""Planners on the machine of BriskStream's evaluation, up to 144 cores, beside what its paper says.

Prints tables as Markdown. With `--figures` it draws the curves, and with `--page` it puts the tables into a
page, between its two comments `tables` and `end of tables`. Nothing runs but planners and the model.

    python -m benchmarks.planner.machines [--sockets 1,2,4,8] [--figures FOLDER] [--page FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.planner.applications import SENTENCE, Application, applications, word_count
from benchmarks.planner.comparing import Point, compared, searches
from benchmarks.planner.server_a import CORES_OF_SOCKET, server_a
from benchmarks.transactions.chart import Line, Mark, Plot, as_svg

BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
FIGURE = "planner-sockets.svg"
TABLE_3 = {
    ("splitter", 1): (1666.5, 1991.1),
    ("splitter", 3): (1708.2, 1994.9),
    ("splitter", 4): (2050.6, 2923.7),
    ("splitter", 7): (2371.3, 3196.4),
    ("counter", 1): (611.4, 665.2),
    ("counter", 3): (623.1, 665.9),
    ("counter", 4): (889.9, 837.9),
    ("counter", 7): (870.2, 888.4),
}
"""The paper's: nanoseconds for a tuple from socket 0, measured and estimated, by operator and socket."""
Points = Mapping[str, Sequence[Point]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compares, prints and draws."""
    options = _options(arguments)
    sockets = [int(each) for each in options.sockets.split(",")]
    points = {
        each.name: [compared(each, number, options.plans, options.seed) for number in sockets]
        for each in applications()
    }
    lines = list(_tables(points, options))
    print("\n".join(lines))
    if options.figures:
        (options.figures / FIGURE).write_text(figure(points))
    if options.page:
        options.page.write_text(with_tables(options.page.read_text(), lines))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sockets", default="1,2,3,4,5,6,7,8", help="numbers of them, by commas")
    parser.add_argument("--plans", type=int, default=200, help="random plans for each point")
    parser.add_argument("--seed", type=int, default=1, help="of the random plans")
    parser.add_argument("--limit", type=int, default=2_000, help="nodes of a search without a heuristic")
    parser.add_argument("--figures", type=Path, help="folder to draw into")
    parser.add_argument("--page", type=Path, help="page whose tables are replaced")
    return parser.parse_args(arguments)


def _tables(points: Points, options: argparse.Namespace) -> Iterator[str]:
    yield f"Random plans: the best of {options.plans}, with seed {options.seed}."
    for application in applications():
        yield from _curve(application, points[application.name])
    yield from _operator_times()
    yield from _heuristics(options.limit)


def _curve(application: Application, points: Sequence[Point]) -> Iterator[str]:
    yield ""
    yield (
        f"**{application.name.capitalize()}**, thousand results a second. On 144 cores the paper predicts "
        f"{application.estimated:,.1f} and has measured {application.measured:,.1f}."
    )
    yield ""
    columns = [
        "RLAS",
        "its plan without fetches",
        "round robin",
        "random",
        "counts",
        "bound",
        "gap of counts",
    ]
    yield f"| cores | {' | '.join(columns)} | seconds: RLAS, counts |"
    yield "|--:" * (len(columns) + 2) + "|"
    for point in points:
        rates = (
            point.rlas,
            point.without_fetches,
            point.round_robin,
            point.random,
            point.counts,
            point.bound,
        )
        cells = " | ".join(f"{rate:,.0f}" for rate in rates)
        gap = max(0.0, 1 - point.counts / point.bound)
        cores = point.sockets * CORES_OF_SOCKET
        yield f"| {cores} | {cells} | {gap:.1%} | {point.rlas_s:.1f}, {point.counts_s:.1f} |"


def _operator_times() -> Iterator[str]:
    yield ""
    yield "**Word count's operators**, nanoseconds for a tuple from socket 0 (the paper's table 3):"
    yield ""
    yield "| operator | at socket | measured | the paper's estimate | here |"
    yield "|---|--:|--:|--:|--:|"
    machine = server_a()
    components = word_count().profile.components
    sizes = {"splitter": SENTENCE, "counter": components["splitter"].streams["default"].size}
    for (name, socket), (measured, estimated) in TABLE_3.items():
        here = components[name].ns + machine.fetch(0, socket, sizes[name])
        yield f"| {name} | S{socket} | {measured:,.1f} | {estimated:,.1f} | {here:,.1f} |"


def _heuristics(limit: int) -> Iterator[str]:
    yield ""
    yield f"**Placements of word count's replicas on four sockets**, with at most {limit:,} nodes each:"
    yield ""
    yield "| heuristics | compression ratio | thousand results a second | nodes | came to its end |"
    yield "|---|--:|--:|--:|---|"
    for each in searches(word_count(), 4, limit):
        end = "yes" if each.complete else "no"
        yield f"| {each.heuristics} | {each.ratio} | {each.rate:,.0f} | {each.nodes:,} | {end} |"


def figure(points: Points) -> str:
    """The curves of all applications, as SVG.

    Args:
        points: of each application, by name.
    """
    plots = []
    for name, of in points.items():
        lines = [
            Line("RLAS", [_mark(point.rlas) for point in of], is_strong=True),
            Line("counts", [_mark(point.counts) for point in of]),
            Line("round robin", [_mark(point.round_robin) for point in of]),
            Line("random", [_mark(point.random) for point in of]),
            Line("bound", [_mark(point.bound) for point in of]),
        ]
        cores = [str(point.sockets * CORES_OF_SOCKET) for point in of]
        plots.append(Plot(name.capitalize(), "cores", cores, lines))
    return as_svg("Plans for Server A, by number of cores", "thousand results a second", plots)


def _mark(value: float) -> Mark:
    return Mark(value, value, value)


def with_tables(page: str, lines: Sequence[str]) -> str:
    """A page with other tables.

    Args:
        page: its text.
        lines: of the tables.

    Raises:
        ValueError: the page has no place for them.
    """
    if BEGIN not in page or END not in page:
        raise ValueError(f"the page needs the comments {BEGIN} and {END}")
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return "\n".join([before + BEGIN, "", *lines, "", END + after])


if __name__ == "__main__":
    main()
