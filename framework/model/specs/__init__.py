"""Components as they are declared: ``Cls.spec(...)`` and what may stand in its arguments.

The base classes of components need this to offer ``spec``, and so do the front ends; it knows neither.
"""

from framework.model.specs.making import (
    bolt_spec,
    checked_config,
    checked_par,
    make_spec,
    merged_config,
    outputs_of,
    own_config,
    python_implementation,
    spout_spec,
    subscriptions,
)
from framework.model.specs.recipe import Recipe, SpecMethod, given_to, recipe_of
from framework.model.specs.spec import GlobalStreamId, Inputs, Par, Spec

__all__ = [
    "GlobalStreamId",
    "Inputs",
    "Par",
    "Recipe",
    "Spec",
    "SpecMethod",
    "bolt_spec",
    "checked_config",
    "checked_par",
    "given_to",
    "make_spec",
    "merged_config",
    "outputs_of",
    "own_config",
    "python_implementation",
    "recipe_of",
    "spout_spec",
    "subscriptions",
]
