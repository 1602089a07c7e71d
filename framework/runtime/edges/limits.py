"""How much may wait within a task."""

PAUSE_AT = 2048
"""Rows in the outbox at which they are sent off before the next callback."""
SPILL_AT = 4 * PAUSE_AT
"""Rows in the outbox at which they are sent off in the middle of a callback."""
