"""A backfill on a cluster of two executors, which share nothing with the driver but the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]

SCRIPT = """
import sys
from pathlib import Path

from spark_ingest.backfill import backfill
from tests.spark_ingest.backfill.recorded import recorded
from tests.spark_ingest.backfill.test_backfill import differences
from tests.spark_ingest.backfill.topologies import Shop

SCHEMAS = {
    "items": "item bigint, count bigint, before string",
    "meet": "key string, left string, right string",
}

if __name__ == "__main__":
    local = recorded(Shop, Path(sys.argv[1]))
    conf = {"spark.driver.memory": "1g", "spark.executor.memory": "600m"}
    cluster = {"master": "local-cluster[2,1,1024]", "conf": conf}
    with backfill(Shop, list(SCHEMAS), **cluster, shards=4, schemas=SCHEMAS) as made:
        executors = made.spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
        tuples = sum(len(local[name]) for name in made)
        print("executors", executors - 1, "tuples", tuples, differences(made, local))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_every_stream_equals_the_run_on_one_machine(tmp_path: Path) -> None:
    script = tmp_path / "backfilling.py"
    script.write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), str(tmp_path / "recording")],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path), **java_home()},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr
    words = ran.stdout.split()
    assert (words[0], words[1], words[-1]) == ("executors", "2", "{}"), ran.stdout
    assert int(words[3]) > 1500


def java_home() -> dict[str, str]:
    import pyspark

    from spark_ingest.engine.java import find_java

    return {"JAVA_HOME": str(find_java(pyspark.__version__).parents[1])}
