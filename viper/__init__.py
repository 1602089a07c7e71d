"""The communication layer: jumbo tuples in position order from producing to consuming tasks.

    viper.position   where a tuple stands in the one order that all tasks agree on
    viper.arena      the memory that everything lives in which the tasks of a run share
    viper.segments   where shared memory comes from, and what the dead leave of it
    viper.gate       ScaleGate: one stream of several sources to several readers
    viper.source     the producing task's end of a gate
    viper.reader     the consuming task's end: the merge of its sources
    viper.interleaving  positions of several sources in an order that somebody has found
    viper.jumbo      what travels: many tuples as one
    viper.payload    the values of its tuples, as rows; viper.columns as Arrow record batches
    viper.schema     the types of a stream's fields
    viper.codec      jumbo tuples as bytes, for readers in other processes
    viper.bell       where a thread of execution sleeps until others have something for it
    viper.blackbox   what a process last wrote about itself, readable after it has died
    viper.forest     trees of tracked tuples: when all that descends from one has been processed
    viper.state      what tasks remember by key, in tables that go back with a slice
    viper.page       how far a task has come, for its successor after a kill
    viper.quota      a budget that tasks of several processes share
    viper.statistics what has passed a gate, and what waits in it
    viper.segments     how much memory the system could still give
    viper.hashing    hashes of keys, the same in every process and for rows and columns
    viper.rows       what happens once per tuple between user code and jumbo tuples
    viper.errors     every error that this layer raises on purpose

It knows nothing of components: rows are tuples of whatever their producer hands over.
"""

from importlib.util import find_spec
from sysconfig import get_config_var

for _name in ("viper._backend", "viper._rows"):
    if find_spec(_name) is None:
        raise ImportError(
            f"{_name} is missing, or was compiled for another Python than this one "
            f"({get_config_var('SOABI')}): install ViperStorm again with this Python, from a wheel or sources"
        )
