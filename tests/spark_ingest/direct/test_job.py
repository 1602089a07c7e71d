"""Jobs that feed a topology: the rows are those of a prepared dataset, and whatever is killed is noticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from framework.model.errors import ComponentError
from spark_ingest import JobError, RowsRefused, SparkSpout, prepare
from tests.spark_ingest.direct.jobs import (
    COLUMNS,
    SMALL,
    TWO_PROCESSES,
    Pass,
    job,
    rows_of,
    run,
    write_rows,
)
from tests.spark_ingest.direct.processes import descendants, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("java")

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("direct") / "rows")


@pytest.fixture(scope="module")
def staged(
    spark: SparkSession, files: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Any]:
    """Prepare a dataset of so many streams, and read its rows."""
    folder = tmp_path_factory.mktemp("staged")

    def rows(streams: int, **span: Any) -> list[Any]:
        path = folder / str(streams)
        prepare(str(files / "*.parquet"), path, timestamp="at", streams=streams, columns=COLUMNS, spark=spark)
        return rows_of(SparkSpout(str(path), **span))

    return rows


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = set(descendants(os.getpid()))
    yield
    deadline = time.monotonic() + 20
    while (left := named("spark_ingest.direct", "pyspark", among=descendants(os.getpid()) - before)) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.05)
    assert not left, "processes of a job have outlived its run"


class TestTheSameRows:
    @pytest.mark.few(1)
    @pytest.mark.parametrize(("streams", "par", "options"), [(3, 2, {}), (2, 2, TWO_PROCESSES)])
    def test_as_of_a_dataset(
        self, files: Path, staged: Callable[..., Any], streams: int, par: int, options: dict[str, Any]
    ) -> None:
        assert rows_of(SparkSpout(**job(files, streams)), par, **options) == staged(streams)

    @pytest.mark.slow
    @pytest.mark.exhaustive
    @pytest.mark.parametrize("options", [{}, TWO_PROCESSES], ids=["inline", "processes"])
    @pytest.mark.parametrize("par", [1, 2, 3, 4])
    @pytest.mark.parametrize("streams", [1, 2, 3, 4])
    def test_for_every_plan(
        self, files: Path, staged: Callable[..., Any], streams: int, par: int, options: dict[str, Any]
    ) -> None:
        assert rows_of(SparkSpout(**job(files, streams)), par, **options) == staged(streams)

    @pytest.mark.slow
    def test_of_a_part_of_the_time(self, files: Path, staged: Callable[..., Any]) -> None:
        span = {"start": 100_000_000, "until": 500_000_000}
        assert rows_of(SparkSpout(**job(files, 2, **span)), 2) == staged(2, **span)

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_from_executors_that_are_processes(self, files: Path, staged: Callable[..., Any]) -> None:
        described = job(files, 2, master="local-cluster[2,1,1024]")
        assert rows_of(SparkSpout(**described), 2) == staged(2)


HURRIED = {"files": None, "function": "tests.spark_ingest.direct.test_job:hurried"}


class TestRefused:
    """Before anything of the topology has started."""

    def test_a_column_that_is_not_there(self, files: Path) -> None:
        with pytest.raises(JobError, match="'nmae'"):
            run(SparkSpout(**job(files, 1, columns=["at", "n", "nmae"])))

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_rows_without_a_time(self, files: Path) -> None:
        described = job(files, 1, timestamp="name", nulls="refuse", unparsable="drop")
        with pytest.raises(RowsRefused) as raised:
            run(SparkSpout(**described))
        assert raised.value.kind == "nulls" and raised.value.count > 0

    @pytest.mark.slow
    def test_more_streams_than_threads(self, files: Path) -> None:
        with pytest.raises(JobError, match=r"4 streams.*local\[2\] has room for 2 tasks: say streams: 2, or"):
            SparkSpout(**job(files, 4, master="local[2]"))

    @pytest.mark.slow
    def test_executors_that_come_and_go(self, files: Path) -> None:
        conf = {"spark.dynamicAllocation.enabled": "true"}
        with pytest.raises(JobError, match="set it to false"):
            SparkSpout(**job(files, 4, master="spark://host:7077", conf=conf))

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_a_cluster_that_is_too_small(self, files: Path) -> None:
        described = job(files, 3, master="local-cluster[1,1,1024]", **HURRIED)
        with pytest.raises(JobError, match=r"3 streams.*room for 1 task:"):
            run(SparkSpout(**described))


def hurried(spark: SparkSession) -> DataFrame:
    """Some rows; a cluster is given little time to bring executors."""
    from spark_ingest.direct import slots

    slots.WAIT_S = 5.0
    return spark.range(10).selectExpr("timestamp_micros(id) AS at", "id AS n", "'x' AS name", "1.0 AS value")


class Kill(Pass):
    """Hands on what it gets; with the thousandth tuple, kills a process of the job."""

    victim = ""
    bystanders: ClassVar[set[int]] = set()
    """The processes that ran before; among them may be the Spark that other tests share."""
    count = 0
    at_s = 0.0

    def process(self, tup: Any) -> None:
        super().process(tup)
        Kill.count += 1
        if Kill.count == 1000:
            Kill.at_s = time.monotonic()
            victims = named(Kill.victim, among={os.getpid(), *descendants(os.getpid())} - Kill.bystanders)
            assert victims, f"no process named {Kill.victim}"
            for pid in victims[-1:]:
                os.kill(pid, signal.SIGKILL)


def killing(victim: str) -> type[Kill]:
    Kill.victim, Kill.count, Kill.bystanders = victim, 0, descendants(os.getpid())
    return Kill


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More rows than all buffers on the way hold, so that the job continues while the topology runs."""
    return write_rows(tmp_path_factory.mktemp("many") / "rows", count=80_000, wide=1000)


