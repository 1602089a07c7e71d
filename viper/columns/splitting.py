"""Words of the texts of a column."""

from __future__ import annotations

import pyarrow as pa

from viper.rows import split_words as split


def split_words(texts: pa.Array) -> tuple[pa.Array, memoryview[int]]:
    """The words of texts, as `str.split` finds them: what lies between white space, and is not empty.

        words, ends = split_words(rows.array("line"))
        self.emit_rows({"word": words}, ends=ends, gives_away=True)

    Args:
        texts: strings, or large strings; None has no words.

    Returns:
        All words, as an array of the same type, and for each text the number of words up to its end, as
        uint32.

    Raises:
        TypeError: a column of another type.
    """
    if not isinstance(texts, pa.StringArray | pa.LargeStringArray):
        raise TypeError(f"found {getattr(texts, 'type', type(texts).__name__)}: expected an array of strings")
    schema = pa.schema([pa.field("word", texts.type, nullable=False)])
    batch, ends = split(texts, lambda address: pa.RecordBatch._import_from_c(address, schema))
    return batch.column(0), memoryview(ends).cast("I")
