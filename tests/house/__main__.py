"""``python -m tests.house [FOLDER]`` draws who imports whom; an import upwards ends it with exit code 1."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.house.imports import circles, imports_in
from tests.house.picture import to_svg, to_text
from tests.house.rooms import ORDERS, upwards


def main(folder: str = "build/imports") -> int:
    """Print the rooms of each house, and write a picture of each into a folder."""
    wrong: list[str] = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for house, rows in ORDERS.items():
        imports = imports_in(house.partition(".")[0])
        wrong += map(str, upwards(imports, house, rows))
        if "." not in house:
            wrong += [f"a circle: {' -> '.join(circle)}" for circle in circles(imports)]
        picture = Path(folder, f"{house}.svg")
        picture.write_text(to_svg(imports, house, rows), encoding="utf-8")
        print(f"{house}, from top to bottom ({picture}):\n\n{to_text(imports, house, rows)}")
    print("\n".join(wrong) or "No import leads upwards, and there is no circle.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
