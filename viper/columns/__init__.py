"""Columns: the tuples of a typed stream as Arrow record batches.

    viper.columns.fitting   the one form of each value that a typed stream carries, as Python sees it
    viper.columns.types     schemas in pyarrow's terms
    viper.columns.scalars   columns as Python's values
    viper.columns.batches   what a component emits as a batch, in the declared types and in memory of its own
    viper.columns.types what else a column's type may be at the emit
    viper.columns.checking  what a column holds that no value of its type is
    viper.columns.selecting the rows that a mask keeps
    viper.columns.selecting      which these are
    viper.columns.slots     small numbers for keys
    viper.columns.running   running values of keys, by these numbers
    viper.columns.splitting words of texts
    viper.columns.lease     memory that columns may lie in for a while
    viper.columns.keepers   who refers to such memory, in words
    viper.columns.payload   the payload of a jumbo tuple that holds columns

All but `fitting` and `kept` need pyarrow, which most topologies do without.
"""
