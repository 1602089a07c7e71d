"""The Spark driver of a job that feeds a spout: a process of its own, which the keeper starts.

It ends when its standard input does, and Spark's Java process ends with it; so does everything that these
have started, whoever of them is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from framework.model.errors import ViperError
from spark_ingest.direct.request import Request, Stream
from spark_ingest.direct.sending import Sending, within
from spark_ingest.direct.slots import check_slots, roomy
from spark_ingest.errors import SparkError, plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STOP_S = 8.0
"""Seconds that Java has to end by itself."""


def main() -> None:
    """Run the job that standard input describes; reports to the keeper how it fares."""
    # It is sent to all that this has started. Not ignored, as Java would inherit that.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    content, line = json.loads(sys.stdin.buffer.readline()), sys.stdin.buffer.readline()
    threading.Thread(target=_end_with_input, args=[content["folder"]], name="input", daemon=True).start()
    with open(content["messages"], "w", encoding="utf-8") as messages:

        def tell(**message: Any) -> None:
            print(json.dumps(message), file=messages, flush=True)

        try:
            _run(Request.from_line(line), Sending(tuple(content["rendezvous"]), content["secret"]), tell)
        except ViperError as error:
            traceback.print_exc()
            tell(failed=plain(error))
        except Exception as error:
            traceback.print_exc()
            tell(failed=plain(SparkError(f"the Spark job failed: {type(error).__name__}: {error}")))


def _end_with_input(folder: str) -> None:
    """The keeper does not wait for Java if it was killed, so that is done here."""
    # Not by way of `sys.stdin`: Python breaks down at its end if a thread is reading there.
    while os.read(0, 4096):
        pass
    gateway = getattr(getattr(sys.modules.get("pyspark"), "SparkContext", None), "_gateway", None)
    if gateway is not None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            gateway.proc.stdin.close()
            gateway.proc.wait(STOP_S)
    elif os.getpgrp() == os.getpid():  # Java may be starting, and does not end if it then misses its folder.
        os.killpg(0, signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _run(request: Request, sending: Sending, tell: Callable[..., None]) -> None:
    from spark_ingest.engine.failing import understood
    from spark_ingest.engine.session import LOG_LEVEL, make_session

    job = request.job
    master = roomy(job.master, job.streams.streams, os.cpu_count() or 1)
    conf = {LOG_LEVEL: "ERROR", **job.conf}
    with make_session(master, conf, "viper") as spark, understood("the job"):
        if request.stream is None:
            _run_batch(spark, request, sending, tell)
        else:
            _run_stream(spark, request, request.stream, sending, tell)


def _run_batch(spark: SparkSession, request: Request, sending: Sending, tell: Callable[..., None]) -> None:
    from spark_ingest.job.quality import checked
    from spark_ingest.job.streams import as_streams

    job = request.job
    rows, counts = checked(job.source.read(spark), job.streams, job.quality, count_duplicates=False)
    streams = as_streams(within(rows, request.span), job.streams, ends=True)
    check_slots(spark, job.streams.streams)
    tell(ready={"min_us": counts.min_us})
    sending.send(streams, epoch=0, until_us=None)
    tell(epochs=1)


def _run_stream(
    spark: SparkSession, request: Request, stream: Stream, sending: Sending, tell: Callable[..., None]
) -> None:
    from spark_ingest.direct.streaming import Epochs, run_stream, stream_from
    from spark_ingest.job.streams import as_streams
    from spark_ingest.job.times import timed

    frame, spec = stream_from(request.job.source, spark), request.job.streams
    as_streams(timed(spark.createDataFrame([], frame.schema), spec), spec)  # refuses what cannot be
    check_slots(spark, request.job.streams.streams)
    tell(ready={"min_us": None})
    epochs = Epochs(request.job, stream, request.span, sending, tell)
    run_stream(frame, epochs, stream)
    tell(epochs=epochs.sent)


if __name__ == "__main__":
    main()
