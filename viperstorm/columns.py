"""The state of keys that bolts on columns keep; see `viper.columns.running`. It needs pyarrow and NumPy."""

from framework.model.columns import counted, exchanged

__all__ = ["counted", "exchanged"]
