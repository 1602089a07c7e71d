"""Figures and tables of transactions, from what `grid.py` and `latency.py` have written.

Prints all tables as Markdown, and draws the figures into a folder. With `--page`, those tables that a page
has are put into it, between its two comments `tables` and `end of tables`.

    python -m benchmarks.transactions.figures [GRID] [--latency FILE] [--figures FOLDER] [--page FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.transactions import delays
from benchmarks.transactions.pictures import drawn
from benchmarks.transactions.results import load
from benchmarks.transactions.tables import all_rates, summary

BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"


def put_between(page: str, lines: Sequence[str]) -> str:
    """A page with other tables.

    Args:
        page: its text.
        lines: of the tables.

    Raises:
        ValueError: it does not have both comments.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no place for tables: expected {BEGIN} and behind it {END}")
    return "\n".join([before + BEGIN, "", *lines, "", END + behind])


def main() -> None:
    """Draw, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "grid", type=Path, nargs="?", default=Path("build/transactions.json"), help="(%(default)s)"
    )
    parser.add_argument("--latency", type=Path, help="what latency.py has written")
    parser.add_argument("--figures", type=Path, default=Path("build/figures"), help="a folder (%(default)s)")
    parser.add_argument("--page", type=Path, help="whose tables are replaced")
    args = parser.parse_args()
    grid = load(args.grid)
    pictures = list(drawn(grid))
    lines = summary(grid)
    if args.latency:
        found = delays.load(args.latency)
        lines += ["", *delays.table(found)]
        pictures.append(("transactions-latency", delays.picture(found)))
    args.figures.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures:
        (args.figures / f"{name}.svg").write_text(svg, encoding="utf-8")
    if args.page:
        args.page.write_text(put_between(args.page.read_text(encoding="utf-8"), lines), encoding="utf-8")
    print("\n".join([*lines, "", *all_rates(grid)]).rstrip())


if __name__ == "__main__":
    main()
