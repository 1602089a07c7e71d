"""The problem that an optimizer solves, and the deployment that it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from framework.optimizer.costs import Deployment, Machine, Prediction, Profile, Shape, predict


@dataclass(frozen=True)
class Problem:
    """A topology, its costs and a machine."""

    shape: Shape
    profile: Profile
    machine: Machine
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Numbers of tasks that are not to be changed, by component."""
    together: tuple[frozenset[str], ...] = ()
    """Components all of whose tasks have to be at one place, as those of a cycle."""

    def predicted(self, deployment: Deployment) -> Prediction:
        """Predict the rate of a deployment by the model."""
        return predict(self.shape, self.profile, self.machine, deployment)

    def most(self, component: str) -> int:
        """Tasks that a component may have at most."""
        return self.fixed.get(component, self.shape.node(component).most)

    def least(self, component: str) -> int:
        """Tasks that a component has at least."""
        return self.fixed.get(component, 1)


@dataclass(frozen=True)
class Found:
    """The best deployment that an optimizer has come to."""

    deployment: Deployment
    prediction: Prediction
    bound: float
    """Tuples of spouts a second that no deployment exceeds, by the model; infinite where it is not known."""
    considered: int
    """Deployments, whole or in part, that it has examined."""

    @property
    def gap(self) -> float:
        """The part of the bound that is missing, from 0 (it is optimal) to 1 (nothing is known)."""
        return max(0.0, 1.0 - self.prediction.rate / self.bound)


class Optimizer(Protocol):
    """Finds deployments that are predicted to be fast."""

    @property
    def name(self) -> str:
        """As it is called on the command line."""

    def best(self, problem: Problem) -> Found:
        """The best deployment that it finds."""
