# A redo that took a shorter slice counts all that its ring has as handed over.
s/published(of->ring) - of->skip/published(of->ring)/