MANY = {"conf": {**SMALL, "spark.sql.execution.arrow.maxRecordsPerBatch": "500"}}


class TestKilled:
    @pytest.mark.slow
    def test_an_executor_s_python_changes_nothing(self, many: Path) -> None:
        """Spark repeats the stage, and each partition resumes where it was."""
        plain = rows_of(SparkSpout(**job(many, 2, **MANY)))
        report = run(SparkSpout(**job(many, 2, **MANY)), bolt=killing("pyspark.daemon"))
        assert [values for (values,) in report.result("sink")] == plain

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_an_executor_changes_nothing(self, many: Path) -> None:
        described = job(many, 2, **MANY, master="local-cluster[2,2,1024]")
        report = run(SparkSpout(**described), bolt=killing("CoarseGrainedExecutorBackend"))
        assert [values for (values,) in report.result("sink")] == rows_of(SparkSpout(**job(many, 2, **MANY)))

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        ("victim", "message"),
        [
            ("org.apache.spark.deploy.SparkSubmit", "Java process was killed by signal 9"),
            ("spark_ingest.direct.keeper", "the process that keeps the Spark job died"),
        ],
        # A process of tests may have the name of its test as a title: the victim is not to stand in it.
        ids=["java", "keeper"],
    )
    def test_what_leads_the_job_is_an_error_soon(self, many: Path, victim: str, message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            run(SparkSpout(**job(many, 2, **MANY)), bolt=killing(victim))
        assert time.monotonic() - Kill.at_s < 15

    @pytest.mark.slow
    def test_a_driver_is_an_error_soon_or_not_missed(self, many: Path) -> None:
        """Its Java process may run until every stream has been sent to its end; then nothing is missing."""
        try:
            report = run(SparkSpout(**job(many, 2, **MANY)), bolt=killing("spark_ingest.direct.driver"))
        except ComponentError as error:
            assert "driver process was killed by signal 9 before the job was done" in str(error)
            assert time.monotonic() - Kill.at_s < 15
        else:
            plain = rows_of(SparkSpout(**job(many, 2, **MANY)))
            assert [values for (values,) in report.result("sink")] == plain

    @pytest.mark.slow
    def test_the_leading_process_takes_the_job_with_it(self, many: Path) -> None:
        code = (
            "from pathlib import Path\n"
            "from tests.spark_ingest.direct.jobs import SparkSpout, job, run\n"
            "from tests.spark_ingest.direct.test_job import killing, MANY\n"
            f"run(SparkSpout(**job(Path({str(many)!r}), 2, **MANY)), bolt=killing('the leading one'))\n"
        )
        leading = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY)
        started: set[int] = set()
        while leading.poll() is None:
            started |= descendants(leading.pid)
            time.sleep(0.1)
        assert leading.returncode == -signal.SIGKILL
        deadline = time.monotonic() + 30
        while named("spark_ingest.direct", "org.apache.spark", among=started):
            assert time.monotonic() < deadline
            time.sleep(0.1)
