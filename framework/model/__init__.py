"""Values for topologies and their configuration, and the errors for mistakes in them.

- `topology`: components, streams and groupings, frozen
- `specs`: components as they are declared, before they have ids
- `config`: the keys, their defaults and layers; a new key goes into `keys.py`, and into `conf/defaults.yaml`
- `tables`: shared tables
- `render`: pictures of topologies
- `errors`: the exceptions that users see
- `importing`: names of classes, and the modules that hold them; `instantiate` makes objects of them

Nothing here runs anything.
"""
