"""The components of the word count, on either base: the two modules differ in one import line."""
