"""The rows of a batch that a mask keeps."""

from __future__ import annotations

import pyarrow as pa

from viper.columns.kept import Kept
from viper.rows import bits_of_mask, select


def where(batch: pa.RecordBatch, mask: pa.BooleanArray) -> tuple[pa.RecordBatch, Kept]:
    """The rows of a batch for which a mask is true, and which these are; null counts as false."""
    bits = bits_of_mask(mask)
    found = select(batch, bits, lambda address: pa.RecordBatch._import_from_c(address, batch.schema))
    kept = batch.filter(mask) if found is None else found
    return kept, Kept(mask, bits, kept.num_rows)
