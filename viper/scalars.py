"""The scalars of NumPy and pandas as the values of Python that they stand for; here alone it is said which.

    numpy.bool, integers            bool, int
    float16, float32, float64       float, the same number
    longdouble                      float, if that is the same number
    complex64, complex128           complex; clongdouble, if that is the same number
    str_, bytes_                    str, bytes
    datetime64                      date by days and coarser units, else datetime
    timedelta64                     timedelta
    void                            tuple of the fields' values; bytes where it has no fields
    array without dimensions        what it holds
    numpy.ma.masked                 None
    pandas.Timestamp, Timedelta     datetime, timedelta
    pandas.NaT, NA; NaT of NumPy    None

A scalar that no value of Python can hold is refused, as it would differ in silence. Such are nanoseconds in a
datetime, a year beyond 9999, a span of months, more digits than a float has. Decimal and Fraction are
Python's own numbers, and arrays and whatever else has a class of its own stay as they are.

Neither library is imported here: where a scalar is, its library is, too.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from viper.rows import is_plain

__all__ = [
    "ScalarError",
    "holds_any",
    "python_keys",
    "python_of",
    "python_rows",
    "python_within",
]

_OWN: Final = frozenset((str, int, float, bool, bytes, type(None), date, datetime, time, timedelta, Decimal))
_PER_MICROSECOND: Final = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_MAPPINGS: Final = (dict, OrderedDict, defaultdict, Counter)
_CONTAINERS: Final = (list, set, frozenset, deque, *_MAPPINGS)
_NO_FIXED_LENGTH: Final = ("Y", "M", "generic")


class ScalarError(TypeError):
    """A scalar that no value of Python is the same as."""


def python_of(value: Any) -> Any:
    """The value of Python that a scalar of NumPy or pandas stands for; any other value itself.

    It takes 1 us of a scalar, of a list 0.1, and of an object of another class 0.4. An emit of Python's own
    numbers, texts and times never comes here: C has recognized them, and takes its 0.07 us as before.

    Raises:
        ScalarError: no value of Python is the same.
    """
    if type(value).__module__ == "builtins":
        return value
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, _class(numpy, "generic")):
            return _of_numpy(numpy, value)
        if isinstance(value, _class(numpy, "ndarray")) and value.ndim == 0:
            return _of_array(numpy, value)
    pandas = sys.modules.get("pandas")
    return value if pandas is None else _of_pandas(pandas, value)


def python_keys(keys: Iterable[Any]) -> list[Any]:
    """Keys as they are shown: Python's values for scalars, also within tuples; errors as of `python_of`."""
    found = list(keys)
    return found if is_plain(tuple(found)) else list(map(_python_key, found))


def _python_key(key: Any) -> Any:
    return tuple(map(_python_key, key)) if type(key) is tuple else python_of(key)


def holds_any(pickled: bytes) -> bool:
    """True if a pickled value may hold scalars of NumPy or pandas, which name their library."""
    return b"numpy" in pickled or b"pandas" in pickled


def python_within(value: Any) -> Any:
    """A value that nobody else has, with Python's values for the scalars in it.

    It searches tuples, named tuples too, lists, sets, dicts and deques, however deep. It leaves the content
    of objects of other classes alone.

    Args:
        value: it is changed in place where it can be.

    Returns:
        The value itself; another one if it is a scalar or cannot be changed.

    Raises:
        ScalarError: as for `python_of`, or two keys of a dict would be one.
    """
    return _within(value, {})


def python_rows(rows: list[Any]) -> list[Any]:
    """Tuples that nobody else has, with Python's values for their scalars; errors as of `python_within`.

    It takes 10 ns of a row of a text and a number, and 170 where there is a date.
    """
    if not ("numpy" in sys.modules or "pandas" in sys.modules) or is_plain(tuple(rows)):
        return rows
    return [row if _OWN.issuperset(map(type, row)) else _within(row, {}) for row in rows]


def _within(value: Any, seen: dict[int, tuple[Any, Any]]) -> Any:
    kind = type(value)
    if kind in _CONTAINERS or isinstance(value, tuple):
        if id(value) not in seen:
            seen[id(value)] = value, value  # it may hold itself
            seen[id(value)] = value, _converted(value, kind, seen)  # kept, so that nothing else has its id
        return seen[id(value)][1]
    made = python_of(value)
    return made if made is value else _within(made, seen)


