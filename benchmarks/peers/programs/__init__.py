"""A program for each system, run as a module in a process of its own, with its job in the environment."""
