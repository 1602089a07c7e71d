"""Linear Road: tolls and accidents on expressways, from the reports of all vehicles.

records     the input, and the time of each of its lines
generator   draws input from a seed, for any number of expressways and any length
spouts      bring a file, or what is generated
bolts       the application, in small steps

The rules are those of the benchmark (Arasu et al., "Linear Road: A Stream Data Management Benchmark", VLDB
2004), as its published validator has them. Queries for travel times are not answered: nobody answers them.
"""