def _converted(value: Any, kind: type, seen: dict[int, tuple[Any, Any]]) -> Any:
    if kind in _MAPPINGS:
        return _converted_mapping(value, seen)
    made = [_within(one, seen) for one in value]
    if all(one is other for one, other in zip(made, value, strict=True)):
        return value
    if kind is frozenset:
        return frozenset(made)
    if kind is set:
        value.clear()
        value.update(made)
    elif kind in (list, deque):
        for index, one in enumerate(made):
            value[index] = one
    elif kind is tuple:
        return tuple(made)
    elif hasattr(kind, "_fields"):
        return tuple.__new__(kind, made)
    return value


def _converted_mapping(value: Any, seen: dict[int, tuple[Any, Any]]) -> Any:
    before = list(value.items())
    made = [(_within(key, seen), _within(one, seen)) for key, one in before]
    if all(a is c and b is d for (a, b), (c, d) in zip(made, before, strict=True)):
        return value
    if len(dict(made)) < len(made):
        raise ScalarError(f"{value!r:.200} has keys that are one as values of Python")
    value.clear()
    for key, one in made:
        value[key] = one
    return value


def _class(library: Any, name: str) -> Any:
    """A class of a library; none where the library is still being imported."""
    return getattr(library, name, ())


def _of_array(numpy: Any, array: Any) -> Any:
    if array is getattr(sys.modules.get("numpy.ma"), "masked", numpy):
        return None
    return python_of(array[()]) if type(array) is numpy.ndarray else array  # others have units, for instance


def _of_numpy(numpy: Any, scalar: Any) -> Any:
    kind = scalar.dtype.kind
    if kind in "mM":
        return _of_time(numpy, scalar)
    if scalar.dtype.names:
        return tuple([python_of(scalar[name]) for name in scalar.dtype.names])
    made = scalar.item()
    if isinstance(made, numpy.generic):  # of more digits than Python's numbers have
        made = complex(made) if kind == "c" else float(made)
        if made != scalar and scalar == scalar:
            name = type(made).__name__
            raise ScalarError(
                f"{scalar!r} has more digits than a {name}, the number of Python's that stands for it: take "
                f"{name}(value), which rounds it"
            )
    return made


def _of_time(numpy: Any, scalar: Any) -> Any:
    if numpy.isnat(scalar):
        return None
    unit, times = numpy.datetime_data(scalar.dtype)
    of = "datetime" if scalar.dtype.kind == "M" else "timedelta"
    if of == "timedelta" and unit in _NO_FIXED_LENGTH:
        reason = "has no unit" if unit == "generic" else "is of months or years, which differ in length"
        raise ScalarError(f"{scalar!r} {reason}: take int(value), or a timedelta64 by days or finer units")
    if unit in _PER_MICROSECOND:
        count, rest = divmod(int(scalar.astype(numpy.int64)) * times, _PER_MICROSECOND[unit])
        if rest:
            raise _too_fine(scalar, of)
        scalar = numpy.array(count, f"{scalar.dtype.kind}8[us]")[()]
    made = scalar.item()
    if isinstance(made, int):
        raise ScalarError(f"{scalar!r} lies where no {of} of Python's does: take a text or an int")
    return made


def _of_pandas(pandas: Any, value: Any) -> Any:
    if value is getattr(pandas, "NaT", pandas) or value is getattr(pandas, "NA", pandas):
        return None
    if isinstance(value, _class(pandas, "Timestamp")):
        if value.nanosecond:
            raise _too_fine(value, "datetime")
        return _made(value, "datetime", lambda: value.to_pydatetime(warn=False))
    if isinstance(value, _class(pandas, "Timedelta")):
        if value.nanoseconds:
            raise _too_fine(value, "timedelta")
        return _made(value, "timedelta", value.to_pytimedelta)
    return value


def _made(value: Any, of: str, make: Any) -> Any:
    try:
        return make()
    except (ValueError, OverflowError) as error:
        raise ScalarError(f"{value!r} is no {of} of Python's: {error}; take a text or an int") from None


def _too_fine(value: Any, of: str) -> ScalarError:
    return ScalarError(
        f"{value!r} has nanoseconds, which a {of} of Python's has not: round it to microseconds, take its "
        "int, or declare a schema with a type such as timestamp[ns]"
    )
