"""The event time of a row, whatever its timestamp column is: microseconds since 1970 UTC, or null."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from framework.common.units import FIRST_US, ISO, LAST_US, MICROS_PER_SECOND, PER_SECOND
from spark_ingest.engine.session import utc
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import TIME, StreamSpec, named
from spark_ingest.job.types import check_columns, type_word

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DAY_US = 86_400_000_000
_FORMS = "^(?:" + re.sub(r"\(\?P<\w+>", "(", ISO.pattern) + r")\z"
"""The forms of `framework.common.units.ISO`, as Java writes them, whose groups have numbers only."""
_PLAIN = r"^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?)?\z"
"""The forms that most texts have. Spark reads them as they are; to take one apart takes it longer."""


def timed(df: DataFrame, spec: StreamSpec) -> DataFrame:
    """The rows with a further column `TIME`: null where the timestamp is, or is no time from year 1 to 9999.

    A time without a zone of its own (a date, a text without an offset, ``timestamp_ntz``) is read as UTC,
    whatever the session's time zone. A time finer than a microsecond is rounded down, a float to the nearest.

    Raises:
        JobError: a column is missing, or the timestamp's type is none of those that can be one.
    """
    check_columns(df, spec)
    with utc(df.sparkSession):
        micros = _micros(df, spec)
        return df.withColumn(TIME, _within(micros))


def _micros(df: DataFrame, spec: StreamSpec) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column, found = named(spec.timestamp), df.schema[spec.timestamp].dataType
    match found:
        case T.TimestampType():
            return F.unix_micros(column)
        case T.TimestampNTZType():
            return F.unix_micros(column.cast("timestamp"))
        case T.DateType():
            return F.unix_date(column).cast("bigint") * DAY_US
        case T.StringType():
            return F.unix_micros(_parsed(column, spec.timestamp_format))
        case T.FloatType() | T.DoubleType():
            return _of_float(column.cast("double"), spec.unit)
        case T.NumericType():
            return _of_exact(column.cast(_decimal(found)), spec.unit)
    raise JobError(
        f"timestamp {spec.timestamp!r} is {type_word(found)}: expected a timestamp, a date, a number or text"
    )


def _within(micros: Column) -> Column:
    from pyspark.sql import functions as F

    return F.when(micros.between(FIRST_US, LAST_US), micros)


def _parsed(text: Column, pattern: str | None) -> Column:
    from pyspark.sql import functions as F

    if pattern is not None:
        return F.try_to_timestamp(text, F.lit(pattern))
    # A cast takes more forms than these, such as a time without a date, to which Spark adds today's.
    return F.try_to_timestamp(F.when(text.rlike(_PLAIN), text).when(text.rlike(_FORMS), _rewritten(text)))


def _rewritten(text: Column) -> Column:
    """A text in one of the forms of `ISO`, in the form that Spark reads."""
    from pyspark.sql import functions as F

    def group(name: str) -> Column:
        """Empty where the text has another form."""
        return F.regexp_extract(text, _FORMS, ISO.groupindex[name])

    def two(name: str, whole: str, place: int) -> Column:
        """Two digits, which stand by themselves or in a whole without separators."""
        return F.lpad(F.concat(group(name), F.substring(group(whole), place, 2)), 2, "0")

    year = F.concat(group("year"), F.substring(group("date"), 1, 4))
    days = (two("month", "date", 5), two("day", "date", 7))
    times = (two("hour", "clock", 1), two("minute", "clock", 3), two("second", "clock", 5))
    fraction = F.concat(group("fraction"), group("rest"), F.lit("0"))
    zone = F.regexp_replace(group("zone"), "^z$", "Z")
    return F.concat(
        F.concat_ws("-", year, *days), F.lit("T"), F.concat_ws(":", *times), F.lit("."), fraction, zone
    )


def _of_float(number: Column, unit: str) -> Column:
    from pyspark.sql import functions as F

    per_second = PER_SECOND[unit]
    # Divided, not multiplied by a fraction, which no float has exactly.
    if per_second > MICROS_PER_SECOND:
        exact = number / (per_second // MICROS_PER_SECOND)
    else:
        exact = number * (MICROS_PER_SECOND // per_second)
    micros = F.round(exact)
    return F.when(micros.between(float(FIRST_US), float(LAST_US)), micros.cast("bigint"))


def _of_exact(number: Column, unit: str) -> Column:
    """Checked for its range first: an overflow may be an error, as the session has it."""
    from pyspark.sql import functions as F

    factor = Decimal(MICROS_PER_SECOND) / PER_SECOND[unit]
    low, high = Decimal(FIRST_US) / factor, Decimal(LAST_US) / factor
    micros = F.floor(number * F.lit(factor)).cast("bigint")
    return F.when(number.between(F.lit(low), F.lit(high)), micros)


def _decimal(found: object) -> str:
    from pyspark.sql import types as T

    return found.simpleString() if isinstance(found, T.DecimalType) else "decimal(20,0)"
