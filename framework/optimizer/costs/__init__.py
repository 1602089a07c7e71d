"""The costs of a plan before it runs: shapes of topologies, profiles of their costs, and a model of plans.

The model is BriskStream's (Zhang et al., SIGMOD 2019, section 3). The rate of a topology follows from the
cost of each tuple, which depends on the places where it is processed and where it comes from. Here a place is
a worker, whose tasks share one thread, or a socket with several cores. Merging the inputs of a task costs
time as well.
"""

from framework.optimizer.costs.deployment import Deployment
from framework.optimizer.costs.machine import Machine, Place
from framework.optimizer.costs.model import CostModel, Prediction, predict
from framework.optimizer.costs.profile import ComponentCost, Profile, StreamCost, Variation, rounded
from framework.optimizer.costs.shape import Flow, Node, Shape, Spread

__all__ = [
    "ComponentCost",
    "CostModel",
    "Deployment",
    "Flow",
    "Machine",
    "Node",
    "Place",
    "Prediction",
    "Profile",
    "Shape",
    "Spread",
    "StreamCost",
    "Variation",
    "predict",
    "rounded",
]
