"""The leading process of a run: it begins the run, looks at it and ends it, has checkpoints made and bolts
moved, and does what others ask.

Modules here speak to all workers as one, and call no component.
"""
