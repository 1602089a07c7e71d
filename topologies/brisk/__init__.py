"""The benchmark applications of BriskStream, as the benchmark that they come from has them.

generators       draw the lines that come in from a seed, or repeat those of a file, for any length
spouts, columns  bring these lines, tuple by tuple and as columns
markov           the model that fraud detection judges transactions by
networks         the table that log processing finds places in
word_count       counts the words of sentences
fraud_detection  finds entities whose transactions follow one another as they rarely do
spike_detection  finds readings of sensors that are far from the average of the last ones
log_processing   counts the requests of a web server by minute, by status and by place
batches          the bolts of all four on columns

They are described in Zhang et al., "BriskStream: Scaling Data Stream Processing on Shared-Memory Multicore
Architectures", SIGMOD 2019, which took them from DSPBench and its forerunners. Log processing is of DSPBench
only, and Linear Road is an application of its own here. The rules are DSPBench's: BriskStream lets every
operator emit something for each input, whether there is something to report or not.
"""
