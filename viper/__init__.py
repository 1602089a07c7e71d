"""The communication layer: jumbo tuples in position order from producing to consuming tasks.

    viper.position   where a tuple stands in the one order that all tasks agree on
    viper.arena      the memory that a run's channels live in
    viper.ring       the producing task's end of a channel: one ring of jumbo tuples per source
    viper.channel    the consuming task's end: the merge of its sources
    viper.rows       what happens once per tuple between user code and jumbo tuples
    viper.errors     every error that this layer raises on purpose

It knows nothing of components: a payload is whatever its producer hands over.
"""
