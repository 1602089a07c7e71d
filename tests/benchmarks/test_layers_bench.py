"""The evaluation of layers runs, compares what they put out, and draws its figure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_cell_is_measured_and_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.layers", "--rows", "4000", "--rounds", "1", "--counts", "2"]
    figure = tmp_path / "layers.svg"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command += ["--worker", "inline", "--figure", str(figure)]
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    cells = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [cell["operator"] for cell in cells] == ["pos_rep", "new_seg"]
    for cell in cells:
        assert set(cell["values"]) == {"communication", "operator", "operator-python"}
        assert all(value > 0 for of_layer in cell["values"].values() for value in of_layer["cpu_s_a_million"])
    texts = [element.text or "" for element in ElementTree.parse(figure).iter() if element.text]
    assert any("cores" in text for text in texts) and "merge bolts, in C" in texts
