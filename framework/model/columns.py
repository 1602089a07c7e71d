"""Columns for those who bring them, datasets and jobs, or remember things of their keys. It wants pyarrow."""

from viper.columns.batches import Batches
from viper.columns.running import counted, exchanged
from viper.columns.scalars import Converter, ScalarError, converter, native, rows_of
from viper.columns.splitting import split_words
from viper.columns.types import declared_types, fit_of_arrow
from viper.hashing import xxh64
from viper.rows import descent

__all__ = [
    "Batches",
    "Converter",
    "ScalarError",
    "converter",
    "counted",
    "declared_types",
    "descent",
    "exchanged",
    "fit_of_arrow",
    "native",
    "rows_of",
    "split_words",
    "xxh64",
]
