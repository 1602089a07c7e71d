"""The four applications of TStream, whose bolts read and write shared tables in transactions.

drawing            Zipf's numbers, and keys of tables that are divided into partitions
generators         draw the input of each application from a seed, as arrays and as tuples, for any length
spouts, columns    bring what is drawn, tuple by tuple and as columns
records            the common part of the tables
grep_sum           reads or overwrites ten records, and adds up what was read
streaming_ledger   moves money and assets between accounts
online_bidding     bids for items whose prices and quantities change
toll_processing    tolls by the speed and the number of vehicles on a segment
batches            the bolts of all four on columns

They are described in Zhang et al., "Towards Concurrent Stateful Stream Processing on Multicore Processors",
ICDE 2020. The sizes and shares of the paper are the defaults. Each module says where the published code
differs from the paper, or from what is right.
"""
