"""Every way to write a topology, each of which makes a `Topology`.

- `builder`: Python calls: `TopologyBuilder`
- `dsl`: classes as streamparse's
- `streams`: functions on streams: `StreamBuilder`
- `flux`: YAML as Storm's Flux reads it
- `streamparse`: projects of streamparse as they are
- `multilang`: components that are programs of any language
- `declaration`: the common part of all forms in Python: classes with their arguments, the places of mistakes
- `loading`: the way from a target on the command line to a topology
- `discovery`: the project's topologies

Nothing after loading knows which front end was used. Another one makes a `Topology`, and adds itself to
`loading`.
"""
