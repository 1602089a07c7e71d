"""Every way to write a topology, each of which makes a `Topology`.

builder      Python calls: `TopologyBuilder`
dsl          classes as streamparse's
streams      functions on streams: `StreamBuilder`
flux         YAML as Storm's Flux reads it
streamparse  projects of streamparse as they are
multilang    components that are programs of any language
declaration  what all forms in Python share: classes with their arguments, and the places of mistakes
loading      from a target on the command line to a topology; discovery finds the project's

Nothing after loading knows which front end was used. Another one makes a `Topology`, and adds itself to
`loading`.
"""
