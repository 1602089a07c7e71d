"""A host drives one component, so that the runtime calls our components, ported ones and programs alike. The
rules for components that raise are here, too.

Modules here know a component and its context, but no channels or positions. Front ends that bring components
of another kind register their hosts here, and are not imported from here before a topology needs them.
"""
