"""Tracking follows tuples that a spout emits with an id, through all tuples that descend from them.

It ends when all have been acked, or one has failed or timed out. The trees are in shared memory
(`viper.forest`).

Modules here keep ids, acks and outcomes. They do not call components: tasks do that when they ask for
outcomes.
"""
