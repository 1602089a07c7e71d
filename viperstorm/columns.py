"""What is remembered of the keys of columns; see `viper.columns.running`. It wants pyarrow and NumPy."""

from framework.model.columns import counted, exchanged

__all__ = ["counted", "exchanged"]
