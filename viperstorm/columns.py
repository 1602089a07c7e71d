"""Help for bolts on columns beside Arrow: words of texts, and the state of keys.

See `viper.columns.running`. It needs pyarrow and NumPy.
"""

from framework.model.columns import counted, exchanged, split_words

__all__ = ["counted", "exchanged", "split_words"]
